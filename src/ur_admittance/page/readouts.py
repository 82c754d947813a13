"""What the page shows beside the arm: what it is doing, in words, and the last seconds as curves. Drag sideways to
zoom, double-click to zoom out, pause to look closely."""

from collections import deque
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.enabling import HELD
from ur_admittance.core.faults import ENDED_BY_RESET, remedy, sentence
from ur_admittance.core.leader import WORDS as LEADERS
from ur_admittance.core.leader import Leader
from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.model import RobotModel
from ur_admittance.model.look import AXIS_COLOURS, JOINT_COLOURS
from ur_admittance.page.loop_link import Seen
from ur_admittance.params import Parameters

Array = NDArray[np.float64]
Series = tuple[Any, ...]  # label and colour; lengths of dash and gap [px] of a dashed one
Span = tuple[float, float]

WINDOWS = {"5": 5.0, "10": 10.0, "30": 30.0, "60": 60.0}  # [s]
FIRST_WINDOW = "10"
LONGEST_S = max(WINDOWS.values())
SAMPLE_HZ = 30.0
POINTS_PER_S = 2400.0  # drawn: a longer window is drawn less often
AXES = tuple(zip(("x forward", "y left", "z up"), AXIS_COLOURS, strict=True))
JOINTS = tuple(zip(("base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"), JOINT_COLOURS, strict=True))
TIMING = (("period", "#495057"), ("computing", "#e8590c"))
HEIGHT = 150  # [px]
NOW = "time [s], 0 is now"
SMALL = "10px system-ui, sans-serif"
COLOURS = {Mode.ACTIVE: "#2f9e44", Mode.INACTIVE: "#868e96", Mode.STOPPING: "#f08c00", Mode.FAULT: "#c92a2a"}
WORDS = {
    Mode.ACTIVE: "Active: the arm yields to forces",
    Mode.INACTIVE: "Holding still. Press Activate to let it yield",
    Mode.STOPPING: "Stopping",
    Mode.FAULT: "Stopped",
}
HELD_COLOUR = COLOURS[Mode.STOPPING]
HELD_WORDS = {"software": "Active, but held: hold the green button or the space bar to let it move"}
HELD_BY = "Active, but held: hold the enabling device to let it move"
LIMITS = {
    Limit.LINEAR_ACCELERATION: "acceleration limit",
    Limit.ANGULAR_ACCELERATION: "rotational acceleration limit",
    Limit.WORKSPACE: "edge of the workspace",
    Limit.LINEAR_VELOCITY: "speed limit",
    Limit.ANGULAR_VELOCITY: "rotational speed limit",
    Limit.SINGULARITY: "arm stretched or folded",
    Limit.JOINT_VELOCITY: "joint speed limit",
    Limit.JOINT_ACCELERATION: "joint acceleration limit",
    Limit.JOINT_POSITION: "end of a joint's range",
    Limit.COLLISION: "something is near",
}
DIRECTIONS = (("forward", "backward"), ("left", "right"), ("up", "down"))  # +x, +y, +z seen from behind the arm

FELT_N, MOVES = 1.5, 0.005  # [N], [m/s] below which nothing is said of a push or a motion

RESTLESS = "A simulated hand pushes the tool to and fro until you take over: drag the orange ball."


class Plots:
    def __init__(self, gui: Any) -> None:
        self.paused = gui.add_checkbox(
            "Pause", False, hint="Freeze the curves. Drag sideways in a plot to zoom, double-click to zoom out."
        )
        self._window = gui.add_button_group("Window [s]", tuple(WINDOWS), hint="How far back the curves go.")
        self._span = WINDOWS[FIRST_WINDOW]
        now = (-self._span, 0.0)
        self._curves = {
            "force": Curve(gui, "Force on the tool [N]", AXES, (-8.0, 8.0), now),
            "torque": Curve(gui, "Torque on the tool [Nm]", AXES, (-1.0, 1.0), now),
            "speed": Curve(gui, "Speed of the tool [cm/s]", AXES, (-8.0, 8.0), now),
            "offset": Curve(gui, "Stretch of the spring [cm]", AXES, (-2.0, 2.0), now),
            "joints": Curve(gui, "Joint speeds [% of their limits]", JOINTS, (-20.0, 20.0), now),
            "timing": Curve(gui, "Control loop, worst of each frame [ms]", TIMING, (0.0, 4.0), now),
        }
        self._rows: deque[Array] = deque(maxlen=int(LONGEST_S * SAMPLE_HZ))
        self._last_sample = self._last_draw = -1e9
        self._window.on_click(lambda event: self._show(WINDOWS[event.target.value]))

    def add(self, time: float, record: Any, timing: tuple[float, float], speed_limits: Array) -> None:
        """time [s] of the page; timing: longest period and latency since the last frame [s]."""
        if self.paused.value or time - self._last_sample < 0.9 / SAMPLE_HZ:
            return
        self._last_sample = time
        command = record["command"]
        self._rows.append(
            np.concatenate(
                [
                    [time],
                    command["wrench_tcp"],
                    100.0 * command["twist"][:3],
                    100.0 * command["offset"][:3],
                    100.0 * record["sample"]["qd"] / speed_limits,
                    [1e3 * timing[0], 1e3 * timing[1]],
                ]
            )
        )
        if time - self._last_draw >= self._span * SAMPLE_HZ / POINTS_PER_S and len(self._rows) > 1:
            self._last_draw = time
            self._draw()

    def _show(self, span: float) -> None:
        """Another window; also of curves that are paused."""
        self._span = span
        for curve in self._curves.values():
            curve.show(-span, 0.0)
        if len(self._rows) > 1:
            self._draw()

    def _draw(self) -> None:
        table = np.array(self._rows)
        t = table[:, 0] - table[-1, 0]
        first = int(np.searchsorted(t, -self._span))
        t, column = t[first:], 1
        for curve in self._curves.values():
            values = table[first:, column : column + curve.count]
            curve.draw(t, values)
            curve.tell(values[-1])
            column += curve.count


class Curve:
    """One plot with the present values over it."""

    def __init__(
        self, gui: Any, title: str, series: tuple[Series, ...], least: tuple[float, float], x: Span, label: str = NOW
    ) -> None:
        """least: the least that is shown; more if the curves need it. x: from where to where, and how it is called."""
        self.count, self._title, self._series, self._x = len(series), title, series, x
        low, high = ({"pad": 0.1, "soft": bound, "mode": 1} for bound in least)
        self._y = {"range": {"min": low, "max": high}}
        self._heading = gui.add_html(self._words(np.zeros(self.count)))
        small = {"font": SMALL, "labelFont": SMALL}
        styles = ({"label": name, "stroke": colour, "width": 1.6, "dash": list(dash)} for name, colour, *dash in series)
        self.handle = gui.add_uplot(
            (np.array(x), *(np.zeros(2) for _ in series)),
            ({"label": "s"}, *styles),
            scales=self._scales(),
            axes=({"size": 26, "label": label, "labelSize": 14, **small}, {"size": 44, **small}),
            legend={"show": True},  # the values at the pointer (addition.html)
            height=HEIGHT,
            padding=(6, 12, 0, 0),
        )

    def show(self, first: float, last: float) -> None:
        if self._x != (first, last):
            self._x = first, last
            self.handle.scales = self._scales()

    def draw(self, t: Array, values: Array) -> None:
        self.handle.data = (t, *(np.ascontiguousarray(column) for column in values.T))

    def tell(self, values: Array) -> None:
        """The present ones."""
        self._heading.content = self._words(values)

    def _scales(self) -> dict[str, Any]:
        return {"x": {"time": False, "range": self._x}, "y": self._y}

    def _words(self, now: Array) -> str:
        """Title and legend, with the present values (+ 0.0: never "-0.0")."""
        rows = {False: "", True: ""}  # of the solid curves, of the dashed ones; the spaces are where a line may break
        for (label, colour, *dash), value in zip(self._series, now.tolist(), strict=True):
            rows[bool(dash)] += (
                f'<span style="color:{colour};white-space:nowrap;margin-right:.9em">{label} '
                f"<b>{round(value, 1) + 0.0:.1f}</b></span> "
            )
        lines = "".join(f'<div style="font-variant-numeric:tabular-nums">{row}</div>' for row in rows.values() if row)
        return f'<div style="margin:8px 10px -6px;font-size:.8em"><b>{self._title}</b>{lines}</div>'


def speed_limits(model: RobotModel, parameters: Parameters) -> Array:
    """Largest joint speeds in force (6,) [rad/s]."""
    own = parameters.joint_limits.velocity or (None,) * 6
    limits = [m if v is None else min(m, v) for m, v in zip(model.velocity.tolist(), own, strict=True)]
    return parameters.velocity_scale_factor * np.array(limits)


def status_html(
    seen: Seen,
    recording: str = "",
    restless: bool = False,
    motion: str = "",
    unlocked: bool = False,
    at_edge: str = "",
) -> str:
    """motion: what the arm does without a push (params/own_motion.py). unlocked: the robot, by somebody on the page.
    at_edge: HTML about a contact that is near its limit."""
    command, reason = seen.record["command"], seen.reason
    mode, leader = Mode(int(command["mode"])), Leader(int(seen.record["loop"]["leader"]))
    first = WORDS[mode] if mode != Mode.FAULT else reason[:1].upper() + reason[1:]
    held = mode == Mode.ACTIVE and int(command["status"]) in HELD
    if held:
        first, reason = HELD_WORDS.get(seen.parameters.guiding.source, HELD_BY), mode.name.lower()
    elif mode == Mode.ACTIVE and leader != Leader.NOBODY:
        first += f"; {LEADERS[leader]}"
    second = happening(command) if mode != Mode.FAULT else way_out(command, unlocked)
    remark = reason.removeprefix(f"{mode.name.lower()}; ")  # about the force sensors
    if remark != reason:
        second = f"{remark[:1].upper()}{remark[1:]}. {second}"
    if motion and mode == Mode.ACTIVE and not held:
        second += f" {motion[:1].upper()}{motion[1:]}."
    if restless and mode == Mode.ACTIVE and not held:
        second = RESTLESS
    alarm = f'<div style="font-size:0.86em;color:#c92a2a">{escape(seen.warning)}</div>' if seen.warning else ""
    if at_edge and mode == Mode.ACTIVE:
        alarm += f'<div style="font-size:0.86em">{at_edge}</div>'
    dot = '<span style="color:#c92a2a">● recording</span> ' if recording else ""
    colour = HELD_COLOUR if held else COLOURS[mode]
    return (
        f'<div class="arm-status" style="margin:8px 8px 4px;border-left:6px solid {colour};'
        'background:rgba(128,128,128,.09);border-radius:6px;padding:7px 10px;line-height:1.4">'
        f'<div data-mode="{mode.name}" style="font-weight:600">{escape(first)}</div>'
        f'<div style="font-size:0.86em;min-height:2.8em">{escape(second)}</div>{alarm}'
        f'<div style="font-size:0.76em;opacity:.65">{dot}{escape(seen.model.upper())} {escape(recording)}</div></div>'
    )


def way_out(command: Any, unlocked: bool) -> str:
    """What to do in a fault, now."""
    status, hindrance = Status(int(command["status"])), Status(int(command["hindrance"]))
    if status == Status.RETREATING:
        return f"{happening(command)} Escape stops it."
    if hindrance in (Status.OVER_FORCE, Status.OVER_TORQUE):
        return f"It is still clamped: {sentence(hindrance, command['hindrance_evidence'])}. Free it, or press Retreat."
    if hindrance == Status.OK:
        return "Press Reset fault, then Activate."
    if hindrance == Status.PROTECTIVE_STOP and unlocked:
        return "The robot is unlocked and stands. Press Reset fault, then Activate."
    if hindrance == Status.PROTECTIVE_STOP:
        return "Unlock it on the pendant, or press Unlock robot. Then press Reset fault."
    if hindrance in ENDED_BY_RESET:
        return f"{remedy(hindrance)} Then press Activate."
    return f"Not yet: {sentence(hindrance, command['hindrance_evidence'])}."


def absent_html(name: str) -> str:
    return (
        '<div class="arm-status" style="margin:8px;border-left:6px solid #868e96;background:rgba(128,128,128,.09);'
        f'border-radius:6px;padding:7px 10px"><b>Waiting for the controller {escape(name)!r}.</b><br>'
        "It is still loading (a minute on the very first run), or it is not running.</div>"
    )


def happening(command: Any) -> str:
    """One sentence about force and motion now."""
    force, velocity = np.array(command["wrench_tcp"][:3]), np.array(command["twist"][:3])
    pull, speed = float(np.linalg.norm(force)), float(np.linalg.norm(velocity))
    limits = int(command["limits"])
    felt = f"The tool is pushed {direction(force)} with {pull:.0f} N" if pull > FELT_N else "Nothing pushes the tool"
    moves = f"moves {direction(velocity)} at {100.0 * speed:.0f} cm/s" if speed > MOVES else "stands still"
    if limits & Limit.COLLISION and (pair := pair_words(command["near"], command["near_distance"])):
        idle = pull <= FELT_N and speed <= MOVES
        return f"{felt}; it {moves}. {'Held at a distance' if idle else 'Slowed down'}: {pair}."
    held = [words for limit, words in LIMITS.items() if limits & limit]
    return f"{felt}; it {moves}." + (f" Limited by: {held[0]}." if held else "")


def direction(vector: Any) -> str:
    i = int(np.argmax(np.abs(vector)))
    return DIRECTIONS[i][0 if vector[i] > 0.0 else 1]
