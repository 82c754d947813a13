"""Pictures of the arm: frames and signs, and the animation of the first page. The arm is the model's own kinematics."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from figures.look import FAULTY, FOLDER, IDEAL, NEUTRAL, OURS
from ur_admittance.model import robot_model
from ur_admittance_lab.scenarios import Setup, Stage

MODEL = robot_model("ur5e")
TCP = 0.15  # [m] in front of the flange
X, Y, Z = "#c62828", "#2e7d32", "#1565c0"


def joints(q: Any) -> np.ndarray:
    """Origins of base, the six joints, the flange and the TCP (9, 3) [m]."""
    R, p, points = np.eye(3), np.zeros(3), [np.zeros(3)]
    for i in range(7):
        p = p + R @ MODEL.chain_position[i]
        R = R @ MODEL.chain_rotation[i]
        points.append(p)
        if i < 6:
            c, s = np.cos(q[i]), np.sin(q[i])
            R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    return np.array([*points, p + R @ [0.0, 0.0, TCP]])


def side(points: Any) -> np.ndarray:
    """Seen from -y, a little from above and the side: (n, 2)."""
    points = np.atleast_2d(points)
    return np.column_stack([points[:, 0] + 0.35 * points[:, 1], points[:, 2] + 0.25 * points[:, 1]])


def draw_arm(axes: Any, q: Any, colour: str = "#b0bec5", width: float = 7.0) -> np.ndarray:
    flat = side(joints(q))
    axes.plot(flat[:, 0], flat[:, 1], color=colour, lw=width, solid_capstyle="round", solid_joinstyle="round", zorder=1)
    axes.plot(flat[1:8, 0], flat[1:8, 1], "o", color="white", mec=colour, ms=width * 0.9, zorder=2)
    return flat


def axes_of(axes: Any, R: np.ndarray, p: np.ndarray, name: str, at: tuple[float, float], size: float = 0.13) -> None:
    for i, (colour, letter) in enumerate(zip((X, Y, Z), "xyz", strict=True)):
        start, end = side(p)[0], side(p + size * R[:, i])[0]
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8}, zorder=4)
        tip = start + 1.22 * (end - start)
        axes.text(*tip, letter, color=colour, fontsize=9, ha="center", va="center", zorder=5)
    axes.text(*(side(p)[0] + np.array(at)), name, fontsize=10, color=IDEAL, fontweight="bold", zorder=5)


def frames() -> Figure:
    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    q = MODEL.home
    draw_arm(left, q)
    R, p = MODEL.forward(q)
    axes_of(left, np.eye(3), np.zeros(3), "base (base_link)", (-0.3, -0.08))
    axes_of(left, R, p, "flange = sensor (tool0)", (0.06, 0.06))
    axes_of(left, R, p + R @ [0, 0, TCP], "tcp", (0.07, -0.02))
    left.set(xlim=(-0.42, 1.12), ylim=(-0.14, 0.8), aspect="equal", title="T_base_tcp = T_base_flange T_flange_tcp")
    left.axis("off")
    # signs
    right.set(xlim=(0, 4.2), ylim=(0, 4.6), aspect="equal", title="signs")
    right.axis("off")
    rows = (
        (3.7, "a hand pushes the tool along +x", "wrench force.x > 0,\nthe tool moves along +x", OURS, 1),
        (2.2, "the tool presses a wall on its +x side", "the wall pushes back:\nwrench force.x < 0", FAULTY, -1),
        (
            0.7,
            "the tool rests on a table",
            "wrench force.z > 0;\ndesired_wrench z = +10 N\npresses down with 10 N",
            Z,
            2,
        ),
    )
    for y, title, text, colour, kind in rows:
        right.text(0.0, y + 0.55, title, fontsize=9.5, color=IDEAL, fontweight="bold")
        right.add_patch(_rectangle(0.65, y - 0.25))
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.5}
        if kind == 1:
            right.annotate("", (0.65, y), (0.0, y), arrowprops=arrow)
        elif kind == -1:
            right.plot([1.22, 1.22], [y - 0.45, y + 0.42], color=NEUTRAL, lw=5)
            right.annotate("", (0.35, y), (1.15, y), arrowprops=arrow)
        else:
            right.plot([0.4, 1.45], [y - 0.33, y - 0.33], color=NEUTRAL, lw=5)
            right.annotate("", (0.92, y + 0.42), (0.92, y - 0.3), arrowprops=arrow)
        right.text(1.6, y, text, fontsize=9, va="center", color=colour)
    return figure


def _rectangle(x: float, y: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 0.5, 0.5, fc="#cfd8dc", ec=NEUTRAL)


def pushed(stiffness: float, seconds: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles (n, 6) and the force along z [N] (n,) of a run in which the tool is pushed up for 1.2 s, at 25 Hz."""
    stage = Stage(Setup(), {"admittance.stiffness": [stiffness] * 3 + [0.0] * 3})
    stage.run(1.0)
    begin, force = stage.time, []

    def script(s: Stage, t: float) -> None:
        if abs(t - 0.6) < 1e-9:
            s.world.push([0.0, 0.0, 12.0, 0.0, 0.0, 0.0])
        if abs(t - 1.8) < 1e-9:
            s.world.let_go()
        force.append(12.0 if 0.6 <= t < 1.8 else 0.0)

    stage.run(seconds, script)
    end = stage.time
    part = stage.finish().since(begin, end)
    return part.sample["q"][::20], np.array(force)[::20]


def animation(path: Path = FOLDER / "push.svg") -> Path:
    """Two arms side by side in one animated SVG: K = 0 moves and stays, K = 150 N/m comes back."""
    width, height, scale = 760, 330, 290.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for column, (k, title) in enumerate(
        ((0.0, "K = 0: pushed, it moves and stays"), (150.0, "K = 150 N/m: released, it comes back"))
    ):
        q, force = pushed(k)
        x0 = 60 + column * width / 2
        points = [side(joints(row)) * [scale, -scale] + [x0, 290] for row in q]
        time = f'dur="{len(q) / 25:g}s" repeatCount="indefinite" calcMode="linear"'
        lines = [" ".join(f"{x:.0f},{y:.0f}" for x, y in flat) for flat in points]
        parts.append(f'<line x1="{x0 - 40}" y1="291" x2="{x0 + 290}" y2="291" stroke="#b0bec5" stroke-width="3"/>')
        parts.append(
            f'<polyline points="{lines[0]}" fill="none" stroke="#b0bec5" stroke-width="15" stroke-linejoin="round" stroke-linecap="round"><animate attributeName="points" {time} values="{";".join(lines)}"/></polyline>'
        )
        parts.append(f'<rect x="{x0 - 14:.0f}" y="272" width="28" height="20" rx="4" fill="#546e7a"/>')
        for joint in (2, 3, 4, 5, 6):
            xs, ys = (";".join(f"{flat[joint][i]:.0f}" for flat in points) for i in (0, 1))
            parts.append(
                f'<circle r="8.5" fill="#4a90b8" stroke="white" stroke-width="2" cx="{points[0][joint][0]:.0f}" '
                f'cy="{points[0][joint][1]:.0f}"><animate attributeName="cx" {time} values="{xs}"/>'
                f'<animate attributeName="cy" {time} values="{ys}"/></circle>'
            )
        tips = [flat[-1] for flat in points]
        steady = np.array([tip[1] for tip in tips])
        shown = ";".join("1" if f > 0 else "0" for f in force)
        hand = ";".join(f"{tip[0]:.0f} {tip[1] + 8:.0f}" for tip in tips)
        parts.append(
            f'<g opacity="0"><animate attributeName="opacity" dur="{len(q) / 25:g}s" repeatCount="indefinite" calcMode="discrete" values="{shown}"/><g><animateTransform attributeName="transform" type="translate" {time} values="{hand}"/><path d="M0,0 L-9,17 L-3,17 L-3,52 L3,52 L3,17 L9,17 Z" fill="{OURS}"/><text x="14" y="48" font-size="14" fill="{OURS}">12 N</text></g></g>'
        )
        parts.append(
            f'<line x1="{tips[0][0] - 60:.0f}" x2="{tips[0][0] + 60:.0f}" y1="{steady[0]:.0f}" y2="{steady[0]:.0f}" stroke="{FAULTY}" stroke-dasharray="4 4"/>'
        )
        parts.append(f'<text x="{x0 + 120}" y="24" font-size="16" text-anchor="middle" fill="{IDEAL}">{title}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")
    return path


PICTURES = {"frames": frames}
