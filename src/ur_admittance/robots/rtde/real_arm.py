"""A real UR made compliant: connect, check, run, stop. What `run --robot ADDRESS` does."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.response import measure_response
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Request
from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.connect import open_rtde
from ur_admittance.robots.operate import LOOP_PRIORITY, Operation, operate
from ur_admittance.robots.rtde.arm_geometry import ALLOWED, GROSS, apart
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.tool import check_parameters
from ur_admittance.runtime.interfaces import OnTick
from ur_admittance.runtime.mailbox import ACTIVATIONS, UNLOCK, apply_request
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport

LOOK_TIME = 3.0  # [s] in which an arm is seen at rest for half a second
UNSEEN = "the arm was not seen at rest for half a second, with a reading that does not leap"
RETRIES = 250  # ticks: half a second at 500 Hz
COMMAND_PRIORITY = 60  # of ur_rtde's process, above the loop's own: what the loop has sent goes out at once


def run_real(
    host: str,
    model: str,
    parameters: Parameters,
    *,
    activate: bool = True,
    accept: Collection[str] = (),
    ask: Callable[[], None] | None = None,
    measure: bool = False,
    connection: Mapping[str, Any] | None = None,
    **options: Any,
) -> LoopReport:
    """Run until a signal comes. accept: as drive_rtde; ask: called before the arm may comply, once it was seen at rest
    without a doubt; may raise. measure: find the response time first, by a swing of 1.5 mm; connection: as open_rtde;
    say: receives what the robot answered; options as robots.operate."""
    say = options.get("say", lambda text: None)
    arm = robot_model(model)
    device = open_rtde(host, arm, **{"rt_priority": COMMAND_PRIORITY} | dict(connection or {}))
    check_parameters(parameters, device.source, device.second_source)
    controller = AdmittanceController(arm, parameters)
    controller.configure(say)
    if activate and ask is not None:  # disconnected meanwhile: a robot does not wait for an answer
        with device as robot:
            for sentence in robot.info.sentences:
                say(sentence)
            activate = _seen_fit(controller, robot, accept, say)
        if activate:
            ask()
    with device as robot:
        if robot.model is not arm:  # compiled above; now with the geometry of this very arm
            controller = AdmittanceController(robot.model, parameters)
            controller.configure()
        for sentence in () if ask is not None else robot.info.sentences:
            say(sentence)
        if measure:
            with realtime(LOOP_PRIORITY):
                response = measure_response(CalmArm(robot, robot.model, robot.period, robot.beat.wait))
            robot.stop()
            say(f"the arm responds after {1e3 * response.time:.0f} ms (robot.response_time)")
            controller.set_parameters({"robot.response_time": response.time})
        elif parameters.robot.response_time == 0.0:
            say("robot.response_time is unknown: 20 ms is assumed; measure it with --measure-response")
        return drive_rtde(controller, robot, activate=activate, accept=accept, **options)


def drive_rtde(
    controller: AdmittanceController,
    robot: RtdeRobot,
    *,
    activate: bool,
    accept: Collection[str] = (),
    on_tick: OnTick | None = None,
    **options: Any,
) -> LoopReport:
    """The robot is connected, the controller configured; the robot sets the pace. Options as robots.operate.operate.

    activate: comply, once the arm was seen at rest and nothing is doubtful; accept: doubts that somebody has looked at:
    `load` (a force at rest that nothing explains), `geometry` (our tool pose is not the robot's)."""
    check_parameters(controller.parameters, robot.source, robot.second_source)
    say = options.get("say", lambda text: None)
    model_doubt = _check_geometry(controller, robot)
    if model_doubt:
        say(model_doubt)
    controller.expect_load()
    controller.forget_rest()
    doubt = why = ""
    slider = robot.slider
    looked = 0.0  # [s] by the robot's time, which its slider stretches
    accept_load = "load" in accept
    resets = 0  # how often a reset is still asked for: the first cycles after a pause do not obey

    def request(controller: Any, value: Any) -> str:
        """`reset_fault` after a stop of the robot or a lost connection first connects again, on this explicit request
        only; meanwhile (0.1 s to some seconds) nothing is sent. `unlock` releases a protective stop, and no more."""
        nonlocal activate, accept_load, looked, resets, model_doubt
        activate, resets = False, 0
        if value == UNLOCK:
            if controller.mode == Mode.ACTIVE:
                raise LifecycleError("unlock: the arm is active, so it is not in a protective stop.")
            return robot.unlock()
        if value in ACTIVATIONS and controller.mode == Mode.INACTIVE and not controller.seen_at_rest:
            accept_load = value != "activate"
            controller.check_activation(accept_load)
            activate, looked = True, 0.0
            return f"{value} requested: the arm complies once it was seen at rest for half a second"
        if value != "reset_fault" or not robot.in_trouble:
            return apply_request(controller, value)
        controller.deactivate()  # an activation that was asked for before does not come after the reset
        for sentence in robot.recover().sentences:
            say(sentence)
        try:
            model_doubt = _check_geometry(controller, robot)
        except RobotError:
            robot.close()  # or the next reset would find nothing wrong
            raise
        resets = RETRIES
        return "connected to the robot again; the fault is being reset, then the arm can be activated"

    def each_tick(controller: Any) -> bool | None:
        nonlocal doubt, why, slider, activate, resets, looked
        if robot.doubt != doubt:
            doubt = robot.doubt
            say(doubt or "Our tool pose and the robot's agree again.")
        controller.outside_doubt = "" if "geometry" in accept else doubt or model_doubt
        resets = resets - 1 if resets > 0 and controller.mode == Mode.FAULT else 0
        if resets:
            controller.request(Request.RESET_FAULT)
        looked += float(controller.sample["dt"])
        if activate and looked > LOOK_TIME and not controller.seen_at_rest:
            activate = False
            say(f"Not activated, the arm holds still: {UNSEEN} ({controller.reason}).")
        if activate and controller.seen_at_rest:
            activate = False
            try:
                controller.activate(accept_load=accept_load)
            except LifecycleError as error:
                say(f"Not activated, the arm holds still: {error}")
        reason = robot.reason if controller.mode == Mode.FAULT else ""
        if reason != why:
            why = controller.robot_says = reason
            if why:
                say(f"Why: {why}.")
        if robot.slider != slider:
            slider = robot.slider
            say(robot.slider_sentence)
        return None if on_tick is None else on_tick(controller)

    options |= {"handlers": {"request": request}, "on_tick": each_tick}
    return operate(controller, robot, robot.clock(), Operation(controller.model.name, **options))


def _seen_fit(
    controller: AdmittanceController, robot: RtdeRobot, accept: Collection[str], say: Callable[[str], None]
) -> bool:
    """Whether the arm may comply, by half a second at rest. Nothing is sent."""
    for _ in range(round(LOOK_TIME / robot.period)):
        if controller.seen_at_rest:
            break
        robot.beat.wait()
        robot.read(controller.sample)
        controller.update()
    try:
        controller.check_activation("load" in accept)
    except LifecycleError as error:
        say(f"Not activated, the arm holds still: {error}")
        return False
    return True


def _check_geometry(controller: AdmittanceController, robot: RtdeRobot) -> str:
    """A doubt whether the controller computes with the geometry of the arm that answers; RobotError: that of another
    type of arm."""
    off = apart(controller.model, robot.model)
    if off.exceeds(GROSS):
        raise RobotError(f"the controller's model is {off} from the arm at {robot.host}: that is another type of arm.")
    if off.exceeds(ALLOWED):
        return (
            f"The controller's model is {off} from this arm's own geometry: make the controller with robot.info.model."
        )
    return ""
