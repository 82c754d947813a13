"""Recordings survive what happens to processes and disks."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from ur_admittance.core.records import Status
from ur_admittance.errors import LogError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.messages import quaternion
from ur_admittance.recording.recorder import Recorder, RecorderProcess
from ur_admittance.recording.writer import CHUNK_S
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.telemetry.writer import TelemetryWriter


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
    from ur_admittance.robots.null import NullRobot

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


def test_the_ros_messages_say_the_same_as_the_exact_records(recording):
    log = read_log(recording)
    times = {int(time_ns): i for i, time_ns in enumerate(log.ticks["loop"]["time_ns"])}
    topics = {}
    for topic, message, content in decoded(recording):
        topics[topic] = topics.get(topic, 0) + 1
        tick = log.ticks[times[message.log_time]]
        if topic == "/joint_states":
            assert list(content.position) == tick["sample"]["q"].tolist()
            assert content.name[2] == "elbow_joint"
            assert content.header.stamp.sec * 10**9 + content.header.stamp.nanosec == message.log_time
        elif topic == "/netft/raw_sensor":
            assert content.wrench.force.x == tick["sample"]["wrench"][0]
        elif topic == "/netft/proc_probe":
            assert content.wrench.torque.z == tick["command"]["wrench_tcp"][5]
        elif topic == "/admittance_cartesian_velocity":
            assert content.twist.linear.y == tick["command"]["twist"][1]
        elif topic == "/scaled_joint_trajectory_controller/joint_trajectory":
            assert list(content.points[0].positions) == tick["command"]["q"].tolist()
            assert content.points[0].time_from_start.nanosec == 2_000_000
        elif topic == "/tcp_pose":
            assert content.pose.position.z == tick["command"]["p_tcp"][2]
        elif topic == "/diagnostics":
            assert content.status[0].hardware_id == "ur5e"
        elif topic == "/parameter_events":
            values = {p.name: p.value for p in content.new_parameters}
            assert list(values["admittance.mass"].double_array_value) == [8.0, 8.0, 8.0, 0.8, 0.8, 0.8]
            assert values["control_frame"].string_value == "base"
    assert topics["/exact/tick"] == len(log.ticks)
    assert topics["/joint_states"] == pytest.approx(len(log.ticks) / 5, abs=1)
    assert topics["/parameter_events"] == 1


def test_quaternions_agree_with_scipy_also_near_half_turns():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    angles = [0.0, 1e-9, 1e-4, 1.0, np.pi - 1e-7, np.pi, *rng.uniform(0, np.pi, 50)]
    for angle in angles:
        axis = rng.normal(size=3)
        expected = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        ours = np.array(quaternion(expected.as_matrix()))
        assert abs(abs(ours @ expected.as_quat()) - 1.0) < 1e-12


@pytest.mark.parametrize("share", [0.03, 0.2, 0.5, 0.77, 0.99, 0.9999])
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
    with pytest.raises(LogError, match="there is no such file"):
        read_log(tmp_path / "nothing.mcap")
    for content in (b"", b"hello", bytes(1000), b"\x89MCAP0\r\n"):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(LogError, match="not a recording of this program"):
            read_log(tmp_path / "x")
    with pytest.raises(LogError, match="cannot be read"):
        read_log(tmp_path)
    with pytest.raises(LogError, match=r"the folder .* does not exist"):
        Recorder(tmp_path / "no" / "run.mcap")


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


def test_a_recorder_process_gets_every_cycle_of_a_real_time_loop(name, tmp_path, controller, robot):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        report = run(controller, robot, RealTimeClock(500.0), duration=1.0, telemetry=telemetry)
    assert recorder.finish() == ""
    log = read_log(path)
    assert log.complete
    assert log.lost == 0
    assert len(log.ticks) == report.ticks
    assert log.ticks["loop"]["sequence"][0] == 1
    assert abs(int(log.ticks["loop"]["time_ns"][0]) - time.time_ns()) < 60e9


def test_a_killed_recorder_process_loses_less_than_a_second_and_the_loop_does_not_notice(
    name, tmp_path, controller, robot
):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        killed_at = []

        def kill_later(controller):
            kill_later.ticks += 1
            if kill_later.ticks == 900:
                os.kill(recorder.pid, signal.SIGKILL)
                killed_at.append(time.time_ns())

        kill_later.ticks = 0
        report = run(controller, robot, RealTimeClock(500.0), duration=2.2, telemetry=telemetry, on_tick=kill_later)
    assert "was killed by SIGKILL" in recorder.finish()
    assert report.status == Status.OK
    assert report.publish_problem == ""
    log = read_log(path)
    assert not log.complete
    assert len(log.ticks) > 0
    assert killed_at[0] - int(log.ticks["loop"]["time_ns"][-1]) < 1e9


def test_ctrl_c_does_not_end_the_recorder_before_the_controller(name, tmp_path, controller, robot):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        os.kill(recorder.pid, signal.SIGINT)
        report = run(controller, robot, RealTimeClock(500.0), duration=0.3, telemetry=telemetry)
    assert recorder.finish() == ""
    assert len(read_log(path).ticks) == report.ticks


LOOP = """
import sys
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.robots.null import NullRobot
from ur_admittance.recording.recorder import RecorderProcess
from ur_admittance.runtime.telemetry.writer import TelemetryWriter
controller = AdmittanceController(robot_model("ur5e"))
controller.configure()
telemetry = TelemetryWriter(sys.argv[1], model="ur5e", rate=500.0)
recorder = RecorderProcess(sys.argv[1], sys.argv[2])
seen = []
def ready(controller):
    seen.append(1)
    if len(seen) == 400:
        print("ready", flush=True)
run(controller, NullRobot(), RealTimeClock(500.0), telemetry=telemetry, on_tick=ready)
"""


def test_when_the_loop_is_killed_the_recorder_completes_the_file(name, tmp_path, child, eventually):
    path = tmp_path / "run.mcap"
    process = child(LOOP, name, path)
    process.kill()
    process.wait()
    eventually(lambda: path.exists() and read_log(path).complete)
    log = read_log(path)
    assert len(log.ticks) >= 400
    assert log.lost == 0


def test_a_recorder_without_a_controller_says_so(tmp_path):
    code = "from ur_admittance.recording.recorder import main; import sys; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "nobody-there", str(tmp_path / "x.mcap")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("no controller named 'nobody-there' is running")
    with pytest.raises(LogError, match="the recorder did not start: no controller named 'nobody-there'"):
        RecorderProcess("nobody-there", tmp_path / "x.mcap")


def test_a_full_disk_in_the_recorder_process_is_told_and_the_loop_goes_on(name, controller, robot):
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, Path("/dev/full"))
        report = run(controller, robot, RealTimeClock(500.0), duration=0.5, telemetry=telemetry)
    assert recorder.finish() == "recording to /dev/full ended after 0 cycles: No space left on device"
    assert report.status == Status.OK


def test_the_description_of_the_records_is_in_the_file(recording):
    """Another program reads the exact records with nothing but NumPy and the metadata."""
    with recording.open("rb") as file:
        metadata = next(m for m in make_reader(file).iter_metadata() if m.name == "ur_admittance").metadata
    fields = [entry[0] for entry in json.loads(metadata["tick"])]
    assert fields == ["loop", "sample", "command"]
    assert metadata["format"] == "1"
