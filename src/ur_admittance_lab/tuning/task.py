"""What a task is: how its cases are drawn, what is measured in them, what may be turned, and what it competes with."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode
from ur_admittance.params import Parameters, preset
from ur_admittance_lab.episodes import Case, Script, Trace
from ur_admittance_lab.tuning.knowledge import Joints, Knowledge
from ur_admittance_lab.tuning.score import Figure
from ur_admittance_lab.tuning.unknowns import Unknown, changes, response_time

Array = NDArray[np.float64]

PLAIN: dict[str, Any] = {  # the law alone, as in a textbook
    "contact.stabilizer": False,
    "admittance.bias_time": 0.0,
    "control_frame": "base",
    "admittance.compensate_mass": False,
    "tool.inertia_compensation": False,
}
SEARCH, FRESH = 0, 1  # streams of random numbers: cases of the search and of the certificate are never the same
STREAMS = 2
CORNERS = ((True, True), (False, True), (True, False), (False, False))  # stiffest, latest: the hardest first
DIGITS = 4  # of an unknown; more would mean nothing
LARGEST_SEED = 2**30  # seed, stream and index share the 63 bits of a case's seed
PHYSICS_RATE = 1000.0  # [Hz] the simulated delay is a whole number of its steps
SOME = 1.0  # [s] any length: the task puts its own script in
ACTIVATED = 0.1  # [s] when every episode begins to move
STOPPED = Figure("-", 0.1, 0.0, "share of the time that the arm stood still after a fault")


@dataclass(frozen=True)
class Task(ABC):
    """One of press, follow, insert, guide, for what the user knows."""

    knowledge: Knowledge

    name: ClassVar[str] = ""
    uses: ClassVar[tuple[str, ...]] = ("force",)  # of force and speed
    presets: ClassVar[tuple[str, ...]] = ()  # for this kind of task

    @property
    @abstractmethod
    def figures(self) -> dict[str, Figure]:
        """What is measured, with scales and limits."""

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        return (*self._unknowns(), *response_time(self.knowledge))

    @abstractmethod
    def _unknowns(self) -> list[Unknown]: ...

    @abstractmethod
    def fixed(self) -> dict[str, Any]:
        """Parameters that make it this task, by dotted name."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, case: Case) -> Case:
        """Script, environment and pose of a case whose arm and tool are drawn already."""

    @abstractmethod
    def measure(self, case: Case, trace: Trace) -> dict[str, float]:
        """The figures of one case."""

    @abstractmethod
    def curve(self, case: Case, trace: Trace) -> tuple[str, Array]:
        """What a picture of a case shows over time: label with unit, values."""

    def ranges(self) -> str:
        """What everything here holds for, in words."""
        k = self.knowledge
        parts = [
            ", ".join(k.robots),
            f"surfaces of {k.stiffness.text('N/m')}",
            f"a delay of {k.delay.text('ms', 1e3)}",
            f"a tool of {k.mass.text('kg')}",
            *([f"{k.force:g} N"] if "force" in self.uses else []),
            *([k.speed.text("mm/s", 1e3)] if "speed" in self.uses else []),
            f"{len(k.poses)} given poses" if k.poses else "poses with the tool down",
        ]
        return "; ".join(parts)

    @property
    def reserve(self) -> float:
        """By which the damping in contact must exceed what the stability model needs."""
        return self.knowledge.reserve

    @property
    def largest_force(self) -> float:
        """Contact force [N] that still keeps the limits."""
        return math.inf

    @property
    def slowest_settling(self) -> float:
        """Time constant [s] of the force with which the limits can just be kept."""
        return math.inf

    def touched(self, case: Case) -> float:
        """Stiffness [N/m] that the stability model is asked about."""
        return case.environment.stiffness

    def case(self, seed: int, stream: int, index: int) -> Case:
        """Case `index` of a stream, with the base parameters. Robots take turns; the search begins with the corners of
        the ranges, which chance alone would hardly meet."""
        k = self.knowledge
        rng = np.random.default_rng([seed, stream, index])
        delay, mass = k.delay.stepwise(rng, PHYSICS_RATE), k.mass.uniform(rng)
        case = Case(
            script=self.script(SOME),
            parameters=k.base,
            robot=k.robots[index % len(k.robots)],
            tool=replace(k.tool, mass=mass),
            servo=replace(k.servo, delay=delay),
            sensor=k.sensor,
            q=self._pose(rng),
            seed=(seed * STREAMS + stream) * 2**32 + index,
        )
        case = self._draw(rng, case)
        corner = index // len(k.robots)
        if stream == SEARCH and corner < len(CORNERS):
            case = self.at_corner(case, *CORNERS[corner])
        return case

    def at_corner(self, case: Case, stiff: bool, late: bool) -> Case:
        """The case on the softest or stiffest surface, with the shortest or longest delay."""
        stiffness, delay = self.knowledge.stiffness, self.knowledge.delay
        return replace(
            case,
            environment=replace(case.environment, stiffness=stiffness.high if stiff else stiffness.low),
            servo=replace(case.servo, delay=delay.last(PHYSICS_RATE) if late else delay.first(PHYSICS_RATE)),
        )

    def _pose(self, rng: np.random.Generator) -> Joints:
        poses = self.knowledge.poses
        spread = tool_down(rng)  # drawn in any case: a given pose changes nothing else
        return poses[int(rng.integers(len(poses)))] if poses else spread

    def script(self, seconds: float) -> Script:
        """An episode that begins to move at ACTIVATED."""
        script = Script(seconds, 1.0 / self.knowledge.base.control_rate)
        script.activate(ACTIVATED, accept_load=True)
        return script

    def candidate(self, values: Mapping[str, float]) -> Parameters:
        """Parameters of a candidate of the search, each number with DIGITS digits: a file that people can read."""
        short = {name: float(f"{value:.{DIGITS}g}") for name, value in values.items()}
        return self.complete(self.knowledge.base).changed(changes(self.unknowns, short))

    def complete(self, parameters: Parameters) -> Parameters:
        """With what makes it this task, and the response time that follows from the range of the delay."""
        k = self.knowledge
        known = {"robot.response_time": k.response_time(k.delay.middle), "tool.inertia_compensation": True}
        return parameters.changed(known | self.fixed())

    def rivals(self) -> dict[str, Parameters]:
        """What the search has to beat: the presets, the defaults, and plain admittance."""
        base = self.knowledge.base
        cell = {"control_rate": base.control_rate, "gravity": base.gravity}  # of the same arm, mounted the same way
        named = {f"preset {name}": preset(name).changed(cell) for name in self.presets}
        ours = {name: self.complete(p) for name, p in (named | {"defaults": base}).items()}
        return ours | {"plain admittance": self.complete(Parameters().changed(cell)).changed(PLAIN)}


def with_parameters(case: Case, parameters: Parameters) -> Case:
    """The case with these parameters and what calibration finds of its tool and its sensor."""
    found = case.tool.parameters(case.sensor) | case.sensor.parameters()
    del found["tool.inertia_compensation"]  # a choice, not a finding
    found["sensor.auto_zero"] = False  # its bias is known here, as after a zeroing
    return replace(case, parameters=parameters.changed(found))


def tool_down(rng: np.random.Generator) -> Joints:
    """A pose in the middle of the reach, the tool pointing down, any direction around the base."""
    pan, turn = rng.uniform(-math.pi, math.pi, 2)
    lift, elbow = rng.uniform(-2.1, -1.4), rng.uniform(1.3, 2.1)
    return (float(pan), float(lift), float(elbow), float(-math.pi / 2 - lift - elbow), -math.pi / 2, float(turn))


def stopped_share(case: Case, trace: Trace) -> float:
    """Share of the episode after the first fault; an episode that diverged is all stopped."""
    if trace.diverged:
        return 1.0
    faults = np.flatnonzero(trace.command["mode"] == Mode.FAULT)
    return float(1.0 - faults[0] / len(trace.command)) if len(faults) else 0.0
