"""Parameters and model -> record. Oracles: SciPy's rotations and formulas on paper."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.core.records import PARAMS, Frame, Integrator, new
from ur_admittance.errors import ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

TCP = [0.01, -0.02, 0.15, 0.3, -0.4, 2.0]
SENSOR_RPY, SENSOR_POSITION = [0.1, 0.2, -1.0], [0.0, 0.01, 0.03]


def filled(changes, model="ur5e"):
    record = new(PARAMS)[0]
    fill(record, Parameters().changed(changes), robot_model(model))
    return record


def numbers(value):
    """All numbers of a field, of a record inside the record too."""
    array = np.asarray(value)
    if array.dtype.names is None:
        return array.astype(float).ravel()
    return np.concatenate([numbers(array[name]) for name in array.dtype.names])


def transform(rpy, position):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()  # fixed axes, the convention of URDF
    T[:3, 3] = position
    return T


def test_chain_ends_at_the_tcp():
    record, model = filled({"tool.tcp": TCP}), robot_model("ur5e")
    q = np.array([0.3, -1.2, 1.9, -0.4, 0.7, 2.5])
    T = np.eye(4)
    for i in range(7):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = record["chain_rotation"][i], record["chain_position"][i]
        T = T @ X @ (transform([0, 0, q[i]], [0, 0, 0]) if i < 6 else np.eye(4))
    T_base_flange = np.eye(4)
    T_base_flange[:3, :3], T_base_flange[:3, 3] = model.forward(q)
    np.testing.assert_allclose(T, T_base_flange @ transform(TCP[3:], TCP[:3]), atol=1e-12)


def test_sensor_is_seen_from_the_tcp():
    record = filled({"tool.tcp": TCP, "sensor.rotation": SENSOR_RPY, "sensor.position": SENSOR_POSITION})
    T_tcp_sensor = np.linalg.inv(transform(TCP[3:], TCP[:3])) @ transform(SENSOR_RPY, SENSOR_POSITION)
    np.testing.assert_allclose(record["R_tcp_sensor"], T_tcp_sensor[:3, :3], atol=1e-12)
    np.testing.assert_allclose(record["p_tcp_sensor"], T_tcp_sensor[:3, 3], atol=1e-12)


def test_every_field_but_the_revision_is_written():
    record = new(PARAMS)[0]
    for name in PARAMS.names:
        record[name] = -12345
    fill(record, Parameters(), robot_model("ur5e"))
    untouched = [name for name in PARAMS.names if np.any(numbers(record[name]) == -12345)]
    assert untouched == ["revision", "second"]
    assert [name for name in record["second"].dtype.names if np.any(record["second"][name] == -12345)] == ["revision"]


def test_tool_weight_points_along_gravity():
    tilted = [0.0, 9.80665, 0.0]
    record = filled({"tool.mass": 2.0, "gravity": tilted})
    np.testing.assert_allclose(record["tool_weight_base"], [0.0, 19.6133, 0.0])
    assert record["tool_inertia_mass"] == 0.0
    assert filled({"tool.mass": 2.0, "tool.inertia_compensation": True})["tool_inertia_mass"] == 2.0


def test_scale_factor_scales_every_speed_limit_and_nothing_else():
    full, half = filled({}), filled({"velocity_scale_factor": 0.5})
    speeds = ("max_velocity", "joint_velocity")
    for name in PARAMS.names:
        factor = 0.5 if name in speeds else 1.0
        np.testing.assert_array_equal(numbers(half[name]), numbers(full[name]) * factor, err_msg=name)


def test_coefficient_1_passes_every_sample_and_stays_finite():
    cutoff = filled({"admittance.filter_coefficient": 1.0})["filter_cutoff_hz"]
    assert np.isfinite(cutoff)
    assert -np.expm1(-2 * np.pi * cutoff * 0.001) == 1.0


def test_words_become_the_codes_of_the_core():
    record = filled({"control_frame": "task", "task_rotation": [0.1, 0.2, 0.3], "admittance.integrator": "rk4"})
    assert (record["control_frame"], record["integrator"]) == (Frame.TASK, Integrator.RK4)
    np.testing.assert_allclose(
        record["R_base_task"], Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix(), atol=1e-12
    )
    axes = filled({"admittance.enabled_axes": [True, False] * 3, "admittance.force_axes": [False] * 5 + [True]})
    assert (*axes["enabled"], *axes["force_axes"]) == (1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1)


def test_no_box_is_an_infinite_box_and_one_wall_is_one_wall():
    assert np.all(filled({})["workspace_max"] == np.inf)
    record = filled({"workspace.min": [np.nan, np.nan, 0.05]})
    np.testing.assert_array_equal(record["workspace_min"], [-np.inf, -np.inf, 0.05])


def test_an_endless_joint_stays_endless():
    model = robot_model("ur3e")
    endless = np.isinf(model.upper)
    assert endless.any()
    np.testing.assert_array_equal(np.isinf(filled({}, "ur3e")["joint_upper"]), endless)
    record = filled({"joint_limits.position_upper": [1.0] + [np.nan] * 5}, "ur3e")
    np.testing.assert_array_equal(record["joint_upper"], [1.0, *model.upper[1:]])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"joint_limits.velocity": [np.nan, 9.0] + [np.nan] * 4},
            "joint_limits.velocity[1] = 9 rad/s: must be <= 3.14159 (limit of ur5e)",
        ),
        (
            {"joint_limits.position_upper": [np.nan] * 2 + [4.0] + [np.nan] * 3},
            "joint_limits.position_upper[2] = 4 rad: must be <= 3.14159 (limit of ur5e)",
        ),
        (
            {"joint_limits.position_lower": [-7.0] + [np.nan] * 5},
            "joint_limits.position_lower[0] = -7 rad: must be >= -6.28319 (limit of ur5e)",
        ),
        (
            {"joint_limits.position_upper": [-7.0] + [np.nan] * 5},
            "joint_limits.position_upper[0] = -7 rad: must be > -6.28319 (limit of ur5e)",
        ),
    ],
)
def test_limits_wider_than_the_arm_are_refused_and_the_record_is_untouched(change, sentence):
    record = filled({})
    before = record.copy()
    with pytest.raises(ParameterError) as caught:
        fill(record, Parameters().changed({"tool.tcp": TCP, **change}), robot_model("ur5e"))
    assert str(caught.value) == sentence
    assert record == before


@pytest.mark.parametrize("pi", [3.14, 3.142, 3.1416, 3.14159265])
def test_a_rounded_pi_is_the_limit_of_the_arm_and_never_a_wider_one(pi):
    model, turn = robot_model("ur5e"), 6.283 if pi == 3.142 else 2 * pi
    ends = [turn, turn, pi, turn, turn, turn]
    lower = [-end for end in ends]
    limits = {"velocity": [pi] * 6, "position_lower": lower, "position_upper": ends}
    record = filled({f"joint_limits.{name}": value for name, value in limits.items()})
    np.testing.assert_array_equal(record["joint_velocity"], np.minimum(pi, model.velocity))
    np.testing.assert_array_equal(record["joint_upper"], np.minimum(ends, model.upper))
    np.testing.assert_array_equal(record["joint_lower"], np.maximum(lower, model.lower))


def test_a_range_that_rounding_alone_leaves_open_is_refused():
    change = {"joint_limits.position_lower": [3.1417] * 6, "joint_limits.position_upper": [3.142] * 6}
    with pytest.raises(ParameterError) as refused:
        filled(change)
    assert refused.value.name == "joint_limits.position_upper[2]"


def test_a_ur_keeps_a_margin_to_a_straight_elbow_and_an_arm_without_such_an_elbow_has_none():
    record, model = new(PARAMS)[0], robot_model("ur5e")
    fill(record, Parameters(), model)
    assert record["elbow_margin"] > 0.0
    rotation = model.chain_rotation.copy()
    rotation[2] = Rotation.from_euler("x", 0.5).as_matrix()  # elbow and shoulder not parallel
    fill(record, Parameters(), replace(model, chain_rotation=rotation))
    assert record["elbow_margin"] == 0.0


def test_a_wrench_at_the_probe_is_about_the_tcp_in_its_axes():
    record = filled({"tool.tcp": TCP, "sensor.source": "probe:/netft/proc_probe"})
    assert record["R_tcp_sensor"] == pytest.approx(np.eye(3))
    assert record["p_tcp_sensor"] == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize(("response", "expected"), [(0.0, 0.02), (0.007, 0.007), (0.05, 0.05)])
def test_the_delay_of_the_loop_is_the_sum_of_sensor_filter_tick_and_response(response, expected):
    changes = {"robot.response_time": response, "sensor.delay": 0.004, "admittance.filter_cutoff_hz": 50.0}
    record = filled({**changes, "control_rate": 250.0})
    assert record["loop_delay"] == pytest.approx(0.004 + 1.0 / (2.0 * np.pi * 50.0) + 0.004 + expected)
    assert record["following_time"] > 2.0 * max(response, 0.004)
    assert record["period"] == 0.004


def test_the_arm_may_be_late_by_twice_its_response_which_is_at_least_a_cycle():
    late = lambda **changes: filled({name.replace("__", "."): v for name, v in changes.items()})["following_time"]  # noqa: E731
    slow = late(robot__response_time=0.05)
    assert slow - late(robot__response_time=0.03) == pytest.approx(2 * 0.02)
    assert late(robot__response_time=0.0, control_rate=500.0) == pytest.approx(slow - 2 * (0.05 - 0.002))
    assert late(robot__response_time=0.0, control_rate=125.0) == pytest.approx(slow - 2 * (0.05 - 0.008))
    assert 0.034 < slow - 2 * 0.05 < 2 * 0.034  # the slowest way to drive a UR, whose response is not given, has 34 ms


@pytest.mark.parametrize("side", ["min", "max"])
def test_a_region_with_one_side_is_in_force(side):
    changes = {f"region_2.{side}": [0.1, 0.2, 0.3], "region_2.damping_factor": 3.0, "region_2.speed_factor": 0.5}
    record = filled(changes)
    assert list(record["region_damping"]) == [1.0, 3.0, 1.0]
    assert list(record["region_speed"]) == [1.0, 0.5, 1.0]
    assert list(record[f"region_{side}"][1]) == [0.1, 0.2, 0.3]
    other = "max" if side == "min" else "min"
    assert np.isinf(record[f"region_{other}"][1]).all()
