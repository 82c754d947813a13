"""Every example runs to its end, in 10 to 40 lines. The ROS client is in tests/ros: it needs that environment."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(220)  # a changed core is compiled anew by the first example
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
SAYS = {  # a line that shows the example did what it tells
    "01_push": "10 N moved the tool 158 mm along y, at up to 158 mm/s\n",
    "02_own_loop": "-0.1328",
    "03_tune_and_compare": "twice the damping                  66 mm/s         66.2 mm",
    "04_surface_following": "mean 12.65 N   RMS error  2.65 N\n"
    "velocity bias                            mean 10.57 N   RMS error  0.58 N\n"
    "velocity bias along the surface normal   mean  9.98 N",
    "05_calibrate": "good",
    "06_record_replay_plot": "every bit equal",
    "07_stability_map": "kN/m needs at least",
    "08_emulator": "cycles; ended: 2 s were over",
    "09_batch": "60 contacts, 300 s of them",
    "11_chain": "led 100 mm along y, swaying 6.4 mm, pushed up 15 mm",
    "12_record_own_loop": "999 of 1000 cycles recomputed (a recorded state is the start), every bit equal",
}


PROCESS = ("01_push", "08_emulator")  # one as everybody starts them, and one that sets up a process for real time


def examples():
    for example in EXAMPLES:
        if "ros2" not in example.name:
            marks = [pytest.mark.realtime] if "emulator" in example.name else []
            yield pytest.param(example, id=example.stem, marks=marks)


@pytest.mark.parametrize("example", list(examples()))
def test_example_runs(example, tmp_path, optional, monkeypatch, capsys):
    if "emulator" in example.name:
        optional("rtde_control")
    monkeypatch.chdir(tmp_path)
    if example.stem in PROCESS:
        done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
        said = done.stdout
    else:
        monkeypatch.setattr(sys, "argv", [str(example)])
        runpy.run_path(str(example), run_name="__main__")
        said = capsys.readouterr().out
    assert SAYS.get(example.stem, "") in said


def test_page_tells_what_the_first_example_prints():
    assert SAYS["01_push"].strip() in (ROOT / "docs" / "start.md").read_text()


def test_examples_are_numbered_without_gaps_and_short():
    assert [int(e.name[:2]) for e in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    for example in EXAMPLES:
        lines = example.read_text().count("\n")
        assert 10 <= lines <= 40, f"{example.name} has {lines} lines"
