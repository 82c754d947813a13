"""Is this robot ready to be driven? Each finding in plain words, with what to do about it."""

import socket
import time
from dataclasses import dataclass, replace

from ur_admittance.errors import RobotError
from ur_admittance.model import MODEL_NAMES, RobotModel
from ur_admittance.model.arm_table import nearest_model
from ur_admittance.robots.rtde import primary_port
from ur_admittance.robots.rtde.listen import read_version
from ur_admittance.robots.rtde.pendant import RELEASE_TIME, Dashboard, PolyscopeX, panel
from ur_admittance.robots.rtde.versions import (
    CB3_TYPES,
    OLDEST,
    Version,
    check_version,
    is_polyscope_x,
    rate_of,
    shown,
)
from ur_admittance.robots.rtde.wire import PORT as RTDE_PORT
from ur_admittance.robots.rtde.wire import reason

SCRIPT_PORT = 30003
POWER_TIME = 30.0  # [s] that switching on and releasing the brakes may take


@dataclass(frozen=True)
class Identity:
    """Who answers there."""

    model: str  # the type that it seems to be
    serial: str  # as the robot reports it; empty: this software does not
    version: Version
    emulated: bool
    sentences: tuple[str, ...] = ()  # of check_ready: about it, and what is doubtful

    @property
    def rate(self) -> float:
        return rate_of(self.version)

    @property
    def software(self) -> str:
        return f"{'PolyScope X ' if is_polyscope_x(self.version) else ''}{shown(self.version)}"


def identity(host: str, timeout: float = 3.0) -> Identity:
    """RobotError when no robot answers."""
    with panel(host, timeout) as robot:
        return _identity(robot)


def _identity(robot: Dashboard | PolyscopeX) -> Identity:
    model = next(iter(robot.models()), "")
    return Identity(model, robot.serial_number(), robot.version(), robot.emulated())


def reachable(host: str, port: int, timeout: float) -> None:
    """RobotError when nothing listens there."""
    try:
        socket.create_connection((host, port), timeout=timeout).close()
    except OSError as error:
        name = {RTDE_PORT: "RTDE", SCRIPT_PORT: "script", primary_port.PORT: "primary"}[port]
        raise RobotError(
            f"no robot answers on {host}:{port} ({name} port, {reason(error)}); check the address, the cable and, "
            "on the robot, Settings > Security > Services."
        ) from None


def check_ports(host: str, timeout: float) -> Version:
    """The software's version, by which the ports differ. RobotError: one of them is closed."""
    reachable(host, RTDE_PORT, timeout)
    version = read_version(host, timeout)
    reachable(host, primary_port.PORT if is_polyscope_x(version) else SCRIPT_PORT, timeout)
    return version


def check_ready(host: str, model: RobotModel, timeout: float, power_on: bool, take_over: bool) -> Identity:
    """All that can be asked before anything is started on the robot. RobotError names the first obstacle."""
    with panel(host, timeout, check_ports(host, timeout)) as robot:
        who = _identity(robot)
        doubts = _check_model(robot.models(), model, who.version)
        check_version(who.version, nearest_model(model))
        remote = robot.remote_control()
        if remote is False:
            raise RobotError(primary_port.LOCAL)
        if remote is None and is_polyscope_x(who.version):
            doubts.append(
                "Whether it is in remote control can be read from 10.12 on; here starting the program shows it."
            )
        _check_safety(robot)
        _check_power(robot, power_on)
        _check_program(robot, take_over)
    first = f"{model.name} at {host}, software {who.software}, {who.rate:g} Hz."
    return replace(who, sentences=(first, *doubts))


def _check_model(names: tuple[str, ...], model: RobotModel, version: Version) -> list[str]:
    """names: what the controller may be by its own words. Returns what it cannot distinguish."""
    kind, text = nearest_model(model), shown(version)
    cb3 = version[0] <= 3
    if kind in MODEL_NAMES and cb3 != (kind in CB3_TYPES):
        other = kind.rstrip("e") if cb3 else f"{kind}e"
        found, given = ("a CB3", "an e-Series") if cb3 else ("an e-Series", "a CB3")
        hint = f"choose {other}" if other in MODEL_NAMES else "choose the right model"
        raise RobotError(
            f"the robot's software {text} is that of {found} arm, but {model.name} is {given} type: {hint}."
        )
    own = model.name.lower() if model.name.lower() in MODEL_NAMES else kind
    if names and own not in names:
        seems = names[0].removesuffix("e").upper()
        raise RobotError(f"the robot is a {seems}, but the model is {model.name}: choose the right model.")
    possible = [name for name in names if version >= OLDEST.get(name, (version, version))[is_polyscope_x(version)]]
    if len(possible) < 2:
        return []
    return [f"The controller reports {' and '.join(possible)} alike: {own} is your choice, compare it with the label."]


def check_released(host: str, timeout: float, power_on: bool) -> None:
    """RobotError while a stop of the safety system, local control or missing power keeps the arm from being driven."""
    with panel(host, timeout) as robot:
        if robot.remote_control() is False:
            raise RobotError(primary_port.LOCAL)
        _check_safety(robot)
        _check_power(robot, power_on)


def _check_safety(robot: Dashboard | PolyscopeX) -> None:
    status = robot.safety()
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


def _check_power(robot: Dashboard | PolyscopeX, power_on: bool) -> None:
    mode = robot.mode()
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
            robot.power_on()
        elif mode == "IDLE":
            robot.release_brakes()
        if time.monotonic() > end:
            raise RobotError(f"the arm did not power up within {POWER_TIME:g} s (robot mode {mode}).")
        time.sleep(0.2)
        mode = robot.mode()


def _check_program(robot: Dashboard | PolyscopeX, take_over: bool) -> None:
    program = robot.program()
    if not program:
        return
    if not take_over:
        raise RobotError(
            f"a program is running on the robot ({program}): stop it, or let it be stopped with "
            "--connection take_over=true."
        )
    robot.stop()


def unlock_protective_stop(host: str, patience: float = 8.0) -> bool:
    """Only ever called on an explicit request. The robot refuses in the first five seconds. False: there is none."""
    end = time.monotonic() + patience
    with panel(host) as robot:
        if "PROTECTIVE" not in robot.safety():
            return False
        while answer := robot.unlock():
            if time.monotonic() >= end:
                raise RobotError(f"the protective stop could not be unlocked: {answer}.")
            time.sleep(0.5)
        end = time.monotonic() + RELEASE_TIME
        while "PROTECTIVE" in robot.safety() and time.monotonic() < end:
            time.sleep(0.1)
    return True
