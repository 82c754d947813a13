"""The joint servo from what was commanded, what the arm did and what the sensor read.

For every joint, with y the command after delay and lag:
    (M qdd)_j + rotor_j qdd_j = kp_j (y_j - q_j) + kd_j (yd_j - qd_j) + (J^T w)_j - friction_j sign(qd_j) + constant
M: the links' inertia; w: the sensor's wrench without the tool's weight, so that the tool's inertia is in it, and read
`sensor_delay` before it was reported. kd_j = 2 damping_ratio sqrt(kp_j M_jj). All joints share delay, lag, damping
ratio, sensor delay and one factor on the rotors' inertia.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.twin.found.filters import SERVO_STEP, SMOOTH, fast_length, followed, smoothed
from ur_admittance_lab.twin.found.least_squares import covariance, fit
from ur_admittance_lab.twin.found.stretch import Stretch

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

NAMES = ("delay", "lag", "sensor_delay", "damping_ratio", "rotors", *["stiffness"] * 6, *["friction"] * 6)
DELAY, LAG, LATE, RATIO, ROTORS, STIFFNESS, FRICTION = 0, 1, 2, 3, 4, slice(5, 11), slice(11, 17)

SPEED_AGE = 0.5 * SERVO_STEP  # joint speeds and wrench of the simulation stand for the middle of its last step
CREEP = 0.003  # [rad/s] below it a joint with friction creeps rather than slips
SLIPPING = 0.01  # [rad/s] a joint that is to move faster slips
MEMORY = 0.05  # [s] after which a joint has forgotten that it stuck
RUBS = 0.5  # times the scatter of the angles: a deflection by friction that is worth leaving out sticking joints
EDGE = 0.3  # [s] at the ends of a stretch that the filters do not know
BLOCK = 0.5  # [s] over which residuals may be alike: longer than a push or a stop lasts
LIGHTEST = 1e-3  # [kg m2] of a joint, against nonsense on the way to the solution
RESOLUTION = 2e-6  # [rad] that no angle is known better than: a third of a count of an encoder of 20 bits
PASSES = 3  # with weights and sticking from the pass before
SHORTEST_LAG = 1e-5  # [s]


@dataclass(frozen=True, eq=False)
class Guess:
    """Where the search begins, and what stays when the data say nothing."""

    delay: float  # [s]
    lag: float  # [s]
    stiffness: Array  # kp (6,) [Nm/rad]
    rotor: Array  # (6,) [kg m2]
    inertia: Array  # M_jj of links and tool in the home position, without rotors (6,) [kg m2]
    damping_ratio: float

    def vector(self) -> Array:
        """In the order of NAMES; stiffness as its logarithm."""
        return np.concatenate(
            [[self.delay, self.lag, 0.0, self.damping_ratio, 1.0], np.log(self.stiffness), np.zeros(6)]
        )

    def scale(self) -> Array:
        """Sizes of a small change."""
        return np.concatenate([[0.001, 0.001, 0.001, 0.1, 0.1], np.full(6, 0.1), 1e-4 * self.stiffness])


class Equations:
    """Residuals of all stretches, in standard deviations of their joint."""

    def __init__(self, stretches: list[Stretch], guess: Guess) -> None:
        self.guess = guess
        self._parts = [_Signals(stretch) for stretch in stretches]
        self._weights = np.ones(6)
        self.blocks = self._number_blocks()

    def solve(self, free: Flags) -> tuple[Array, Array]:
        """Values of NAMES, those that are not free as guessed, and their standard deviations (0: not free)."""
        x, scale = self.guess.vector(), self.guess.scale()
        for _ in range(PASSES):
            self._weights = 1.0 / np.maximum(self.by_joint(x).std(axis=0), 1e-9)
            x, J = fit(self, x, scale, free)
            rubbing = x[FRICTION] / np.exp(x[STIFFNESS]) * self._weights > RUBS
            for part in self._parts:
                part.forget_sticking(x, rubbing)
        floor = np.repeat(RESOLUTION * self._weights, len(J) // 6)
        alike = 2.0 * np.sqrt(np.pi) * SMOOTH / self._parts[0].period  # neighbouring rows share the Gaussian
        spread = covariance(J, self(x), self.blocks) + alike * covariance(J, floor, np.arange(len(J)))
        deviation = np.zeros(len(x))
        deviation[free] = scale[free] * np.sqrt(np.diag(spread))
        return x, deviation

    def by_joint(self, x: Array) -> Array:
        """Measured minus predicted angles (rows, 6) [rad]."""
        kp, rotor = np.exp(x[STIFFNESS]), x[ROTORS] * self.guess.rotor
        kd = 2.0 * x[RATIO] * np.sqrt(kp * np.maximum(self.guess.inertia + rotor, LIGHTEST))
        return np.vstack([part.residuals(x, kp, kd, rotor) for part in self._parts])

    def deflection(self, x: Array) -> Array:
        """What there is to explain beyond delay and lag: measured minus late command (rows, 6) [rad]."""
        return np.vstack([part.deflection(x) for part in self._parts])

    def __call__(self, x: Array) -> Array:
        return np.asarray((self.by_joint(x) * self._weights).T.ravel())

    def _number_blocks(self) -> NDArray[np.int64]:
        rows, first = [], 0
        for part in self._parts:
            rows.append(first + np.arange(part.count) // max(1, round(BLOCK / part.period)))
            first = int(rows[-1][-1]) + 1
        return np.tile(np.concatenate(rows), 6)


class _Signals:
    """Smoothed signals of one stretch."""

    def __init__(self, stretch: Stretch) -> None:
        self.period = stretch.period
        self._stretch = stretch
        edge = round(EDGE / self.period)
        self._inside = slice(edge, len(stretch.q) - edge)
        self.count = len(stretch.q) - 2 * edge
        self._q, self._qd, self._qdd = (smoothed(stretch.q, self.period, derivative=i) for i in range(3))
        self._carried = stretch.carried(self._qdd)
        self._known = np.ones((self.count, 6))
        self._late: tuple[float, float] | None = None
        self._y = self._q, self._qd
        self._padded = fast_length(len(stretch.q))
        self._s = 2j * np.pi * np.fft.rfftfreq(self._padded, self.period)
        self._reported: float | None = None
        self._loads = self._q

    def residuals(self, x: Array, kp: Array, kd: Array, rotor: Array) -> Array:
        y, yd = self._followed(x)
        torque = (
            self._carried
            + rotor * self._qdd
            - self._load(float(x[LATE]))
            - kd * (yd - self._qd + SPEED_AGE * self._qdd)
        )
        torque += x[FRICTION] * np.tanh(yd / CREEP)
        return self._centred(self._as_motion(self._q - y + torque / kp, kp, kd, rotor))

    def deflection(self, x: Array) -> Array:
        return self._centred(self._q - self._followed(x)[0])

    def forget_sticking(self, x: Array, rubbing: Flags) -> None:
        """From now on a joint with friction counts only while it slips: at rest its friction may be anything."""
        slow = (np.abs(self._followed(x)[1]) < SLIPPING).astype(float)
        memory = np.ones(max(1, round(MEMORY / self.period)))
        stuck = np.column_stack([np.convolve(column, memory)[: len(slow)] > 0.0 for column in slow.T])
        self._known = np.where(rubbing & stuck, 0.0, 1.0)[self._inside]

    def _centred(self, error: Array) -> Array:
        """Without the constant, which stands for a wrong payload or bias; zero where the joint sticks."""
        inside, known = error[self._inside], self._known
        return np.asarray(known * (inside - np.sum(known * inside, axis=0) / np.maximum(known.sum(axis=0), 1.0)))

    def _as_motion(self, error: Array, kp: Array, kd: Array, rotor: Array) -> Array:
        """The error of the equation as one of the predicted angle: through kp / (M s^2 + kd s + kp). What the encoders
        add to q is then in none of its derivatives, and pulls no parameter to one side."""
        M = np.maximum(self._stretch.inertia + rotor - SPEED_AGE * kd, LIGHTEST)[:, None]
        n, s = len(error), self._s
        spectrum = np.fft.rfft(error.T, self._padded) * kp[:, None] / (s * (M * s + kd[:, None]) + kp[:, None])
        return np.asarray(np.fft.irfft(spectrum, self._padded)[:, :n].T)

    def _load(self, late: float) -> Array:
        if self._reported != late:
            later = late + 0.5 * self.period + SPEED_AGE
            self._loads, self._reported = smoothed(self._stretch.load, self.period, later), late
        return self._loads

    def _followed(self, x: Array) -> tuple[Array, Array]:
        late = max(float(x[DELAY]), 0.0), max(float(x[LAG]), SHORTEST_LAG)
        if self._late != late:
            self._y, self._late = followed(self._stretch.command, self.period, *late), late
        return self._y
