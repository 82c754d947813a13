"""The wrist sensor's faults, one at a time."""

import numpy as np
import pytest

from ur_admittance.errors import SimulationError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import FtSensor, Tool, World

PERIOD = 0.002


def readings(sensor: FtSensor, count: int, push: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    world = World(robot_model("ur5e"), tool=Tool(mass=1.0), sensor=sensor, seed=seed)
    if push is not None:
        world.push(push)
    rows = []
    for _ in range(count):
        world.step(world.setpoint.copy(), None, PERIOD)
        rows.append(world.wrench.copy())
    return np.array(rows)


WEIGHT = np.array([0.0, 0.0, 9.80665, 0.0, 0.0, 0.0])  # tool down: sensor z points to the ground, com on the axis


def test_bias_is_added_and_sign_turns_the_reading_but_not_the_bias() -> None:
    bias = (1.0, -2.0, 3.0, 0.1, -0.2, 0.3)
    np.testing.assert_allclose(readings(FtSensor(bias=bias), 3)[-1], WEIGHT + bias, atol=1e-6)
    np.testing.assert_allclose(readings(FtSensor(bias=bias, sign=-1.0), 3)[-1], -WEIGHT + bias, atol=1e-6)


def test_noise_has_the_deviation_asked_for() -> None:
    rows = readings(FtSensor(noise_force=0.5, noise_torque=0.02), 4000)
    np.testing.assert_allclose(rows.std(axis=0), [0.5] * 3 + [0.02] * 3, rtol=0.05)
    np.testing.assert_allclose(rows.mean(axis=0), WEIGHT, atol=0.05)


def test_drift_is_a_random_walk_that_grows_with_the_square_root_of_time() -> None:
    sensor = FtSensor(drift=(0.2, 0.2, 0.2, 0.01, 0.01, 0.01))
    ends = np.array([readings(sensor, 250, seed=seed)[-1] - WEIGHT for seed in range(60)])  # 0.5 s
    np.testing.assert_allclose(ends[:, :3].std(), 0.2 * np.sqrt(0.5), rtol=0.2)
    np.testing.assert_allclose(ends[:, 3:].std(), 0.01 * np.sqrt(0.5), rtol=0.2)


def test_resolution_makes_steps() -> None:
    rows = readings(FtSensor(noise_force=0.5, noise_torque=0.05, resolution_force=0.25, resolution_torque=0.01), 50)
    steps = rows / np.array([0.25] * 3 + [0.01] * 3)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert len(np.unique(rows[:, 0])) > 3


@pytest.mark.parametrize("delay", [0.002, 0.010])
def test_delay_shifts_the_reading(delay: float) -> None:
    push = np.array([10.0, 0, 0, 0, 0, 0])
    shift = round(delay / PERIOD)
    prompt, late = readings(FtSensor(), 60, push), readings(FtSensor(delay=delay), 60, push)
    np.testing.assert_allclose(late[shift:], prompt[:-shift], atol=1e-9)


def test_reading_is_the_mean_over_the_period() -> None:
    """A push that grows by 100 N/s, four physics steps in 4 ms: the mean is that at the middle of their instants."""
    world = World(robot_model("ur5e"))
    world.push(lambda t: [0, 0, 100.0 * t, 0, 0, 0])
    for tick in range(100):
        world.step(world.setpoint.copy(), None, 0.004)
        assert world.external_wrench[2] == pytest.approx(100.0 * (tick * 0.004 + 0.0015), abs=1e-9)
    assert world.wrench[2] == pytest.approx(9.80665 - world.external_wrench[2], abs=0.3)  # less the tool's inertia


def test_zeroing_removes_weight_and_bias_and_averages_the_noise() -> None:
    world = World(robot_model("ur5e"), sensor=FtSensor(bias=(3.0, 0, 0, 0, 0, 0), noise_force=0.5), seed=2)
    for _ in range(500):
        world.step(world.setpoint.copy(), None, PERIOD)
    world.zero_sensor()
    rows = []
    for _ in range(1000):
        world.step(world.setpoint.copy(), None, PERIOD)
        rows.append(world.wrench.copy())
    np.testing.assert_allclose(np.mean(rows, axis=0), 0.0, atol=0.2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sign": 0.5}, "sensor.sign = 0.5: must be 1 or -1"),
        ({"noise_force": -1.0}, "sensor.noise_force = -1.0: must be >= 0"),
        ({"rotation": ((1, 0, 0), (0, 1, 0), (0, 0, -1))}, "must be a 3 x 3 rotation matrix"),
    ],
)
def test_impossible_sensors_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(SimulationError, match=sentence.replace("(", r"\(")):
        FtSensor(**options)  # type: ignore[arg-type]


def test_a_delay_between_physics_steps_is_refused() -> None:
    with pytest.raises(SimulationError, match=r"sensor.delay = 0.0005 s: must be a multiple"):
        World(robot_model("ur5e"), sensor=FtSensor(delay=0.0005))
