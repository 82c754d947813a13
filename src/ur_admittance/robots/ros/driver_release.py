"""What the wrench of UR's driver means: its releases differ, and nothing in its messages says which one it is.

Source: hardware_interface.cpp, transformForceTorque(), at every release tag (bug of PR #1287, fixed by #1615; label:
#1652). R, p: of T = T_flange_tcp as set on the pendant; f, t: force and moment about the flange, in its axes.

| release | e-Series publishes | as a sensor at T_flange_sensor | default frame_id |
|---|---|---|---|
| TURNED: up to 2.5.2, 3.0.0 to 3.1.0 | R^T f, R^T t | (R, 0) | tool0 |
| INVERTED: 2.6.0 to 2.11.0, 3.1.1 to 3.6.0, 4.0.0 to 4.4.0 | R f, R t + p x R f | T^-1 | tool0 |
| UNLABELLED: 2.12.0, 3.7.0, 4.5.0 | R^T f, R^T (t - p x f) | T | tool0 |
| RIGHT: 2.13.0, 3.8.0, 4.6.0, 5.0.0 and later | R^T f, R^T (t - p x f) | T | tool0_controller |

A sensor at T_flange_sensor = (A, a) reads A^T f, A^T (t - a x f); with A = R^T, a = -R^T p that is the second row, so
the mistake is undone by placing the sensor there. CB3 arms: T in all releases. T = 1: no release differs.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ur_admittance.model import RobotModel
from ur_admittance.model.arm_table import CB_SERIES, MODEL_NAMES, nearest_model
from ur_admittance.model.frames import Pose

Version = tuple[int, int, int]

PACKAGE = Path("share", "ur_robot_driver", "package.xml")
AT_FLANGE_M, AT_FLANGE_RAD = 0.01, 0.05  # by which a zero TCP may seem off: a description without the arm's calibration
FAULTY = "releases 2.6.0 to 2.11.0, 3.1.1 to 3.6.0 and 4.0.0 to 4.4.0 publish a wrench that can point against the hand"
WAY_OUT = (
    "update ur_robot_driver, or set a zero TCP on the pendant and the tool here (tool.tcp), or name the version of the "
    "running driver: sensor.driver, such as 2.11.0"
)


class Release(Enum):
    TURNED = "gives moments about the flange, in the axes of the pendant's TCP: taken as such"
    INVERTED = "applies the pendant's TCP in the wrong direction: undone"
    UNLABELLED = "gives it about the pendant's TCP, though its messages say tool0"
    RIGHT = "gives it about the pendant's TCP"


# first releases with major version 2, 3, 4; every later major version has all of it
FIRST: Mapping[Release, tuple[Version, ...]] = {
    Release.RIGHT: ((2, 13, 0), (3, 8, 0), (4, 6, 0)),
    Release.UNLABELLED: ((2, 12, 0), (3, 7, 0), (4, 5, 0)),
    Release.INVERTED: ((2, 6, 0), (3, 1, 1), (4, 0, 0)),
    Release.TURNED: ((2, 1, 0), (3, 0, 0), (4, 0, 0)),
}
# controllers that its launch file loads; the newest of them came with the frame_id
LOADED_SINCE: Mapping[str, tuple[Version, ...]] = {
    "tool_contact_controller": ((2, 8, 0), (3, 2, 0), (4, 0, 0)),
    "forward_effort_controller": ((2, 11, 0), (3, 5, 0), (4, 3, 0)),
    "friction_model_controller": ((2, 13, 0), (3, 8, 0), (4, 6, 0)),
}


def reached(version: Version, first: tuple[Version, ...]) -> bool:
    return version >= next((start for start in first if start[0] == version[0]), (5, 0, 0))


def release_of(version: Version) -> Release | None:
    """None: older than all of them; it publishes base axes (2.0.x)."""
    return next((release for release, first in FIRST.items() if reached(version, first)), None)


def parsed(text: str) -> Version | None:
    parts = text.split(".")
    return (int(parts[0]), int(parts[1]), int(parts[2])) if len(parts) == 3 and all(map(str.isdecimal, parts)) else None


def installed() -> tuple[Version, str] | None:
    """Version of the package on this computer, and its file; None: there is none."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        file = Path(prefix) / PACKAGE
        try:
            version = parsed(ElementTree.parse(file).findtext("version", "").strip()) if prefix else None
        except (OSError, ElementTree.ParseError):
            continue
        if version is not None:
            return version, str(file)
    return None


@dataclass(frozen=True)
class Driver:
    """Whose wrench it is. release None: not known, `why` says why."""

    release: Release | None
    why: str
    series: str = "e"  # "CB3"; empty: not known

    def sensor(self, T_flange_tcp: Pose) -> tuple[Pose, str]:
        """(T_flange_sensor, why it is in doubt); the second is empty where all that it can be is the same."""
        T = T_flange_tcp
        if self.series == "CB3" or self.release in (Release.RIGHT, Release.UNLABELLED):
            return T, ""
        if self.release is not None and self.series:
            return (T.inverse() if self.release is Release.INVERTED else Pose(T.rotation)), ""
        angle = float(np.arccos(np.clip(0.5 * (np.trace(T.rotation) - 1.0), -1.0, 1.0)))
        distance = float(np.linalg.norm(T.position))
        if distance < AT_FLANGE_M and angle < AT_FLANGE_RAD:
            return T, ""
        why = self.why if self.release is None else f"{self.why}, but the arm is none of UR's known types"
        where = f"{1e3 * distance:.0f} mm and {np.degrees(angle):.0f} degrees from the flange"
        return T, f"the wrench is in doubt, as the pendant's TCP is {where}: {why}; {FAULTY}. Way out: {WAY_OUT}"


def judge(
    version: Version | None, origin: str, labelled: bool, loaded: Collection[str] | None
) -> tuple[Release | None, str]:
    """(release, or None where the evidence is thin or contradicts itself; why). origin: where the version is from;
    labelled: messages say tool0_controller; loaded: names of controllers, None: not known.

    No sign alone decides against another: a file of another computer, a frame_id or a launch file of the user's own are
    all possible, and taking one release for another one turns the force round."""
    found = None if loaded is None else {m for m in LOADED_SINCE if any(name.endswith(m) for name in loaded)}
    newest = None if found is None else "friction_model_controller" in found
    label = "frame_id tool0_controller" if labelled else "no frame_id tool0_controller"
    if version is None:
        if newest or (labelled and newest is None):
            return Release.RIGHT, "its controllers" if newest else label
        if labelled:
            return None, f"{label}, as from 2.13.0, 3.8.0 and 4.6.0 on, but friction_model_controller is not loaded"
        return None, "the driver's version is not known: ur_robot_driver is not installed on this computer"
    name = f"ur_robot_driver {'.'.join(map(str, version))} ({origin})"
    release = release_of(version)
    if release is None:
        return None, f"{name} publishes the wrench in base axes"
    expected = {m for m, first in LOADED_SINCE.items() if reached(version, first)}
    agrees = labelled == (release is Release.RIGHT)
    if agrees and (labelled or found is None or found == expected):
        return release, name
    if release is Release.RIGHT and newest:  # a frame_id of the user's own
        return release, name
    signs = label if not agrees else f"its controllers ({', '.join(sorted(found or ())) or 'none of the newer ones'})"
    return None, f"{name} does not fit what runs: {signs}"


def series_of(model: RobotModel) -> str:
    name = nearest_model(model)
    return "CB3" if name in CB_SERIES else "e" if name in MODEL_NAMES else ""


def find_driver(stated: str, labelled: bool, loaded: Collection[str] | None, model: RobotModel) -> Driver:
    """stated: sensor.driver. It decides where the installed package cannot; after an update it may be an old one."""
    version, origin = installed() or (None, "")
    release, why = judge(version, origin, labelled, loaded)
    if stated:
        said, words = judge(parsed(stated), "sensor.driver", labelled, loaded)
        contested = version is not None and release not in (None, said)
        release, why = (None, f"sensor.driver = {stated}, but {why} fits as well") if contested else (said, words)
    return Driver(release, why, series_of(model))
