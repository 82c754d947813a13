"""Records that bypassed the parameter schema: one number that makes no sense, and they are not trusted."""

import math

import numpy as np
import pytest

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.checks import check_params, check_state
from ur_admittance.core.kernel import record
from ur_admittance.core.records import PARAMS, STATE, TRAIL, Mode, Status, new
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

NEVER_NEGATIVE = [
    "mass",
    "damping",
    "stiffness",
    "joint_velocity",
    "joint_acceleration",
    "arm_velocity",
    "deadband_axis",
    "elbow_margin",
    "max_velocity",
    "max_acceleration",
    "desired_wrench_rate",
    "bias_limit",
    "approach_speed",
    "contact_threshold",
    "max_contact_damping",
    "response_time",
    "loop_delay",
    "sensor_delay",
    "travel_damping",
    "travel_speed",
    "contact_ratio",
    "normal_time",
    "contact_friction",
    "deadband_force",
    "deadband_torque",
    "drift_reset_threshold",
    "max_force",
    "max_torque",
    "max_position_error",
    "max_orientation_error",
    "max_following_error",
    "following_time",
    "filter_cutoff_hz",
    "engagement_time",
    "bias_time",
    "tool_inertia_mass",
]
NEVER_ZERO = [
    "mass",
    "arm_velocity",
    "joint_acceleration",
    "max_acceleration",
    "travel_damping",
    "travel_speed",
    "contact_ratio",
    "max_following_error",
    "following_time",
    "filter_cutoff_hz",
    "sensor_sign",
]
ALWAYS_FINITE = [
    "chain_rotation",
    "chain_position",
    "tracking_gain",
    "region_margin",
    "region_damping",
    "region_speed",
    "R_tcp_sensor",
    "p_tcp_sensor",
    "R_base_task",
    "sensor_bias",
    "tool_weight_base",
    "tool_com",
    "desired_wrench",
    "workspace_min",
    "workspace_max",
    "joint_lower",
    "joint_upper",
]


@compiled
def params_trusted(params):
    return check_params(record(params, 0))


@compiled
def state_trusted(state):
    return check_state(record(state, 0))


@pytest.fixture
def params():
    made = new(PARAMS)
    fill(made[0], Parameters(), robot_model("ur5e"))
    assert params_trusted(made)
    return made


def spoiled(params, name, value):
    """Whether the record is still trusted with the value in one place of the field: each in turn."""
    numbers = np.atleast_1d(params[name][0]) if params[name][0].shape else params[name]
    answers = []
    for place in np.ndindex(numbers.shape):
        good, numbers[place] = numbers[place], value
        answers.append(params_trusted(params))
        numbers[place] = good
    assert params_trusted(params)
    return answers


@pytest.mark.parametrize("name", NEVER_NEGATIVE)
def test_no_limit_no_time_and_nothing_physical_is_negative(params, name):
    assert not any(spoiled(params, name, -1e-3))


@pytest.mark.parametrize("name", NEVER_ZERO)
def test_what_is_divided_by_is_not_zero(params, name):
    assert not any(spoiled(params, name, 0.0))


@pytest.mark.parametrize("name", sorted({*NEVER_NEGATIVE, *NEVER_ZERO, *ALWAYS_FINITE}))
def test_nothing_is_no_number(params, name):
    assert not any(spoiled(params, name, math.nan))


@pytest.mark.parametrize(("low", "high"), [("joint_lower", "joint_upper"), ("workspace_min", "workspace_max")])
def test_no_range_is_upside_down(params, low, high):
    params[low], params[high] = 1.0, 1.0
    assert params_trusted(params)
    params[high][0][1] = 0.999
    assert not params_trusted(params)


def test_memory_that_was_overwritten_is_not_trusted():
    for name, good, bad in (
        ("mode", max(Mode), (-1, max(Mode) + 1)), ("status", max(Status), (-1, max(Status) + 1)),
        ("ramp", 1.0, (-0.1, 1.1, math.nan)),
        ("quiet_time", 0.0, (-1.0,)), ("waiting_time", 0.0, (-1.0,)), ("trail_count", TRAIL, (-1, TRAIL + 1)),
        ("trail_newest", TRAIL - 1, (-1, TRAIL)), ("offset", 0.1, (math.inf, math.nan, 1e10)),
        ("singular_vectors", 1.0, (math.nan,)), ("pressed", 5.0, (-1.0, math.nan)),
    ):  # fmt: skip
        state = new(STATE)
        state[name] = good
        assert state_trusted(state), name
        for value in bad:
            state[name] = value
            assert not state_trusted(state), (name, value)
