"""How light an arm can be in a hand: on paper, by SciPy, by the eigenvalues of the whole loop, and simulated."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from benchmarks import person
from ur_admittance.analysis.axis_loop import SERVO_LAG, Arm, Loop, loop_of
from ur_admittance.analysis.compliance import Hand, can_be_held
from ur_admittance.params import preset
from ur_admittance.robots.simulated import FtSensor, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, simulate
from ur_admittance_lab.stability.eigenvalues import contact_matrix

LIGHT = preset("light_guiding")
STIFF = (2000.0, 20.0)  # [N/m], [Ns/m] of the hand that needs the most damping: no mass, hardly damped
NEAR = 3.0  # [Ns/m]
SLOWEST = Servo(delay=0.020, lag_hz=15.0)


def least_damping(mass: float, stiffness: float, damping: float, T: float) -> float:
    """Where  M s + D + e^(-s T) (b + k / s)  has a root on the imaginary axis: its imaginary part gives the frequency,
    its real part D [Ns/m]."""
    w = brentq(lambda w: mass * w - damping * math.sin(w * T) - stiffness / w * math.cos(w * T), 0.1, 0.5 * math.pi / T)
    return stiffness / w * math.sin(w * T) - damping * math.cos(w * T)


@pytest.mark.parametrize("hand", [STIFF, (2000.0, 40.0), (1000.0, 20.0)])
@pytest.mark.parametrize("delay", [0.008, 0.014, 0.020])
def test_a_hand_needs_its_stiffness_times_the_delay_less_its_own_damping(hand, delay):
    stiffness, damping = hand
    loop = Loop(mass=8.0, damping=1.0, cutoff_hz=128.0, delay=delay)
    on_paper = stiffness * loop.loop_delay - damping
    assert least_damping(loop.mass, stiffness, damping, loop.loop_delay) == pytest.approx(on_paper, abs=NEAR)
    for off, stable in ((NEAR, True), (-NEAR, False)):
        if on_paper + off > 0.0:
            matrix = contact_matrix(loop.with_damping(on_paper + off), stiffness, damping)
            assert (np.abs(np.linalg.eigvals(matrix)).max() < 1.0 + 1e-7) == stable


def test_the_damping_at_rest_is_what_the_stiffest_hand_needs_on_the_slowest_arm():
    T = SLOWEST.response_time + 1.0 / (2.0 * math.pi * LIGHT.admittance.cutoff_hz) + 1.0 / LIGHT.control_rate
    assert LIGHT.admittance.effective_damping[0] >= least_damping(LIGHT.admittance.mass[0], *STIFF, T)


@pytest.mark.parametrize("everywhere_light", [False, True])
def test_the_tool_comes_to_rest_in_that_hand_and_swings_where_it_is_as_light_at_rest(everywhere_light):
    known = {"robot.response_time": SLOWEST.response_time, **Tool().parameters(FtSensor())}
    chosen = LIGHT.changed(known | {"contact.stabilizer": False})
    if everywhere_light:
        chosen = chosen.changed({"admittance.damping": [20.0] * 3 + [5.0] * 3, "admittance.travel_damping": 1.0})
    script = Script(6.0)
    script.activate(0.1)
    places = np.zeros((2750, 6))
    places[:, 0] = 0.01 * np.minimum(1.0, np.arange(2750) / 50.0)
    script.grab(0.5, places, stiffness=(STIFF[0], 30.0), damping=(STIFF[1], 1.0))
    [trace] = simulate([Case(script, chosen, servo=SLOWEST)], threads=1)
    swing = np.ptp(trace.hand[-1000:, 0])
    assert trace.command["status"].max() == 0
    assert swing > 10.0 if everywhere_light else swing < 0.2


@pytest.mark.parametrize(("mass", "held"), [(8.0, True), (5.0, False)])
def test_a_hand_of_three_kilograms_can_hold_this_mass_but_not_a_lighter_one(mass, held):
    law = LIGHT.changed({"admittance.mass": [mass] * 3 + [0.5] * 3, "robot.response_time": 0.020 + SERVO_LAG})
    sideways = Arm(stiffness=43e3, mass=1.8)
    assert can_be_held(loop_of(law, arm=sideways), (Hand(300.0, 20.0, 3.0),)) == held


def force(speed, share):
    """D v, with the damping that falls to this share, and the deadband [N]."""
    law = LIGHT.admittance
    u = np.minimum(1.0, speed / law.travel_speed)
    damping = law.effective_damping[0] * (1.0 - (1.0 - share) * u**2 * (3.0 - 2.0 * u))
    return damping * speed + law.min_motion_threshold


def test_the_force_grows_with_the_speed_to_six_newtons_at_a_quarter_of_a_metre_per_second():
    speeds = np.linspace(0.0, 0.3, 1000)
    assert np.all(np.diff(force(speeds, LIGHT.admittance.travel_damping)) > 0.0)
    assert np.any(np.diff(force(speeds, 0.40)) < 0.0)  # less than 11/27 is too small a share
    assert force(0.25, LIGHT.admittance.travel_damping) == pytest.approx(6.04, abs=0.01)


def test_a_hand_drags_the_tool_with_that_force():
    cases = [
        one for one in person.drag(1) if one[1]["row"] in ("light_guiding, tool down, x", "defaults, tool down, x")
    ]
    heavy, light = (person.measure(case, simulate([case], threads=1)[0], known) for case, known in cases)
    assert (light["limited"], light["stop"], light["raised"]) == (False, "", 0.0)
    assert light["force"] == pytest.approx(6.04, abs=0.4)
    assert light["energy"] == pytest.approx(0.4 * light["force"], rel=0.05)
    assert heavy["force"] == pytest.approx(1.5 + 64.0 * 0.25, abs=0.5)
