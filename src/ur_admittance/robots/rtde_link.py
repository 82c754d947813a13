"""The two ur_rtde connections of one robot. Everything that knows the library's names is here."""

import contextlib
import time
from typing import Any, Literal

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots.dashboard_port import Dashboard

Version = tuple[int, int, int]
RAW_WRENCH_SINCE: Version = (5, 9, 0)
PAYLOAD_SINCE: Version = (5, 6, 0)

PLAYING = 2  # runtime_state
RUNNING = 7  # robot_mode
START_TIME = 2.0  # [s] that an uploaded program may take to run
SILENCE = 1.0  # [s] without a new state: the connection counts as lost

# bits of safety_status_bits
PROTECTIVE, RECOVERY, SAFEGUARD, SYSTEM_EMERGENCY, ROBOT_EMERGENCY, EMERGENCY, VIOLATION, FAULT = range(2, 10)
EMERGENCIES = 1 << SYSTEM_EMERGENCY | 1 << ROBOT_EMERGENCY | 1 << EMERGENCY

VARIABLES = [
    "timestamp",
    "actual_q",
    "actual_qd",
    "robot_mode",
    "safety_status_bits",
    "runtime_state",
    "speed_scaling",
    "target_speed_fraction",
]


class Link:
    """Opens both connections: this stops any program on the robot and uploads the control program."""

    def __init__(
        self, host: str, version: Version, sensor: Literal["builtin", "raw", "external"], rt_priority: int
    ) -> None:
        try:
            from rtde_control import RTDEControlInterface
            from rtde_receive import RTDEReceiveInterface
        except ImportError:
            raise RobotError("the package ur-rtde is missing: pip install 'ur-admittance[robot]'.") from None
        rate = 500.0 if version[0] > 3 else 125.0
        variables = list(VARIABLES)
        if sensor != "external":
            variables.append("ft_raw_wrench" if sensor == "raw" else "actual_TCP_force")
        self._has_payload = version >= PAYLOAD_SINCE
        if self._has_payload:
            variables += ["payload", "payload_cog"]
        try:
            self.receive = RTDEReceiveInterface(host, rate, variables, rt_priority=rt_priority)
            self.control = RTDEControlInterface(host, rate, rt_priority=rt_priority)
        except RuntimeError as error:
            raise _explained(host, str(error)) from None
        self._wrench = {
            "raw": self.receive.getFtRawWrench,
            "builtin": self.receive.getActualTCPForce,
            "external": lambda: (),
        }[sensor]

    # each cycle

    def timestamp(self) -> float:
        return float(self.receive.getTimestamp())

    def state(self) -> tuple[float, list[float], list[float], Any]:
        """Time stamp, q, qd and wrench of one and the same robot cycle."""
        receive = self.receive
        for _ in range(3):
            timestamp = receive.getTimestamp()
            q, qd, wrench = receive.getActualQ(), receive.getActualQd(), self._wrench()
            if receive.getTimestamp() == timestamp:
                break
        return timestamp, q, qd, wrench

    def scaling(self) -> float:
        """Speed slider times trajectory limiter, 0..1."""
        return float(self.receive.getSpeedScaling() * self.receive.getTargetSpeedFraction())

    def connected(self) -> bool:
        return bool(self.receive.isConnected() and self.control.isConnected())

    def receiving(self, last_arrival: float) -> bool:
        """Do new states arrive? The library notices a dead peer only after seconds."""
        return bool(self.receive.isConnected()) and time.monotonic() - last_arrival < SILENCE

    def trouble(self, driving: bool) -> tuple[Status, str]:
        """What is wrong with the robot now: OK, or a status and a sentence."""
        receive = self.receive
        if not receive.isConnected():
            return Status.CONNECTION_LOST, "the robot sends no more states"
        if not self.control.isConnected():
            return Status.CONNECTION_LOST, "the command connection to the robot is gone"
        bits = receive.getSafetyStatusBits()
        if bits & EMERGENCIES:
            return Status.EMERGENCY_STOP, "the emergency stop is pressed"
        if bits & 1 << SAFEGUARD:
            return Status.SAFEGUARD_STOP, "the safeguard stop is active"
        if bits & 1 << PROTECTIVE:
            return Status.PROTECTIVE_STOP, "the robot is in a protective stop"
        if bits & (1 << RECOVERY | 1 << VIOLATION | 1 << FAULT):
            return Status.PROTECTIVE_STOP, f"the robot's safety system has stopped it (status bits {bits:#x})"
        mode = receive.getRobotMode()
        if mode != RUNNING:
            return Status.COMMAND_REJECTED, f"the arm has no power or its brakes are on (robot mode {mode})"
        if driving and receive.getRuntimeState() != PLAYING:
            return Status.COMMAND_REJECTED, "the control program on the robot has ended"
        return Status.OK, ""

    def speed_j(self, qd: list[float], acceleration: float, seconds: float) -> bool:
        try:
            return bool(self.control.speedJ(qd, acceleration, seconds))
        except RuntimeError:  # broken pipe
            return False

    def servo_j(self, q: list[float], seconds: float, lookahead: float, gain: float) -> bool:
        try:
            return bool(self.control.servoJ(q, 0.0, 0.0, seconds, lookahead, gain))
        except RuntimeError:
            return False

    def keep_alive(self) -> None:
        with contextlib.suppress(RuntimeError):
            self.control.kickWatchdog()

    # outside the loop; these wait for the robot

    def program_running(self) -> bool:
        return bool(self.receive.isConnected()) and self.receive.getRuntimeState() == PLAYING

    def restart_program(self) -> bool:
        """Upload the control program again and wait until it runs."""
        self.control.reuploadScript()
        end = time.monotonic() + START_TIME
        while not (self.program_running() and self.control.isProgramRunning()):
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def stop_program(self, host: str) -> None:
        with contextlib.suppress(RobotError), Dashboard(host, 1.0) as dashboard:
            dashboard.ask("stop")

    def speed_stop(self, deceleration: float) -> bool:
        return bool(self.control.speedStop(deceleration))

    def servo_stop(self, deceleration: float) -> bool:
        return bool(self.control.servoStop(deceleration))

    def set_watchdog(self, hertz: float) -> bool:
        return bool(self.control.setWatchdog(hertz))

    def zero_ft_sensor(self) -> bool:
        return bool(self.control.zeroFtSensor())

    def set_tcp(self, offset: list[float]) -> bool:
        return bool(self.control.setTcp(offset))

    def tcp_offset(self) -> list[float]:
        return list(self.control.getTCPOffset())

    def set_payload(self, mass: float, cog: list[float]) -> bool:
        return bool(self.control.setPayload(mass, cog))

    def payload(self) -> tuple[float, list[float]] | None:
        """Mass [kg] and centre [m] as configured; None when this software does not tell."""
        if not self._has_payload:
            return None
        return float(self.receive.getPayload()), list(self.receive.getPayloadCog())

    def close(self) -> bool:
        with contextlib.suppress(RuntimeError):
            if self.control.isConnected() and self.program_running():
                self.control.stopScript()
        for connection in (self.control, self.receive):
            with contextlib.suppress(RuntimeError):
                connection.disconnect()
        return True


def _explained(host: str, message: str) -> RobotError:
    """The library's exception in our words."""
    lowered = message.lower()
    if "in use" in lowered or "in_use" in lowered or "already" in lowered:
        return RobotError(
            f"another program already commands {host} through RTDE; close it (also EtherNet/IP and PROFINET adapters)."
        )
    return RobotError(f"{host} refused the connection: {message.strip().rstrip('.')}.")
