"""From the raw sensor reading to the wrench at the TCP: levers, gravity, mounting, sign, filter, deadband."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
from ur_admittance.core.wrench.condition import condition, deadband

condition, deadband = compiled(condition), compiled(deadband)
finite = st.floats(-30, 30)
three = st.tuples(finite, finite, finite).map(np.array)
turns = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda r: Rotation.from_rotvec(r).as_matrix())


def records(**params):
    p = new(PARAMS)[0]
    p["R_tcp_sensor"] = np.eye(3)
    p["sensor_sign"] = 1.0
    p["filter_cutoff_hz"] = 1e9
    for name, value in params.items():
        p[name] = value
    return p, new(STATE)[0], new(SAMPLE)[0], new(COMMAND)[0]


def conditioned(raw, R_tcp, **params):
    p, s, u, c = records(**params)
    u["dt"], s["reading"] = 0.002, raw
    force, torque = condition(p, s, u, np.ascontiguousarray(R_tcp), c)
    return np.array(c["wrench_tcp"]), force, torque


def test_hand_made_lever():
    # Sensor 0.1 m above the TCP (TCP z points down, so it sits at z = -0.1), 10 N along x at the TCP:
    # the sensor feels 0.1 m x 10 N = 1 Nm about y, which vanishes at the TCP.
    wrench, force, torque = conditioned([10, 0, 0, 0, 1.0, 0], np.eye(3), p_tcp_sensor=[0, 0, -0.1])
    assert np.allclose(wrench, [10, 0, 0, 0, 0, 0], atol=1e-15)
    assert (force, torque) == pytest.approx((10.0, 0.0), abs=1e-15)


@given(push=three, R_tcp=turns, R_mount=turns, sensor_at=three)
def test_straight_push_at_the_tcp_gives_no_torque_wherever_the_sensor_is(push, R_tcp, R_mount, sensor_at):
    lever = sensor_at / 100.0  # sensor seen from the TCP, TCP axes
    f_tcp = R_tcp.T @ push
    t_sensor = np.cross(-lever, f_tcp)  # about the sensor origin
    raw = np.concatenate([R_mount.T @ f_tcp, R_mount.T @ t_sensor])
    wrench, force, torque = conditioned(raw, R_tcp, R_tcp_sensor=R_mount, p_tcp_sensor=lever)
    assert np.allclose(wrench, [*push, 0, 0, 0], atol=1e-12)
    assert force == pytest.approx(np.linalg.norm(push), abs=1e-12)
    assert torque == pytest.approx(0.0, abs=1e-12)


@given(R_tcp=turns, R_mount=turns, com=three, bias=three)
def test_gravity_of_the_tool_is_removed_at_any_orientation(R_tcp, R_mount, com, bias):
    mass, com = 1.7, com / 200.0
    gravity = np.array([0.0, 0.0, -9.81])
    R_base_sensor = R_tcp @ R_mount
    weight = R_base_sensor.T @ (mass * gravity)
    raw = np.concatenate([weight, np.cross(com, weight)]) + np.concatenate([bias, bias / 10.0])
    wrench, force, torque = conditioned(
        raw,
        R_tcp,
        R_tcp_sensor=R_mount,
        p_tcp_sensor=[0.01, -0.02, 0.1],
        tool_weight_base=mass * gravity,
        tool_com=com,
        sensor_bias=np.concatenate([bias, bias / 10.0]),
    )
    assert np.allclose(wrench, 0.0, atol=1e-12)
    assert (force, torque) == pytest.approx((0.0, 0.0), abs=1e-12)


@given(push=three, turning=three, R_tcp=turns)
def test_a_sensor_that_reports_the_reaction_is_flipped_once(push, turning, R_tcp):
    raw = -np.concatenate([R_tcp.T @ push, R_tcp.T @ turning])
    wrench, _, _ = conditioned(raw, R_tcp, sensor_sign=-1.0)
    assert np.allclose(wrench, [*push, *turning], atol=1e-12)


def test_bias_is_subtracted_after_the_sign():
    wrench, _, _ = conditioned([-3, 0, 0, 0, 0, 0], np.eye(3), sensor_sign=-1.0, sensor_bias=[1, 0, 0, 0, 0, 0])
    assert wrench[0] == pytest.approx(2.0)


@pytest.mark.parametrize("rate", [125.0, 500.0, 1000.0])
def test_bandwidth_of_the_filter_does_not_change_with_the_rate(rate):
    p, s, u, c = records(filter_cutoff_hz=10.0)
    u["dt"] = 1.0 / rate
    condition(p, s, u, np.eye(3), c)
    s["reading"][0] = 1.0
    for _ in range(round(0.016 * rate)):
        condition(p, s, u, np.eye(3), c)
    assert c["wrench_tcp"][0] == pytest.approx(1.0 - np.exp(-2 * np.pi * 10.0 * 0.016), rel=1e-12)


def test_first_reading_passes_the_filter_whole():
    p, s, u, c = records(filter_cutoff_hz=1.0)
    u["dt"], s["reading"] = 0.002, [5, 0, 0, 0, 0, 0]
    condition(p, s, u, np.eye(3), c)
    assert c["wrench_tcp"][0] == 5.0


def test_a_spike_is_seen_before_the_filter():
    p, s, u, c = records(filter_cutoff_hz=1.0)
    u["dt"] = 0.002
    condition(p, s, u, np.eye(3), c)
    s["reading"][0] = 150.0
    assert condition(p, s, u, np.eye(3), c)[0] == pytest.approx(150.0)


def after_deadband(wrench, **params):
    p = records(deadband_force=1.5, deadband_torque=0.3, enabled=1.0, **params)[0]
    w = np.array(wrench, float)
    silent = deadband(p, np.zeros(2), w)
    return w, silent


@given(wrench=st.tuples(*[finite] * 6).map(np.array), nudge=st.tuples(*[st.floats(-1e-6, 1e-6)] * 6).map(np.array))
def test_soft_deadband_is_continuous(wrench, nudge):
    a, b = after_deadband(wrench)[0], after_deadband(wrench + nudge)[0]
    assert np.linalg.norm(a - b) <= 2.0 * np.linalg.norm(nudge) + 1e-15


@given(direction=three.filter(lambda v: np.linalg.norm(v) > 0.1), size=st.floats(0.0, 50.0))
def test_deadband_takes_the_threshold_off_the_norm_and_keeps_the_direction(direction, size):
    unit = direction / np.linalg.norm(direction)
    w, silent = after_deadband([*(size * unit), 0, 0, 0])
    assert np.allclose(w[:3], max(0.0, size - 1.5) * unit, atol=1e-12)
    assert silent == (not w.any())


def test_per_axis_deadband_acts_after_the_norm():
    w, _ = after_deadband([11.5, 0, 0, 0, 0, 0], deadband_axis=[4, 0, 0, 0, 0, 0])
    assert w[0] == pytest.approx(6.0)


def test_axes_under_force_control_have_no_deadband():
    w, _ = after_deadband([0.4, 0, 0.7, 0, 0, 0.1], force_axes=[0, 0, 1, 0, 0, 1], deadband_axis=[9] * 6)
    assert np.array_equal(w, [0, 0, 0.7, 0, 0, 0.1])
