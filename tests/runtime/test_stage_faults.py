"""A stage that fails cannot harm the arm, and one that starts again does not make it jump."""

import time

import numpy as np
import pytest
from tests.runtime.stages import DT, Behind, Braked, InFront, Watch

from ur_admittance.control import AdmittanceController
from ur_admittance.control.chaining import MAX_ACCELERATION, JointFollower
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LoopError, ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot


def fails(cycle):
    def act(record, now):
        if now >= cycle:
            raise ZeroDivisionError("division by zero")

    return act


def test_a_stage_in_front_that_raises_is_told_by_name_and_the_arm_slows_down_without_it(controller):
    robot = Braked()
    with pytest.raises(LoopError, match=r"in front of the law in cycle 20.: stage mine: ZeroDivisionError"):
        run(controller, robot, robot.clock(), duration=2.0, stages=[InFront(fails(200)), JointFollower()])
    assert robot.at_stop <= 1e-9
    assert np.abs(robot.speeds).max() > 0.05
    assert np.abs(np.diff(robot.speeds, axis=0)).max() <= MAX_ACCELERATION * DT * 1.001
    assert controller.status == Status.INTERNAL_ERROR


def far(command, cycle):
    if cycle > 200:
        command["q"] += 0.3


def wander(command, cycle):
    """Away from the law at 0.15 rad/s, consistently."""
    if cycle > 200:
        command["q"] += 0.15 * DT * (cycle - 200)
        command["qd"] += 0.15


def whirl(command, cycle):
    if cycle > 200:
        command["q"] += 1.0 * DT * (cycle - 200)
        command["qd"] += 1.0


def nan(command, cycle):
    if cycle > 200:
        command["qd"][3] = np.nan


def fast(command, cycle):
    if cycle > 200:
        command["qd"][0] = 4.0


BAD = [
    (fails(200), "ZeroDivisionError: division by zero"),
    (nan, "its joints are not finite"),
    (far, "rad from the command of the law|rad from where it was a cycle ago"),
    (wander, "rad from the command of the law, at most"),
    (fast, "joint 1 moves at 4 rad/s, at most 3.1"),
    (whirl, "the tool (moves|turns) at .* at most"),
]


@pytest.mark.parametrize(
    ("act", "sentence"), BAD, ids=["raises", "nan", "jumps", "runs away", "joint too fast", "tool too fast"]
)
def test_a_bad_stage_behind_is_never_sent_and_the_robot_stops_by_itself(controller, act, sentence):
    robot = Braked()
    with pytest.raises(LoopError, match=f"behind the law in cycle .*: stage mine: .*({sentence})"):
        run(controller, robot, robot.clock(), duration=2.0, stages=[Behind(act)])
    assert robot.stopped
    assert robot.at_stop > 0.05  # it moved, and the robot's own stop braked it
    assert np.isfinite(robot.speeds).all()
    assert (np.abs(robot.speeds) <= controller.params["joint_velocity"]).all()
    assert np.abs(robot.q - controller.command["q"]).max() < 0.2


def deactivated(cycles):
    """For on_tick: counts them in `cycles`, and lets the arm come to rest after a hundred."""

    def count(c):
        cycles.append(1)
        if len(cycles) == 100:
            c.deactivate()

    return count


@pytest.mark.parametrize(("arm", "speed", "braking"), [(Braked, 0.005, 0.4), (NullRobot, 0.0, 0.1)])
def test_a_stage_that_does_not_come_to_rest_is_stopped(controller, arm, speed, braking):
    """Also one whose angles move while its speeds say that it stands."""
    robot, cycles = arm(), []

    def creep(command, now):
        command["q"] += 1e-5 * now
        command["qd"] += speed

    with pytest.raises(LoopError, match=r"stage mine: the joints still move 0.5 s after the law has stopped them"):
        run(controller, robot, robot.clock(), duration=5.0, on_tick=deactivated(cycles), stages=[Behind(creep)])
    assert len(cycles) < 100 + (0.5 + braking) / DT


def test_a_slow_stage_is_told(controller):
    stage = Behind(lambda command, cycle: time.sleep(0.004) if cycle % 10 == 0 else None)
    report = run(controller, NullRobot(), RealTimeClock(500.0), duration=0.2, stages=[stage])
    assert report.overruns >= 5
    assert report.slowest_stages["mine"] > 0.004
    assert "slowest stages mine" in str(report)


def test_a_stage_that_does_not_say_its_place_is_refused(controller):
    stage = Behind()
    stage.behind = "after"
    with pytest.raises(ParameterError, match="stage mine: `behind` must be True or False"):
        run(controller, NullRobot(), LockstepClock(500.0), duration=0.1, stages=[stage])


def test_after_a_pause_in_which_others_moved_the_arm_the_follower_begins_where_it_is(controller):
    robot, watch, cycle = Braked(), Watch(), [0]
    moved = robot.q + 0.2

    def script(c):
        cycle[0] += 1
        if cycle[0] == 100:
            robot.wrench[:] = 0.0
            c.deactivate()
        elif cycle[0] == 300:
            assert c.mode == Mode.INACTIVE
            robot.write = lambda command: None  # somebody else drives
            robot.q[:], robot.qd[:] = moved, 0.0
        elif cycle[0] == 310:
            c.activate()
        elif cycle[0] == 311:
            del robot.write

    run(controller, robot, robot.clock(), duration=1.0, telemetry=watch, on_tick=script, stages=[JointFollower()])
    after = np.array(watch.sent)[310:]
    assert controller.status == Status.OK
    assert np.abs(after - moved).max() < 1e-9


def test_a_robot_that_comes_back_after_a_protective_stop_is_not_pulled():
    world = World(robot_model("ur5e"))
    c = AdmittanceController(world.model, Parameters().changed(world.parameters()))
    c.configure()
    c.activate()
    robot, watch, cycle, stood = SimulatedRobot(world), Watch(), [0], []

    def script(c):
        cycle[0] += 1
        if cycle[0] == 200:
            robot.protective_stop()
        elif cycle[0] == 600:
            robot.restore()
            stood.append(np.array(world.q))
        elif cycle[0] == 700:
            c.reset_fault()
        elif cycle[0] == 720:
            c.activate()

    with robot:
        world.push([0, 20, 0, 0, 0, 0], seconds=0.6)
        run(c, robot, robot.clock(), duration=2.0, telemetry=watch, on_tick=script, stages=[JointFollower()])
    assert np.ptp(np.array(watch.law)[:200], axis=0).max() > 0.02  # it was on its way
    assert np.abs(np.array(watch.sent)[600:] - stood[0]).max() < 2e-3
    assert c.status == Status.OK


def test_a_stage_in_front_begins_with_every_activation_and_leaves_nothing_behind(controller):
    robot, cycle = NullRobot(), [0]

    def lead(sample, now):
        sample["reference_twist"][1] = 0.05

    stage, twists = InFront(lead), []

    def script(c):
        cycle[0] += 1
        twists.append(float(c.sample["reference_twist"][1]))
        if cycle[0] == 100:
            c.deactivate()
        elif cycle[0] == 300:
            assert not c.sample["reference_twist"].any()
            c.activate()

    run(controller, robot, robot.clock(), duration=0.8, on_tick=script, stages=[stage])
    assert stage.starts == 2
    assert twists[0] == 0.0
    assert twists[300] == 0.0  # the first active tick of the second run: the stage has not begun yet
    assert twists[302] == 0.05


def sneak(command, cycle):
    """Angles that move at 3 rad/s beside speeds that say nothing of it."""
    if cycle > 200:
        command["q"][0] += 3.0 * DT * (cycle - 200)


def test_a_stage_that_moves_the_angles_but_not_the_speeds_is_not_sent_either(controller):
    robot = Braked()
    with pytest.raises(LoopError, match=r"stage mine: the tool moves at 1.* m/s, at most 0.75 is allowed"):
        run(controller, robot, robot.clock(), duration=2.0, stages=[Behind(sneak)])
