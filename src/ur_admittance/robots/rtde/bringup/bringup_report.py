"""The report of a bring-up: a parameter file whose comments say what was measured, when, and who confirmed it.

    # serial number: 20205500123
    # [response] done, 2026-11-16 15:20:11, confirmed by Ada
    #   the arm responds after 12.4 ms
    #   sets robot.response_time: 0.0124
    /**:
      ros__parameters: ...

The comments are the record; the parameters below them follow from it: the preset, changed by every step that is done.
Written after each step, at once and completely, so that nothing is lost when the program or the power ends.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ur_admittance.errors import CalibrationError
from ur_admittance.outputs import at_once
from ur_admittance.params import Parameters, preset
from ur_admittance.params.yaml import dump_parameters

MEASURED, DONE, SKIPPED = "measured", "done", "skipped"  # measured: by nobody confirmed yet
ABOUT = re.compile(r"# ([a-z ]+): (.*)")
ENTRY = re.compile(rf"# \[(\w+)\] ({MEASURED}|{DONE}|{SKIPPED}), ([-\d]+ [:\d]+)(?:, confirmed by (.*))?")
SETS = "sets "
TENTH = 0.1  # of every speed limit, until somebody raises it
DIGITS = 6  # behind the point: micrometres, microradians, micronewtons


@dataclass(frozen=True)
class Entry:
    """What one step has found."""

    state: str
    when: str
    by: str
    lines: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)  # dotted parameter names -> values

    def text(self, step: str) -> list[str]:
        by = f", confirmed by {self.by}" if self.by else ""
        sets = [f"{SETS}{name}: {json.dumps(value)}" for name, value in self.changes.items()]
        return [f"[{step}] {self.state}, {self.when}{by}", *(f"  {line}".rstrip() for line in (*self.lines, *sets))]


@dataclass
class Report:
    path: Path
    about: dict[str, str]  # robot, model, serial number, software, sensor, client, preset, by, begun
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def parameters(self) -> Parameters:
        """The preset at a tenth of all speed limits, changed by every step that is done."""
        changes: dict[str, Any] = {"velocity_scale_factor": TENTH}
        for entry in self.entries.values():
            changes |= entry.changes if entry.state == DONE else {}
        return preset(self.about["preset"]).changed(changes)

    def command(self, path: Path | str) -> str:
        """What starts the arm with this report as its configuration."""
        about = self.about
        client = f" --client {about['client']}" if about["client"] != "direct" else ""
        return f"ur-admittance run --robot {about['robot']} --model {about['model']}{client} --preset {path}"

    def check_arm(self, serial: str) -> None:
        """CalibrationError: the report is that of another arm. serial: of the arm that answers, empty: not told."""
        known = self.about.get("serial number", "unknown")
        if known != (serial or "unknown"):
            raise CalibrationError(
                f"{self.path}: is the report of the arm with the serial number {known}, but {serial or 'another one'} "
                "answers; bring this arm up into a file of its own (--out)."
            )

    @property
    def left(self) -> list[str]:
        """Steps that were skipped, or begun and not confirmed."""
        return [f"{name} ({entry.state})" for name, entry in self.entries.items() if entry.state != DONE]

    def note(self, step: str, state: str, lines: tuple[str, ...], changes: Mapping[str, Any], by: str = "") -> None:
        """What a step has found, in place of what it found before; saved at once."""
        rounded = {name: _rounded(value) for name, value in changes.items()}
        self.entries[step] = Entry(state, now(), by, lines, rounded)
        self.save()

    def confirm(self, step: str, by: str) -> None:
        self.entries[step] = replace(self.entries[step], state=DONE, by=by)
        self.save()

    def forget(self, steps: list[str]) -> None:
        """They are done again."""
        self.entries = {step: entry for step, entry in self.entries.items() if step not in steps}
        self.save()

    def text(self) -> str:
        about = self.about
        lines = [
            "Bring-up of a robot arm: what was measured, and who confirmed it. It is a parameter file, too:",
            f"  {self.command(self.path.name)}",
            "",
            *(f"{key}: {value}" for key, value in about.items()),
        ]
        for step, entry in self.entries.items():
            lines += ["", *entry.text(step)]
        lines += ["", f"The parameters: preset {about['preset']}, changed by the steps that are done."]
        parameters, defaults = self.parameters, Parameters().flat()
        names = [name for name, value in parameters.flat().items() if value != defaults[name]]
        return "".join(f"# {line}".rstrip() + "\n" for line in lines) + dump_parameters(parameters, names=names)

    def save(self) -> None:
        try:
            with at_once(self.path) as file:
                file.write(self.text())
        except OSError as error:
            raise CalibrationError(f"{self.path}: cannot be written ({error.strerror}).") from None


def report_of(path: Path) -> Report | None:
    """The report, if this parameter file is one."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file() or "# serial number: " not in path.read_text("utf-8"):
        return None
    return load_report(path)


def load_report(path: Path) -> Report:
    """CalibrationError: the file is not a report."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationError(f"{path}: cannot be read ({error}).") from None
    report, step = Report(path, {}), ""
    for line in text.splitlines():
        if found := ENTRY.fullmatch(line):
            step = found[1]
            report.entries[step] = Entry(found[2], found[3], found[4] or "", ())
        elif step and line.startswith("#   "):
            report.entries[step] = _with_line(path, report.entries[step], line.removeprefix("#   "))
        elif not step and (found := ABOUT.fullmatch(line)):
            report.about[found[1]] = found[2]
    missing = {"robot", "model", "sensor", "client", "preset", "by"} - report.about.keys()
    if missing:
        raise CalibrationError(f"{path}: is not the report of a bring-up (no {', '.join(sorted(missing))} in it).")
    return report


def _with_line(path: Path, entry: Entry, line: str) -> Entry:
    if not line.startswith(SETS):
        return replace(entry, lines=(*entry.lines, line))
    name, _, value = line.removeprefix(SETS).partition(": ")
    try:
        return replace(entry, changes={**entry.changes, name: json.loads(value)})
    except ValueError:
        raise CalibrationError(f"{path}: {line!r} has no readable value; repeat that step with --from.") from None


def now() -> str:
    return datetime.now().strftime("%Y-%m-%d %H:%M:%S")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
