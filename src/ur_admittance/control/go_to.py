"""Takes the arm to a pose from where it is: slowly, and only where the whole way is free.

    going = controller.go_to(Goal(joints=[0.0, -1.6, 1.6, -1.6, -1.6, 0.0]))        # while the controller is active

    look   at the whole way, a piece in each cycle; the arm does not leave meanwhile
    lead   the reference along T(s), straight in joint angles or in space; s goes from 0 to 1, limited in jerk (Ruckig)
    end    with an outcome and a sentence: arrived, touched, blocked, refused, or ended by something else

The law acts around the reference as ever: a hand may push the tool aside or hold it. Then s waits, and the reference
pulls back to its way no faster than the arm goes. A force above that of the goal ends it at once: the reference stays
where the tool is. What it writes is the twist of the reference in the sample, so a recording has it.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ruckig import InputParameter, OutputParameter, Result, Ruckig

from ur_admittance import given
from ur_admittance.control import kernels
from ur_admittance.control.kernels import BETWEEN, look, reach, without_weight
from ur_admittance.control.recovery import reason
from ur_admittance.control.references import checked_pose
from ur_admittance.core.law.twist import TARGET_SPEED
from ur_admittance.core.leader import Leader
from ur_admittance.core.limits.reach import ELBOW
from ur_admittance.core.limits.shapes_record import BODIES
from ur_admittance.core.records import Mode
from ur_admittance.core.spatial import exp_so3, log_so3
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import LifecycleError, ParameterError, UrAdmittanceError

FloatArray = NDArray[np.float64]

# [m/s], [N] of a goal that says nothing else. An arm that answers late by 16 ms meets a wall of 100 kN/m with 61 N; at
# twice the speed with 124 N, which is above safety.max_force.
SPEED, FORCE = 0.05, 20.0
LEVER = 0.25  # [m] a joint or a tool that turns moves something at this distance with the speed of the goal
RAMP, JERK_RAMP = 0.4, 0.2  # [s] from rest to that speed, and of the acceleration: 0.13 m/s2 and 0.6 m/s3 at 0.05 m/s
LOOKS = 20  # in a cycle: less than 0.2 ms
SHORTEST = 1e-6  # share of the way between two looks: the joints would turn without end, the pose is singular
OUTSIDE = 1e-6  # [m, rad, m/rad] by which a start that is outside may be left in the wrong direction: rounding
STRETCHED = 0.1  # [rad] of the elbow: a straight wrist may be left, but nothing leads a stretched arm from its edge
PULL = 2.0  # [1/s] of the reference back onto its way
AWAY = 0.03, 0.15  # [m], [rad] of the arm from its way at which s stands
CREEP = 1e-3  # share of the speed that s keeps: Ruckig needs a limit above zero
REACHED = 1e-4, 1e-3  # [m], [rad] of the reference from its goal
SETTLE = 0.5  # [s] until the arm has followed, or has yielded to what stopped it
PATIENCE = 10.0  # [s] for which somebody may hold the arm


class Outcome(str, Enum):
    GOING = "going"
    ARRIVED = "arrived"
    TOUCHED = "touched"  # by more than the force of the goal
    BLOCKED = "blocked"  # held for longer than PATIENCE
    REFUSED = "refused"  # nothing has moved
    ENDED = "ended"  # by a stop, a fault, another leader


class Goal:
    """Where to, how fast, and which force ends it."""

    def __init__(
        self,
        joints: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        speed: float = SPEED,
        force: float = FORCE,
    ) -> None:
        """joints: (6,) [rad], straight in joint angles; or position (3,) [m] and rotation R_base_tcp (3, 3) of the TCP,
        base frame, on a straight line; no rotation: the orientation stays. speed [m/s] of the TCP, and 0.25 m from the
        axes about which tool and joints turn; force [N] on the tool at which the arm stops."""
        if (joints is None) == (position is None) or (joints is not None and rotation is not None):
            raise ParameterError("goal: must be either joints, or a position and perhaps a rotation.")
        given.number("goal speed", speed, "m/s", above=True)
        given.number("goal force", force, "N", above=True)
        self.joints = None if joints is None else given.vector("goal joints", joints, 6, "rad").copy()
        self.position = None if position is None else given.vector("goal position", position, 3, "m")
        self.rotation = None if rotation is None else given.array("goal rotation", rotation)
        if self.position is not None:
            checked = checked_pose(self.position, np.eye(3) if self.rotation is None else self.rotation)
            self.position, self.rotation = checked[0].copy(), None if self.rotation is None else checked[1].copy()
        self.speed, self.force = float(speed), float(force)

    def as_json(self) -> dict[str, Any]:
        """As the mailbox takes it (runtime/mailbox.py)."""
        told = {name: value for name, value in vars(self).items() if value is not None}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in told.items()}

    def __str__(self) -> str:
        how = f"at up to {self.speed:g} m/s, until {self.force:g} N stop it"
        if self.joints is not None:
            return f"joints {np.round(np.degrees(self.joints), 1).tolist()} deg {how}"
        return f"{np.round(np.asarray(self.position), 3).tolist()} m {how}"


class Way:
    """T(s), s from 0 to 1, from where the arm is to a goal; `rate` is dT/ds."""

    def __init__(self, controller: Any, goal: Goal) -> None:
        q = np.array(controller.sample["q"])
        self.q, self.room = q, np.zeros(kernels.ROOMS)  # at the last look
        self.R, self.p, self.J, self.rate = np.eye(3), np.zeros(3), np.zeros((6, 6)), np.zeros(6)
        self._look = look.on(controller.params, self.q, self.R, self.p, self.J, self.room)
        self._look()
        self._R_start, self._p_start, self._q_start, self._turned = self.R.copy(), self.p.copy(), q.copy(), np.eye(3)
        self._turns = None if goal.joints is None else goal.joints - q
        if goal.position is not None:
            turn = np.zeros(3)
            if goal.rotation is not None:
                log_so3.on(np.ascontiguousarray(goal.rotation @ self.R.T), turn)()
            self.rate[:3], self.rate[3:] = goal.position - self.p, turn
            self._share = np.zeros(3)
            self._turn = exp_so3.on(self._share, self._turned)
            self._reach = reach.on(controller.params, self.q, self.R, self.p)

    def at(self, s: float) -> None:
        """Fills R, p and rate; for a straight line in joint angles q and room, too."""
        if self._turns is not None:
            self.q[:] = self._q_start + s * self._turns
            self._look()
            self.rate[:] = self.J @ self._turns
            return
        self._share[:] = s * self.rate[3:]
        self._turn()
        self.p[:], self.R[:] = self._p_start + s * self.rate[:3], self._turned @ self._R_start

    def look_at(self, s: float) -> bool:
        """As `at`, with q and room for each kind of way. False: no joint angles near the last ones lead there."""
        self.at(s)
        if self._turns is None:
            if not self._reach():
                return False
            self._look()
        return True


@dataclass
class Progress:
    s: float = 0.0
    length: float = 0.0  # that the TCP has come along the way [m]
    waited: float = 0.0  # since s moved last [s]
    over: float = 0.0  # since the end is certain [s]


class GoTo:
    """One way to one goal. `outcome` and `sentence` say how it stands; `done`: it is over, and the arm has come to rest
    or yielded."""

    def __init__(self, controller: Any, goal: Goal) -> None:
        if controller.mode != Mode.ACTIVE:
            raise LifecycleError(f"go_to: the controller is {controller.mode.name.lower()}, must be active.")
        if controller.own_motion:
            raise LifecycleError(f"go_to: {controller.own_motion}; take parameters without it.")
        self.goal, self.outcome, self.sentence = goal, Outcome.GOING, "goes to a pose"
        self.way, self.progress = Way(controller, goal), Progress()
        self._controller = controller
        state, params = controller.state, controller.params
        self._twist, self._held = vector(controller.sample, "reference_twist"), scalar(state, "held")
        self._p_ref, self._R_ref, self._offset = (vector(state, name) for name in ("p_ref", "R_ref", "offset"))
        command = controller.command
        self._dt, self._felt = scalar(controller.sample, "dt"), vector(command, "wrench_tcp")
        self._moving = vector(command, "twist")
        self._reading, self._bias = np.zeros(6), vector(params, "sensor_bias")
        self._unload = without_weight.on(
            params, vector(controller.sample, "q"), vector(state, "reading"), self._reading, np.zeros((3, 3))
        )
        self._away, self._error = np.eye(3), np.zeros(6)
        self._log = log_so3.on(self._away, self._error[3:])
        linear, angular = (TARGET_SPEED * float(limit) for limit in params["max_velocity"])
        self._fastest = min(goal.speed, linear), min(goal.speed / LEVER, angular)
        self._joint_speed = np.minimum(goal.speed / LEVER, TARGET_SPEED * params["joint_velocity"])
        self._least = np.minimum(self.way.room, 0.0) - OUTSIDE  # no farther outside than the start
        if abs(self.way.q[ELBOW]) < STRETCHED:
            self._least[kernels.SINGULAR] = 0.0
        self._looked, self._step, self._time = 0.0, 1e-3, 0.0  # share of the way; seconds for all of it
        self._otg, self._input, self._output = Ruckig(1, 0.002), InputParameter(1), OutputParameter(1)
        controller.references.lead_by_go()

    @property
    def done(self) -> bool:
        return self.outcome != Outcome.GOING and self.progress.over >= SETTLE

    def update(self) -> None:
        """Before each tick, once the sample is filled."""
        if self.outcome != Outcome.GOING:
            self.progress.over += float(self._dt[0])
            return
        controller = self._controller
        if controller.mode != Mode.ACTIVE:
            why = reason(controller.mode, controller.status, controller.state["evidence"], "")
            self._end(Outcome.ENDED, f"ended ({why})")
        elif controller.references.leader != Leader.GO:
            self._end(Outcome.ENDED, "ended (somebody else leads now)")
        elif self._held[0]:
            self._rest()
        elif (force := self._force()) > self.goal.force:
            self._end(Outcome.TOUCHED, f"stopped by {force:.0f} N")
        elif self._looked < 1.0:
            self._look_ahead()
        else:
            self._lead(float(self._dt[0]))

    def _force(self) -> float:
        """On the tool, before the filter of the law or after it, whichever is more [N]."""
        self._unload()
        raw = self._reading[:3] - self._bias[:3]
        return math.sqrt(max(float(raw @ raw), float(self._felt[:3] @ self._felt[:3])))

    # -- look

    def _look_ahead(self) -> None:
        way, before = self.way, np.empty(6)
        for _ in range(LOOKS):
            before[:] = way.q
            s = min(1.0, self._looked + self._step)
            found = way.look_at(s)
            turns = np.abs(way.q - before)
            turned = float(turns.sum())
            if not found or turned > BETWEEN:
                way.q[:] = before
                self._step *= 0.5
                if self._step < SHORTEST:
                    self._refuse(s, SINGULAR)
                    return
                continue
            if refusal := self._refusal():
                self._refuse(s, refusal)
                return
            step = s - self._looked
            linear, angular = float(np.linalg.norm(way.rate[:3])), float(np.linalg.norm(way.rate[3:]))
            self._time = max(self._time, linear / self._fastest[0], angular / self._fastest[1])
            self._time = max(self._time, float((turns / self._joint_speed).max()) / step)
            self._looked, self._step = s, self._step * min(2.0, 0.9 * BETWEEN / max(turned, 1e-9))
            if s >= 1.0:
                self._begin()
                return

    def _refusal(self) -> str:
        """What is in the way at the last look; empty: nothing."""
        room, least, params = self.way.room, self._least, self._controller.params
        if room[kernels.JOINT] < least[kernels.JOINT]:
            i = int(room[kernels.WHICH])
            low, high = np.degrees([params["joint_lower"][i], params["joint_upper"][i]])
            at = np.degrees(self.way.q[i])
            return f"joint {i + 1} would be at {at:.1f} deg (allowed: {low:.0f} to {high:.0f} deg)"
        if room[kernels.WALL] < least[kernels.WALL]:
            return "the tool would leave the workspace"
        if room[kernels.BODY] < least[kernels.BODY]:
            one, two = (BODIES[int(room[k])] for k in (kernels.ONE, kernels.TWO))
            kept = 1e3 * float(params["shapes"]["clearance"])
            return f"the {one} would come nearer to the {two} than {kept:.0f} mm (collision.clearance)"
        return SINGULAR if room[kernels.SINGULAR] < least[kernels.SINGULAR] else ""

    def _refuse(self, s: float, why: str) -> None:
        self._end(Outcome.REFUSED, f"refused: at {100.0 * s:.0f} % of the way {why}", said=True)

    def _begin(self) -> None:
        plan, time = self._input, max(self._time, 1e-3)
        plan.current_position, plan.target_position = [0.0], [1.0]
        plan.max_acceleration, plan.max_jerk = [1.0 / (time * RAMP)], [1.0 / (time * RAMP * JERK_RAMP)]
        self._time = time

    # -- lead

    def _rest(self) -> None:
        """Held by hold-to-run: from there on it starts anew."""
        self._twist[:] = 0.0
        self._input.current_velocity, self._input.current_acceleration = [0.0], [0.0]

    def _lead(self, dt: float) -> None:
        way, progress, plan, error = self.way, self.progress, self._input, self._error
        self._off(progress.s)
        sides = (
            float(np.linalg.norm(error[:3] - self._offset[:3])),
            float(np.linalg.norm(error[3:]) + np.linalg.norm(self._offset[3:])),
        )
        share = 1.0 - max(sides[0] / AWAY[0], sides[1] / AWAY[1])
        plan.max_velocity = [max(share, CREEP) / self._time]
        self._otg.delta_time = dt
        result = self._otg.update(plan, self._output)
        self._output.pass_to_input(plan)
        rate = float(self._output.new_velocity[0])
        progress.s = float(self._output.new_position[0])
        self._twist[:] = rate * way.rate
        if (size := float(np.linalg.norm(way.rate[:3]))) > 0.0:
            progress.length += dt * float(self._moving[:3] @ way.rate[:3]) / size
        progress.waited = 0.0 if share > CREEP else progress.waited + dt
        for part, fastest in zip((slice(0, 3), slice(3, 6)), self._fastest, strict=True):
            pull = PULL * error[part]
            self._twist[part] += pull * min(1.0, fastest / max(float(np.linalg.norm(pull)), 1e-12))
        there = np.linalg.norm(error[:3]) < REACHED[0] and np.linalg.norm(error[3:]) < REACHED[1]
        if result == Result.Finished and there:
            self._arrive(dt)
        elif result < Result.Working:
            self._end(Outcome.ENDED, f"ended (Ruckig finds no motion: {result.name})")
        elif progress.waited > PATIENCE:
            off = f"{1e3 * sides[0]:.0f} mm and {math.degrees(sides[1]):.0f} deg"
            self._end(Outcome.BLOCKED, f"ended because the tool was kept {off} off its way for {PATIENCE:g} s")

    def _off(self, s: float) -> None:
        """error := from the reference to T(s)."""
        self.way.at(s)
        self._error[:3] = self.way.p - self._p_ref
        np.matmul(self.way.R, self._R_ref.T, out=self._away)
        self._log()

    def _arrive(self, dt: float) -> None:
        """The reference is there; the arm follows."""
        self.progress.over += dt
        if self.progress.over >= SETTLE:
            off = self._error - self._offset + self._controller.command["pose_error"]
            distance, angle = 1e3 * float(np.linalg.norm(off[:3])), math.degrees(float(np.linalg.norm(off[3:])))
            self._end(Outcome.ARRIVED, f"arrived within {distance:.1f} mm and {angle:.1f} deg", said=True)

    def _end(self, outcome: Outcome, why: str, said: bool = False) -> None:
        self.outcome, done = outcome, self.progress
        where = "" if said else f" after {1e3 * done.length:.0f} mm, {100.0 * done.s:.0f} % of the way"
        self.sentence = why + where
        if outcome in (Outcome.TOUCHED, Outcome.BLOCKED):
            self._controller.latch_reference()  # no spring goes on pressing
        self._controller.references.end_go()


class Trip:
    """What a loop calls in every cycle (on_tick): goes to the goal as soon as the arm complies, and ends the loop when
    that is over. `outcome` and `sentence` say how."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.going: GoTo | None = None
        self.outcome, self.sentence = Outcome.ENDED, ""
        self.report: Any = None  # of the loop, once it has ended
        self._inactive = 0.0  # [s]

    def __call__(self, controller: Any) -> bool:
        if self.going is None:
            return self.outcome == Outcome.REFUSED or self._begins_never(controller)
        self.outcome, self.sentence = self.going.outcome, self.going.sentence
        return self.going.done

    def _begins_never(self, controller: Any) -> bool:
        try:
            if controller.mode == Mode.ACTIVE:
                self.going = controller.go_to(self.goal)
                return False
        except UrAdmittanceError as error:
            self.outcome, self.sentence = Outcome.REFUSED, f"refused: {error}"
            return True
        self._inactive += float(controller.sample["dt"])
        self.sentence = f"it did not begin: {controller.reason}"
        return controller.mode == Mode.FAULT or self._inactive > LATEST


LATEST = 5.0  # [s] an arm that does not comply by then does not without a person
SINGULAR = "the arm would come too near a singular pose (stretched, folded or with a straight wrist)"
