"""The parts of the fit against formulas and against MuJoCo."""

import mujoco
import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Servo, Tool, World
from ur_admittance_lab.twin.found.dynamics import Kinematics, inertia_matrix, joint_torques
from ur_admittance_lab.twin.found.filters import SMOOTH, followed, smoothed
from ur_admittance_lab.twin.found.least_squares import covariance, fit

T, OMEGA = 0.002, 9.0
TIMES = T * np.arange(1500)
INSIDE = slice(200, -200)
GAIN = np.exp(-0.5 * (OMEGA * SMOOTH) ** 2)  # of the Gaussian at this frequency


@pytest.mark.parametrize("later", [0.0, 0.0007, -0.0031])
@pytest.mark.parametrize("derivative", [0, 1, 2])
def test_a_sine_is_shifted_and_differentiated_between_its_samples(later: float, derivative: int) -> None:
    wave = np.sin(OMEGA * TIMES)[:, None]
    expected = GAIN * np.imag((1j * OMEGA) ** derivative * np.exp(1j * OMEGA * (TIMES + later)))
    np.testing.assert_allclose(
        smoothed(wave, T, later, derivative)[INSIDE, 0], expected[INSIDE], atol=2e-5 * OMEGA**derivative
    )


@pytest.mark.parametrize(("delay", "lag"), [(0.0, 0.004), (0.0107, 0.0064), (0.0231, 0.013)])
def test_a_command_passes_delay_and_lag_as_their_transfer_function_says(delay: float, lag: float) -> None:
    command = np.sin(OMEGA * (TIMES + T))[:, None]  # row k is reached at (k + 1) T
    through = GAIN * np.exp(-1j * OMEGA * delay) / (1.0 + 1j * OMEGA * lag) * np.exp(1j * OMEGA * TIMES)
    angle, speed = followed(command, T, delay, lag)
    np.testing.assert_allclose(angle[INSIDE, 0], through.imag[INSIDE], atol=1e-4)
    np.testing.assert_allclose(speed[INSIDE, 0], (1j * OMEGA * through).imag[INSIDE], atol=3e-4 * OMEGA)


def test_inertia_is_that_of_mujoco() -> None:
    model, tool = robot_model("ur10e"), Tool(mass=2.0, com=(0.01, -0.02, 0.07))
    world = World(model, tool, servo=Servo(armature=(0.0,) * 6))
    for q in np.random.default_rng(3).uniform(-2.0, 2.0, (5, 6)):
        world.reset(q)
        expected, column = np.zeros((6, 6)), np.zeros(6)
        for j in range(6):
            mujoco.mj_mulM(world.mj_model, world.mj_data, column, np.eye(6)[j])
            expected[:, j] = column
        ours = inertia_matrix(model, q, tool.mass, np.array(tool.com), tool.inertia_matrix())
        np.testing.assert_allclose(ours, expected, atol=1e-6)


def test_torques_of_a_wrench_are_those_of_the_jacobian() -> None:
    model, rng = robot_model("ur3e"), np.random.default_rng(4)
    q, wrench = rng.uniform(-2.0, 2.0, (4, 6)), rng.normal(size=(4, 6))
    at = Kinematics.of(model, q)
    expected = [model.jacobian(angles).T @ w for angles, w in zip(q, wrench, strict=True)]
    np.testing.assert_allclose(joint_torques(at, at.positions[:, 6], wrench), expected, atol=1e-12)


def test_the_deviation_of_a_fit_is_honest_for_noise_that_lasts() -> None:
    """A decay with noise that stays the same for ten samples: of 300 fits, 2/3 within one deviation."""
    rng, t = np.random.default_rng(5), np.linspace(0.0, 2.0, 400)
    blocks, inside = np.arange(400) // 20, 0
    for _ in range(300):
        noise = np.repeat(rng.normal(0.0, 0.05, 40), 10)
        measured = 2.0 * np.exp(-1.5 * t) + noise

        def left(x: np.ndarray, measured: np.ndarray = measured) -> np.ndarray:
            return measured - x[0] * np.exp(-x[1] * t)

        x, J = fit(left, np.array([1.0, 1.0]), np.array([0.1, 0.1]), np.array([True, True]))
        deviation = 0.1 * np.sqrt(np.diag(covariance(J, left(x), blocks)))
        inside += bool(abs(x[1] - 1.5) < deviation[1])
    assert 0.58 < inside / 300 < 0.76


def test_joint_friction_deflects_a_moving_joint_by_its_torque_over_its_stiffness() -> None:
    friction, speed = 4.0, 0.2
    q = np.array(robot_model("ur5e").home)
    trail = []
    for torque in (0.0, friction):
        world = World(robot_model("ur5e"), servo=Servo(friction=(torque, 0.0, 0.0, 0.0, 0.0, 0.0)))
        for k in range(500):
            q[0] = speed * 0.002 * (k + 1)
            world.step(q, None, 0.002)
        trail.append(q[0] - world.q[0])
        world.reset()
    assert trail[1] - trail[0] == pytest.approx(friction / 20e3, rel=0.02)


def test_an_arm_without_friction_has_none_in_its_model() -> None:
    assert "frictionloss" not in World(robot_model("ur5e")).xml
