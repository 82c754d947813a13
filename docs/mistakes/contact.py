"""Mistake 13: the dead time of the robot. The tool drives into a wall and should press it with 10 N."""

import math

import numpy as np
from figures.look import FAULTY, IDEAL, OURS, panels
from matplotlib.figure import Figure

from ur_admittance_lab.scenarios import Setup, run_scenario

STIFFNESS = 1e4  # [N/m] hard rubber, thin wood


def dead_time() -> tuple[dict[str, float], Figure]:
    """13. 8 kg and 64 Ns/m (stable on paper) behind 10 ms of delay, with and without the contact stabiliser."""
    options = {"stiffness": STIFFNESS, "hold": 4.0}
    damping = [64.0] * 3 + [math.nan] * 3
    figure, axes = panels(height=3.2)
    numbers = {}
    for switch, colour, name, key in (
        (False, FAULTY, "64 Ns/m, delay ignored", "bounce_N"),
        (True, OURS, "ours: damping for stiffness and delay", "ours_bounce_N"),
    ):
        changes = {"contact.stabilizer": switch, "admittance.damping": damping}
        outcome = run_scenario("wall", Setup(changes=changes, options=options))
        trace = outcome.trace
        force = -trace.contact[:, 0]
        touch = int(np.argmax(force > 1.0))
        shown = slice(max(0, touch - 50), touch + 1500)
        axes.plot(trace.t[shown] - trace.t[touch], force[shown], color=colour, linewidth=1.2, label=name)
        settled = force[touch + 500 : touch + 2000]
        numbers[key] = float(np.ptp(settled))
        numbers[key.replace("bounce_N", "damping")] = float(trace.command["damping"][touch + 1500, 0])
    axes.axhline(10.0, linestyle="--", color=IDEAL, label="target: 10 N")
    axes.set(xlabel="time since contact [s]", ylabel="contact force [N]", title="pressing a wall of 10 kN/m")
    axes.legend()
    return numbers, figure
