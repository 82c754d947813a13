"""The simulated arm: lock-step, real time, injected faults."""

import numpy as np
import pytest

from ur_admittance.core.records import COMMAND, SAMPLE, Status, new
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import FtSensor, SimulatedRobot, World
from ur_admittance.runtime.braking import BRAKING, WATCHDOG_S

PERIOD = 0.002


def make(**options: object) -> tuple[SimulatedRobot, np.ndarray, np.ndarray]:
    world = World(robot_model("ur5e"), sensor=FtSensor(noise_force=0.05), seed=1)
    robot = SimulatedRobot(world, PERIOD, **options)  # type: ignore[arg-type]
    robot.connect()
    sample, command = new(SAMPLE), new(COMMAND)
    robot.read(sample)
    command["q"] = sample["q"]
    return robot, sample, command


def number(sample: np.ndarray, field: str) -> float:
    return float(np.ravel(sample[field])[0])


def test_each_read_but_the_first_is_one_period() -> None:
    robot, sample, _ = make()
    assert robot.world.time == 0.0
    for tick in range(1, 11):
        robot.read(sample)
        assert robot.world.time == pytest.approx(tick * PERIOD)
        assert number(sample, "stamp_ns") == tick * 2_000_000
        assert number(sample, "dt") == PERIOD


def run(ticks: int) -> bytes:
    robot, sample, command = make(mode="velocity")
    log = b""
    for tick in range(ticks):
        command["qd"] = 0.2 * np.sin(0.01 * tick)
        robot.write(command)
        robot.read(sample)
        log += sample.tobytes()
    return log


def test_a_run_repeats_to_the_last_byte() -> None:
    assert run(600) == run(600)


def test_a_dropped_wrench_grows_old_while_the_joints_stay_fresh() -> None:
    robot, sample, _ = make()
    robot.drop_wrench()
    robot.read(sample)
    last = np.array(sample["wrench"])
    for tick in range(2, 30):
        robot.read(sample)
        assert number(sample, "wrench_age") == pytest.approx(tick * PERIOD)
        assert number(sample, "joint_age") == 0.0
        assert np.array_equal(sample["wrench"], last)
    robot.restore()
    robot.read(sample)
    assert number(sample, "wrench_age") == 0.0
    assert not np.array_equal(sample["wrench"], last)


def test_dropped_joints_grow_old_while_the_wrench_stays_fresh() -> None:
    robot, sample, command = make(mode="velocity")
    command["qd"] = 0.1
    robot.drop_joints()
    last = np.array(sample["q"])
    for tick in range(1, 30):
        robot.write(command)
        robot.read(sample)
        assert number(sample, "joint_age") == pytest.approx(tick * PERIOD)
        assert number(sample, "wrench_age") == 0.0
        assert np.array_equal(sample["q"], last)
    assert np.abs(robot.world.q - last).max() > 1e-3  # the arm itself moves on


@pytest.mark.parametrize("field", ["q", "qd", "wrench"])
def test_corrupted_fields_read_nan_until_restored(field: str) -> None:
    robot, sample, _ = make()
    robot.corrupt(field)  # type: ignore[arg-type]
    robot.read(sample)
    assert np.isnan(np.ravel(sample[field])[0])
    robot.restore()
    robot.read(sample)
    assert np.all(np.isfinite(sample[field]))


def test_a_frozen_connection_lets_no_command_through_and_the_arm_brakes() -> None:
    robot, sample, command = make(mode="velocity")
    command["qd"] = 0.3
    for _ in range(100):
        robot.write(command)
        robot.read(sample)
    robot.freeze()
    for _ in range(150):
        robot.write(command)
        robot.read(sample)
    assert np.abs(robot.world.qd).max() < 1e-3
    assert number(sample, "joint_age") == pytest.approx(0.3)
    assert number(sample, "wrench_age") == pytest.approx(0.3)
    assert robot.watchdog_tripped


def test_watchdog_waits_its_time_and_brakes_with_its_deceleration() -> None:
    robot, sample, command = make(mode="velocity")
    command["qd"] = np.array([0.8, 0, 0, 0, 0, 0.4])
    for _ in range(200):
        robot.write(command)
        robot.read(sample)
    speeds = []
    for _ in range(round(0.3 / PERIOD)):
        robot.read(sample)
        speeds.append(robot.world.qd.copy())
    times = PERIOD * np.arange(1, len(speeds) + 1)
    fast = np.array(speeds)[:, 0]
    assert np.all(fast[times <= WATCHDOG_S] > 0.79)
    braking = (times > WATCHDOG_S + 0.03) & (times < WATCHDOG_S + 0.09)
    assert -np.polyfit(times[braking], fast[braking], 1)[0] == pytest.approx(BRAKING, rel=0.1)
    ratio = np.array(speeds)[braking, 5] / fast[braking]
    np.testing.assert_allclose(ratio, 0.5, atol=0.1)  # all joints together: the path does not bend
    assert abs(fast[-1]) < 1e-3


def test_a_protective_stop_is_reported_and_refuses_commands_until_restored() -> None:
    robot, sample, command = make(mode="velocity")
    command["qd"] = 0.2
    for _ in range(50):
        robot.write(command)
        robot.read(sample)
    robot.protective_stop()
    for _ in range(150):
        robot.write(command)
        robot.read(sample)
    assert number(sample, "external_status") == Status.PROTECTIVE_STOP
    assert np.abs(robot.world.qd).max() < 1e-3
    robot.restore()
    for _ in range(50):
        robot.write(command)
        robot.read(sample)
    assert number(sample, "external_status") == Status.OK
    assert np.abs(robot.world.qd).max() > 0.1


@pytest.mark.parametrize("mode", ["position", "velocity"])
def test_a_command_that_is_no_number_is_rejected_and_the_arm_brakes(mode: str) -> None:
    robot, sample, command = make(mode=mode)
    command["q"] = np.nan
    command["qd"] = np.nan
    robot.write(command)
    robot.read(sample)
    assert number(sample, "external_status") == Status.COMMAND_REJECTED
    assert np.all(np.isfinite(sample["q"]))
    command["q"], command["qd"] = sample["q"], 0.0
    robot.write(command)
    robot.read(sample)
    assert number(sample, "external_status") == Status.OK


class HandClock:
    """A monotonic clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_real_time_follows_the_clock_and_skips_long_pauses() -> None:
    clock = HandClock()
    robot, sample, _ = make(realtime=True, monotonic=clock)
    clock.now += 0.0105
    robot.read(sample)
    assert robot.world.time == pytest.approx(0.010)
    assert number(sample, "dt") == pytest.approx(0.0105)
    assert number(sample, "joint_age") == pytest.approx(0.0005)
    clock.now += 0.0005
    robot.read(sample)
    assert robot.world.time == pytest.approx(0.010)
    assert number(sample, "joint_age") == pytest.approx(0.001)
    clock.now += 60.0
    robot.read(sample)
    assert robot.world.time == pytest.approx(0.110, abs=0.003)
    assert number(sample, "dt") == pytest.approx(60.0)


def test_impossible_settings_are_refused() -> None:
    world = World(robot_model("ur5e"))
    with pytest.raises(RobotError, match=r"period = 0.0015 s: must be a multiple"):
        SimulatedRobot(world, 0.0015)
    with pytest.raises(RobotError, match="mode = 'torque': must be 'position' or 'velocity'"):
        SimulatedRobot(world, mode="torque")  # type: ignore[arg-type]
