"""What a position stream promises the arm: it ends at rest, and no two commands are far from each other.

Every message is a plan that begins with the command and ends at a standstill:

    q(t) = q + qd t                          t <= H = HOLD_S
    q(t) = q + qd (t - (t - H)^2 / 2T)       t <= H + T, T = max(shortest, max |qd| / BRAKING); then rest

A program that dies, or a computer that pauses, leaves an arm that brakes by itself. Whatever comes after such a pause,
or after a jump of the command (the controller has started again at the arm), goes on from there: `Seam`. An arm that
stands although it is driven (a paused program, a controller that was switched) has its command near it: `Leash`.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.compile import load
from ur_admittance.robots.ros.kernels import HOLD_S, approach, brake, hold
from ur_admittance.runtime.braking import BRAKING

Array = NDArray[np.float64]

LONGEST_STEP = 3.0  # periods: after a longer pause the step is that of one period, from where the arm is by then
FORGET_S = 0.03  # in which an arm that has stopped counts as standing
REGAIN_S = 0.5  # [s] until speeds count in full again after a pause


class Plan(Protocol):
    """What was sent last, and what the arm makes of it if nothing follows."""

    def at(self, now: float) -> Array:
        """Joint angles (6,) [rad] at that time [s]."""
        ...


class Braking:
    """From the command to rest: HOLD_S at its speed, then constant deceleration."""

    def __init__(self, shortest: float = 0.0) -> None:
        """shortest: least time of the deceleration [s]."""
        self.shortest = shortest
        self._rows = np.zeros((4, 6))
        self.q, self.qd, self.held, self.rest = self._rows
        self.time = shortest  # of the deceleration [s]
        self._begun = 0.0  # [s]

    def begin(self, q: Array, qd: Array, now: float) -> None:
        """now: on any clock, the same for `at` [s]."""
        self._begun = now
        self.time = brake(q, qd, float(self.shortest), BRAKING, self._rows)

    def at(self, now: float) -> Array:
        t = now - self._begun
        braked = max(0.0, t - HOLD_S)
        return self.q + (t - braked**2 / (2.0 * self.time)) * self.qd if braked < self.time else self.rest.copy()


def braking_time(qd: Array, shortest: float) -> float:
    """From these speeds (6,) [rad/s] to rest [s]."""
    return max(shortest, float(max(map(abs, qd.tolist()))) / BRAKING)


class Seam:
    """Sends commands one by one. `join` starts at the arm; a command that is farther away than its speed explains is
    approached at CATCH_UP."""

    def __init__(self, period: float, plan: Plan) -> None:
        self.period, self.plan = period, plan
        self._longest = LONGEST_STEP * period
        self._sent_s = -1.0  # [s]; negative: nothing yet
        self._start = np.zeros(6)
        self._rows = np.zeros((2, 6))
        self.q, self.qd = self._rows  # what was sent last

    def join(self, q_arm: Array) -> None:
        """The next command starts here."""
        self._start[:] = q_arm
        self._sent_s = -1.0

    def next(self, q: Array, qd: Array, now: float) -> Array:
        """The command (6,) [rad] that may be sent now [s] in place of q, normally q itself; its speeds are in `qd`."""
        if self._sent_s < 0.0:
            elapsed, start = self.period, self._start
        else:
            elapsed, start = now - self._sent_s, self.q
        self._sent_s = now
        step_s = max(elapsed, self.period)
        if elapsed >= self._longest:  # the arm has gone on without us
            step_s, start = self.period, self.plan.at(now)
        approach(q, qd, start, step_s, max(elapsed, self.period), self._rows)
        return self.q


class Leash:
    """Keeps a command no farther from the arm than the arm's own motion explains: whenever the robot obeys again, it
    has no way to make up for."""

    def __init__(self, period: float, delay: float = 0.0) -> None:
        """delay: from a command to its execution, where that is meant to be late [s]."""
        self._rates = np.array([math.exp(-period / FORGET_S), math.exp(-period / max(delay, FORGET_S)), delay])
        self._rows = np.zeros((4, 6))
        _, _, self.q, self.qd = self._rows  # both speeds lately, the command

    def hold(self, q: Array, qd: Array, q_arm: Array, qd_arm: Array) -> Array:
        """The command (6,) [rad] in place of q, normally q itself; its speeds are in `qd`."""
        hold(q, qd, q_arm, qd_arm, self._rates, self._rows)
        return self.q


class SpeedSeam:
    """The same for joint speeds: after a pause, in which the arm was stopped (guard.py), they come back slowly."""

    def __init__(self, period: float, pause: float) -> None:
        """pause: longest time between two commands that is none [s]."""
        self.period, self._pause = period, pause
        self._sent_s = -1.0
        self._gain = 1.0
        self.qd = np.zeros(6)

    def join(self) -> None:
        """The next command is the first: the arm stands, and so does the command."""
        self._sent_s, self._gain = -1.0, 1.0

    def next(self, qd: Array, now: float) -> Array:
        """The speeds (6,) [rad/s] that may be sent now [s]; normally qd itself."""
        elapsed = now - self._sent_s if self._sent_s >= 0.0 else self.period
        self._sent_s = now
        if elapsed > self._pause:
            self._gain = 0.0
        elif self._gain < 1.0:
            self._gain = min(1.0, self._gain + elapsed / REGAIN_S)
        np.multiply(qd, self._gain, out=self.qd)
        return self.qd


def warm_up() -> None:
    """Load the compiled part: never in a running loop."""
    six, rows = np.zeros(6), np.zeros((4, 6))
    load(hold, six, six, six, six, six, rows)
    load(approach, six, six, six, 0.0, 0.0, rows)
    load(brake, six, six, 0.0, 0.0, rows)
