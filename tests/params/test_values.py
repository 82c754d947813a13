"""Values: defaults, derived quantities, and the sentence of every kind of refusal."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.params.table import rows

NAN, INF = math.nan, math.inf


def test_default_damping_lets_a_push_of_10_newton_move_at_0_16_m_per_s():
    damping = Parameters().admittance.effective_damping
    assert damping == pytest.approx((64.0,) * 3 + (6.4,) * 3)
    assert 10.0 / damping[0] == pytest.approx(0.16, abs=0.005)


def test_damping_follows_the_spring_once_it_is_stiffer_than_the_virtual_one():
    p = Parameters().changed({"admittance.stiffness": [199, 200, 800, 0, 20, 80]})
    assert p.admittance.effective_damping == pytest.approx((64.0, 64.0, 128.0, 6.4, 6.4, 12.8))


def test_given_damping_overrides_the_ratio_on_its_axis_only():
    p = Parameters().changed({"admittance.damping": [NAN, None, 300.0, NAN, NAN, 1.0]})
    assert p.admittance.effective_damping == pytest.approx((64.0, 64.0, 300.0, 6.4, 6.4, 1.0))


@pytest.mark.parametrize("coefficient", [1e-9, 0.1, 0.2, 0.8, 0.999])
def test_cutoff_reproduces_the_coefficient_at_500_hz(coefficient):
    """Oracle: the exact discretisation of a first-order low-pass, c = 1 - exp(-2 pi fc dt)."""
    cutoff = Parameters().changed({"admittance.filter_coefficient": coefficient}).admittance.cutoff_hz
    assert -math.expm1(-2 * math.pi * cutoff * 0.002) == pytest.approx(coefficient, rel=1e-12)


def test_default_filter_is_128_hz_and_coefficient_1_is_no_filter():
    assert Parameters().admittance.cutoff_hz == pytest.approx(128.07, abs=0.01)
    assert Parameters().changed({"admittance.filter_coefficient": 1}).admittance.cutoff_hz == INF


def test_changing_cutoff_or_coefficient_replaces_the_other():
    with_cutoff = Parameters().changed({"admittance.filter_cutoff_hz": 30})
    assert with_cutoff.admittance.cutoff_hz == 30
    assert with_cutoff.admittance.filter_coefficient is None
    assert with_cutoff.changed({"control_rate": 250}).admittance.cutoff_hz == 30
    assert with_cutoff.changed({"admittance.filter_coefficient": 0.8}) == Parameters()
    assert with_cutoff.changed({"admittance.filter_cutoff_hz": None}) == Parameters()


REFUSED = [
    ({"admittance.mass": [8, 8, -1, 1, 1, 1]}, "admittance.mass[2] = -1 kg: must be >= 0.001"),
    ({"admittance.mass": [8, 8, 8, 1, 1, 0.0]}, "admittance.mass[5] = 0 kg m2: must be >= 0.001"),
    ({"admittance.mass": [8, NAN, 8, 1, 1, 1]}, "admittance.mass[1] = nan kg: must be a finite number"),
    ({"admittance.desired_wrench": [0, 0, 0, 0, -INF, 0]}, "admittance.desired_wrench[4] = -inf Nm: must be a finite number"),
    ({"admittance.damping": [1, 1, 1, 1, 1, INF]}, "admittance.damping[5] = inf Nms/rad: must be a finite number"),
    ({"admittance.mass": [8, 8]}, "admittance.mass = [8, 8] kg, kg m2 (2 values): must be 6 numbers >= 0.001"),
    ({"admittance.mass": 8}, "admittance.mass = 8 kg, kg m2: must be 6 numbers >= 0.001"),
    ({"admittance.mass": [1e-300] * 6}, "admittance.mass[0] = 1e-300 kg: must be >= 0.001"),
    ({"admittance.mass": [8, 8, 8, 1, 1, "1"]}, "admittance.mass[5] = '1' kg m2: must be a number"),
    ({"admittance.mass": [8, 8, 8, 1, 1, True]}, "admittance.mass[5] = true kg m2: must be a number"),
    ({"admittance.enabled_axes": [True, 1, True, True, True, True]}, "admittance.enabled_axes[1] = 1: must be true or false"),
    ({"admittance.integrator": "euler"}, "admittance.integrator = 'euler': must be exact, rk4 or semi_implicit_euler"),
    ({"control_frame": "tool"}, "control_frame = 'tool': must be base, tcp, task or normal"),
    ({"control_rate": 100}, "control_rate = 100 Hz: must be >= 125"),
    ({"control_rate": "500"}, "control_rate = '500' Hz: must be a number >= 125 and <= 1000"),
    ({"safety.max_force": None}, "safety.max_force = null N: must be a number > 0"),
    ({"safety.max_force": 1e300}, "safety.max_force = 1e+300 N: must be <= 1e+06"),
    ({"max_linear_acceleration": 1e-300}, "max_linear_acceleration = 1e-300 m/s2: must be >= 0.01"),
    ({"joint_limits.acceleration": [20] * 5 + [0.001]}, "joint_limits.acceleration[5] = 0.001 rad/s2: must be >= 0.01"),
    ({"collision.clearance": 1e6}, "collision.clearance = 1000000 m: must be <= 1"),
    ({"velocity_scale_factor": 1.5}, "velocity_scale_factor = 1.5: must be <= 1"),
    ({"admittance.filter_coefficient": 0}, "admittance.filter_coefficient = 0: must be > 0"),
    ({"sensor.sign": 0}, "sensor.sign = 0: must be 1 or -1"),
    ({"gravity": [0, 0, -1]}, "gravity = [0, 0, -1] m/s2: its norm must be 9.7 to 9.9 (turn it, don't scale it)"),
    ({"sensor.bias": [0, 1e6, 0, 0, 0, 0]}, "sensor.bias[1] = 1000000 N: must be -1000 to 1000; check the unit"),
    ({"second.bias": [0, 0, 0, 0, 0, -101]}, "second.bias[5] = -101 Nm: must be -100 to 100; check the unit"),
    ({"sensor.rotation": [0, 100, 0]}, "sensor.rotation[1] = 100 rad: must be <= 6.2832"),
    ({"second.rotation": [-90, 0, 0]}, "second.rotation[0] = -90 rad: must be >= -6.2832"),
    ({"task_rotation": [0, 0, 180]}, "task_rotation[2] = 180 rad: must be <= 6.2832"),
    ({"tool.tcp": [0, 0, 150, 0, 0, 0]}, "tool.tcp[2] = 150 m: must be -2 to 2; check the unit"),
    ({"tool.tcp": [0, 0, 0.15, 0, 0, 90]}, "tool.tcp[5] = 90 rad: must be -6.2832 to 6.2832; check the unit"),
    ({"sensor.position": [0, 0, 40]}, "sensor.position[2] = 40 m: must be -2 to 2; check the unit"),
    ({"second.mass": 51}, "second.mass = 51 kg: must be at most 50; check the unit"),
    ({"base_link": "my base"}, "base_link = 'my base': must be a name of letters, digits, _ . / -"),
    ({"joints": list("aabcde")}, "joints = ['a', 'a', 'b', 'c', 'd', 'e']: must be six different names; a appears twice"),
    ({"dynamic_parameters": "yes"}, "dynamic_parameters = 'yes': must be true or false"),
    (
        {"workspace.min": [0, 0.5, 0], "workspace.max": [1, 0.5, 1]},
        "workspace.min[1] = 0.5 m: must be < workspace.max[1] = 0.5",
    ),
    (
        {"joint_limits.position_lower": [1] * 6, "joint_limits.position_upper": [2, 2, 2, 0, 2, 2]},
        "joint_limits.position_lower[3] = 1 rad: must be < joint_limits.position_upper[3] = 0",
    ),
    (
        {"admittance.filter_cutoff_hz": 50, "admittance.filter_coefficient": 0.1},
        "admittance.filter_cutoff_hz = 50 Hz: must not be given together with admittance.filter_coefficient = 0.1",
    ),
    ({"admittance.mas": 1}, "admittance.mas is not a parameter; the nearest known name is admittance.mass"),
    ({"max_force": 1}, "max_force is not a parameter; the nearest known name is safety.max_force"),
    ({"admitance": {"mass": [1] * 6}}, "admitance.mass is not a parameter; the nearest known name is admittance.mass"),
    ({"admittance": 3}, "admittance is a group of parameters: give its members, such as admittance.mass"),
    ({"control_rate.x": 3}, "control_rate.x is not a parameter; the nearest known name is control_rate"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=[sentence.split(":")[0][:40] for _, sentence in REFUSED])
def test_refusal_says_which_value_unit_and_what_is_allowed(change, sentence):
    p = Parameters()
    with pytest.raises(ParameterError) as caught:
        p.changed(change)
    assert str(caught.value) == sentence
    assert p == Parameters()


def test_the_constructor_refuses_with_the_same_sentences():
    with pytest.raises(ParameterError, match=r"^admittance\.mass\[0\] = 0 kg: must be >= 0.001$"):
        Parameters(admittance={"mass": [0] * 6})
    with pytest.raises(ParameterError, match="foo is not a parameter"):
        Parameters(foo=1)


def test_a_huge_value_is_shortened_in_its_refusal():
    with pytest.raises(ParameterError) as caught:
        Parameters().changed({"control_frame": "x" * 10_000})
    assert len(str(caught.value)) < 150


def test_numpy_arrays_and_scalars_are_values():
    p = Parameters().changed(
        {"admittance.mass": np.full(6, 2.0), "control_rate": np.float32(250), "tool.mass": np.int64(1)}
    )
    assert p.admittance.mass == (2.0,) * 6
    assert (p.control_rate, p.tool.mass) == (250.0, 1.0)


def test_parameters_are_frozen():
    with pytest.raises(ValidationError):
        Parameters().admittance.mass = (1.0,) * 6


def test_every_parameter_has_a_unit_and_help():
    assert set(rows()) == set(Parameters().flat())
    assert all(row.unit and row.help and row.allowed for row in rows().values())


def test_the_table_knows_the_bounds_of_numbers_and_the_choices_of_words():
    table = rows()
    assert table["velocity_scale_factor"].bounds == (0.0, 1.0)
    assert table["control_rate"].bounds == (125.0, 1000.0)
    assert table["admittance.damping"].bounds == (0.0, 1e6)  # of each element
    assert table["control_frame"].choices == ("base", "tcp", "task", "normal")
    assert table["base_link"].choices == ()
    for name, row in table.items():
        assert (row.bounds is not None) == (row.kind == "number"), name
        if row.choices:
            assert row.default in row.choices


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tool.mass": 0.072, "tool.center_of_mass": [0.1, 0.0, 2.59]}, "is 2.59 m from the sensor, must be at most 1"),
        ({"tool.mass": 60.0}, "tool.mass = 60 kg: must be at most 50"),
        ({"sensor.source": "usb"}, "sensor.source = 'usb': must be empty, builtin, raw, netft:ADDRESS"),
        ({"sensor.source": "probe:/p", "tool.mass": 0.5}, "tool.mass = 0.5 kg: must be 0: the wrench of sensor.source"),
        ({"sensor.source": "probe:/p", "sensor.bias": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]}, "must be 0: the wrench of"),
        ({"sensor.source": "probe:/p", "tool.inertia_compensation": True}, "must be false: the wrench of"),
        ({"second.source": "usb"}, "second.source = 'usb': must be empty, or as sensor.source without probe:"),
        ({"second.source": "raw", "sensor.source": "raw"}, "second.source = 'raw': must be another sensor"),
        ({"second.source": "raw", "sensor.auto_zero": True}, "sensor.auto_zero = true: must be false with a second"),
    ],
)
def test_an_implausible_tool_and_a_second_compensation_are_refused_wherever_they_come_from(changes, sentence):
    with pytest.raises(ParameterError) as refused:
        Parameters().changed(changes)
    assert sentence in str(refused.value)
