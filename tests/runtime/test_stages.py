"""Stages in the loop: in front they lead the reference, behind they shape what is sent; neither can harm the arm."""

import time

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.control.chaining import MAX_ACCELERATION, MAX_JERK, CartesianPath, JointFollower, Smoother
from ur_admittance.control.references import Leader
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters, preset
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.robots.null import NullRobot
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import LoopError, run
from ur_admittance.runtime.requests import apply_reference, apply_request
from ur_admittance.simulation import SimulatedRobot, World

DT = 0.002
CORNERS = [[0.0, 0.05, 0.0], [0.0, 0.05, -0.04]]  # [m] from the start


class Watch:
    """Keeps the tick's joints, what was sent, and who led."""

    def __init__(self):
        self.law, self.sent, self.speeds, self.leaders, self.poses, self.twists = [], [], [], [], [], []

    def publish(self, controller, loop):
        command, behind = controller.command, int(loop["stages"][0])
        self.law.append(command["q"].copy())
        self.sent.append(loop["q_sent"][0].copy() if behind else command["q"].copy())
        self.speeds.append(loop["qd_sent"][0].copy() if behind else command["qd"].copy())
        self.leaders.append(Leader(int(loop["leader"][0])))
        self.poses.append(command["p_ref"].copy())
        self.twists.append(command["twist"].copy())


class Behind:
    """Does `act(command, cycle)` behind the law."""

    name, behind = "mine", True

    def __init__(self, act=lambda command, cycle: None):
        self.act, self.cycles, self.starts = act, 0, 0

    def start(self, controller, command):
        self.command = command
        self.starts += 1

    def update(self):
        self.cycles += 1
        self.act(self.command, self.cycles)


class InFront(Behind):
    behind = False

    def start(self, controller, command):
        self.command, self.starts = controller.sample, self.starts + 1


class Braked(NullRobot):
    """Pushed; remembers what it was sent, and the speed at which it was told to stop."""

    def __init__(self):
        super().__init__()
        self.wrench[1] = 20.0
        self.speeds, self.at_stop = [], None

    def write(self, command):
        self.speeds.append(command["qd"].copy())
        return super().write(command)

    def stop(self):
        if self.at_stop is None:
            self.at_stop = float(np.abs(self.qd).max())
        super().stop()


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


# -- failures -----------------------------------------------------------------------------------------------------


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


def test_a_stage_that_does_not_come_to_rest_is_stopped(controller):
    robot, cycle = Braked(), [0]

    def creep(command, now):
        command["q"] += 1e-5 * now
        command["qd"] += 0.005

    def release(c):
        cycle[0] += 1
        if cycle[0] == 100:
            c.deactivate()

    with pytest.raises(LoopError, match=r"stage mine: the joints still move 0.5 s after the law has stopped them"):
        run(controller, robot, robot.clock(), duration=5.0, on_tick=release, stages=[Behind(creep)])
    assert cycle[0] < 100 + (0.5 + 0.4) / DT


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


# -- starting again -----------------------------------------------------------------------------------------------


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


# -- who leads ----------------------------------------------------------------------------------------------------


def test_an_outside_writer_preempts_the_stage_falls_silent_and_the_stage_resumes_on_request(controller):
    robot, watch, cycle = NullRobot(), Watch(), [0]
    stage = InFront(lambda sample, now: sample["reference_twist"].__setitem__(1, 0.05))

    def script(c):
        cycle[0] += 1
        if 200 <= cycle[0] < 400 and cycle[0] % 20 == 0:
            apply_reference(c, {"twist": [0.0, -0.05, 0.0, 0.0, 0.0, 0.0]})
        elif cycle[0] == 700:
            apply_request(c, "resume_stages")

    run(controller, robot, robot.clock(), duration=2.0, telemetry=watch, on_tick=script, stages=[stage])
    leaders, v = watch.leaders, np.array(watch.twists)[:, 1]
    assert leaders[150] == Leader.STAGE
    assert leaders[210] == leaders[420] == Leader.TWIST
    assert leaders[450] == leaders[699] == Leader.SILENT
    assert leaders[701] == Leader.STAGE
    assert v[150] == pytest.approx(0.05, abs=1e-6)
    assert v[380] == pytest.approx(-0.05, abs=1e-6)
    assert np.abs(v[550:699]).max() < 1e-6  # at rest, until asked
    assert v[950] == pytest.approx(0.05, abs=1e-6)
    assert np.abs(np.diff(v)).max() <= controller.params["max_acceleration"][0] * DT * 1.01  # never a jump


def test_a_pose_from_outside_preempts_too_and_the_newest_writer_leads(controller):
    robot, watch, cycle = NullRobot(), Watch(), [0]
    stage = InFront(lambda sample, now: sample["reference_twist"].__setitem__(0, 0.05))
    start, R = controller.model.forward(robot.q)[1], controller.model.forward(robot.q)[0]

    def script(c):
        cycle[0] += 1
        if cycle[0] == 100:
            apply_reference(c, {"position": (start + [0.0, 0.03, 0.0]).tolist(), "rotation": R.tolist()})
        elif cycle[0] == 600:
            apply_reference(c, {"position": (start + [0.0, 0.08, 0.0]).tolist(), "rotation": R.tolist()})
        elif cycle[0] == 610:
            apply_reference(c, {"twist": [0.0] * 6})

    run(controller, robot, robot.clock(), duration=2.0, telemetry=watch, on_tick=script, stages=[stage])
    poses = np.array(watch.poses) - start
    assert watch.leaders[101] == Leader.POSE
    assert poses[590] == pytest.approx([0.0, 0.03, 0.0], abs=1e-3)  # it brakes gently
    assert poses[-1][1] < 0.04  # a writer who asked for rest, later, has the last word


def test_without_a_stage_there_is_nothing_to_resume(controller):
    with pytest.raises(Exception, match="resume_stages: no stage runs in front of the controller"):
        apply_request(controller, "resume_stages")
