"""The arm in the 3-D view, one node per joint, so that a frame sends six turns and nothing else, and what it keeps
apart."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.limits.shapes_record import BOXES, CAPSULES, FIRST_BOX, TABLE
from ur_admittance.core.records import PARAMS, Limit, new
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import frame_with_z_along
from ur_admittance.model.look import DARK, STEEL, Colour, Tube, tubes
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.recording.messages import quaternion

Array = NDArray[np.float64]

SEGMENTS = 40  # of a circle
TIP = 0.01  # [m] radius of a tip of which nothing is known
ROOT = "/arm"
CALM, NEAR = (232, 150, 40), (224, 30, 30)
OPACITY, BOX_OPACITY = 0.3, 0.45
TABLE_SIZE = (1.8, 1.8, 0.004)  # [m]
AROUND, UP = 24, 6  # points of a capsule: on each ring, rings of each round end


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


class Shapes:
    """What is kept apart: capsules of the arm (on request), boxes, the table; two bodies that are near in red.

    ``build`` when arm or parameters change, ``update`` in each frame."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._nodes: dict[int, Any] = {}  # body -> node
        self._red: set[int] = set()
        self._built: tuple[Any, ...] = ()
        self.capsules_shown = False

    def build(self, model: RobotModel, parameters: Parameters) -> None:
        """After the arm: capsules are parts of its nodes."""
        wanted = (model, parameters.collision, parameters.tool.tcp, parameters.gravity)
        if wanted == self._built:
            return
        self.clear()
        self._built = wanted
        if not parameters.collision.enabled:
            return
        params = new(PARAMS)
        fill(params[0], parameters, model)
        shapes = params["shapes"][0]
        for body in range(CAPSULES):
            if shapes["radius"][body] >= 0.0:
                self._add_capsule(body, shapes)
        for k in range(min(int(shapes["boxes"]), BOXES)):
            body = FIRST_BOX + int(shapes["box"][k])
            self._nodes[body] = self._scene.add_box(
                f"/kept_apart/{body}", color=CALM, dimensions=tuple(2.0 * shapes["box_half"][k]), opacity=BOX_OPACITY,
                wxyz=wxyz(shapes["box_rotation"][k]), position=tuple(shapes["box_position"][k]),
            )  # fmt: skip
        if shapes["table"]:
            up = shapes["table_normal"]
            self._nodes[TABLE] = self._scene.add_box(
                f"/kept_apart/{TABLE}", color=CALM, dimensions=TABLE_SIZE, opacity=BOX_OPACITY,
                wxyz=wxyz(frame_with_z_along(up)), position=tuple((shapes["table_height"] - 0.002) * up),
            )  # fmt: skip

    def clear(self) -> None:
        """Before the arm goes: capsules are parts of it."""
        for node in self._nodes.values():
            node.remove()
        self._nodes, self._red, self._built = {}, set(), ()

    def _add_capsule(self, body: int, shapes: Any) -> None:
        parent = ROOT + "".join(f"/x{i}/j{i}" for i in range(int(shapes["link"][body])))
        vertices, faces = capsule(shapes["start"][body], shapes["end"][body], float(shapes["radius"][body]))
        self._nodes[body] = self._scene.add_mesh_simple(
            f"{parent}/capsule{body}", vertices.astype(np.float32), faces, color=CALM, opacity=OPACITY, visible=False
        )

    def update(self, command: Any) -> None:
        """Red: the two bodies because of which the arm slows down."""
        acting = bool(int(command["limits"]) & Limit.COLLISION)
        red = {int(body) - 1 for body in command["near"]} & set(self._nodes) if acting else set()
        for body, node in self._nodes.items():
            if (body in red) != (body in self._red):
                node.color = NEAR if body in red else CALM
            shown = body >= FIRST_BOX or self.capsules_shown or body in red
            if node.visible != shown:
                node.visible = shown
        self._red = red


def capsule(start: Array, end: Array, radius: float) -> tuple[Array, NDArray[np.uint32]]:
    """Vertices and triangles: rings from one pole to the other."""
    length = float(np.linalg.norm(end - start))
    R = frame_with_z_along((end - start) / length) if length > 0.0 else np.eye(3)
    tilt = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * UP)
    height = radius * np.sin(tilt) + np.where(np.arange(2 * UP) < UP, 0.0, length)
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = [
        np.column_stack([r * ring, np.full(AROUND, z)]) for r, z in zip(radius * np.cos(tilt), height, strict=True)
    ]
    i, following = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    faces = []
    for k in range(2 * UP - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        faces.append(np.stack([low + i, low + following, high + following], axis=1))
        faces.append(np.stack([low + i, high + following, high + i], axis=1))
    return np.concatenate(points) @ R.T + start, np.concatenate(faces).astype(np.uint32)
