"""teach and play as a user calls them: keys through a pipe, an arm that is pushed by hand, the file replayed."""

import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

from ur_admittance.recording.log import read_log
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.registry import running_controllers
from ur_admittance.teaching.taught import Step, Taught, load_taught

HOME = (0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0)
POSE = np.array([0.4919, 0.1333, 0.3379, 2.221441, -2.221441, 0.0])
POSES = tuple(Step("pose", POSE + [0.0, y, 0.0, 0.0, 0.0, 0.0]) for y in (0.0, 0.04))
SHORT = Taught("ur5e", (0.0, 0.0, 0.15, 0.0, 0.0, 0.0), HOME, POSES)


def started(*arguments):
    command = [sys.executable, "-m", "ur_admittance", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def read_until(process, words):
    lines = []
    while not any(word in (lines or [""])[-1] for word in words):
        line = process.stdout.readline()
        assert line, lines
        lines.append(line)
    return lines[-1]


def press(process, key):
    process.stdin.write(key)
    process.stdin.flush()


@pytest.mark.parametrize("runs_already", [False, True])
def test_what_is_shown_while_keys_are_pressed_is_kept_in_a_file(tmp_path, runs_already):
    name, file = f"teach-{uuid.uuid4().hex[:8]}", tmp_path / "shown.yaml"
    arm = started("run", "--name", name, "--duration", "60") if runs_already else None
    while runs_already and name not in running_controllers():
        assert arm.poll() is None
        time.sleep(0.1)
    keys = started("teach", str(file), "--name", name, "--tolerance-mm", "0.5")
    try:
        read_until(keys, ["p: mark a pose"])
        time.sleep(0.5)
        press(keys, "p")
        assert "pose 1 at (" in read_until(keys, ["pose"])
        press(keys, "c")
        press(keys, " ")
        read_until(keys, ["taking a path"])
        assert send({"push": {"wrench": [0, 12, 0, 0, 0, 0], "seconds": 1.5}}, name).accepted
        time.sleep(2.0)
        press(keys, " ")
        assert "points, at most 0." in read_until(keys, ["path of", "end_path"])
        assert [step.kind for step in load_taught(file).steps] == ["pose", "gripper", "path"]  # after every step
        press(keys, "u")
        press(keys, "u")
        read_until(keys, ["gripper 2 is dropped"])
        press(keys, "q")
        assert "1 steps, 1 points" in read_until(keys, ["steps,"])
        assert keys.wait(30) == 0
        assert runs_already == (name in running_controllers())
    finally:
        for process in filter(None, (keys, arm)):
            process.terminate()
            process.wait(30)
    taught = load_taught(file)
    assert taught.arm == "ur5e"
    assert taught.tolerance == pytest.approx([0.0005, np.radians(0.5)], abs=1e-6)
    assert taught.steps[0].value[:3] == pytest.approx(POSE[:3], abs=2e-3)


def test_a_file_is_replayed_and_the_command_ends(tmp_path):
    SHORT.save(tmp_path / "short.yaml")
    log = tmp_path / "short.mcap"
    played = started("play", str(tmp_path / "short.yaml"), "--speed", "0.1", "--loop", "2", "--log", str(log))
    text = played.communicate(timeout=100)[0]
    assert played.returncode == 0, text
    assert "ended: the program was done" in text
    y = read_log(log).ticks["command"]["p_tcp"][:, 1]
    assert y.max() == pytest.approx(POSE[1] + 0.04, abs=1e-3)
    there = np.flatnonzero(np.diff((y > POSE[1] + 0.02).astype(int)) == 1)
    assert len(there) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "ur10e"], "was taught on a ur5e, this arm is a ur10e; to go there all the same, adapt it"),
        (["--speed", "0.5"], "the tool would move at 0.5 m/s, at most 0.2 is allowed; go slower"),
        (["--speed", "2"], "--speed 2: must be a number from 0.001 to 1 m/s"),
        (["--set", "workspace.max=[2.0, 0.15, 2.0]"], "step 2 (pose), 0.020 m along it"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_a_sentence(tmp_path, called, options, sentence):
    SHORT.save(tmp_path / "short.yaml")
    done = called("play", str(tmp_path / "short.yaml"), *options)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_taught_file_is_not_overwritten_by_accident(tmp_path, called):
    SHORT.save(tmp_path / "short.yaml")
    done = called("teach", str(tmp_path / "short.yaml"))
    assert done.returncode == 2
    assert "exists already" in done.stderr
    done = called("teach", str(tmp_path / "new.yaml"), "--button", "tool:2")
    assert done.returncode == 2
    assert "--button = tool:2: must be digital:0 to 7" in done.stderr
    done = called("play", str(tmp_path / "none.yaml"))
    assert done.returncode == 2
    assert "none.yaml: cannot be read" in done.stderr
