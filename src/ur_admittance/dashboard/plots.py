"""The last seconds as curves. Drag sideways to zoom, double-click to zoom out, pause to look closely."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters

Array = NDArray[np.float64]

SPAN_S = 10.0
SAMPLE_HZ = 30.0
DRAW_HZ = 8.0
AXES = (("x forward", "#e03131"), ("y left", "#2f9e44"), ("z up", "#1971c2"))
JOINTS = (
    ("base", "#e03131"),
    ("shoulder", "#f08c00"),
    ("elbow", "#2f9e44"),
    ("wrist 1", "#1971c2"),
    ("wrist 2", "#9c36b5"),
    ("wrist 3", "#868e96"),
)
HEIGHT = 148  # [px]


class Plots:
    def __init__(self, gui: Any) -> None:
        self.paused = gui.add_checkbox(
            "Pause", False, hint="Freeze the curves. Drag sideways in a plot to zoom, double-click to zoom out."
        )
        self._curves = {
            "force": _Curve(gui, "Force on the tool [N]", AXES, (-8.0, 8.0)),
            "speed": _Curve(gui, "Speed of the tool [cm/s]", AXES, (-8.0, 8.0)),
            "offset": _Curve(gui, "Stretch of the spring [cm]", AXES, (-2.0, 2.0)),
            "joints": _Curve(gui, "Joint speeds [% of their limits]", JOINTS, (-20.0, 20.0)),
            "timing": _Curve(gui, "Control loop, worst of each frame [ms]",
                             (("period", "#495057"), ("computing", "#e8590c")), (0.0, 4.0)),
        }  # fmt: skip
        self._rows: deque[Array] = deque(maxlen=int(SPAN_S * SAMPLE_HZ))
        self._last_sample = self._last_draw = -1e9

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
                    command["wrench_tcp"][:3],
                    100.0 * command["twist"][:3],
                    100.0 * command["offset"][:3],
                    100.0 * record["sample"]["qd"] / speed_limits,
                    [1e3 * timing[0], 1e3 * timing[1]],
                ]
            )
        )
        if time - self._last_draw >= 1.0 / DRAW_HZ and len(self._rows) > 1:
            self._last_draw = time
            self._draw(time)

    def _draw(self, now: float) -> None:
        table = np.array(self._rows)
        t, column = table[:, 0] - now, 1
        for curve in self._curves.values():
            width = curve.count
            curve.handle.data = (t, *(np.ascontiguousarray(table[:, column + i]) for i in range(width)))
            column += width


class _Curve:
    def __init__(self, gui: Any, title: str, series: tuple[tuple[str, str], ...], span: tuple[float, float]) -> None:
        """span: the least that is shown; more if the curves need it."""
        self.count = len(series)
        low, high = ({"pad": 0.1, "soft": bound, "mode": 1} for bound in span)
        empty = np.array([-SPAN_S, 0.0])
        self.handle = gui.add_uplot(
            (empty, *(np.zeros(2) for _ in series)),
            ({"label": "s"}, *({"label": label, "stroke": colour, "width": 1.6} for label, colour in series)),
            title=title,
            scales={"x": {"time": False, "range": (-SPAN_S, 0.0)}, "y": {"range": {"min": low, "max": high}}},
            axes=({"show": False}, {"size": 44}),
            legend={"show": True},
            height=HEIGHT,
            padding=(4, 12, 16, 0),
        )


def speed_limits(model: RobotModel, parameters: Parameters) -> Array:
    """Largest joint speeds in force (6,) [rad/s]."""
    own = parameters.joint_limits.velocity or (None,) * 6
    limits = [m if v is None else min(m, v) for m, v in zip(model.velocity.tolist(), own, strict=True)]
    return parameters.velocity_scale_factor * np.array(limits)
