"""Of a damaged recording everything is read that is as it was written, and what is missing is told exactly."""

import os
import re

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import STATE
from ur_admittance.errors import LogError
from ur_admittance.model import robot_model
from ur_admittance.recording.log import read_log
from ur_admittance.recording.log_writer import TICK
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay, what_if
from ur_admittance.recording.why import why
from ur_admittance.runtime.clock import LockstepClock
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot

CASES = int(os.environ.get("SWEEP", "60"))
KINDS = ("flipped", "zeroed", "removed", "cut off", "two places", "head", "end")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three seconds with a change of parameters in the middle."""
    path = tmp_path_factory.mktemp("whole") / "run.mcap"
    controller, robot = AdmittanceController(robot_model("ur5e")), NullRobot()
    controller.configure()
    controller.activate()

    def push(controller):
        push.count += 1
        robot.wrench[1] = 12.0 * np.sin(0.01 * push.count)
        if push.count == 700:
            controller.set_parameters({"admittance.mass": [4.0] * 3 + [0.4] * 3})

    push.count = 0
    with Recorder(path, model="ur5e") as recorder:
        run(controller, robot, LockstepClock(500.0), duration=3.0, telemetry=recorder, on_tick=push)
    return read_log(path)


def damaged(data, kind, rng):
    bad, size = bytearray(data), int(rng.choice([1, 200, 5000]))
    places = rng.integers(0, len(data) - size, 2 if kind == "two places" else 1).tolist()
    if kind == "cut off":
        return data[: places[0]]
    if kind in ("head", "end"):
        places = [int(rng.integers(0, 12_000)) if kind == "head" else len(data) - int(rng.integers(size, 9_000 + size))]
    for place in places:
        part = slice(place, place + size)
        if kind == "removed":
            del bad[part]
        else:
            bad[part] = bytes(size) if kind == "zeroed" else bytes(b ^ int(rng.integers(1, 256)) for b in bad[part])
    return bytes(bad)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_as_written_and_what_is_missing_is_told(whole, tmp_path, kind):
    data, path = whole.path.read_bytes(), tmp_path / "bad.mcap"
    rng = np.random.default_rng(KINDS.index(kind))
    of_sequence = {int(s): i for i, s in enumerate(whole.ticks["loop"]["sequence"])}
    for _ in range(max(1, CASES // len(KINDS))):
        path.write_bytes(damaged(data, kind, rng))
        try:
            log = read_log(path)
        except LogError:
            assert kind in ("cut off", "two places", "head", "end"), "a description of the records is left"
            continue
        rows = [of_sequence[int(s)] for s in log.ticks["loop"]["sequence"]]
        assert log.ticks.tobytes() == whole.ticks[rows].tobytes()
        for i, state in log.states.items():
            assert state.tobytes() == whole.states[rows[i]].tobytes()
        lost = sorted(set(range(len(whole.ticks))) - set(rows))
        if log.complete:
            assert log.lost == len(lost)
            told = [i for gap in log.missing for i in range(round(500 * gap.start), round(500 * gap.end) + 1)]
            assert set(lost) <= set(told)
            assert len(told) <= len(lost) + 2 * len(log.missing), "the cycles at the edges of a gap are there"
            assert (f"{len(lost)} cycles are missing" in log.lacks) == bool(lost)
            assert np.allclose(log.seconds, whole.seconds[rows])
        else:
            assert "nothing is known" in log.lacks
        assert log.lacks in why(log)
        if log.states and len(log.ticks):
            result = replay(log)
            assert result.exact
            assert ("every bit equal" in str(result)) == (not lost and log.complete)
            assert what_if(log, {"admittance.mass": [6.0] * 3 + [0.6] * 3}).recomputed.sum() >= result.recomputed.sum()


def test_two_hundred_flipped_bytes_cost_one_chunk_and_every_command_tells_it(whole, tmp_path):
    data, path = bytearray(whole.path.read_bytes()), tmp_path / "bad.mcap"
    with whole.path.open("rb") as file:
        chunks = make_reader(file).get_summary().chunk_indexes
    middle = chunks[len(chunks) // 2].chunk_start_offset + chunks[len(chunks) // 2].chunk_length // 2
    data[middle : middle + 200] = bytes(255 - byte for byte in data[middle : middle + 200])
    path.write_bytes(data)
    [gap] = read_log(path).missing
    assert 0.1 < gap.end - gap.start < 0.5  # [s]
    told = f"{gap.cycles} cycles are missing: {gap.end - gap.start:.3f} s from {gap.start:.3f} to {gap.end:.3f} s."
    figure = tmp_path / "bad.svg"
    for arguments, code in ((["why"], 0), (["replay"], 1), (["plot", "--out", str(figure)], 0)):
        done = CliRunner().invoke(app, [arguments[0], str(path), *arguments[1:]])
        assert done.exit_code == code, done.output
        assert told in done.output
        assert "every bit equal" not in done.output
        assert "half a second" not in done.output
    assert "hatched: missing" in re.sub(r"<!--|-->", "", figure.read_text())


def test_a_state_whose_cycle_is_damaged_is_not_taken_for_that_of_the_cycle_before(whole, tmp_path):
    """In the files of other writers a state may stand in another chunk than its cycle: here every message does."""
    path = tmp_path / "one_by_one.mcap"
    with whole.path.open("rb") as source, path.open("wb") as file:
        writer = Writer(file, chunk_size=1)
        writer.start("ros2")
        for record in StreamReader(source).records:
            if isinstance(record, Schema):
                writer.register_schema(record.name, record.encoding, record.data)
            elif isinstance(record, Channel):
                writer.register_channel(record.topic, record.message_encoding, record.schema_id)
            elif isinstance(record, Message):
                times = (record.log_time, record.data, record.publish_time)
                writer.add_message(record.channel_id, *times, record.sequence)
            elif isinstance(record, Metadata):
                writer.add_metadata(record.name, record.metadata)
        writer.finish()
    assert read_log(path).states.keys() == whole.states.keys()
    lost = sorted(whole.states)[1]
    time_ns = int(whole.ticks["loop"]["time_ns"][lost])
    with path.open("rb") as file:
        chunks = make_reader(file).get_summary().chunk_indexes
    [chunk] = [
        c for c in chunks if c.message_start_time == time_ns and TICK.itemsize < c.uncompressed_size < STATE.itemsize
    ]
    data = bytearray(path.read_bytes())
    data[chunk.chunk_start_offset + 60] ^= 0xFF
    path.write_bytes(data)
    log = read_log(path)
    assert log.lost == 1
    assert len(log.states) == len(whole.states) - 1
    sequence = log.ticks["loop"]["sequence"]
    for i, state in log.states.items():
        assert state.tobytes() == whole.states[int(sequence[i]) - 1].tobytes()
    assert replay(log).exact
