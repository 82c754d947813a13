"""A case of a batch run once more through the normal control loop, with a recording: for `replay`, `why` and plots."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Request
from ur_admittance.errors import SimulationError
from ur_admittance.recording.recorder import Recorder
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.robots.simulated.kernels import holding as hand
from ur_admittance.runtime.interfaces import Publisher
from ur_admittance.runtime.loop import Loop
from ur_admittance_lab.episodes import Case, Trace
from ur_admittance_lab.episodes.script import FAULTS
from ur_admittance_lab.episodes.trace import Keeper

FAULT_NAMES = {number: name for name, number in FAULTS.items()}


def record_case(case: Case, log: Path | None = None) -> Trace:
    """The same bits as ``simulate([case])``, cycle by cycle in Python; ``log``: a recording of it (.mcap), complete or
    a LogError."""
    world = case.world()
    robot = SimulatedRobot(world, case.script.period)
    controller = AdmittanceController(world.model, case.parameters)
    controller.configure()
    keeper = Keeper(world)
    recorder = Recorder(log, model=world.model.name, rate=1.0 / case.script.period) if log is not None else None
    publishers: list[Publisher] = [keeper, *([recorder] if recorder else [])]
    loop = Loop(controller, robot, robot.clock(), publishers)
    player = _Player(case, world, robot, controller)
    diverged = False
    with recorder or nullcontext():
        try:
            robot.connect()
            loop.clock.start()
            for row in case.script.rows:
                player.play(row)
                loop.cycle()
        except SimulationError:
            diverged = True
    return replace(keeper.trace(case.script.period, case.parameters), diverged=diverged)


class _Player:
    """Does to world, robot and controller what a row says, as a program in charge of them would."""

    def __init__(self, case: Case, world: World, robot: SimulatedRobot, controller: AdmittanceController) -> None:
        self._sets = (case.parameters, *case.changes)
        self._world, self._robot, self._controller = world, robot, controller
        self._hand = self._fault = self._set = 0
        self._values = np.zeros(6)

    def play(self, row: np.void) -> None:
        controller, world = self._controller, self._world
        if row["fault"] != self._fault:
            self._fault = int(row["fault"])
            self._change_fault()
        self._values[:] = row["hand_values"]
        if row["hand"] != self._hand:
            self._hand = int(row["hand"])
            if self._hand == hand.PUSHES:
                world.push(lambda t: self._values)
            elif self._hand == hand.HOLDS:
                grip = (tuple(row["hand_stiffness"]), tuple(row["hand_damping"]))
                world.grab(lambda t: self._values, stiffness=grip[0], damping=grip[1])
            else:
                world.let_go()
        if row["parameters"] != self._set:
            self._set = int(row["parameters"])
            controller.replace_parameters(self._sets[self._set])
        for name in ("reference_twist", "reference_wrench"):  # as they are, without an end
            controller.sample[name] = row[name]
        controller.request(Request(int(row["request"])))

    def _change_fault(self) -> None:
        robot = self._robot
        robot.restore()
        name = FAULT_NAMES.get(self._fault, "")
        if name == "nan_wrench":
            robot.corrupt("wrench")
        elif name == "nan_joints":
            robot.corrupt("q")
        elif name:
            actions = {"wrench_lost": robot.drop_wrench, "joints_lost": robot.drop_joints, "frozen": robot.freeze}
            actions.get(name, robot.protective_stop)()
