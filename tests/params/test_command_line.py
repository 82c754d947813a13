"""The command line as a person meets it: a real process, its words and its exit code."""

import os
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

from ur_admittance.params import Parameters
from ur_admittance.params.presets import preset_text


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ur_admittance", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=dict(os.environ),  # else the width that GNU readline may have set behind Python's back is inherited
    )


def test_version():
    assert run("--version").stdout == f"ur-admittance {version('ur-admittance')}\n"


def test_a_pipe_gets_one_line_for_each_parameter(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run("params").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Parameters().flat())
    assert any(line.startswith("safety.max_force = 100 [N]; a number > 0; ") for line in lines)


def test_a_shown_preset_is_an_accepted_file(tmp_path):
    file = tmp_path / "mine.yaml"
    shown = run("params", "show", "hand_guiding")
    assert shown.stdout == preset_text("hand_guiding")
    file.write_text(shown.stdout)
    checked = run("params", "check", file)
    assert checked.returncode == 0
    assert checked.stdout.endswith(f"{file}: accepted\n")
    assert "max_linear_velocity: 0.2 (default 0.5)\n" in checked.stdout


def test_a_refusal_is_one_sentence_on_stderr_and_exit_code_2(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("/**:\n  ros__parameters:\n    tool:\n      mass: -1\n")
    result = run("params", "check", file)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"ur-admittance: {file}:4: tool.mass = -1 kg: must be >= 0\n"
    assert run("params", "show", "nothing").returncode == 2
    assert run("params", "check", tmp_path / "none.yaml").stderr.endswith("none.yaml: there is no such file\n")


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
