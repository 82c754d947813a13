"""Which numbers of the arm a recording determines, how well, and which it leaves open.

A parameter that the data do not determine stays at what was assumed and gets a sentence that says why; the others are
then fitted once more without it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.calibration.response import EXPLAINED, LONGEST, Response
from ur_admittance.errors import CalibrationError
from ur_admittance_lab.twin.found import sensor
from ur_admittance_lab.twin.found.servo import (
    DELAY,
    EDGE,
    FRICTION,
    LAG,
    LATE,
    NAMES,
    RATIO,
    ROTORS,
    STIFFNESS,
    Equations,
    Flags,
    Guess,
)
from ur_admittance_lab.twin.found.stretch import Stretch

Array = NDArray[np.float64]

SLOWEST = 0.01  # [rad/s] root mean square: less motion says nothing
SHORTEST = 2.0  # [s] of work that says anything
# The fitted model stands in steps of 1 ms: what remains of that in noise-free recordings of simulated arms.
MODEL_TIME, MODEL_SHARE = 5e-5, 2e-3  # [s], of everything else
# Largest standard deviation with which a value is still worth more than the assumed one.
LOOSE_TIME = 0.001  # [s] of delays and lag: a servo step
LOOSE_RATIO, LOOSE_ROTORS = 0.15, 0.3
LOOSE_STIFFNESS = 0.15  # of its logarithm
LOOSE_DEFLECTION = 5e-5  # [rad] of a joint by its friction: 0.05 mm at a reach of 1 m
LOOSE_MASS = 0.1  # [kg]
NEARLY = 5.0  # times these: how well is worth telling
TOO_LATE = 0.15  # [s] delays and lags beyond it are not believed
LEAST_SPEED = 0.003  # [rad/s] of a joint, root mean square: slower, it creeps
LEAST_DEFLECTION = 5e-6  # [rad] of a joint, root mean square: the noise of a sensor gives half as much
BELIEVED = 20.0  # factor to either side of the assumed stiffness


@dataclass(frozen=True)
class Finding:
    """One number. reason: why it is only assumed; empty: it was found, to one standard deviation."""

    value: float
    deviation: float = 0.0
    reason: str = ""

    @property
    def found(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Findings:
    """By name; stiffness and friction have one for each joint. In SI units."""

    values: dict[str, tuple[Finding, ...]]
    seconds: float  # of work that was used
    scatter: float  # of measured minus predicted joint angles, root mean square [rad]
    unexplained: float  # their share of what there was to explain, 0..1

    @property
    def anything(self) -> bool:
        return any(finding.found for name, row in self.values.items() if name[:5] != "noise" for finding in row)


def identify(stretches: list[Stretch], guess: Guess, say: Callable[[str], None] = lambda text: None) -> Findings:
    """Everything that these stretches of one arm determine. CalibrationError when they are too short."""
    long = [stretch for stretch in stretches if stretch.seconds > SHORTEST + 2.0 * EDGE]
    if not long:
        longest = max((stretch.seconds for stretch in stretches), default=0.0)
        raise CalibrationError(
            f"identify: the longest undisturbed stretch lasts {longest:.1f} s: must be at least "
            f"{SHORTEST + 2.0 * EDGE:g} s."
        )
    say("servo")
    values, equations, x = _servo(long, _with_response(long, guess), say)
    say("sensor and tool")
    level, scatter = sensor.noise(long)
    values["noise_force"] = (Finding(float(level[0]), float(scatter[0])),)
    values["noise_torque"] = (Finding(float(level[1]), float(scatter[1])),)
    values["tool_mass"] = (_mass(long, float(x[LATE]), float(level[0])),)
    residual, deflection = equations.by_joint(x), equations.deflection(x)
    share = float(np.sum(residual**2) / max(np.sum(deflection**2), 1e-30))
    seconds = sum(stretch.seconds for stretch in long)
    return Findings(values, seconds, float(np.sqrt(np.mean(residual**2))), min(1.0, share))


def _with_response(stretches: list[Stretch], guess: Guess) -> Guess:
    """The guess with a delay near the true one: the search is local."""
    for stretch in stretches:
        speeds = [np.diff(angles, axis=0) / stretch.period for angles in (stretch.command, stretch.q)]
        response = response_from_motion(speeds[0], speeds[1], stretch.period)
        if response is not None:
            return replace(guess, delay=max(0.0, response.time - guess.lag))
    return guess


def _servo(
    stretches: list[Stretch], guess: Guess, say: Callable[[str], None]
) -> tuple[dict[str, tuple[Finding, ...]], Equations, Array]:
    reasons, limits = _silent(stretches, guess), _limits(guess)
    equations = Equations(stretches, guess)
    x, deviation = guess.vector(), np.zeros(len(NAMES))
    while not all(reasons):  # every round leaves out at least one more
        free = np.array([not reason for reason in reasons])
        x, deviation = equations.solve(free)
        deviation = _with_model_error(x, deviation, free)
        refused = _refused(x, deviation, limits, free, guess)
        if not any(refused):
            break
        reasons = [old or new for old, new in zip(reasons, refused, strict=True)]
        x, deviation = guess.vector(), np.zeros(len(NAMES))
        say(f"servo, without {sum(map(bool, reasons))} of {len(NAMES)} numbers, which the recordings leave open")
    return _as_findings(x, deviation, reasons), equations, x


def _silent(stretches: list[Stretch], guess: Guess) -> list[str]:
    """Reasons that are clear before any fit: joints that do not move or are not loaded."""
    speed = _rms([np.diff(s.command, axis=0) / s.period for s in stretches])
    load = _rms([s.load - s.load.mean(axis=0) for s in stretches])
    reasons = [""] * len(NAMES)
    if speed.max() < SLOWEST:
        still = f"the arm hardly moved ({speed.max():.2g} rad/s root mean square; {SLOWEST:g} rad/s is needed)"
        for i in (DELAY, LAG, RATIO, ROTORS):
            reasons[i] = still
    for j in range(6):
        if speed[j] < LEAST_SPEED:
            reasons[FRICTION.start + j] = f"the joint hardly moved ({speed[j]:.2g} rad/s root mean square)"
        if load[j] / guess.stiffness[j] < LEAST_DEFLECTION:
            reasons[STIFFNESS.start + j] = f"nothing loaded the joint ({load[j]:.2g} Nm root mean square)"
    if all(reasons[STIFFNESS]):
        reasons[LATE] = reasons[ROTORS] = reasons[RATIO] = "no force deflected the arm"
    return reasons


def _rms(parts: list[Array]) -> Array:
    return np.asarray(np.sqrt(np.mean(np.vstack(parts) ** 2, axis=0)))


def _limits(guess: Guess) -> Array:
    return np.concatenate(
        [
            [LOOSE_TIME, LOOSE_TIME, LOOSE_TIME, LOOSE_RATIO, LOOSE_ROTORS],
            np.full(6, LOOSE_STIFFNESS),
            LOOSE_DEFLECTION * guess.stiffness,
        ]
    )


def _with_model_error(x: Array, deviation: Array, free: Flags) -> Array:
    """Scatter of the data and error of the model, as independent ones."""
    model = np.concatenate([np.full(3, MODEL_TIME), np.full(8, MODEL_SHARE), MODEL_SHARE * np.abs(x[FRICTION])])
    return np.where(free, np.hypot(deviation, model), 0.0)


def _refused(x: Array, deviation: Array, limits: Array, free: Flags, guess: Guess) -> list[str]:
    """A reason for each parameter that has to be left out next."""
    reasons = [""] * len(x)
    for i in np.flatnonzero(free & (deviation > limits)).tolist():
        nearly = deviation[i] < NEARLY * limits[i]
        reasons[i] = (
            f"the motion shows it to {_size(i, deviation[i])} only" if nearly else "the motion does not show it"
        )
    if reasons[DELAY] and reasons[LAG]:  # their sum is what a slow motion shows
        reasons[DELAY] = ""
        reasons[LAG] = "the motion is too slow to tell lag from delay"
    for i in (DELAY, LAG, LATE):
        if free[i] and not reasons[i] and not -3.0 * deviation[i] <= x[i] <= TOO_LATE:
            reasons[i] = f"{1e3 * x[i]:.1f} ms were found, which is not believed (0 to {1e3 * TOO_LATE:.0f} ms)"
    for i in range(STIFFNESS.start, STIFFNESS.stop):
        factor = math.exp(abs(x[i] - guess.vector()[i]))
        if free[i] and not reasons[i] and factor > BELIEVED:
            reasons[i] = f"{math.exp(x[i]):.2g} Nm/rad were found, which is not believed"
    for i in (RATIO, ROTORS):
        if free[i] and not reasons[i] and not x[i] > 0.0:
            reasons[i] = f"{x[i]:.2g} was found, which is not believed (above 0)"
    return reasons


def _size(index: int, deviation: float) -> str:
    if index in (DELAY, LAG, LATE):
        return f"{1e3 * deviation:.1f} ms"
    return f"{deviation:.2g} Nm" if index >= FRICTION.start else f"{100.0 * deviation:.0f} %"


def _as_findings(x: Array, deviation: Array, reasons: list[str]) -> dict[str, tuple[Finding, ...]]:
    found: dict[str, list[Finding]] = {}
    for i, name in enumerate(NAMES):
        value, error = float(x[i]), float(deviation[i])
        if name == "stiffness":
            value = math.exp(value)
            error *= value
        found.setdefault(name, []).append(Finding(value, error, reasons[i]))
    return {name: tuple(row) for name, row in found.items()}


def _mass(stretches: list[Stretch], sensor_delay: float, noise_force: float) -> Finding:
    mass, deviation, fastest = sensor.tool_mass(stretches, sensor_delay, noise_force)
    if deviation <= LOOSE_MASS and mass > -3.0 * deviation:
        return Finding(max(mass, 0.0), deviation)
    return Finding(
        stretches[0].mounting.mass,
        0.0,
        f"untouched, the tool never accelerated by more than {fastest:.2g} m/s2: its weight tells the mass",
    )


def response_from_motion(qd_command: Array, qd_measured: Array, period: float) -> Response | None:
    """From the commanded and measured joint speeds (n, 6) [rad/s] of normal operation, one row per tick.

    The shift that leaves the least of the measured speeds unexplained, between ticks by a parabola. A command acts from
    its tick to the next: on average half a period later. None: too little motion, or it is not explained."""
    longest = round(LONGEST / period)
    n = len(qd_command) - longest - 1
    if n < 4 * longest:
        return None
    measured = qd_measured[longest : longest + n]
    energy = float(np.mean(np.sum(measured**2, axis=1)))
    if math.sqrt(energy) < SLOWEST:
        return None
    left = np.empty(longest)
    for k in range(longest):
        late = qd_command[longest - k : longest - k + n]
        left[k] = float(np.mean(np.sum((measured - late) ** 2, axis=1)))
    best = int(np.argmin(left))
    if not 0 < best < longest - 1:
        return None
    before, at, after = left[best - 1 : best + 2]
    shift = best + 0.5 * (before - after) / max(before - 2.0 * at + after, 1e-30)
    late = qd_command[longest - best : longest - best + n]
    gain = float(np.sum(measured * late) / max(np.sum(late * late), 1e-30))
    explained = 1.0 - float(at) / energy
    if explained < EXPLAINED:
        return None
    return Response(max(0.0, (shift - 0.5) * period), gain, explained)
