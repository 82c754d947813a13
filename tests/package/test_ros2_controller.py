"""The ros2_control plug-in, as far as it can be judged without ros2_control (the rest: its own tests, in the package):
its C++ part without ROS against Python, and its files against each other."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.core.faults import sentence
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.library import digest
from ur_admittance.params.record import fill

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, PROGRAMS = ROOT / "ros2/ur_admittance_controller", Path(__file__).parent / "programs"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2")
CYCLE = np.dtype([("sample", SAMPLE), ("command", COMMAND), ("sent", "i8")])
HOME = [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]


def parameters(**changes):
    record = new(PARAMS)
    fill(record[0], ua.Parameters().changed(changes), ua.robot_model("ur5e"))
    return record


@pytest.fixture(scope="module")
def built(tmp_path_factory, missing):
    """built(source): the program."""

    def compiled(name):
        compiler = "g++" if name.endswith(".cpp") else "gcc"
        if shutil.which(compiler) is None:
            missing(f"{compiler} is not installed")
        words = [sys.executable, "-m", "ur_admittance", "library", "--cflags", "--libs"]
        flags = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        program = tmp_path_factory.mktemp("programs") / Path(name).stem
        command = [compiler, *STRICT, f"-I{PACKAGE / 'include'}", PROGRAMS / name, "-o", program, *flags, "-lm"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return program

    return compiled


@pytest.fixture(scope="module")
def arm(built, tmp_path_factory):
    """arm(words): CYCLE of each cycle; Python has computed the same commands from the same samples."""
    program, file = built("compliant_arm.cpp"), tmp_path_factory.mktemp("params") / "defaults.bin"
    record = parameters()
    file.write_bytes(record.tobytes() + digest().encode())
    record["revision"] = record["second"]["revision"] = 1

    def played(words, interface="position", restarts=()):
        done = subprocess.run([program, file, interface], input=words.encode(), capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        cycles = np.frombuffer(done.stdout, CYCLE)
        s, u, c = new(STATE), new(SAMPLE), new(COMMAND)
        for i, cycle in enumerate(cycles):
            if i in restarts:
                fault = s[["mode", "status", "evidence"]].copy()
                s[:], c[:] = np.zeros(1, STATE), np.zeros(1, COMMAND)
                if fault["mode"] == Mode.FAULT:
                    for name in fault.dtype.names:
                        s[name] = fault[name]
            u[0] = cycle["sample"]
            tick(record, s, u, c)
            assert c.tobytes() == cycle["command"].tobytes(), f"cycle {i}"
        return cycles

    return played


def speeds(cycles, axes=slice(0, 3)):
    return np.linalg.norm(cycles["command"]["twist"][:, axes], axis=1)


@pytest.mark.parametrize("interface", ["position", "velocity"])
def test_a_push_in_cpp_moves_the_arm_as_in_python_to_the_last_bit(arm, interface):
    cycles = arm("comply run 300 force 10 run 500 force 0 run 500", interface)
    assert (cycles["command"]["mode"][:249] == Mode.INACTIVE).all()  # seen at rest for half a second first
    assert cycles["command"]["mode"][-1] == Mode.ACTIVE
    assert speeds(cycles).max() == pytest.approx((10.0 - 1.5) / 64.0, rel=0.01)
    assert (cycles["sample"]["speed_driven"] == (interface == "velocity")).all()
    asked = cycles["sample"]["request"][cycles["sample"]["request"] != 0]
    assert asked.tolist() == [Request.ACTIVATE | Request.RAMP_LOAD]


def test_an_arm_under_an_unexplained_load_stays_where_it_is(arm):
    cycles = arm("force 10 comply run 1000")
    assert cycles["command"]["status"][-1] == Status.UNEXPLAINED_FORCE
    assert np.ptp(cycles["command"]["q"], axis=0).max() == 0.0
    assert not cycles["sample"]["request"][510:].any()  # asked for a second, not for ever


def test_parameters_that_need_an_enabling_signal_are_refused(built, tmp_path):
    file = tmp_path / "held.bin"
    file.write_bytes(parameters(**{"guiding.enable": "real_arms"}).tobytes() + digest().encode())
    done = subprocess.run([built("compliant_arm.cpp"), file, "position"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "guiding.enable needs an enabling signal, which this controller does not read" in done.stderr


def test_a_leader_that_falls_silent_has_let_go_after_a_tenth_of_a_second(arm):
    led = "comply run 300 " + "twist 0.05 run 1 " * 300
    silent, gone = (arm(f"{led}{word} run 300")["command"]["twist"][600:, 1] for word in ("", "let_go"))
    assert silent[40] == pytest.approx(0.05, rel=1e-3)
    assert np.abs(silent[70:]).max() < 1e-3
    assert np.abs(silent[-10:]).max() < 1e-9
    assert np.abs(gone[20:]).max() < 1e-3
    assert np.abs(gone[-10:]).max() < 1e-9
    every_tenth = arm("comply run 300 " + "twist 0.05 run 10 " * 30)  # a slower controller leads as well
    assert every_tenth["command"]["twist"][400:, 1] == pytest.approx(0.05, rel=1e-3)


def test_a_wanted_wrench_is_led_as_well(arm):
    cycles = arm("comply run 300 " + "press 5 run 1 " * 50)
    assert cycles["sample"]["reference_wrench"][-1].tolist() == [0.0, 0.0, 5.0, 0.0, 0.0, 0.0]
    assert cycles["sample"]["twist_id"][-1] == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("force nan", Status.NOT_FINITE),
        ("twist inf", Status.NOT_FINITE),
        ("period 0.3", Status.LOOP_OVERRUN),
        ("period 0", Status.BAD_PERIOD),
        ("period -0.5", Status.BAD_PERIOD),  # time has jumped back
        ("scaling 0", Status.COMMAND_REJECTED),  # the program on the robot is paused
        ("scaling nan", Status.COMMAND_REJECTED),
    ],
)
def test_what_cannot_be_trusted_brakes_the_arm_and_holds_it_until_the_reset(arm, words, status):
    cycles = arm(
        f"comply run 300 force 10 run 300 {words} run 1 force 0 let_go period 0.002 scaling 1 run 200 comply run 300 "
        "reset run 300 comply run 300"
    )
    command = cycles["command"]
    assert (command["mode"][600], command["status"][600]) == (Mode.FAULT, status)
    assert speeds(cycles)[599] > 0.12
    assert np.abs(np.diff(command["q"], axis=0)).max() < 2e-3
    assert (command["mode"][600:1101] == Mode.FAULT).all()
    assert not speeds(cycles)[700:1101].any()
    assert (command["mode"][1101:1400] == Mode.INACTIVE).all()
    assert command["mode"][-1] == Mode.ACTIVE


def test_a_speed_slider_stretches_time(arm):
    cycles = arm("scaling 0.5 comply run 600 force 10 run 500")
    assert cycles["sample"]["dt"] == pytest.approx(0.001)
    assert 0.1 < speeds(cycles).max() < (10.0 - 1.5) / 64.0


def test_a_short_pause_does_not_make_the_command_jump(arm):
    cycles = arm("comply run 300 force 10 run 400 period 0.05 run 1 period 0.002 run 300")
    steps = np.abs(np.diff(cycles["command"]["q"], axis=0)).max(axis=1)
    usual = steps[690]
    assert 5e-4 < usual < 7e-4
    assert steps.max() < 1.5 * usual  # the law has gone on by 25 times as much
    assert steps[-1] == pytest.approx(usual, rel=0.2)


def test_an_arm_that_is_taken_over_again_stays_where_it_is_and_a_fault_stays(arm):
    cycles = arm("comply run 300 force 10 run 300 begin force 0 run 100 comply run 400", restarts=[600])
    command = cycles["command"]
    assert np.ptp(command["q"][600:], axis=0).max() < 1e-12
    assert (command["mode"][600], command["mode"][-1]) == (Mode.INACTIVE, Mode.ACTIVE)
    cycles = arm("comply run 300 force nan run 1 begin force 0 comply run 600", restarts=[301])
    assert (cycles["command"]["mode"][301:] == Mode.FAULT).all()
    assert cycles["command"]["q"][-1] == pytest.approx(HOME, abs=1e-12)


def test_nothing_is_to_be_sent_before_everything_was_measured(arm):
    cycles = arm("force nan run 3 force 0 run 3")
    assert cycles["sent"].tolist() == [0, 0, 0, 1, 1, 1]


def test_every_sentence_in_c_is_that_of_python(built):
    said = subprocess.run([built("sentences.c")], capture_output=True, text=True, check=True).stdout.splitlines()
    evidence = [1.25, 0.5, 0.0, 0.0, 0.0]
    for status in Status:
        if status != Status.RETREAT_CLOSED:  # which part closes the way is left out
            assert said[status] == sentence(status, evidence)
    assert said[len(Status)] == f"unknown status {len(Status)}"


# -- files ----------------------------------------------------------------------------------------------------------


def test_the_plugin_is_called_the_same_in_all_files():
    plugin = ET.parse(PACKAGE / "ur_admittance_controller.xml").getroot()
    kind = plugin.find("class").attrib
    source = (PACKAGE / "src/admittance_controller.cpp").read_text()
    name = ET.parse(PACKAGE / "package.xml").findtext("name")
    cmake = (PACKAGE / "CMakeLists.txt").read_text()
    assert plugin.attrib["path"] == name == PACKAGE.name
    assert f"project({name} " in cmake
    assert "add_library(${PROJECT_NAME} SHARED" in cmake
    assert kind["name"] == kind["type"].replace("::", "/")
    assert re.search(rf"PLUGINLIB_EXPORT_CLASS\(\s*{kind['type']}, {kind['base_class_type']}\)", source)
    for file in (*PACKAGE.glob("config/*.yaml"), ROOT / "docs/how-to/ros2_control.md"):
        assert kind["name"] in file.read_text(), file


def test_the_package_depends_on_what_it_uses():
    package = ET.parse(PACKAGE / "package.xml").getroot()
    named = {
        one.text for kind in ("buildtool_depend", "build_depend", "depend", "test_depend") for one in package.iter(kind)
    }
    cmake = (PACKAGE / "CMakeLists.txt").read_text()
    found = set(re.findall(r"find_package\((\w+)", cmake)) - {"ur_admittance"}
    assert found <= named
    tests = "".join(file.read_text() for file in (PACKAGE / "test").glob("*.py"))
    assert {
        "controller_manager",
        "controller_manager_msgs",
        "forward_command_controller",
        "joint_state_broadcaster",
    } <= named
    assert all(name in tests for name in ("forward_command_controller/", "joint_state_broadcaster/"))
    assert package.findtext("version") == ET.parse(ROOT / "ros2/ur_admittance_ros/package.xml").findtext("version")


def test_numbers_that_stand_in_both_languages_are_equal():
    from ur_admittance.control.controller import ACTIVATION_TIME
    from ur_admittance.control.references import REFERENCE_TIMEOUT
    from ur_admittance.core.wrench.rest import SEEN
    from ur_admittance.runtime.interfaces import MAX_PERIOD_S
    from ur_admittance.runtime.loop import STOP_TIME_S

    text = "".join(file.read_text() for file in PACKAGE.glob("*/**/*.[ch]pp"))
    inside = {name: float(value) for name, value in re.findall(r"constexpr double (k\w+) = ([\d.]+);", text)}
    assert inside["kLongestPeriod"] == MAX_PERIOD_S
    assert inside["kReferenceTimeout"] == REFERENCE_TIMEOUT
    assert inside["kSeen"] == SEEN
    assert inside["kActivationTime"] == SEEN + ACTIVATION_TIME
    assert inside["kStopTime"] == STOP_TIME_S
    elsewhere = (
        ("SMALLEST_SCALING", "rtde/rtde_robot.py"),
        ("SILENCE_S", "ros/guard.py"),
        ("PAUSE", "ros/command_path.py"),
    )
    named = {"SMALLEST_SCALING": "kSmallestScaling", "SILENCE_S": "kSilence", "PAUSE": "kPause"}
    for name, file in elsewhere:
        line = re.search(rf"^{name} = ([\d.]+)", (ROOT / "src/ur_admittance/robots" / file).read_text(), re.M)
        assert inside[named[name]] == float(line[1])
