"""Stability and feel from the linear model: against theory of delayed loops, SciPy, and the simulated arm."""

import math
import os
import time

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from benchmarks.contact.boundary import CASES, STIFFNESSES, Robot, predicted, simulated
from ur_admittance.analysis.axis_loop import Arm, Loop, loop_of
from ur_admittance.analysis.compliance import edge_of_stability, exponential, impedance
from ur_admittance.analysis.stability import margin, margin_of_record
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import PARAMS, new
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance_lab.scenarios import Setup, run_scenario
from ur_admittance_lab.stability.eigenvalues import (
    is_stable,
    largest_safe_stiffness,
    largest_stable_stiffness,
    minimum_damping,
    spectral_radius,
    sufficient_damping,
)

KNOWN = Parameters().changed({"robot.response_time": 0.0164})
HEAVY = -math.log(0.8) * 500.0 / (2.0 * math.pi)  # [Hz]


def damping_rule(loop: Loop, stiffness: float) -> float:
    """D = K_ser T_eq [Ns/m]: just above the edge of stability, without computing it."""
    return loop.loop_delay * stiffness * loop.arm.stiffness / (stiffness + loop.arm.stiffness)


def passive_frequency_rule(loop: Loop) -> float:
    """sqrt(D / (M T_eq)) / 2 pi [Hz]: where damping turns negative, for an arm that is a delay and nothing else."""
    return math.sqrt(loop.damping / (loop.mass * loop.loop_delay)) / (2.0 * math.pi)


def apparent_mass_rule(loop: Loop) -> float:
    """M + m_tool + D T_eq [kg]: a late damper feels like a mass."""
    return loop.mass + loop.tool_mass - loop.removed_mass + loop.damping * loop.loop_delay


def test_matrix_exponential_agrees_with_scipy() -> None:
    rng = np.random.default_rng(1)
    for scale in (1e-6, 0.1, 3.0, 40.0):
        A = scale * rng.normal(size=(6, 6))
        np.testing.assert_allclose(exponential(A), expm(A), rtol=1e-9, atol=1e-9 * np.abs(expm(A)).max())


@pytest.mark.parametrize("stiffness", [500.0, 5e3, 5e4])
def test_least_damping_of_a_mass_behind_a_pure_delay_is_that_of_delay_theory(stiffness: float) -> None:
    """M s^2 + D s + K exp(-s T) = 0 on the imaginary axis: M w^2 = K cos wT, D w = K sin wT."""
    M, period, delay = 8.0, 0.0002, 0.020
    T = delay + 1e-4 + 1.5 * period  # shortest lag of the model; mean of a period, and the command reached at its end
    w = brentq(lambda w: M * w * w - stiffness * math.cos(w * T), 1e-3, 0.5 * math.pi / T)
    loop = Loop(M, 80.0, period=period, delay=delay, lag=0.0, arm=Arm(stiffness=1e8, mass=0.1))
    assert minimum_damping(loop, stiffness) == pytest.approx(stiffness * math.sin(w * T) / w, rel=0.01)


@pytest.mark.parametrize("damping", [30.0, 80.0, 250.0, 450.0])
@pytest.mark.parametrize("delay", [0.0, 0.0037, 0.010, 0.020])
def test_edge_from_the_frequency_response_is_the_edge_of_the_eigenvalues(damping: float, delay: float) -> None:
    loop = Loop(8.0, damping, cutoff_hz=HEAVY, delay=delay, tool_mass=1.0, compensated_mass=1.0)
    edge = largest_stable_stiffness(loop)
    if math.isfinite(edge):
        assert edge_of_stability(loop) == pytest.approx(edge, rel=0.02)
        assert is_stable(loop, 0.98 * edge)
        assert not is_stable(loop, 1.02 * edge)


@pytest.mark.parametrize("hz", [25.0, 60.0])
def test_a_notch_is_in_the_model_as_it_is_in_the_arm(hz: float) -> None:
    """Least damping on 10 kN/m with the notch: the eigenvalues, the frequency response and the simulated arm."""
    robot = Robot(0.010, 0.2, 25.0, vibration_hz=hz)
    loop = robot.loop()
    assert predicted(robot, 1e4) == pytest.approx(simulated(robot, 1e4), rel=0.10)
    assert predicted(robot, 1e4) > 1.05 * predicted(Robot(0.010, 0.2, 25.0), 1e4)
    stiff = loop.with_damping(300.0)
    assert edge_of_stability(stiff) == pytest.approx(largest_stable_stiffness(stiff), rel=0.03)


def test_a_record_gives_the_same_loop_with_a_notch() -> None:
    for changes in ({"sensor.vibration_hz": 40.0}, {"sensor.find_vibration": True}):
        parameters = KNOWN.changed(changes)
        params = new(PARAMS)
        fill(params[0], parameters, robot_model("ur5e"))
        assert margin_of_record(params[0]).stable_stiffness == pytest.approx(margin(parameters).stable_stiffness)
        assert margin(parameters).stable_stiffness < margin(KNOWN).stable_stiffness


def test_free_space_is_neutral_and_a_spring_brings_the_arm_back() -> None:
    assert spectral_radius(Loop(8.0, 64.0), 0.0) == pytest.approx(1.0, abs=1e-7)
    assert is_stable(Loop(8.0, 64.0, stiffness=200.0), 0.0)


def test_a_tool_much_heavier_than_the_law_is_unstable_even_in_free_space() -> None:
    assert largest_stable_stiffness(Loop(1.0, 20.0, tool_mass=5.0)) == 0.0
    assert largest_stable_stiffness(Loop(8.0, 64.0, tool_mass=5.0)) > 1e3


def test_enough_damping_is_stable_on_any_surface() -> None:
    loop = Loop(8.0, 2000.0)
    assert math.isinf(largest_stable_stiffness(loop))
    assert math.isinf(largest_safe_stiffness(loop))


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
def test_the_rule_of_thumb_is_sufficient_and_not_wasteful(stiffness: float) -> None:
    loop = Loop(8.0, 80.0, cutoff_hz=HEAVY)
    assert 1.0 < damping_rule(loop, stiffness) / minimum_damping(loop, stiffness) < 1.7


def test_damping_for_a_surface_also_covers_softer_ones() -> None:
    """A quick robot needs less damping on steel than on wood: both must be covered."""
    loop = Loop(8.0, 80.0, delay=0.0)
    needed = sufficient_damping(loop, 1e5)
    assert needed > 1.1 * minimum_damping(loop, 1e5)
    for stiffness in np.geomspace(2e3, 1e5, 9):
        assert is_stable(loop.with_damping(1.03 * needed), float(stiffness))


def cells() -> list[tuple[Robot, float]]:
    """Corners of the table and cases the arm was not fitted to; all with SWEEP."""
    robots = [Robot(*case) for case, _ in CASES]
    if os.environ.get("SWEEP"):
        return [(robot, k) for robot in robots for k in STIFFNESSES]
    others = Robot(0.006, 0.5, 15.0), Robot(0.014, 0.6, 25.0, mass=16.0)
    return [(robots[0], 1e5), (robots[4], 1e4), (others[0], 3e4), (others[1], 2e4)]


@pytest.mark.parametrize(("robot", "stiffness"), cells())
def test_predicted_least_damping_is_that_of_the_simulated_arm(robot: Robot, stiffness: float) -> None:
    assert predicted(robot, stiffness) == pytest.approx(simulated(robot, stiffness, tolerance=1.03), rel=0.10)


def test_felt_mass_and_damping_are_those_of_the_simulated_hand() -> None:
    measured = {m.name: m.value for m in run_scenario("hand_guiding", Setup()).metrics}
    felt = margin(KNOWN.changed({"tool.mass": 1.0, "tool.inertia_compensation": True}))
    assert felt.apparent_mass == pytest.approx(measured["apparent_mass"], rel=0.05)
    assert felt.apparent_damping == pytest.approx(measured["apparent_damping"], rel=0.05)


def test_formulas_of_felt_mass_and_passivity_agree_with_the_frequency_response() -> None:
    loop = Loop(8.0, 64.0, cutoff_hz=HEAVY, arm=Arm(stiffness=1e7, mass=0.1))
    felt = impedance(loop, np.array([0.3]))[0].imag / (2 * math.pi * 0.3)
    assert felt == pytest.approx(apparent_mass_rule(loop), rel=0.04)
    frequency = passive_frequency_rule(loop)
    assert impedance(loop, np.array([0.8 * frequency]))[0].real > 0.0
    assert impedance(loop, np.array([1.25 * frequency]))[0].real < 0.0


def test_margin_is_the_weakest_compliant_axis() -> None:
    soft_y = KNOWN.changed({"admittance.damping": [100.0, 30.0, 100.0, 5.0, 5.0, 5.0]})
    assert margin(soft_y).axis == 1
    held = soft_y.changed({"admittance.enabled_axes": [True, False, True, True, True, True]})
    assert margin(held).axis == 0
    assert margin(held).stable_stiffness > 2.0 * margin(soft_y).stable_stiffness


def test_controller_shows_the_margin_live_and_telemetry_can_compute_it() -> None:
    controller = AdmittanceController(robot_model("ur5e"), KNOWN)
    before = controller.stable_stiffness
    assert before == pytest.approx(largest_stable_stiffness(loop_of(KNOWN)), rel=0.03)
    assert margin_of_record(controller.params).stable_stiffness == pytest.approx(before, rel=1e-6)
    controller.set_parameters({"admittance.damping": [200.0] * 3 + [6.4] * 3})
    assert controller.stable_stiffness > 2.5 * before
    times = []
    for _ in range(50):
        start = time.perf_counter()
        controller.margin  # noqa: B018
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3
    assert not controller.margin.assumed
    assert margin(Parameters()).assumed
