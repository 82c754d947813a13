"""The report directory: report.md, summary.json, figure.png, and the worst case as a recording."""

import json
from pathlib import Path

from ur_admittance import figures
from ur_admittance.errors import ParameterError, SimulationError
from ur_admittance_lab.episodes import Trace, simulate
from ur_admittance_lab.episodes.record_case import record_case
from ur_admittance_lab.tuning.certificate import percent_up
from ur_admittance_lab.tuning.task import FRESH, with_parameters
from ur_admittance_lab.tuning.tuning_figure import draw
from ur_admittance_lab.tuning.tuning_result import Result, Rival, write_text


def write_report(result: Result, folder: Path) -> list[Path]:
    """All files of the report, in a new or empty folder."""
    _need_empty(folder)
    if result.certificate is None:
        raise ParameterError("a search that was interrupted has no report; go on with --resume.")
    paths = {name: folder / name for name in ("report.md", "summary.json", "figure.png", "worst_case.mcap")}
    write_text(paths["summary.json"], json.dumps(result.summary(), indent=2) + "\n")
    write_text(paths["report.md"], markdown(result))
    figures.save(draw(result, worst_traces(result)), paths["figure.png"], SimulationError, dpi=130)
    case = result.task.case(result.seed, FRESH, result.certificate.worst_case)
    record_case(with_parameters(case, result.found.parameters), paths["worst_case.mcap"])
    return list(paths.values())


def check_folder(folder: Path, out: Path) -> None:
    """Before the search: nothing is overwritten, and the report can be written when it is done."""
    _need_empty(folder)
    if folder.resolve() == out.parent.resolve():
        raise ParameterError(f"--report {folder}: must be another folder than that of --out.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".part"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ParameterError(f"--report {folder}: cannot be written ({error.strerror}).") from None


def _need_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"--report {folder}: must be a new or empty folder.")


def worst_traces(result: Result) -> dict[str, Trace]:
    """The worst fresh case of the tuned parameters, run by them, by their best rival and by plain admittance."""
    assert result.certificate is not None
    case = result.task.case(result.seed, FRESH, result.certificate.worst_case)
    tuned, *presets, plain = result.contest
    best = min(presets, key=lambda rival: sum(rival.costs))
    shown: list[Rival] = [tuned, best, plain]
    traces = simulate([with_parameters(case, rival.parameters) for rival in shown])
    return {rival.name: trace for rival, trace in zip(shown, traces, strict=True)}


def markdown(result: Result) -> str:
    assert result.certificate is not None
    task, found, certificate = result.task, result.found, result.certificate
    lines = [
        f"# tune {task.name}",
        "",
        f"{certificate.sentence()}. See `figure.png`; the worst case is recorded in `worst_case.mcap` (for "
        "`ur-admittance plot`, `replay` and `why`), all numbers are in `summary.json`.",
        "",
        "## Certificate",
        "",
        f"- Cases: {certificate.cases}, drawn from seed {result.seed} but from another stream than the "
        f"{result.budget.cases} cases of the search.",
        f"- For {task.ranges()}.",
        f"- Failed: {certificate.failed}. One-sided 95 % bound (Clopper and Pearson) on the share of failures: "
        f"{percent_up(certificate.bound)} %.",
        f"- Reserve: damping in contact is at least {certificate.reserve:.3g} times what the stability model needs.",
        f"- Versions: {', '.join(f'{name} {text}' for name, text in certificate.as_dict()['versions'].items())}.",
        "- It holds in simulation, inside these ranges. It is no safety function.",
        "",
        "| figure | unit | worst tenth | worst | limit | broken in | what it is |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, figure in task.figures.items():
        limit = f"{figure.limit:g}" if figure.limit < 1e300 else "none"
        lines.append(
            f"| {name} | {figure.unit} | {certificate.worst_tenth[name]:.3g} | {certificate.worst[name]:.3g} "
            f"| {limit} | {certificate.broken[name]} | {figure.meaning} |"
        )
    lines += ["", "## Parameters", "", "| unknown | found | unit | searched |", "|---|---|---|---|"]
    lines += [
        f"| {u.name} | {found.values[u.name]:.4g} | {u.unit} | {u.low:.4g} to {u.high:.4g} |" for u in task.unknowns
    ]
    lines += [
        "",
        f"{found.trials} candidates, {found.refused} of this run refused without simulation, {found.simulated} "
        f"simulations in {found.seconds:.0f} s; with certificate and comparison {result.seconds:.0f} s.",
        "",
        f"## Worst tenth on the same {len(result.contest[0].costs)} fresh cases",
        "",
        "| who | failed | " + " | ".join(f"{name} [{f.unit}]" for name, f in task.figures.items()) + " |",
        "|---|---|" + "---|" * len(task.figures),
    ]
    for rival in result.contest:
        values = " | ".join(f"{rival.certificate.worst_tenth[name]:.3g}" for name in task.figures)
        lines.append(f"| {rival.name} | {rival.certificate.failed} | {values} |")
    return "\n".join(lines) + "\n"
