"""The hand: spring and damper, its path, its work."""

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import World
from ur_admittance_lab.scenarios.stage import waypoints

PERIOD = 0.002


def hold(world: World, seconds: float) -> None:
    for _ in range(round(seconds / PERIOD)):
        world.step(world.setpoint.copy(), None, PERIOD)


def test_hand_and_arm_are_two_springs_in_series() -> None:
    """The hand wants 10 mm, the stiff arm stays: F = d / (1/K_hand + 1/K_arm)."""
    world = World(robot_model("ur5e"))
    world.grab(
        waypoints([0.0, 0.5], [[0] * 6, [0.0, 0.0, 0.01, 0, 0, 0]]), stiffness=(2000.0, 0.0), damping=(60.0, 0.1)
    )
    hold(world, 1.5)
    expected = 0.01 / (1.0 / 2000.0 + 1.0 / world.tcp_stiffness()[2])
    assert world.hand.wrench[2] == pytest.approx(expected, rel=0.01)
    np.testing.assert_allclose(world.external_wrench[:3], world.hand.wrench[:3], atol=1e-3)


def test_hand_twists_the_tool_by_its_rotational_spring() -> None:
    world = World(robot_model("ur5e"))
    world.grab(waypoints([0.0, 0.5], [[0] * 6, [0, 0, 0, 0, 0, 0.1]]), stiffness=(2000.0, 30.0))
    hold(world, 1.5)
    assert world.hand.wrench[5] == pytest.approx(3.0, rel=0.02)  # the arm's wrist is far stiffer


def test_after_letting_go_no_force_remains() -> None:
    world = World(robot_model("ur5e"))
    world.push([10.0, 0, 0, 0, 0, 0])
    hold(world, 0.3)
    assert world.external_wrench[0] == pytest.approx(10.0)
    world.let_go()
    hold(world, PERIOD)
    np.testing.assert_allclose(world.external_wrench, 0.0, atol=1e-9)
    assert not world.hand.active


def test_work_of_a_slow_push_is_the_energy_in_the_arm_as_a_spring() -> None:
    """W = F^2 / (2 K)."""
    world = World(robot_model("ur5e"))
    world.push(lambda t: [0, 0, 60.0 * min(t / 2.0, 1.0), 0, 0, 0])
    hold(world, 3.0)
    assert world.hand.work == pytest.approx(60.0**2 / (2.0 * world.tcp_stiffness()[2]), rel=0.03)


def test_work_of_a_constant_push_along_a_motion_is_force_times_way() -> None:
    world = World(robot_model("ur5e"))
    _, before = world.pose()
    world.push([0.0, 8.0, 0.0, 0, 0, 0])
    for _ in range(500):
        world.step(None, np.array([0.2, 0, 0, 0, 0, 0]), PERIOD)
    _, after = world.pose()
    assert world.hand.work == pytest.approx(8.0 * (after - before)[1], rel=0.01)
