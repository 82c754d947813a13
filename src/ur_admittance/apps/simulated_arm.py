"""A simulated UR made compliant in real time, open to other processes. What `demo` and `run --robot sim` do."""

from collections.abc import Callable
from typing import Any

from ur_admittance.apps.interactive_world import InteractiveWorld
from ur_admittance.apps.operate import operate
from ur_admittance.apps.scenarios.sensors import SECOND
from ur_admittance.apps.scenarios.stage import NOISE, SERVO, TOOL
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.runtime import registry
from ur_admittance.runtime.report import LoopReport
from ur_admittance.simulation.environment import Environment
from ur_admittance.simulation.robot import SimulatedRobot
from ur_admittance.simulation.world import World


def simulated_parameters(parameters: Parameters | None = None) -> Parameters:
    """With what a user would have found by calibration: tool, TCP, response time of the simulated arm."""
    chosen = parameters or Parameters()
    known = TOOL.parameters() | {"robot.response_time": SERVO.response_time}
    return chosen.changed(known | (SECOND.parameters(TOOL) if chosen.second.source else {}))


def run_simulated(
    model: str = "ur5e",
    parameters: Parameters | None = None,
    *,
    name: str = registry.DEFAULT_NAME,
    environment: Environment | None = None,
    activate: bool = True,
    restless: bool = False,
    say: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> LoopReport:
    """Run until a signal comes; other processes see it and touch it under `name`.

    restless: the hand pushes by itself until somebody takes over; say: told what is being loaded; options as
    apps.operate (duration, log, priority ...).
    """
    say(f"building the simulated {model} (the first run compiles its physics: half a minute)")
    arm = robot_model(model)
    chosen = simulated_parameters(parameters)
    period = 1.0 / chosen.control_rate
    second = SECOND if chosen.second.source else None
    robot = SimulatedRobot(World(arm, TOOL, environment, SERVO, NOISE, second=second), period, realtime=True)
    live = InteractiveWorld(robot, restless=restless)
    robot.world.step(robot.world.q, None, period)
    robot.world.reset()
    say("loading the controller (the first run compiles it: one to two minutes)")
    controller = AdmittanceController(arm, chosen)
    controller.configure()
    if activate:
        controller.activate()
    with robot:
        return operate(
            controller,
            robot,
            robot.clock(),
            model=model,
            name=name,
            handlers=live.handlers,
            on_tick=live.on_tick,
            say=say,
            **options,
        )
