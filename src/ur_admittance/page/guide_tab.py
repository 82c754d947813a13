"""What a hand may move, chosen with one press, and drawn at the tool: a plane, a line, a point; and the limits that are
near, drawn where the tool is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model.frames import frame_with_z_along, rotation_from_rpy
from ur_admittance.page.drawn_arm import cylinder, wxyz
from ur_admittance.page.knobs import Tuner, build
from ur_admittance.params import Parameters
from ur_admittance.params.locks import ALONG, AXES

Array = NDArray[np.float64]

LOCKS = {
    "Free": "none",
    "Shift only": "translation",
    "Turn only": "rotation",
    "Plane": "plane",
    "Line": "line",
    "About a point": "point",
}
FRAMES = {"tool": "tcp", "base": "base", "task": "task"}
SENTENCES = {
    "none": "Free: the tool shifts and turns as your hand does.",
    "translation": "The tool shifts and does not turn.",
    "rotation": "The tool turns about its tip, which stays.",
    "plane": "The tool stays in a plane, across {axis} of the {frame}, and turns only about its normal.",
    "line": "The tool moves along a line, {axis} of the {frame}, and does not turn.",
    "point": "The tool turns about a point, {pivot} mm from its tip, which stays.",
}
HELD = (112, 72, 232)  # what is held is violet
PLANE, LINE, BALL = 0.22, 0.5, 0.016  # [m] radius, half a length, radius


class GuideTab:
    def __init__(self, gui: Any, tuner: Tuner) -> None:
        self._tuner = tuner
        self._words = gui.add_html("")
        names = tuple(LOCKS)
        for label, row in (("Lock", names[:3]), ("", names[3:])):
            self._buttons(gui, label, row, lambda name: {"guiding.lock": LOCKS[name]}, "What the hand may still move.")
        words = "Direction of a line, normal of a plane."
        self._buttons(gui, "Along", AXES, lambda name: {"guiding.lock_axis": name}, words)
        words = "Whose axes these are; the tool's as it stands when the lock closes."
        self._buttons(gui, "of the", tuple(FRAMES), lambda name: {"guiding.lock_frame": FRAMES[name]}, words)
        for knob in build(gui, "guiding.pivot", "Point, from the tip"):
            tuner.watch(knob)

    def show(self, parameters: Parameters) -> None:
        guiding = parameters.guiding
        frame = next(name for name, value in FRAMES.items() if value == guiding.lock_frame)
        pivot = " ".join(f"{1e3 * v:.0f}" for v in guiding.pivot)
        words = SENTENCES[guiding.lock].format(axis=guiding.lock_axis, frame=frame, pivot=pivot)
        colour = "rgb" + str(HELD) if guiding.lock != "none" else "#868e96"
        self._words.content = (
            f'<div data-lock="{guiding.lock}" style="margin:8px 10px;border-left:6px solid {colour};padding:5px 10px;'
            f'border-radius:6px;background:rgba(128,128,128,.09);min-height:2.8em;line-height:1.4">{words}</div>'
        )

    def _buttons(self, gui: Any, label: str, names: tuple[str, ...], changes: Any, hint: str) -> None:
        buttons = gui.add_button_group(label, names, hint=hint)

        def press(client: Any, name: str) -> None:
            self._tuner.change_if_agreed(client, changes(name), self._tuner.tell(client, "Not changed"))

        self._tuner.on_click(buttons, press)


class DrawnLock:
    """At the reference: what is held stays there."""

    def __init__(self, scene: Any) -> None:
        up = np.array([0.0, 0.0, 1.0])
        self._plane = _solid(scene, "/lock/plane", *cylinder(-0.0005 * up, 0.0005 * up, PLANE), 0.35)
        self._line = _solid(scene, "/lock/line", *cylinder(-LINE * up, LINE * up, 0.003), 0.6)
        self._ball = scene.add_icosphere("/lock/point", radius=BALL, color=HELD, opacity=0.75, visible=False)

    def update(self, command: Any, parameters: Parameters) -> None:
        guiding, p_ref = parameters.guiding, np.array(command["p_ref"])
        for name, handle in (("plane", self._plane), ("line", self._line)):
            handle.visible = guiding.lock == name
        self._ball.visible = guiding.lock in ("rotation", "point")
        self._ball.position = p_ref
        if guiding.lock in ALONG:
            axes = {
                "tcp": np.array(command["R_ref"]),
                "base": np.eye(3),
                "task": rotation_from_rpy(parameters.task_rotation),
            }[guiding.lock_frame]
            turn = wxyz(frame_with_z_along(axes[:, AXES.index(guiding.lock_axis)]))
            for handle in (self._plane, self._line):
                handle.position, handle.wxyz = p_ref, turn


def _solid(scene: Any, name: str, vertices: Array, faces: Any, opacity: float) -> Any:
    return scene.add_mesh_simple(
        name, vertices.astype(np.float32), faces, color=HELD, opacity=opacity, visible=False, cast_shadow=False
    )
