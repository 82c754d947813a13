"""A real UR made compliant: connect, check, run, stop. What `run --robot ADDRESS` does."""

from typing import Any

from ur_admittance.analysis.response import measure_response
from ur_admittance.calibration.arm import CalmArm
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde import RtdeRobot
from ur_admittance.robots.rtde_clock import RobotClock
from ur_admittance.robots.rtde_settings import RtdeSettings
from ur_admittance.robots.rtde_tool import check_parameters
from ur_admittance.runtime.operate import LOOP_PRIORITY, operate
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.requests import apply_request

RECEIVE_PRIORITY = 60  # above the loop's own: it can only be as punctual as the states that it waits for


class Recovery:
    """`reset_fault` on a real arm: after a stop of the robot or a lost connection it first connects anew, on this
    explicit request only. Meanwhile (0.1 to some seconds) nothing is sent and the loop stands still."""

    def __init__(self, robot: RtdeRobot) -> None:
        self._robot = robot
        self._ticks = 0  # until the reset: the first tick after the pause is an overrun

    def request(self, controller: Any, value: Any) -> str:
        if value != "reset_fault" or not self._robot.in_trouble:
            return apply_request(controller, value)
        self._robot.recover()
        self._ticks = 3
        return "connected to the robot again; the fault is being reset"

    def on_tick(self, controller: Any) -> None:
        if self._ticks > 0:
            self._ticks -= 1
            if self._ticks == 0 and controller.mode == Mode.FAULT:
                controller.reset_fault()


def run_rtde(
    host: str, model: str, parameters: Parameters, *, activate: bool = True, measure: bool = False, **options: Any
) -> LoopReport:
    """measure: find the response time first, by a swing of 1.5 mm. Options as runtime.operate.operate; `say` is told
    what the robot answered."""
    say = options.get("say", lambda text: None)
    arm = robot_model(model)
    controller = AdmittanceController(arm, parameters)
    controller.configure(say)
    settings = RtdeSettings(rt_priority=RECEIVE_PRIORITY)
    check_parameters(parameters, settings)
    with RtdeRobot(host, arm, settings) as robot:
        for sentence in robot.info.sentences:
            say(sentence)
        if measure:
            with realtime(LOOP_PRIORITY):
                response = measure_response(CalmArm(robot, arm, robot.period))
            robot.stop()
            say(f"the arm answers after {1e3 * response.time:.0f} ms (robot.response_time)")
            controller.set_parameters({"robot.response_time": response.time})
        elif parameters.robot.response_time == 0.0:
            say("robot.response_time is unknown, 20 ms are assumed; measure it with --measure-response")
        if activate:
            controller.activate()
        recovery = Recovery(robot)
        options |= {"handlers": {"request": recovery.request}, "on_tick": recovery.on_tick}
        return operate(controller, robot, RobotClock(robot), model=model, **options)
