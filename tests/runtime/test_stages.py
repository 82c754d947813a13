"""Stages in the loop: in front they lead the reference, behind they shape what is sent."""

import numpy as np
import pytest
from tests.runtime.stages import DT, Behind, Braked, InFront, Watch

from ur_admittance.control import AdmittanceController
from ur_admittance.control.chaining import (
    MAX_ACCELERATION,
    MAX_JERK,
    CartesianPath,
    JointFollower,
    Smoother,
)
from ur_admittance.core.records import Status
from ur_admittance.errors import LoopError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters, preset
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot

CORNERS = [[0.0, 0.05, 0.0], [0.0, 0.05, -0.04]]  # [m] from the start


def simulate(stages, seconds=1.0, on_tick=None, telemetry=(), push=(0, 15, 0, 0, 0, 0)):
    """The simulated arm, pushed for half a second, in lock-step. Returns its joints, cycle by cycle."""
    world = World(robot_model("ur5e"))
    controller = AdmittanceController(world.model, Parameters().changed(world.parameters()))
    controller.configure()
    controller.activate()
    joints = []

    def each(c):
        joints.append(c.sample["q"].copy())
        return on_tick(c) if on_tick else None

    with SimulatedRobot(world) as robot:
        world.push(push, seconds=0.5)
        run(controller, robot, robot.clock(), duration=seconds, telemetry=telemetry, on_tick=each, stages=stages)
    return np.array(joints)


def test_stages_that_do_nothing_change_no_bit_of_the_motion():
    assert np.array_equal(simulate([]), simulate([Behind(), InFront()]))


def test_a_path_in_front_and_a_follower_behind_lead_the_tool_around_the_corner(controller):
    watch, robot = Watch(), NullRobot()
    start = controller.model.forward(robot.q)[1]
    path = CartesianPath(CORNERS, speed=0.05, relative=True)
    run(controller, robot, robot.clock(), duration=3.5, telemetry=watch, stages=[path, JointFollower()])
    assert path.done
    poses = np.array(watch.poses) - start
    assert poses[-1] == pytest.approx(CORNERS[-1], abs=1e-3)
    first, second = poses[poses[:, 1] < 0.049], poses[poses[:, 2] < -0.005]
    assert np.abs(first[:, [0, 2]]).max() < 1e-3  # along y, then along z
    assert np.abs(second[:, 1] - 0.05).max() < 2e-3
    assert controller.model.forward(robot.q)[1] - start == pytest.approx(CORNERS[-1], abs=1e-3)


def test_what_the_follower_sends_has_bounded_jerk_and_arrives(controller):
    """Judged by differences of what was sent, under blows that the tick answers with 20 rad/s2 within a cycle."""
    watch, robot, cycle = Watch(), Braked(), [0]
    blows = np.random.default_rng(5).normal(size=(10, 6)) * [25, 25, 25, 2, 2, 2]

    def strike(c):
        robot.wrench[:] = blows[cycle[0] // 200] if cycle[0] < 2000 else 0.0
        cycle[0] += 1

    run(controller, robot, robot.clock(), duration=5.0, telemetry=watch, on_tick=strike, stages=[JointFollower()])
    q, qd, law = np.array(watch.sent), np.array(watch.speeds), np.array(watch.law)
    acceleration = np.diff(qd, axis=0) / DT
    assert np.abs(np.diff(acceleration, axis=0)).max() / DT <= MAX_JERK * (1 + 1e-6)
    assert np.abs(acceleration).max() <= MAX_ACCELERATION * (1 + 1e-6)
    assert np.abs(np.diff(np.diff(law, axis=0), axis=0)).max() / DT**2 > 15.0  # it had something to smooth
    assert (np.abs(qd) <= controller.params["joint_velocity"] * (1 + 1e-4)).all()
    assert np.abs(np.diff(q, axis=0) - qd[1:] * DT).max() < 1e-4  # positions and speeds belong together
    assert np.abs(q[-1] - law[-1]).max() < 1e-9
    assert np.array_equal(robot.speeds, qd)  # what is told is what the robot got
    assert controller.status == Status.OK


def test_what_the_smoother_sends_keeps_the_limits_of_the_law_half_its_time_later(controller):
    watch, robot, cycle = Watch(), NullRobot(), [0]
    blows = np.random.default_rng(7).normal(size=(5, 6)) * [25, 25, 25, 2, 2, 2]

    def strike(c):
        robot.wrench[:] = blows[cycle[0] // 200] if cycle[0] < 1000 else 0.0
        cycle[0] += 1

    run(controller, robot, robot.clock(), duration=3.0, telemetry=watch, on_tick=strike, stages=[Smoother(0.04)])
    qd, law = np.array(watch.speeds), np.array(watch.law)
    acceleration = np.diff(qd, axis=0) / DT
    assert np.abs(acceleration).max() <= 20.0 * (1 + 1e-6)
    assert 400.0 < np.abs(np.diff(acceleration, axis=0)).max() / DT <= 2 * 20.0 / 0.04 * (1 + 1e-6)
    mean = np.array([law[k - 19 : k + 1].mean(axis=0) for k in range(19, len(law))])
    assert np.array(watch.sent)[19:] == pytest.approx(mean, abs=1e-9)
    tool = [np.linalg.norm((controller.model.jacobian(q) @ v)[:3]) for q, v in zip(watch.sent, qd, strict=True)]
    assert 0.4 < max(tool) < 0.5 * 1.01  # the limit of the law


def test_the_follower_hardly_exceeds_the_speed_limit_of_the_tool():
    """While it catches up it takes only what is spare; without that these blows made the tool twice as fast."""
    controller = AdmittanceController(robot_model("ur5e"), preset("hand_guiding"))
    controller.configure()
    controller.activate()
    watch, robot, cycle = Watch(), NullRobot(), [0]
    blows = np.random.default_rng(101).normal(size=(15, 6)) * [25, 25, 25, 2, 2, 2]

    def strike(c):
        robot.wrench[:] = blows[cycle[0] // 200] if cycle[0] < 2000 else 0.0
        cycle[0] += 1

    run(controller, robot, robot.clock(), duration=5.0, telemetry=watch, on_tick=strike, stages=[JointFollower()])
    jacobian = controller.model.jacobian
    tool = [np.linalg.norm((jacobian(q) @ v)[:3]) for q, v in zip(watch.sent, watch.speeds, strict=True)]
    limit = controller.params["max_velocity"][0]
    assert limit < max(tool) < 1.15 * limit


def near_its_end(room, **changes):
    """A controller whose last joint has so much room [rad], and its limit."""
    upper = [None] * 6
    upper[5] = float(robot_model("ur5e").home[5]) + room
    changes = {"joint_limits.position_upper": upper} | changes
    controller = AdmittanceController(robot_model("ur5e"), Parameters().changed(changes))
    controller.configure()
    controller.activate()
    return controller, upper[5]


@pytest.mark.parametrize("room", [0.05, 0.2])
def test_a_follower_brakes_before_the_end_of_a_joint(room):
    light = {"admittance.mass": [8, 8, 8, 0.1, 0.1, 0.1], "admittance.damping": [64, 64, 64, 1, 1, 1]}
    quick = {"max_angular_velocity": 3.0, "max_angular_acceleration": 20.0}
    controller, end = near_its_end(room, **light, **quick)
    watch, robot = Watch(), NullRobot()
    robot.wrench[5] = 8.0
    run(controller, robot, robot.clock(), duration=0.6, telemetry=watch, stages=[JointFollower()])
    last, speed = np.array(watch.sent)[:, 5], np.array(watch.speeds)[:, 5]
    assert end - 1e-6 < last.max() <= end
    assert speed.max() > 0.5
    assert np.abs(np.diff(speed)).max() <= MAX_ACCELERATION * DT * (1 + 1e-6)
    # nor do the positions stop at once; the last step is cut by 5e-5 rad, which is 12 rad/s2 more
    assert np.abs(np.diff(last, 2)).max() <= MAX_ACCELERATION * DT**2 + 5e-5


def test_a_stage_that_leaves_the_range_of_a_joint_is_not_sent():
    controller, end = near_its_end(0.02)
    robot = NullRobot()

    def creep(command, cycle):
        command["q"][5] += 0.05 * DT * cycle
        command["qd"][5] += 0.05

    with pytest.raises(LoopError, match=r"stage mine: joint 6 is .* rad beyond its limit"):
        run(controller, robot, robot.clock(), duration=2.0, stages=[Behind(creep)])
    assert end - 1e-3 < robot.q[5] <= end


def test_the_recording_holds_what_was_sent_and_replays_bit_for_bit(controller, tmp_path):
    robot, watch = NullRobot(), Watch()
    robot.wrench[1] = 20.0
    with Recorder(tmp_path / "run.mcap", model="ur5e", rate=500.0) as recorder:
        run(controller, robot, robot.clock(), duration=0.4, telemetry=[recorder, watch], stages=[JointFollower()])
    log = read_log(tmp_path / "run.mcap")
    assert replay(log).exact
    assert np.array_equal(log.ticks["loop"]["q_sent"], watch.sent)
    assert not np.array_equal(log.ticks["loop"]["q_sent"], log.ticks["command"]["q"])
