"""A hand that holds the tool: the mass that its law needs, against eigenvalues and the simulated arm."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ur_admittance.analysis import compliance as hand
from ur_admittance.analysis.axis_loop import Loop, loop_of
from ur_admittance.analysis.compliance import HANDS, Hand, lightest_mass
from ur_admittance.analysis.stability import margin
from ur_admittance.params import PRESETS, Parameters, preset
from ur_admittance.robots.simulated import FtSensor, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, simulate
from ur_admittance_lab.stability.eigenvalues import is_stable

FIRM = Hand(500.0, 20.0, 2.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_hand_without_a_grip_agrees_with_the_eigenvalues(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand, "GRIP_RATE", 1e6)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        mass, damping = np.exp(rng.uniform(np.log([0.5, 5.0]), np.log([20.0, 1000.0])))
        loop = Loop(mass, damping, cutoff_hz=rng.choice([17.0, 128.0]), delay=rng.uniform(0.0, 0.02))
        held = Hand(rng.uniform(100.0, 1000.0), rng.uniform(10.0, 40.0), rng.uniform(0.5, 2.0))
        beyond = hand.growth(loop, held)
        if abs(beyond - 1.0) > 0.03:
            assert (beyond < 1.0) == is_stable(loop, held.stiffness, held.damping, held.mass)


def buzzes(mass: float, damping: float, tool_mass: float) -> bool:
    """The simulated arm, nudged by a hand that holds it: does its force grow?"""
    tool, sensor, servo = Tool(mass=tool_mass), FtSensor(), Servo(delay=0.010)
    parameters = law(mass, damping, tool)
    script = Script(4.0)
    script.activate(0.1)
    path = np.zeros((1850, 6))
    path[:, 2] = 0.003 * np.clip(np.arange(1850) / 50, 0.0, 1.0)
    script.grab(0.3, path, stiffness=(FIRM.stiffness, 30.0), damping=(FIRM.damping, 1.0), mass=FIRM.mass)
    [trace] = simulate([Case(script, parameters, tool=tool, sensor=sensor, servo=servo)], threads=1)
    force = np.diff(trace.hand[:, 2])  # without the slow swing of the hand's own spring
    before, after = np.ptp(force[1000:1250]), np.ptp(force[-250:])
    return bool(trace.diverged or after > max(min(before, 0.2), 0.002))  # it grows, or the limits hold it where it is


def law(mass: float, damping: float, tool: Tool) -> Parameters:
    return Parameters().changed(
        {
            **tool.parameters(),
            "robot.response_time": Servo(delay=0.010).response_time,
            "admittance.mass": [mass] * 3 + [0.8] * 3,
            "admittance.damping": [damping] * 3 + [20.0] * 3,
            "admittance.compensate_mass": False,
            "admittance.min_motion_threshold": 0.0,
            "admittance.enabled_axes": [False, False, True, False, False, False],
            "contact.stabilizer": False,
            "safety.max_force": 1e4,
        }
    )


@pytest.mark.parametrize(("damping", "tool_mass"), [(10.0, 0.0), (100.0, 0.0), (10.0, 1.0), (100.0, 1.0)])
def test_the_lightest_mass_is_that_of_the_simulated_arm_within_a_fifth(damping: float, tool_mass: float) -> None:
    needed = lightest_mass(loop_of(law(4.0, damping, Tool(mass=tool_mass))), (FIRM,))
    assert needed > 0.5
    assert buzzes(needed / 1.2, damping, tool_mass)
    assert not buzzes(1.2 * needed, damping, tool_mass)


def test_heavier_hands_and_later_arms_and_sensors_need_more_mass() -> None:
    loop = Loop(8.0, 64.0)
    light, heavy = (lightest_mass(loop, (replace(FIRM, mass=mass),)) for mass in (1.0, 2.0))
    assert 0.0 < light < heavy
    assert lightest_mass(replace(loop, delay=0.02)) > 1.1 * lightest_mass(loop)
    late = replace(loop, sensor_delay=0.008)
    assert lightest_mass(late) == pytest.approx(lightest_mass(replace(loop, delay=loop.delay + 0.008)))
    assert late.loop_delay == pytest.approx(loop.loop_delay + 0.008)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("response", [0.0, 0.0164, 0.0264])
def test_every_preset_can_be_held(name: str, response: float) -> None:
    assert margin(preset(name).changed({"robot.response_time": response})).can_be_held


def test_the_margin_tells_a_law_that_is_too_light_for_a_hand() -> None:
    light = Parameters().changed({"robot.response_time": 0.02, "admittance.mass": [1.5] * 3 + [0.8] * 3})
    found = margin(light)
    assert not found.can_be_held
    assert found.mass < 1.5  # compensate_mass has taken its part
    assert margin(light.changed({"admittance.mass": [3.0 * found.lightest_mass] * 3 + [0.8] * 3})).can_be_held


def test_the_lightest_axis_is_told_although_another_one_is_weaker_on_surfaces() -> None:
    law = {
        "robot.response_time": 0.02,
        "admittance.mass": [1.0, 8.0, 8.0] + [0.8] * 3,
        "admittance.damping_ratio": [4.0] + [0.8] * 5,
    }
    found = margin(Parameters().changed(law))
    assert found.axis == 1
    assert not found.can_be_held
    assert found.mass < 1.0


def test_an_arm_that_bends_before_it_yields_has_no_negative_mass() -> None:
    found = margin(preset("assembly").changed({"robot.response_time": 0.0164}))
    assert found.apparent_mass == 0.0
    assert found.apparent_stiffness > 0.0
    assert math.isinf(found.passive_up_to)


def test_the_named_hands_are_in_the_order_of_their_grip() -> None:
    assert [h.stiffness for h in HANDS] == sorted(h.stiffness for h in HANDS)
