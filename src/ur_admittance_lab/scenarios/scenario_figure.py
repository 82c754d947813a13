"""A scenario in one picture: force, distance and speed along the direction that matters, with the ideal beside it."""

import textwrap
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ur_admittance import figures
from ur_admittance.core.records import Mode
from ur_admittance.errors import SimulationError
from ur_admittance_lab.scenarios.outcome import Outcome

PANELS = {"force": "force on the tool [N]", "distance": "distance moved [mm]", "speed": "speed of the tool [mm/s]"}
BESIDE = ("black", "tab:orange")  # of the curves next to what was measured
FAULT_COLOUR = "#f8d0d0"
MOST_POINTS = 4000
TOUCH = 0.5  # [N] a smaller true contact force is not worth a line


def draw(outcome: Outcome) -> Figure:
    trace, axis = outcome.trace, outcome.axis
    step = max(1, len(trace.t) // MOST_POINTS)
    t, command = trace.t[::step], trace.command[::step]
    measured = {
        "force": (command["wrench_tcp"][:, :3] @ axis, "measured"),
        "distance": (1e3 * (command["p_tcp"] - trace.command["p_tcp"][0]) @ axis, "measured"),
        "speed": (1e3 * command["twist"][:, :3] @ axis, "commanded"),
    }
    figure, rows = figures.panels((9, 8), len(PANELS), sharex=True)
    for row, (panel, label) in zip(rows, PANELS.items(), strict=True):
        y, name = measured[panel]
        if panel == "force" and np.abs(trace.contact).max() > TOUCH:
            row.plot(t, trace.contact[::step, :3] @ axis, color="0.6", linewidth=2.5, label="contact, true")
        row.plot(t, y, linewidth=1.2, label=name)
        beside = [curve for curve in outcome.curves if curve.panel == panel]
        for curve, colour in zip(beside, BESIDE, strict=False):
            row.plot(curve.t, curve.y, "--", color=colour, linewidth=1.2, label=curve.label)
        row.set_ylabel(label)
        row.legend(loc="upper right", fontsize=8)
        faulty = t[command["mode"] == Mode.FAULT]
        if len(faulty):
            row.axvspan(faulty[0], faulty[-1], color=FAULT_COLOUR, zorder=0)
    figures.over_time(rows)
    rows[-1].set_xlabel("time [s]")
    direction = " ".join(f"{value:g}" for value in np.round(axis, 3))
    notes = "\n".join(textwrap.fill(line, 110) for line in [*outcome.story, *(f"stopped: {s}" for s in outcome.stops)])
    figure.suptitle(f"{outcome.scenario} on a {outcome.robot}, along ({direction})\n{notes}", fontsize=10)
    return figure


def save(outcome: Outcome, path: Path) -> None:
    figures.save(draw(outcome), path, SimulationError)
