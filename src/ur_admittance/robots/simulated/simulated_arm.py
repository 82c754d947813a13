"""A simulated UR made compliant in real time, open to other processes. What `demo` and `run --robot sim` do."""

import contextlib
from collections.abc import Callable, Collection
from typing import Any

from ur_admittance.control import AdmittanceController
from ur_admittance.first_start import SIMULATION, in_words, prepare
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.operate import Operation, operate
from ur_admittance.robots.simulated.devices import NOISE, SERVO, TOOLS, Tool
from ur_admittance.robots.simulated.interactive_world import InteractiveWorld
from ur_admittance.robots.simulated.second import SECOND
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot
from ur_admittance.robots.simulated.world import World
from ur_admittance.runtime.report import LoopReport


def simulated_parameters(parameters: Parameters | None = None, tool: Tool = TOOLS["probe"].tool) -> Parameters:
    """With what a user would have found by calibration: tool, TCP, response time of the simulated arm."""
    chosen = parameters or Parameters()
    known = tool.parameters() | {"robot.response_time": SERVO.response_time}
    return chosen.changed(known | (SECOND.parameters(tool) if chosen.second.source else {}))


def run_simulated(
    model: str = "ur5e",
    parameters: Parameters | None = None,
    *,
    activate: bool = True,
    accept: Collection[str] = (),
    restless: bool = False,
    choice: bool = False,
    say: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> LoopReport:
    """Run until a signal comes; other processes see it and touch it.

    restless: the hand pushes by itself until somebody takes over; choice: another arm or tool may be asked for, which
    starts over with it and the same parameters; say: receives what is being loaded; options: fields of `Operation`
    (name, duration, priority, beside ...).
    """
    tool = TOOLS["probe"]
    prepare(in_words(say), [SIMULATION])
    while True:
        arm = robot_model(model)
        say(f"building the simulated {arm.name}")
        chosen = simulated_parameters(parameters, tool.tool)
        period = 1.0 / chosen.control_rate
        second = SECOND if chosen.second.source else None
        world = World(arm, tool.tool, None, SERVO, NOISE, second=second)
        robot = SimulatedRobot(world, period, realtime=True)
        live = InteractiveWorld(robot, restless, tool, choice)
        robot.world.step(robot.world.q, None, period)
        robot.world.reset()
        say("loading the controller")
        controller = AdmittanceController(arm, chosen)
        controller.configure()
        if activate:
            controller.activate(accept_load="load" in accept)
        with robot:
            how = Operation(arm.name, handlers=live.handlers, on_tick=live.on_tick, say=say, **options)
            report = operate(controller, robot, robot.clock(), how)
        if live.wanted is None:
            return report
        model, tool = live.wanted
        restless, options["beside"] = False, contextlib.nullcontext
