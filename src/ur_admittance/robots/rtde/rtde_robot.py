"""A real UR arm through RTDE: the ``Robot`` protocol, with every check that neither client makes.

A streamed speed is held until something stops it, and a lost connection is silent. So every cycle checks that the
connections are alive, the time stamp has advanced, the safety bits are clear, the program runs and the command was
accepted; without commands a streamed speed is braked after 20 ms, and on the robot a watchdog ends the program.

The speed slider stretches time on the robot. ``dt`` of the sample is the robot's time times that scaling, so that what
the controller integrates is what the arm does: at 30 % everything is 30 % as fast, and nothing winds up.
"""

import math
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.core.records import AT_REST, STOPPED, Status
from ur_admittance.core.views import SampleFields, vector
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.robots.rtde import tool as rtde_tool
from ur_admittance.robots.rtde.arm_geometry import StandingCheck, geometry
from ur_admittance.robots.rtde.digital_outputs import OutputPins
from ur_admittance.robots.rtde.direct_link import DirectLink
from ur_admittance.robots.rtde.library_link import LibraryLink
from ur_admittance.robots.rtde.link import RAW_WRENCH_SINCE, Link, too_late, why_ended
from ur_admittance.robots.rtde.rtde_checks import check_ready, check_released, unlock_protective_stop
from ur_admittance.robots.rtde.rtde_clock import Beat, RobotClock
from ur_admittance.robots.rtde.settings import RtdeSettings, WrenchSource
from ur_admittance.robots.rtde.wrenches import Wrenches
from ur_admittance.runtime.interfaces import NO_OWN_ZERO, Robot, RobotInfo

Array = NDArray[np.float64]

STOP_TIME = 3.0  # [s] that a stop may take before it counts as failed
KEEP_ALIVE = 1.0  # [s] between signs of life while nothing moves
SLIDER_RESTS = 0.3  # [s] after which a new position of the speed slider counts as chosen
EXPLAINED = 0.02  # [s] after a refused command: a stop of the robot shows in its state by then
SMALLEST_SCALING = 0.01  # a tick needs dt > 0
LINKS: dict[str, type[Link]] = {"ur_rtde": LibraryLink, "direct": DirectLink}
SAFETY_STOPS = (Status.PROTECTIVE_STOP, Status.EMERGENCY_STOP, Status.SAFEGUARD_STOP)


class RtdeRobot(Robot):
    """One UR e-Series (500 Hz) or CB3 (125 Hz). ``with RtdeRobot(host, model) as robot:``

    ``read`` takes the newest state and does not wait for another: pace a loop with ``RobotClock(robot)``, anything
    else with ``robot.beat.wait()``; either gives one command per robot cycle.
    """

    def __init__(
        self,
        host: str,
        model: RobotModel | str,
        settings: RtdeSettings | None = None,
        sensor: WrenchSource | None = None,
        second: WrenchSource | None = None,
    ) -> None:
        """host: address of the robot's controller. sensor: when the settings say external, NetFt or RobotiqFt; second:
        another force sensor beside it."""
        given.address("robot address", host, "192.168.0.10", RobotError)
        self.host, self.model, self.settings = host, robot_model(model), settings or RtdeSettings()
        given.kind("settings", self.settings, RtdeSettings, "RtdeSettings", RobotError)
        self._described = self.model  # connect() replaces self.model by that of this very arm
        self._wrenches = Wrenches(self.settings, sensor, second)
        self.sensor, self.reads_second = sensor, bool(self.settings.second)
        self.enabling = tuple(FIRST_INPUT)
        self.period = 0.002  # [s]; known better after connect
        self.reason = ""  # why the arm takes no commands, in plain words
        self.doubt = ""  # our kinematics do not agree with the robot's, in plain words; told, the arm goes on
        self._info: RobotInfo | None = None
        self._link: Link | None = None
        self.beat = Beat(self.period, self.settings.state_patience)
        self._driving = False  # commands are streamed and the watchdog is armed
        self._lost_while_driving = False
        self.slider = 1.0  # the speed slider, where it rests
        self._slider_seen, self._slider_since = 1.0, 0.0
        self._sent_at = 0.0  # [s] monotonic time of the last command
        self._status = Status.OK
        self._refused, self._refused_at = False, 0.0
        self._rest = np.zeros(6)
        self._fields: SampleFields | None = None
        self._command: Any = None
        self._kept_alive = 0.0
        self._epoch_ns = 0

    # -- the protocol -------------------------------------------------------------------------------------------

    def connect(self) -> RobotInfo:
        s = self.settings
        self.close()
        ready = check_ready(self.host, self.model, s.connect_timeout, s.power_on, s.take_over)
        if s.own == "raw" and ready.version < RAW_WRENCH_SINCE:
            raise RobotError("the sensor source 'raw' needs an e-Series with software 5.9 or newer.")
        arm = geometry(self.host, self._described, s.connect_timeout)
        self.model, self.doubt, self._standing_check = arm.model, arm.doubt, StandingCheck(arm, s.tcp)
        self.period = 1.0 / ready.rate
        link = self._link = LINKS[s.client](self.host, ready.version, s)
        try:
            sentences = [*ready.sentences, arm.sentence, *rtde_tool.apply(link, s)]
            self._wrenches.builtin = rtde_tool.builtin_wrench(link, self.model, s, cb3=ready.version[0] <= 3)
            self._begin(link)
            if self._wrenches.builtin is not None:
                sentences += rtde_tool.doubts(self._mean_wrench(link, 20)[:3])
            for device in self._wrenches.devices:
                device.start()
        except BaseException:
            self.close()
            raise
        self.slider = self._slider_seen = round(link.slider(), 2)
        if self.slider < 1.0:
            sentences.append(self.slider_sentence)
        name, joints = f"{self.model.name} at {self.host}", self.model.joint_names
        self._info = RobotInfo(name, self.model, ready.rate, joints, ready.emulated, tuple(sentences))
        return self._info

    @property
    def source(self) -> str:
        """Where the wrench comes from, as sensor.source has it."""
        return self.settings.sensor if self.sensor is None else self.sensor.source

    @property
    def second_source(self) -> str:
        """The same of the second sensor; empty: there is none."""
        device = self._wrenches.second_sensor
        return self.settings.second if device is None else device.source

    @property
    def slider_sentence(self) -> str:
        slower = "everything is that much slower" if self.slider < 1.0 else "full speed"
        return f"The speed slider is at {100.0 * self.slider:.0f} %: {slower}."

    def clock(self) -> RobotClock:
        return RobotClock(self)

    @property
    def info(self) -> RobotInfo:
        """Who answered at ``connect``."""
        if self._info is None:
            raise self._not_connected()
        return self._info

    def read(self, sample: Any) -> None:
        fields, link = self._fields, self._link
        if fields is None or fields.sample is not sample:
            fields = self._fields = SampleFields(sample)
        fields.speed_driven[0] = self.settings.command == "speed"
        if link is None:
            fields.joint_age[0] = fields.wrench_age[0] = self.beat.silence
            fields.external_status[0] = self._status = Status.CONNECTION_LOST
            return
        timestamp, q, qd, wrench = link.state()
        fields.dt[0] = self.beat.take(timestamp) * max(link.scaling(), SMALLEST_SCALING)
        fields.q[:] = q
        fields.qd[:] = qd
        fields.stamp_ns[0] = self._epoch_ns + round(timestamp * 1e9)
        silence = self.beat.silence
        fields.joint_age[0] = silence
        fields.digital_in[0], fields.digital_age[0] = link.digital_inputs(), silence
        self._wrenches.read(fields, wrench, silence)
        fields.external_status[0] = self._status = self._judge(link, silence)
        self._watch_slider(link.slider())
        if self._status == Status.OK and self._standing_check.due(fields.qd):
            self.doubt = self._standing_check.doubt(fields.q, link.tcp_pose())
        if not self._driving and self._link is not None and time.monotonic() - self._kept_alive > KEEP_ALIVE:
            self._kept_alive = time.monotonic()
            link.keep_alive()

    def write(self, command: Any) -> Array:
        if command is not self._command:
            self._command = command
            self._q_command, self._qd_command = vector(command, "q"), vector(command, "qd")
        link, s = self._link, self.settings
        if link is None or self.in_trouble:
            return self._rest
        wanted = self._qd_command if s.command == "speed" else self._q_command
        if not math.isfinite(float(wanted.dot(wanted))):
            self._refuse("the command is not finite")
            return self._rest
        if not self._driving and not self._start_driving(link):
            return self._rest
        self._sent_at = time.monotonic()
        if not link.stream(wanted.tolist()):
            self._refuse("")  # what is wrong shows in the state, or the robot is asked
        return wanted

    def stop(self) -> None:
        """Brake and wait until the arm is at rest. RobotError when that cannot be confirmed."""
        link = self._link
        if link is None:
            if self._lost_while_driving:
                raise self._unconfirmed()
            return
        was_driving, self._driving = self._driving, False
        link.states.resting(True)
        # without a connection, stopped by its safety system, or when our program has ended, the robot brakes by itself
        link.states.refresh()
        if was_driving and link.connected() and self._status not in SAFETY_STOPS and link.program_running():
            link.brake(STOP_TIME)
        self._wait_for_standstill(link)

    @property
    def zeroes_itself(self) -> bool:
        """The robot zeroes its own sensor, and only where that is the only one."""
        return self.source == "builtin" and not self.reads_second

    def zero_ft_sensor(self) -> None:
        """Let the robot's own sensor read zero at its present load. Only at standstill, and not while commands are
        streamed; RobotError for any other sensor, and for two: `controller.zero_ft_sensor` zeroes those."""
        link = self._link
        if link is None:
            raise self._not_connected()
        if self._driving:
            raise RobotError("zeroing the sensor takes some cycles: stop the arm first.")
        if max(abs(speed) for speed in link.state()[2]) > AT_REST:
            raise RobotError("the arm is moving: the sensor can be zeroed at standstill only.")
        if not self.zeroes_itself:
            raise RobotError(NO_OWN_ZERO)
        if not link.zero_ft_sensor():
            raise RobotError("the robot did not zero its sensor; is its program running?")

    @property
    def in_trouble(self) -> bool:
        """A stop of the robot, a lost connection or a refused command: nothing is sent until recover()."""
        return self._link is None or self._status != Status.OK or self._refused

    def unlock(self) -> str:
        """Release a protective stop, whose cause somebody has found; the arm stays where it is until recover()."""
        if not unlock_protective_stop(self.host, patience=0.0):
            raise RobotError("unlock: the robot is not in a protective stop.")
        return "the robot is unlocked and stays where it is; now reset the fault"

    def recover(self, unlock: bool = False) -> RobotInfo:
        """After a stop or a lost connection, on explicit request: connect again and restart the program.

        unlock: release a protective stop; find its cause first.
        """
        if unlock:
            unlock_protective_stop(self.host)
        if self._link is not None:
            # a refusal must not cost the connection
            check_released(self.host, self.settings.connect_timeout, self.settings.power_on)
        return self.connect()

    def close(self) -> None:
        """End the program on the robot and close the connections; the arm must be at rest already."""
        link, self._link = self._link, None
        self._driving = False
        self.beat.end()
        if link is not None:
            link.close()
            for device in self._wrenches.devices:
                device.stop()

    def open_outputs(self) -> OutputPins:
        """Digital outputs, on a connection of their own; RobotError when another program sets them."""
        return OutputPins(self.host, self.settings.connect_timeout)

    # -- inside -------------------------------------------------------------------------------------------------

    def _not_connected(self) -> RobotError:
        return RobotError(f"not connected to {self.host}: call connect() first.")

    def _begin(self, link: Link) -> None:
        link.arm_watchdog()
        self._driving = self._refused = self._lost_while_driving = False
        self._status, self.reason = Status.OK, ""
        self._kept_alive = time.monotonic()
        self.beat = Beat(self.period, self.settings.state_patience, link.states)
        self._epoch_ns = time.time_ns() - round(self.beat.timestamp * 1e9)

    def _start_driving(self, link: Link) -> bool:
        """Before the first command: the program runs and the watchdog is armed."""
        if not link.program_running() and not link.restart_program():
            self._refuse("")
            return False
        if not link.arm_watchdog():
            self._refuse("the robot did not arm its watchdog: reset the fault")
            return False
        link.states.resting(False)
        self.beat.skip()  # arming took some cycles: this command belongs to the present one
        self._driving = True
        return True

    def _judge(self, link: Link, silence: float) -> Status:
        """The status of this cycle. Anything but OK stays until recover(): the cause may vanish by itself, the
        operator's consent does not."""
        status, reason = link.trouble(self._driving, silence)
        if status == Status.CONNECTION_LOST:
            # before ur_rtde reconnects by itself: that is for recover() to do
            self._lost_while_driving = self._driving
            self.close()
        elif self._status != Status.OK:
            return self._status
        elif status == Status.OK and self._refused:
            if time.monotonic() < self._refused_at + EXPLAINED:
                return Status.OK  # nothing is sent meanwhile
            status, reason = Status.COMMAND_REJECTED, self.reason
        if status == Status.COMMAND_REJECTED and not reason:
            reason = self._why_ended()
        self.reason = reason
        return status

    def _why_ended(self) -> str:
        """The program has ended. Empty: the robot is asked, by a thread that sets the reason; the loop goes on."""
        limit = 1.0 / self.settings.watchdog_hz
        if self._driving and (silence := time.monotonic() - self._sent_at) > limit:
            return too_late(silence, limit)

        def ask(link: Link | None) -> None:
            reason = why_ended(self.host)
            if self._link is link and not self.reason:
                self.reason = reason

        threading.Thread(target=ask, args=(self._link,), daemon=True).start()
        return ""

    def _watch_slider(self, fraction: float) -> None:
        """Somebody moves it, and the robot follows in steps: what counts is where it comes to rest."""
        seen, now = round(fraction, 2), time.monotonic()
        if seen != self._slider_seen:
            self._slider_seen, self._slider_since = seen, now
        elif seen != self.slider and now > self._slider_since + SLIDER_RESTS:
            self.slider = seen

    def _refuse(self, reason: str) -> None:
        self._refused, self._refused_at, self.reason = True, time.monotonic(), reason

    def _wait_for_standstill(self, link: Link) -> None:
        end = time.monotonic() + STOP_TIME
        self.beat.skip()  # braking took some cycles that nobody has read
        while time.monotonic() < end and link.receiving(self.beat.silence):
            timestamp, q, qd, _ = link.state()
            self.beat.take(timestamp)
            if max(abs(speed) for speed in qd) < STOPPED:
                if self._fields is not None:
                    self._fields.q[:], self._fields.qd[:] = q, qd
                return
            time.sleep(self.period)
        if not link.receiving(self.beat.silence):
            raise self._unconfirmed()
        raise RobotError(f"the arm is still moving {STOP_TIME:g} s after the stop: use the emergency stop.")

    def _unconfirmed(self) -> RobotError:
        return RobotError(
            f"the connection to {self.host} is lost, so the stop cannot be confirmed; the robot's watchdog stops the "
            f"arm {1e3 / self.settings.watchdog_hz:.0f} ms after the last command."
        )

    def _mean_wrench(self, link: Link, count: int) -> Array:
        readings = []
        for _ in range(count):
            self.beat.wait()
            timestamp, _, _, wrench = link.state()
            self.beat.take(timestamp)
            readings.append(wrench)
        return np.asarray(np.mean(readings, axis=0))
