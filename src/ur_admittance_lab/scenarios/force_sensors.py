"""Scenario with two force sensors: one of them fails in the middle of a push, and the arm goes on with the other."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated import SecondSensor
from ur_admittance.robots.simulated.second import SECOND, SensorFault
from ur_admittance_lab.scenarios.outcome import Curve, Metric, Outcome
from ur_admittance_lab.scenarios.stage import Setup, Stage

Array = NDArray[np.float64]

Y = np.array([0.0, 1.0, 0.0])
PUSH, RISE = 12.0, 0.1  # [N], [s] of the hand
SIZES = {"drift": 1.0, "noise": 15.0}  # [N/s], [N]


def hand(t: float) -> Array:
    """A wrench (6,) that rises and falls as a hand's does [N, Nm]."""
    size = np.clip(min(t, 1.6 - t) / RISE, 0.0, 1.0)
    return np.array([0.0, PUSH * size, 0.0, 0.0, 0.0, 0.0])


def two_sensors(setup: Setup) -> Outcome:
    """Of two force sensors one fails under a push, and again at rest: it is dropped without a step, and told."""
    kind, which = setup.options.get("fault", "silent"), setup.options.get("sensor", "first")
    second = SecondSensor(SECOND.sensor, SECOND.lag)
    stage = Stage(setup, {"second.noise": 3.0 * np.ones(6)}, second=second, duration=10.0)
    fusion = stage.controller.fusion
    assert fusion is not None
    readings: list[Array] = []
    told: list[str] = []

    def look(s: Stage, t: float) -> None:
        memory = fusion.memory[0]
        readings.append(np.concatenate([[s.time], memory["e"][0], memory["e"][1], memory["out"]]))
        if fusion.remark and (not told or not told[-1].endswith(fusion.remark)):
            told.append(f"{s.time:.2f} s: {fusion.remark}")

    bad: SensorFault = stage.robot.faults if which == "first" else second.faults
    begin = stage.time
    stage.world.push(hand)
    stage.run(0.8, look)
    failed = stage.time
    bad.begin(kind, SIZES.get(kind, 20.0))
    stage.run(1.3, look)
    bad.end()
    stage.run(2.5, look)  # at rest: it agrees, and comes back
    rest, where = stage.time, stage.position
    bad.begin(kind, SIZES.get(kind, 20.0))
    stage.run(7.0 if kind == "drift" else 2.0, look)
    crept = float(np.linalg.norm(stage.position - where))
    end = stage.time
    trace = stage.finish()
    t, seen = np.array(readings)[:, 0], np.array(readings)[:, 1:]
    felt = seen[:, 12:15]
    step = float(np.abs(np.diff(felt[(t > failed) & (t < failed + 0.7)], axis=0)).max())
    pushed, moved = trace.since(begin, rest), trace.since(begin, end).command["p_tcp"]
    metrics = [
        Metric("step", step, "N", "largest change of the force from one cycle to the next, noise included"),
        Metric("moved_at_rest", 1e3 * crept, "mm", "by the fault alone, nothing pushes"),
        Metric("pushed", 1e3 * float(np.ptp(pushed.command["p_tcp"][:, 1])), "mm", "by the hand"),
        Metric("distance", 1e3 * float(moved[-1, 1] - moved[0, 1]), "mm", "from the start to the end"),
        Metric("told", float(len(told)), "", "sentences about the sensors"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    R = trace.command["R_tcp"][0]
    curves = [Curve("force", t, seen[:, a : a + 3] @ (R.T @ Y), name) for name, a in (("first", 0), ("second", 6))]
    story = [f"The {which} sensor is {kind.replace('_', ' ')} from {failed:.2f} s and from {rest:.2f} s on.", *told]
    return Outcome("two_sensors", setup.robot, setup.seed, metrics, trace, Y, curves, story)
