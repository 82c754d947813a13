"""The robot under the driver, without ROS: its program, its safety, and what its script does with a command.

Script: resources/external_control.urscript of ur_client_library 2.14.0. `servoj` each period towards the last
position; `speedj(qd, 40.0, steptime)`; when a mode ends, `stopj(4.0)`. The script ignores a position that needs more
than 20 rad/s (JOINT_IGNORE_SPEED); below that the robot's own safety system decides. Here nothing is ignored and
nothing is clipped. All these are protective stops: such a position, a speed over the joint's limit, an arm that moves
faster than its limit or leaves its path, a number that is not finite.
A protective stop ends the program; it can be unlocked 5 s later (dashboard server), then the program is started again.
How the speed slider acts on servoj and speedj is not in any source: here it does not, the faster case.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import RobotError
from ur_admittance.runtime.braking import BRAKING, slow_down

Array = NDArray[np.float64]

SPEEDJ_ACCELERATION = 40.0  # [rad/s2] of the joint that changes most
STOPJ_ACCELERATION = 4.0  # [rad/s2]
# Farther than this from its path the arm stops. The robot's own figure is not published; this one is the path
# tolerance that UR configures for its trajectory controllers (ur_controllers.yaml, constraints.<joint>.trajectory).
DEVIATION = 0.2  # [rad]
IGNORED_SPEED = 20.0  # [rad/s] JOINT_IGNORE_SPEED
# Measured speed over the joint's nominal one at which the robot stops: 191 over 180 degrees per second, the largest
# joint speed limit that PolyScope takes for a UR5e over its nominal speed.
OVERSPEED = 191.0 / 180.0
UNLOCK_S = 5.0  # from a protective stop to its end at the earliest (dashboard server)
ROUNDING = 1e-6  # of a speed limit


class RobotMode(IntEnum):
    """ur_dashboard_msgs/RobotMode, those that happen here."""

    IDLE = 5
    RUNNING = 7


class SafetyMode(IntEnum):
    """ur_dashboard_msgs/SafetyMode, those that happen here."""

    NORMAL = 1
    PROTECTIVE_STOP = 3
    SAFEGUARD_STOP = 5
    ROBOT_EMERGENCY_STOP = 7


class Robot:
    """Where the servo shall be at the end of each period. Times are those of the driver [s]."""

    def __init__(self, q: Array, speed_limit: Array, period: float, unlock_delay: float = UNLOCK_S) -> None:
        """speed_limit (6,) [rad/s]; period, unlock_delay [s]."""
        self.q, self.qd = np.array(q), np.zeros(6)  # target
        self.limit, self.period, self.unlock_delay = np.array(speed_limit), period, unlock_delay
        self.mode, self.safety = RobotMode.RUNNING, SafetyMode.NORMAL
        self.program_running = True
        self.paused = False  # on the pendant: the program counts as running, but takes nothing
        self.stops: list[str] = []  # why it stopped by itself
        self._stopped_at = 0.0

    # what the driver sends, once per period and only while the program runs

    def servo(self, q: Array, now: float) -> None:
        """MODE_SERVOJ."""
        qd = (q - self.q) / self.period
        if self._allowed(qd, np.full(6, IGNORED_SPEED), now):
            self.q[:], self.qd[:] = q, np.clip(qd, -self.limit, self.limit)  # qd: from which it brakes

    def speed(self, qd: Array, now: float) -> None:
        """MODE_SPEEDJ."""
        if not self._allowed(qd, self.limit, now):
            return
        change = qd - self.qd
        most = SPEEDJ_ACCELERATION * self.period / max(float(np.abs(change).max()), 1e-12)
        self.qd += change * min(1.0, most)
        self.q += self.qd * self.period

    def idle(self) -> None:
        """MODE_IDLE: the keepalive."""
        self._slow_down(STOPJ_ACCELERATION)

    def stand(self) -> None:
        """Nobody drives: the program is stopped, or the robot is."""
        self._slow_down(BRAKING)

    def watch(self, q: Array, qd: Array, now: float) -> None:
        """The robot's own supervision; q, qd: measured."""
        if self.safety != SafetyMode.NORMAL:
            return
        away, fast = float(np.abs(self.q - q).max()), np.abs(qd) / self.limit
        if not away <= DEVIATION:
            self.protective_stop(f"the arm is {away:.3f} rad from its path, at most {DEVIATION:g} rad are allowed", now)
        elif not fast.max() <= OVERSPEED:
            joint = int(np.argmax(fast))
            self.protective_stop(
                f"joint {joint} moves at {qd[joint]:.2f} rad/s, its limit is {self.limit[joint]:.2f}", now
            )

    def _allowed(self, qd: Array, limit: Array, now: float) -> bool:
        over = np.abs(qd) / limit
        joint = int(np.argmax(over))  # a NaN counts as the largest
        if over[joint] <= 1.0 + ROUNDING:
            return True
        text = f"joint {joint} was told to move at {qd[joint]:.2f} rad/s, at most {limit[joint]:.2f} are executed"
        self.protective_stop(text, now)
        self.stand()
        return False

    def _slow_down(self, deceleration: float) -> None:
        slow_down(self.qd, deceleration * self.period)
        self.q += self.qd * self.period

    # what happens to it, and what people do

    def protective_stop(self, why: str, now: float) -> None:
        self.stops.append(why)
        self.safety, self._stopped_at = SafetyMode.PROTECTIVE_STOP, now
        self.program_running = self.paused = False

    def stop_program(self) -> None:
        self.program_running = self.paused = False

    def pause(self) -> None:
        """The pause button. `play` ends it, too."""
        if not self.program_running:
            raise RobotError("the program does not run.")
        self.paused = True

    def emergency_stop(self) -> None:
        """The button: the arm loses its power, and the program ends."""
        self.safety, self.mode = SafetyMode.ROBOT_EMERGENCY_STOP, RobotMode.IDLE
        self.program_running = self.paused = False

    def safeguard_stop(self) -> None:
        """Somebody opens the door: the program pauses."""
        self.safety, self.paused = SafetyMode.SAFEGUARD_STOP, self.program_running

    def make_safe(self) -> None:
        """The button is released and the arm powered on: somebody has to start the program. The door is closed: the
        program goes on by itself, as an installation may have it."""
        if self.safety not in (SafetyMode.ROBOT_EMERGENCY_STOP, SafetyMode.SAFEGUARD_STOP):
            raise RobotError("there is no emergency stop and no safeguard stop.")
        self.safety, self.mode, self.paused = SafetyMode.NORMAL, RobotMode.RUNNING, False

    def unlock(self, now: float) -> None:
        """unlock_protective_stop of the dashboard."""
        if self.safety != SafetyMode.PROTECTIVE_STOP:
            raise RobotError("there is no protective stop.")
        wait = self._stopped_at + self.unlock_delay - now
        if wait > 0.0:
            raise RobotError(f"the protective stop can be unlocked in {wait:.1f} s.")
        self.safety = SafetyMode.NORMAL

    def play(self) -> None:
        """Start the program: `play` of the dashboard, `resend_robot_program` of the driver."""
        if self.safety != SafetyMode.NORMAL:
            raise RobotError(f"the program does not start: the robot's safety mode is {self.safety.name}.")
        self.program_running, self.paused = True, False

    def place(self, q: Array) -> None:
        """Stand here, at once: the world was set back."""
        self.q[:], self.qd[:] = q, 0.0
