"""An arm by name (`sim`, `ros`, or an address), connected and ready for slow moves and readings, perhaps recorded."""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.core.records import PARAMS, STATE, new
from ur_admittance.errors import ParameterError, RobotError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters, load_parameters
from ur_admittance.params.record import fill
from ur_admittance.runtime.interfaces import Robot, RobotInfo

if TYPE_CHECKING:
    from ur_admittance.robots.rtde.rtde_robot import RtdeRobot

CALM_WATCHDOG_HZ = 10.0  # at 0.5 rad/s a pause of this program for 0.1 s is harmless
ACCEPTABLE = ("load", "geometry")  # doubts that a person may have looked at: a force at rest, our tool pose
SIMULATED_TCP = [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]  # of the simulated tool, in front of the flange


def check_accept(accept: Collection[str]) -> None:
    for name in accept:
        if name not in ACCEPTABLE:
            raise ParameterError(f"accept = {name!r}: must be one of {', '.join(ACCEPTABLE)}.", "accept")


def open_robot(name: str, model: str = "ur5e", period: float = 0.002, **options: Any) -> Robot:
    """An arm that is not yet connected: `with open_robot("sim") as robot:`.

    name: `sim` (a simulated arm of type `model`; options as SimulatedRobot, and `world`), `ros` (the arm of a running
    ROS 2 system; options as RosSettings), or a host name or address (options as RtdeSettings, its `sensor` also
    `netft:ADDRESS` or `robotiq:DEVICE`). The modules of a kind of robot are loaded only when it is asked for."""
    if name == "sim":
        from ur_admittance.robots.simulated import World
        from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot

        world = options.pop("world", None) or World(robot_model(model))
        return SimulatedRobot(world, period=period, **options)
    if name == "ros":
        need_ros()
        from ur_admittance.robots.ros.ros_robot import RosRobot, RosSettings

        return RosRobot(RosSettings(rate=1.0 / period, **options))
    if not name or name.startswith("-") or any(c.isspace() for c in name):
        raise RobotError(f"robot = {name!r}: must be sim, ros, or the host name or address of an arm.")
    return open_rtde(name, robot_model(model), **options)


def open_rtde(host: str, model: RobotModel, sensor: str = "builtin", second: str = "", **settings: Any) -> "RtdeRobot":
    """sensor, second: as sensor.source, second empty: none; settings: as RtdeSettings. RobotError for one that does not
    exist or does not fit."""
    from ur_admittance.robots.external_sensors import external_sensor
    from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
    from ur_admittance.robots.rtde.settings import RtdeSettings

    device, other = external_sensor(sensor), external_sensor(second)
    for name, source, found in (("sensor", sensor, device), ("second", second, other)):
        if found is None and source not in ("builtin", "raw") and (source or name == "sensor"):
            raise RobotError(f"{name} = {source!r}: must be builtin, raw, netft:ADDRESS or robotiq:DEVICE.")
    values = settings | {"sensor": "external" if device is not None else sensor}
    values["second"] = "external" if other is not None else second
    known = [field.name for field in fields(RtdeSettings)]
    for name in values:
        if name not in known:
            raise RobotError(f"robot setting {name}: is unknown; must be one of {', '.join(known)}.")
    try:
        return RtdeRobot(host, model, TypeAdapter(RtdeSettings).validate_python(values), device, other)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise RobotError(f"robot setting {name} = {values[name]!r}: {first['msg'].lower()}.") from None


def source_of(parameters: Parameters, asked: str = "", default: str = "builtin") -> str:
    """The sensor to use: as asked for, as the calibration in the parameters says, or the default."""
    calibrated = parameters.sensor.source
    if asked and calibrated and asked != calibrated:
        raise RobotError(
            f"--sensor {asked}: tool and bias were calibrated with sensor.source = {calibrated}; use that, or "
            f"calibrate with --sensor {asked}."
        )
    return asked or calibrated or default


def second_of(parameters: Parameters, asked: str) -> str:
    """The second sensor as asked for; RobotError: the parameters were calibrated with another one."""
    calibrated = parameters.second.source
    if calibrated and asked != calibrated:
        raise RobotError(f"--second {asked}: the parameters have second.source = {calibrated}; use that one.")
    return asked


def need_ros() -> None:
    """RobotError where ROS 2 is missing."""
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise RobotError(
            f"robot = ros: needs ROS 2 ({error}): source your installation, or pip install 'ur-admittance[ros]'."
        ) from None


@contextmanager
def connected_arm(
    robot: Robot, commanding: bool = True, say: Callable[[str], None] = lambda text: None
) -> Iterator[tuple[CalmArm, RobotInfo]]:
    """Connect, and say what the robot answered; leaving the block stops it. commanding: False sends nothing."""
    with ExitStack() as stack:
        info = robot.connect()
        stack.push(robot.__exit__)
        for sentence in info.sentences:
            say(sentence)
        clock = robot.clock()
        clock.start()
        yield CalmArm(robot, info.model, clock.period, clock.wait, commanding), info


@contextmanager
def recorded(arm: CalmArm, path: Path | None, parameters: Parameters) -> Iterator[None]:
    """Every cycle of the arm inside the block goes to a new file, the same as that of a run with a controller, for
    `identify` and `plot`; None: to nowhere."""
    if path is None:
        yield
        return
    from ur_admittance.recording.log_writer import TICK, LogWriter, check_new

    check_new(path)
    rate = 1.0 / arm.period
    about: dict[str, Any] = {
        "model": arm.model.name,
        "rate": rate,
        "parameters": json.loads(parameters.model_dump_json()),
    }
    params, tick, state = new(PARAMS), np.zeros(1, TICK), bytes(STATE.itemsize)
    fill(params[0], parameters, arm.model)
    writer = LogWriter(path, about)

    def add() -> None:
        loop = tick["loop"]
        first = loop["sequence"][0] == 0
        loop["sequence"] += 1
        loop["time_ns"] = round(1e9 * int(loop["sequence"][0]) / rate)
        loop["params_revision"] = params["revision"]
        tick["sample"], tick["command"] = arm.sample, arm.command
        writer.add(tick.view(np.uint8).data, memoryview(state), params[0] if first else None, about if first else None)

    arm.watch = add
    try:
        yield
    finally:
        arm.watch = lambda: None
        writer.close()


def parameters_for(robot: str, file: Path | None = None) -> Parameters:
    """Those of a file, or the defaults; the simulated arm has a tool of 150 mm."""
    if file is not None:
        return load_parameters(file)
    return Parameters().changed({"tool.tcp": SIMULATED_TCP}) if robot == "sim" else Parameters()
