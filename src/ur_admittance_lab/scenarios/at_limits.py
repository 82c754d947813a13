"""Scenarios at the limits: singularities, joint limits, the workspace box, a sensor that falls silent."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status
from ur_admittance_lab.episodes import Trace
from ur_admittance_lab.scenarios.outcome import Metric, Outcome
from ur_admittance_lab.scenarios.stage import Setup, Stage

Array = NDArray[np.float64]

X, Y, Z = np.eye(3)


def straightness(part: Trace, axis: Array) -> float:
    """Largest distance of the commanded reference from the straight line it started on [m]."""
    moved = part.command["p_tcp"] - part.command["p_tcp"][0]
    across = moved - np.outer(moved @ axis, axis)
    return float(np.linalg.norm(across, axis=1).max())


def _joint_share(part: Trace, stage: Stage) -> float:
    return float((np.abs(part.command["qd"]) / stage.controller.params["joint_velocity"]).max())


def _common(part: Trace, stage: Stage) -> list[Metric]:
    acceleration = np.diff(part.command["qd"], axis=0) / part.period / stage.controller.params["joint_acceleration"]
    return [
        Metric("joint_speed", 100.0 * _joint_share(part, stage), "%", "of the limit, fastest joint"),
        Metric("joint_acceleration", 100.0 * float(np.abs(acceleration).max()), "%", "of the limit, largest"),
        Metric("realtime_factor", part.realtime_factor, "x", "simulated over real time"),
    ]


def singularity(setup: Setup) -> Outcome:
    """Pushed past a nearly straight wrist and out to a straight elbow, the tool slows down and does not swerve."""
    q = [0.0, -1.9, 2.2, -1.9, -0.35, 0.0]
    stage = Stage(setup, q=q, duration=7.0)
    start = stage.time
    stage.push(1.0, [0.0, 35.0, 0.0, 0.0, 0.0, 0.0])
    middle = stage.time
    stage.push(2.5, [40.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    end = stage.time
    trace = stage.finish()
    part = trace.since(start, end)
    metrics = [
        Metric("sigma_min", float(part.command["sigma_min"].min()), "", "smallest singular value that was met"),
        Metric("path_deviation", 1e3 * straightness(trace.since(start, middle), Y), "mm", "off the line, at the wrist"),
        Metric("slowed_to", 100.0 * float(part.command["scale"].min()), "%", "of the wanted speed"),
        *_common(part, stage),
    ]
    return Outcome("singularity", setup.robot, setup.seed, metrics, trace, Y)


def joint_limit(setup: Setup) -> Outcome:
    """A push drives a joint to its position limit: the whole tool brakes in time, and goes back when pushed back."""
    near = 0.5
    own = {
        "joint_limits.position_lower": [-near] + [math.nan] * 5,
        "joint_limits.position_upper": [near] + [math.nan] * 5,
    }
    stage = Stage(setup, own, duration=6.0)
    start = stage.time
    stage.push(3.0, [0.0, 30.0, 0.0, 0.0, 0.0, 0.0])
    reached = float(stage.world.q[0])
    held = stage.time
    stage.push(1.0, [0.0, -30.0, 0.0, 0.0, 0.0, 0.0])
    back = stage.time
    trace = stage.finish()
    part = trace.since(start, back)
    room = near - np.abs(part.command["q"][:, 0]).max()
    back_again = abs(part.command["p_tcp"][-1, 1] - trace.since(held).command["p_tcp"][0, 1])
    metrics = [
        Metric("room_left", math.degrees(float(room)), "deg", "to the limit; never negative"),
        Metric("reached", math.degrees(reached), "deg", "joint 1 of +-28.6"),
        Metric("path_deviation", 1e3 * straightness(trace.since(start, held), Y), "mm", "from the straight line"),
        Metric("distance_back", 1e3 * float(back_again), "mm", "moved in 1 s when pushed back: it is not stuck"),
        *_common(part, stage),
    ]
    return Outcome("joint_limit", setup.robot, setup.seed, metrics, trace, Y)


def workspace(setup: Setup) -> Outcome:
    """Pushed into a wall of the workspace box: it brakes inside the acceleration limit and slides along the wall."""
    stage_position = 0.15
    probe = Stage(replace(setup, log=None), duration=5.0)  # for where the tool is
    wall = float(probe.position[1] + stage_position)
    own = {"workspace.max": [math.nan, wall, math.nan]}
    stage = Stage(setup, own, duration=5.0)
    start = stage.time
    stage.push(2.0, [5.0, 40.0, 0.0, 0.0, 0.0, 0.0])
    stage.run(0.5)
    end = stage.time
    trace = stage.finish()
    part = trace.since(start, end)
    speed = part.command["twist"][:, :3]
    acceleration = np.linalg.norm(np.diff(speed, axis=0), axis=1) / part.period
    along = part.command["p_tcp"][-1, 0] - part.command["p_tcp"][0, 0]
    metrics = [
        Metric("beyond_wall", 1e3 * float(part.command["p_tcp"][:, 1].max() - wall), "mm", "negative: stayed inside"),
        Metric("top_speed", float(np.linalg.norm(speed, axis=1).max()), "m/s", "before it brakes"),
        Metric("acceleration", float(acceleration.max()), "m/s2", "largest; limit is max_linear_acceleration"),
        Metric("along_wall", 1e3 * float(along), "mm", "slid along it"),
        *_common(part, stage),
    ]
    return Outcome("workspace", setup.robot, setup.seed, metrics, trace, Y)


def dropout(setup: Setup) -> Outcome:
    """The sensor falls silent in full motion: the arm brakes and says why, then is reset and goes on."""
    stage = Stage(setup, duration=4.0)
    stage.world.push([0.0, 25.0, 0.0, 0.0, 0.0, 0.0])
    stage.run(0.6)
    speed = float(np.linalg.norm(stage.controller.command["twist"][:3]))
    silent, where = stage.time, stage.position
    stage.robot.drop_wrench()
    stage.run(1.0, until=lambda s: s.controller.mode == Mode.FAULT)
    noticed = stage.time
    stage.run(1.5, until=lambda s: not np.any(s.controller.command["qd"]))
    stood = stage.time
    stage.world.let_go()
    stage.run(0.3)
    travel = float(np.linalg.norm(stage.position - where))
    stage.robot.restore()
    stage.run(0.1)
    stage.controller.reset_fault()
    stage.run(0.1)
    stage.controller.activate()
    stage.run(0.2)
    again = stage.position
    stage.push(0.5, [0.0, 15.0, 0.0, 0.0, 0.0, 0.0])
    moved = float(np.linalg.norm(stage.position - again))
    trace = stage.finish()
    slowing = trace.since(noticed, stood).command["twist"][:, :3]
    braking = np.linalg.norm(np.diff(slowing, axis=0), axis=1) / trace.period
    recovered = stage.controller.status == Status.OK and moved > 0.005
    metrics = [
        Metric("speed", speed, "m/s", "when the sensor fell silent"),
        Metric("noticed", 1e3 * (noticed - silent), "ms", "until the fault"),
        Metric("stopped", 1e3 * (stood - noticed), "ms", "from the fault to standstill"),
        Metric("travel", 1e3 * travel, "mm", "from silence to rest"),
        Metric("deceleration", float(braking.max(initial=0.0)), "m/s2", "largest; limit is max_linear_acceleration"),
        Metric("recovered", float(recovered), "", "1: reset, activated, pushed again"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    return Outcome("dropout", setup.robot, setup.seed, metrics, trace, Y)
