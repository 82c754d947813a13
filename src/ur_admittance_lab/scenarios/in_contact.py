"""Scenarios in contact: press against a wall, follow a surface."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.scenarios.outcome import Metric, Outcome, rms, settling_time
from ur_admittance_lab.scenarios.stage import Setup, Stage
from ur_admittance_lab.true_contact import contact_of

Array = NDArray[np.float64]

FORCE = 10.0  # [N] pressed with
SHAPES = ("flat", "incline", "cylinder")
OVER_TABLE = (0.0, -1.9, 1.9, -1.5707963, -1.5707963, 0.0)  # [rad] tool down, room to slide along x
Z = np.array([0.0, 0.0, 1.0])


def pressing(axis: int, force: float) -> dict[str, Any]:
    """Parameters that press along one control axis and hold the others."""
    one = [i == axis for i in range(6)]
    return {
        "admittance.force_axes": one,
        "admittance.enabled_axes": one,
        "admittance.desired_wrench": [force if i == axis else 0.0 for i in range(6)],
    }


def wall(setup: Setup) -> Outcome:
    """Drive into a wall and press against it with 10 N for 20 s: no bounce, however stiff it is."""
    stiffness = setup.options.get("stiffness", 1e4)
    speed = setup.options.get("speed", 0.02 if stiffness <= 2e4 else 0.01)
    hold = setup.options.get("hold", 20.0)
    own = pressing(0, -FORCE)
    own |= {"admittance.damping": [80.0] * 3 + [math.nan] * 3, "contact.approach_speed": [speed, 0.2]}
    environment = Environment.wall(stiffness, gap=0.01)
    stage = Stage(setup, own, environment=environment, duration=hold + 4.0)
    touched = stage.run(10.0, until=lambda s: bool(s.controller.command["contact"][0]))
    if not touched:
        stage.finish()
        raise SimulationError(
            "the wall was not reached within 10 s: it stands along x of the base, so admittance.desired_wrench must "
            "press along x (scenario surface: along z), and contact.approach_speed must be above 0."
        )
    start = stage.time
    stage.run(hold + 2.0)
    end = stage.time
    trace = stage.finish()
    part = trace.since(start, end)
    force = -part.contact[:, 0]
    wanted = abs(float(stage.parameters.admittance.desired_wrench[0])) or FORCE
    tail = force[part.t > 2.0]
    seen = part.command["contact_stiffness"][:, 0].max()
    chosen = stage.parameters.admittance.effective_damping[0]
    metrics = [
        Metric("overshoot", 100.0 * (float(force.max()) / wanted - 1.0), "%", "largest force over the wanted one"),
        Metric("residual", float(np.ptp(tail)), "N", "peak to peak from 2 s after contact on"),
        Metric("mean_force", float(tail.mean()), "N", f"wanted: {wanted:g}"),
        Metric("settling", settling_time(part.t, force, wanted, 0.05 * wanted), "s", "until within 5 %"),
        Metric("stiffness_seen", float(seen), "N/m", "wall in series with the arm"),
        Metric("damping_used", float(part.command["damping"][-1, 0]), "Ns/m", f"chosen: {chosen:g}"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    return Outcome("wall", setup.robot, setup.seed, metrics, trace, np.array([1.0, 0.0, 0.0]))


def following() -> dict[str, Any]:
    """Parameters of the surface scenario: press along the estimated normal, carried along by a velocity bias."""
    return pressing(2, FORCE) | {
        "control_frame": "normal",
        "admittance.damping": [250.0] * 3 + [math.nan] * 3,
        "admittance.bias_time": 0.3,
        "contact.approach_speed": [0.02, 0.2],
    }


def surface(setup: Setup) -> Outcome:
    """Press with 10 N and slide: flat, up an incline of 10 degrees, or over a cylinder of 0.3 m radius."""
    shape, length = setup.options.get("shape", "incline"), setup.options.get("length", 0.12)
    speed, stiffness = setup.options.get("speed", 0.02), setup.options.get("stiffness", 1e4)
    environment = {
        "flat": Environment.floor(stiffness, gap=0.005),
        "incline": Environment.incline(math.radians(10.0), stiffness, gap=0.005),
        "cylinder": Environment.cylinder(0.3, stiffness, gap=0.005),
    }[shape]
    stage = Stage(setup, following(), environment=environment, q=OVER_TABLE, duration=3.0 + length / speed)
    stage.run(2.5)
    slides = stage.time
    normal: list[float] = []

    def slide(s: Stage, t: float) -> None:
        v = speed * min(1.0, t / 0.3)  # nobody starts at full speed
        s.controller.set_reference_twist([v, 0.0, 0.0, 0.0, 0.0, 0.0])
        normal.append(contact_of(s.world).normal_force)

    stage.run(length / speed, slide)
    end = stage.time
    trace = stage.finish()
    part = trace.since(slides, end)
    force = np.array(normal)
    wanted = float(stage.parameters.admittance.desired_wrench[2]) or FORCE
    settled = force[part.t > 0.5]
    moved = part.command["p_tcp"][-1] - part.command["p_tcp"][0]
    metrics = [
        Metric("rms_error", rms(settled - wanted), "N", "of the normal force, from 0.5 s after the start on"),
        Metric("rms_from_start", rms(force - wanted), "N", "the first half second included"),
        Metric("mean_force", float(settled.mean()), "N", f"wanted: {wanted:g}"),
        Metric("peak_force", float(force.max()), "N", "largest normal force"),
        Metric("least_force", float(force.min()), "N", "smallest; 0: contact lost"),
        Metric("slid", 1e3 * float(np.linalg.norm(moved)), "mm", "over the surface"),
        Metric("realtime_factor", trace.realtime_factor, "x", "simulated over real time"),
    ]
    story = [f"{shape}, {1e3 * speed:g} mm/s, {stiffness:g} N/m"]
    return Outcome("surface", setup.robot, setup.seed, metrics, trace, Z, story=story)
