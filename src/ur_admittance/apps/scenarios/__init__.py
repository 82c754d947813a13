"""Ready-made situations: each builds a world, lets the controller act in it and measures what happened."""

from collections.abc import Callable
from dataclasses import dataclass

from ur_admittance.apps.scenarios import free, insertion, limits, sensors, touching
from ur_admittance.apps.scenarios.outcome import Curve, Metric, Outcome
from ur_admittance.apps.scenarios.stage import Setup, Stage
from ur_admittance.errors import SimulationError
from ur_admittance.simulation import Trace

__all__ = ["SCENARIOS", "Curve", "Metric", "Outcome", "Scenario", "Setup", "Stage", "Trace", "run_scenario"]


@dataclass(frozen=True)
class Scenario:
    run: Callable[[Setup], Outcome]
    options: tuple[str, ...] = ()  # that this scenario understands

    @property
    def summary(self) -> str:
        """One line: the docstring."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


SCENARIOS: dict[str, Scenario] = {
    "push": Scenario(free.push),
    "spring": Scenario(free.spring),
    "hand_guiding": Scenario(free.hand_guiding),
    "wall": Scenario(touching.wall, ("stiffness", "speed", "hold")),
    "surface": Scenario(touching.surface, ("shape", "stiffness", "speed", "length")),
    "peg_in_hole": Scenario(insertion.peg_in_hole, ("stiffness",)),
    "singularity": Scenario(limits.singularity),
    "joint_limit": Scenario(limits.joint_limit),
    "workspace": Scenario(limits.workspace),
    "dropout": Scenario(limits.dropout),
    "two_sensors": Scenario(sensors.two_sensors, ("fault", "sensor")),
}


def run_scenario(name: str, setup: Setup) -> Outcome:
    """Run a scenario by name. SimulationError names what it does not know."""
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise SimulationError(f"scenario {name!r} is unknown: choose one of {', '.join(SCENARIOS)}.")
    for option in setup.options:
        if option not in scenario.options:
            allowed = ", ".join(scenario.options) or "none"
            raise SimulationError(
                f"scenario {name} has no option {option!r}: its options are {allowed}; parameters of the controller "
                "are changed with --set, such as --set admittance.stiffness=300."
            )
    return scenario.run(setup)
