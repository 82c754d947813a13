"""A real UR made compliant: connect, check, run, stop. What `run --robot ADDRESS` does."""

from collections.abc import Callable, Mapping
from typing import Any

from ur_admittance.apps.connect import open_rtde
from ur_admittance.apps.operate import LOOP_PRIORITY, operate
from ur_admittance.calibration.arm import CalmArm
from ur_admittance.calibration.response import measure_response
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Request
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde.kinematics import ALLOWED, GROSS, apart
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.robots.rtde.tool import check_parameters
from ur_admittance.runtime.interfaces import OnTick
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.requests import UNLOCK, apply_request

RETRIES = 250  # ticks: half a second at 500 Hz
COMMAND_PRIORITY = 60  # of ur_rtde's process, above the loop's own: what the loop has sent goes out at once


class Retry:
    """Repeats a request every tick until the controller has left a mode, for half a second at most: the first ticks
    after a pause of the loop are overruns, in which neither activation nor reset is accepted."""

    def __init__(self) -> None:
        self._left = 0

    def start(self, mode: Mode, request: Callable[[], None]) -> None:
        self._mode, self._request, self._left = mode, request, RETRIES

    def cancel(self) -> None:
        self._left = 0

    def on_tick(self, controller: Any) -> None:
        if self._left > 0 and controller.mode == self._mode:
            self._left -= 1
            self._request()
        else:
            self._left = 0


def run_real(
    host: str,
    model: str,
    parameters: Parameters,
    *,
    activate: bool = True,
    measure: bool = False,
    connection: Mapping[str, Any] | None = None,
    **options: Any,
) -> LoopReport:
    """Run until a signal comes. measure: find the response time first, by a swing of 1.5 mm; connection: as open_rtde;
    say: told what the robot answered; options as apps.operate."""
    say = options.get("say", lambda text: None)
    arm = robot_model(model)
    device = open_rtde(host, arm, **{"rt_priority": COMMAND_PRIORITY} | dict(connection or {}))
    check_parameters(parameters, device.source, device.second_source)
    controller = AdmittanceController(arm, parameters)
    controller.configure(say)
    with device as robot:
        if robot.model is not arm:  # compiled above; now with the geometry of this very arm
            controller = AdmittanceController(robot.model, parameters)
            controller.configure()
        for sentence in robot.info.sentences:
            say(sentence)
        if measure:
            with realtime(LOOP_PRIORITY):
                response = measure_response(CalmArm(robot, robot.model, robot.period, robot.beat.wait))
            robot.stop()
            say(f"the arm responds after {1e3 * response.time:.0f} ms (robot.response_time)")
            controller.set_parameters({"robot.response_time": response.time})
        elif parameters.robot.response_time == 0.0:
            say("robot.response_time is unknown: 20 ms is assumed; measure it with --measure-response")
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
    check_parameters(controller.parameters, robot.source, robot.second_source)
    say = options.get("say", lambda text: None)
    _check_geometry(controller, robot, say)
    controller.expect_load()
    doubt = why = ""
    retry = Retry()
    if activate:
        retry.start(Mode.INACTIVE, controller.activate)

    def request(controller: Any, value: Any) -> str:
        """`reset_fault` after a stop of the robot or a lost connection first connects again, on this explicit request
        only; meanwhile (0.1 s to some seconds) nothing is sent. `unlock` releases a protective stop, and no more."""
        retry.cancel()
        if value == UNLOCK:
            return robot.unlock()
        if value != "reset_fault" or not robot.in_trouble:
            answer = apply_request(controller, value)
            if value == "activate":
                retry.start(Mode.INACTIVE, controller.activate)
            return answer
        for sentence in robot.recover().sentences:
            say(sentence)
        try:
            _check_geometry(controller, robot, say)
        except RobotError:
            robot.close()  # or the next reset would find nothing wrong
            raise
        retry.start(Mode.FAULT, lambda: controller.request(Request.RESET_FAULT))
        return "connected to the robot again; the fault is being reset, then the arm can be activated"

    def each_tick(controller: Any) -> bool | None:
        nonlocal doubt, why
        retry.on_tick(controller)
        if robot.doubt != doubt:
            doubt = robot.doubt
            say(doubt or "Our tool pose and the robot's agree again.")
        reason = robot.reason if controller.mode == Mode.FAULT else ""
        if reason != why:
            why = reason
            if why:
                say(f"Why: {why}.")
        return None if on_tick is None else on_tick(controller)

    options |= {"handlers": {"request": request}, "on_tick": each_tick}
    return operate(controller, robot, robot.clock(), model=controller.model.name, **options)


def _check_geometry(controller: AdmittanceController, robot: RtdeRobot, say: Callable[[str], None]) -> None:
    """The controller computes with the geometry of the arm that answers; RobotError: that of another type of arm."""
    off = apart(controller.model, robot.model)
    if off.exceeds(GROSS):
        raise RobotError(f"the controller's model is {off} from the arm at {robot.host}: that is another type of arm.")
    if off.exceeds(ALLOWED):
        say(f"The controller's model is {off} from this arm's own geometry: make the controller with robot.info.model.")
