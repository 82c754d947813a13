"""The arm in the 3-D view: one node per joint, so that a frame sends six turns and nothing else."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance.model.look import DARK, STEEL, Colour, Tube, tubes
from ur_admittance.recording.messages import quaternion

Array = NDArray[np.float64]

SEGMENTS = 40  # of a circle
TIP = 0.01  # [m] radius of a tip of which nothing is known
ROOT = "/arm"


class Arm:
    """``move(q)`` shows the arm at the joint angles q [rad]."""

    def __init__(self, scene: Any, model: RobotModel, tool: list[list[float]], p_flange_tcp: Array) -> None:
        """tool: cylinders [start (3), end (3), radius] in the flange frame; none: a rod to the TCP."""
        self._joints = []
        parts = defaultdict(list)
        for tube in tubes(model):
            parts[tube.link].append(tube)
        _add(scene, f"{ROOT}/base", parts[0])
        name = ROOT
        for i in range(6):
            name += f"/x{i}"  # the constant pose before the joint
            R, p = model.chain_rotation[i], model.chain_position[i]
            scene.add_frame(name, show_axes=False, wxyz=wxyz(R), position=p)
            name += f"/j{i}"
            self._joints.append(scene.add_frame(name, show_axes=False))
            _add(scene, f"{name}/look", parts[i + 1])
        R, p = model.chain_rotation[6], model.chain_position[6]
        scene.add_frame(f"{name}/flange", show_axes=False, wxyz=wxyz(R), position=p)
        parts_of_tool = [Tube(6, np.array(t[:3]), np.array(t[3:6]), t[6], DARK) for t in tool] or _rod(p_flange_tcp)
        _add(scene, f"{name}/flange/tool", parts_of_tool)

    def move(self, q: Array) -> None:
        for joint, angle in zip(self._joints, np.asarray(q).tolist(), strict=True):
            joint.wxyz = (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle))


def wxyz(R: Array) -> tuple[float, float, float, float]:
    x, y, z, w = quaternion(np.asarray(R, dtype=float))
    return w, x, y, z


def _rod(p_flange_tcp: Array) -> list[Tube]:
    """A disc for the sensor and a rod to the TCP."""
    length = float(np.linalg.norm(p_flange_tcp))
    if length < 0.02:
        return []
    along = p_flange_tcp / length
    disc = 0.012 * along
    return [
        Tube(6, np.zeros(3), disc, 0.034, STEEL),
        Tube(6, disc, p_flange_tcp - TIP * along, 0.8 * TIP, DARK),
    ]


def _add(scene: Any, name: str, parts: Sequence[Tube]) -> None:
    """One mesh per colour."""
    by_colour: dict[Colour, list[tuple[Array, NDArray[np.uint32]]]] = defaultdict(list)
    for part in parts:
        by_colour[part.colour].append(cylinder(part.start, part.end, part.radius))
    for i, (colour, meshes) in enumerate(by_colour.items()):
        offsets = np.cumsum([0] + [len(vertices) for vertices, _ in meshes[:-1]])
        vertices = np.concatenate([v for v, _ in meshes]).astype(np.float32)
        faces = np.concatenate([f + offset for (_, f), offset in zip(meshes, offsets, strict=True)]).astype(np.uint32)
        scene.add_mesh_simple(f"{name}{i}", vertices, faces, color=colour)


def cylinder(start: Array, end: Array, radius: float) -> tuple[Array, NDArray[np.uint32]]:
    """Vertices and triangles. The rims are doubled so that the ends shade flat and the side round, and the ends are
    bevelled a little: edges that catch the light read as machined parts."""
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.7 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    angles = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    circle = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(axis, side)
    bevel = min(0.06 * radius, 0.2 * float(np.linalg.norm(end - start)))
    inner, outer = (radius - bevel) * circle, radius * circle
    low, high = start + bevel * axis, end - bevel * axis
    # rings: end cap, bevel (2), side (2), bevel (2), end cap; rings that meet are doubled for sharp shading
    rings = [start + inner, start + inner, low + outer, low + outer, high + outer, high + outer, end + inner]
    vertices = np.concatenate([*rings, end + inner, [start], [end]])
    faces = [_band(1, 2), _band(3, 4), _band(5, 6)]
    n, i = len(rings) * SEGMENTS + SEGMENTS, np.arange(SEGMENTS)
    following = (i + 1) % SEGMENTS
    faces.append(np.stack([np.full(SEGMENTS, n), following, i], axis=1))
    top = 7 * SEGMENTS
    faces.append(np.stack([np.full(SEGMENTS, n + 1), top + i, top + following], axis=1))
    return vertices, np.concatenate(faces).astype(np.uint32)


def _band(lower: int, upper: int) -> NDArray[np.int64]:
    """Triangles between two rings."""
    i = np.arange(SEGMENTS)
    following = (i + 1) % SEGMENTS
    a, b = lower * SEGMENTS + i, lower * SEGMENTS + following
    c, d = upper * SEGMENTS + i, upper * SEGMENTS + following
    return np.concatenate([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)])
