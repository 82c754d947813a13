"""A hand that trembles and a tool that bounces on a wall, each asked whose oscillation it is."""

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from figures.look import FAULTY, IDEAL, NEUTRAL, OURS, panels
from ur_admittance.core.contact.oscillation import SLOWER
from ur_admittance.robots.simulated import Environment, Servo
from ur_admittance.robots.simulated.hand import Path
from ur_admittance_lab.scenarios.in_contact import OVER_TABLE
from ur_admittance_lab.scenarios.stage import Setup, Stage

Array = NDArray[Any]

Z = 2  # axis of the hand's force and of the floor
ALONG: Array = np.eye(6)[Z]
LATE = Servo(delay=0.016)  # and 25 Hz: about 25 ms with filter and tick
GRIP, GRIP_DAMPING = 800.0, 40.0  # [N/m], [Ns/m]
TREMOR, TREMOR_HZ = 2.0, 8.0  # [N] on a tool that is held fast
FLOOR, GAP = 6e3, 0.005  # [N/m], [m]
SHOWN = 3  # half cycles before the question: the fourth begins with the touch
PRESSED, SPEED = 0.02, 0.02  # [m] into the floor, [m/s]
DTYPE = [("force", float), ("asked", bool), ("since", float), ("damping", float)]


def recorded(path: Path, seconds: float, environment: Environment | None = None) -> tuple[Array, Array]:
    """Time [s] and what the observer of that axis knew, with a hand that wants to be on the path."""
    stage = Stage(Setup(), environment=environment, servo=LATE, q=OVER_TABLE)
    stage.world.grab(path, stiffness=(GRIP, 30.0), damping=(GRIP_DAMPING, 1.0))
    rows = []

    def note(s: Stage) -> bool:
        command, known = s.controller.command, s.controller.state["contact"]["oscillation"]
        force, damping = command["wrench_tcp"][Z], command["damping"][Z]
        rows.append((force, known["asked"][Z] != 0.0, known["time"][Z], damping))
        return False

    stage.run(seconds, until=note)
    stage.finish()
    table = np.array(rows, dtype=DTYPE)
    return np.arange(len(table)) * stage.period, table


def trembling(t: float) -> Array:
    rate = 2.0 * math.pi * TREMOR_HZ
    amplitude = TREMOR / math.hypot(GRIP, GRIP_DAMPING * rate)
    return ALONG * amplitude * math.sin(rate * t) * min(1.0, t / 0.2)


def pressing(t: float) -> Array:
    return -ALONG * min(SPEED * t, GAP + PRESSED)


def half_cycles(t: Array, table: Array) -> tuple[Array, Array]:
    """When each half cycle ended, and how long it was [s]."""
    ends = np.flatnonzero(np.diff(table["since"]) < 0.0)
    return t[ends + 1], table["since"][ends] + t[1]


def hands_and_walls() -> Figure:
    figure, axes = panels(2, 2, height=4.6, sharex="col", height_ratios=(3, 2))
    runs = (
        ("a hand trembles with 2 N at 8 Hz", trembling, 1.8, None, (0.0, 1.4), 3.2),
        (
            "pressed by hand on a floor of 6 kN/m",
            pressing,
            5.0,
            Environment.floor(FLOOR, gap=GAP),
            (0.3, 2.9),
            34.0,
        ),
    )
    for (above, below), (title, path, seconds, environment, shown, limit) in zip(axes.T, runs, strict=True):
        t, table = recorded(path, seconds, environment)
        asked = np.flatnonzero(table["asked"])
        first, last = t[asked[0]], t[asked[0] + np.argmin(table["asked"][asked[0] :])]
        ended, lasted = half_cycles(t, table)
        before = lasted[ended <= first + t[1]][-SHOWN:].mean()
        counted = (ended > first - (SHOWN - 0.5) * before) & (ended <= last + 0.01)
        raised = np.flatnonzero(table["damping"] > 1.01 * table["damping"][0])
        above.plot(t, table["force"], color=OURS, lw=1.3)
        colour = FAULTY if len(raised) else OURS
        below.plot(ended[counted], lasted[counted] / before, "o", color=colour, ms=5)
        below.axhline(SLOWER, color=IDEAL, ls="--", lw=1.0)
        for panel in (above, below):
            panel.axvspan(first, last, color=NEUTRAL, alpha=0.2, lw=0)
        answer = f"the arm's: {table['damping'].max():.0f} Ns/m" if len(raised) else "the hand's: as before"
        words = {"transform": above.get_xaxis_transform(), "fontsize": 9}
        above.text(0.5 * (first + last), 0.03, "mass x 3", ha="center", **words)
        above.text(shown[1], 0.92, answer, ha="right", color=colour, **words)
        above.set(title=title, xlim=shown, ylim=(-limit, limit))
        below.set(xlabel="time [s]", ylim=(0.6, 2.2))
        below.xaxis.set_major_locator(MultipleLocator(0.5))
    axes[0, 0].set_ylabel("force in the sensor [N]")
    axes[1, 0].set_ylabel("half cycle, over the\nmean before asking")
    axes[1, 0].text(0.03, SLOWER + 0.05, "above: the arm's own", fontsize=9)
    return figure


HANDS = {"hands_and_walls": hands_and_walls}
