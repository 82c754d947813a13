"""The whole double of the driver with an arm, without ROS: what stops it, who drives, and what it reports."""

import numpy as np
import pytest

from ur_admittance.errors import ParameterError, RobotError
from ur_admittance.robots.simulated import Tool, World
from ur_admittance_lab.driver.controller_manager import BEST_EFFORT, STOPPER_S, STRICT
from ur_admittance_lab.driver.driver import Driver
from ur_admittance_lab.driver.driver_program import SafetyMode
from ur_admittance_lab.driver.generations import JTC, POSITION, SCALED, VELOCITY, generation
from ur_admittance_lab.driver.tcp import PendantTcp

from .test_driver_rules import JOINTS, MODEL, PERIOD_NS, T0, ZERO, message, point


@pytest.fixture(scope="module")
def world():
    return World(MODEL, Tool(mass=0.0, com=(0.0, 0.0, 0.0), tcp=(0.0, 0.0, 0.0)))


@pytest.fixture
def driver(world):
    def make(name="jazzy", initial="default"):
        world.reset()
        return Driver(generation(name), MODEL, world, initial=initial)

    return make


def run(driver, seconds, each=lambda k: None):
    for k in range(round(seconds / driver.period)):
        each(k)
        driver.step(T0 + k * PERIOD_NS)


def towards(driver, change, time_ms=100.0, name=""):
    goal = driver.world.q + change
    return driver.trajectory(name or driver.controllers.active, message(point(goal, time_ms)), T0)


def test_joints_in_another_order_are_sorted_by_name(driver):
    double = driver()
    start, goal = double.world.q.copy(), double.world.q + 0.02 * np.arange(6)
    turned = message(point(goal[::-1], 200), joints=JOINTS[::-1])
    assert double.trajectory(SCALED, turned, T0) == ""
    run(double, 0.5)
    assert double.world.q - start == pytest.approx(0.02 * np.arange(6), abs=2e-3)


def test_a_velocity_controller_without_a_watchdog_moves_on_for_ever(driver):
    double = driver(initial=POSITION)
    double.forward(VELOCITY, np.full(6, 0.3))  # inactive: forgotten
    double.controllers.switch([VELOCITY], [POSITION], STRICT, double.world.q)
    run(double, 0.1)
    assert np.abs(double.world.qd).max() < 1e-6
    start = double.world.q.copy()
    assert double.forward(VELOCITY, np.array([0.2, 0, 0, 0, 0, 0.0])) == ""
    run(double, 2.0)
    assert double.world.q[0] - start[0] == pytest.approx(0.4, rel=0.02)
    double.controllers.switch([], [VELOCITY], STRICT, double.world.q)
    run(double, 0.2)
    assert abs(double.world.qd[0]) < 1e-3
    assert not double.robot.stops


def test_a_jump_is_a_protective_stop_and_the_arm_stays(driver):
    double = driver(initial=POSITION)
    start = double.world.q.copy()
    double.forward(POSITION, start + np.array([1.3, 0, 0, 0, 0, 0]))
    run(double, 0.1)
    assert double.robot.safety == SafetyMode.PROTECTIVE_STOP
    assert "told to move at 650.00 rad/s" in double.robot.stops[0]
    assert np.abs(double.world.q - start).max() < 1e-3
    assert double.measures.largest["command_step_rad"] == pytest.approx(1.3)
    assert double.measures.largest["message_lead_rad"] == pytest.approx(1.3)


@pytest.mark.parametrize("name", ["humble", "jazzy"])
def test_a_number_that_is_not_finite_stops_the_robot_or_is_refused(driver, name):
    double = driver(name, VELOCITY)
    reason = double.forward(VELOCITY, np.array([np.nan, 0, 0, 0, 0, 0]))
    run(double, 0.02)
    assert bool(reason) == (name == "jazzy")
    assert (double.robot.safety == SafetyMode.PROTECTIVE_STOP) == (name == "humble")
    double = driver(name)
    towards(double, np.array([0.01, 0.0, np.nan, 0.0, 0.0, 0.0]))
    run(double, 0.2)
    assert "joint 2 was told to move at nan rad/s" in double.robot.stops[0]
    assert np.isfinite(double.world.q).all()


def test_a_stream_faster_than_the_joint_is_a_protective_stop(driver):
    double = driver(initial=POSITION)
    q = double.world.q.copy()

    def send(k):
        q[0] += 4.0 * double.period  # [rad/s]; the joint's limit is 3.14
        double.forward(POSITION, q)

    run(double, 0.3, send)
    assert "its limit is 3.14" in double.robot.stops[0]


def test_an_arm_that_leaves_its_path_is_a_protective_stop(driver):
    double = driver()
    double.robot.watch(double.world.q + 0.19, ZERO, 0.0)
    assert not double.robot.stops
    double.robot.watch(double.world.q + 0.21, ZERO, 0.0)
    assert "0.210 rad from its path" in double.robot.stops[0]


def test_the_program_stops_and_starts_and_controllers_with_it(driver):
    double = driver()
    towards(double, np.array([0.3, 0, 0, 0, 0, 0]), 1000)
    run(double, 0.5)
    assert double.world.qd[0] > 0.25
    double.robot.stop_program()
    run(double, STOPPER_S + 0.01)
    assert double.controllers.active == ""
    run(double, 0.5)
    here = double.world.q.copy()
    assert towards(double, np.array([1.0, 0, 0, 0, 0, 0]), name=SCALED) == ""  # dropped, not refused
    assert double.measures.dropped[SCALED] == 1
    double.robot.play()
    run(double, 0.5)
    assert double.controllers.active == SCALED
    assert np.abs(double.world.q - here).max() < 1e-4
    assert not double.robot.stops


def test_a_protective_stop_is_unlocked_after_five_seconds_and_the_program_started_by_somebody(driver):
    double = driver()
    double.robot.protective_stop("a test", double.time)
    with pytest.raises(RobotError, match=r"unlocked in 5\.0 s"):
        double.robot.unlock(double.time)
    with pytest.raises(RobotError, match="PROTECTIVE_STOP"):
        double.robot.play()
    run(double, 5.1)
    double.robot.unlock(double.time)
    run(double, 0.2)
    assert double.controllers.active == ""
    double.robot.play()
    run(double, 0.2)
    assert double.controllers.active == SCALED


def test_two_controllers_do_not_share_the_joints(driver):
    double = driver()
    q, switch = double.world.q, double.controllers.switch
    assert switch([VELOCITY], [], STRICT, q) == (
        False, f"{VELOCITY} cannot start: the joints are claimed by {SCALED}")  # fmt: skip
    assert switch([SCALED], [], STRICT, q)[1] == f"{SCALED} is active already"
    assert switch([], ["moon"], STRICT, q)[1] == "no controller named moon is loaded"
    assert switch([SCALED], ["moon"], BEST_EFFORT, q) == (True, "")
    assert switch([VELOCITY], [SCALED], STRICT, q) == (True, "")
    assert double.controllers.active == VELOCITY
    assert {one.name: one.state for one in double.controllers.listed()}[SCALED] == "inactive"


def test_a_wrong_number_of_speeds_ends_the_controller_from_jazzy_on(driver):
    for name in ("humble", "jazzy"):
        double = driver(name, VELOCITY)
        assert double.forward(VELOCITY, np.zeros(5)) == "5 numbers, must be 6"
        run(double, 0.01)
        assert double.controllers.active == (VELOCITY if name == "humble" else "")


def test_the_wrench_is_about_the_tcp_and_without_the_payload():
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # R_base_flange, and R_flange_tcp
    gravity = np.array([0.0, 0.0, -10.0])
    tcp = PendantTcp([0.1, 0.0, 0.2, 0.0, 0.0, np.pi / 2], mass=2.0, center=[0.0, 0.05, 0.0])
    weight = [0.0, 0.0, -20.0, -1.0, 0.0, 0.0]  # [0, 0.05, 0] x [0, 0, -20]
    assert tcp.wrench(np.array(weight), turn, gravity) == pytest.approx(ZERO, abs=1e-12)
    pushed = np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])  # along y of the flange: x of the TCP
    about = [3.0, 0.0, 0.0, 0.0, -0.6, -0.3]  # -[0.1, 0, 0.2] x [0, 3, 0] = [0.6, 0, -0.3], in TCP axes
    assert tcp.wrench(weight + pushed, turn, gravity) == pytest.approx(np.array(about), abs=1e-12)
    position, quaternion = tcp.pose(np.eye(3), np.zeros(3))
    assert position == pytest.approx([-0.1, 0.0, 0.2])
    assert np.abs(quaternion) == pytest.approx(np.sqrt([0.0, 0.0, 0.5, 0.5]), abs=1e-12)


def test_lyrical_has_no_scaled_controller():
    assert SCALED not in generation("lyrical").trajectory
    assert generation("lyrical").default_controller == JTC
    with pytest.raises(ParameterError, match="driver = 'foxy': must be one of humble_2_5, humble_2_11, h"):
        generation("foxy")


def test_what_was_refused_and_how_far_messages_were_is_reported(driver):
    double = driver()
    assert towards(double, 0.05) == ""
    moving = message(point(double.world.q + 0.1, 20, qd=0.5))
    assert double.trajectory(SCALED, moving, T0)
    assert double.measures.refused == {f"{SCALED}: velocity of the last point is not zero ({JOINTS[0]})": 1}
    assert double.measures.largest["message_lead_rad"] == pytest.approx(0.1)
    assert double.measures.largest["message_step_rad"] == pytest.approx(0.05)
