"""A real UR made compliant: connect, check, run, stop. What `run --robot ADDRESS` does."""

from typing import Any

from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde import RtdeRobot
from ur_admittance.robots.rtde_clock import RobotClock
from ur_admittance.robots.rtde_settings import RtdeSettings
from ur_admittance.robots.rtde_tool import check_parameters
from ur_admittance.runtime.operate import operate
from ur_admittance.runtime.report import LoopReport

RECEIVE_PRIORITY = 60  # above the loop's own: it can only be as punctual as the states that it waits for


def run_rtde(host: str, model: str, parameters: Parameters, *, activate: bool = True, **options: Any) -> LoopReport:
    """Options as runtime.operate.operate; `say` is told what the robot answered."""
    say = options.get("say", lambda text: None)
    arm = robot_model(model)
    controller = AdmittanceController(arm, parameters)
    controller.configure(say)
    settings = RtdeSettings(rt_priority=RECEIVE_PRIORITY)
    check_parameters(parameters, settings)
    with RtdeRobot(host, arm, settings) as robot:
        for sentence in robot.info.sentences:
            say(sentence)
        if activate:
            controller.activate()
        return operate(controller, robot, RobotClock(robot), model=model, **options)
