"""A file that exists stays as it is unless --overwrite is given; a file that cannot be written is refused at once."""

import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.errors import LogError, UrAdmittanceError
from ur_admittance.recording.log_writer import check_new

REAL = """/**:
  ros__parameters:
    sensor:
      source: "builtin"
      bias: [0.1, 0.0, 0.0, 0.0, 0.0, 0.0]
    tool:
      mass: 1.0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(*arguments):
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, UrAdmittanceError), done.output
    assert done.stdout == ""
    return str(done.exception)


OUTPUTS = {
    "old.yaml": (["calibrate", "--out"], ["identify", "run.mcap", "--out"]),
    "old.png": (
        ["calibrate", "--figure"],
        ["identify", "run.mcap", "--figure"],
        ["plot", "run.mcap", "--out"],
        ["plot", "run.mcap", "other.mcap", "--out"],
        ["sim", "push", "--figure"],
        ["stability", "--figure"],
    ),
    "old.csv": (["export", "run.mcap", "--out"],),
    "old.mcap": (["sim", "push", "--log"], ["run", "--log"], ["measure-response", "--log"]),
}


@pytest.mark.parametrize(("file", "command"), [(file, command) for file in OUTPUTS for command in OUTPUTS[file]])
def test_every_output_is_checked_before_the_work(folder, file, command):
    (folder / file).write_text("of last week")
    said = refusal(*command, file)
    assert f"{command[-1]} {file} exists already" in said
    assert ("--overwrite" in said) == (file != "old.mcap"), "a recording is never replaced"
    assert (folder / file).read_text() == "of last week"
    ending = file.removeprefix("old")
    (folder / f"folder{ending}").mkdir()
    assert "is a folder, not a file" in refusal(*command, f"folder{ending}")
    assert "the folder nowhere does not exist" in refusal(*command, f"nowhere/x{ending}")
    assert "cannot be written (No such file or directory)" in refusal(*command, f"/proc/x{ending}")
    assert "cannot be written (File name too long)" in refusal(*command, "x" * 300 + ending)
    assert f"must end with {ending}" in refusal(*command, "x.txt").replace(".png, .svg, .pdf", ".png")
    assert {path.name for path in folder.iterdir()} == {file, f"folder{ending}"}, "trying leaves nothing behind"


@pytest.mark.parametrize("nothing", [".", "", "/"])
def test_a_folder_is_no_calibration(nothing):
    assert "must end with .yaml" in refusal("calibrate", "--out", nothing)


def test_with_overwrite_a_figure_is_drawn_again(folder):
    (folder / "map.svg").write_text("of last week")
    done = CliRunner().invoke(app, ["stability", "--figure", "map.svg", "--overwrite"])
    assert done.exit_code == 0, done.output
    assert (folder / "map.svg").stat().st_size > 10_000


@pytest.mark.parametrize("source", ['source: "builtin"', 'source: "netft:192.168.1.1"', "sign: 1.0"])
@pytest.mark.parametrize("command", [["calibrate", "--overwrite", "--out"], ["calibrate", "zero"]])
def test_a_simulated_calibration_never_takes_the_place_of_a_real_one(folder, command, source):
    text = REAL.replace('source: "builtin"', source)
    (folder / "calibration.yaml").write_text(text)
    said = refusal(*command, "calibration.yaml")
    assert "calibration.yaml" in said
    assert "--robot" in said
    assert (folder / "calibration.yaml").read_text() == text


def test_a_recording_made_by_a_program_is_checked_in_the_same_way(folder):
    with pytest.raises(LogError, match=r"cannot be written \(No such file or directory\)"):
        check_new(folder / "/proc/x.mcap")
