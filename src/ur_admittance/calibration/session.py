"""The procedure: visit poses, read the sensor at rest, identify; and the test of a saved calibration."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.fit import Array, Reading, noise
from ur_admittance.calibration.identify_tool import RESIDUAL_FORCE, RESIDUAL_TORQUE, TIMES_NOISE, identify
from ur_admittance.calibration.poses import FEWEST_POSES, choose, excitation, paths
from ur_admittance.calibration.tool_calibration import ToolCalibration, expected_reading
from ur_admittance.errors import CalibrationError
from ur_admittance.params import Parameters

POSES = 12
CHECK_POSES = 3
CHECK_SEED = 1  # other candidates than those of the calibration, which has seed 0

LARGEST_DRIFT = (8.0, 1.0)  # [N], [Nm] twice what was seen on e-Series sensors

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The wrench that remains in new orientations with nothing touching the tool."""

    residual: Array  # (n, 6) compensated reading, sensor frame [N, Nm]
    allowed: tuple[float, float]  # of force and torque, length in any pose [N, Nm]

    @property
    def force(self) -> Array:
        """Its length per pose (n,) [N]."""
        return np.asarray(np.linalg.norm(self.residual[:, :3], axis=1))

    @property
    def torque(self) -> Array:
        return np.asarray(np.linalg.norm(self.residual[:, 3:], axis=1))

    @property
    def good(self) -> bool:
        return bool((self.force <= self.allowed[0]).all() and (self.torque <= self.allowed[1]).all())

    @property
    def constant(self) -> bool:
        """True when the same wrench remains in all poses: the bias has drifted, mass and mounting are right."""
        change = self.residual - self.residual.mean(axis=0)
        return bool(
            (np.linalg.norm(change[:, :3], axis=1) <= self.allowed[0]).all()
            and (np.linalg.norm(change[:, 3:], axis=1) <= self.allowed[1]).all()
        )

    def __str__(self) -> str:
        largest = f"{self.force.max():.2f} N, {self.torque.max():.3f} Nm"
        allowed = f"allowed {self.allowed[0]:.2f} N, {self.allowed[1]:.3f} Nm"
        if self.good:
            return f"good: at most {largest} remain ({allowed})"
        if self.constant:
            return f"the sensor has drifted: {largest} remain, the same in all poses ({allowed}); zero it"
        return f"bad: {largest} remain and change with the orientation ({allowed}); calibrate again"


def visit(arm: CalmArm, legs: list[Array], say: Say = lambda text: None) -> list[Reading]:
    """Go through the poses, read each at rest, and come back to the start (the last leg)."""
    readings = []
    for number, leg in enumerate(legs[:-1], start=1):
        for q in leg:
            arm.move(q)
        readings.append(arm.read_at_rest())
        say(_progress(number, len(legs) - 1, readings))
    for q in legs[-1]:
        arm.move(q)
    return readings


def calibrate(
    arm: CalmArm,
    parameters: Parameters,
    count: int = POSES,
    reach: float | None = None,
    say: Say = lambda text: None,
    robot: str = "",
    poses: Array | None = None,
) -> ToolCalibration:
    """Drive the wrist through ``count`` poses around the present posture (or ``poses``, (count, 6) [rad], as `choose`
    gives them) and identify tool and sensor."""
    if count < FEWEST_POSES:
        raise CalibrationError(
            f"calibration refused: {count} poses: at least {FEWEST_POSES} are needed (12 are better)."
        )
    start = arm.q
    if poses is None:
        poses = choose(arm.model, parameters, start, count, reach=reach)
    readings = visit(arm, paths(arm.model, parameters, start, poses, reach), say)
    return dated(identify(readings, parameters, robot))


def calibrate_by_hand(
    arm: CalmArm,
    parameters: Parameters,
    next_pose: Callable[[int], bool],
    say: Say = lambda text: None,
    robot: str = "",
) -> ToolCalibration:
    """Poses set by the user: ``next_pose(number)`` returns when the arm is in the next one, or False at the end."""
    readings: list[Reading] = []
    while next_pose(len(readings) + 1):
        readings.append(arm.read_at_rest())
        value = excitation(np.array([reading.R_base_flange.T for reading in readings]), parameters.gravity)
        enough = f"excitation {value:.3f}" if len(readings) >= FEWEST_POSES else f"at least {FEWEST_POSES} needed"
        say(f"pose {len(readings)}: {_forces(readings[-1])}; {enough}")
    return dated(identify(readings, parameters, robot))


def check(
    arm: CalmArm,
    parameters: Parameters,
    count: int = CHECK_POSES,
    reach: float | None = None,
    say: Say = lambda text: None,
) -> Verdict:
    """Test a calibration in orientations other than those it was made in."""
    start = arm.q
    poses = choose(arm.model, parameters, start, count, seed=CHECK_SEED, reach=reach)
    return judge(visit(arm, paths(arm.model, parameters, start, poses, reach), say), parameters)


def judge(readings: list[Reading], parameters: Parameters) -> Verdict:
    sign = parameters.sensor.sign
    residual = np.array([sign * r.wrench - expected_reading(parameters, r.R_base_flange) for r in readings])
    force, torque = noise(readings)
    allowed = max(RESIDUAL_FORCE, TIMES_NOISE * force), max(RESIDUAL_TORQUE, TIMES_NOISE * torque)
    return Verdict(residual, allowed)


def offset(arm: CalmArm, parameters: Parameters) -> Array:
    """Zeroing: what the free tool reads here after compensation, sensor frame (6,) [N, Nm]. CalibrationError when the
    arm moves, the reading is unsteady, or the wrench is larger than any drift."""
    change: Array = judge([arm.read_at_rest()], parameters).residual[0]
    force, torque = float(np.linalg.norm(change[:3])), float(np.linalg.norm(change[3:]))
    if force > LARGEST_DRIFT[0] or torque > LARGEST_DRIFT[1]:
        raise CalibrationError(
            f"zeroing refused: {force:.1f} N and {torque:.2f} Nm is more than drift (at most {LARGEST_DRIFT[0]:.0f} "
            f"N, {LARGEST_DRIFT[1]:.0f} Nm); free the tool, or calibrate again."
        )
    return change


def dated(result: ToolCalibration) -> ToolCalibration:
    return replace(result, made=datetime.now().isoformat(timespec="seconds"))


def _progress(number: int, count: int, readings: list[Reading]) -> str:
    return f"pose {number} of {count}: {_forces(readings[-1])}"


def _forces(reading: Reading) -> str:
    f = " ".join(f"{x:7.2f}" for x in reading.wrench[:3])
    t = " ".join(f"{x:7.3f}" for x in reading.wrench[3:])
    return f"[{f}] N  [{t}] Nm"
