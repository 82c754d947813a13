"""Families of controller software: 3.x is a CB3, 5.x PolyScope 5 (e-Series and newer arms), 10.x PolyScope X.

Numbers are compared within a family only: 10.7 is older than 5.23.
Source: Universal_Robots_Client_Library 2.14, README and scripts/start_ursim.sh.
"""

from ur_admittance.errors import RobotError

Version = tuple[int, int, int]

CB3_TYPES = ("ur3", "ur5", "ur10")
SINCE: Version = (5, 4, 0)  # older e-Series software lacks registers that the clients need
SINCE_X: Version = (10, 7, 0)  # the oldest that UR's own client library supports
# the first PolyScope 5 and the first PolyScope X of types that are newer than both
OLDEST: dict[str, tuple[Version, Version]] = {
    "ur20": ((5, 14, 0), SINCE_X),
    "ur30": ((5, 15, 0), SINCE_X),
    "ur15": ((5, 22, 0), (10, 8, 0)),
    "ur7e": ((5, 22, 0), (10, 9, 0)),
    "ur12e": ((5, 22, 0), (10, 9, 0)),
    "ur18": ((5, 23, 0), (10, 11, 0)),
    "ur8long": ((5, 23, 0), (10, 11, 0)),
}
TWINS = {"ur5e": "ur7e", "ur10e": "ur12e"}  # of one geometry, and of one number in what the controller reports


def is_polyscope_x(version: Version) -> bool:
    return version[0] >= 10


def rate_of(version: Version) -> float:
    """Control cycles per second [Hz]."""
    return 500.0 if version[0] > 3 else 125.0


def shown(version: Version) -> str:
    return ".".join(str(part) for part in version)


def oldest(kind: str, x: bool) -> Version:
    """The first software for this type of arm: PolyScope X, or PolyScope 5."""
    return OLDEST.get(kind, (SINCE, SINCE_X))[x]


def check_version(version: Version, kind: str) -> None:
    """RobotError: no arm of this type runs with that software, or we do not."""
    x = is_polyscope_x(version)
    needed = oldest(kind, x)
    if version[0] <= 3 or version >= needed:
        return
    family = "PolyScope X " if x else ""
    advice = "update it" if needed in (SINCE, SINCE_X) else "is it another type of arm? Choose the right model"
    raise RobotError(
        f"the robot's software is {family}{shown(version)}, but {kind} needs {shown(needed)} or newer: {advice}."
    )


def twins(kind: str) -> tuple[str, ...]:
    """All types that the controller reports as it does this one."""
    first = next((old for old, new in TWINS.items() if new == kind), kind)
    return (first, TWINS[first]) if first in TWINS else (kind,)
