"""Zeroing the force sensor: recent readings, whether they may become the new zero, and how far it has drifted.

A single reading at rest cannot distinguish a bias from a steady push. Time can: a hand or a contact varies and comes at
once, a bias changes slowly (an e-Series sensor was seen to drift from 0.07 to 4.1 N in five minutes).
"""

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from ur_admittance.control.kernels import without_weight
from ur_admittance.core.enabling import HELD
from ur_admittance.core.records import AT_REST, Frame, Mode
from ur_admittance.errors import CalibrationError, Unconfirmed

Array = NDArray[np.float64]

WINDOW = 0.5  # [s]
AUTO_ZERO_STEP = 0.05  # [N] and a tenth of it in Nm: smaller changes of the bias wait: logs stay readable
CONFIRM = "if nothing touches the tool, confirm that it is free (zero_free_tool)"
ON_A_LINE = np.array([0.02] * 3 + [0.002] * 3)  # [N, Nm] by which a smooth force is off a line within 1.5 s
LINE_ERRORS = 3.0 * math.sqrt(6.0)  # standard errors: three of reading - 2 before + the one before that
FOLLOWS = (1e-3, 5e-3)  # [m/s], [rad/s] of the law's own motion: below it the arm stands
UNSTEADY = (0.5, 0.05)  # [N], [Nm] standard deviation above the noise of common sensors: a hand, a contact
CONSISTENT = (0.3, 0.03)  # [N], [Nm] largest spread of the half seconds that establish a level
AGREEING = 4  # half seconds that agree establish a level
FOLLOW_TIME = 10.0  # [s] time constant of the level
JUMP = (1.5, 0.2)  # [N], [Nm] a larger change, beyond the fastest drift over the time, is a contact
FASTEST = (0.02, 0.002)  # [N/s], [Nm/s] of drift
WARN = (1.0, 0.1)  # [N], [Nm] two thirds of the default deadband: beyond it the arm creeps
TURNED = np.radians(10.0)  # a rotation that invalidates the level of a tool of unknown weight
HISTORY = 30  # remembered levels
HISTORY_STEP = 10.0  # [s]
AUTO_LIMIT = (2.0, 0.3)  # [N], [Nm] a larger drift must not vanish silently


def unrest(speed: float, spread: Array) -> str:
    """Why this is not a reading at rest; empty: it is. speed: of the fastest joint [rad/s]; spread: standard deviation
    of the wrench (6,) [N, Nm]."""
    if not speed <= AT_REST:
        return f"the arm is moving ({speed:.3f} rad/s, allowed {AT_REST} rad/s)"
    for worst, allowed, unit in ((max(spread[:3]), UNSTEADY[0], "N"), (max(spread[3:]), UNSTEADY[1], "Nm")):
        if not worst <= allowed:
            return (
                f"the reading varies by {worst:.3g} {unit} (allowed {allowed} {unit}); is something touching the tool?"
            )
    return ""


class FollowedForce:
    """For how long an active arm has been following a force that no hand gives: a smooth one.

    A hand's force varies by some percent from one half second to the next. A wrong payload, a zero taken under load, a
    sensor that is stuck or drifts, a part that hangs on the tool do not; where such a force turns the tool, its reading
    changes evenly. So each half second is compared with the line through the two before it."""

    def __init__(self) -> None:
        self._before: list[Array] = []  # readings of the last two half seconds
        self.time = 0.0  # [s]

    def take(self, reading: Array, error: Array, steady: bool, period: float) -> None:
        """A half second. reading: mean without the tool's weight (6,), error: its standard error (6,); steady: the arm
        followed it and it was quiet."""
        if len(self._before) == 2:
            off = np.abs(reading - 2.0 * self._before[1] + self._before[0])
            steady = steady and bool(np.all(off <= ON_A_LINE + LINE_ERRORS * error))
        self._before = [*self._before[-1:], reading] if steady else []
        self.time = self.time + period if steady else 0.0


class WrenchWindow:
    """The last half second of samples. Adding one costs well under a microsecond."""

    def __init__(self, rate: float = 500.0) -> None:
        """rate: samples per second."""
        self.length = max(2, round(WINDOW * rate))
        self._rows = np.zeros((self.length, 18))  # angles, their speeds, wrench
        self.q, self.wrench, self.spread = np.zeros(6), np.zeros(6), np.zeros(6)
        self._count = 0

    def add(self, sample: np.void, reading: Array) -> bool:
        """True when the window is full of samples that it did not hold the last time it returned True.
        reading: in place of the sample's wrench, that of both force sensors where there are two (6,)."""
        row = self._count % self.length
        kept = self._rows[row]
        kept[:6], kept[6:12], kept[12:] = sample["q"], sample["qd"], reading
        self._count += 1
        return row == self.length - 1

    def unrest(self) -> str:
        """Why the window is not a reading at rest; empty: it is, and `q` and `wrench` are its means."""
        if self._count < self.length:
            return f"only {self._count} of {self.length} readings so far; wait half a second"
        mean = self._rows.sum(axis=0) / self.length
        off = self._rows[:, 12:] - mean[12:]
        self.q, self.wrench = mean[:6], mean[12:]
        self.spread = np.sqrt((off * off).sum(axis=0) / self.length)
        return unrest(float(np.abs(self._rows[:, 6:12]).max()), self.spread)

    @property
    def quiet(self) -> bool:
        """Whether the reading did not vary, whatever the arm did. As of the last `unrest`."""
        return not unrest(0.0, self.spread)


class ZeroWatch:
    """The window and the drift monitor behind it: one `add` per cycle, half a second between evaluations."""

    def __init__(self, rate: float = 500.0) -> None:
        self._window = WrenchWindow(rate)
        self._period = self._window.length / rate
        self.monitor = DriftMonitor()
        self._force = FollowedForce()
        self._noise = np.zeros(6)  # of the sensor at rest, standard deviation [N, Nm]
        self._change = np.zeros(6)  # of the bias by auto-zero, not yet in force

    def add(
        self, sample: np.void, reading: Array, params: NDArray[np.void], command: np.void, led: bool = False
    ) -> bool:
        """Take a sample; True when a half second has just been evaluated (some 0.05 ms in that cycle).
        led: the reference is on its way to a pose."""
        if not self._window.add(sample, reading):
            return False
        unrest, active = self._window.unrest(), command["mode"] == Mode.ACTIVE
        reading, R_base_sensor = self._reading(params)
        moved = active and not led and follows(params[0], sample, command)
        if not unrest and not active:
            self._noise = self._window.spread.copy()
        error = self._noise / math.sqrt(self._window.length)
        self._force.take(reading, error, moved and self._window.quiet, self._period)
        if unrest:
            self.monitor.skip(self._period)
        else:
            held = bool(command["limits"] or command["contact"].any() or command["status"] in HELD)
            self.monitor.take(reading, R_base_sensor, params[0], self._period, active, held)
        return True

    @property
    def followed(self) -> float:
        """For how long the arm has been following a force that is steadier than a hand [s]."""
        return self._force.time

    def auto_change(self, time_constant: float) -> Array | None:
        """What auto-zero adds to the bias now (6,); None: nothing yet. time_constant: sensor.auto_zero_time [s]."""
        step = self.monitor.auto_step(time_constant, WINDOW)
        if step is None:
            return None
        self._change += step
        force, torque = np.linalg.norm(self._change[:3]), np.linalg.norm(self._change[3:])
        if force < AUTO_ZERO_STEP and torque < 0.1 * AUTO_ZERO_STEP:
            return None
        change, self._change = self._change, np.zeros(6)
        return change

    def residual(self, params: NDArray[np.void], tool_is_free: bool = False) -> Array:
        """Mean compensated wrench in the sensor frame [N, Nm], or CalibrationError with the reason for a refusal.
        tool_is_free: somebody has looked; then a reading that looks like a contact counts all the same."""
        if reason := self._window.unrest():
            raise CalibrationError(f"zeroing refused: {reason}.")
        reading, R_base_sensor = self._reading(params)
        self.monitor.forget_if_changed(params[0], R_base_sensor)
        change = np.asarray(reading - params[0]["sensor_bias"])
        if not tool_is_free and (reason := self.monitor.contact(reading) or self.monitor.unknown(change)):
            raise Unconfirmed(f"zeroing refused: {reason}; {CONFIRM}.")
        return change

    def _reading(self, params: NDArray[np.void]) -> tuple[Array, Array]:
        return weightless(params, self._window.q, self._window.wrench)


def follows(params: np.void, sample: np.void, command: np.void) -> bool:
    """Whether a force that is felt moves the arm, and neither a reference nor a force that is wanted."""
    if sample["reference_twist"].any():
        return False
    frame = params["control_frame"]
    R = np.eye(3) if frame == Frame.BASE else command["R_ref"] if frame == Frame.TCP else params["R_base_task"]
    free = (params["desired_wrench"] + sample["reference_wrench"] == 0.0).reshape(2, 3)
    rate = command["rate"].reshape(2, 3) @ R  # control axes
    moves = np.linalg.norm(rate * free, axis=1) > FOLLOWS
    wrench = np.linalg.norm(command["wrench_tcp"].reshape(2, 3), axis=1)
    forced = (params["force_axes"] * params["enabled"]).reshape(2, 3).any(axis=1)  # these have no deadband
    felt = forced | (wrench > [params["deadband_force"], params["deadband_torque"]])
    return bool(moves.any() and felt.any())


def weightless(params: NDArray[np.void], q: Array, raw: Array) -> tuple[Array, Array]:
    """A raw reading at rest minus tool gravity, sensor frame (6,) [N, Nm], and R_base_sensor (3, 3)."""
    reading, R_base_sensor = np.empty(6), np.empty((3, 3))
    without_weight(params, q, raw, reading, R_base_sensor)
    return reading, R_base_sensor


def compensated(params: NDArray[np.void], q: Array, raw: Array) -> Array:
    """A raw reading at rest minus bias and tool gravity, sensor frame [N, Nm]: zero when nothing touches the tool."""
    return np.asarray(weightless(params, q, raw)[0] - params[0]["sensor_bias"])


class DriftMonitor:
    """The reading of the free tool, tracked slowly while nothing touches it: drift, suspected contact, slow auto-zero.

    `level` is the sensor's reading without the tool's weight: what `sensor.bias` ought to be. It is founded on half
    seconds at rest in which nothing holds the arm and the reading is within the deadband, so never under load; then it
    changes slowly. A reading that departs from it faster than any drift is a contact and is ignored."""

    def __init__(self) -> None:
        self.level: Array | None = None  # (6,) sensor frame [N, Nm]
        self.time = 0.0  # [s]
        self.touched = False  # the last half second at rest was away from the level
        self._known_at = 0.0
        self._recent: list[Array] = []
        self._history: deque[tuple[float, Array]] = deque(maxlen=HISTORY)
        self._tool = b""
        self._R_base_sensor = np.eye(3)
        self._bias = np.zeros(6)
        self._unexplained: Array | None = None  # reading of an arm that is not active, while no level is known (6,)

    def skip(self, period: float) -> None:
        """A half second that does not count: the arm moved or the reading was unsteady."""
        self.time += period
        self._recent.clear()

    def take(
        self, reading: Array, R_base_sensor: Array, params: np.void, period: float, active: bool, held: bool
    ) -> None:
        """A half second at rest: raw reading without the tool's weight, and the parameters in force.
        held: a limit or a contact keeps an active arm where it is."""
        self.time += period
        self._bias = np.array(params["sensor_bias"])
        self.forget_if_changed(params, R_base_sensor)
        self._recent = [*self._recent[1 - AGREEING :], reading]
        self.touched = bool(self.contact(reading))
        if self.level is None or self.touched:
            deadband = float(params["deadband_force"]), float(params["deadband_torque"])
            free = not held and _within(reading - self._bias, deadband)
            agreed = len(self._recent) == AGREEING and _within(np.ptp(self._recent, axis=0), CONSISTENT)
            if free and agreed:
                self._learn(np.mean(self._recent, axis=0), R_base_sensor)
        else:
            self._learn(self.level + (reading - self.level) * min(1.0, period / FOLLOW_TIME), R_base_sensor)
        self._unexplained = reading - self._bias if self.level is None and not active else None

    def contact(self, reading: Array) -> str:
        """Why this reading at rest looks like a contact; empty: it does not."""
        if self.level is None:
            return ""
        change = reading - self.level
        force, torque = float(np.linalg.norm(change[:3])), float(np.linalg.norm(change[3:]))
        since = self.time - self._known_at
        if force <= JUMP[0] + FASTEST[0] * since and torque <= JUMP[1] + FASTEST[1] * since:
            return ""
        return (
            f"the reading has changed by {force:.1f} N and {torque:.2f} Nm since the tool was last free, "
            f"{since:.0f} s ago"
        )

    def unknown(self, change: Array) -> str:
        """Why this change of the zero cannot be told from a push; empty: the level is known, or the change is small."""
        if self.level is not None or _within(change, AUTO_LIMIT):
            return ""
        force, torque = float(np.linalg.norm(change[:3])), float(np.linalg.norm(change[3:]))
        return f"the force would change by {force:.1f} N and {torque:.2f} Nm, and the tool has not been seen free"

    @property
    def drift(self) -> Array:
        """What the free tool reads after all compensation (6,) [N, Nm]; zeros while unknown."""
        return np.zeros(6) if self.level is None else np.asarray(self.level - self._bias)

    @property
    def rate_per_minute(self) -> Array:
        """Change of the level per minute over the last minutes (6,) [N, Nm]; zeros before half a minute has passed."""
        if len(self._history) < 4:
            return np.zeros(6)
        (t0, first), (t1, last) = self._history[0], self._history[-1]
        return np.asarray(60.0 * (last - first) / (t1 - t0))

    @property
    def warning(self) -> str:
        """A sentence when the drift is about to move the arm; empty: it is not."""
        seen = self.drift if self._unexplained is None else self._unexplained
        force, torque = (float(np.linalg.norm(part)) for part in np.split(seen, 2))
        if force <= WARN[0] and torque <= WARN[1]:
            return ""
        if self._unexplained is not None:
            reading = f"the tool reads {force:.1f} N and {torque:.2f} Nm at rest"
            return f"{reading}: if nothing touches it, calibrate the tool or zero the sensor"
        rate = float(np.linalg.norm(self.rate_per_minute[:3]))
        return f"the sensor has drifted by {force:.1f} N and {torque:.2f} Nm ({rate:.1f} N per minute): zero it"

    def auto_step(self, time_constant: float, period: float) -> Array | None:
        """Small change of sensor.bias towards the level (6,), only while the tool is free and the drift is small."""
        if self.level is None or self.touched or len(self._recent) < AGREEING or not _within(self.drift, AUTO_LIMIT):
            return None
        step = self.drift * (period / time_constant)
        for part, fastest in ((slice(0, 3), FASTEST[0]), (slice(3, 6), FASTEST[1])):
            size = float(np.linalg.norm(step[part]))
            if size > fastest * period:
                step[part] *= fastest * period / size
        return step

    def _learn(self, level: Array, R_base_sensor: Array) -> None:
        self.level, self._known_at, self._R_base_sensor = np.asarray(level), self.time, R_base_sensor
        self.touched = False
        if not self._history or self.time - self._history[-1][0] >= HISTORY_STEP:
            self._history.append((self.time, self.level.copy()))

    def forget_if_changed(self, params: np.void, R_base_sensor: Array) -> None:
        """Another tool or mounting invalidates the level, and so does a rotation of a tool of unknown weight."""
        tool = b"".join(
            params[name].tobytes() for name in ("tool_weight_base", "tool_com", "R_tcp_sensor", "sensor_sign")
        )
        turned = (np.trace(self._R_base_sensor.T @ R_base_sensor) - 1.0) / 2.0 < np.cos(TURNED)
        if tool != self._tool or (turned and not params["tool_weight_base"].any()):
            self._tool, self._R_base_sensor = tool, R_base_sensor
            self.level, self._unexplained = None, None
            self._recent.clear()
            self._history.clear()


def _within(values: Array, limits: tuple[float, float]) -> bool:
    return bool(np.linalg.norm(values[:3]) <= limits[0] and np.linalg.norm(values[3:]) <= limits[1])
