"""Tables of the pages, made from the program itself and from what was measured. Each is a function that gives Markdown."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
QUOTED: set[str] = set()  # files of measured figures that the page in hand quotes


class Stale(Exception):
    """A source that does not exist, or a comment that is not understood."""


def measured(file: str) -> Any:
    QUOTED.add(file)
    return _measured(file)


@cache
def _measured(file: str) -> Any:
    places = (DOCS / "measured" / f"{file}.json", DOCS / "assets" / file / f"{file}.json")
    found = [place for place in places if place.exists()]
    if not found:
        raise Stale(f"{places[0].relative_to(DOCS.parent)} does not exist")
    return json.loads(found[0].read_text(encoding="utf-8"))


def cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def rows(head: list[str], body: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(cell(value) for value in row) + " |" for row in body)])


def parameters() -> str:
    from ur_admittance.cli.params import _default
    from ur_admittance.params.table import rows as schema

    groups: dict[str, list[Any]] = {}
    for row in schema().values():
        groups.setdefault(row.name.rpartition(".")[0], []).append(row)
    text = []
    for group, members in groups.items():
        text += ["", f"## {group or 'General'}", ""]
        body = [[f"`{row.name}`", _default(row.default), row.unit, row.allowed, row.help] for row in members]
        text.append(rows(["name", "default", "unit", "allowed", "what it does"], body))
    return "\n".join(text)


def presets() -> str:
    from ur_admittance.params import PRESETS
    from ur_admittance.params.yaml import preset_text

    return "\n\n".join(f"### {name}\n\n```yaml\n{preset_text(name)}```" for name in PRESETS)


def cli() -> str:
    import typer

    from ur_admittance.cli import app

    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="ur-admittance")
    return "\n\n".join(_command(child, f"ur-admittance {name}", context) for name, child in command.commands.items())  # type: ignore[attr-defined]


def _command(command: Any, path: str, parent: Any) -> str:
    import typer

    context = typer.Context(command, info_name=path, parent=None)
    text = [
        f"## {path}",
        "",
        (command.help or "").strip(),
        "",
        "```text",
        f"{path} {' '.join(command.collect_usage_pieces(context))}",
        "```",
        "",
    ]
    body = []
    for parameter in command.params:
        names = (
            ", ".join([*parameter.opts, *parameter.secondary_opts])
            if parameter.param_type_name == "option"
            else parameter.metavar or parameter.name.upper()
        )
        default = parameter.default
        shown = (
            ""
            if default is None
            or callable(default)
            or default is False
            or "Undefined" in repr(default)
            or "Sentinel" in repr(default)
            else default
        )
        body.append([f"`{names}`", shown, getattr(parameter, "help", "") or ""])
    if body:
        text.append(rows(["option", "default", "what it does"], body))
    for name, child in getattr(command, "commands", {}).items():
        text += ["", _command(child, f"{path} {name}", context).replace("## ", "### ", 1)]
    return "\n".join(text)


def status() -> str:
    from ur_admittance.core.faults import REMEDIES, SENTENCES
    from ur_admittance.core.records import Status

    body = []
    for code in Status:
        words = re.sub(
            r"\{(0|1)(ms|mm)?(:[^}]*)?\}", lambda m: "*value*" if m[1] == "0" else "*limit*", SENTENCES[code]
        )
        words = words.replace("{input}", "*joint state, wrench or reference*")
        words = words.replace("{first}", "*one body*").replace("{second}", "*another*")
        words = words.replace("{closed}", "*a body would be too near to another, or the tool outside the workspace*")
        body.append([int(code), f"`{code.name}`", words, REMEDIES.get(code, "")])
    return rows(["code", "name", "what it says", "what to do"], body)


def modes() -> str:
    from ur_admittance.core.records import Mode

    words = {
        "INACTIVE": "holds the last command",
        "ACTIVE": "yields to forces",
        "STOPPING": "slows down inside the limits, then inactive",
        "FAULT": "slows down inside the limits, then holds until an explicit reset",
    }
    return rows(
        ["code", "mode", "what the arm does"], [[int(mode), f"`{mode.name}`", words[mode.name]] for mode in Mode]
    )


def limits() -> str:
    from ur_admittance.core.records import Limit

    return rows(["bit", "name"], [[int(limit), f"`{limit.name}`"] for limit in Limit if limit])


RECORDS = [
    "SAMPLE",
    "DRIVE",
    "COMMAND",
    "STATE",
    "FUSION",
    "VIBRATION",
    "SEARCH",
    "LED",
    "SENT",
    "RESPONSE",
    "KNOWN",
    "CONTACT",
    "IMPACT",
    "OSCILLATION",
    "HIT",
    "PARAMS",
    "SECOND",
    "WELLS",
    "SHAPES",
]


def records() -> str:
    """Fields of the four records, and of those inside them, with the comments that stand beside them in the source."""
    core = DOCS.parent / "src" / "ur_admittance" / "core"
    source = "".join(file.read_text() for file in sorted(core.rglob("*record*.py")))
    text = []
    for name in RECORDS:
        block = source[source.index(f"{name} = np.dtype(") :]
        block = block[: block.index("align=True")]
        fields = re.findall(r'^\s+\("(\w+)", (\w+)(?:, ([^)]+\)?))?\),(?:  # (.*))?$', block, re.MULTILINE)
        body = [
            [f"`{field}`", shape or ("1" if kind in "FI" else f"[{kind}](#{kind.lower()})"), comment]
            for field, kind, shape, comment in fields
        ]
        text += [f"## {name}", "", rows(["field", "shape", "meaning"], body), ""]
    return "\n".join(text)


def scenarios() -> str:
    from ur_admittance_lab.scenarios import SCENARIOS

    body = [
        [f"`{name}`", scenario.summary, ", ".join(f"`{o}`" for o in scenario.options)]
        for name, scenario in SCENARIOS.items()
    ]
    return rows(["scenario", "what happens", "options"], body)


def models() -> str:
    from ur_admittance.model import MODEL_NAMES, robot_model

    body = [
        [f"`{name}`", f"{(m := robot_model(name)).payload_kg:g} kg", f"{m.reach_m:g} m", " ".join(m.notes)]
        for name in MODEL_NAMES
    ]
    return rows(["type", "payload", "reach", "notes"], body)


def examples() -> str:
    body = []
    for file in sorted((DOCS.parent / "examples").glob("[0-9]*.py")):
        summary = file.read_text().split('"""')[1].strip().splitlines()[0]
        body.append([f"`examples/{file.name}`", summary])
    return rows(["file", "what it shows"], body)


def families() -> str:
    from ur_admittance_lab.campaign import FAMILIES

    return rows(["family", "what happens"], [[f"`{name}`", draw.__doc__] for name, draw in FAMILIES.items()])


def campaign() -> str:
    """Findings of the long campaign: checks that failed anywhere, one column per family."""
    result = measured("campaign")
    names = list(result["episodes"])
    body = []
    for check, row in result["checks"].items():
        worst = row["worst"]
        if sum(row["failures"].values()):
            counts = [(row["failures"][name] or "-") if name in row["failures"] else "" for name in names]
            found = f"{worst['value']:.3g} of {worst['bound']:.3g} {worst['unit']}"
            body.append([f"`{check}`", *counts, found, f"`{worst['episode']}`"])
    held = [f"`{check}`" for check, row in result["checks"].items() if not sum(row["failures"].values())]
    body.append(["episodes", *(result["episodes"][name] for name in names), "", ""])
    body.append(["cycles", *(f"{result['cycles'][name]:.3g}" for name in names), "", ""])
    return f"{rows(['failed', *names, 'worst', 'repeat'], body)}\n\nNever failed: {', '.join(held)}."


def ablation() -> str:
    from ruamel.yaml import YAML

    def counts(found: dict[str, int]) -> str:
        return ", ".join(f"{place} {n:+d}" for place, n in found.items())

    def test(name: str) -> str:
        return f"`{name.rpartition('::')[2].partition('[')[0]}`"

    mechanisms = YAML(typ="safe").load(DOCS.parent / "benchmarks" / "ablation" / "mechanisms.yaml")
    body = []
    kept = measured("ablation")["rows"]
    for name in mechanisms:
        if name not in kept:
            body.append([name, mechanisms[name]["without"], "", "not measured since the mechanism was written"])
            continue
        row = kept[name]
        changed = f"{row['different']} of {row['cases']}"
        tests = ", ".join(dict.fromkeys(map(test, row["tests"])))
        shown = "; ".join(filter(None, [counts(row["more"]), tests, mechanisms[name].get("kept", "")]))
        body.append([name, mechanisms[name]["without"], changed, shown])
    return rows(["without", "what happens instead", "cases that change", "what fails then, or why it stays"], body)


def driver() -> str:
    """The node beside the driver: the worst of all generations, one column per output."""
    table = measured("driver")
    outputs = ("trajectory", "velocity")
    body = []
    for case in dict.fromkeys(row["case"] for row in table):
        cells = []
        for output in outputs:
            found = [row for row in table if (row["case"], row["output"]) == (case, output)]
            cells.append(_worst(found) if found else "")
        body.append([case, *cells])
    return rows(["what happens", *(f"`{output}`" for output in outputs)], body)


def contact() -> str:
    """Every case next to plain admittance, as `python -m benchmarks.contact` has written it."""
    measured("contact")  # of the same run
    return (DOCS / "assets" / "contact" / "contact_table.txt").read_text(encoding="utf-8")


def twin() -> str:
    """Hidden arms and what was identified, as `python -m benchmarks.twin` has written it."""
    return (DOCS / "assets" / "twin" / "twin_tables.txt").read_text(encoding="utf-8")


def _worst(found: list[dict[str, Any]]) -> str:
    def most(name: str) -> float:
        return max(float(row[name]) for row in found)

    step = f"{1e3 * most('command_step_rad'):.1f} mrad" if most("command_step_rad") else ""
    step = step or f"{most('velocity_step_rad_s'):.3f} rad/s"
    text = f"{step}, {1e3 * most('lead_rad'):.1f} mrad, {most('tcp_speed_m_s'):.2f} m/s"
    if any("speed_ratio" in row for row in found):
        ratios = [row["speed_ratio"] for row in found]
        return f"{text}; {min(ratios):.3f} to {max(ratios):.3f} of the law"
    return f"{text}; {most('seconds'):.2f} s, {1e3 * most('metres'):.0f} mm"


TABLES: dict[str, Callable[[], str]] = {
    "parameters": parameters,
    "presets": presets,
    "cli": cli,
    "status": status,
    "modes": modes,
    "limits": limits,
    "records": records,
    "scenarios": scenarios,
    "models": models,
    "examples": examples,
    "families": families,
    "campaign": campaign,
    "ablation": ablation,
    "driver": driver,
    "contact": contact,
    "twin": twin,
}
