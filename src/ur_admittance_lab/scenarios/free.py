"""Scenarios in free space: push, spring, hand guiding."""

import math

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.law.admittance import step
from ur_admittance.params import Parameters
from ur_admittance_lab.episodes import Trace
from ur_admittance_lab.scenarios.outcome import Curve, Metric, Outcome, best_lag, rms, settling_time
from ur_admittance_lab.scenarios.stage import Setup, Stage, waypoints

Array = NDArray[np.float64]

Y = np.array([0.0, 1.0, 0.0])


def ideal_response(parameters: Parameters, axis: int, force: Array, period: float) -> Array:
    """Offset of the ideal mass, damper and spring that was asked for, from rest, one value per sample."""
    law = parameters.admittance
    m, d, k = law.mass[axis], law.effective_damping[axis], law.stiffness[axis]
    x = v = 0.0
    out = np.empty(len(force))
    for i, f in enumerate(force):
        out[i] = x
        x, v = step(0, x, v, m, d, k, float(f), period)
    return out


def push(setup: Setup) -> Outcome:
    """10 N for one second, then let go: the arm moves like the mass and damper that were asked for, and stays."""
    size, pushed, after = 10.0, 1.0, 2.0
    stage = Stage(setup, duration=pushed + after + 1.6)
    if any(stage.parameters.admittance.stiffness):
        stage.run(stage.parameters.admittance.stiffness_engagement_time)  # the spring engages
    start = stage.time
    stage.push(pushed, [0.0, size, 0.0, 0.0, 0.0, 0.0])
    stage.run(after)
    end = stage.time
    trace = stage.finish()
    part = trace.since(start, end)
    t = part.t
    felt = max(0.0, size - stage.parameters.admittance.min_motion_threshold)  # the soft deadband takes its share
    ideal = ideal_response(stage.parameters, 1, np.where(t < pushed, felt, 0.0), trace.period)
    moved = part.command["p_tcp"][:, 1] - part.command["p_tcp"][0, 1]
    lag, left = best_lag(moved, ideal, round(0.05 / trace.period))
    largest, late = float(np.abs(ideal).max()) or math.nan, round(0.5 / trace.period)  # nan: nothing is felt
    metrics = [
        Metric("distance", 1e3 * float(moved[-1]), "mm", "from the start to where the tool ends up"),
        Metric("ideal_distance", 1e3 * float(ideal[-1]), "mm", "how far it should be"),
        Metric("farthest", 1e3 * float(moved.max()), "mm", "largest distance from the start"),
        Metric("sideways", 1e3 * _sideways(part, Y), "mm", "largest motion across the push"),
        Metric("drift", 1e3 * float(abs(moved[-1] - moved[-late])), "mm", "motion in the last 0.5 s"),
        Metric("rms_error", 100.0 * rms(moved - ideal) / largest, "%", "difference from the ideal, of its largest"),
        Metric("lag", 1e3 * lag * trace.period, "ms", "shift that explains most of the difference"),
        Metric("rms_after_lag", 1e3 * left, "mm", "what is left then"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    curves = [Curve("distance", t + start, 1e3 * ideal, "ideal")]
    return Outcome("push", setup.robot, setup.seed, metrics, trace, Y, curves)


def _sideways(part: Trace, axis: Array) -> float:
    moved = part.command["p_tcp"] - part.command["p_tcp"][0]
    return float(np.linalg.norm(moved - np.outer(moved @ axis, axis), axis=1).max())


def spring(setup: Setup) -> Outcome:
    """With a spring of 300 N/m: 15 N pushes the tool to F/K; released, it returns to where it was."""
    size, pushed, after = 15.0, 3.0, 3.0
    own = {"admittance.stiffness": [300.0] * 3 + [20.0] * 3}
    stage = Stage(setup, own, duration=pushed + after + 1.6)
    stage.run(1.0)  # the spring engages
    start = stage.time
    stage.push(pushed, [0.0, size, 0.0, 0.0, 0.0, 0.0])
    released = stage.time
    stage.run(after)
    end = stage.time
    trace = stage.finish()
    part = trace.since(start, end)
    t = part.t
    law = stage.parameters.admittance
    felt = max(0.0, size - law.min_motion_threshold)
    ideal = ideal_response(stage.parameters, 1, np.where(t < pushed, felt, 0.0), trace.period)
    moved = part.command["p_tcp"][:, 1] - part.command["p_tcp"][0, 1]
    rest = felt / law.stiffness[1] if law.stiffness[1] > 0.0 and felt > 0.0 else math.nan
    held, largest = moved[t < pushed], float(ideal.max()) or math.nan
    metrics = [
        Metric("rest", 1e3 * float(held[-1]), "mm", "where the push holds the tool"),
        Metric("expected_rest", 1e3 * rest, "mm", "(F - threshold) / K"),
        Metric("overshoot", 100.0 * (float(held.max()) / rest - 1.0), "%", "beyond the rest point"),
        Metric("settling", settling_time(t[t < pushed], held, rest, 0.02 * rest), "s", "until within 2 %"),
        Metric("returned", 1e3 * float(abs(moved[-1])), "mm", "distance from the start after the release"),
        Metric("rms_error", 100.0 * rms(moved - ideal) / largest, "%", "difference from the ideal, of its largest"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    story = [f"Released at {released:.1f} s."]
    curves = [Curve("distance", t + start, 1e3 * ideal, "ideal")]
    return Outcome("spring", setup.robot, setup.seed, metrics, trace, Y, curves, story)


def hand_guiding(setup: Setup) -> Outcome:
    """A hand leads the tool to four places, then moves it back and forth at 1 Hz: how heavy does the arm feel?"""
    places = np.zeros((6, 6))
    places[1:5, :3] = [[0.1, 0.05, 0.0], [0.1, -0.1, 0.08], [-0.08, -0.05, 0.05], [0.0, 0.0, -0.05]]
    places[2, 5], places[3, 4] = 0.3, 0.2
    times = [0.0, 2.0, 4.0, 6.0, 8.0, 9.5]
    # The norm threshold would be felt as friction: here mass and damping are measured.
    own = {"admittance.min_motion_threshold": 0.0, "admittance.min_motion_threshold_torque": 0.0}
    stage = Stage(setup, own, duration=18.0)
    stage.world.grab(waypoints(times, places))
    start, worked = stage.time, stage.world.hand.work
    stage.run(times[-1])
    guided = stage.time
    work = stage.world.hand.work - worked
    swing = stage.time + 0.5
    stage.world.let_go()
    stage.run(0.5)
    frequency, size = 1.0, 0.04
    stage.world.grab(lambda t: np.array([0, 1, 0, 0, 0, 0]) * size * math.sin(2 * math.pi * frequency * t) * min(1, t))
    stage.run(7.0)
    ended = stage.time
    stage.world.let_go()
    stage.run(0.5)
    trace = stage.finish()
    part = trace.since(start, guided)
    force = np.linalg.norm(part.command["wrench_tcp"][:, :3], axis=1)
    mass, damping = apparent_impedance(trace.since(swing + 2.0, ended), frequency)
    law = stage.parameters.admittance
    chosen = np.array(law.effective_damping)
    raised = np.count_nonzero((trace.command["damping"] > chosen + 1e-9).any(axis=1))
    metrics = [
        Metric("mean_force", float(force.mean()), "N", "that the hand needs on average"),
        Metric("peak_force", float(force.max()), "N", "that the hand needs at most"),
        Metric("work", work, "J", "done by the hand"),
        Metric("apparent_mass", mass, "kg", f"felt at {frequency:g} Hz; asked for: {law.mass[1]:g}"),
        Metric("apparent_damping", damping, "Ns/m", f"felt at {frequency:g} Hz; asked for: {chosen[1]:g}"),
        Metric("mass_error", 100.0 * (mass / law.mass[1] - 1.0), "%", "of the mass"),
        Metric("damping_error", 100.0 * (damping / chosen[1] - 1.0), "%", "of the damping"),
        Metric("stabilizer_time", raised * trace.period, "s", "the contact stabiliser was on (should be 0)"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    return Outcome("hand_guiding", setup.robot, setup.seed, metrics, trace, Y)


def apparent_impedance(part: Trace, frequency: float) -> tuple[float, float]:
    """Mass [kg] and damping [Ns/m] that a hand feels at one frequency: F = (D + i w M) V, V from the measured pose."""
    omega = 2 * math.pi * frequency
    t = part.t
    turns = math.floor(t[-1] * frequency)
    window = t < turns / frequency
    wave = np.exp(-1j * omega * t[window])
    position = part.command["p_tcp"][window, 1]
    F = np.mean(wave * (part.command["wrench_tcp"][window, 1]))
    V = 1j * omega * np.mean(wave * (position - position.mean()))
    impedance = F / V
    return float(impedance.imag / omega), float(impedance.real)
