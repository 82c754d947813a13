"""Figures from simulated runs: what the parameters do, how the arm behaves in contact and when something fails."""

import json
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.contact.vibration import press_with_trace
from figures.look import FAULTY, FOLDER, IDEAL, NEUTRAL, OURS, panels
from ur_admittance_lab.scenarios import Setup, Stage, run_scenario

PUSH, PUSHED = 10.0, 1.0  # [N], [s]


def pushed(changes: dict[str, Any], after: float = 2.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time [s], distance [mm] and speed [mm/s] along y of a tool that is pushed with 10 N for one second."""
    stage = Stage(Setup(changes=changes))
    stage.run(1.0)
    begin = stage.time
    stage.push(PUSHED, [0.0, PUSH, 0.0, 0.0, 0.0, 0.0])
    stage.run(after)
    end = stage.time
    part = stage.finish().since(begin, end)
    y = part.command["p_tcp"][:, 1]
    return part.t, 1e3 * (y - y[0]), 1e3 * part.command["twist"][:, 1]


def six(linear: float, angular: float) -> list[float]:
    return [linear] * 3 + [angular] * 3


def _shade(axes: Any) -> None:
    axes.axvspan(0.0, PUSHED, color=NEUTRAL, alpha=0.18, lw=0)
    axes.set_xlabel("time [s]")


def pure_and_spring() -> Figure:
    figure, (left, right) = panels(1, 2, sharey=True)
    for axes, k, title in ((left, 0.0, "K = 0: pure admittance"), (right, 300.0, "K = 300 N/m: spring")):
        t, distance, _ = pushed({"admittance.stiffness": six(k, 0.0)})
        axes.plot(t, distance, color=OURS)
        _shade(axes)
        axes.set_title(title)
    left.set_ylabel("distance moved [mm]")
    left.text(0.05, 118, "10 N", color=IDEAL)
    right.axhline(1e3 * (PUSH - 1.5) / 300.0, ls="--", color=IDEAL, lw=1.0)
    right.text(1.5, 1e3 * (PUSH - 1.5) / 300.0 + 3, "(F - 1.5 N) / K = 28 mm", fontsize=9)
    return figure


def feel() -> Figure:
    figure, (left, right) = panels(1, 2)
    for mass, colour in ((4.0, OURS), (8.0, IDEAL), (16.0, FAULTY)):
        t, _, speed = pushed({"admittance.mass": six(mass, 0.8), "admittance.damping": six(64.0, 6.4)}, 1.0)
        left.plot(t, speed, color=colour, label=f"{mass:g} kg")
    left.set(ylabel="speed [mm/s]", title="mass: how quickly (damping 64 Ns/m)")
    for damping, colour in ((32.0, OURS), (64.0, IDEAL), (128.0, FAULTY)):
        t, _, speed = pushed({"admittance.damping": six(damping, 6.4)}, 1.0)
        right.plot(t, speed, color=colour, label=f"{damping:g} Ns/m")
    right.set(ylabel="speed [mm/s]", title="damping: how fast in the end (mass 8 kg)")
    for axes in (left, right):
        _shade(axes)
        axes.legend()
    return figure


def dropout() -> Figure:
    trace = run_scenario("dropout", Setup()).trace
    speed, mode = 1e3 * np.linalg.norm(trace.command["twist"][:, :3], axis=1), trace.command["mode"]
    fault = int(np.argmax(mode == 3))
    reset = fault + int(np.argmax(mode[fault:] != 3))
    figure, axes = panels(height=2.7)
    axes.plot(trace.t, speed, color=OURS)
    axes.axvspan(trace.t[fault], trace.t[reset], color=FAULTY, alpha=0.12, lw=0, label="fault: brakes, then holds")
    axes.axvline(trace.t[fault] - 0.052, color=IDEAL, ls=":", label="the last reading of the sensor")
    axes.set(
        xlabel="time [s]", ylabel="speed [mm/s]", title="the sensor falls silent in full motion; reset; pushed again"
    )
    axes.legend()
    return figure


def two_sensors() -> Figure:
    outcome = run_scenario("two_sensors", Setup())
    trace = outcome.trace
    figure, (above, below) = panels(2, height=4.2, sharex=True)
    for curve, colour, style in zip(outcome.curves, (NEUTRAL, FAULTY), ("--", "-"), strict=True):
        above.plot(curve.t, curve.y, color=colour, ls=style, lw=1.0, label=f"{curve.label} sensor")
    above.plot(trace.t, trace.command["wrench_tcp"][:, 1], color=OURS, label="used")
    below.plot(trace.t, 1e3 * trace.command["twist"][:, 1], color=OURS)
    above.set(
        ylabel="force [N]", title="the first of two sensors falls silent in the middle of a push, and again at rest"
    )
    below.set(xlabel="time [s]", ylabel="speed [mm/s]")
    above.legend()
    return figure


def surface() -> Figure:
    figure, axes = panels(height=3.0)
    for shape, colour in (("flat", NEUTRAL), ("incline", OURS), ("cylinder", FAULTY)):
        outcome = run_scenario("surface", Setup(options={"shape": shape}))
        trace = outcome.trace
        force = np.linalg.norm(trace.contact[:, :3], axis=1)
        axes.plot(trace.t, force, color=colour, lw=1.2, label=shape)
    axes.axhline(10.0, ls="--", color=IDEAL, lw=1.0, label="desired (normal part)")
    axes.set(
        xlabel="time [s]",
        ylabel="contact force [N]",
        title="pressing with 10 N, sliding at 20 mm/s from 3 s on",
        ylim=(0, 14),
    )
    axes.legend(ncols=4)
    return figure


def walls() -> Figure:
    figure, axes = panels(height=3.0)
    for stiffness, colour in ((1e3, NEUTRAL), (1e4, OURS), (1e5, FAULTY)):
        trace = run_scenario("wall", Setup(options={"stiffness": stiffness, "hold": 2.0})).trace
        force = -trace.contact[:, 0]
        touch = int(np.argmax(force > 0.5))
        shown = slice(touch - 50, touch + 900)
        axes.plot(trace.t[shown] - trace.t[touch], force[shown], color=colour, label=f"{stiffness / 1e3:g} kN/m")
    axes.axhline(10.0, ls="--", color=IDEAL, lw=1.0)
    axes.set(
        xlabel="time since contact [s]",
        ylabel="contact force [N]",
        title="driving into a wall and pressing it with 10 N",
    )
    axes.legend(title="wall")
    return figure


def insertion() -> Figure:
    trace = run_scenario("peg_in_hole", Setup()).trace
    depth = 1e3 * (trace.command["p_tcp"][0, 2] - trace.command["p_tcp"][:, 2])
    force = np.linalg.norm(trace.contact[:, :3], axis=1)
    figure, (left, right) = panels(1, 2)
    left.plot(trace.t, depth, color=OURS)
    left.set(xlabel="time [s]", ylabel="distance down [mm]", title="a peg 2 mm and 2 degrees off")
    right.plot(trace.t, force, color=FAULTY, lw=1.0)
    right.set(xlabel="time [s]", ylabel="contact force [N]", title="what the hole feels")
    return figure


def vibration() -> Figure:
    figure, (left, right) = panels(1, 2, sharey=True)
    for axes, notch, title in ((left, "without", "as it is read"), (right, "found", "without its tone, found at rest")):
        cell, trace = press_with_trace(50.0, 20.0, 1e5, notch)
        force, used = trace.contact[:, 2], trace.command["wrench_tcp"][:, 2]
        part = slice(round((trace.t[-1] - 3.0) * 500), round((trace.t[-1] - 2.0) * 500))
        t = trace.t[part] - trace.t[part][0]
        axes.plot(t, used[part], color=NEUTRAL, lw=0.6, label="what the law sees")
        axes.plot(t, force[part], color=FAULTY if notch == "without" else OURS, lw=1.0, label="contact")
        axes.axhline(10.0, ls="--", color=IDEAL, lw=1.0)
        axes.set(xlabel="time [s]", title=f"{title}: slow swing {cell.swing:.1f} N")
        axes.legend(loc="lower right")
    left.set_ylabel("force [N]")
    return figure


def jitter() -> Figure:
    """Bars from docs/measured/realtime.json, written by `python -m benchmarks.loop --write`."""
    result = json.loads((FOLDER.parent.parent / "measured" / "realtime.json").read_text())["loop"]
    names = [row["title"] for row in result.values()]
    longest = [row["period_max"] / 1e3 for row in result.values()]
    figure, axes = panels(height=3.0, width=8.4)
    colours = [FAULTY if value > 4.0 else OURS for value in longest]
    axes.barh(range(len(names)), longest, color=colours)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(1.5, 1000)
    axes.axvline(2.0, color=IDEAL, lw=1.0)
    axes.axvline(100.0, color=IDEAL, lw=1.0, ls="--")
    axes.set_title("target: 2 ms (line); from 100 ms on (dashed) the arm is stopped")
    axes.set(xlabel="longest time between two cycles [ms]")
    return figure


RUNS = {
    "pure_and_spring": pure_and_spring,
    "feel": feel,
    "dropout": dropout,
    "two_sensors": two_sensors,
    "surface": surface,
    "walls": walls,
    "insertion": insertion,
    "vibration": vibration,
    "jitter": jitter,
}
