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
Mesh = tuple[Array, NDArray[np.uint32]]  # vertices and triangles

SEGMENTS = 40  # of a circle
TIP = 0.01  # [m] radius of a tip of which nothing is known
ROOT = "/arm"
CALM, NEAR = (232, 150, 40), (224, 30, 30)
OPACITY, BOX_OPACITY = 0.3, 0.45
TABLE_SIZE = (1.8, 1.8, 0.004)  # [m]
UP = 6  # rings of each round end of a capsule


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
    by_colour: dict[Colour, list[Mesh]] = defaultdict(list)
    for part in parts:
        by_colour[part.colour].append(cylinder(part.start, part.end, part.radius))
    for i, (colour, meshes) in enumerate(by_colour.items()):
        offsets = np.cumsum([0] + [len(vertices) for vertices, _ in meshes[:-1]])
        vertices = np.concatenate([v for v, _ in meshes]).astype(np.float32)
        faces = np.concatenate([f + offset for (_, f), offset in zip(meshes, offsets, strict=True)]).astype(np.uint32)
        scene.add_mesh_simple(f"{name}{i}", vertices, faces, color=colour)


def cylinder(start: Array, end: Array, radius: float) -> Mesh:
    """Every ring is doubled so that the ends shade flat and the side round, and the ends are bevelled a little: edges
    that catch the light read as machined parts."""
    length = float(np.linalg.norm(end - start))
    bevel = min(0.06 * radius, 0.2 * length)
    inner = radius - bevel
    profile = [(0.0, 0.0), (0.0, inner), (bevel, radius), (length - bevel, radius), (length, inner), (length, 0.0)]
    return turned(start, end, np.repeat(profile, 2, axis=0))


def capsule(start: Array, end: Array, radius: float) -> Mesh:
    """Rings from one pole to the other."""
    tilt = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * UP)
    upper = np.where(np.arange(2 * UP) < UP, 0.0, np.linalg.norm(end - start))
    return turned(start, end, np.column_stack([radius * np.sin(tilt) + upper, radius * np.cos(tilt)]))


def turned(start: Array, end: Array, profile: Array) -> Mesh:
    """A solid of revolution. profile (n, 2): distance from `start` towards `end` and radius there [m]."""
    length = float(np.linalg.norm(end - start))
    R = frame_with_z_along((end - start) / length) if length > 0.0 else np.eye(3)
    angle = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    rings = [np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(SEGMENTS, z)]) for z, r in profile]
    i, low = np.arange(SEGMENTS), SEGMENTS * np.arange(len(profile) - 1)[:, None]
    a, b = low + i, low + (i + 1) % SEGMENTS
    c, d = a + SEGMENTS, b + SEGMENTS
    faces = np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3)
    return np.concatenate(rings) @ R.T + start, faces.astype(np.uint32)


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
