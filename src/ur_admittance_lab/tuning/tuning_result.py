"""What tune writes: the parameter file, and the summary from which everything in the report can be read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ur_admittance import __version__
from ur_admittance.errors import ParameterError
from ur_admittance.outputs import at_once
from ur_admittance.params import Parameters
from ur_admittance.params.yaml import dump_parameters
from ur_admittance_lab.tuning.certificate import Certificate
from ur_admittance_lab.tuning.optimise import Budget, Found
from ur_admittance_lab.tuning.task import Task

ALWAYS = ("robot.response_time", "tool.inertia_compensation")  # part of what was certified
OF_TOOL = ("tool.mass", "tool.center_of_mass", "tool.tcp")
DECIMALS = 9  # [m] what turning a position into another frame may add beyond is not worth showing


@dataclass(frozen=True)
class Rival:
    """Parameters on the compared cases: the first ones of the certificate."""

    name: str
    parameters: Parameters
    results: list[dict[str, float]]
    costs: list[float]
    certificate: Certificate


@dataclass(frozen=True)
class Result:
    task: Task
    seed: int
    budget: Budget
    found: Found
    certificate: Certificate | None = None  # None: interrupted before
    contest: tuple[Rival, ...] = ()  # the tuned parameters first
    seconds: float = 0.0  # search, certificate and comparison

    def summary(self) -> dict[str, Any]:
        figures = self.task.figures
        return {
            "task": self.task.name,
            "seed": self.seed,
            "cases": self.budget.cases,
            "trials": self.found.trials,
            "refused": self.found.refused,
            "simulations": self.found.simulated,
            "search_seconds": round(self.found.seconds, 1),
            "seconds": round(self.seconds, 1),
            "interrupted": self.found.interrupted,
            "score": self.found.score,
            "values": {
                u.name: {"value": self.found.values[u.name], "unit": u.unit, "searched": [u.low, u.high]}
                for u in self.task.unknowns
            },
            "figures": {
                name: {"unit": f.unit, "limit": f.limit if f.limit < 1e300 else None, "meaning": f.meaning}
                for name, f in figures.items()
            },
            "holds_for": self.task.knowledge.as_dict(),
            "certificate": None if self.certificate is None else self.certificate.as_dict(),
            "contest": {
                rival.name: {
                    "cases": rival.certificate.cases,
                    "failed": rival.certificate.failed,
                    "worst_tenth": rival.certificate.worst_tenth,
                    "worst": rival.certificate.worst,
                }
                for rival in self.contest
            },
        }


def parameter_text(result: Result) -> str:
    """A file for run, sim and the ROS node: what was tuned, what the task needs, what the user gave."""
    task, parameters = result.task, result.found.parameters
    known = task.knowledge
    if known.mass.known:  # the sensor stays that of the user's file: bias, sign and mounting are of the real one
        tool = known.tool.parameters(known.sensor) | {"tool.mass": known.mass.low}
        tool["tool.center_of_mass"] = [round(x, DECIMALS) + 0.0 for x in tool["tool.center_of_mass"]]
        parameters = parameters.changed(tool)
    defaults = Parameters().flat()
    changed = {name for name, value in parameters.flat().items() if value != defaults[name]}
    names = changed | {*ALWAYS, *task.fixed()} | ({*OF_TOOL} if known.mass.known else set())
    return _header(result) + dump_parameters(parameters, names=names)


def _header(result: Result) -> str:
    task, found, known = result.task, result.found, result.task.knowledge
    lines = [
        f"Made by `ur-admittance tune {task.name}`, version {__version__}, seed {result.seed}:",
        f"the best of {found.trials} candidates on {result.budget.cases} cases.",
        f"For {task.ranges()}.",
        "No certificate: the command was interrupted."
        if result.certificate is None
        else f"In simulation, {result.certificate.sentence()}.",
    ]
    if found.hopeless:
        lines.append(
            "No candidate had the demanded reserve (--reserve): this one was refused, not simulated, in the search."
        )
    if not known.mass.known and known.base.tool == Parameters().tool:
        lines.append("The tool's mass, centre and TCP are not in this file: include your calibration.")
    return "".join(f"# {line}\n" for line in lines)


def make_folder(path: Path) -> None:
    """In which the file will be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{path.parent}: cannot be made ({error.strerror}).") from None


def write_text(path: Path, text: str) -> None:
    make_folder(path)
    try:
        with at_once(path) as file:
            file.write(text)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror}).") from None
