"""The two ur_rtde connections of one robot: states come in here, commands go through the commander's process."""

import contextlib
import os
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any, Literal

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.commander import Commander
from ur_admittance.robots.rtde.dashboard_port import Dashboard

Version = tuple[int, int, int]
RAW_WRENCH_SINCE: Version = (5, 9, 0)
PAYLOAD_SINCE: Version = (5, 6, 0)

PLAYING = 2  # runtime_state
RUNNING = 7  # robot_mode
START_TIME = 2.0  # [s] that an uploaded program may take to start
SILENCE = 0.5  # [s] without a new state: the connection counts as lost; the library itself notices after 2.5 s

# bits of safety_status_bits
PROTECTIVE, RECOVERY, SAFEGUARD, SYSTEM_EMERGENCY, ROBOT_EMERGENCY, EMERGENCY, VIOLATION, FAULT = range(2, 10)
EMERGENCIES = 1 << SYSTEM_EMERGENCY | 1 << ROBOT_EMERGENCY | 1 << EMERGENCY

VARIABLES = [
    "timestamp",
    "actual_q",
    "actual_qd",
    "actual_TCP_pose",
    "robot_mode",
    "safety_status_bits",
    "runtime_state",
    "speed_scaling",
    "target_speed_fraction",
]

_RETIRED: list[Any] = []  # closed receive connections


class Link:
    def __init__(
        self,
        host: str,
        version: Version,
        sensor: Literal["builtin", "raw", "external"],
        priority: int = -1,
        timeout: float = 10.0,
    ) -> None:
        try:
            from rtde_receive import RTDEReceiveInterface
        except ImportError:
            raise RobotError("the package ur-rtde is missing: pip install 'ur-admittance[robot]'.") from None
        self.host = host
        rate = 500.0 if version[0] > 3 else 125.0
        variables = list(VARIABLES)
        if sensor != "external":
            variables.append("ft_raw_wrench" if sensor == "raw" else "actual_TCP_force")
        self._has_payload = version >= PAYLOAD_SINCE
        if self._has_payload:
            variables += ["payload", "payload_cog"]
        _check_answers(host, timeout)
        threads = _threads()
        try:
            self.receive = RTDEReceiveInterface(host, rate, variables, rt_priority=-1)
        except RuntimeError as error:
            raise RobotError(f"{host} does not send its state: {str(error).strip().rstrip('.')}.") from None
        _prefer(_threads() - threads, priority)
        try:
            self.commander = Commander(host, rate, priority, timeout)
        except RobotError:
            self._disconnect_receive()
            raise
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

    def tcp_pose(self) -> list[float]:
        """As the robot computes it, UR base (6,) [m, rad]."""
        return list(self.receive.getActualTCPPose())

    def connected(self) -> bool:
        return self.commander.connected and bool(self.receive.isConnected())

    def receiving(self, silence: float) -> bool:
        """Do new states arrive? silence: age of the newest one [s]."""
        return bool(self.receive.isConnected()) and silence < SILENCE

    def trouble(self, driving: bool, silence: float) -> tuple[Status, str]:
        """What is wrong with the robot now: OK, or a status and a sentence. silence: age of the newest state [s]."""
        receive = self.receive
        self.commander.listen()
        if not receive.isConnected():
            return Status.CONNECTION_LOST, "the robot sends no more states"
        if not self.commander.connected:
            return Status.CONNECTION_LOST, "the command connection to the robot is gone"
        if silence > SILENCE:
            return Status.CONNECTION_LOST, f"the robot has sent no state for {silence:.1f} s"
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
        return self.commander.stream(b"S", qd, acceleration, seconds)

    def servo_j(self, q: list[float], seconds: float, lookahead: float, gain: float) -> bool:
        return self.commander.stream(b"V", q, seconds, lookahead, gain)

    # outside the loop: these wait for the robot, within a time limit

    def program_running(self) -> bool:
        return bool(self.receive.isConnected()) and self.receive.getRuntimeState() == PLAYING

    def restart_program(self) -> bool:
        """Upload the control program again and wait until it runs."""
        self.commander.call("reuploadScript")
        end = time.monotonic() + START_TIME
        while not (self.program_running() and self.commander.call("isProgramRunning")):
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        self.commander.accepted = True
        return True

    def brake(self, mode: Literal["speed", "servo"], deceleration: float, timeout: float) -> None:
        """The stop of the mode that moves the arm; if that fails the program is stopped from the dashboard."""
        done = self.call(f"{mode}Stop", deceleration, timeout=timeout)
        if not done and self.connected():
            self.stop_program()

    def stop_program(self) -> None:
        """Through the dashboard: it works when the program itself does not listen."""
        with contextlib.suppress(RobotError), Dashboard(self.host, 1.0) as dashboard:
            dashboard.ask("stop")

    def call(self, name: str, *arguments: Any, timeout: float = 2.0) -> Any:
        """A method of ur_rtde's control interface; None when it fails or takes too long."""
        return self.commander.call(name, *arguments, timeout=timeout)

    def payload(self) -> tuple[float, list[float]] | None:
        """Mass [kg] and centre [m] as configured; None when this software does not report it."""
        if not self._has_payload:
            return None
        return float(self.receive.getPayload()), list(self.receive.getPayloadCog())

    def close(self) -> None:
        """The arm must be at rest: nothing here stops it."""
        if self.connected() and self.program_running():
            self.stop_program()
        self.commander.close()
        self._disconnect_receive()

    def _disconnect_receive(self) -> None:
        """In the background: the library waits half a second or more for its thread. Not a daemon: if the program ended
        first, the library would abort it. The object itself is kept: its destructor would hold Python's interpreter
        lock for another half second and stall a loop that already runs on a new connection."""
        _RETIRED.append(self.receive)

        def work(receive: Any) -> None:
            with contextlib.suppress(RuntimeError):
                receive.disconnect()

        threading.Thread(target=work, args=(self.receive,)).start()


def _threads() -> set[int]:
    """Of this process; empty where the system does not list them."""
    folder = Path("/proc/self/task")
    return {int(entry.name) for entry in folder.iterdir()} if folder.exists() else set()


def _prefer(threads: set[int], priority: int) -> None:
    """Real-time priority for the threads that receive states: the library grants it on a PREEMPT_RT kernel only, but a
    loop with priority is no faster than the thread that feeds it."""
    if priority > 0:
        for thread in threads:
            with contextlib.suppress(OSError):
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))


def _check_answers(host: str, timeout: float) -> None:
    """Does the controller speak RTDE now? The library would wait for its answer without a limit."""
    try:
        with socket.create_connection((host, 30004), timeout=timeout) as connection:
            connection.sendall(struct.pack(">HBH", 5, ord("V"), 2))
            answer = connection.recv(4)
    except OSError:
        answer = b""
    if answer != struct.pack(">HBB", 4, ord("V"), 1):
        raise RobotError(f"{host} does not answer on its RTDE port 30004: is the controller still starting?")
