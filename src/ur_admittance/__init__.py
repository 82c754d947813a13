"""Makes a Universal Robots arm force-compliant: push the tool and it moves as a chosen mass, damper and spring.

    import ur_admittance as ua

    world = ua.World(ua.robot_model("ur5e"), ua.Tool(mass=1.0))
    controller = ua.AdmittanceController(world.model, ua.preset("hand_guiding").changed(world.parameters()))
    with ua.SimulatedRobot(world) as robot:  # leaving the block stops the arm
        world.push([0, 10, 0, 0, 0, 0], seconds=1.0)  # a hand: 10 N along y
        print(ua.run(controller, robot, duration=2.0, activate=True))

These names are the public interface; what a name needs is loaded when it is first used. The modules behind them may
change between versions.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ur_admittance import errors as errors
    from ur_admittance.apps.run import run as run
    from ur_admittance.apps.twin import Twin as Twin
    from ur_admittance.control import AdmittanceController as AdmittanceController
    from ur_admittance.control.chaining import CartesianPath as CartesianPath
    from ur_admittance.control.chaining import JointFollower as JointFollower
    from ur_admittance.control.chaining import Smoother as Smoother
    from ur_admittance.model import robot_model as robot_model
    from ur_admittance.params import Parameters as Parameters
    from ur_admittance.params import load_parameters as load_parameters
    from ur_admittance.params import preset as preset
    from ur_admittance.recording.log import read_log as read_log
    from ur_admittance.recording.recorder import Recorder as Recorder
    from ur_admittance.robots.rtde.robot import RtdeRobot as RtdeRobot
    from ur_admittance.robots.rtde.settings import RtdeSettings as RtdeSettings
    from ur_admittance.robots.sensors import NetFt as NetFt
    from ur_admittance.robots.sensors import RobotiqFt as RobotiqFt
    from ur_admittance.simulation import Case as Case
    from ur_admittance.simulation import Environment as Environment
    from ur_admittance.simulation import FtSensor as FtSensor
    from ur_admittance.simulation import Script as Script
    from ur_admittance.simulation import SecondSensor as SecondSensor
    from ur_admittance.simulation import Servo as Servo
    from ur_admittance.simulation import SimulatedRobot as SimulatedRobot
    from ur_admittance.simulation import Tool as Tool
    from ur_admittance.simulation import World as World
    from ur_admittance.simulation import simulate as simulate
else:
    _HOME = {
        "AdmittanceController": "control",
        "CartesianPath": "control.chaining",
        "Case": "simulation",
        "Environment": "simulation",
        "FtSensor": "simulation",
        "JointFollower": "control.chaining",
        "NetFt": "robots.sensors",
        "Parameters": "params",
        "Recorder": "recording.recorder",
        "RobotiqFt": "robots.sensors",
        "RtdeRobot": "robots.rtde.robot",
        "RtdeSettings": "robots.rtde.settings",
        "Script": "simulation",
        "SecondSensor": "simulation",
        "Servo": "simulation",
        "SimulatedRobot": "simulation",
        "Smoother": "control.chaining",
        "Tool": "simulation",
        "Twin": "apps.twin",
        "World": "simulation",
        "load_parameters": "params",
        "preset": "params",
        "read_log": "recording.log",
        "robot_model": "model",
        "run": "apps.run",
        "simulate": "simulation",
    }

    def __getattr__(name):
        from importlib import import_module

        if name == "errors":
            return import_module("ur_admittance.errors")
        if name in _HOME:
            value = globals()[name] = getattr(import_module(f"ur_admittance.{_HOME[name]}"), name)
            return value
        from difflib import get_close_matches

        near = [known for known in __all__ if name.lower() in known.lower()] or get_close_matches(name, __all__, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        # without `obj` Python adds no second hint of its own
        raise AttributeError(f"module 'ur_admittance' has no attribute {name!r}{hint}", name=name)

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "AdmittanceController",
    "CartesianPath",
    "Case",
    "Environment",
    "FtSensor",
    "JointFollower",
    "NetFt",
    "Parameters",
    "Recorder",
    "RobotiqFt",
    "RtdeRobot",
    "RtdeSettings",
    "Script",
    "SecondSensor",
    "Servo",
    "SimulatedRobot",
    "Smoother",
    "Tool",
    "Twin",
    "World",
    "__version__",
    "errors",
    "load_parameters",
    "preset",
    "read_log",
    "robot_model",
    "run",
    "simulate",
]
