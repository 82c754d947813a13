"""What every robot must do. New implementations join by a line in ROBOTS.

The arms of ROS 2 are there where rclpy is: `make test-ros` runs them, in the environment of the wheels.
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from tests.domains import domain

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, SAMPLE, Status, new
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Servo, SimulatedRobot, Tool, World
from ur_admittance.runtime.interfaces import Robot, RobotInfo
from ur_admittance.runtime.realtime import whole_process
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

PERIOD = 0.002


def simulated(mode: str) -> Callable[[], Robot]:
    return lambda: SimulatedRobot(World(robot_model("ur5e"), servo=Servo(delay=0.004)), PERIOD, mode=mode)  # type: ignore[arg-type]


@cache
def emulator() -> EmulatorProcess:
    """A UR controller in another process. Payload 0, so that the tool's weight is in the reading; half speed and
    patience, so that a busy machine loses no cycle."""
    return EmulatorProcess("--delay", "0.004", "--payload", "0", "--pace", "0.5", "--patience", "0.4").start()


def rtde(command: str, sensor: str, client: str = "ur_rtde") -> Callable[[], Robot]:
    def make() -> Robot:
        from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
        from ur_admittance.robots.rtde.settings import RtdeSettings

        emulator().tell("reset")
        # patient as the emulator is: its time waits for us, that of ur_rtde's process does not
        patient = {"state_patience": 1.0, "command_patience": 0.02 if client == "direct" else 0.4}
        settings = RtdeSettings(command=command, sensor=sensor, client=client, **patient)  # type: ignore[arg-type]
        return RtdeRobot(emulator().host, robot_model("ur5e"), settings)

    return make


SIM_NODES: list["subprocess.Popen[bytes]"] = []


@cache
def sim_node(controller: str) -> tuple["subprocess.Popen[bytes]", str]:
    """The double of the driver in another process, on this machine only, with that controller active, and its domain;
    slower than real time and patient, so that a busy machine loses no cycle."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    network = str(domain(1 + len(SIM_NODES) % 2))
    parameters = {"tool.mass": Tool().mass, "publish_clock": "true", "realtime_factor": 0.6, "realtime_priority": 10}
    parameters |= {"controller": controller, "patience": 0.3}
    given = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    given += ["-r", "/force_torque_sensor_broadcaster/wrench:=/wrist_ft_sensor"]
    command = [sys.executable, "-m", "ur_admittance_lab.driver.sim_node", "--ros-args", *given]
    process = subprocess.Popen(command, env={**os.environ, "ROS_DOMAIN_ID": network})
    SIM_NODES.append(process)
    return process, network


def ros(output: str) -> Callable[[], Robot]:
    def make() -> Robot:
        from ur_admittance.robots.ros.ros_robot import RosRobot, RosSettings

        controller = "forward_velocity_controller" if output == "velocity" else "default"
        process, network = sim_node(controller)
        assert process.poll() is None
        os.environ["ROS_DOMAIN_ID"] = network
        return RosRobot(RosSettings(output=output, sim_time=True, timeout=90.0))  # it may have to compile first

    return make


ROBOTS = {
    "simulated, position": simulated("position"),
    "simulated, velocity": simulated("velocity"),
}
ROBOTS |= {
    "direct, speedj": rtde("speed", "builtin", "direct"),
    "direct, servoj": rtde("servo", "raw", "direct"),
}
if importlib.util.find_spec("rtde_control") is not None:
    ROBOTS |= {"rtde, speedj": rtde("speed", "builtin"), "rtde, servoj": rtde("servo", "raw")}
elif os.environ.get("UR_ADMITTANCE_CI") and importlib.util.find_spec("rclpy") is None:
    raise RuntimeError("ur-rtde is not installed")
if importlib.util.find_spec("rclpy") is not None:
    ROBOTS |= {"ros, trajectory": ros("trajectory"), "ros, velocity": ros("velocity")}


@pytest.fixture(scope="module", autouse=True)
def end_of_processes() -> Iterator[None]:
    yield
    if emulator.cache_info().currsize:
        emulator().stop()
    for process in SIM_NODES:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


class Driver:
    """A robot with its two records and the position command that goes with the speeds."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.sample, self.command = robot, new(SAMPLE), new(COMMAND)
        self.q, self.qd = self.sample["q"].reshape(6), self.sample["qd"].reshape(6)
        self.loses_cycles = type(robot).__name__ == "RosRobot"  # nobody waits for a client that is late
        self.driven = np.zeros(6)  # speeds times the time until the next ones were sent
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Driver":
        self._stack.enter_context(self.robot)
        if self.loses_cycles:  # a client that pauses is stopped by the guard, as it should be
            self._stack.enter_context(whole_process(9))
        self.clock = self.robot.clock()
        self.clock.start()
        self._stack.callback(self.clock.stop)
        return self

    def __exit__(self, *error) -> None:
        self._stack.__exit__(*error)

    def told(self, start: np.ndarray) -> np.ndarray:
        """Where the commands since `start` lead to. Speeds hold until the next ones come, also when those are late."""
        by_speeds = self.loses_cycles and self.value("speed_driven")
        return start + self.driven if by_speeds else self.command["q"].reshape(6)

    def read(self) -> None:
        while not self.clock.wait():  # simulated time that others make
            pass
        self.robot.read(self.sample)

    def value(self, field: str) -> float:
        return float(np.ravel(self.sample[field])[0])

    def first_read(self) -> None:
        self.read()
        self.command["q"] = self.sample["q"]

    def tick(self, speed: np.ndarray) -> None:
        self.command["q"] += speed * self.value("dt")
        self.command["qd"] = speed
        self.robot.write(self.command)
        self.read()
        self.driven += speed * self.value("dt")

    def listen(self, ticks: int) -> np.ndarray:
        """Read without writing; time step and joint speeds of each tick (n, 7)."""
        rows = []
        for _ in range(ticks):
            self.read()
            rows.append([self.value("dt"), *self.qd])
        return np.array(rows)


def on_time(kind: str) -> list[pytest.MarkDecorator]:
    """The guard of the speeds keeps real time, whoever waits."""
    return [pytest.mark.realtime] if kind == "ros, velocity" else []


@pytest.fixture(params=[pytest.param(make, id=kind, marks=on_time(kind)) for kind, make in ROBOTS.items()])
def driver(request: pytest.FixtureRequest) -> Driver:
    return Driver(request.param())


SPEED = np.array([0.3, -0.2, 0.2, 0.1, -0.3, 0.4])


def test_it_is_a_robot_and_says_who_it_is(driver: Driver) -> None:
    assert isinstance(driver.robot, Robot)
    info = driver.robot.connect()
    assert driver.robot.clock().period == pytest.approx(PERIOD)
    assert isinstance(info, RobotInfo)
    assert info.rate == pytest.approx(1.0 / PERIOD)
    assert info.joint_names == info.model.joint_names
    assert all(sentence.endswith(".") for sentence in info.sentences)
    driver.robot.stop()


def test_read_fills_every_field_with_finite_and_fresh_values(driver: Driver) -> None:
    for field in ("q", "qd", "wrench", "dt", "joint_age", "wrench_age"):
        driver.sample[field] = np.nan
    driver.sample["external_status"] = driver.sample["stamp_ns"] = -1
    with driver:
        for _ in range(3):
            driver.read()
    for field in ("q", "qd", "wrench", "dt"):
        assert np.all(np.isfinite(driver.sample[field])), field
    assert 0.0 <= driver.value("joint_age") < (10 if driver.loses_cycles else 2) * PERIOD
    assert 0.0 <= driver.value("wrench_age") < (10 if driver.loses_cycles else 2) * PERIOD
    assert driver.value("dt") == pytest.approx(PERIOD, rel=0.5) or driver.loses_cycles
    assert driver.value("external_status") == Status.OK
    assert driver.value("stamp_ns") >= 0


def test_stamps_rise_by_the_period(driver: Driver) -> None:
    with driver:
        driver.first_read()
        stamps = []
        for _ in range(20):
            driver.tick(np.zeros(6))
            stamps.append(driver.value("stamp_ns"))
    periods = np.diff(stamps) / (PERIOD * 1e9)
    if driver.loses_cycles:  # whole periods all the same
        periods = periods / np.round(periods)
    np.testing.assert_allclose(periods, 1.0, rtol=0.5)


def test_connecting_does_not_move_the_arm(driver: Driver) -> None:
    with driver:
        driver.first_read()
        start = driver.q.copy()
        driver.listen(50)
        np.testing.assert_allclose(driver.q, start, atol=1e-4)


def test_the_arm_goes_where_the_command_says(driver: Driver) -> None:
    with driver:
        driver.first_read()
        start = driver.q.copy()
        for _ in range(200):
            driver.tick(SPEED)
        np.testing.assert_allclose(driver.qd, SPEED, atol=0.02)
        for _ in range(200):
            driver.tick(np.zeros(6))
        told = driver.told(start)
        assert np.all((told - start) / SPEED >= 199 * PERIOD)
        # speeds that come by message count for whole periods of the robot, at their beginning and at their end; of two
        # that reach ur_rtde's program within one period, as on a busy computer, only the last one counts
        settings = getattr(driver.robot, "settings", None)
        cycles = 2 if driver.loses_cycles else 3 if getattr(settings, "client", "") == "ur_rtde" else 0
        rounded = cycles * PERIOD * np.abs(SPEED).max() if driver.value("speed_driven") else 0.0
        np.testing.assert_allclose(driver.q, told, atol=1e-3 + rounded)
        np.testing.assert_allclose(driver.qd, 0.0, atol=1e-3)


def test_write_returns_what_was_sent(driver: Driver) -> None:
    with driver:
        driver.first_read()
        driver.command["qd"] = 0.0
        sent = np.array(driver.robot.write(driver.command))
        assert np.array_equal(sent, np.ravel(driver.command["q"])) or np.array_equal(sent, np.zeros(6))


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_leaving_the_block_stops_the_arm_whatever_happened(driver: Driver, error: type[BaseException] | None) -> None:
    def drive() -> None:
        with driver:
            driver.first_read()
            for _ in range(100):
                driver.tick(SPEED)
            assert np.abs(driver.qd).max() > 0.1
            if error is not None:
                raise error

    if error is None:
        drive()
    else:
        with pytest.raises(error):
            drive()
    driver.robot.read(driver.sample)
    assert np.abs(driver.qd).max() < 0.01


def test_without_commands_the_arm_stops_by_itself(driver: Driver) -> None:
    with driver:
        driver.first_read()
        for _ in range(100):
            driver.tick(SPEED)
        speeds = driver.listen(200)[:, 1:]  # 0.4 s
        assert np.abs(speeds[-1]).max() < 0.01


def test_stopping_is_braking_not_a_jump(driver: Driver) -> None:
    with driver:
        driver.first_read()
        for _ in range(100):
            driver.tick(SPEED)
        before = driver.q.copy()
        driver.robot.stop()
        driver.read()
        way = (driver.q - before) / SPEED  # [s] as if at full speed
        assert np.all(way > 0.0)
        assert np.all(way < 0.2)


def test_speeds_are_continuous_through_start_motion_and_loss_of_commands(driver: Driver) -> None:
    with driver:
        driver.first_read()
        rows = [[PERIOD, *driver.qd]]
        for tick in range(300):
            driver.tick(SPEED * np.sin(0.02 * tick) ** 2)
            rows.append([driver.value("dt"), *driver.qd])
        rows = np.array([*rows, *driver.listen(200)])
    acceleration = np.diff(rows[:, 1:], axis=0) / rows[1:, :1]
    # an abrupt end at v through a 25 Hz lag is v * 2 pi 25: 63 rad/s2 for the fastest joint here
    assert np.abs(acceleration).max() < 80.0


def test_it_can_be_driven_again_after_a_stop(driver: Driver) -> None:
    with driver:
        driver.first_read()
        for _ in range(50):
            driver.tick(SPEED)
        driver.robot.stop()
        driver.robot.stop()
        driver.first_read()
        start = driver.q.copy()
        for _ in range(100):
            driver.tick(SPEED)
        assert np.all((driver.q - start) * np.sign(SPEED) > 0.01)


def test_a_sensor_that_can_zero_itself_then_reads_zero_and_the_controller_zeroes_any(driver: Driver) -> None:
    with driver:
        driver.first_read()
        driver.listen(100)
        weight = np.array(np.ravel(driver.sample["wrench"]))
        assert np.linalg.norm(weight) > 1.0
        controller = AdmittanceController(robot_model("ur5e"))
        controller.configure()
        for _ in range(600):
            while not driver.clock.wait():
                pass
            driver.robot.read(controller.sample)
            controller.update()
        controller.zero_free_tool()
        controller.update()
        np.testing.assert_allclose(controller.command["wrench_sensor"], 0.0, atol=0.05)
        np.testing.assert_allclose(controller.sample["wrench"], weight, atol=0.05)  # as the sensor reports it
        if getattr(driver.robot, "source", "") == "raw":
            with pytest.raises(RobotError, match="does not zero itself"):
                driver.robot.zero_ft_sensor()
        else:
            driver.robot.zero_ft_sensor()
            driver.listen(2)
            np.testing.assert_allclose(np.ravel(driver.sample["wrench"]), 0.0, atol=0.05)
