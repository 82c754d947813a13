"""Is this robot ready to be driven? Each finding in plain words, with what to do about it."""

import socket
import time
from dataclasses import dataclass

from ur_admittance.errors import RobotError
from ur_admittance.model import MODEL_NAMES, RobotModel
from ur_admittance.model.table import nearest_model
from ur_admittance.robots.rtde.dashboard_port import Dashboard, reason

RTDE_PORT, SCRIPT_PORT = 30004, 30003
CB3_TYPES = ("ur3", "ur5", "ur10")  # software 3.x; all others are e-Series or newer, 5.x
OLDEST = (5, 4, 0)  # older e-Series software lacks registers that the client library needs
RELEASE_TIME = 2.0  # [s] that the release of a protective stop may take
POWER_TIME = 30.0  # [s] that switching on and releasing the brakes may take


@dataclass(frozen=True)
class Readiness:
    version: tuple[int, int, int]
    rate: float  # [Hz]
    emulated: bool
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Identity:
    """Who answers there."""

    model: str  # the type that it seems to be
    serial: str  # as the robot reports it; empty: this software does not
    version: tuple[int, int, int]
    emulated: bool

    @property
    def software(self) -> str:
        return ".".join(str(part) for part in self.version)


def identity(host: str, timeout: float = 3.0) -> Identity:
    """RobotError when no robot answers."""
    with Dashboard(host, timeout) as dashboard:
        greeting = dashboard.ask("PolyscopeVersion")
        version = dashboard.version()
        if version is None:
            raise RobotError(f"{host} does not report its software version (it said {greeting[:60]!r}); is it a UR?")
        name = dashboard.ask("get robot model").lower().strip()
        if version[0] > 3 and f"{name}e" in MODEL_NAMES:
            name = f"{name}e"
        return Identity(name, dashboard.serial_number(), version, "emulator" in greeting)


def reachable(host: str, port: int, timeout: float) -> None:
    """RobotError when nothing listens there."""
    try:
        socket.create_connection((host, port), timeout=timeout).close()
    except OSError as error:
        name = {RTDE_PORT: "RTDE", SCRIPT_PORT: "script"}.get(port, "dashboard")
        raise RobotError(
            f"no robot answers on {host}:{port} ({name} port, {reason(error)}); check the address, the cable and, "
            "on the robot, Settings > Security > Services."
        ) from None


def check_ready(host: str, model: RobotModel, timeout: float, power_on: bool, take_over: bool) -> Readiness:
    """All that can be asked before anything is started on the robot. RobotError names the first obstacle."""
    for port in (RTDE_PORT, SCRIPT_PORT):
        reachable(host, port, timeout)
    who = identity(host, timeout)
    version = who.version
    with Dashboard(host, timeout) as dashboard:
        _check_version(version)
        _check_model(dashboard, model, version)
        _check_remote_control(dashboard)
        _check_safety(dashboard, version)
        _check_power(dashboard, power_on)
        _check_program(dashboard, take_over)
    rate = 500.0 if version[0] > 3 else 125.0
    sentences = (f"{model.name} at {host}, software {who.software}, {rate:g} Hz.",)
    return Readiness(version, rate, who.emulated, sentences)


def _check_version(version: tuple[int, int, int]) -> None:
    text = ".".join(str(part) for part in version)
    if (5, 0, 0) <= version < OLDEST:
        raise RobotError(f"the robot's software is {text}: must be 5.4 or newer; update it.")
    if version[0] >= 10:
        raise RobotError(
            f"the robot's software is PolyScope X {text}: not supported over RTDE here; use the ROS 2 driver."
        )


def _check_model(dashboard: Dashboard, model: RobotModel, version: tuple[int, int, int]) -> None:
    """The controller says UR5 for a UR5 and for a UR5e: only its software tells them apart."""
    kind, text = nearest_model(model), ".".join(str(part) for part in version)
    cb3 = version[0] <= 3
    if kind in MODEL_NAMES and cb3 != (kind in CB3_TYPES):
        other = kind.rstrip("e") if cb3 else f"{kind}e"
        found, given = ("a CB3", "an e-Series") if cb3 else ("an e-Series", "a CB3")
        hint = f"choose {other}" if other in MODEL_NAMES else "choose the right model"
        raise RobotError(
            f"the robot's software {text} is that of {found} arm, but {model.name} is {given} type: {hint}."
        )
    answer = dashboard.ask("get robot model").upper().strip()
    expected = model.name.upper()
    if answer.startswith("UR") and answer.rstrip("E") not in (expected, expected.rstrip("E")):
        raise RobotError(f"the robot is a {answer}, but the model is {model.name}: choose the right model.")


def check_released(host: str, timeout: float, power_on: bool) -> None:
    """RobotError while a stop of the safety system, local control or missing power keeps the arm from being driven."""
    with Dashboard(host, timeout) as dashboard:
        _check_remote_control(dashboard)
        _check_safety(dashboard, dashboard.version() or OLDEST)
        _check_power(dashboard, power_on)


def _check_remote_control(dashboard: Dashboard) -> None:
    if dashboard.remote_control() is False:
        raise RobotError(
            "the robot is in local control: switch it to remote control on the pendant (top right corner)."
        )


def _check_safety(dashboard: Dashboard, version: tuple[int, int, int]) -> None:
    status = _safety_status(dashboard, version)
    if status in ("NORMAL", "REDUCED"):
        return
    if "PROTECTIVE" in status:
        raise RobotError(
            "the robot is in a protective stop: look for the cause, then unlock it on the pendant, or in another "
            "terminal with `ur-admittance ask unlock` while `run` is running (and its --name, if it has one)."
        )
    if "EMERGENCY" in status:
        raise RobotError("the emergency stop is pressed: release it and start the robot.")
    if "SAFEGUARD" in status:
        raise RobotError("the safeguard stop is active: close the fence and reset it.")
    raise RobotError(f"the robot's safety system says {status}: clear it on the pendant.")


def _check_power(dashboard: Dashboard, power_on: bool) -> None:
    mode = dashboard.word("robotmode")
    if mode == "RUNNING":
        return
    if not power_on:
        raise RobotError(
            f"the arm is not ready (robot mode {mode}): switch its power on and release the brakes on the pendant, "
            "or start with --connection power_on=true."
        )
    end = time.monotonic() + POWER_TIME
    while mode != "RUNNING":
        if mode == "POWER_OFF":
            dashboard.ask("power on")
        elif mode == "IDLE":
            dashboard.ask("brake release")
        if time.monotonic() > end:
            raise RobotError(f"the arm did not power up within {POWER_TIME:g} s (robot mode {mode}).")
        time.sleep(0.2)
        mode = dashboard.word("robotmode")


def _check_program(dashboard: Dashboard, take_over: bool) -> None:
    if "true" not in dashboard.ask("running").lower():
        return
    if not take_over:
        raise RobotError(
            f"a program is running on the robot ({dashboard.ask('programState')}): stop it, or let it be stopped with "
            "--connection take_over=true."
        )
    dashboard.ask("stop")


def _safety_status(dashboard: Dashboard, version: tuple[int, int, int]) -> str:
    return dashboard.word("safetystatus" if version[0] > 3 else "safetymode")


def unlock_protective_stop(host: str, patience: float = 8.0) -> bool:
    """Only ever called on an explicit request. The robot refuses in the first five seconds. False: there is none."""
    end = time.monotonic() + patience
    with Dashboard(host) as dashboard:
        version = dashboard.version() or OLDEST
        if "PROTECTIVE" not in _safety_status(dashboard, version):
            return False
        while True:
            dashboard.ask("close safety popup")
            answer = dashboard.ask("unlock protective stop")
            if answer == "Protective stop releasing":
                break
            if time.monotonic() >= end:
                raise RobotError(f"the protective stop could not be unlocked: {answer}.")
            time.sleep(0.5)
        end = time.monotonic() + RELEASE_TIME
        while "PROTECTIVE" in _safety_status(dashboard, version) and time.monotonic() < end:
            time.sleep(0.1)
    return True
