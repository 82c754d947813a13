"""A real UR arm through RTDE (library ur_rtde): the ``Robot`` protocol with every check the library leaves to us.

After a lost connection the library's getters return the last values for ever and speedJ returns True for ever; a
streamed speed is held until something stops it. So in every cycle: both connections alive, time stamp advanced,
safety bits clear, program running, command accepted; and on the robot a watchdog that stops the arm by itself.

Time: the speed slider stretches time on the robot. ``dt`` of the sample is the robot's time times that scaling, so
that what the controller integrates is what the arm does: at 30 % everything is 30 % as fast, and nothing winds up.
"""

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots import rtde_link
from ur_admittance.robots.robot import RobotInfo
from ur_admittance.robots.rtde_checks import Readiness, check_ready, unlock_protective_stop
from ur_admittance.robots.rtde_link import Link
from ur_admittance.robots.rtde_settings import SPEEDJ_ACCELERATION, RtdeSettings, WrenchSource
from ur_admittance.robots.rtde_wrench import BuiltinWrench
from ur_admittance.runtime.interfaces import scalar, vector

Array = NDArray[np.float64]

STANDSTILL = 1e-3  # [rad/s]
STOP_TIME = 3.0  # [s] that a stop may take before it counts as failed
IDLE_WATCHDOG_HZ = 0.1  # while nothing moves: the slowest the robot allows
KEEP_ALIVE = 1.0  # [s] between signs of life while nothing moves
SMALLEST_SCALING = 0.01  # a tick needs dt > 0
STATE_PATIENCE = 4.0  # [periods] that read() waits for a new state
POLL_LEAD = 0.0002  # [s] before the expected arrival of a state at which polling begins
POLL = 0.00004  # [s] between polls
ARRIVAL_GAIN = 0.05  # share of an arrival's deviation that moves the expectation of the next
SAFETY_STOPS = (Status.PROTECTIVE_STOP, Status.EMERGENCY_STOP, Status.SAFEGUARD_STOP)


class RtdeRobot:
    """One UR e-Series (500 Hz) or CB3 (125 Hz). ``with RtdeRobot(host, model) as robot:``"""

    def __init__(
        self,
        host: str,
        model: RobotModel,
        settings: RtdeSettings | None = None,
        sensor: WrenchSource | None = None,
    ) -> None:
        self.host, self.model, self.settings = host, model, settings or RtdeSettings()
        if (self.settings.sensor == "external") != (sensor is not None):
            raise RobotError("an external sensor needs both: the setting sensor='external' and the sensor itself.")
        self.sensor = sensor
        self.period = 0.002  # [s]; known better after connect
        self.reason = ""  # why the arm takes no commands, in plain words
        self._readiness: Readiness | None = None
        self._link: Link | None = None
        self._builtin: BuiltinWrench | None = None
        self._driving = False  # commands are streamed and the watchdog is armed
        self._status = Status.OK
        self._refused = False
        self._raw_zero = np.zeros(6)
        self._rest = np.zeros(6)
        self._sample: Any = None
        self._command: Any = None
        self._timestamp = -1.0  # robot time of the state in use [s]
        self._arrival = 0.0  # monotonic time at which it was seen [s]
        self._expected = 0.0  # smoothed arrival of the next one [s]
        self._kept_alive = 0.0
        self._epoch_ns = 0

    # -- the protocol -------------------------------------------------------------------------------------------

    def connect(self) -> RobotInfo:
        s = self.settings
        if self._link is not None:
            self.close()
        ready = check_ready(self.host, self.model, s.connect_timeout, s.power_on, s.take_over)
        if s.sensor == "raw" and ready.version < rtde_link.RAW_WRENCH_SINCE:
            raise RobotError("the sensor source 'raw' needs an e-Series with software 5.9 or newer.")
        self._readiness, self.period = ready, 1.0 / ready.rate
        self._link = Link(self.host, ready.version, s.sensor, s.rt_priority)
        sentences = [*ready.sentences, *self._apply_tool()]
        self._begin()
        if self.sensor is not None:
            self.sensor.start()
        scaling = self._link.scaling()
        if scaling < 0.999:
            sentences.append(f"The speed slider is at {100.0 * scaling:.0f} %: everything is that much slower.")
        return RobotInfo(
            name=f"{self.model.name} at {self.host}",
            model=self.model,
            rate=ready.rate,
            joint_names=self.model.joint_names,
            simulated=ready.emulated,
            sentences=tuple(sentences),
        )

    def read(self, sample: Any) -> None:
        if sample is not self._sample:
            self._bind(sample)
        link = self._link
        if link is None:
            self._external_status[0] = Status.CONNECTION_LOST
            return
        if self.settings.pacing == "robot":
            self.wait_for_state()
        timestamp, q, qd, wrench = link.state()
        now = time.monotonic()
        if timestamp != self._timestamp:
            # a restarted robot begins its time anew
            elapsed = timestamp - self._timestamp if 0.0 < timestamp - self._timestamp < 10.0 else self.period
            self._seen(timestamp, now)
        else:
            elapsed = self.period
        self._q[:] = q
        self._qd[:] = qd
        self._dt[0] = elapsed * max(link.scaling(), SMALLEST_SCALING)
        self._stamp[0] = self._epoch_ns + round(timestamp * 1e9)
        self._joint_age[0] = self._wrench_age[0] = now - self._arrival
        if self.sensor is not None:
            self._wrench[:], self._wrench_age[0] = self.sensor.latest()
        elif self._builtin is not None:
            self._builtin.to_flange(self._q, np.array(wrench), self._wrench)
        else:
            self._wrench[:] = wrench
            self._wrench -= self._raw_zero
        self._status = self._judge(link)
        self._external_status[0] = self._status
        if not self._driving and now - self._kept_alive > KEEP_ALIVE:
            self._kept_alive = now
            link.keep_alive()

    def write(self, command: Any) -> Array:
        if command is not self._command:
            self._command = command
            self._q_command, self._qd_command = vector(command, "q"), vector(command, "qd")
        link, s = self._link, self.settings
        if link is None or self._status != Status.OK or self._refused:
            return self._rest  # nothing may be sent until recover()
        wanted = self._qd_command if s.command == "speed" else self._q_command
        if not math.isfinite(float(wanted.dot(wanted))):
            self._refuse("the command is not finite")
            return self._rest
        if not self._driving and not self._start_driving(link):
            return self._rest
        if s.command == "speed":
            sent = self._within_speed_limits(wanted)
            accepted = link.speed_j(sent.tolist(), SPEEDJ_ACCELERATION, self.period)
        else:
            sent = wanted
            accepted = link.servo_j(sent.tolist(), self.period, s.lookahead, s.gain)
        if not accepted:
            self._refuse("the robot did not take the command; its program has ended")
        return sent

    def stop(self) -> None:
        """Brake and wait until the arm stands. RobotError when that cannot be confirmed."""
        link = self._link
        if link is None:
            return
        was_driving, self._driving = self._driving, False
        if was_driving:
            self._brake(link)
        self._wait_for_standstill(link)
        if was_driving and link.program_running():
            _bounded(lambda: link.set_watchdog(IDLE_WATCHDOG_HZ), 1.0)
            self._kept_alive = time.monotonic()

    def zero_ft_sensor(self) -> None:
        """Let the sensor read zero at its present load. Only at standstill, and not while commands are streamed."""
        link = self._connected()
        if self._driving:
            raise RobotError("zeroing the sensor blocks for some cycles: stop the arm first.")
        if max(abs(speed) for speed in link.state()[2]) > 0.01:
            raise RobotError("the arm moves: the sensor can be zeroed at standstill only.")
        if self.sensor is not None:
            self.sensor.zero()
        elif self.settings.sensor == "raw":
            self._raw_zero = self._mean_wrench(link)
        elif not _bounded(link.zero_ft_sensor, 2.0):
            raise RobotError("the robot did not zero its sensor; is its program running?")

    def recover(self, unlock: bool = False) -> RobotInfo:
        """After a stop or a lost connection, on explicit request: connect anew and start the program again.

        unlock: release a protective stop, once its cause has been looked for.
        """
        if unlock:
            unlock_protective_stop(self.host)
        self.close()
        return self.connect()

    @property
    def cycles_waiting(self) -> int:
        """Robot cycles between the state in use and the newest one."""
        return round((self._connected().timestamp() - self._timestamp) / self.period)

    def close(self) -> None:
        """End the program on the robot and close the connections; the arm must stand already."""
        link, self._link = self._link, None
        self._driving = False
        if link is not None:
            _bounded(link.close, 2.0)
        if self.sensor is not None:
            self.sensor.stop()

    def __enter__(self) -> "RtdeRobot":
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            self.close()

    # -- pace ---------------------------------------------------------------------------------------------------

    def wait_for_state(self) -> bool:
        """Sleep until a state newer than the one in use has arrived; False after a few periods without one."""
        link = self._connected()
        end = time.monotonic() + STATE_PATIENCE * self.period
        early = self._expected - time.monotonic() - POLL_LEAD
        if 0.0 < early < self.period:
            time.sleep(early)
        while link.timestamp() == self._timestamp:
            if time.monotonic() > end:
                return False
            time.sleep(POLL)
        return True

    def _seen(self, timestamp: float, now: float) -> None:
        """Note the arrival; the expectation is smoothed so that one late wake-up does not shift the next ones."""
        self._timestamp, self._arrival = timestamp, now
        late = now - self._expected
        if abs(late) > self.period:
            self._expected = now + self.period
        else:
            self._expected += self.period + ARRIVAL_GAIN * late

    # -- inside -------------------------------------------------------------------------------------------------

    def _connected(self) -> Link:
        if self._link is None:
            raise RobotError(f"not connected to {self.host}: call connect() first.")
        return self._link

    def _apply_tool(self) -> list[str]:
        """TCP and payload as asked for; what a user must know about them."""
        link, s = self._connected(), self.settings
        said = []
        if s.tcp is not None and not _bounded(lambda: link.set_tcp(list(s.tcp or ())), 2.0):
            raise RobotError("the robot did not take the TCP offset.")
        if s.payload_kg is not None:
            mass, cog = s.payload_kg, list(s.payload_cog)
            if not _bounded(lambda: link.set_payload(mass, cog), 2.0):
                raise RobotError(f"the robot did not take the payload of {mass} kg.")
        payload = link.payload() if s.payload_kg is None else (s.payload_kg, list(s.payload_cog))
        if s.sensor == "builtin":
            assert self._readiness is not None
            tcp = list(s.tcp) if s.tcp is not None else link.tcp_offset() if self._readiness.version[0] <= 3 else None
            self._builtin = BuiltinWrench(self.model, tcp if self._readiness.version[0] <= 3 else None)
            if payload is not None and payload[0] == 0.0:
                said.append(
                    "The payload is 0 kg: the weight of any tool will act as a push; set the payload of the tool."
                )
            elif payload is not None:
                said.append(f"The robot removes the weight of its payload ({payload[0]:.3g} kg); tool.mass must be 0.")
        elif s.sensor == "raw":
            said.append("The raw wrench holds the tool's weight: calibrate tool.mass and tool.center_of_mass.")
        return said

    def _begin(self) -> None:
        link = self._connected()
        _bounded(lambda: link.set_watchdog(IDLE_WATCHDOG_HZ), 1.0)
        self._driving = self._refused = False
        self._status, self.reason = Status.OK, ""
        self._kept_alive = time.monotonic()
        timestamp = link.timestamp()
        self._epoch_ns = time.time_ns() - round(timestamp * 1e9)
        self._timestamp, self._arrival = timestamp, time.monotonic()
        self._expected = self._arrival + self.period

    def _start_driving(self, link: Link) -> bool:
        """Before the first command: the program runs and the watchdog is armed."""
        if not link.program_running() and not link.restart_program():
            self._refuse("the control program does not start on the robot")
            return False
        if not _bounded(lambda: link.set_watchdog(self.settings.watchdog_hz), 1.0):
            self._refuse("the robot did not arm its watchdog")
            return False
        self._seen(link.timestamp(), time.monotonic())  # arming took some cycles: the next command belongs to the next
        self._driving = True
        return True

    def _judge(self, link: Link) -> Status:
        """The state of this cycle. Everything but OK stays until recover(): the cause may vanish by itself, the
        consent of the operator does not come by itself."""
        if self._status != Status.OK:
            return self._status
        status, reason = link.trouble(self._driving)
        if status == Status.OK and self._refused:
            status, reason = Status.COMMAND_REJECTED, self.reason
        if status != Status.OK:
            self.reason = reason
        return status

    def _refuse(self, reason: str) -> None:
        self._refused, self.reason = True, reason

    def _within_speed_limits(self, qd: Array) -> Array:
        """The whole vector slowed down when a joint would exceed its speed: the direction stays."""
        excess = float(np.max(np.abs(qd) / self.model.velocity))
        return qd if excess <= 1.0 else qd / excess

    def _brake(self, link: Link) -> None:
        """The stop of the mode that moves the arm; if that fails the program is stopped from the dashboard."""
        if not link.connected() or self._status in SAFETY_STOPS:
            return  # the robot stops by itself: watchdog or safety system
        deceleration = self.settings.stop_deceleration
        if self.settings.command == "speed":
            done = _bounded(lambda: link.speed_stop(deceleration), STOP_TIME)
        else:
            done = _bounded(lambda: link.servo_stop(deceleration), STOP_TIME)
        if not done and link.connected():
            link.stop_program(self.host)

    def _wait_for_standstill(self, link: Link) -> None:
        end = time.monotonic() + STOP_TIME
        while time.monotonic() < end:
            if not link.receiving(self._arrival):
                break
            timestamp, q, qd, _ = link.state()
            if timestamp != self._timestamp:
                self._seen(timestamp, time.monotonic())
            if max(abs(speed) for speed in qd) < STANDSTILL:
                if self._sample is not None:
                    self._q[:], self._qd[:] = q, qd
                return
            time.sleep(self.period)
        if not link.receiving(self._arrival):
            watchdog = 1e3 / self.settings.watchdog_hz
            raise RobotError(
                f"the connection to {self.host} is lost, so the stop cannot be confirmed; the robot's watchdog stops "
                f"the arm {watchdog:.0f} ms after the last command."
            )
        raise RobotError(f"the arm still moves {STOP_TIME:g} s after the stop: use the emergency stop.")

    def _mean_wrench(self, link: Link) -> Array:
        readings = []
        for _ in range(50):
            self.wait_for_state()
            timestamp, _, _, wrench = link.state()
            self._seen(timestamp, time.monotonic())
            readings.append(wrench)
        return np.asarray(np.mean(readings, axis=0))

    def _bind(self, sample: Any) -> None:
        self._sample = sample
        self._q, self._qd, self._wrench = (vector(sample, field) for field in ("q", "qd", "wrench"))
        self._dt, self._stamp = scalar(sample, "dt"), scalar(sample, "stamp_ns")
        self._joint_age, self._wrench_age = scalar(sample, "joint_age"), scalar(sample, "wrench_age")
        self._external_status = scalar(sample, "external_status")


def _bounded(action: Callable[[], Any], seconds: float) -> bool:
    """True when ``action`` returned something true in time. The library may wait up to 300 s for a dead robot."""
    outcome: list[bool] = []

    def work() -> None:
        try:
            outcome.append(bool(action()))
        except RuntimeError:  # the library's own
            outcome.append(False)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(outcome and outcome[0])
