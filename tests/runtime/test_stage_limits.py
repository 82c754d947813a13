"""Limits that are low, or are lowered in motion, and stages that follow one another: the arm is not stopped for it."""

import numpy as np
import pytest
from tests.runtime.stages import DT, Behind, Braked, Watch

from ur_admittance.control import AdmittanceController
from ur_admittance.control.chaining import MAX_ACCELERATION, JointFollower, Smoother
from ur_admittance.core.records import Mode, Status
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot


@pytest.mark.parametrize("stages", [(Behind, Smoother), (JointFollower, Smoother)])
def test_a_stage_is_judged_by_its_own_last_step_not_by_what_the_next_one_made_of_it(controller, stages):
    """A smoother sends what was commanded 20 ms ago: at 0.4 rad/s 8 mrad behind the stage in front of it."""
    robot, watch = Braked(), Watch()
    robot.wrench[1] = 60.0
    run(controller, robot, robot.clock(), duration=0.5, telemetry=watch, stages=[stage() for stage in stages])
    assert np.abs(watch.speeds).max() > 0.35
    assert controller.status == Status.OK


LOWER = [{"max_linear_velocity": 0.05}, {"max_angular_velocity": 0.05}, {"joint_limits.velocity": [0.1] * 6}, "end"]


@pytest.mark.parametrize("stage", [JointFollower, Smoother])
@pytest.mark.parametrize("lower", LOWER, ids=["tool", "turning", "joints", "range"])
def test_a_limit_that_is_lowered_in_motion_brakes_the_stages_too(controller, lower, stage):
    robot, watch, cycle = NullRobot(), Watch(), [0]

    def script(c):
        cycle[0] += 1
        robot.wrench[:] = [20.0, 60.0, -30.0, 1.0, 2.0, 5.0]
        if cycle[0] == 200:
            near = [float(robot.q[0]) + 0.01] + [None] * 5  # closer than it can brake
            c.set_parameters({"joint_limits.position_upper": near} if lower == "end" else lower)

    run(controller, robot, robot.clock(), duration=1.0, telemetry=watch, on_tick=script, stages=[stage()])
    assert np.abs(watch.speeds[199]).max() > 0.3
    assert np.abs(np.diff(watch.speeds, axis=0)).max() <= MAX_ACCELERATION * DT * 1.001
    assert controller.mode == Mode.INACTIVE


@pytest.mark.parametrize("stage", [JointFollower, Smoother])
def test_an_activation_while_a_stage_still_comes_to_rest_does_not_stop_it_at_once(stage):
    """The node activates where the arm is, which is behind what was sent."""
    world = World(robot_model("ur5e"))
    c = AdmittanceController(world.model, Parameters().changed(world.parameters()))
    c.configure()
    c.activate()
    robot, watch, cycle, again = SimulatedRobot(world), Watch(), [0], []

    def script(c):
        cycle[0] += 1
        if cycle[0] == 200:
            c.deactivate()
        elif cycle[0] > 200 and not again and c.mode == Mode.INACTIVE:
            c.activate(start_at_arm=True)
            again.append(float(np.abs(watch.speeds[-1]).max()))

    with robot:
        world.push([0, 60, 0, 0, 0, 0], seconds=0.4)
        run(c, robot, robot.clock(), duration=1.0, telemetry=watch, on_tick=script, stages=[stage()])
    assert again[0] > 0.01  # it was still on its way
    assert np.abs(np.diff(watch.speeds, axis=0)).max() <= MAX_ACCELERATION * DT * 1.001
    assert np.abs(np.diff(watch.sent, 2, axis=0)).max() < 4e-4  # [rad] of a jump of the law by 3 to 12 mrad


SLOW = [{"max_linear_velocity": 0.005, "max_angular_velocity": 0.02}, {"joint_limits.velocity": [0.05] * 6}]


@pytest.mark.parametrize("limit", SLOW, ids=["tool", "joints"])
def test_a_follower_keeps_slow_limits_too_and_comes_to_rest(limit):
    controller = AdmittanceController(robot_model("ur5e"), Parameters().changed(limit))
    controller.configure()
    controller.activate()
    robot, watch, cycle = NullRobot(), Watch(), [0]
    blows = np.random.default_rng(3).normal(size=(8, 6)) * [30, 30, 30, 3, 3, 3]

    def strike(c):
        robot.wrench[:] = blows[cycle[0] // 100]
        cycle[0] += 1

    run(controller, robot, robot.clock(), duration=1.5, telemetry=watch, on_tick=strike, stages=[JointFollower()])
    jacobian = controller.model.jacobian
    tool = [np.linalg.norm((jacobian(q) @ v)[:3]) for q, v in zip(watch.sent, watch.speeds, strict=True)]
    assert max(tool) < 1.3 * controller.params["max_velocity"][0]
    assert controller.mode == Mode.INACTIVE
    assert np.abs(watch.sent[-1] - watch.law[-1]).max() < 1e-6
