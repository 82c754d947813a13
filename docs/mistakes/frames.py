"""Mistakes 1, 3 and 4: wrenches and velocities in the wrong frame, about the wrong point, in the wrong order."""

from typing import Any

import numpy as np
from figures.look import FAULTY, OURS, panels
from matplotlib.figure import Figure

from mistakes.ours import DAMPING, DT, IDEAL_ARM, MASS, UR5E, comply, cross, times

Result = tuple[dict[str, float], Figure]
INERTIA, ANGULAR_DAMPING = 0.8, 6.4  # [kg m2], [Nms/rad] the defaults


def law(wrench: Any, seconds: float, mass: Any, damping: Any) -> Any:
    """M a + D v = F from rest, semi-implicit Euler: six rates per tick."""
    v, out = np.zeros(6), []
    for _ in range(round(seconds / DT)):
        v = v + DT * (wrench - damping * v) / mass
        out.append(v)
    return np.array(out)


SIX_MASS = np.array([MASS] * 3 + [INERTIA] * 3)
SIX_DAMPING = np.array([DAMPING] * 3 + [ANGULAR_DAMPING] * 3)


def wrench_about_base() -> Result:
    """1. A straight push of 10 N along y, applied at the tool point. Nothing twists the tool."""
    push = np.array([0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    _, p = UR5E.forward(UR5E.home)
    at_base = np.concatenate([push[:3], cross(p) @ push[:3]])  # [[R, 0], [t x R, R]] with t = base -> sensor
    rates = law(at_base, 1.0, SIX_MASS, SIX_DAMPING)
    naive_angle = np.degrees(np.linalg.norm(rates[:, 3:], axis=1).cumsum() * DT)
    trace = comply(lambda t: push, 1.0, IDEAL_ARM)
    turned = [
        np.degrees(np.arccos(np.clip((np.trace(R @ trace["R_tcp"][0].T) - 1) / 2, -1, 1))) for R in trace["R_tcp"]
    ]
    figure, (left, right) = panels(1, 2)
    t = times(trace)
    left.plot(t, naive_angle, color=FAULTY, label="torque about the base origin")
    left.plot(t, turned, color=OURS, label="ours: torque about the TCP")
    left.set(xlabel="time [s]", ylabel="tool turned by [deg]", title="a straight push of 10 N")
    left.legend()
    names = ["x", "y", "z"]
    right.bar(np.arange(3) - 0.18, at_base[3:], 0.36, color=FAULTY, label="about the base origin")
    right.bar(np.arange(3) + 0.18, trace["wrench_tcp"][-1, 3:], 0.36, color=OURS, label="about the TCP")
    right.set_xticks(range(3), names)
    right.set(ylabel="torque given to the law [Nm]", title="what the law receives")
    right.legend()
    return {
        "false_torque_Nm": float(np.linalg.norm(at_base[3:])),
        "turned_deg": float(naive_angle[-1]),
        "ours_turned_deg": float(np.max(turned)),
    }, figure


def sideways() -> Result:
    """3. The law turns the tool at 0.1 rad/s about x; the tool point should stay where it is."""
    w, seconds = np.array([0.1, 0.0, 0.0]), 2.0
    _, p0 = UR5E.forward(UR5E.home)
    p, path = p0.copy(), [p0.copy()]
    for _ in range(round(seconds / DT)):
        p = p + DT * cross(p) @ w  # Ad_twist(R, p): the linear part gets p^ R w on top
        path.append(p.copy())
    moved = 1e3 * (np.array(path) - p0)
    torque = np.array([0.0, 0.0, 0.0, ANGULAR_DAMPING * 0.1, 0.0, 0.0])
    trace = comply(lambda t: torque, seconds, IDEAL_ARM)
    ours = 1e3 * (trace["p_tcp"] - trace["p_tcp"][0])
    speed = 1e3 * float(np.linalg.norm(cross(p0) @ w))
    figure, (left, right) = panels(1, 2)
    t = np.arange(len(moved)) * DT
    left.plot(t, np.linalg.norm(moved, axis=1), color=FAULTY, label="with p x w added")
    left.plot(times(trace), np.linalg.norm(ours, axis=1), color=OURS, label="ours: rotated only")
    left.set(xlabel="time [s]", ylabel="tool point has moved [mm]", title="turning in place at 0.1 rad/s")
    left.legend()
    right.plot(moved[:, 1], moved[:, 2], color=FAULTY, label="path of the tool point")
    right.plot(ours[-1:, 1], ours[-1:, 2], "o", color=OURS, label="ours")
    right.set(xlabel="y [mm]", ylabel="z [mm]", title="seen along the axis of the turn", aspect="equal")
    right.legend()
    return {"sideways_mm_per_s": speed, "ours_mm_per_s": float(np.linalg.norm(ours[-1]) / seconds)}, figure


def mixed_order() -> Result:
    """4. Twist [w; v] but wrench [f; t] in one equation: a force along x of 10 N for one second."""
    push = np.array([10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    # The state is [w; v], so its first three numbers have inertia and damping of rotations - and get the force.
    rates = law(push, 1.0, np.roll(SIX_MASS, 3), np.roll(SIX_DAMPING, 3))
    angle, distance = np.degrees(rates[:, 0].cumsum() * DT), 1e3 * rates[:, 3].cumsum() * DT
    trace = comply(lambda t: push, 1.0, IDEAL_ARM)
    ours = 1e3 * (trace["p_tcp"][:, 0] - trace["p_tcp"][0, 0])
    figure, (left, right) = panels(1, 2)
    t = times(trace)
    left.plot(t, distance, color=FAULTY, label="twist [w; v], wrench [f; t]")
    left.plot(t, ours, color=OURS, label="ours: linear first, everywhere")
    left.set(xlabel="time [s]", ylabel="moved along x [mm]", title="10 N along x", ylim=(-8, 190))
    left.legend()
    right.plot(t, angle, color=FAULTY)
    right.plot(t, np.zeros_like(t), color=OURS)
    right.set(xlabel="time [s]", ylabel="turned about x [deg]", title="the force became a rotation")
    return {
        "distance_mm": float(distance[-1]),
        "turned_deg": float(angle[-1]),
        "ours_distance_mm": float(ours[-1]),
    }, figure
