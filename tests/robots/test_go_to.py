"""Going to a pose, in the simulated arm: the way is looked at, led, yielded from and ended; every run is replayed."""

import json
import math
import re
import uuid

import numpy as np
import pytest
from tests.runtime.stages import InFront

import ur_admittance as ua
from ur_admittance.control.go_to import LEVER, Outcome, Trip
from ur_admittance.core.leader import Leader
from ur_admittance.core.records import Mode
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.runtime.mailbox import Mailbox

pin = pytest.importorskip("pinocchio")
DT = 0.002
HOME = np.array(ua.robot_model("ur5e").home)
STAND = HOME + [0.0, -0.2, 0.3, -0.1, 0.0, 0.0]
THERE = STAND + [0.4, 0.3, -0.4, 0.2, 0.5, 0.8]
LATE = ua.Servo(delay=0.010)


class Run:
    """One trip from `start`, recorded; each(run, controller) in every cycle."""

    def __init__(self, path, goal, start=STAND, changes=None, each=None, preset="hand_guiding", stages=(), **world):
        self.world = ua.World("ur5e", **{"tool": ua.Tool(mass=1.0)} | world)
        parameters = ua.preset(preset).changed(self.world.parameters() | (changes or {}))
        self.controller = ua.AdmittanceController(self.world.model, parameters)
        self.world.reset(start)
        self.R_start, self.p_start = (each.copy() for each in self.world.pose())
        self.trip = Trip(goal(self) if callable(goal) else goal)
        self.forces, self._each = [], each

        def on_tick(controller):
            self.forces.append(float(np.linalg.norm(self.world.external_wrench[:3])))
            if self._each is not None:
                self._each(self, controller)
            return self.trip(controller)

        robot = ua.SimulatedRobot(self.world)
        with robot:
            ua.run(self.controller, robot, duration=60.0, activate=True, on_tick=on_tick, stages=stages, log=path)
        self.log = read_log(path)
        assert replay(self.log).exact

    @property
    def velocities(self):
        return self.log.ticks["command"]["twist"][:, :3]

    @property
    def moved(self):
        return float(np.linalg.norm(self.world.pose()[1] - self.p_start))


@pytest.fixture
def go(tmp_path):
    count = iter(range(10))
    return lambda goal, **options: Run(tmp_path / f"go{next(count)}.mcap", goal, **options)


def test_joints_are_reached_on_a_straight_line_of_joint_angles(go):
    run = go(ua.Goal(joints=THERE, speed=0.1))
    assert run.trip.outcome == Outcome.ARRIVED, run.trip.sentence
    assert np.abs(run.world.q - THERE).max() < 2e-4
    q, along = run.log.ticks["sample"]["q"], THERE - STAND
    off = (q - STAND) - np.outer((q - STAND) @ along / (along @ along), along)
    assert np.abs(off).max() < 5e-3


def test_a_pose_is_reached_on_a_straight_line_while_it_turns_about_one_axis(go):
    turn = np.array([0.3, -0.4, 0.2])
    run = go(lambda run: ua.Goal(position=run.p_start + [-0.1, 0.15, 0.1], rotation=pin.exp3(turn) @ run.R_start))
    assert run.trip.outcome == Outcome.ARRIVED, run.trip.sentence
    R, p = run.world.pose()
    assert np.linalg.norm(p - run.p_start - [-0.1, 0.15, 0.1]) < 5e-4
    assert np.linalg.norm(pin.log3(R @ (pin.exp3(turn) @ run.R_start).T)) < 1e-3
    for command in run.log.ticks["command"][::50]:
        s = (command["p_tcp"] - run.p_start) @ [-0.1, 0.15, 0.1] / (0.1**2 + 0.15**2 + 0.1**2)
        assert np.linalg.norm(command["p_tcp"] - run.p_start - s * np.array([-0.1, 0.15, 0.1])) < 1e-3
        assert np.linalg.norm(pin.log3(command["R_tcp"] @ run.R_start.T) - s * turn) < 5e-3


FASTEST = {  # what decides: turns of the joints
    "tool": [0.4, 0.0, 0.0, 0.0, 0.0, 0.0],
    "turning": [0.0, 0.0, 0.0, 0.0, 0.5, 0.5],
    "joints": [0.0, 0.0, 0.0, 0.6, 0.0, -0.6],  # about axes that are nearly parallel
}
SPEED = 0.08  # [m/s] below all limits of the parameters


@pytest.mark.parametrize("what", FASTEST)
def test_the_way_is_no_faster_than_its_goal_and_limited_in_jerk(go, what):
    start = STAND + ([0.0, 0.0, 0.0, 0.0, 1.4, 0.0] if what == "joints" else 0.0)
    run = go(ua.Goal(joints=start + FASTEST[what], speed=SPEED), start=start)
    qd, twist = run.log.ticks["command"]["qd"], run.log.ticks["command"]["twist"]
    tool, turning = (np.linalg.norm(twist[:, part], axis=1).max() for part in (slice(0, 3), slice(3, 6)))
    shares = tool / SPEED, turning * LEVER / SPEED, np.abs(qd).max() * LEVER / SPEED
    assert 0.97 < max(shares) < 1.02  # no faster, and not needlessly slow
    assert list(FASTEST)[int(np.argmax(shares))] == what
    # mean over 20 ms: that of the way itself, without what the law does about the noise of the arm
    smooth = np.apply_along_axis(lambda v: np.convolve(v, np.ones(10) / 10, "valid"), 0, qd)
    assert np.abs(np.diff(smooth, axis=0)).max() / DT < 1.2 * SPEED / LEVER / 0.4
    assert np.abs(np.diff(smooth, 2, axis=0)).max() / DT**2 < 3.0 * SPEED / LEVER / 0.4 / 0.2


IN_THE_WAY = {
    "joint": (
        {"joint_limits.position_upper": [math.nan] * 5 + [0.5]},
        lambda run: ua.Goal(joints=THERE),
        r"refused: at 6\d % of the way joint 6 would be at 28\.\d deg \(allowed: -360 to 29 deg\)",
    ),
    "wall": (
        {"workspace.max": [math.nan, 0.3, math.nan]},
        lambda run: ua.Goal(position=[run.p_start[0], 0.4, run.p_start[2]]),
        r"refused: at 63 % of the way the tool would leave the workspace",  # (0.3 - 0.133) / (0.4 - 0.133)
    ),
    "table": (
        {"collision.table_height": 0.1, "collision.table_touchable": False},
        lambda run: ua.Goal(position=[*run.p_start[:2], 0.105]),
        r"refused: at 9\d % of the way the tool would come nearer to the table than 10 mm \(collision.clearance\)",
    ),
    "box": (  # its face at 0.26, a tool of 30 mm, 10 mm kept: (0.22 - 0.133) / (0.4 - 0.133)
        {"collision.box_2.size": [0.04, 0.04, 0.04], "collision.box_2.center": [0.41, 0.28, 0.29]},
        lambda run: ua.Goal(position=[run.p_start[0], 0.4, run.p_start[2]]),
        r"refused: at 33 % of the way the tool would come nearer to the box 2 than 10 mm",
    ),
    "itself": (
        {},
        lambda run: ua.Goal(joints=STAND + [0.0, 0.0, 1.2, 0.0, 0.0, 0.0]),
        r"refused: at \d+ % of the way the [a-z]+( \d)? would come nearer to the [a-z ]+ than 10 mm \(coll",
    ),
    "straight wrist": (
        {},
        lambda run: ua.Goal(joints=STAND + [0.0, 0.0, 0.0, 0.0, 2.2, 0.0]),
        r"refused: at 7\d % of the way the arm would come too near a singular pose",
    ),
    "edge of the reach": (
        {},
        lambda run: ua.Goal(position=run.p_start + [1.0, 0.0, 0.0]),
        r"refused: at \d+ % of the way the arm would come too near a singular pose",
    ),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_a_way_that_is_not_free_is_refused_and_nothing_moves(go, what):
    changes, goal, sentence = IN_THE_WAY[what]
    run = go(goal, changes=changes)
    assert run.trip.outcome == Outcome.REFUSED
    assert re.match(sentence, run.trip.sentence), run.trip.sentence
    assert run.moved < 1e-4
    assert np.abs(run.velocities).max() < 1e-6


def test_a_start_that_is_outside_a_limit_may_be_left_but_not_farther_outside(go):
    outside = {"workspace.max": [math.nan, -0.2, math.nan]}
    y = go(lambda run: ua.Goal(position=run.p_start), changes=outside).p_start[1]
    assert y > -0.2
    inwards = go(lambda run: ua.Goal(position=run.p_start - [0.0, 0.1, 0.0]), changes=outside)
    assert inwards.trip.outcome == Outcome.ARRIVED, inwards.trip.sentence
    outwards = go(lambda run: ua.Goal(position=run.p_start + [0.0, 0.1, 0.0]), changes=outside)
    assert outwards.trip.outcome == Outcome.REFUSED


def test_a_straight_wrist_may_be_left_but_not_a_stretched_arm(go):
    wrist = HOME + [0.0, 0.0, 0.0, 0.0, math.pi / 2, 0.0]
    assert np.linalg.svd(ua.robot_model("ur5e").jacobian(wrist))[1][-1] < 1e-6
    run = go(ua.Goal(joints=HOME, speed=0.2), start=wrist)
    assert run.trip.outcome == Outcome.ARRIVED, run.trip.sentence
    assert np.abs(run.world.q - HOME).max() < 1e-3
    run = go(ua.Goal(joints=HOME, speed=0.2), start=HOME * [1, 1, 0, 1, 0, 1])
    assert run.trip.outcome == Outcome.REFUSED
    assert "at 0 % of the way the arm would come too near a singular pose" in run.trip.sentence


def forwards(distance, **options):
    return lambda run: ua.Goal(position=run.p_start + [distance, 0.0, 0.0], **options)


def sprung(stiffness):
    return {"admittance.stiffness": [stiffness] * 3 + [20.0] * 3}


@pytest.mark.parametrize("changes", [{}, sprung(500.0)])
def test_a_stiff_wall_is_met_softly_and_not_pressed_afterwards(go, changes):
    """What cannot be avoided is the way of the arm until it answers: 16 ms of delay and lag, and 9 ms of braking."""
    wall = ua.Environment.wall(1e5, gap=0.10)
    run = go(forwards(0.2), environment=wall, servo=LATE, changes=changes)
    assert run.trip.outcome == Outcome.TOUCHED
    assert re.match(r"stopped by 2\d N after (99|1\d\d) mm, 5\d % of the way", run.trip.sentence), run.trip.sentence
    assert max(run.forces) < 65.0
    assert run.forces[-1] < 10.0
    assert run.controller.mode == Mode.INACTIVE


@pytest.mark.parametrize(("force", "outcome"), [(10.0, Outcome.TOUCHED), (20.0, Outcome.BLOCKED)])
def test_a_spring_does_not_go_on_pressing_at_the_end(go, force, outcome):
    """Slowly into foam: 30 mm off its way, where it waits, the spring has 15 N."""
    soft = ua.Environment.wall(2e3, gap=0.05)
    run = go(forwards(0.2, speed=0.02, force=force), environment=soft, changes=sprung(500.0))
    assert run.trip.outcome == outcome
    assert max(run.forces) > 9.0
    assert run.forces[-1] < 7.0


def test_a_lower_force_stops_the_arm_earlier(go):
    runs = [go(forwards(0.2, force=force), environment=ua.Environment.wall(1e4, gap=0.10)) for force in (8.0, 20.0)]
    assert [run.trip.outcome for run in runs] == [Outcome.TOUCHED] * 2
    assert max(runs[0].forces) < 0.7 * max(runs[1].forces)


class Person:
    """A body of 5 kg, 100 mm in front of the tool, skin of 5 kN/m; free, or with its back to a wall."""

    def __init__(self, clamped):
        self.clamped, self.at, self.speed, self.force, self.peak = clamped, 0.1, 0.0, 0.0, 0.0

    def __call__(self, run, controller):
        if not run.world.hand.active:
            run.world.push(lambda t: np.array([-self.force, 0.0, 0.0, 0.0, 0.0, 0.0]))
        pressed = run.world.pose()[1][0] - run.p_start[0] - self.at
        self.force = max(0.0, 5e3 * pressed)
        self.peak = max(self.peak, self.force)
        if not self.clamped:
            self.speed += DT * self.force / 5.0
            self.at += DT * self.speed


@pytest.mark.parametrize(("clamped", "speed"), [(False, 0.05), (False, 0.2), (True, 0.05), (True, 0.2)])
def test_a_person_in_the_way_is_hardly_pushed(go, clamped, speed):
    """Free: the impact v sqrt(k m) of a body of 5 kg at most. Clamped: the force of the goal, and what 30 ms add."""
    someone = Person(clamped)
    run = go(forwards(0.3, speed=speed), each=someone, servo=LATE)
    assert run.trip.outcome == (Outcome.TOUCHED if clamped or speed > 0.1 else Outcome.ARRIVED), run.trip.sentence
    assert someone.peak < (20.0 + 5e3 * speed * 0.03 if clamped else speed * math.sqrt(5e3 * 5.0))
    assert someone.force < 5.0  # afterwards


def test_a_hand_may_hold_the_tool_and_let_go_and_the_way_goes_on_without_a_jump(go):
    """A soft hand: less than the force that ends it."""
    hands, times = [], []

    def each(run, controller):
        times.append(run.world.time)
        if not run.world.hand.active and 2.0 < run.world.time < 2.01:
            run.world.grab(lambda t: np.zeros(6), stiffness=(400.0, 8.0), damping=(25.0, 0.5))
        if run.world.hand.active and run.world.time > 5.0:
            run.world.let_go()
        hands.append(float(np.linalg.norm(run.world.hand.wrench[:3])))

    run = go(forwards(0.2), each=each)
    assert run.trip.outcome == Outcome.ARRIVED, run.trip.sentence
    assert run.moved == pytest.approx(0.2, abs=1e-3)
    assert 2.0 < max(hands) < 15.0
    speed = np.linalg.norm(run.velocities, axis=1)
    assert speed.max() < 2.05 * 0.05  # the way and the pull back to it
    assert np.abs(np.diff(speed)).max() / DT < 1.0  # [m/s2]


def test_who_holds_it_for_too_long_ends_it(go):
    def each(run, controller):
        if not run.world.hand.active and run.world.time > 2.0:
            run.world.grab(lambda t: np.zeros(6), stiffness=(2000.0, 8.0), damping=(60.0, 0.5))

    run = go(forwards(0.3, force=40.0), each=each)
    assert run.trip.outcome == Outcome.BLOCKED
    assert "kept 3" in run.trip.sentence
    assert run.world.time < 16.0


def test_without_the_enabling_signal_it_waits_and_then_goes_on(go):
    def each(run, controller):
        t = run.world.time
        if not 2.0 < t < 4.0 and round(t / DT) % 25 == 0:
            controller.enable()
        if t > 3.0 and not hasattr(run, "p_held"):
            run.p_held = run.world.pose()[1].copy()
        if 3.0 < t < 4.0:
            assert np.linalg.norm(run.world.pose()[1] - run.p_held) < 1e-5

    changes = {"guiding.enable": "required", "guiding.timeout": 0.2}
    run = go(forwards(0.2), each=each, changes=changes)
    assert run.trip.outcome == Outcome.ARRIVED, run.trip.sentence
    assert np.abs(np.diff(np.linalg.norm(run.velocities, axis=1))).max() / DT < 5.1  # braking inside the limits
    after = run.log.seconds > 4.0
    assert np.diff(np.linalg.norm(run.velocities[after], axis=1)).max() / DT < 0.3  # gently again


@pytest.mark.parametrize("how", ["deactivated", "preempted"])
def test_a_stop_or_somebody_elses_reference_ends_it(go, how):
    def each(run, controller):
        if 2.0 < run.world.time < 2.003:
            if how == "deactivated":
                controller.deactivate()
            else:
                controller.set_reference_twist(np.zeros(6))

    run = go(forwards(0.3), each=each)
    assert run.trip.outcome == Outcome.ENDED
    assert "after" in run.trip.sentence
    assert run.moved < 0.12


def test_it_is_refused_where_the_law_would_move_the_arm_by_itself_and_while_inactive(go):
    run = go(forwards(0.1), preset="surface_following")
    assert run.trip.outcome == Outcome.REFUSED
    assert "desired_wrench" in run.trip.sentence
    with pytest.raises(LifecycleError, match="go_to: the controller is inactive, must be active"):
        run.controller.go_to(ua.Goal(joints=THERE))


def test_it_preempts_a_stage_which_leads_again_when_asked(go):
    stage = InFront(lambda sample, now: sample["reference_twist"].__setitem__(2, 0.01))

    def each(run, controller):
        leader = controller.references.leader
        if controller.going is not None and controller.going.outcome == Outcome.GOING:
            assert leader == Leader.GO
        elif controller.going is not None and not run.ended:
            run.ended = run.world.time
            assert leader == Leader.SILENT
            controller.resume_stages()
        elif run.ended and controller.mode == Mode.ACTIVE:
            assert leader == Leader.STAGE

    Run.ended = 0.0
    run = go(forwards(0.1), each=each, stages=[stage])
    assert run.trip.outcome == Outcome.ARRIVED
    assert run.ended


def test_other_programs_send_it_and_ask_how_it_stands(go):
    said = {}

    def each(run, controller):
        def answer(value):
            return json.loads(json.dumps(run.mailbox.answer(controller, json.dumps({"go": value}).encode()).__dict__))

        if controller.going is not None and controller.going.outcome == Outcome.ARRIVED and not said:
            said["arrived"] = answer("how")
            said["words"] = answer("there")
            said["wrong"] = answer({"joints": [0.0] * 5})
            said["unknown"] = answer({"joint": [0.0] * 6})
            said["going"] = answer(ua.Goal(position=run.p_start, rotation=run.R_start).as_json())

    with Mailbox(f"go_{uuid.uuid4().hex[:8]}") as Run.mailbox:
        go(forwards(0.02), each=each)
    assert said["arrived"]["text"].startswith("arrived: arrived within 0.")
    assert [said[name]["accepted"] for name in ("words", "wrong", "unknown", "going")] == [False] * 3 + [True]
    assert "goal joints" in said["wrong"]["text"]
    assert said["going"]["text"] == "goes to a pose"


def test_a_follower_behind_the_law_leads_to_the_same_place(go):
    run = go(ua.Goal(joints=THERE, speed=0.2), stages=[ua.JointFollower()])
    assert run.trip.outcome == Outcome.ARRIVED
    assert np.abs(run.world.q - THERE).max() < 2e-4


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({}, "either joints, or a position"),
        ({"joints": [0.0] * 6, "position": [0.0] * 3}, "either joints, or a position"),
        ({"joints": [0.0] * 5}, r"goal joints = .*: must be 6 finite numbers \[rad\]"),
        ({"position": [0.0, np.nan, 0.0]}, "goal position"),
        ({"position": [0.0] * 3, "rotation": np.ones((3, 3))}, "rotation matrix"),
        ({"joints": [0.0] * 6, "speed": 0.0}, "goal speed = 0.0 m/s: must be > 0"),
        ({"joints": [0.0] * 6, "force": -1.0}, "goal force"),
    ],
)
def test_an_impossible_goal_is_refused(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ua.Goal(**wrong)
