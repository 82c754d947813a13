"""The reading of the free tool, tracked slowly while nothing touches it: drift, suspected contact, slow auto-zero.

`level` is the sensor's reading without the tool's weight: what `sensor.bias` ought to be. It is founded on half seconds
at rest in which nothing holds the arm and the reading is within the deadband, so never under load; then it changes
slowly. A reading that departs from it faster than any drift is a contact and is ignored.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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


class DriftMonitor:
    """Fed with half seconds at rest. It need not know of bias changes: the level does not depend on them."""

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
