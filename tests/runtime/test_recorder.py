"""Recordings survive what happens to processes and disks."""

import json
import resource
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from ur_admittance.core.records import STATE, Status
from ur_admittance.errors import LogError
from ur_admittance.model import JOINT_NAMES
from ur_admittance.recording import messages
from ur_admittance.recording.log import read_log
from ur_admittance.recording.log_writer import CHUNK_S, KINDS, TICK, LogWriter
from ur_admittance.recording.messages import quaternion
from ur_admittance.recording.recorder import Recorder, RecorderProcess
from ur_admittance.runtime.clock import LockstepClock
from ur_admittance.runtime.loop import run

WRENCHES = {
    "/netft/raw_sensor": ("sample", "wrench", "ft_frame"),
    "/netft/proc_sensor": ("command", "wrench_sensor", "ft_frame"),
    "/netft/proc_probe": ("command", "wrench_tcp", "base_link"),
}
TWISTS = {"/admittance_cartesian_velocity": "twist", "/admittance_pose_error": "pose_error"}
POSES = {"/tcp_pose": "tcp", "/reference_pose": "ref"}


@pytest.fixture
def recording(tmp_path, controller, robot):
    """Two seconds of a pushed arm in lock-step."""
    path = tmp_path / "run.mcap"
    with Recorder(path, model="ur5e", rate=500.0) as recorder:
        run(controller, robot, LockstepClock(500.0), duration=2.0, telemetry=recorder)
    assert recorder.problem == ""
    return path


def decoded(path):
    with path.open("rb") as file:
        for _, channel, message, content in make_reader(
            file, decoder_factories=[DecoderFactory()]
        ).iter_decoded_messages():
            yield channel.topic, message, content


def test_every_cycle_is_recorded_bit_for_bit(tmp_path, controller, robot, same_bits):
    seen = []
    path = tmp_path / "run.mcap"
    with Recorder(path, model="ur5e", rate=500.0) as recorder:
        keep = lambda c: seen.append((c.sample.copy(), c.command.copy())) and None  # noqa: E731
        run(controller, robot, LockstepClock(500.0), duration=0.4, telemetry=recorder, on_tick=keep)
    log = read_log(path)
    assert log.complete
    assert log.lost == 0
    assert len(log.ticks) == len(seen)
    for tick, (sample, command) in zip(log.ticks, seen, strict=True):
        assert same_bits(tick["sample"], sample)
        assert same_bits(tick["command"], command)
    assert same_bits(log.params[0], controller.params)
    assert log.about["model"] == "ur5e"
    assert log.about["parameters"]["admittance"]["mass"][0] == 8.0


def test_the_same_run_gives_the_same_file_but_for_the_timing_of_the_machine(tmp_path):
    """Stamps are simulated time in lock-step."""
    from ur_admittance.control import AdmittanceController
    from ur_admittance.model import robot_model
    from ur_admittance_lab.null_robot import NullRobot

    logs = []
    for name in ("a", "b"):
        controller, robot = AdmittanceController(robot_model("ur5e")), NullRobot()
        controller.configure()
        controller.activate()
        robot.wrench[1] = 12.0
        with Recorder(tmp_path / name, model="ur5e") as recorder:
            run(controller, robot, LockstepClock(500.0), duration=0.5, telemetry=recorder)
        logs.append(read_log(tmp_path / name))
    assert logs[0].ticks["sample"].tobytes() == logs[1].ticks["sample"].tobytes()
    assert logs[0].ticks["command"].tobytes() == logs[1].ticks["command"].tobytes()
    assert np.array_equal(logs[0].ticks["loop"]["time_ns"], logs[1].ticks["loop"]["time_ns"])


def six(message, first, second):
    return [getattr(getattr(message, part), axis) for part in (first, second) for axis in "xyz"]


def test_the_ros_messages_decoded_by_another_library_say_the_same_bits_as_the_exact_records(recording):
    log = read_log(recording)
    times = {int(time_ns): i for i, time_ns in enumerate(log.ticks["loop"]["time_ns"])}
    topics = {}
    for topic, message, content in decoded(recording):
        topics.setdefault(topic, []).append(message.log_time)
        tick = log.ticks[times[message.log_time]]
        sample, command = tick["sample"], tick["command"]
        assert message.publish_time == message.log_time
        if hasattr(content, "header"):
            stamp = content.header.stamp
            assert stamp.sec * 10**9 + stamp.nanosec == message.log_time
        if topic in WRENCHES:
            record, field, frame = WRENCHES[topic]
            assert six(content.wrench, "force", "torque") == tick[record][field].tolist()
            assert content.header.frame_id == frame
        elif topic in TWISTS:
            assert six(content.twist, "linear", "angular") == command[TWISTS[topic]].tolist()
        elif topic in POSES:
            place, turn = content.pose.position, content.pose.orientation
            assert [place.x, place.y, place.z] == command[f"p_{POSES[topic]}"].tolist()
            assert (turn.x, turn.y, turn.z, turn.w) == quaternion(command[f"R_{POSES[topic]}"])
        elif topic == "/joint_states":
            assert list(content.position) == sample["q"].tolist()
            assert list(content.velocity) == sample["qd"].tolist()
            assert list(content.name) == list(JOINT_NAMES)
        elif topic == "/scaled_joint_trajectory_controller/joint_trajectory":
            assert list(content.points[0].positions) == command["q"].tolist()
            assert list(content.points[0].velocities) == command["qd"].tolist()
            assert list(content.joint_names) == list(JOINT_NAMES)
            assert content.points[0].time_from_start.nanosec == 2_000_000
        elif topic == "/diagnostics":
            assert content.status[0].hardware_id == "ur5e"
            assert content.status[0].message
        elif topic == "/parameter_events":
            values = {p.name: p.value for p in content.new_parameters}
            assert list(values["admittance.mass"].double_array_value) == [8.0, 8.0, 8.0, 0.8, 0.8, 0.8]
            assert values["control_frame"].string_value == "base"
        elif topic == "/exact/tick":
            assert bytes(content.data) == tick.tobytes()
            assert message.sequence == tick["loop"]["sequence"]
        else:
            assert topic in ("/exact/state", "/exact/params")
    assert set(topics) == set(KINDS)
    assert topics["/exact/tick"] == log.ticks["loop"]["time_ns"].tolist()
    for topic in messages.TOPICS:
        assert topics[topic] == log.ticks["loop"]["time_ns"][::5].tolist()
    assert len(topics["/parameter_events"]) == 1


def test_quaternions_agree_with_scipy_also_near_half_turns():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    angles = [0.0, 1e-9, 1e-4, 1.0, np.pi - 1e-7, np.pi, *rng.uniform(0, np.pi, 50)]
    for angle in angles:
        axis = rng.normal(size=3)
        expected = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        ours = np.array(quaternion(expected.as_matrix()))
        assert abs(abs(ours @ expected.as_quat()) - 1.0) < 1e-12


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.77, 0.99, 0.9999])
def test_a_cut_off_recording_is_read_up_to_its_last_complete_chunk(recording, tmp_path, share):
    whole = read_log(recording)
    data = recording.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: int(share * len(data))])
    log = read_log(cut)
    assert not log.complete
    count = len(log.ticks)
    assert count < len(whole.ticks) or share > 0.9
    assert log.ticks.tobytes() == whole.ticks[:count].tobytes()
    if share >= 0.5:
        assert count > 0.3 * len(whole.ticks)


def test_chunks_are_shorter_than_half_a_second(recording):
    with recording.open("rb") as file:
        chunks = make_reader(file).get_summary().chunk_indexes
    lengths = [(chunk.message_end_time - chunk.message_start_time) * 1e-9 for chunk in chunks]
    assert 0.5 * CHUNK_S < max(lengths) <= 0.5


def test_files_that_are_no_recordings_are_refused_with_a_sentence(tmp_path):
    contents = (b"", b"hello", bytes(1000), b"\x89MCAP0\r\n")
    files = [tmp_path / f"{i}" for i in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    for use, file, sentence in (
        (read_log, tmp_path / "nothing.mcap", "there is no such file"),
        *((read_log, file, "not a recording of this program") for file in files),
        (read_log, tmp_path, "cannot be read"),
        (Recorder, tmp_path / "no" / "run.mcap", "the folder .* does not exist"),
    ):
        with pytest.raises(LogError, match=sentence):
            use(file)


@pytest.mark.parametrize("record", [Recorder, lambda path: RecorderProcess("nobody-there", path)])
def test_no_recorder_writes_over_an_existing_file(tmp_path, record):
    (tmp_path / "run.mcap").write_text("an older run")
    with pytest.raises(LogError, match="exists already"):
        record(tmp_path / "run.mcap")
    assert (tmp_path / "run.mcap").read_text() == "an older run"


def test_a_full_disk_ends_the_recording_with_a_sentence_and_the_loop_goes_on(controller, robot):
    recorder = Recorder("/dev/full", model="ur5e")
    report = run(controller, robot, LockstepClock(500.0), duration=1.0, telemetry=recorder)
    recorder.close()
    assert recorder.problem == "recording to /dev/full ended after 0 cycles: No space left on device"
    assert report.ticks >= 500
    assert report.status == Status.OK


def test_a_disk_that_fills_up_leaves_a_readable_file(tmp_path, controller, robot):
    """The limit on the size of files stands in for the disk; the write that crosses it is cut in the middle."""
    path = tmp_path / "run.mcap"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder = Recorder(path, model="ur5e", rate=500.0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        report = run(controller, robot, LockstepClock(500.0), duration=3.0, telemetry=recorder)
        recorder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert recorder.problem.startswith(f"recording to {path} ended after ")
    assert recorder.problem.endswith("File too large")
    assert report.ticks >= 1500
    log = read_log(path)
    assert not log.complete
    assert 0 < len(log.ticks) < 1500


def test_closing_after_a_failure_does_not_hide_its_cause(tmp_path):
    writer, tick, state = LogWriter(tmp_path / "run.mcap", {}), bytes(TICK.itemsize), memoryview(bytes(STATE.itemsize))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, hard))
    try:
        writer.add(memoryview(tick), state)
        for _ in range(2):
            with pytest.raises(LogError, match="ended after 0 cycles: File too large"):
                writer.add(memoryview(tick), state)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.close()


def test_a_recording_that_cannot_begin_keeps_no_file_open():
    open_files = lambda: len(list(Path("/proc/self/fd").iterdir()))  # noqa: E731
    before = open_files()
    for _ in range(3):
        with pytest.raises(LogError, match="No space left on device"):
            LogWriter("/dev/full", {})
    assert open_files() == before


def test_the_description_of_the_records_is_in_the_file(recording):
    """Another program reads the exact records with nothing but NumPy and the metadata."""
    with recording.open("rb") as file:
        metadata = next(m for m in make_reader(file).iter_metadata() if m.name == "ur_admittance").metadata
    fields = [entry[0] for entry in json.loads(metadata["tick"])]
    assert fields == ["loop", "sample", "command"]
    assert metadata["format"] == "1"
