"""Where the reference is led, and by whom: a stage of this program or, from outside, velocities or a pose.

The newest writer leads. One from outside preempts the stages, which lead again only when asked to (resume_stages, or
the next activation); a writer of velocities that falls silent has let go. Neither makes the arm jump: the tick brakes
and accelerates the reference inside the limits. A wanted wrench goes with any of them, and ends in the same way.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.control.live_checks import finite
from ur_admittance.core.leader import FROM_OUTSIDE, Leader
from ur_admittance.core.records import Limit
from ur_admittance.core.views import Record, scalar, vector
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.given import number
from ur_admittance.model.frames import is_rotation

TWIST, SILENT = Leader.TWIST, Leader.SILENT  # looked up once: they are asked for in every cycle
# [s] a streamed twist or wrench that is not renewed ends: a dead client must not keep the arm moving
REFERENCE_TIMEOUT = 0.1


WAITS_AT = 1e-3  # share of its speed below which a reference waits: it comes to rest in front, never quite
WAITS = (
    "the reference waits: on its line the arm would come too near a singular pose (stretched, folded or with a "
    "straight wrist); give another target, or set reference.at_singularity to leave, which goes round"
)


def waiting(command: Record) -> str:
    """The sentence about a reference that stands in front of a singular pose; empty: it does not."""
    stands = command["pace"] < WAITS_AT and command["limits"] & Limit.SINGULARITY
    return WAITS if stands else ""


class References:
    """What the tick is told to go after, in its sample."""

    def __init__(self, sample: Record, state: Record) -> None:
        self.leader = Leader.NOBODY
        self.has_stages = False
        self._twist, self._wrench = vector(sample, "reference_twist"), vector(sample, "reference_wrench")
        self._position, self._rotation = vector(sample, "target_position"), vector(sample, "target_rotation")
        self._target_id = scalar(sample, "target_id")
        self._targets = 0
        self._tip = np.eye(3), np.zeros(3)  # T_flange_tcp of the target
        self._renewed = 0  # how often
        self._twist_id, self._twist_valid_for = scalar(sample, "twist_id"), scalar(sample, "twist_valid_for")
        self._wrench_id, self._wrench_valid_for = scalar(sample, "wrench_id"), scalar(sample, "wrench_valid_for")
        self._enable, self._enable_id = scalar(sample, "enable"), scalar(sample, "enable_id")
        self._led = led = scalar(state, "led")
        self._twist_left, self._wrench_left = led["twist_left"], led["wrench_left"]

    def set_twist(self, twist: ArrayLike, valid_for: float) -> None:
        number("valid_for", valid_for, "s", infinite=True)
        self._twist[:] = finite(twist, (6,), "reference twist")
        self._target_id[0] = 0
        self._renewed += 1
        self._twist_id[0], self._twist_valid_for[0] = self._renewed, valid_for
        self.leader = TWIST

    def set_wrench(self, wrench: ArrayLike, valid_for: float) -> None:
        number("valid_for", valid_for, "s", infinite=True)
        self._wrench[:] = finite(wrench, (6,), "reference wrench")
        self._renewed += 1
        self._wrench_id[0], self._wrench_valid_for[0] = self._renewed, valid_for

    def set_enable(self, held: bool) -> None:
        self._renewed += 1
        self._enable[0], self._enable_id[0] = held, self._renewed

    def set_pose(self, position: NDArray[np.float64], rotation: NDArray[np.float64], params: np.void) -> None:
        """Both as `checked_pose` returns them, of the TCP of params (PARAMS)."""
        self._position[:], self._rotation[:] = position, rotation
        self._tip = tip(params)
        self._targets += 1
        self._target_id[0] = self._targets
        self._twist[:] = 0.0
        self._twist_id[0] = 0
        self.leader = Leader.POSE

    def keep_pose(self, params: np.void) -> None:
        """Another TCP: the target becomes that of the new one for the same place of the arm.

        T_target := T_target T_old_new, T_old_new = T_flange_old^-1 T_flange_new"""
        (R_old, p_old), (R_new, p_new) = self._tip, tip(params)
        if np.array_equal(R_old, R_new) and np.array_equal(p_old, p_new):
            return
        R = self._rotation.copy()
        self._position += R @ R_old.T @ (p_new - p_old)
        self._rotation[:] = R @ R_old.T @ R_new
        self._tip = R_new, p_new

    def note_end(self) -> None:
        """After each tick, which ends velocities and wrenches that were not renewed (core/law/led.py). The sample stays
        as the tick has seen it: it is recorded."""
        if self.leader is TWIST and not self._twist_left[0] > 0.0:  # NaN too
            self.leader = SILENT

    def forget_ended(self) -> None:
        """Before a sample is filled anew."""
        if self.leader is SILENT and self._twist_id[0]:
            self._twist[:] = 0.0
            self._twist_id[0] = 0
        if self._wrench_id[0] and self._wrench_id[0] == self._led["wrench_id"][0] and not self._wrench_left[0] > 0.0:
            self._wrench[:] = 0.0
            self._wrench_id[0] = 0

    def begin(self) -> None:
        """At an activation: a pose from before counts no more."""
        if self.leader == Leader.POSE:
            self.leader = Leader.NOBODY

    def lead_by_go(self) -> None:
        """GoTo writes the twist itself, in every cycle (control/go_to.py)."""
        self._clear()
        self.leader = Leader.GO

    def end_go(self) -> None:
        """Nothing of what it wrote stays behind; stages still wait until they are asked."""
        if self.leader == Leader.GO:
            self._clear()
            self.leader = SILENT if self.has_stages else Leader.NOBODY

    def lead_by_stages(self) -> None:
        self._clear()
        self.leader = Leader.STAGE

    def end_stages(self) -> None:
        """Nothing of what a stage wrote stays behind."""
        if self.leader == Leader.STAGE:
            self.end_wrench_of_stages()
            self._clear()
            self.leader = Leader.NOBODY

    def resume_stages(self) -> None:
        if not self.has_stages:
            raise LifecycleError("resume_stages: no stage runs in front of the controller.")
        if self.leader in FROM_OUTSIDE:
            self.lead_by_stages()

    def end_wrench_of_stages(self) -> None:
        """One that a stage wrote into the sample ends with its lead: nobody renews it."""
        if not self._wrench_id[0]:
            self._wrench[:] = 0.0

    def _clear(self) -> None:
        self._twist[:] = 0.0
        self._target_id[0] = 0
        self._twist_id[0] = 0


def tip(params: np.void) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """R, p of the TCP, flange frame."""
    return params["chain_rotation"][6].copy(), params["chain_position"][6].copy()


def checked_pose(position: ArrayLike, rotation: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, R = finite(position, (3,), "target position"), finite(rotation, (3, 3), "target rotation")
    if not is_rotation(R):
        raise ParameterError("target rotation: must be a rotation matrix (orthogonal, determinant 1).")
    return p, R
