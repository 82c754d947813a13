"""A recorded run can be computed again, to the last bit, and asked why it stopped."""

import dataclasses
import re
import time

import numpy as np
import pytest

from ur_admittance.core.leader import Leader
from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.errors import LogError, ParameterError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.plot import plot
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay, what_if
from ur_admittance.recording.why import why
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run


def eventful(robot, controller):
    """A push, a parameter change, a spring, a reference, a protective stop, a reset, an over-force."""
    count = 0

    def on_tick(_):
        nonlocal count
        count += 1
        robot.wrench[:3] = [12.0 * np.sin(0.01 * count), 5.0, -3.0]
        if count == 300:
            controller.set_parameters({"admittance.stiffness": [200.0] * 3 + [20.0] * 3})
        elif count == 500:
            controller.set_reference_twist([0.02, 0.0, 0.0, 0.0, 0.0, 0.1])
        elif count == 700:
            robot.external_status = int(Status.PROTECTIVE_STOP)
        elif count == 800:
            robot.external_status = 0
        elif count == 802:
            controller.reset_fault()
        elif count == 810:
            controller.activate_with_load()
        elif count == 900:
            controller.set_parameters({"control_frame": "tcp", "admittance.mass": [4.0] * 3 + [0.4] * 3})
        elif count > 1300:
            robot.wrench[0] = 150.0

    return on_tick


@pytest.fixture
def recording(tmp_path, controller, robot):
    path = tmp_path / "run.mcap"
    with Recorder(path, model="ur5e", rate=500.0) as recorder:
        run(
            controller,
            robot,
            LockstepClock(500.0),
            duration=3.0,
            telemetry=recorder,
            on_tick=eventful(robot, controller),
        )
    return read_log(path)


def test_a_replay_agrees_with_the_recording_to_the_last_bit(recording, same_bits):
    result = replay(recording)
    assert result.exact
    assert result.recomputed.sum() == len(recording.ticks) - 1, "the first one has no recorded state before it"
    assert same_bits(result.commands[1:], recording.ticks["command"][1:])
    assert set(result.state_differences) >= {"q_command", "contact.held", "singular_vectors"}
    count = f"{len(recording.ticks) - 1} of {len(recording.ticks)} cycles recomputed"
    assert str(result) == f"{count} (a recorded state is the start), every bit equal"
    assert len(recording.params) == 3
    assert set(np.unique(recording.ticks["command"]["mode"])) == {0, 1, 3}, "the run was eventful"


def test_a_real_time_run_replays_to_the_last_bit_too(tmp_path, controller, robot):
    """Periods vary, nothing else does."""
    with Recorder(tmp_path / "run.mcap", model="ur5e") as recorder:
        run(controller, robot, RealTimeClock(500.0), duration=0.5, telemetry=recorder)
    assert replay(read_log(tmp_path / "run.mcap")).exact


def test_after_a_gap_the_replay_restarts_from_a_recorded_state(recording):
    keep = np.ones(len(recording.ticks), dtype=bool)
    keep[620:640] = False
    index = np.cumsum(keep) - 1
    gappy = dataclasses.replace(
        recording,
        ticks=recording.ticks[keep],
        states={int(index[i]): state for i, state in recording.states.items()},
        params={int(index[i]): params for i, params in recording.params.items()},
    )
    assert gappy.lost == 20
    result = replay(gappy)
    assert result.exact
    assert not result.recomputed[620:980].any(), "unknown state between the gap and the next keyframe"
    assert result.recomputed[981:].all()


def test_a_changed_measurement_is_noticed(recording):
    ticks = recording.ticks.copy()
    ticks["sample"]["wrench"][250, 0] += 1e-9
    result = replay(dataclasses.replace(recording, ticks=ticks))
    assert not result.exact
    assert 0.0 < result.differences["qd"] < 1e-9
    assert "different:" in str(result)


def test_a_changed_field_of_a_record_inside_the_state_is_named(recording):
    states = {i: state.copy() for i, state in recording.states.items()}
    last = max(states)
    states[last]["contact"]["stiffness"][2] += 1e-9
    result = replay(dataclasses.replace(recording, states=states))
    different = {name for name, value in result.state_differences.items() if value}
    assert different == {"contact.stiffness"}
    assert str(result).endswith(", state.contact.stiffness 1e-09")


def test_a_number_that_became_nan_is_a_difference(recording):
    ticks = recording.ticks.copy()
    ticks["command"]["qd"][300, 2] = np.nan
    assert replay(dataclasses.replace(recording, ticks=ticks)).differences["qd"] == np.inf


def test_with_twice_the_damping_the_same_push_gives_a_slower_command(recording):
    """Before the paths part far. The new damping comes in by its ramp of 1 s, as any live change does."""
    result = what_if(recording, {"admittance.damping_ratio": [1.6] * 6})
    assert result.what_if
    assert "the arm does not react" in str(result)
    speed = np.linalg.norm(recording.ticks["command"]["twist"][50:200, :3], axis=1)
    other = np.linalg.norm(result.commands["twist"][50:200, :3], axis=1)
    assert np.all(other < speed)
    assert other[-1] < 0.9 * speed[-1]


def test_what_if_with_the_same_parameters_changes_nothing_before_the_first_change(recording):
    result = what_if(recording, {})
    ours, recorded = result.commands["qd"][1:300], recording.ticks["command"]["qd"][1:300]
    assert np.abs(ours - recorded).max() < 1e-6, "but for the ramp that a new revision starts"


def test_impossible_parameters_are_refused(recording):
    with pytest.raises(ParameterError) as refused:
        what_if(recording, {"admittance.mass": [-1.0] * 6})
    assert refused.value.name == "admittance.mass[0]"
    with pytest.raises(LogError, match="does not say which robot and parameters"):
        what_if(dataclasses.replace(recording, about={}), {})


def test_a_recording_of_another_version_is_refused_for_replay(recording):
    other = dataclasses.replace(recording, dtypes={**recording.dtypes, "state": np.dtype([("mode", "<i8")])})
    with pytest.raises(LogError, match="another version"):
        replay(other)


def test_why_tells_the_faults_in_order_with_cause_and_remedy(recording):
    story = why(recording)
    lines = story.splitlines()
    assert "1 deadlines" not in story
    first = next(i for i, line in enumerate(lines) if "protective stop" in line)
    second = next(i for i, line in enumerate(lines) if "150.1 N is above safety.max_force 100.0 N" in line)
    assert first < second
    assert "ms later" in story
    assert "Free the tool" in story
    assert lines[-1] == "The recording ends with the arm at rest."


def test_why_tells_how_long_the_loop_paused(tmp_path, controller, robot):
    read = robot.read
    robot.read = lambda sample: (time.sleep(0.15 if sample["stamp_ns"] == 50 * 2_000_000 else 0.0), read(sample))[1]
    with Recorder(tmp_path / "run.mcap", model="ur5e") as recorder:
        run(controller, robot, RealTimeClock(500.0), duration=0.5, telemetry=recorder)
    story = why(read_log(tmp_path / "run.mcap"))
    assert "the control loop was late" in story
    told = re.search(r"the longest pause between two cycles was (\d+) ms", story)
    assert told is not None
    assert int(told[1]) >= 150  # a busy computer may add to it


def test_why_tells_when_the_arm_moves_although_nobody_pushes_it(recording):
    assert "without a push" not in why(recording)
    active = np.flatnonzero(recording.ticks["command"]["mode"] == Mode.ACTIVE)
    pressing = recording.params[min(recording.params)].copy()
    pressing["desired_wrench"][2] = 10.0
    ticks = recording.ticks.copy()
    ticks["loop"]["leader"][active[-50] :] = Leader.TWIST
    story = why(dataclasses.replace(recording, ticks=ticks, params={**recording.params, int(active[9]): pressing}))
    assert f"{recording.seconds[active[9]]:9.3f} s  without a push the tool moves along -z" in story
    assert "led by velocities from outside" in story


def test_why_names_what_slowed_the_arm_down(recording):
    ticks = recording.ticks.copy()
    assert "slowed down" not in why(recording)
    ticks["command"]["limits"][100:150] |= int(Limit.COLLISION)
    ticks["command"]["near"][100:150] = (4, 13)
    ticks["command"]["near_distance"][100:150] = np.linspace(0.03, 0.0121, 50)
    story = why(dataclasses.replace(recording, ticks=ticks))
    assert "0.200 s  slowed down: forearm near table, 12 mm at the nearest, in 50 cycles" in story


def test_why_of_a_cut_off_or_empty_recording_says_so(recording):
    assert "cut off" in why(dataclasses.replace(recording, complete=False)).splitlines()[-1]
    empty = dataclasses.replace(recording, ticks=recording.ticks[:0])
    assert "contains no cycles" in why(empty)


def test_the_figure_is_drawn_in_every_format(recording, tmp_path):
    for suffix in ("png", "svg", "pdf"):
        path = plot(recording, tmp_path / f"run.{suffix}")
        assert path.stat().st_size > 20_000
    with pytest.raises(LogError, match="cannot be written"):
        plot(recording, tmp_path / "run.xyz")
    with pytest.raises(LogError, match="no cycles to plot"):
        plot(dataclasses.replace(recording, ticks=recording.ticks[:0]), tmp_path / "x.png")
