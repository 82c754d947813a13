"""Sliding contact: a tool that a force axis presses on neither chatters nor dives in, held or free sideways."""

import numpy as np
import pytest

from ur_admittance.params import Parameters, preset
from ur_admittance.robots.simulated import Environment, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, Trace, simulate
from ur_admittance_lab.episodes.normal_force import normal_force
from ur_admittance_lab.scenarios.in_contact import OVER_TABLE

FREE = {"admittance.enabled_axes": [True, True, True, False, False, False]}
TOUCHED, SLIDES = 3.0, 5.0  # [s] settled, and on its way
SERVO, TOOL = Servo(delay=0.010), Tool()


def pressed(
    parameters: Parameters, environment: Environment, twist: float = 0.0, push: float = 0.0
) -> tuple[Case, Trace]:
    """(case, trace): 3 s to touch, 5 s led along x by a path [m/s] or pushed by a hand [N], 3 s at rest."""
    script = Script(11.0)
    script.activate(0.1)
    ramp = np.minimum(1.0, np.arange(2500) * script.period / 0.3)[:, None]
    along = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    script.twist(TOUCHED, SLIDES, twist * ramp * along)
    script.push(TOUCHED, SLIDES, push * ramp * along)
    known = TOOL.parameters() | {"robot.response_time": SERVO.response_time}
    case = Case(script, parameters.changed(known), "ur5e", TOOL, environment, SERVO, q=OVER_TABLE)
    [trace] = simulate([case], threads=1)
    return case, trace


def part(values: np.ndarray, trace: Trace, start: float, end: float) -> np.ndarray:
    return values[(trace.t >= start) & (trace.t < end)]


def distance(trace: Trace) -> float:
    p = trace.command["p_tcp"]
    return float(np.linalg.norm(p[-1] - p[round(TOUCHED / trace.period)]))


@pytest.mark.parametrize("stiffness", [1e3, 5e3, 3e4])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.4])
def test_a_tool_that_is_free_sideways_neither_chatters_nor_walks(stiffness: float, friction: float) -> None:
    case, trace = pressed(preset("surface_following"), Environment.floor(stiffness, friction=friction, gap=0.003))
    force = part(normal_force(case, trace), trace, TOUCHED, 11.0)
    assert np.ptp(force) < 0.3
    assert distance(trace) < 1e-4
    assert np.ptp(part(trace.contact[:, 0], trace, TOUCHED, 11.0)) < 0.3


def test_without_the_friction_cone_it_chatters() -> None:
    """What the cone is for: the arm yields to friction, and the friction turns round."""
    yielding = preset("surface_following").changed({"contact.friction": 0.0, "contact.stabilizer": False})
    _, trace = pressed(yielding, Environment.floor(1e4, friction=0.4, gap=0.003), twist=0.01)
    assert np.ptp(part(trace.contact[:, 0], trace, 4.0, 8.0)) > 2.0


@pytest.mark.parametrize("name", ["surface_following", "polishing"])
def test_a_path_leads_a_tool_that_is_free_sideways(name: str) -> None:
    case, trace = pressed(preset(name).changed(FREE), Environment.floor(1e4, friction=0.3, gap=0.003), twist=0.02)
    force = part(normal_force(case, trace), trace, 4.0, 8.0)
    assert np.ptp(force) < 0.5
    assert distance(trace) == pytest.approx(0.02 * (SLIDES - 0.15), rel=0.02)


def test_a_hand_still_leads_it_by_what_exceeds_friction_and_cone() -> None:
    floor = Environment.floor(1e4, friction=0.2, gap=0.003)
    _, weak = pressed(preset("surface_following"), floor, push=5.0)  # 2 N of friction, 4 N of cone, 0.8 N of deadband
    _, strong = pressed(preset("surface_following"), floor, push=8.0)
    assert distance(weak) < 1e-3
    assert distance(strong) > 0.05


@pytest.mark.parametrize("stiffness", [1e3, 3e3, 1e4])
@pytest.mark.parametrize("speed", [0.006, 0.02])
def test_the_normal_does_not_run_away_on_a_soft_surface_with_friction(stiffness: float, speed: float) -> None:
    case, trace = pressed(preset("polishing"), Environment.floor(stiffness, friction=0.4, gap=0.003), twist=speed)
    tilt = np.degrees(np.arccos(np.clip(part(trace.command["normal"][:, 2], trace, TOUCHED, 11.0), -1.0, 1.0)))
    assert tilt.max() < 8.0
    assert np.abs(part(normal_force(case, trace), trace, 4.5, 8.0) - 20.0).max() < 1.0


def test_an_impact_does_not_turn_the_normal() -> None:
    for stiffness in (1e4, 1e5):
        _, trace = pressed(preset("polishing"), Environment.floor(stiffness, friction=0.3, gap=0.003))
        assert part(trace.command["normal"][:, 2], trace, 0.2, 11.0).min() > np.cos(np.radians(1.0))


@pytest.mark.parametrize("stiffness", [1e4, 3e4, 1e5])
def test_a_force_axis_with_a_bias_touches_without_a_slow_swing(stiffness: float) -> None:
    case, trace = pressed(preset("polishing"), Environment.floor(stiffness, gap=0.003))
    force = normal_force(case, trace)
    assert part(force, trace, 0.6, 11.0).max() < 1.1 * 20.0
    assert np.abs(part(force, trace, 2.0, 3.0) - 20.0).max() < 0.5
