"""What a hand may move and what it feels, with one press: locks, notches, a soft box."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ur_admittance.model.frames import Array
from ur_admittance.page.drawn_guides import HELD
from ur_admittance.page.knobs import Flat, Tuner, build
from ur_admittance.params import Parameters
from ur_admittance.params.locks import AXES

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
HERE, FORGET = "here", "forget all"
AROUND, NO_BOX = "around here", "none"
BOX_NAMES = ("guiding.box_min", "guiding.box_max")
NOTCH_NAMES = tuple(f"guiding.notch_{i}" for i in range(1, 5))
REACH = 0.15  # [m] of a soft box around the tool


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
        self.p_tcp: Array = np.zeros(3)  # of the last frame
        words = "A place that the tool snaps to when a hand brings it near: where it is now."
        self._buttons(gui, "Notch", (HERE, FORGET), self._notch, words)
        words = "Its walls push a hand back, softly. Drag its corners."
        self._buttons(gui, "Soft box", (AROUND, NO_BOX), self._box, words)
        for name in ("notch_force", "box_force"):
            for knob in build(gui, f"guiding.{name}"):
                tuner.watch(knob)

    def show(self, parameters: Parameters) -> None:
        guiding = parameters.guiding
        frame = next(name for name, value in FRAMES.items() if value == guiding.lock_frame)
        pivot = " ".join(f"{1e3 * v:.0f}" for v in guiding.pivot)
        words = SENTENCES[guiding.lock].format(axis=guiding.lock_axis, frame=frame, pivot=pivot)
        colour = f"rgb{HELD}" if guiding.lock != "none" else "#868e96"
        self._words.content = (
            f'<div data-lock="{guiding.lock}" style="margin:8px 10px;border-left:6px solid {colour};padding:5px 10px;'
            f'border-radius:6px;background:rgba(128,128,128,.09);min-height:2.8em;line-height:1.4">{words}</div>'
        )

    def _notch(self, name: str) -> Flat:
        if name == FORGET:
            return dict.fromkeys(NOTCH_NAMES)
        free = [notch for notch in NOTCH_NAMES if self._tuner.flat.get(notch) is None]
        return {(free or NOTCH_NAMES)[0]: np.round(self.p_tcp, 4).tolist()}

    def _box(self, name: str) -> Flat:
        if name == NO_BOX:
            return dict.fromkeys(BOX_NAMES)
        corners = (self.p_tcp - REACH, self.p_tcp + REACH)
        return {key: np.round(corner, 4).tolist() for key, corner in zip(BOX_NAMES, corners, strict=True)}

    def _buttons(self, gui: Any, label: str, names: tuple[str, ...], changes: Callable[[str], Flat], hint: str) -> None:
        buttons = gui.add_button_group(label, names, hint=hint)

        def press(client: Any, name: str) -> None:
            self._tuner.change_if_agreed(client, changes(name), self._tuner.tell(client, "Not changed"))

        self._tuner.on_click(buttons, press)
