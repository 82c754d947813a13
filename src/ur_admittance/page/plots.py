"""The last seconds as curves. Drag sideways to zoom, double-click to zoom out, pause to look closely."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance.model.look import AXIS_COLOURS, JOINT_COLOURS
from ur_admittance.params import Parameters

Array = NDArray[np.float64]

WINDOWS = {"5": 5.0, "10": 10.0, "30": 30.0, "60": 60.0}  # [s]
FIRST_WINDOW = "10"
LONGEST_S = max(WINDOWS.values())
SAMPLE_HZ = 30.0
POINTS_PER_S = 2400.0  # drawn: a longer window is drawn less often
AXES = tuple(zip(("x forward", "y left", "z up"), AXIS_COLOURS, strict=True))
JOINTS = tuple(zip(("base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"), JOINT_COLOURS, strict=True))
TIMING = (("period", "#495057"), ("computing", "#e8590c"))
HEIGHT = 150  # [px]
SMALL = "10px system-ui, sans-serif"


class Plots:
    def __init__(self, gui: Any) -> None:
        self.paused = gui.add_checkbox(
            "Pause", False, hint="Freeze the curves. Drag sideways in a plot to zoom, double-click to zoom out."
        )
        self._window = gui.add_button_group("Window [s]", tuple(WINDOWS), hint="How far back the curves go.")
        self._span = WINDOWS[FIRST_WINDOW]
        self._curves = {
            "force": _Curve(gui, "Force on the tool [N]", AXES, (-8.0, 8.0)),
            "torque": _Curve(gui, "Torque on the tool [Nm]", AXES, (-1.0, 1.0)),
            "speed": _Curve(gui, "Speed of the tool [cm/s]", AXES, (-8.0, 8.0)),
            "offset": _Curve(gui, "Stretch of the spring [cm]", AXES, (-2.0, 2.0)),
            "joints": _Curve(gui, "Joint speeds [% of their limits]", JOINTS, (-20.0, 20.0)),
            "timing": _Curve(gui, "Control loop, worst of each frame [ms]", TIMING, (0.0, 4.0)),
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
            curve.show(span)
        if len(self._rows) > 1:
            self._draw()

    def _draw(self) -> None:
        table = np.array(self._rows)
        t = table[:, 0] - table[-1, 0]
        first = int(np.searchsorted(t, -self._span))
        t, column = t[first:], 1
        for curve in self._curves.values():
            curve.draw(t, table[first:, column : column + curve.count])
            column += curve.count


class _Curve:
    def __init__(self, gui: Any, title: str, series: tuple[tuple[str, str], ...], span: tuple[float, float]) -> None:
        """span: the least that is shown; more if the curves need it."""
        self.count, self._title, self._series = len(series), title, series
        low, high = ({"pad": 0.1, "soft": bound, "mode": 1} for bound in span)
        self._y = {"range": {"min": low, "max": high}}
        first = WINDOWS[FIRST_WINDOW]
        self._heading = gui.add_html(self._words(np.zeros(self.count)))
        small = {"font": SMALL, "labelFont": SMALL}
        self.handle = gui.add_uplot(
            (np.array([-first, 0.0]), *(np.zeros(2) for _ in series)),
            ({"label": "s"}, *({"label": label, "stroke": colour, "width": 1.6} for label, colour in series)),
            scales=self._scales(first),
            axes=({"size": 26, "label": "time [s], 0 is now", "labelSize": 14, **small}, {"size": 44, **small}),
            legend={"show": True},  # the values at the pointer (addition.html)
            height=HEIGHT,
            padding=(6, 12, 0, 0),
        )

    def show(self, span: float) -> None:
        self.handle.scales = self._scales(span)

    def draw(self, t: Array, values: Array) -> None:
        self.handle.data = (t, *(np.ascontiguousarray(column) for column in values.T))
        self._heading.content = self._words(values[-1])

    def _scales(self, span: float) -> dict[str, Any]:
        return {"x": {"time": False, "range": (-span, 0.0)}, "y": self._y}

    def _words(self, now: Array) -> str:
        """Title and legend, with the present values (+ 0.0: never "-0.0")."""
        values = " ".join(  # the spaces are where a line may break
            f'<span style="color:{colour};white-space:nowrap;margin-right:.9em">{label} '
            f"<b>{round(value, 1) + 0.0:.1f}</b></span>"
            for (label, colour), value in zip(self._series, now.tolist(), strict=True)
        )
        return (
            f'<div style="margin:8px 10px -6px;font-size:.8em"><b>{self._title}</b>'
            f'<div style="font-variant-numeric:tabular-nums">{values}</div></div>'
        )


def speed_limits(model: RobotModel, parameters: Parameters) -> Array:
    """Largest joint speeds in force (6,) [rad/s]."""
    own = parameters.joint_limits.velocity or (None,) * 6
    limits = [m if v is None else min(m, v) for m, v in zip(model.velocity.tolist(), own, strict=True)]
    return parameters.velocity_scale_factor * np.array(limits)
