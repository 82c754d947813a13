"""Stages by name: the same names in every form, and a sentence for each wrong one."""

import subprocess
import sys
import uuid

import numpy as np
import pytest
from tests.paths import CORNERS, along

from ur_admittance.cli.run import _moves_alone
from ur_admittance.control.chaining import CartesianPath, JointFollower, Smoother
from ur_admittance.core.records import Mode
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.runtime.named_stages import build_stages
from ur_admittance.runtime.telemetry import TelemetryWriter


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    np.savetxt(tmp_path / "points.txt", CORNERS, header="x y z [m]")
    (tmp_path / "mine_for_a_test.py").write_text(
        "class Wave:\n    behind = False\n    def __init__(self, size=0.0): self.size = size\n"
        "    def start(self, controller, command): ...\n    def update(self): ...\n"
        "class Half:\n    behind = True\n    def update(self): ...\n"
        "class Picky:\n    def __init__(self): raise RuntimeError('no camera')\n"
        "NUMBER = 3\n"
    )
    (tmp_path / "broken_for_a_test.py").write_text("def stage(:\n")
    (tmp_path / "empty.txt").touch()
    return tmp_path


def test_names_lead_to_stages_with_their_options(folder):
    names = ["path:points.txt,speed=0.05,relative=true", "mine_for_a_test:Wave,size=2", "smoother", "follower,jerk=300"]
    path, wave, smoother, follower = build_stages(names)
    assert isinstance(path, CartesianPath)
    assert np.array_equal(path.points, CORNERS)
    assert (path.speed, path.relative, wave.size, smoother.time) == (0.05, True, 2, 0.04)
    assert isinstance(smoother, Smoother)
    assert isinstance(follower, JointFollower)
    assert [stage.behind for stage in (path, wave, smoother, follower)] == [False, False, True, True]


def test_points_may_be_separated_by_commas(folder):
    (folder / "points.csv").write_text("# x, y, z\n" + "".join(f"{x}, {y},{z}\n" for x, y, z in CORNERS))
    [path] = build_stages(["path:points.csv,speed=0.05"])
    assert np.array_equal(path.points, CORNERS)


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        (["smoother", "follower"], ""),
        (["path:points.txt,speed=0.05", "follower"], "led by the stage path:points.txt,speed=0.05"),
    ],
)
def test_only_a_stage_in_front_of_the_law_is_said_to_move_the_arm(folder, stages, said):
    assert _moves_alone(Parameters(), build_stages(stages), stages) == said


@pytest.fixture
def name():
    return f"stages_{uuid.uuid4().hex[:8]}"


WRONG = {
    "folower": "is unknown; must be follower, smoother, path:FILE",
    "follower,300": "'300' must be OPTION=VALUE",
    "follower,speed=1": "cannot be made .*speed",
    "follower,jerk=0": "follower jerk = 0 rad/s3: must be > 0",
    "path:missing.txt,speed=0.1": "the file 'missing.txt' cannot be read",
    "path:mine_for_a_test.py,speed=0.1": "must have three numbers per line",
    "path:points.txt": "cannot be made .*speed",
    "path:points.txt,speed=fast": "path speed = .fast.: must be a number, > 0",
    "no_such_module:Stage": "cannot be loaded .No module named 'no_such_module'",
    "mine_for_a_test:Wawe": "cannot be loaded .*Wawe",
    "mine_for_a_test:NUMBER": "NUMBER must be a class or a function",
    "mine_for_a_test:Half": "stage Half: has no method start",
    "path:points.txt,speed=0.1,relative=False": "path relative = False: must be true or false",
    "path:points.txt,speed=0.1,speed=0.5": "speed is given twice",
    "path:points.txt,speed=0.1,points=3": "the points come from the file",
    "path:empty.txt,speed=0.1": r"shape is \(0, 1\), must be \(n, 3\)",
    "mine_for_a_test:Picky": "cannot be made .RuntimeError: no camera",
    "broken_for_a_test:Stage": "cannot be loaded .SyntaxError: ",
    ".mine_for_a_test:Half": "cannot be loaded .TypeError: ",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_name_is_refused_in_a_sentence(folder, name):
    with pytest.raises(ParameterError, match=WRONG[name]):
        build_stages([name])


def test_the_command_line_refuses_it_before_anything_is_loaded(called):
    done = called("run", "--robot", "192.0.2.1", "--stage", "folower")
    assert done.returncode == 2
    assert done.stderr.startswith("ur-admittance: stage 'folower': is unknown")


def test_a_name_that_is_taken_is_refused_before_an_arm_is_looked_for(name, called):
    with TelemetryWriter(name):
        done = called("run", "--robot", "192.0.2.1", "--yes", "--name", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ur-admittance: a controller named '{name}' is already running")


def test_the_simulated_arm_of_the_command_line_goes_along_a_path(folder, name):
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", "sim", "--duration", "2.5", "--name", name]
    command += ["--log", "run.mcap", "--stage", "path:points.txt,speed=0.05,relative=true", "--stage", "follower"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    assert "slowest stages path" in done.stdout
    log = read_log(folder / "run.mcap")
    assert replay(log).exact
    off, end = along(CORNERS, log.ticks["command"]["p_tcp"][log.ticks["command"]["mode"] == Mode.ACTIVE])
    assert off < 2e-3  # [m] as in tests/robots/rtde and tests/ros
    assert end < 1e-3
