"""Mass, damping and stiffness for people who have never seen a robot: three sliders, in plain words."""

import math
from collections.abc import Callable
from typing import Any

from ur_admittance.page.file_tab import default_tuning
from ur_admittance.page.knobs import Flat, Knob, Tuner
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer

# name -> mass [kg], damping ratio, stiffness [N/m]
FEELS = {
    "Light": (4.0, 0.8, 0.0),
    "Heavy": (30.0, 0.5, 0.0),
    "Honey": (8.0, 3.0, 0.0),
    "Spring": (8.0, 0.9, 200.0),
    "Bouncy": (12.0, 0.15, 250.0),
}
PUSH_N, PUSH_NM, PUSH_S = 10.0, 1.5, 1.0
PUSHES = {
    "forward": (0, PUSH_N),
    "left": (1, PUSH_N),
    "up": (2, PUSH_N),
    "back": (0, -PUSH_N),
    "right": (1, -PUSH_N),
    "down": (2, -PUSH_N),
    "about x": (3, PUSH_NM),
    "about y": (4, PUSH_NM),
    "about z": (5, PUSH_NM),
    "about -x": (3, -PUSH_NM),
    "about -y": (4, -PUSH_NM),
    "about -z": (5, -PUSH_NM),
}  # axis of the wrench and its size [N, Nm], base axes
UNDO, DEFAULTS = "Undo", "Defaults"
UNDO_WORDS = (
    "Undo: the values before the last change that was made on this page. Defaults: of everything that can be tuned."
)

MASS, DAMPING, STIFFNESS = "#4263eb", "#e67700", "#2f9e44"
COLOURS = {"mass": MASS, "damping": DAMPING, "stiffness": STIFFNESS}

PICTURE = f"""
<svg viewBox="0 0 360 100" style="width:100%;display:block" role="img"
     aria-label="a mass held to a wall by a spring and a damper, pushed by a hand">
  <g fill="none" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">
    <path d="M34 10V82M34 18l-10 8M34 34l-10 8M34 50l-10 8M34 66l-10 8" stroke="#868e96"/>
    <path d="M34 28h24l7-11 12 22 12-22 12 22 12-22 12 22 7-11h38" stroke="{STIFFNESS}"/>
    <path d="M34 64h58M92 52v24h44M92 52h44M118 56v16M118 64h52" stroke="{DAMPING}"/>
    <rect x="170" y="16" width="66" height="60" rx="7" fill="{MASS}" stroke="none"/>
    <path d="M330 46h-78m14-11l-15 11 15 11" stroke="#e64926" stroke-width="4"/>
  </g>
  <g font-family="system-ui,sans-serif" font-size="13" text-anchor="middle">
    <text x="203" y="51" fill="#fff" font-weight="600">mass</text>
    <text x="104" y="12" fill="{STIFFNESS}">stiffness</text><text x="104" y="94" fill="{DAMPING}">damping</text>
    <text x="300" y="34" fill="#e64926">your hand</text>
  </g>
</svg>"""

HELP = {
    "mass": "How heavy the tool feels. <b>More:</b> slow to get going, hard to stop.",
    "damping": "Like moving it through honey. <b>More:</b> slower, stops at once. <b>Less:</b> it coasts and swings.",
    "stiffness": "A spring back to its start. <b>0:</b> it stays where you leave it. <b>More:</b> a harder pull.",
}


def sliders(gui: Any) -> tuple[list[Knob], dict[str, Any]]:
    """The three sliders for x, y and z together, each with its explanation, and the texts that describe the effect."""
    knobs, texts = [], {}
    for name, label, colour, low, high, step, first, unit in (
        ("mass", "Mass", MASS, 2.0, 40.0, 0.5, 8.0, "kg"),
        ("damping_ratio", "Damping", DAMPING, 0.1, 3.0, 0.05, 0.8, "ratio; 1: no swing"),
        ("stiffness", "Stiffness", STIFFNESS, 0.0, 1000.0, 10.0, 0.0, "N/m"),
    ):
        key = name.removesuffix("_ratio")
        gui.add_html(
            f'<div style="margin:7px 10px 0;font-size:0.84em;line-height:1.35"><b style="color:{colour};'
            f'font-size:1.15em">{label}</b> <span style="opacity:.6">{unit}</span><br>{HELP[key]}</div>'
        )
        handle = gui.add_slider(label, low, high, step, first, hint=f"admittance.{name} of x, y and z")
        knobs.append(_three_axes(handle, f"admittance.{name}", low, high))
        texts[key] = gui.add_html("")
    return knobs, texts


def effect(parameters: Parameters) -> dict[str, str]:
    """What the current values do, in numbers that can be seen: a push of 10 N along x."""
    admittance = parameters.admittance
    m, d, k = admittance.mass[0], admittance.effective_damping[0], admittance.stiffness[0]
    felt = max(0.0, 10.0 - admittance.min_motion_threshold)  # [N] what is left above the deadband
    up_to_speed = f"When pushed, it takes about {3.0 * m / d:.1f} s to get up to speed."
    speed = f"{d:.0f} Ns/m: a steady push of 10 N moves it at about {100.0 * felt / d:.0f} cm/s."
    if k == 0.0:
        spring = "No spring now: let go and it stays."
    else:
        ratio = d / (2.0 * math.sqrt(m * k))
        swings = "It swings before it settles." if ratio < 0.5 else "It comes back without swinging."
        spring = f"10 N stretches the spring by {100.0 * felt / k:.1f} cm. {swings}"
        speed = f"At 1 m/s it resists with {d:.0f} N."
    return {"mass": up_to_speed, "damping": speed, "stiffness": spring}


def feel_changes(name: str, flat: Flat) -> Flat:
    """Changes for one of FEELS: x, y and z only."""
    mass, ratio, stiffness = FEELS[name]
    values = {"mass": mass, "damping_ratio": ratio, "stiffness": stiffness}
    return {f"admittance.{key}": [value] * 3 + list(flat[f"admittance.{key}"][3:]) for key, value in values.items()} | {
        "admittance.damping": None
    }


def _three_axes(handle: Any, name: str, low: float, high: float) -> Knob:
    def write(value: Any, flat: Flat) -> Flat:
        within = min(max(float(value), low), high)  # a slider ends there; its number field lets more through
        return {name: [within] * 3 + list(flat[name][3:])}

    return Knob(handle, lambda flat: float(min(max(flat[name][0], low), high)), write)


class FeelTab:
    def __init__(self, gui: Any, tuner: Tuner, towards_home: Callable[[], str | None]) -> None:
        """towards_home: which of PUSHES brings the tool back; None: no arm has been seen yet."""
        self._tuner, self._towards_home = tuner, towards_home
        gui.add_html(f'<div style="margin:6px 10px 0">{PICTURE}</div>')
        feels = gui.add_button_group("Try", tuple(FEELS), hint="Sets the three sliders, then gives the tool a push.")
        knobs, self._effects = sliders(gui)
        for knob in knobs:
            tuner.watch(knob)
        values = gui.add_button_group("Values", (UNDO, DEFAULTS), hint=UNDO_WORDS)
        tuner.on_click(values, lambda client, name: tuner.safely(client, name, lambda: self._back(client, name)))
        names = tuple(PUSHES)
        labels = (f"Push {PUSH_N:g} N", "", f"Turn {PUSH_NM:g} Nm", "")
        words = f"The simulated hand pushes or turns the tool for {PUSH_S:g} s; x forward, y left, z up."
        rows = zip(labels, (names[:3], names[3:6], names[6:9], names[9:]), strict=True)
        self.pushes = [gui.add_button_group(label, row, hint=words) for label, row in rows]
        for push in self.pushes:
            tuner.on_click(push, self._push)
        tuner.on_click(feels, self._try)

    def show(self, parameters: Parameters) -> None:
        """What these values do, below each slider."""
        for key, text in effect(parameters).items():
            style = f"margin:-4px 10px 2px;font-size:0.78em;color:{COLOURS[key]}"
            self._effects[key].content = f'<div style="{style}">→ {text}</div>'

    def _push(self, client: Any, where: str) -> None:
        axis, size = PUSHES[where]
        wrench = [0.0] * 6
        wrench[axis] = size
        self._tuner.link.post({"push": {"wrench": wrench, "seconds": PUSH_S}}, self._tuner.tell(client, "Not pushed"))

    def _try(self, client: Any, name: str) -> None:
        """Set a feel, then show it with a push towards home: always the same one would walk the arm to its limit."""
        where, tell = self._towards_home(), self._tuner.tell(client, "Not changed")
        if where is None:
            return

        def then_push(answer: Answer) -> None:
            tell(answer)
            if answer.accepted and self.pushes[0].visible:
                self._push(client, where)

        self._tuner.change_if_agreed(client, feel_changes(name, self._tuner.flat), then_push)

    def _back(self, client: Any, button: str) -> str:
        told = self._tuner.tell(client, button, also_good=True)
        if button == UNDO:
            self._tuner.undo(client, told)
        else:
            self._tuner.change_if_agreed(client, default_tuning(), told)
        return ""  # the controller's answer follows
