"""What a robot's connection does, whichever client carries the commands: states in, commands out, what is wrong now and
the way back, in plain words."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.rtde.pendant import panel
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.states import States
from ur_admittance.robots.rtde.versions import Version, rate_of

RAW_WRENCH_SINCE: Version = (5, 9, 0)
PAYLOAD_SINCE: Version = (5, 6, 0)

PLAYING, PAUSES = 2, (3, 4)  # runtime_state; pausing and paused
RUNNING = 7  # robot_mode
START_TIME = 5.0  # [s] that an uploaded program may take to start
SILENCE = 0.5  # [s] without a new state: the connection counts as lost

# bits of safety_status_bits
PROTECTIVE, RECOVERY, SAFEGUARD, SYSTEM_EMERGENCY, ROBOT_EMERGENCY, EMERGENCY, VIOLATION, FAULT, STOPPED = range(2, 11)
EMERGENCIES = 1 << SYSTEM_EMERGENCY | 1 << ROBOT_EMERGENCY | 1 << EMERGENCY
# STOPPED alone: by the three-position switch or the safeguard of the automatic mode, which have no bit of their own.
STOPS = EMERGENCIES | 1 << PROTECTIVE | 1 << RECOVERY | 1 << SAFEGUARD | 1 << VIOLATION | 1 << FAULT | 1 << STOPPED

AGAIN = "reset the fault, which starts it again"
WAS_PAUSED = f"the program on the robot was paused at its pendant: {AGAIN}"
WAS_STOPPED = f"the program on the robot was stopped (at the pendant or by an error; its log has more): {AGAIN}"
ANOTHER = "another program runs on the robot in the place of ours: stop it, then reset the fault"
SLIDER_DOWN = "the speed slider is at 0 %, so the program on the robot stands: raise it, then reset the fault"
WAS_LOCAL = "the robot was switched to local control: switch it back to remote control, then reset the fault"
SETTLED = 0.2  # [s] after which the dashboard shows what the state has shown already
UNPOWERED = {
    "POWER_OFF": "the arm was switched off: switch it on, release its brakes, then reset the fault",
    "IDLE": "the brakes of the arm are on: release them, then reset the fault",
}

VARIABLES = (
    "timestamp",
    "actual_q",
    "actual_qd",
    "actual_TCP_pose",
    "robot_mode",
    "safety_status_bits",
    "runtime_state",
    "speed_scaling",
    "target_speed_fraction",
    "actual_digital_input_bits",
)


class Link(ABC):
    """outputs, inputs: RTDE variables that the client uses besides."""

    def __init__(
        self,
        host: str,
        version: Version,
        settings: RtdeSettings,
        outputs: Sequence[str] = (),
        inputs: Sequence[str] = (),
    ) -> None:
        self.host, self.version, self.settings = host, version, settings
        self.rate = rate_of(version)  # [Hz]
        self._has_payload = version >= PAYLOAD_SINCE
        self._wrench = {"raw": "ft_raw_wrench", "builtin": "actual_TCP_force", "external": ""}[settings.own]
        variables = [*VARIABLES, *outputs]
        if self._wrench:
            variables.append(self._wrench)
        if self._has_payload:
            variables += ["payload", "payload_cog"]
        self.states = States(host, self.rate, variables, inputs, settings.connect_timeout)

    # each cycle

    def state(self) -> tuple[float, Sequence[float], Sequence[float], Sequence[float]]:
        """Time stamp, q, qd and wrench of one and the same robot cycle: the newest one."""
        states = self.states
        states.refresh()
        wrench = states[self._wrench] if self._wrench else ()
        return states.timestamp, states["actual_q"], states["actual_qd"], wrench

    def digital_inputs(self) -> int:
        """Bit by bit: 8 standard, 8 configurable, 2 of the tool."""
        return int(self.states["actual_digital_input_bits"])

    def slider(self) -> float:
        """Where the speed slider is, 0..1."""
        return float(self.states["target_speed_fraction"])

    def scaling(self) -> float:
        """Speed slider times trajectory limiter, 0..1."""
        return float(self.states["speed_scaling"] * self.states["target_speed_fraction"])

    @abstractmethod
    def stream(self, six: Sequence[float]) -> bool:
        """The command of this cycle: joint speeds or, with settings.command = servo, positions. False: refused."""

    @property
    def commanding(self) -> bool:
        """Is the connection for commands alive?"""
        return self.states.connected

    def tcp_pose(self) -> list[float]:
        """As the robot computes it, UR base (6,) [m, rad]."""
        return list(self.states["actual_TCP_pose"])

    def connected(self) -> bool:
        return self.commanding and self.states.connected

    def receiving(self, silence: float) -> bool:
        """Do new states arrive? silence: age of the newest one [s]."""
        return self.states.connected and silence < SILENCE

    def trouble(self, driving: bool, silence: float) -> tuple[Status, str]:
        """What is wrong with the robot now: OK, or a status and a sentence, which is empty when the states alone do not
        say it (why_ended does). silence: age of the newest state [s]."""
        states = self.states
        if not states.connected:
            return Status.CONNECTION_LOST, "the robot sends no more states"
        if not self.commanding:
            return Status.CONNECTION_LOST, "the command connection to the robot is gone"
        if silence > SILENCE:
            return Status.CONNECTION_LOST, f"the robot has sent no state for {silence:.1f} s"
        bits = states["safety_status_bits"]
        if bits & STOPS:
            return stop_of(bits)
        mode = states["robot_mode"]
        if mode != RUNNING:
            return Status.COMMAND_REJECTED, no_power(mode)
        if driving and not self.program_running():
            return Status.COMMAND_REJECTED, self.why_not_running()
        return Status.OK, ""

    def program_running(self) -> bool:
        return self.states.connected and self.states["runtime_state"] == PLAYING

    def why_not_running(self) -> str:
        """As far as the state says it; empty: the program has ended."""
        return WAS_PAUSED if self.states["runtime_state"] in PAUSES else ""

    # while the arm stands: these wait for the robot, within a time limit; False: it did not do it

    @abstractmethod
    def restart_program(self) -> bool:
        """Upload the control program again and wait until it runs."""

    def arm_watchdog(self) -> bool:
        """Without a command for 1 / watchdog_hz the robot ends the program and stops the arm; once per program: who
        knows whether a controller takes a second rate. Nothing to do where the program itself sees to that."""
        return True

    @abstractmethod
    def keep_alive(self) -> None:
        """A sign of life while nothing is commanded."""

    @abstractmethod
    def set_tcp(self, tcp: Sequence[float]) -> bool: ...

    @abstractmethod
    def set_payload(self, mass: float, center: Sequence[float]) -> bool: ...

    @abstractmethod
    def zero_ft_sensor(self) -> bool: ...

    @abstractmethod
    def tcp_offset(self) -> Sequence[float] | None: ...

    @abstractmethod
    def _brake(self, timeout: float) -> bool:
        """Ask the program to stop the arm, and wait until it has."""

    def brake(self, timeout: float) -> None:
        """By the program; if that fails it is stopped from outside."""
        if not self._brake(timeout) and self.connected():
            self.stop_program()

    def stop_program(self) -> None:
        """From outside: it works when the program itself does not listen."""
        with contextlib.suppress(RobotError), panel(self.host, 1.0, self.version) as robot:
            robot.stop()

    def payload(self) -> tuple[float, Sequence[float]] | None:
        """Mass [kg] and centre [m] as configured; None when this software does not report it."""
        if not self._has_payload:
            return None
        self.states.refresh()
        return float(self.states["payload"]), self.states["payload_cog"]

    def close(self) -> None:
        """The arm must be at rest: nothing here stops it."""
        self.states.refresh()
        if self.connected() and self.program_running():
            self.stop_program()
        self.states.close()


def stop_of(bits: Any) -> tuple[Status, str]:
    if bits & EMERGENCIES:
        return Status.EMERGENCY_STOP, "the emergency stop is pressed"
    if bits & 1 << SAFEGUARD:
        return Status.SAFEGUARD_STOP, "the safeguard stop is active"
    if bits & 1 << PROTECTIVE:
        return Status.PROTECTIVE_STOP, "the robot is in a protective stop"
    text = f"the robot's safety system has stopped it (status bits {bits:#x})"
    by_violation = bits & (1 << RECOVERY | 1 << VIOLATION | 1 << FAULT)
    return Status.PROTECTIVE_STOP if by_violation else Status.SAFEGUARD_STOP, text


def no_power(mode: int | str) -> str:
    """Of a robot mode that is not RUNNING."""
    name = ROBOT_MODES.get(mode, str(mode)) if isinstance(mode, int) else mode
    return UNPOWERED.get(
        name, f"the arm is not ready (robot mode {name}): switch it on at the pendant, then reset the fault"
    )


def too_late(silence: float, limit: float) -> str:
    """This program itself has sent nothing for `silence` [s]."""
    return (
        f"this program sent no command for {1e3 * silence:.0f} ms (limit {1e3 * limit:.0f} ms), so the robot stopped; "
        "is the computer overloaded? Reset the fault"
    )


def why_ended(host: str, timeout: float = 1.0) -> str:
    """Of a program that has just ended; asks the robot, so not in the loop."""
    time.sleep(SETTLED)
    with contextlib.suppress(RobotError), panel(host, timeout) as robot:
        if robot.remote_control() is False:
            return WAS_LOCAL
        if (mode := robot.mode()) != "RUNNING":
            return no_power(mode)
        if robot.program():
            return ANOTHER
    return WAS_STOPPED
