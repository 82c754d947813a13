"""People of the campaign: a trembling hand is as strong as it says, and what a family promises is in its episodes."""

import math

import numpy as np
import pytest

from ur_admittance.params import Parameters
from ur_admittance_lab.campaign import episode, people
from ur_admittance_lab.episodes import Case, Script, simulate

PERIOD = 0.002


@pytest.mark.parametrize("mass", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("frequency", [4.0, 12.0])
def test_a_hand_exerts_what_it_trembles_with_on_a_tool_that_is_held_fast(mass, frequency):
    """The arm is not active: 35 kN/m hold the tool, the hand has 500 N/m."""
    newtons, stiffness, damping = 3.0, 500.0, 40.0
    script = Script(3.0)
    t = np.arange(1, 1501) * PERIOD
    muscles = newtons / people.through_the_grip(frequency, mass, stiffness, damping)
    force = muscles * np.sin(2.0 * math.pi * frequency * t)[:, None] * [[0.0, 1.0, 0.0]]
    path = np.hstack([people.place_for(force, stiffness, damping, PERIOD), np.zeros_like(force)])
    script.grab(0.0, path, stiffness=(stiffness, 30.0), damping=(damping, 1.0), mass=mass)
    [trace] = simulate([Case(script, Parameters())], threads=1)
    felt = trace.hand[-500:, 1]  # the last second: whole cycles
    wave = np.exp(-2j * math.pi * frequency * t[-500:])
    assert 2.0 * abs(np.mean(wave * felt)) == pytest.approx(newtons, rel=0.08)  # the arm yields a little


def test_a_wrong_response_time_is_wrong_either_way_and_all_else_is_that_of_the_devices():
    factors = []
    for number in range(20):
        case = episode("late", number).case
        factors.append(case.parameters.robot.response_time / case.servo.response_time)
        assert case.parameters.sensor.delay == case.sensor.delay
    assert 0.5 <= min(factors) < 0.7
    assert 1.5 < max(factors) <= 2.0


def test_trembling_that_is_promised_to_go_unnoticed_is_weak():
    promised = [episode("tremor", number).unraised for number in range(40)]
    assert 10 < sum(promised) < 30  # uniform from 0 to 4 N: half of them below 2 N
