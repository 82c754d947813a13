"""Ready-made situations: each builds a world, lets the controller act in it and measures what happened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ur_admittance.errors import ParameterError, SimulationError
from ur_admittance.given import Bounds
from ur_admittance.robots.simulated.second import KINDS
from ur_admittance_lab.episodes import Trace
from ur_admittance_lab.scenarios import (
    at_limits as limits,
)
from ur_admittance_lab.scenarios import (
    force_sensors as sensors,
)
from ur_admittance_lab.scenarios import (
    free,
    insertion,
)
from ur_admittance_lab.scenarios import (
    in_contact as touching,
)
from ur_admittance_lab.scenarios.outcome import Curve, Metric, Outcome
from ur_admittance_lab.scenarios.stage import Setup, Stage

__all__ = ["SCENARIOS", "Choice", "Curve", "Metric", "Outcome", "Scenario", "Setup", "Stage", "Trace", "run_scenario"]


@dataclass(frozen=True)
class Choice:
    """One of these words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return "|".join(self.words)

    def read(self, name: str, given: Any) -> str:
        if given not in self.words:
            raise ParameterError(f"{name} {given}: must be one of {', '.join(self.words)}.")
        return str(given)


@dataclass(frozen=True)
class Scenario:
    run: Callable[[Setup], Outcome]
    options: Mapping[str, Bounds | Choice] = field(default_factory=dict)  # that this scenario understands

    @property
    def summary(self) -> str:
        """One line: the docstring."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


STIFFNESS, SPEED = Bounds(1.0, 1e8, "N/m"), Bounds(1e-3, 0.5, "m/s")  # of what is touched; of the tool

SCENARIOS: dict[str, Scenario] = {
    "push": Scenario(free.push),
    "spring": Scenario(free.spring),
    "hand_guiding": Scenario(free.hand_guiding),
    "wall": Scenario(touching.wall, {"stiffness": STIFFNESS, "speed": SPEED, "hold": Bounds(1.0, 3600.0, "s")}),
    "surface": Scenario(
        touching.surface,
        {
            "shape": Choice(touching.SHAPES),
            "stiffness": STIFFNESS,
            "speed": SPEED,
            "length": Bounds(0.02, 0.5, "m"),
        },
    ),
    "peg_in_hole": Scenario(insertion.peg_in_hole, {"stiffness": STIFFNESS}),
    "singularity": Scenario(limits.singularity),
    "joint_limit": Scenario(limits.joint_limit),
    "workspace": Scenario(limits.workspace),
    "dropout": Scenario(limits.dropout),
    "two_sensors": Scenario(sensors.two_sensors, {"fault": Choice(KINDS), "sensor": Choice(("first", "second"))}),
}


def run_scenario(name: str, setup: Setup) -> Outcome:
    """Run a scenario by name. SimulationError names what it does not know."""
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise SimulationError(f"scenario {name!r} is unknown: choose one of {', '.join(SCENARIOS)}.")
    options = {}
    for option, given in setup.options.items():
        if option not in scenario.options:
            allowed = ", ".join(scenario.options) or "none"
            raise SimulationError(
                f"scenario {name} has no option {option!r}: its options are {allowed}; parameters of the controller "
                "are changed with --set, such as --set admittance.stiffness=300."
            )
        options[option] = scenario.options[option].read(f"option {option}:", given)
    return scenario.run(replace(setup, options=options))
