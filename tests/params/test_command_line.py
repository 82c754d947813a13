"""The command line as a person meets it: its words and its exit code."""

import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.yaml import preset_text
from ur_admittance_lab.urdf_writer import generate


def test_version(called):
    assert called("--version").stdout == f"ur-admittance {version('ur-admittance')}\n"


def test_a_process_ends_with_the_sentence_on_stderr_and_exit_code_2():
    command = [sys.executable, "-m", "ur_admittance", "params", "show", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ur-admittance: nothing is not a preset; there are ")
    assert done.stderr.count("\n") == 1


def test_a_pipe_gets_one_line_for_each_parameter(called):
    lines = called("params").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Parameters().flat())
    assert any(line.startswith("safety.max_force = 100 [N]; a number > 0; ") for line in lines)


def test_a_shown_preset_is_an_accepted_file(tmp_path, called):
    file = tmp_path / "mine.yaml"
    shown = called("params", "show", "hand_guiding")
    assert shown.stdout == preset_text("hand_guiding")
    file.write_text(shown.stdout)
    checked = called("params", "check", file)
    assert checked.returncode == 0
    assert checked.stdout.endswith(f"{file}: accepted for a ur5e\n")
    assert "max_linear_velocity: 0.2 (default 0.5)\n" in checked.stdout


def test_a_refusal_is_one_sentence_on_stderr_and_exit_code_2(tmp_path, called):
    file = tmp_path / "bad.yaml"
    file.write_text("/**:\n  ros__parameters:\n    tool:\n      mass: -1\n")
    result = called("params", "check", file)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"ur-admittance: {file}:4: tool.mass = -1 kg: must be >= 0\n"
    assert called("params", "show", "nothing").returncode == 2
    assert called("params", "check", tmp_path / "none.yaml").stderr.endswith("none.yaml: there is no such file\n")


LIMITS_OF_THE_DOCUMENTS = """ur_admittance_controller:
  ros__parameters:
    joint_limits:
      velocity: [3.142, 3.142, 3.142, 3.142, 3.142, 3.142]
      position_lower: [-6.283, -6.283, -3.142, -6.283, -6.283, -6.283]
      position_upper: [6.283, 6.283, 3.142, 6.283, 6.283, 6.283]
"""


def test_check_accepts_what_the_arm_accepts_and_refuses_what_it_refuses(tmp_path, called):
    """The joint limits of the design documents are those of a UR5e; a UR10e turns its first two joints at 2.09 rad/s."""
    file, arm = tmp_path / "limits.yaml", tmp_path / "mine.urdf"
    file.write_text(LIMITS_OF_THE_DOCUMENTS)
    arm.write_text(generate(robot_model("ur10e")))
    assert called("params", "check", file).stdout.endswith(f"{file}: accepted for a ur5e\n")
    for model, name in (("ur10e", "ur10e"), (arm, str(arm))):
        refused = called("params", "check", file, "--model", model)
        words = f"{file}: joint_limits.velocity[0] = 3.142 rad/s: must be <= 2.0944 (limit of {name})"
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == f"ur-admittance: {words}\n"


@pytest.mark.parametrize("at_start", ["SIG_DFL", "SIG_IGN"])  # a script's background job begins with SIG_IGN
def test_ctrl_c_ends_quietly_with_130(at_start):
    code = """
import signal, ur_admittance.cli as cli
cli.app.command("wait")(lambda: (print("ready", flush=True), signal.pause()))
cli.main()
"""
    start = f"import os, signal, sys; signal.signal(signal.SIGINT, signal.{at_start}); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-c", start, sys.executable, "-c", code, "wait"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_help_does_not_load_the_heavy_libraries():
    heavy = "{'numba', 'mujoco', 'pydantic', 'viser', 'matplotlib'}"
    code = f"import sys, ur_admittance.cli; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert loaded.stdout == "set()\n"


def test_a_word_to_the_emulator_loads_neither_physics_nor_compiler():
    """The command is asked for a hundred times in a script; nothing listens at the address, which is answer enough."""
    code = """
import sys
from ur_admittance_lab.emulator.main import tell
from ur_admittance.errors import SimulationError
try:
    tell(["state"], "127.255.255.254")
except SimulationError:
    print({"numba", "numpy", "mujoco", "pydantic"} & set(sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert loaded.stdout == "set()\n"
