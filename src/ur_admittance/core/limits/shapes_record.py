"""What the arm must not run into, as numbers: PARAMS["shapes"]. And the names of all bodies.

Capsules (a segment with a radius) stand for the links and the tool, oriented boxes and one plane for what is around.
"""

from typing import Any

import numpy as np

F = np.float64
I = np.int64  # noqa: E741

CAPSULES = 8
BOXES = 4
PAIRS = 16  # of capsules of the arm itself
NAMES = ("base", "shoulder", "upper arm", "forearm", "wrist 1", "wrist 2", "wrist 3", "tool")
TOOL = NAMES.index("tool")
FIRST_BOX, TABLE = CAPSULES, CAPSULES + BOXES
BODIES = (*NAMES, *(f"box {i + 1}" for i in range(BOXES)), "table")

SHAPES = np.dtype(
    [
        ("on", I),  # 0: nothing of this is looked at
        ("clearance", F),  # that is kept [m]
        ("reach", F, 6),  # farthest that anything behind a joint can be from its axis [m]
        ("link", I, CAPSULES),  # 0: the base; i: moved by joint i - 1
        ("start", F, (CAPSULES, 3)),  # of the segment, axes of the link [m]
        ("end", F, (CAPSULES, 3)),
        ("radius", F, CAPSULES),  # [m], negative: no such capsule
        ("pairs", I),  # how many of these are used
        ("pair", I, (PAIRS, 2)),  # capsules of the arm that could touch; the first one is nearer to the tool
        ("boxes", I),  # how many of these are used
        ("box", I, BOXES),  # which box of the parameters: 0 is box_1
        ("box_rotation", F, (BOXES, 3, 3)),  # R_base_box
        ("box_position", F, (BOXES, 3)),  # of its centre [m]
        ("box_half", F, (BOXES, 3)),  # half of its edges [m]
        ("box_touchable", I, BOXES),  # 1: the tool may touch it
        ("table", I),  # 0: none
        ("table_normal", F, 3),  # up, base axes
        ("table_height", F),  # along the normal, from the origin of the base [m]
        ("table_touchable", I),
    ],
    align=True,
)


def pair_words(near: Any, distance: float) -> str:
    """`forearm near table, 12 mm`; near: two bodies of COMMAND["near"], counted from 1; empty: none."""
    first, second = (int(body) for body in near)
    if not (0 < first <= len(BODIES) and 0 < second <= len(BODIES)):
        return ""
    return f"{BODIES[first - 1]} near {BODIES[second - 1]}, {round(1e3 * float(distance))} mm"
