"""A twin as a file: YAML that people read, with the deviation of every number and the reason for every assumption."""

import math
from pathlib import Path
from typing import Any

from ur_admittance.errors import CalibrationError
from ur_admittance_lab.twin.found import Finding

VERSION = 1
# name: how many, unit, factor to the unit that people read, what it is
MEANINGS: dict[str, tuple[int, str, str, float, str]] = {
    "delay": (1, "s", "ms", 1e3, "from a command to the first motion"),
    "lag": (1, "s", "ms", 1e3, "time constant of the servo's first-order lag"),
    "damping_ratio": (1, "-", "", 1.0, "of the joints"),
    "stiffness": (6, "Nm/rad", "kNm/rad", 1e-3, "of the joints, base to wrist 3"),
    "rotors": (1, "-", "", 1.0, "inertia of the rotors over the simulation's usual one"),
    "friction": (6, "Nm", "Nm", 1.0, "Coulomb friction of the joints that the servo does not make up for"),
    "sensor_delay": (1, "s", "ms", 1e3, "age of a wrench, beyond the mean of a period"),
    "noise_force": (1, "N", "N", 1.0, "standard deviation of one reading"),
    "noise_torque": (1, "Nm", "Nm", 1.0, "standard deviation of one reading"),
    "tool_mass": (1, "kg", "kg", 1.0, "by the force that accelerates it"),
}


def dump(twin: dict[str, Any]) -> str:
    """Text of the file."""
    lines = [
        f"# Twin of a {twin['robot']}, identified from {', '.join(twin['logs'])} ({twin['seconds']:.1f} s of work).",
        "# value and deviation (one standard deviation), SI units; assumed: why the recording leaves a number open.",
        f"twin: {VERSION}",
        f"robot: {twin['robot']}",
        "logs:",
        *(f"  - {_quoted(log)}" for log in twin["logs"]),
        f"seconds: {twin['seconds']:.2f}",
        f"pose: {_row(twin['pose'])}  # [rad] middle of the work",
        f"com: {_row(twin['com'])}  # of the tool, flange frame [m]",
        f"tcp: {_row(twin['tcp'])}  # of the tool, flange frame [m, rad]",
        "values:",
    ]
    for name, (count, unit, _, _, meaning) in MEANINGS.items():
        rows = twin["values"][name]
        if count == 1:
            lines.append(f"  {name}: {_entry(rows[0])}  # [{unit}] {meaning}")
        else:
            lines.append(f"  {name}:  # [{unit}] {meaning}")
            lines += [f"    - {_entry(row)}" for row in rows]
    return "\n".join(lines) + "\n"


def save(twin: dict[str, Any], path: Path) -> None:
    try:
        path.write_text(dump(twin), encoding="utf-8")
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be written ({error.strerror}).") from None


def load(path: Path) -> dict[str, Any]:
    """The fields of a Twin. CalibrationError says what is wrong with the file."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be read ({error.strerror}).") from None
    except (YAMLError, UnicodeDecodeError):
        raise CalibrationError(f"{path}: is not a YAML file.") from None
    if not isinstance(document, dict) or document.get("twin") != VERSION:
        raise CalibrationError(f"{path}: is not a twin of this version: the first line must be 'twin: {VERSION}'.")
    try:
        return {
            "robot": str(document["robot"]),
            "logs": tuple(str(log) for log in document["logs"]),
            "seconds": float(document["seconds"]),
            "pose": _numbers(document["pose"], 6),
            "com": _numbers(document["com"], 3),
            "tcp": _numbers(document["tcp"], 6),
            "values": {name: _findings(document["values"][name], MEANINGS[name][0]) for name in MEANINGS},
        }
    except KeyError as error:
        raise CalibrationError(f"{path}: has no {error.args[0]}; identify it again.") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise CalibrationError(f"{path}: is not a twin ({error}); identify it again.") from None


def _findings(entry: Any, count: int) -> tuple[Finding, ...]:
    rows = entry if count > 1 else [entry]
    if not isinstance(rows, list) or len(rows) != count:
        raise ValueError(f"{count} values are needed for each joint number")
    return tuple(
        Finding(_finite(row["value"]), _finite(row.get("deviation", 0.0)), str(row.get("assumed", ""))) for row in rows
    )


def _finite(entry: Any) -> float:
    number = float(entry)
    if not math.isfinite(number):
        raise ValueError(f"{number} where a finite number is needed")
    return number


def _numbers(entry: Any, count: int) -> tuple[float, ...]:
    numbers = tuple(_finite(number) for number in entry)
    if len(numbers) != count:
        raise ValueError(f"{len(numbers)} numbers where {count} are needed")
    return numbers


def _entry(finding: Finding) -> str:
    if not finding.found:
        return f"{{value: {_number(finding.value)}, assumed: {_quoted(finding.reason)}}}"
    return f"{{value: {_number(finding.value)}, deviation: {_number(finding.deviation)}}}"


def _row(numbers: tuple[float, ...]) -> str:
    return f"[{', '.join(map(_number, numbers))}]"


def _number(value: float) -> str:
    """Fixed-point: YAML 1.1 loaders read exponents without a dot as text."""
    return f"{value:.2f}" if abs(value) >= 1000.0 else f"{value:.6f}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
