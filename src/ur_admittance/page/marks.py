"""What is drawn around the arm: frames, force, spring, path, workspace; in a simulation also the things to touch, and
the ball to pull the tool by."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser.transforms import SO3

from ur_admittance.model.frames import frame_with_z_along
from ur_admittance.model.look import PEDESTAL
from ur_admittance.page.drawn_arm import cylinder, wxyz
from ur_admittance.page.gate import Clients
from ur_admittance.page.loop_link import LoopLink
from ur_admittance.params import Parameters
from ur_admittance.params.parameters import Bounds

Array = NDArray[np.float64]
Shape = list[Any]  # [kind, size, position, wxyz] as the simulation tells it

FORCE, TORQUE = (214, 40, 10), (120, 50, 200)
SPRING, PATH, REFERENCE = (46, 158, 91), (40, 120, 200), (120, 124, 130)
SURFACE = (110, 140, 158)
METRES_PER_NEWTON, METRES_PER_NM = 0.012, 0.12  # length of the arrows: 10 N are 12 cm, 1 Nm as well
SMALLEST_FORCE, SMALLEST_TORQUE = 0.7, 0.15  # [N], [Nm] less is noise and not drawn
PATH_S, PATH_HZ = 6.0, 15.0
LEAP = 0.1  # [m] farther than a tool goes from one point of its path to the next
COILS, COIL_POINTS = 9, 90
SHORTEST_SPRING = 0.004  # [m]
NEAR = 0.003  # [m] between tip and surface that still counts as touching: what is shown is a moment old
BALL, BALL_RADIUS = (255, 146, 43), 0.034  # [m]
KEEP_ALIVE_S = 0.1  # the hand lets go by itself after 0.5 s: a pointer that rests still holds
SMALLEST_DISC, DISC_PER_NEWTON, LARGEST_DISC = 0.012, 0.0012, 0.05  # [m] radius of the disc where the tool touches


class Marks:
    def __init__(self, scene: Any) -> None:
        self._scene = scene
        scene.add_grid("/ground", width=6.0, height=6.0, plane="xy", cell_size=0.25, section_size=1.0,
                       position=(0.0, 0.0, -PEDESTAL), cell_color=(214, 218, 222), section_color=(186, 192, 198),
                       shadow_opacity=0.12)  # fmt: skip
        self._tcp = scene.add_frame("/tcp", axes_length=0.09, axes_radius=0.0028, origin_radius=0.0)
        self._reference = scene.add_frame("/reference", axes_length=0.055, axes_radius=0.0016, origin_radius=0.006,
                                          origin_color=REFERENCE)  # fmt: skip
        self._force = _arrow(scene, "/force", FORCE)
        self._torque = _arrow(scene, "/torque", TORQUE)
        self._force_label = scene.add_label("/force_value", "", anchor="bottom-center", visible=False)
        self._spring = scene.add_line_segments(
            "/spring", np.zeros((COIL_POINTS - 1, 2, 3), np.float32), SPRING, thickness=0.004, visible=False
        )
        self._path = scene.add_line_segments("/path", np.zeros((1, 2, 3), np.float32), PATH, thickness=0.003)
        self._points: deque[Array] = deque(maxlen=int(PATH_S * PATH_HZ))
        self._last_point = 0.0
        self._box: Any = None
        self._box_bounds: Any = None
        self._surfaces: list[Any] = []

    def update(self, command: Any, stiff: bool, time: float) -> None:
        """Everything that moves, from the COMMAND record. stiff: a spring pulls; time [s] of this frame."""
        p, p_ref = np.array(command["p_tcp"]), np.array(command["p_ref"])
        self._tcp.position, self._tcp.wxyz = p, wxyz(command["R_tcp"])
        self._reference.position, self._reference.wxyz = p_ref, wxyz(command["R_ref"])
        wrench = np.array(command["wrench_tcp"])
        force = float(np.linalg.norm(wrench[:3]))
        _point(self._force, p, METRES_PER_NEWTON * wrench[:3], force > SMALLEST_FORCE)
        _point(self._torque, p, METRES_PER_NM * wrench[3:], float(np.linalg.norm(wrench[3:])) > SMALLEST_TORQUE)
        shown = force > 1.5
        if shown:
            self._force_label.position = p + METRES_PER_NEWTON * wrench[:3] + [0.0, 0.0, 0.02]
            self._force_label.text = f"{force:.0f} N"
        self._force_label.visible = shown
        stretched = stiff and float(np.linalg.norm(p - p_ref)) > SHORTEST_SPRING
        if stretched:
            self._spring.points = _coil(p_ref, p)
        self._spring.visible = stretched
        if time - self._last_point > 1.0 / PATH_HZ:
            self._last_point = time
            if self._points and np.linalg.norm(p - self._points[-1]) > LEAP:
                self._points.clear()  # another TCP
            self._points.append(p)
            if len(self._points) > 1:
                line = np.array(self._points, np.float32)
                self._path.points = np.stack([line[:-1], line[1:]], axis=1)

    def another_arm(self) -> None:
        """The path of the one before is not its own."""
        self._points.clear()

    def workspace(self, parameters: Parameters) -> None:
        """The box that the TCP may not leave."""
        low, high = parameters.workspace.min, parameters.workspace.max
        if (low, high) == self._box_bounds:
            return
        self._box_bounds = (low, high)
        if self._box is not None:
            self._box.remove()
            self._box = None
        if low is None and high is None:
            return
        self._box = self._scene.add_line_segments("/workspace", edges(low, high), (200, 130, 40), thickness=0.004)

    def environment(self, shapes: list[list[Any]]) -> None:
        """[kind, size, position, wxyz] of the things to touch."""
        for node in self._surfaces:
            node.remove()
        self._surfaces = []
        for i, (kind, size, position, turn) in enumerate(shapes):
            name = f"/environment/{i}"
            pose = {"position": tuple(position), "wxyz": tuple(turn)}
            if kind == "plane":
                sides = (2.0 * size[0], 2.0 * size[1], 0.012)
                node = self._scene.add_frame(name, show_axes=False, **pose)
                self._scene.add_box(f"{name}/plate", color=SURFACE, dimensions=sides, position=(0.0, 0.0, -0.006))
            elif kind == "box":
                node = self._scene.add_box(name, color=SURFACE, dimensions=tuple(2.0 * s for s in size), **pose)
            else:
                half = np.array([0.0, 0.0, size[1]])
                vertices, faces = cylinder(-half, half, size[0])
                node = self._scene.add_mesh_simple(name, vertices.astype(np.float32), faces, color=SURFACE, **pose)
            self._surfaces.append(node)


def edges(low: Bounds | None, high: Bounds | None) -> NDArray[np.float32]:
    """Of a box, as line segments (12, 2, 3); a side without a bound is one metre out."""
    a = np.array([-1.0 if v is None else v for v in low or (None,) * 3])
    b = np.array([1.0 if v is None else v for v in high or (None,) * 3])
    corners = np.array([[(a, b)[(i >> k) & 1][k] for k in range(3)] for i in range(8)], np.float32)
    pairs = np.array([(i, i ^ (1 << k)) for i in range(8) for k in range(3) if not i >> k & 1])
    return np.asarray(corners[pairs], np.float32)


def _arrow(scene: Any, name: str, colour: tuple[int, int, int]) -> Any:
    points = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]], np.float32)
    return scene.add_arrows(
        name, points, colour, shaft_radius=0.006, head_radius=0.015, head_length=0.035, visible=False
    )


def _point(arrow: Any, p: Array, along: Array, shown: bool) -> None:
    if shown:
        arrow.points = np.array([[p, p + along]], np.float32)
    arrow.visible = shown


def _coil(start: Array, end: Array) -> NDArray[np.float32]:
    """A helical spring between two points, as line segments (n, 2, 3)."""
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length
    side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    s = np.linspace(0.0, 1.0, COIL_POINTS)
    radius = 0.014 * np.clip(np.minimum(s, 1.0 - s) / 0.08, 0.0, 1.0)
    angle = 2.0 * np.pi * COILS * s
    around = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * np.cross(axis, side)
    line = (start + s[:, None] * (end - start) + radius[:, None] * around).astype(np.float32)
    return np.stack([line[:-1], line[1:]], axis=1)


class Touched:
    """What the tool touches in a simulation: where, and with which force. A disc on the surface, with its number."""

    def __init__(self, scene: Any) -> None:
        vertices, faces = cylinder(np.zeros(3), np.array([0.0, 0.0, 0.002]), 1.0)
        self._disc = scene.add_mesh_simple(
            "/touched", vertices.astype(np.float32), faces, color=FORCE, opacity=0.55, visible=False
        )
        self._label = scene.add_label("/touched_value", "", anchor="top-center", visible=False)
        self.shapes: list[Shape] = []
        self.tip = 0.01  # [m] radius of the tip

    def update(self, p_tcp: Array, R_tcp: Array, force: Array) -> None:
        """force on the tool, base axes [N]."""
        place = touching(self.shapes, p_tcp - self.tip * R_tcp[:, 2], self.tip)
        pressed = float(force @ place[1]) if place is not None else 0.0
        shown = place is not None and pressed > SMALLEST_FORCE
        if shown and place is not None:
            point, normal = place
            radius = min(SMALLEST_DISC + DISC_PER_NEWTON * pressed, LARGEST_DISC)
            self._disc.position, self._disc.wxyz = point, wxyz(frame_with_z_along(normal))
            self._disc.scale = (radius, radius, 1.0)
            self._label.position, self._label.text = point - 0.02 * normal, f"pressed with {pressed:.1f} N"
        self._disc.visible = self._label.visible = shown


def touching(shapes: list[Shape], centre: Array, radius: float) -> tuple[Array, Array] | None:
    """Point and outward normal where a sphere touches the nearest of the shapes; None: it touches none."""
    found = [nearest(shape, centre) for shape in shapes]
    if not found:
        return None
    distance, point, normal = min(found, key=lambda place: place[0])
    return (point, normal) if distance < radius + NEAR else None


def nearest(shape: Shape, p: Array) -> tuple[float, Array, Array]:
    """Signed distance of p from the surface [m], the nearest point of the surface, its outward normal; base frame."""
    kind, size, position, turn = shape
    R = SO3(np.array(turn)).as_matrix()
    local = R.T @ (p - np.array(position))
    if kind == "plane":
        normal = np.array([0.0, 0.0, 1.0])
        distance = float(local[2])
    elif kind == "cylinder":
        across = float(np.hypot(local[0], local[1]))
        round_side, end = across - size[0], abs(float(local[2])) - size[1]
        if round_side > end:
            normal, distance = np.array([local[0], local[1], 0.0]) / max(across, 1e-9), round_side
        else:
            normal, distance = np.array([0.0, 0.0, np.copysign(1.0, local[2])]), end
    else:
        out = np.abs(local) - np.array(size)
        beyond = np.maximum(out, 0.0)
        if beyond.any():  # outside: also over an edge or a corner
            distance = float(np.linalg.norm(beyond))
            normal = np.copysign(beyond, local) / distance
        else:
            i = int(np.argmax(out))
            normal, distance = np.copysign(1.0, local[i]) * np.eye(3)[i], float(out[i])
    outward = R @ normal
    return distance, p - distance * outward, outward


class Handle:
    """The ball on the tool: drag it and the simulated hand pulls the arm; let go and the hand lets go."""

    def __init__(self, scene: Any, link: LoopLink, clients: Clients) -> None:
        self._link, self._clients = link, clients
        self.ball = scene.add_icosphere("/handle", radius=BALL_RADIUS, color=BALL, opacity=0.85, visible=False)
        self._label = scene.add_label("/handle_label", "drag me", anchor="bottom-center", visible=False)
        self._band = scene.add_line_segments(
            "/band", np.zeros((1, 2, 3), np.float32), BALL, thickness=0.006, visible=False
        )
        self._used = False
        self._client: int | None = None  # who drags
        self._grip = np.zeros(3)  # where the ball was grabbed, from its centre [m]
        self._p_tcp_ball = np.zeros(3)  # the ball sits on the rod, clear of what the tip touches; base axes
        self._to = np.zeros(3)  # where the TCP is to go
        self._sent = 0.0
        self.ball.on_drag("left")(self._dragged)

    def update(self, p_tcp: Array, R_tcp: Array, time: float, simulated: bool) -> None:
        """Every frame; time [s]."""
        dragging = self._client is not None
        self._p_tcp_ball = -BALL_RADIUS * R_tcp[:, 2]
        ball = p_tcp + self._p_tcp_ball
        self.ball.position = ball
        self.ball.visible = simulated
        self._label.visible = simulated and not self._used
        if not self._used:
            self._label.position = ball + [0.0, 0.0, 1.2 * BALL_RADIUS]
        self._band.visible = dragging
        if dragging:
            self._band.points = np.array([[ball, self._to + self._p_tcp_ball]], np.float32)
            if time - self._sent > KEEP_ALIVE_S:
                self._sent = time
                self._link.pull({"to": self._to.tolist()})

    async def _dragged(self, event: Any) -> None:
        """In order, on the server's event loop: nothing here may wait."""
        if event.phase == "start":
            if not self._clients.may(event.client):
                return
            self._client, self._used = event.client_id, True
            self._grip = np.array(event.start_position) - np.array(self.ball.position)
        if event.client_id != self._client:
            return
        if event.phase == "end":
            self._client = None
            self._link.post({"hand": "let_go"})
            return
        self._to = np.array(event.end_position) - self._grip - self._p_tcp_ball
        self._link.pull({"to": self._to.tolist()})
