"""A loop of one's own, recorded by ua.Recorder: the same file as that of ua.run, and never a wait."""

import os
import resource
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.params.record import fill
from ur_admittance.recording.replay import replay, what_if
from ur_admittance.runtime.clock import LockstepClock
from ur_admittance.runtime.loop import run

SLOWEST_ADD_S = 0.001  # half a cycle


def cycles(controller, robot, count):
    """Each cycle of a loop of one's own: read, tick, write."""
    for _ in range(count):
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)
        yield


def test_an_own_loop_is_recorded_bit_for_bit_with_its_changes_of_parameters(controller, robot, tmp_path, same_bits):
    path, seen = tmp_path / "mine.mcap", []
    with ua.Recorder(path, model="ur5e", rate=500) as recorder:
        for _ in cycles(controller, robot, 700):
            recorder.add(controller)
            seen.append((controller.sample.copy(), controller.command.copy()))
            if len(seen) == 300:
                controller.set_parameters({"admittance.mass": [4.0] * 3 + [0.4] * 3})
    log = ua.read_log(path)
    assert log.complete
    assert not log.missing
    assert np.allclose(log.seconds, 0.002 * np.arange(700))
    for row, (sample, command) in zip(log.ticks, seen, strict=True):
        assert same_bits(row["sample"], sample)
        assert same_bits(row["command"], command)
    assert sorted(log.params) == [0, 300]
    assert replay(log).exact
    assert what_if(log, {"admittance.mass": [6.0] * 3 + [0.6] * 3}).recomputed.sum() == 699


def test_four_records_and_the_tick_alone_are_enough(tmp_path):
    mine = SimpleNamespace(params=new(PARAMS), state=new(STATE), sample=new(SAMPLE), command=new(COMMAND))
    model = ua.robot_model("ur10e")
    fill(mine.params[0], ua.Parameters(), model)
    mine.sample["dt"], mine.sample["q"], mine.sample["request"] = 0.002, model.home, Request.ACTIVATE
    start_ns = time.time_ns()
    with ua.Recorder(tmp_path / "mine.mcap") as recorder:
        for i in range(300):
            tick(mine.params, mine.state, mine.sample, mine.command)
            recorder.add(mine, time_ns=start_ns + 2_000_000 * i)
            mine.sample["q"], mine.sample["request"] = mine.command["q"], Request.NONE
            mine.sample["dt"] = np.nan if i == 200 else 0.002
    log = ua.read_log(tmp_path / "mine.mcap")
    assert int(log.ticks["loop"]["time_ns"][0]) == start_ns
    assert len(log.ticks) == 300
    assert replay(log).exact


@pytest.mark.realtime
def test_a_real_time_loop_does_not_wait_for_its_recording(controller, robot, tmp_path):
    """The process that writes the file stands still all the while."""
    path, took = tmp_path / "mine.mcap", []
    with ua.Recorder(path, model="ur5e", rate=500, realtime=True) as recorder:
        os.kill(recorder._process.pid, signal.SIGSTOP)
        try:
            for _ in cycles(controller, robot, 1000):
                begin = time.perf_counter()
                recorder.add(controller)
                took.append(time.perf_counter() - begin)
                time.sleep(0.001)
        finally:
            os.kill(recorder._process.pid, signal.SIGCONT)
    log = ua.read_log(path)
    assert len(log.ticks) == 1000
    assert replay(log).exact
    assert np.quantile(took[1:], 0.9) < SLOWEST_ADD_S, "the rest is for other programs on a busy machine"


@pytest.mark.parametrize("realtime", [False, True])
def test_a_full_disk_is_told_when_the_block_ends_and_the_loop_runs_to_its_end(controller, robot, tmp_path, realtime):
    done = []
    old = resource.getrlimit(resource.RLIMIT_FSIZE)

    def session():
        with ua.Recorder(tmp_path / "mine.mcap", rate=500, realtime=realtime) as recorder:
            pid = recorder._process.pid if realtime else os.getpid()
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (60_000, old[1]))
            for _ in cycles(controller, robot, 1500):
                recorder.add(controller)
                done.append(recorder.problem)
                time.sleep(0.001 if realtime else 0.0)

    try:
        with pytest.raises(ua.errors.LogError, match=r"ended after .* cycles: File too large"):
            session()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert len(done) == 1500
    assert done[-1], "it is known while the loop runs"


@pytest.mark.parametrize("realtime", [False, True])
def test_a_finished_recording_takes_nothing_more_and_stays_as_it_is(controller, robot, tmp_path, realtime):
    path = tmp_path / "mine.mcap"
    with ua.Recorder(path, realtime=realtime) as recorder:
        for _ in cycles(controller, robot, 5):
            recorder.add(controller)
    before = path.read_bytes()
    with pytest.raises(ua.errors.LogError, match=r"the recording .*mine.mcap is closed"):
        recorder.add(controller)
    recorder.close()
    assert path.read_bytes() == before


def test_of_two_recorders_with_one_path_the_second_leaves_the_file_to_the_first(controller, robot, tmp_path):
    first, second = ua.Recorder(tmp_path / "mine.mcap"), ua.Recorder(tmp_path / "mine.mcap")
    for _ in cycles(controller, robot, 5):
        first.add(controller)
        second.add(controller)
    first.close()
    second.close()
    assert len(ua.read_log(tmp_path / "mine.mcap").ticks) == 5
    assert second.problem.endswith("ended after 0 cycles: File exists")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        *(({"rate": rate}, "rate = .*: must be .*> 0 and finite") for rate in (np.nan, np.inf, "500", 0, -5)),
        ({"path": None}, "path = None: must be the path of a file"),
        ({"model": 5}, "model = 5: must be a name"),
    ],
)
def test_what_a_recorder_cannot_use_is_refused_before_the_loop(tmp_path, given, sentence):
    with pytest.raises(ua.errors.LogError, match=sentence):
        ua.Recorder(**{"path": tmp_path / "mine.mcap"} | given)


@pytest.mark.parametrize("realtime", [False, True])
@pytest.mark.parametrize(
    ("spoil", "time_ns", "cause"),
    [
        (lambda mine: None, -1, "time_ns = -1 ns: must be >= 0"),
        (lambda mine: None, 2**31 * 10**9, "time_ns = 2147483648000000000 ns: must be"),
        (lambda mine: setattr(mine, "parameters", {"a": object()}), 0, "TypeError: .*not JSON serializable"),
        (lambda mine: mine.command["mode"].fill(99), 0, "99 is not a valid Mode"),
        (lambda mine: delattr(mine, "sample"), 0, "AttributeError: .*sample"),
    ],
)
def test_what_cannot_be_recorded_ends_the_recording_with_a_sentence_and_not_the_loop(
    tmp_path, spoil, time_ns, cause, realtime
):
    mine = SimpleNamespace(params=new(PARAMS), state=new(STATE), sample=new(SAMPLE), command=new(COMMAND))
    spoil(mine)
    done = []

    def session():
        with ua.Recorder(tmp_path / "mine.mcap", realtime=realtime) as recorder:
            for _ in range(3):
                recorder.add(mine, time_ns=time_ns)
                done.append(True)

    with pytest.raises(ua.errors.LogError, match=cause):
        session()
    assert len(done) == 3


def test_leaving_the_block_tells_of_a_full_disk_whoever_runs_the_loop(controller, robot):
    def session():
        with ua.Recorder("/dev/full") as recorder:
            run(controller, robot, LockstepClock(500.0), duration=0.1, telemetry=recorder)

    with pytest.raises(ua.errors.LogError, match="No space left on device"):
        session()
