"""Identification from readings: what is found, and what is refused with which reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_admittance.calibration import fit as sensor_model
from ur_admittance.calibration import identify
from ur_admittance.calibration.tool_calibration import expected_reading
from ur_admittance.errors import CalibrationError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters

from .conftest import SWEEP, Bench, rotation_error_deg


@pytest.mark.parametrize("seed", range(SWEEP or 10))
def test_twelve_noisy_poses_tell_tool_bias_mounting_and_tilt(seed):
    bench = Bench(seed)
    found = identify(bench.readings(12), Parameters())
    assert found.mass == pytest.approx(1.5, rel=0.005)
    assert np.abs(found.center_of_mass - bench.com).max() < 0.002
    assert rotation_error_deg(bench.R_flange_sensor, found.R_flange_sensor) < 0.3
    assert np.abs(found.bias - bench.bias)[:3].max() < 0.1
    assert np.abs(found.bias - bench.bias)[3:].max() < 0.01
    assert np.degrees(found.tilt) == pytest.approx(10.0, abs=0.1)


def test_without_noise_the_start_without_iterations_is_already_exact():
    bench = Bench(3)
    R = np.array([robot_model("ur5e").forward(q)[0].T for q in bench.poses(8)])
    force = np.array([bench.wrench(r.T)[:3] for r in R])
    R_sensor_flange, weight = sensor_model.start(R, force)
    assert rotation_error_deg(R_sensor_flange.T, bench.R_flange_sensor) < 1e-4
    assert np.allclose(weight, 1.5 * bench.gravity, atol=1e-6)


@given(st.integers(0, 1000))
def test_jacobian_of_the_fit_is_the_difference_quotient(seed):
    rng = np.random.default_rng(seed)
    bench = Bench(seed)
    R = np.array([robot_model("ur5e").forward(q)[0].T for q in bench.poses(2)])
    S, W, b, c = bench.R_flange_sensor.T, 1.5 * bench.gravity, bench.bias, bench.com
    J = sensor_model.jacobian(S, W, c, R)
    step = 1e-6 * rng.standard_normal(15)
    from scipy.spatial.transform import Rotation

    def at(sign):
        turned = Rotation.from_rotvec(sign * step[:3]).as_matrix() @ S
        bias = b + sign * np.concatenate([step[6:9], step[12:15]])
        return sensor_model.predicted(turned, W + sign * step[3:6], bias, c + sign * step[9:12], R)

    assert np.allclose((at(1) - at(-1)) / 2, J @ step, atol=1e-11)


def test_stated_standard_deviation_is_the_scatter_of_repeated_calibrations():
    found = []
    for seed in range(40):
        bench = Bench(5)
        poses = bench.poses(12)
        bench.rng = np.random.default_rng(seed)
        found.append(identify([bench.read(q) for q in poses], Parameters()))
    scatter = np.std([one.mass for one in found])
    assert np.mean([one.deviation.mass for one in found]) == pytest.approx(scatter, rel=0.4)
    scatter = np.std([one.bias[:3] for one in found], axis=0).max()
    assert np.mean([one.deviation.force_bias for one in found]) == pytest.approx(scatter, rel=0.4)


def test_compensated_reading_of_the_tick_is_zero_with_the_identified_parameters():
    """The parameters that the calibration writes mean the same to the controller's own compensation."""
    from ur_admittance.control.zeroing import compensated
    from ur_admittance.core.records import PARAMS, new
    from ur_admittance.params.record import fill

    bench = Bench(8)
    p = identify(bench.readings(12), Parameters()).applied_to(Parameters())
    record = new(PARAMS)
    fill(record[0], p, robot_model("ur5e"))
    for q in bench.poses(20):
        R, _ = robot_model("ur5e").forward(q)
        left = compensated(record, q, bench.wrench(R))
        assert np.linalg.norm(left[:3]) < 0.05
        assert np.linalg.norm(left[3:]) < 0.005
        assert np.allclose(bench.wrench(R) - expected_reading(p, R), left, atol=1e-9)


def test_reaction_sensor_is_identified_when_its_sign_is_configured():
    bench = Bench(4, sign=-1.0)
    found = identify(bench.readings(12), Parameters().changed({"sensor.sign": -1}))
    assert found.mass == pytest.approx(1.5, rel=0.005)
    assert np.abs(found.bias - bench.bias).max() < 0.1


# -- refusals ---------------------------------------------------------------------------------------------------------


def refused(readings, parameters=None):
    with pytest.raises(CalibrationError) as error:
        identify(readings, parameters or Parameters())
    return str(error.value)


def test_three_poses_are_refused_with_the_number_needed():
    assert "3 poses: at least 6 are needed" in refused(Bench(1).readings(3))


@pytest.mark.parametrize("joint", [3, 4, 5])
def test_twelve_poses_about_one_axis_are_refused_with_advice(joint):
    bench, home = Bench(2), robot_model("ur5e").home
    readings = [bench.read(home + a * np.eye(6)[joint]) for a in np.linspace(-1.2, 1.2, 12)]
    reason = refused(readings)
    assert "one axis only" in reason
    assert "tilt the wrist by at least 30 degrees about two axes" in reason


def test_twelve_nearly_equal_poses_are_refused():
    bench = Bench(2)
    assert "too similar" in refused([bench.read(q) for q in bench.poses(12, (5, 5, 5))])


def test_light_tool_reports_its_mass_and_withholds_centre_of_mass_and_mounting():
    bench = Bench(6, mass=0.02)
    found = identify(bench.readings(12), Parameters())
    assert found.mass == pytest.approx(0.02, abs=0.002)
    assert found.center_of_mass is None
    assert found.R_flange_sensor is None
    assert found.gravity is None
    assert "withheld" in found.notes[-1]
    assert found.changes()["tool.center_of_mass"] == [0.0, 0.0, 0.0]
    assert "sensor.rotation" not in found.changes()


@pytest.mark.parametrize("seed", range(SWEEP or 5))
@pytest.mark.parametrize("size", [1.0, 5.0, 30.0])
def test_one_pose_touched_by_a_hand_is_found_and_left_out(seed, size):
    bench = Bench(seed)
    readings = bench.readings(12)
    bad = int(bench.rng.integers(12))
    push = bench.rng.standard_normal(6) * np.repeat([1.0, 0.1], 3)
    readings[bad].wrench[:] += size * push / np.linalg.norm(push[:3])
    found = identify(readings, Parameters())
    assert np.flatnonzero(~found.used).tolist() == [bad]
    assert found.mass == pytest.approx(1.5, rel=0.005)
    assert f"Pose {bad + 1} did not fit" in found.notes[0]


def test_hand_on_the_tool_in_many_poses_is_refused():
    bench = Bench(7)
    readings = bench.readings(12)
    for reading in readings[::2]:
        reading.wrench[:3] += bench.rng.uniform(-8, 8, 3)
    assert "do not fit" in refused(readings)


def test_sensor_that_reports_the_reaction_is_refused_with_the_parameter_to_set():
    reason = refused(Bench(9, sign=-1.0).readings(12))
    assert "sensor reports the reaction; set sensor.sign to -1" in reason


def test_ceiling_mounted_base_is_told_by_its_gravity():
    bench = Bench(10, tilt_deg=170.0)
    assert "gravity" in refused(bench.readings(12))
    found = identify(bench.readings(12), Parameters().changed({"gravity": [0, 0, G]}))
    assert np.degrees(found.tilt) == pytest.approx(10.0, abs=0.1)


def test_torque_axes_that_do_not_fit_the_forces_are_refused():
    readings = Bench(11).readings(12)
    for reading in readings:
        reading.wrench[3:5] = reading.wrench[4], reading.wrench[3]
    reason = refused(readings)
    assert "check-frames" in reason or "do not fit" in reason


def test_centre_of_mass_metres_away_is_refused():
    """A published calibration of a real arm has 0.072 kg, 2.59 m in front of the sensor."""
    bench = Bench(12)
    bench.com = np.array([0.0, 0.0, 2.59])
    assert "2.59 m from the sensor is not plausible" in refused(bench.readings(12))


def test_forces_in_the_wrong_unit_are_refused_as_an_implausible_mass():
    assert "not plausible" in refused(Bench(13, mass=150.0).readings(12))


G = 9.80665
