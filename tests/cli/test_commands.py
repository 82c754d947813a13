"""The commands as a user calls them, with their exit codes; those that drive an arm in a process of their own."""

import json
import subprocess
import sys
import time

import pytest

from ur_admittance.runtime.mailbox import send
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess


@pytest.fixture
def call(called):
    def expecting(*arguments, code=0):
        done = called(*arguments)
        assert done.returncode == code, done.stderr
        return done

    return expecting


def process(*arguments, **options):
    command = [sys.executable, "-m", "ur_admittance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, **options)


def test_sim_lists_every_scenario_with_a_line(call):
    lines = call("sim", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines][:3] == ["push", "spring", "hand_guiding"]


@pytest.mark.parametrize("command", [["calibrate"], ["calibrate", "zero"], ["run"], ["stability"]])
def test_help_shows_units_and_the_shared_options(command, call):
    text = call(*command, "--help").stdout
    assert any(unit in text for unit in ("[kg]", "[s]", "[N/m]"))
    if command[0] == "calibrate":
        for option in ("--robot", "--model", "--params", "--sensor", "--seed", "--tool-mass"):
            assert option in text
    assert ("--reach" in text) == (command == ["calibrate"])


def test_a_push_is_simulated_recorded_replayed_plotted_and_explained(tmp_path, call):
    log, figure = tmp_path / "push.mcap", tmp_path / "push.png"
    done = call("sim", "push", "--json", "--log", str(log), "--figure", str(figure), "--seed", "3")
    result = json.loads(done.stdout)
    assert result["rms_error"] < 1.5
    assert result["units"]["rms_error"] == "%"
    assert result["realtime_factor"] > 0.0
    assert figure.stat().st_size > 10_000
    assert "largest difference: 0" in call("replay", str(log)).stdout
    assert "would have been" in call("replay", str(log), "--params", "admittance.mass=4").stdout
    assert "active: the arm obeys forces" in call("why", str(log)).stdout
    call("plot", str(log), "--out", str(tmp_path / "log.svg"))
    assert (tmp_path / "log.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sim"], "which scenario?"),
        (["sim", "nonsense"], "scenario 'nonsense' is unknown"),
        (["sim", "push", "--robot", "ur99"], "ur99"),
        (["sim", "push", "--set", "admittance.mass=-1"], "admittance.mass[0] = -1 kg: must be >= 0.001"),
        (["sim", "push", "--set", "admittance.masss=1"], "admittance.mass"),
        (["sim", "push", "--set", "mass=4"], "the nearest known name is admittance.mass"),
        (["sim", "push", "--option", "stiffness=300"], "are changed with --set"),
        (["sim", "push", "--log", __file__], "must end with .mcap"),
        (["sim", "push", "--set", "nothing"], "must be name=value"),
        (["sim", "push", "--preset", "none_such"], "preset 'none_such' is unknown"),
        (["replay", "/nowhere/x.mcap"], "/nowhere/x.mcap"),
        (["why", __file__], "test_commands.py"),
        (["run", "--preset", "none_such"], "preset 'none_such' is unknown"),
        (["ask", "retreat", "--name", "none-such"], "no controller named 'none-such' is running"),
        (["ask", "tool.tcp=2001-01-01"], "'tool.tcp=2001-01-01': the value is not readable"),
        (["ask", "admittance.mass=[8, 8, .inf, 1, 1, 1]"], "no parameter may be infinite"),
        (["ask", "safety.max_force=-.inf"], "no parameter may be infinite"),
        (["ask", "tool.tcp=&x [*x]"], "the value is not readable"),
        (["ask", "tool.tcp=!!binary aGk="], "the value is not readable"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(arguments, sentence, call):
    done = call(*arguments, code=2)
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_a_scenario_that_ends_in_a_safety_stop_is_exit_code_1(call):
    done = call("sim", "push", "--json", "--set", "safety.max_force=5", code=1)
    assert "above safety.max_force" in json.loads(done.stdout)["stops"][0]


def test_run_on_the_simulated_arm_reports_the_loop_and_records_it(tmp_path, call):
    log = tmp_path / "run.mcap"
    done = process("run", "--robot", "sim", "--duration", "1.5", "--log", str(log), "--name", "test-run")
    assert done.returncode == 0, done.stderr
    assert "real-time:" in done.stdout
    assert "nothing pushes it" in done.stdout
    assert "cycles; ended: 1.5 s were over" in done.stdout
    assert "largest difference: 0" in call("replay", str(log)).stdout
    again = call("run", "--robot", "sim", "--log", str(log), code=2)
    assert "exists already" in again.stderr


def test_an_arm_that_will_move_by_itself_says_so_before_it_is_started():
    with EmulatorProcess() as emulator:
        done = process("run", "--robot", emulator.host, "--preset", "polishing", input="n\n")
    assert done.returncode != 0
    assert "IT MOVES BY ITSELF: without a push the tool moves along -z at up to 0.015 m/s" in done.stdout


def test_a_stopped_arm_is_led_out_of_its_fault_from_another_terminal(call):
    name = "test-ask"
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", "sim", "--duration", "90", "--name", name]
    command += ["--set", "safety.max_force=40"]
    arm = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        while "real-time:" not in arm.stdout.readline():
            assert arm.poll() is None
        assert "max_torque" in call("ask", "safety.max_torque=7", "--name", name).stdout
        assert "must be >= 0.001" in call("ask", "admittance.mass=-1", "--name", name, code=2).stderr
        assert "damping" in call("ask", "admittance.damping=[80, 80, 80, .nan, .nan, .nan]", "--name", name).stdout
        push_for(name, 20.0, 1.5)
        time.sleep(1.0)
        push_for(name, 60.0, 9.0)
        time.sleep(1.0)
        refused = call("ask", "reset_fault", "--name", name, code=2).stderr
        assert "the cause is still there: force " in refused
        assert "ask for a retreat" in refused
        assert "retreat requested" in call("ask", "retreat", "--name", name).stdout
        assert send({"request": "stop"}, name, timeout=5.0).accepted
        push_for(name, 0.0, 0.1)
        time.sleep(1.0)
        assert "reset_fault requested" in call("ask", "reset_fault", "--name", name).stdout
        assert send({"request": "activate"}, name, timeout=5.0).accepted
    finally:
        arm.send_signal(2)
        arm.communicate(timeout=20)


def push_for(name, force, seconds):
    answer = send({"push": {"wrench": [0, force, 0, 0, 0, 0], "seconds": seconds}}, name, timeout=5.0)
    assert answer.accepted, answer.text
