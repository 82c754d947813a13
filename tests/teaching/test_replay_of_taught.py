"""Taught paths replayed on the simulated arm: near the path, yielding to a hand, refused where it must not go."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import ur_admittance as ua
from ur_admittance.core.enabling import HELD
from ur_admittance.core.records import Mode
from ur_admittance.errors import LoopError, ParameterError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.teaching import curve
from ur_admittance.teaching import replay as stage_of
from ur_admittance.teaching.taught import Step, Taught

SPEED = 0.1


def test_a_path_is_replayed_near_what_was_taught_at_the_speed_that_was_asked_for(cell, bow):
    c, seen = cell(), []
    stage = ua.TaughtPath(c.taught(("path", bow)), SPEED, ends=True)
    report = c.run(stage, each=lambda time: seen.append(c.p))
    assert "the program was done" in str(report)
    assert stage.done
    way = curve.bent(curve.from_vectors(c.home + bow))
    assert cKDTree(way.poses[:, :3]).query(np.array(seen[500:]))[0].max() < 1e-3
    assert c.p == pytest.approx((c.home + bow[-1])[:3], abs=1e-3)
    speeds = np.linalg.norm(np.array(c.twists) * stage_of.SCALES, axis=1)
    assert speeds.max() < 1.02 * SPEED
    assert np.median(speeds[speeds > 0.01]) == pytest.approx(SPEED, rel=0.02)
    assert np.abs(np.diff(c.twists, axis=0)[:, :3]).max() < 3.0 * curve.ACCELERATION * 0.002


def test_a_hand_that_holds_the_arm_stops_it_softly_and_let_go_it_goes_on_without_a_jump(cell, bow):
    c, force, place, free = cell(), [], [], cell()
    free.run(ua.TaughtPath(free.taught(("path", bow)), 0.05, ends=True))

    def hand(time):
        if 2.0 <= time < 5.0 and not c.world.hand.active:
            c.world.grab(lambda t: np.zeros(6), stiffness=(2000.0, 30.0), damping=(60.0, 1.0))
        if time >= 5.0:
            c.world.let_go()
        force.append(np.linalg.norm(c.world.hand.wrench[:3]))
        place.append(c.p)

    stage = ua.TaughtPath(c.taught(("path", bow)), 0.05, ends=True)
    c.run(stage, each=hand)
    assert stage.done
    held, last, after = slice(1000, 2500), slice(2000, 2500), slice(2500, 3500)
    assert 5.0 < max(force[held]) < 1.3 * stage_of.HELD_BY
    assert np.ptp(place[last], axis=0).max() < 2e-3  # [m] in the last second: the hand gives way by force / stiffness
    assert len(c.twists) - len(free.twists) == pytest.approx(1500, abs=250)  # [cycles] the path has waited
    speeds = np.linalg.norm(np.array(c.twists)[:, :3], axis=1)
    assert speeds[after].max() < 1.05 * 0.05
    # [m/s] in a cycle: a mass of 5 kg that is freed of 16 N, and the path itself
    assert np.linalg.norm(np.diff(c.twists, axis=0)[after, :3], axis=1).max() < 16.0 / 5.0 * 0.002
    assert c.p == pytest.approx(free.p, abs=5e-4)


def test_a_path_goes_on_after_the_enabling_signal_was_lost(cell, bow):
    c = cell(**{"guiding.enable": "required", "guiding.source": "tool:0"})
    stage = ua.TaughtPath(c.taught(("path", bow)), SPEED, ends=True)
    held = []

    def press(time):
        c.robot.set_digital_input(16, not 1.0 <= time < 2.0)
        held.append((int(c.controller.status) in HELD, stage._plan.current_position[0]))

    c.run(stage, each=press)
    assert stage.done
    assert c.p == pytest.approx((c.home + bow[-1])[:3], abs=1e-3)
    stopped = [place for is_held, place in held[600:900] if is_held]
    assert len(stopped) > 200
    assert np.ptp(stopped) == 0.0
    assert np.abs(np.diff(c.twists, axis=0)[950:, :3]).max() < 3.0 * curve.ACCELERATION * 0.002


def test_outputs_the_gripper_and_waits_come_where_they_were_taught_in_every_round(cell, bow):
    c = cell()
    steps = [
        ("pose", np.zeros(6)), ("gripper", "close"), ("wait", 0.5), ("pose", np.array([0.0, 0.05, 0, 0, 0, 0])),
        ("gripper", "open"), ("output", ("digital:3", True)),
    ]  # fmt: skip
    places = []
    stage = ua.TaughtPath(c.taught(*steps, gripper="tool:0"), SPEED, loops=2, ends=True)
    c.run(stage, each=lambda time: places.append(c.p))
    assert stage.round == 2
    assert [(name, on) for _, name, on in c.robot.outputs] == 2 * [
        ("tool:0", True), ("tool:0", False), ("digital:3", True)
    ]  # fmt: skip
    where = [places[round(time / 0.002) - 1] for time, _, _ in c.robot.outputs]
    for i, y in enumerate(2 * [0.0, 0.05, 0.05]):
        assert where[i] == pytest.approx(c.home[:3] + [0.0, y, 0.0], abs=1.5e-3)
    closed, opened = c.robot.outputs[0][0], c.robot.outputs[1][0]
    assert opened - closed > 0.5 + 0.05 / SPEED


def test_the_same_recording_gives_the_same_bits_again(cell, bow, tmp_path):
    c = cell()
    c.run(ua.TaughtPath(c.taught(("path", bow)), SPEED, ends=True), log=tmp_path / "a.mcap")
    again = replay(read_log(tmp_path / "a.mcap"))
    assert again.recomputed[1:].all()
    assert max(again.differences.values()) == 0.0
    other = cell()
    other.run(ua.TaughtPath(other.taught(("path", bow)), SPEED, ends=True))
    assert np.array_equal(c.twists, other.twists)


def test_after_a_stop_it_goes_on_where_it_was(cell, bow):
    c = cell()
    stage, at = ua.TaughtPath(c.taught(("path", bow)), SPEED, ends=True), []

    def stop_and_go(time):
        at.append(stage._plan.current_position[0])
        if abs(time - 1.0) < 1e-6:
            c.controller.deactivate()
        if time > 1.6 and c.controller.mode == Mode.INACTIVE:
            c.controller.activate()

    c.run(stage, each=stop_and_go)
    assert stage.done
    assert min(np.diff(at)) >= 0.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"arm": "ur10e"}, "was taught on a ur10e, this arm is a ur5e"),
        ({"tcp": (0.0, 0.0, 0.2, 0.0, 0.0, 0.0)}, r"was taught with tool.tcp = \[0.0, 0.0, 0.2"),
    ],
)
def test_another_arm_or_tool_is_refused_before_anything_moves(cell, bow, change, sentence):
    c = cell()
    with pytest.raises(ParameterError, match=sentence):
        c.run(ua.TaughtPath(c.taught(("path", bow), **change), SPEED))
    assert c.twists == []


def test_a_path_of_another_arm_is_adapted_when_asked_for_with_a_warning_and_a_look_at_the_reach(cell, bow):
    small, large = cell(), cell("ur10e")
    taught = small.taught(("path", bow))
    stage = ua.TaughtPath(taught, SPEED, adapt=True, ends=True)
    with pytest.warns(UserWarning, match="was taught on a ur5e, this arm is a ur10e; every place is within reach"):
        stage.prepare(large.controller, large.robot)
    large.world.reset(stage.start_joints)
    with pytest.warns(UserWarning, match="was taught"):
        large.run(stage)
    assert large.p == pytest.approx((small.home + bow[-1])[:3], abs=1e-3)
    far = ua.TaughtPath(large.taught(("path", 4.0 * bow)), SPEED, adapt=True)
    tiny = cell("ur3e")
    with pytest.raises(ParameterError, match=r"step 1 \(path\), .* along it, at .* m: is out of reach"):
        far.prepare(tiny.controller, tiny.robot)


@pytest.mark.parametrize(
    ("steps", "speed", "changes", "sentence"),
    [
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0.9, 0, 0, 0, 0, 0])], 0.01, {}, r"step 2 \(pose\), .*: is (out of reach|too near a sing)"),
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0.1, 0, 0, 0, 0, 0])], 0.3, {}, r"step 2 .*the tool would move at 0.3 m/s, at most 0.2 is allowed; go slower"),
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0, 0, 0, 0, 0, 1])], 0.19, {}, r"the tool would move at 0.95 rad/s, at most 0.5 is allowed"),
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0, 0.2, 0, 0, 0, 0])], SPEED, {"workspace.max": [1.0, 0.0, 1.0]}, r"is outside of the workspace along y"),
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0, 0.2, 0, 0, 0, 0])], SPEED, {"joint_limits.position_upper": [0.1, 0.0, 3.0, 0.0, 0.0, 6.0]}, r"joint base would be at 0.1\d rad; its limits are -6.28 to 0.10"),
        ([("pose", [0, 0, 0, 0, 0, 0]), ("pose", [0.9, 0, 0, 0, 0, 0])], SPEED, {}, r"step 2 .*joint elbow would turn at [\d.]+ rad/s, at most 3.14 is allowed; go slower"),
        ([("output", ("tool:0", True))], SPEED, {}, "has neither a pose nor a path"),
    ],
)  # fmt: skip
def test_a_way_that_the_arm_cannot_go_is_refused_with_its_place(cell, steps, speed, changes, sentence):
    c = cell(**changes)
    steps = [(kind, np.array(value, dtype=float) if kind == "pose" else value) for kind, value in steps]
    with pytest.raises(ParameterError, match=sentence):
        c.run(ua.TaughtPath(c.taught(*steps), speed))
    assert c.twists == []


def test_led_away_from_outside_it_waits_until_the_tool_is_back(cell, bow):
    c, seen = cell(), []
    stage = ua.TaughtPath(c.taught(("path", bow)), SPEED, ends=True)

    def outside(time):
        seen.append(c.p)
        for begin, vx in ((1.0, 0.1), (3.0, -0.1)):
            if begin <= time < begin + 1.0:
                c.controller.set_reference_twist([vx, 0.0, 0.0, 0.0, 0.0, 0.0])
            elif begin + 1.2 <= time < begin + 1.201:
                c.controller.resume_stages()

    c.run(stage, each=outside)
    assert np.linalg.norm(seen[1100] - seen[500]) > 0.08
    assert np.ptp(seen[1150:1490], axis=0).max() < 1e-4  # asked to go on, but too far away
    assert stage.done
    assert c.p == pytest.approx((c.home + bow[-1])[:3], abs=1e-3)


def test_a_way_past_a_straight_wrist_is_refused(cell):
    c = cell()
    joints = np.array(c.world.model.home) * [1, 1, 1, 1, 0, 1]
    R, p = c.world.model.forward(joints)
    tool = curve.to_vectors(curve.from_matrix(p + R @ c.controller.parameters.tool.tcp[:3], R)[None])[0]
    taught = Taught("ur5e", tuple(c.controller.parameters.tool.tcp), tuple(joints), (Step("pose", tool),))
    with pytest.raises(ParameterError, match=r"step 1 \(pose\), .*: is too near a singular pose"):
        ua.TaughtPath(taught, SPEED).prepare(c.controller, c.robot)


def test_a_start_beside_the_first_pose_is_no_jolt(cell, bow):
    c, leads = cell(), []
    stage = ua.TaughtPath(c.taught(("path", bow + [0.0, 0.015, 0.0, 0.0, 0.0, 0.0])), SPEED, ends=True)
    c.run(stage, each=lambda time: leads.append(np.array(c.controller.sample["reference_twist"])))
    assert stage.done
    assert c.p == pytest.approx((c.home + bow[-1])[:3] + [0.0, 0.015, 0.0], abs=1e-3)
    steps = np.linalg.norm(np.diff(leads, axis=0) * stage_of.SCALES, axis=1)
    # [m/s] in a cycle: the way to the path and the path itself, which begins at the same time; and its bends
    assert steps[:300].max() < 2.5 * curve.ACCELERATION * 0.002


def test_far_from_the_first_pose_the_sentence_says_how_to_get_there(cell, bow):
    c = cell()
    c.world.reset(np.array(c.world.model.home) + [0.2, 0, 0, 0, 0, 0])
    with pytest.raises(LoopError, match=r"the tool is \d+ mm and 11 degrees from the first pose.*ur-admittance go"):
        c.run(ua.TaughtPath(c.taught(("path", bow)), SPEED))
    assert np.abs(c.twists).max() == 0.0


def test_the_joints_of_the_whole_way_are_those_of_the_model(cell, bow):
    """The oracle is the model's own forward kinematics with the tool put on by hand."""
    c = cell()
    way = curve.bent(curve.from_vectors(c.home + bow))
    ends = [curve.bent(curve.from_vectors((c.home + bow)[::-1]))]
    q = stage_of.check_way(c.controller.params, [("there", way)], np.array(c.world.model.home), SPEED)
    last = stage_of.check_way(c.controller.params, [("end", ends[0])], q, SPEED)
    R, p = c.world.model.forward(last)
    tcp = c.controller.parameters.tool.tcp
    assert p + R @ np.array(tcp[:3]) == pytest.approx((c.home + bow[-1])[:3], abs=2e-5)
