"""A real UR made compliant: connect, check, run, stop. What `run --robot ADDRESS` does."""

from typing import Any

from ur_admittance.apps.operate import LOOP_PRIORITY, operate
from ur_admittance.calibration.arm import CalmArm
from ur_admittance.calibration.response import measure_response
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.tool import check_parameters
from ur_admittance.runtime.loop import OnTick
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.requests import apply_request

TRIES = 250  # ticks
RECEIVE_PRIORITY = 60  # above the loop's own: it can only be as punctual as the states that it waits for


class Insistence:
    """Activation and reset on a real arm. The first ticks after a pause of the loop are overruns, in which neither is
    accepted: they are tried for half a second. `reset_fault` after a stop of the robot or a lost connection first
    connects anew, on this explicit request only; meanwhile (0.1 to some seconds) nothing is sent."""

    def __init__(self, robot: RtdeRobot, activate: bool) -> None:
        self._robot = robot
        self._from, self._ticks = Mode.INACTIVE, TRIES if activate else 0

    def request(self, controller: Any, value: Any) -> str:
        self._ticks = 0
        if value != "reset_fault" or not self._robot.in_trouble:
            return apply_request(controller, value)
        self._robot.recover()
        self._from, self._ticks = Mode.FAULT, TRIES
        return "connected to the robot again; the fault is being reset"

    def on_tick(self, controller: Any) -> None:
        if self._ticks > 0:
            self._ticks = self._ticks - 1 if controller.mode == self._from else 0
        if self._ticks > 0:
            (controller.reset_fault if self._from == Mode.FAULT else controller.activate)()


def run_rtde(
    host: str, model: str, parameters: Parameters, *, activate: bool = True, measure: bool = False, **options: Any
) -> LoopReport:
    """measure: find the response time first, by a swing of 1.5 mm. Options as apps.operate.operate; `say` is told
    what the robot answered."""
    say = options.get("say", lambda text: None)
    arm = robot_model(model)
    settings = RtdeSettings(rt_priority=RECEIVE_PRIORITY)
    check_parameters(parameters, settings)
    controller = AdmittanceController(arm, parameters)
    controller.configure(say)
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
        return drive_rtde(controller, robot, activate=activate, **options)


def drive_rtde(
    controller: AdmittanceController,
    robot: RtdeRobot,
    *,
    activate: bool,
    on_tick: OnTick | None = None,
    **options: Any,
) -> LoopReport:
    """The robot is connected, the controller configured; the robot sets the pace. Options as apps.operate.operate."""
    check_parameters(controller.parameters, robot.settings)
    insist = Insistence(robot, activate)

    def each_tick(controller: Any) -> bool | None:
        insist.on_tick(controller)
        return None if on_tick is None else on_tick(controller)

    options |= {"handlers": {"request": insist.request}, "on_tick": each_tick}
    return operate(controller, robot, robot.clock(), model=controller.model.name, **options)
