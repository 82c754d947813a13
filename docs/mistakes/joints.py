"""Mistakes 8, 9 and 11: from the motion of the tool to the motion of the joints."""

import numpy as np
from figures.look import FAULTY, IDEAL, NEUTRAL, OURS, panels
from matplotlib.figure import Figure

from mistakes.ours import DT, UR5E, comply, jacobian, times
from ur_admittance.control import AdmittanceController
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Servo, SimulatedRobot, Tool, World

Result = tuple[dict[str, float], Figure]

NEARLY_STRAIGHT_WRIST = np.array([0.0, -1.68, 2.09, -1.2, -0.17, 0.0])
FREE_SPEED = {"max_linear_velocity": 1.0, "max_linear_acceleration": 20.0, "safety.max_orientation_error": 3.0}


def across(path: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Distance of each point (n, 3) from the straight line through the first one."""
    moved = path - path[0]
    return np.linalg.norm(moved - np.outer(moved @ along, along), axis=1)


def bent_path(speed: float = 0.4, seconds: float = 1.0) -> Result:
    """8. Each joint's speed clamped on its own on a straight line that starts near a straight wrist."""
    along = np.array([-0.95, 0.26, 0.14])
    along /= np.linalg.norm(along)
    V = np.concatenate([speed * along, np.zeros(3)])
    q, path = NEARLY_STRAIGHT_WRIST.copy(), []
    for _ in range(round(seconds / DT)):
        path.append(UR5E.forward(q)[1])
        J = jacobian(q)
        qd = J.T @ np.linalg.solve(J @ J.T + 0.001**2 * np.eye(6), V)  # damped least squares, as KDL's WDLS
        q = q + DT * np.clip(qd, -UR5E.velocity, UR5E.velocity)
    naive = np.array(path)
    trace = comply(lambda t: np.zeros(6), seconds, FREE_SPEED, NEARLY_STRAIGHT_WRIST, twist=V, engage=0.1)
    ours = trace["p_tcp"]
    d_naive, d_ours = 1e3 * across(naive, along), 1e3 * across(ours, along)
    figure, (left, right) = panels(1, 2)
    s, o = 1e3 * (naive - naive[0]), 1e3 * (ours - ours[0])
    aside = s[np.argmax(d_naive)] - (s[np.argmax(d_naive)] @ along) * along
    aside /= np.linalg.norm(aside)  # the plane of the picture holds the line and the worst point
    left.plot(s @ along, s @ aside, color=FAULTY, label="each joint clamped")
    left.plot(o @ along, o @ aside, color=OURS, label="ours: the whole twist slows down")
    left.set(xlabel="along the line [mm]", ylabel="beside it [mm]", title="path of the tool")
    left.legend()
    right.plot(times(trace), d_naive[: len(trace)], color=FAULTY)
    right.plot(times(trace), d_ours, color=OURS)
    right.plot(
        times(trace), 100 * trace["pace"] * trace["scale"], ":", color=NEUTRAL, label="ours: share of the speed [%]"
    )
    right.set(xlabel="time [s]", ylabel="beside the line [mm]", title="how far beside the line")
    right.legend()
    return {
        "beside_mm": float(d_naive.max()),
        "ours_beside_mm": float(d_ours.max()),
        "slowed_to_percent": 100 * float((trace["pace"] * trace["scale"]).min()),
    }, figure


def sinking_load() -> Result:
    """9. q_cmd = q_measured + qd dt: a 2 kg load that the arm does not know about, held for 3 s; then a motion."""
    tool, servo = Tool(mass=2.0), Servo(delay=0.010, lag_hz=25.0, payload=0.0)

    def arm(from_measured: bool, speed: float, seconds: float) -> np.ndarray:
        world = World(UR5E, tool, servo=servo)
        target, height = world.q.copy(), []
        for _ in range(round(seconds / DT)):
            J = jacobian(world.q)
            qd = np.linalg.solve(J, np.array([0.0, speed, 0.0, 0.0, 0.0, 0.0])) if speed else np.zeros(6)
            target = (world.q if from_measured else target) + DT * qd
            world.step(target, None, DT)
            height.append(world.pose()[1])
        return 1e3 * (np.array(height) - height[0])

    t = np.arange(round(3.0 / DT)) * DT
    sinks, holds = arm(True, 0.0, 3.0)[:, 2], _our_hold(tool, servo)
    moved, ours = arm(True, 0.1, 1.0)[:, 1], arm(False, 0.1, 1.0)[:, 1]
    figure, (left, right) = panels(1, 2)
    left.plot(t, sinks, color=FAULTY, label="from the measured joints")
    left.plot(t, holds, color=OURS, label="ours: from the last command")
    left.set(xlabel="time [s]", ylabel="height of the tool [mm]", title="holding 2 kg, nobody touches it")
    left.legend()
    right.plot(t[: len(moved)], moved, color=FAULTY)
    right.plot(t[: len(moved)], ours, color=OURS)
    right.plot(t[: len(moved)], 100 * t[: len(moved)], "--", color=IDEAL, label="commanded: 0.1 m/s")
    right.set(xlabel="time [s]", ylabel="distance along y [mm]", title="moving")
    right.legend()
    gain = float((moved[-1] - moved[250]) / (t[len(moved) - 1] - t[250]) / 100)
    return {"sinks_mm": -float(sinks[-1]), "ours_mm": -float(holds.min()), "motion_gain": gain}, figure


def _our_hold(tool: Tool, servo: Servo) -> np.ndarray:
    """The whole program holding the same load: active, tool known to the sensor, nobody touches it."""
    controller = AdmittanceController(UR5E, Parameters().changed(tool.parameters()))
    controller.configure()
    controller.activate()
    world, height = World(UR5E, tool, servo=servo), []
    with SimulatedRobot(world) as robot:
        for _ in range(round(3.0 / DT)):
            robot.read(controller.sample)
            controller.update()
            robot.write(controller.command)
            height.append(1e3 * float(controller.command["p_tcp"][2]))
    return np.array(height) - height[0]


def transposed_jacobian(seconds: float = 1.0) -> Result:
    """11. qd = J^T V: 0.1 m/s commanded along x, y, z from the home position."""
    figure, axes = panels(1, 3, height=2.9)
    numbers = {}
    for axis, (panel, name) in enumerate(zip(axes, "xyz", strict=True)):
        V = 0.1 * np.eye(6)[axis]
        q = UR5E.home.copy()
        path = []
        for _ in range(round(seconds / DT)):
            path.append(UR5E.forward(q)[1])
            q = q + DT * jacobian(q).T @ V
        naive = 1e3 * (np.array(path) - path[0])
        trace = comply(lambda t: np.zeros(6), seconds, FREE_SPEED, twist=V, engage=0.1)
        ours = 1e3 * (trace["p_tcp"] - trace["p_tcp"][0])
        other = int(np.argmax(np.abs(np.delete(naive[-1], axis))))
        other = [i for i in range(3) if i != axis][other]
        panel.plot(naive[:, axis], naive[:, other], color=FAULTY, label="J^T V")
        panel.plot(ours[:, axis], ours[:, other], color=OURS, label="ours")
        panel.plot([100], [0], "+", color=IDEAL, markersize=11, label="target")
        panel.set(xlabel=f"{name} [mm]", ylabel=f"{'xyz'[other]} [mm]", title=f"0.1 m/s along {name}, 1 s")
        numbers[f"{name}_distance_mm"] = float(naive[-1, axis])
        numbers[f"{name}_beside_mm"] = float(across(naive, np.eye(3)[axis]).max())
        numbers[f"ours_{name}_distance_mm"] = float(ours[-1, axis])
    axes[0].legend()
    return numbers, figure
