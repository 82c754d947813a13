"""What was taught, as a file: one arm, one tool, steps in their order. Small enough to read, and meant to be edited.

taught: 1
arm: ur5e
frame: base                                 of the poses: ROS base_link
units: m, rad, s
tcp: [0, 0, 0.15, 0, 0, 0]                  tool.tcp of the parameters: x, y, z, roll, pitch, yaw from the flange
start_joints: [0, -1.57, 1.57, -1.57, -1.57, 0]
tolerance: [0.001, 0.00873]                 within which paths were thinned [m, rad]
deviation: [0.00087, 0.0051]                the largest that is left of it
gripper: tool:0                             the output that closes it
steps:
- pose: [0.49, -0.13, 0.49, 2.22, 2.22, 0]  x, y, z and rotation vector; in a straight line, then rest
- path:                                     a smooth curve through these
  - [0.49, -0.13, 0.49, 2.22, 2.22, 0]
  - [0.52, -0.13, 0.49, 2.22, 2.22, 0]
- gripper: close
- wait: 0.5
- output: [digital:3, true]
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ur_admittance import given
from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import Array
from ur_admittance.outputs import at_once
from ur_admittance.params.parameters import INPUT
from ur_admittance.teaching import curve

VERSION = 1
UNITS = "m, rad, s"
LARGEST_FILE = 10_000_000  # [bytes] some hours of guiding
KEYS = ("taught", "arm", "frame", "units", "tcp", "start_joints", "tolerance", "deviation", "gripper", "steps")
NUMBERS = (
    ("tcp", 6, "", None), ("start_joints", 6, "rad", None), ("tolerance", 2, "", [0, 0]), ("deviation", 2, "", [0, 0]),
)  # fmt: skip
MOVES = ("pose", "path")
KINDS = (*MOVES, "output", "gripper", "wait")
GRIPPER = ("open", "close")


@dataclass(frozen=True)
class Step:
    kind: str  # of KINDS
    value: Any  # pose (6,), path (n, 6), output (name, on), gripper "open" or "close", wait [s]


@dataclass(frozen=True)
class Taught:
    arm: str
    tcp: tuple[float, ...]  # (6,) tool.tcp
    start_joints: tuple[float, ...]  # (6,) [rad] at the first pose: which of several postures
    steps: tuple[Step, ...] = ()
    tolerance: tuple[float, float] = (0.001, np.radians(0.5))  # [m, rad]
    deviation: tuple[float, float] = (0.0, 0.0)  # [m, rad]
    gripper: str = ""
    name: str = field(default="taught", compare=False)  # of the file, for sentences

    @property
    def points(self) -> int:
        return sum(1 if step.kind == "pose" else len(step.value) for step in self.steps if step.kind in MOVES)

    def save(self, path: str | Path) -> None:
        """Over a file of that name, at once or not at all."""
        with at_once(given.file("taught path", path)) as file:
            file.write(self.text())

    def text(self) -> str:
        lines = [
            "# Taught by hand; replay it with: ur-admittance play FILE",
            "# Poses are of the TCP: x, y, z [m] and a rotation vector [rad].",
            f"taught: {VERSION}",
            f"arm: {self.arm}",
            "frame: base",
            f"units: {UNITS}",
            f"tcp: {_row(self.tcp)}",
            f"start_joints: {_row(self.start_joints)}",
            f"tolerance: {_row(self.tolerance)}  # of thinned paths [m, rad]",
            f"deviation: {_row(self.deviation)}  # the largest that is left",
            *([f"gripper: {self.gripper}"] if self.gripper else []),
            "steps:" if self.steps else "steps: []",
        ]
        for step in self.steps:
            if step.kind == "path":
                lines += ["- path:", *(f"  - {_row(pose)}" for pose in step.value)]
            elif step.kind == "output":
                lines.append(f"- output: [{step.value[0]}, {str(step.value[1]).lower()}]")
            else:
                words: Any = {"pose": _row, "wait": _number}.get(step.kind, str)
                lines.append(f"- {step.kind}: {words(step.value)}")
        return "\n".join(lines) + "\n"


def _row(numbers: Sequence[float] | Array) -> str:
    return f"[{', '.join(map(_number, numbers))}]"


def _number(number: float) -> str:
    """Six decimals, a micrometre; no exponent, which some readers of YAML take for a word."""
    return f"{round(float(number), 6) + 0.0:.6f}".rstrip("0").rstrip(".")


def load_taught(path: str | Path) -> Taught:
    """ParameterError names the step that is wrong."""
    path = given.file("taught path", path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"{path}: is larger than {LARGEST_FILE // 10**6} MB, not a taught path.")
        content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    except YAMLError as error:
        raise ParameterError(f"{path}: is not readable YAML ({' '.join(str(error).split())}).") from None
    try:
        return replace(_taught(content), name=str(path))
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _taught(content: Any) -> Taught:
    if not isinstance(content, dict) or content.get("taught") != VERSION:
        raise ParameterError(f"must begin with `taught: {VERSION}`, as `ur-admittance teach` writes it.")
    for key in content:
        if key not in KEYS:
            raise ParameterError(f"{key}: is unknown; must be one of {', '.join(KEYS)}.")
    for key, only in (("frame", "base"), ("units", UNITS)):
        if content.get(key) != only:
            raise ParameterError(f"{key} = {content.get(key)}: must be {only}.")
    given.kind("arm", content.get("arm"), str, "the type of an arm, such as ur5e")
    gripper = content.get("gripper", "")
    if gripper:
        check_pin("gripper", gripper)
    steps: Any = content.get("steps")
    given.kind("steps", steps, list, "a list")
    numbers: dict[str, Any] = {
        key: tuple(given.vector(key, content.get(key, default), length, unit).tolist())
        for key, length, unit, default in NUMBERS
    }
    found = tuple(_step(f"steps[{i}]", step, gripper) for i, step in enumerate(steps))
    return Taught(content["arm"], steps=found, gripper=gripper, **numbers)


def _step(name: str, step: Any, gripper: str) -> Step:
    if not isinstance(step, dict) or len(step) != 1 or next(iter(step)) not in KINDS:
        raise ParameterError(f"{name}: must be one of {', '.join(KINDS)} with its value.")
    kind, value = next(iter(step.items()))
    name = f"{name}.{kind}"
    if kind == "pose":
        value = given.vector(name, value, 6, "m, rad")
    elif kind == "path":
        value = given.array(name, value)
        if value.ndim != 2 or value.shape[1] != 6 or not np.isfinite(value).all():
            raise ParameterError(f"{name}: must be rows of 6 finite numbers [m, rad].")
        if len(curve.distinct(curve.from_vectors(value))) < 2:
            raise ParameterError(f"{name}: must have two different points at least; write one as a pose.")
    elif kind == "wait":
        given.number(name, value, "s")
    elif kind == "gripper":
        if value not in GRIPPER:
            raise ParameterError(f"{name} = {value}: must be open or close.")
        if not gripper:
            raise ParameterError(f"{name}: needs the output that closes it: `gripper: tool:0` above the steps.")
    else:
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], bool):
            raise ParameterError(f"{name} = {value}: must be [NAME, true] or [NAME, false].")
        check_pin(name, value[0])
        value = tuple(value)
    return Step(kind, value)


def check_pin(name: str, output: Any) -> None:
    if not isinstance(output, str) or not INPUT.fullmatch(output):
        raise ParameterError(f"{name} = {output}: must be digital:0 to 7, configurable:0 to 7, or tool:0 or 1.")
