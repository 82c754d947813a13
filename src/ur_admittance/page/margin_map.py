"""The stability map, alive: the damping in force against the stiffness that is touched, and where contact bounces.

Both are as the arm feels them, so the stiffness is that of the surface in series with the arm's own compliance,
K K_arm / (K + K_arm): what the controller estimates, and never more than K_arm.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.axis_loop import Loop, loop_of
from ur_admittance.analysis.compliance import edge_of_stability
from ur_admittance.params import Parameters
from ur_admittance.params.locks import yielding

Array = NDArray[np.float64]

RESERVE = 2.0  # a contact is safe that would die down with the damping divided by this
DAMPING = np.geomspace(10.0, 5000.0, 60)  # [Ns/m] of the map
SOFTEST = 1e2  # [N/m] of the map
SURFACES = {"foam": 3e2, "rubber": 3e3, "wood": 3e4, "steel": 3e5}  # [N/m] under a finger-sized tool, rough
SAFE, RINGS, BOUNCES = "safe", "rings", "bounces"
INK = {SAFE: "#2b8a3e", RINGS: "#e67700", BOUNCES: "#c92a2a"}
GROUND = {SAFE: "#d3f0d8", RINGS: "#ffec99", BOUNCES: "#ffc9c9"}
AXES = ("x", "y", "z")
DRAW_S, TRAIL_S = 0.12, 4.0  # [s] between two pictures, of the trail
LEFT, RIGHT, TOP, BOTTOM = 44.0, 334.0, 8.0, 196.0  # [px] of the map in its picture


@dataclass(frozen=True)
class Touch:
    """Where the arm is on the map: a translation axis, its damping in force and what it touches (0: nothing known)."""

    axis: int
    damping: float  # [Ns/m]
    stiffness: float  # [N/m]
    holds: float  # up to which contact dies down with this damping [N/m], as the arm feels it
    zone: str


def in_series(stiffness: float, loop: Loop) -> float:
    """A surface as the arm feels it [N/m]."""
    return 1.0 / (1.0 / stiffness + 1.0 / loop.arm.stiffness)


def holds(loop: Loop, damping: float) -> float:
    """Stiffest contact, as the arm feels it, that dies down with this damping [N/m]."""
    return in_series(edge_of_stability(loop.with_damping(damping)), loop)


def zone_of(loop: Loop, damping: float, stiffness: float) -> str:
    """stiffness: as the arm feels it [N/m]; 0: nothing is touched."""
    if stiffness < holds(loop, damping / RESERVE):
        return SAFE
    return RINGS if stiffness < holds(loop, damping) else BOUNCES


def touch_of(parameters: Parameters, command: Any) -> Touch:
    """The axis that is nearest to bouncing, or, while nothing is touched, that would bounce first."""
    axes = [i for i in range(3) if yielding(parameters)[i]] or [0, 1, 2]
    found = []
    for i in axes:
        loop, given = loop_of(parameters, i), float(command["damping"][i])
        damping = given if given > 0.0 else loop.damping  # not active: that of the parameters
        stiffness = min(float(command["contact_stiffness"][i]), loop.arm.stiffness)
        most = holds(loop, damping)
        found.append((stiffness / most, -most, Touch(i, damping, stiffness, most, zone_of(loop, damping, stiffness))))
    return max(found, key=lambda one: one[:2])[2]


def doing(touch: Touch) -> str:
    """What the contact does."""
    if touch.stiffness == 0.0:
        return "Nothing stiff is touched."
    does = {SAFE: "safe", RINGS: "near its limit: it rings", BOUNCES: "it bounces: more damping helps"}[touch.zone]
    return f"Along {AXES[touch.axis]} the tool touches {kilo(touch.stiffness)}, {does}."


def holding(touch: Touch) -> str:
    """What this damping holds."""
    rigid = touch.holds > 0.95 * Loop(1.0, 1.0).arm.stiffness
    return f"This damping ({touch.damping:.0f} Ns/m) holds {'any surface' if rigid else f'up to {kilo(touch.holds)}'}."


def kilo(stiffness: float) -> str:
    return f"{1e-3 * stiffness:.1f} kN/m" if stiffness >= 1e3 else f"{stiffness:.0f} N/m"


class MarginMap:
    def __init__(self, gui: Any) -> None:
        self._html = gui.add_html("")
        self._trail: deque[tuple[float, float, float]] = deque()  # time [s], damping, stiffness
        self._drawn = -math.inf
        self._loop: Loop | None = None
        self._ground = ""
        self.touch: Touch | None = None

    def update(self, command: Any, parameters: Parameters, time: float) -> None:
        """Every frame; time [s]."""
        if time - self._drawn < DRAW_S:
            return
        self._drawn = time
        self.touch = touch = touch_of(parameters, command)
        loop = loop_of(parameters, touch.axis).with_damping(1.0)
        if loop != self._loop:
            self._loop, self._ground = loop, _ground(loop)
            self._trail.clear()
        if touch.stiffness > 0.0:
            self._trail.append((time, touch.damping, touch.stiffness))
        while self._trail and time - self._trail[0][0] > TRAIL_S:
            self._trail.popleft()
        self._html.content = (
            f'<div class="margin-map" data-zone="{touch.zone}" style="margin:8px 10px">'
            f'<div style="color:{INK[touch.zone]};font-weight:600;font-size:.9em;line-height:1.35;min-height:4.2em">'
            f"{doing(touch)} {holding(touch)}</div>{self._ground}"
            f"{self._point(touch, loop)}</svg>"
            '<div style="font-size:.78em;opacity:.75;line-height:1.35">To the right: more damping. Up: a stiffer '
            "surface, as the arm feels it. The point is the arm now: "
            "raise the damping before it leaves the green.</div></div>"
        )

    @property
    def warning(self) -> str:
        """A sentence while a contact is near its limit, with its colour; empty: it is safe."""
        if self.touch is None or self.touch.zone == SAFE:
            return ""
        return f'<span style="color:{INK[self.touch.zone]}">● {doing(self.touch)}</span>'

    def _point(self, touch: Touch, loop: Loop) -> str:
        place = _place(loop)
        points = [place(damping, stiffness) for _, damping, stiffness in self._trail]
        trail = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        x, y = place(touch.damping, touch.holds)
        ink = INK[touch.zone]
        line = f'<path d="M{x:.1f} {TOP}V{BOTTOM}" stroke="#495057" stroke-dasharray="3 3" fill="none"/>'
        line += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#fff" stroke="#495057" stroke-width="1.5"/>'
        line += f'<polyline points="{trail}" fill="none" stroke="{ink}" stroke-width="2" opacity=".5"/>'
        px, py = place(touch.damping, max(touch.stiffness, SOFTEST))
        fill = ink if touch.stiffness > 0.0 else "#fff"
        return f'{line}<circle cx="{px:.1f}" cy="{py:.1f}" r="7" fill="{fill}" stroke="{ink}" stroke-width="3"/>'


def _place(loop: Loop) -> Callable[[float, float], tuple[float, float]]:
    """(damping, stiffness) -> x, y in the picture [px]; both axes are logarithmic."""
    widest, highest = math.log(DAMPING[-1] / DAMPING[0]), math.log(1.15 * loop.arm.stiffness / SOFTEST)

    def place(damping: float, stiffness: float) -> tuple[float, float]:
        across = min(max(math.log(damping / DAMPING[0]) / widest, 0.0), 1.0)
        up = min(max(math.log(stiffness / SOFTEST) / highest, 0.0), 1.0)
        return LEFT + across * (RIGHT - LEFT), BOTTOM - up * (BOTTOM - TOP)

    return place


def _ground(loop: Loop) -> str:
    """The map without the arm; an open <svg>."""
    place = _place(loop)
    edges: dict[str, list[str]] = {SAFE: [], RINGS: []}
    for damping in DAMPING.tolist():
        for zone, part in ((SAFE, damping / RESERVE), (RINGS, damping)):
            most = holds(loop, part)
            x, y = place(damping, most if most < 0.99 * loop.arm.stiffness else 2.0 * loop.arm.stiffness)
            edges[zone].append(f"{x:.1f},{y:.1f}")
    below = f"{RIGHT},{BOTTOM} {LEFT},{BOTTOM}"
    shapes = f'<rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}" fill="{GROUND[BOUNCES]}"/>'
    for zone in (RINGS, SAFE):
        shapes += f'<polygon points="{" ".join(edges[zone])} {below}" fill="{GROUND[zone]}"/>'
    shapes += f'<polyline points="{" ".join(edges[RINGS])}" fill="none" stroke="{INK[BOUNCES]}" stroke-width="1.5"/>'
    texts = ""
    for name, stiffness in SURFACES.items():
        y = place(DAMPING[0], in_series(stiffness, loop))[1]
        shapes += f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#868e96" stroke-width=".6" stroke-dasharray="1 3"/>'
        texts += f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{name}</text>'
    for damping in (10, 100, 1000):
        x = place(damping, SOFTEST)[0]
        texts += f'<text x="{x:.1f}" y="{BOTTOM + 14}" text-anchor="middle">{damping}</text>'
    texts += f'<text x="{RIGHT}" y="{BOTTOM + 26}" text-anchor="end">damping [Ns/m]</text>'
    texts += f'<text x="{LEFT + 8}" y="{TOP + 16}" fill="{INK[BOUNCES]}" font-weight="600">bounces</text>'
    texts += (
        f'<text x="{RIGHT - 8}" y="{BOTTOM - 10}" text-anchor="end" fill="{INK[SAFE]}" font-weight="600">safe</text>'
    )
    return (
        '<svg viewBox="0 0 340 226" style="width:100%;display:block" role="img" aria-label="stability map">'
        f'{shapes}<g font-family="system-ui,sans-serif" font-size="10.5" fill="#495057">{texts}</g>'
    )
