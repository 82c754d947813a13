"""A robot by name, for the command line and for scripts: `sim`, `ros`, or the address of an arm."""

from typing import Any

from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.runtime.robot import Robot


def open_robot(name: str, model: str = "ur5e", period: float = 0.002, **options: Any) -> Robot:
    """An arm that is not yet connected: `with open_robot("sim") as robot:`.

    name: `sim` (a simulated arm of type `model`; options as SimulatedRobot, and `world`), `ros` (the arm of a running
    ROS 2 system, which describes itself; options as RosSettings), or a host name or address (options as RtdeSettings).
    Modules of a kind of robot are loaded only when it is asked for."""
    if name == "sim":
        from ur_admittance.simulation import World
        from ur_admittance.simulation.robot import SimulatedRobot

        world = options.pop("world", None) or World(robot_model(model))
        return SimulatedRobot(world, period=period, **options)
    if name == "ros":
        need_ros()
        from ur_admittance.robots.ros.robot import RosRobot, RosSettings

        return RosRobot(RosSettings(rate=1.0 / period, **options))
    if not name or name.startswith("-") or any(c.isspace() for c in name):
        raise RobotError(f"robot = {name!r}: must be sim, ros, or the host name or address of an arm.")
    try:
        from ur_admittance.robots.rtde.robot import RtdeRobot
        from ur_admittance.robots.rtde.settings import RtdeSettings
    except ImportError as error:
        raise RobotError(f"robot = {name}: driving a real arm needs the package ur-rtde ({error}).") from None
    return RtdeRobot(name, robot_model(model), RtdeSettings(**options))


def need_ros() -> None:
    """RobotError where ROS 2 is not there."""
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise RobotError(
            f"robot = ros: needs ROS 2 ({error}): source your installation, or pip install 'ur-admittance[ros]'."
        ) from None
