"""Scenario: a peg finds its way into a hole by compliance alone."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.spatial import exp_so3, log_so3
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.robots.simulated import Environment, Tool
from ur_admittance_lab.scenarios.outcome import Metric, Outcome
from ur_admittance_lab.scenarios.stage import Setup, Stage

Array = NDArray[np.float64]

TOOL = Tool(mass=1.0, tcp=(0.0, 0.0, 0.15), shape="peg", radius=0.01, peg_length=0.06)
CLEARANCE, CHAMFER, DEPTH = 0.00025, 0.003, 0.045  # [m] on each side, i.e. 0.5 mm in the diameter
GAP = 0.005  # [m] above the block at the start
OFFSET, TILT = 0.002, math.radians(2.0)  # error of the start pose
Z = np.array([0.0, 0.0, 1.0])


def peg_in_hole(setup: Setup) -> Outcome:
    """A peg 2 mm and 2 degrees off slides over the chamfer into a hole with 0.5 mm clearance, pressed with 12 N."""
    model = robot_model(setup.robot)
    start, hole = _start_pose(model, setup.seed)
    stiffness = setup.options.get("stiffness", 2e4)
    environment = Environment.hole(
        TOOL.radius,
        CLEARANCE,
        stiffness,
        chamfer=CHAMFER,
        depth=DEPTH,
        at=tuple(hole),
    )
    stage = Stage(setup, inserting(), environment=environment, tool=TOOL, q=start, duration=12.0)
    begun, top = stage.time, hole[2]
    deep = stage.run(15.0, until=lambda s: s.position[2] < top - 0.9 * DEPTH)
    took = stage.time - begun
    stage.run(0.5)
    end = stage.time
    trace = stage.finish()
    part = trace.since(begun, end)
    force = np.linalg.norm(part.contact[:, :3], axis=1)
    depth = top - part.command["p_tcp"][:, 2]
    metrics = [
        Metric("inserted", float(deep), "", "1: at least 90 % of the depth"),
        Metric("depth", 1e3 * float(depth.max()), "mm", f"of {1e3 * DEPTH:g}"),
        Metric("time", took, "s", "from the start to the bottom, or until given up"),
        Metric("peak_force", float(force.max()), "N", "contact force, largest"),
        Metric("peak_torque", float(np.linalg.norm(part.contact[:, 3:], axis=1).max()), "Nm", "about the peg's tip"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    story = ["inserted" if deep else f"stuck at {1e3 * float(depth.max()):.1f} mm"]
    return Outcome("peg_in_hole", setup.robot, setup.seed, metrics, trace, Z, story=story)


def inserting() -> dict[str, Any]:
    """Press along z, yield sideways and in rotation: the reaction of the chamfer steers the peg."""
    return {
        "admittance.mass": [4.0] * 3 + [0.2] * 3,
        "admittance.damping": [800.0] * 3 + [10.0] * 3,
        "admittance.stiffness": [0.0] * 6,
        "admittance.min_motion_threshold": 0.3,
        "admittance.min_motion_threshold_torque": 0.03,
        "admittance.force_axes": [False, False, True, False, False, False],
        "admittance.desired_wrench": [0.0, 0.0, 12.0, 0.0, 0.0, 0.0],
        "contact.approach_speed": [0.01, 0.2],
    }


def _start_pose(model: RobotModel, seed: int) -> tuple[Array, Array]:
    """Joint angles with the peg off by OFFSET and TILT in random directions, and where the hole is (base, [m])."""
    rng = np.random.default_rng(seed)
    aside, axis = rng.uniform(0.0, 2 * math.pi, 2)
    nominal = np.array([0.0, -1.9, 1.9, -math.pi / 2, -math.pi / 2, 0.0])
    R, p = model.forward(nominal)
    tip = p + R @ np.array(TOOL.tcp)
    turn = np.empty((3, 3))
    exp_so3(TILT * np.array([math.cos(axis), math.sin(axis), 0.0]), turn)
    moved = tip + OFFSET * np.array([math.cos(aside), math.sin(aside), 0.0])
    q = joints_at(model, nominal, turn @ R, moved, np.array(TOOL.tcp))
    return q, tip - np.array([0.0, 0.0, GAP])


def joints_at(model: RobotModel, q: ArrayLike, R_wanted: Array, tip_wanted: Array, tcp: Array) -> Array:
    """Joint angles near q that put the peg's tip, ``tcp`` in the flange frame, there (Newton's method)."""
    angles, error = np.array(q, dtype=float), np.empty(6)
    for _ in range(20):
        R, p = model.forward(angles)
        lever = R @ tcp
        error[:3] = tip_wanted - p - lever
        log_so3(R_wanted @ R.T, error[3:])
        J = model.jacobian(angles)
        J[:3] -= np.cross(lever, J[3:].T).T  # flange -> tip: v + w x lever
        angles += np.linalg.solve(J, error)
    return angles
