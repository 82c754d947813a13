"""A stage for a scenario: world, controller and robot in lock-step, with everything that happened kept as a trace."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import SimulationError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.recording.recorder import Recorder
from ur_admittance.robots.simulated import Environment, FtSensor, SecondSensor, Servo, Tool, World
from ur_admittance.robots.simulated.devices import NOISE, SERVO, STEADY_HAND
from ur_admittance.robots.simulated.hand import Path as HandPath
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot
from ur_admittance.runtime.interfaces import Publisher
from ur_admittance.runtime.loop import Loop
from ur_admittance_lab.episodes.trace import Keeper, Trace
from ur_admittance_lab.twin import Twin

Array = NDArray[np.float64]
Script = Callable[["Stage", float], None]  # called before every cycle with the time since the start of the phase [s]

TOOL = Tool(mass=1.0)


@dataclass(frozen=True)
class Setup:
    """What the user chooses for any scenario."""

    robot: str = "ur5e"
    changes: dict[str, Any] = field(default_factory=dict)  # dotted parameters on top of the scenario's own
    preset: Parameters | None = None  # in place of the scenario's own parameters
    seed: int = 0
    log: Path | None = None
    progress: Callable[[float, float], None] | None = None  # simulated time and its end [s]
    options: dict[str, Any] = field(default_factory=dict)  # of this scenario: stiffness, speed, shape ...
    twin: Twin | None = None  # an arm that was identified, in place of the usual servo, sensor and tool


class Stage:
    """The arm of a scenario, active and at rest when it is ready."""

    def __init__(
        self,
        setup: Setup,
        parameters: dict[str, Any] | None = None,
        *,
        environment: Environment | None = None,
        tool: Tool | None = None,
        servo: Servo | None = None,
        sensor: FtSensor | None = None,
        second: SecondSensor | None = None,
        q: ArrayLike | None = None,
        duration: float = 10.0,
    ) -> None:
        """tool, servo, sensor: default: those of the twin, or TOOL, SERVO and NOISE."""
        self.setup = setup
        self.model = robot_model(setup.robot)
        twin = setup.twin
        tool = tool or (twin.tool() if twin else TOOL)
        servo = servo or (twin.servo() if twin else SERVO)
        sensor = sensor or (twin.sensor() if twin else NOISE)
        known = tool.parameters() | STEADY_HAND | {"robot.response_time": servo.response_time}
        known |= second.parameters(tool) if second is not None else {}
        chosen = setup.preset or Parameters().changed(parameters or {})
        self.parameters = chosen.changed(known).changed(setup.changes)
        self.period = 1.0 / self.parameters.control_rate
        self.world = World(self.model, tool, environment, servo, sensor, setup.seed, second=second)
        self.world.reset(q)
        self.robot = SimulatedRobot(self.world, self.period)
        self.controller = AdmittanceController(self.model, self.parameters)
        self.controller.configure()
        self.duration = duration  # [s] simulated, for the progress bar
        self._recorder = Recorder(setup.log, model=setup.robot, rate=1.0 / self.period) if setup.log else None
        self._kept = Keeper(self.world)
        publishers: list[Publisher] = [self._kept, *([self._recorder] if self._recorder else [])]
        self._loop = Loop(self.controller, self.robot, self.robot.clock(), publishers)
        self.robot.connect()
        self._loop.clock.start()
        self.run(0.02)  # the first cycles load compiled code
        self._started = time.perf_counter()
        self.controller.activate()
        self.run(0.5)

    @property
    def time(self) -> float:
        """Simulated time since the stage was built [s]."""
        return self._loop.ticks * self.period

    @property
    def position(self) -> Array:
        """Measured TCP position (3,) [m]."""
        return np.array(self.controller.command["p_tcp"], dtype=np.float64)

    def run(self, seconds: float, script: Script | None = None, until: Callable[["Stage"], bool] | None = None) -> bool:
        """Simulate. Ends early, with True, when ``until`` holds."""
        begin = self._loop.ticks
        for _ in range(round(seconds / self.period)):
            if script is not None:
                script(self, (self._loop.ticks - begin) * self.period)
            self._loop.cycle()
            if self.setup.progress is not None and self._loop.ticks % 250 == 0:
                self.setup.progress(min(self.time, self.duration), self.duration)
            if until is not None and until(self):
                return True
        return False

    def push(self, seconds: float, wrench: ArrayLike) -> None:
        """The hand pushes with a constant wrench (6,) [N, Nm] about the TCP, base axes, then lets go."""
        self.world.push(wrench)
        self.run(seconds)
        self.world.let_go()

    def finish(self) -> "Trace":
        """Slow down, stop, close the log."""
        self._loop.come_to_rest()
        wall = time.perf_counter() - self._started
        try:
            self.robot.stop()
        finally:
            if self._recorder is not None:
                self._recorder.close()
        trace = self._kept.trace(self.period, self.parameters, (self.time - 0.02) / wall)
        return replace(trace, recording_problem=self._recorder.problem if self._recorder is not None else "")


def waypoints(times: Sequence[float], displacements: ArrayLike) -> HandPath:
    """A path through displacements (n, 6) at the given times [s], at rest at each (minimum jerk between them)."""
    t, x = np.asarray(times, dtype=float), np.asarray(displacements, dtype=float)
    if x.shape != (len(t), 6) or np.any(np.diff(t) <= 0.0):
        raise SimulationError(f"waypoints: {len(t)} rising times need displacements ({len(t)}, 6), not {x.shape}.")

    def path(time: float) -> Array:
        i = int(np.clip(np.searchsorted(t, time) - 1, 0, max(len(t) - 2, 0)))
        if len(t) == 1:
            return np.array(x[0])
        s = float(np.clip((time - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0))
        blend = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        return np.asarray(x[i] + blend * (x[i + 1] - x[i]))

    return path
