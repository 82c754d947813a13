"""Random episodes: always the same for a number, all inside what is promised, and over the whole range."""

import pickle

import numpy as np
import pytest

from ur_admittance.core.records import PARAMS, new
from ur_admittance.errors import SimulationError
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.params import PRESETS, Parameters
from ur_admittance.params.record import fill
from ur_admittance.robots.simulated import Tool, World
from ur_admittance_lab.campaign import FAMILIES, draw, episode
from ur_admittance_lab.campaign.campaign_episode import REPORTED


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_and_a_number_give_the_same_episode_to_the_bit(family):
    assert pickle.dumps(episode(family, 3)) == pickle.dumps(episode(family, 3))
    assert pickle.dumps(episode(family, 3).case.q) != pickle.dumps(episode(family, 4).case.q)


def test_families_draw_independently_of_each_other():
    starts = {episode(family, 0).case.q for family in FAMILIES}
    assert len(starts) == len(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_episode_starts_inside_its_limits_and_its_motors_carry_it(family, sweep):
    for number in range(sweep(15)):
        case = episode(family, number).case
        model, record = robot_model(case.robot), new(PARAMS)[0]
        fill(record, case.parameters, model)  # raises when a limit does not fit the model
        q = np.array(case.q)
        assert (record["joint_lower"] <= q).all()
        assert (q <= record["joint_upper"]).all()
        p = draw.tcp_position(model, q, case.tool)
        assert (record["workspace_min"] < p).all()
        assert (p < record["workspace_max"]).all()
        assert draw.headroom(model, q, case.tool, np.array(case.parameters.gravity)).min() > 0.0
        assert case.script.rows["request"].any()


def test_the_draws_cover_types_faults_surfaces_and_delays():
    drawn = [episode(family, number) for family in FAMILIES for number in range(25)]
    assert {e.case.robot for e in drawn} == set(MODEL_NAMES)
    assert {fault.kind for e in drawn for fault in e.faults} == set(REPORTED)
    stiffness = [e.case.environment.stiffness for e in drawn if e.case.environment.kind != "none"]
    assert min(stiffness) < 1.5e3
    assert 2e5 < max(stiffness) <= 3e5
    delays = {round(1e3 * e.case.servo.delay) for e in drawn}
    assert min(delays) == 0
    assert max(delays) == 20
    assert {e.case.parameters.control_frame for e in drawn} == {"base", "tcp", "task", "normal"}
    assert {e.case.parameters.control_rate for e in drawn} == {125.0, 250.0, 500.0, 1000.0}
    assert {e.case.parameters.admittance.integrator for e in drawn} == {"exact", "rk4", "semi_implicit_euler"}
    near_straight = [e for e in drawn if abs(e.case.q[2]) < 0.15]
    assert 0.05 < len(near_straight) / len(drawn) < 0.5
    assert all(any(name in line for e in drawn for line in e.story) for name in PRESETS)


def test_the_weight_of_the_arm_agrees_with_the_simulation():
    """MuJoCo's torque of gravity at rest is the oracle."""
    tool = Tool(mass=2.0)
    for name, q in (("ur5e", [0.3, -1.0, 1.2, -0.5, 0.7, 0.2]), ("ur20", [1.0, -2.0, -1.0, 0.4, -1.2, 2.0])):
        world = World(robot_model(name), tool)
        world.reset(q)
        left = draw.headroom(world.model, q, tool, np.array([0.0, 0.0, -9.80665]))
        weight = (draw.HELD * world.model.effort - left) / draw.HEAVIER
        assert weight == pytest.approx(np.abs(world.mj_data.qfrc_bias), abs=1e-6)


def test_settling_is_that_of_the_slowest_axis():
    slow = Parameters().changed({"tracking.velocity_gain": [0.0] * 6})
    assert draw.settling(slow) == pytest.approx(np.log(1000.0) * 8.0 / 64.0)  # M / D
    stiff = slow.changed({"admittance.stiffness": [800.0] + [0.0] * 5, "admittance.damping": [800.0] + [np.nan] * 5})
    root = (800.0 - np.sqrt(800.0**2 - 4.0 * 8.0 * 800.0)) / 16.0
    assert draw.settling(stiff) == pytest.approx(np.log(1000.0) / root)


def test_an_unknown_family_is_named():
    with pytest.raises(SimulationError, match=r"family 'fre' is unknown: choose from free, limits"):
        episode("fre", 0)
