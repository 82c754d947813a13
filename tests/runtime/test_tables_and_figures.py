"""A recording as a table, and recordings laid over each other."""

from copy import copy
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError, ParameterError
from ur_admittance.recording.export import SIGNALS, export
from ur_admittance.recording.log import read_log
from ur_admittance.recording.plot import ROWS, compare, draw_over
from ur_admittance_lab.scenarios import Setup, run_scenario

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "record_and_replay.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two pushes of different masses, and one that ends in a fault."""
    path = tmp_path_factory.mktemp("runs")
    run_scenario("push", Setup(log=path / "heavy.mcap"))
    run_scenario("push", Setup(log=path / "light.mcap", changes={"admittance.mass": [4.0] * 3 + [0.4] * 3}))
    run_scenario("dropout", Setup(log=path / "dropout.mcap"))
    return path


def call(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def test_a_table_has_a_row_per_cycle_and_the_bits_of_the_records(folder, tmp_path):
    log, path = read_log(folder / "heavy.mcap"), tmp_path / "all.csv"
    assert export(log, path) == path
    heads = path.read_text().splitlines()[0].split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    assert table.shape == (len(log.ticks), len(heads))
    column = dict(zip(heads, table.T, strict=True))
    command, sample = log.ticks["command"], log.ticks["sample"]
    for i, axis in enumerate("xyz"):
        assert np.array_equal(column[f"force_{axis} [N]"], command["wrench_tcp"][:, i])
        assert np.array_equal(column[f"torque_{axis} [Nm]"], command["wrench_tcp"][:, 3 + i])
        assert np.array_equal(column[f"raw_torque_{axis} [Nm]"], sample["wrench"][:, 3 + i])
        assert np.array_equal(column[f"velocity_{axis} [m/s]"], command["twist"][:, i])
        assert np.array_equal(column[f"position_{axis} [m]"], command["p_tcp"][:, i])
        assert np.array_equal(column[f"offset_angle_{axis} [rad]"], command["offset"][:, 3 + i])
    for i in range(6):
        assert np.array_equal(column[f"q_{i + 1} [rad]"], sample["q"][:, i])
        assert np.array_equal(column[f"qd_sent_{i + 1} [rad/s]"], command["qd"][:, i])
    assert np.array_equal(column["time [s]"], log.seconds)
    assert np.array_equal(column["mode"], command["mode"])
    assert path.read_text().splitlines()[1].split(",")[1] == "0", "whole numbers stay whole"


def test_the_table_of_the_command_line_is_read_by_numpy_by_name(folder, tmp_path):
    path = tmp_path / "few.csv"
    done = call("export", folder / "heavy.mcap", "--out", path, "--signals", "force, qd")
    assert done.stdout == f"table: {path}\n"
    assert done.stderr == ""
    table = np.genfromtxt(path, delimiter=",", names=True)
    assert table.dtype.names == ("time_s", *(f"force_{a}_N" for a in "xyz"), *(f"qd_{i}_rads" for i in range(1, 7)))
    assert np.array_equal(table["force_y_N"], read_log(folder / "heavy.mcap").ticks["command"]["wrench_tcp"][:, 1])


def test_of_a_damaged_recording_the_table_has_what_is_left_and_the_rest_is_told(folder, tmp_path):
    data = (folder / "heavy.mcap").read_bytes()
    (tmp_path / "half.mcap").write_bytes(data[: len(data) // 2])
    done = call("export", tmp_path / "half.mcap")
    assert "half.mcap: The file was cut off" in done.stderr
    rows = (tmp_path / "half.csv").read_text().count("\n") - 1
    assert rows == len(read_log(tmp_path / "half.mcap").ticks) > 200


def test_what_cannot_be_exported_is_refused_with_a_sentence(folder, tmp_path):
    log = read_log(folder / "heavy.mcap")
    with pytest.raises(ParameterError, match="signal 'forces' is unknown: must be one of mode, status, force, torque"):
        export(log, tmp_path / "x.csv", ["forces"])
    with pytest.raises(LogError, match="cannot be written: No space left on device"):
        export(log, "/dev/full")
    log.ticks = log.ticks[:0]
    with pytest.raises(LogError, match="contains no cycles to export"):
        export(log, tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_a_table_that_exists_is_replaced_by_a_whole_one_or_not_at_all(folder, tmp_path):
    log, path = read_log(folder / "heavy.mcap"), tmp_path / "x.csv"
    path.write_text("an older table")

    def interrupt(rows):
        raise KeyboardInterrupt

    with pytest.raises(LogError, match=r"x.csv exists already: choose another file, or say overwrite=True"):
        export(log, path)
    with pytest.raises(KeyboardInterrupt):
        export(log, path, progress=interrupt, overwrite=True)
    old = copy(log)
    old.ticks = log.ticks[["loop", "sample"]]
    with pytest.raises(LogError, match="was recorded by another version"):
        export(old, path, overwrite=True)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x.csv", "an older table")]
    call("export", log.path, "--out", path, "--overwrite")
    assert path.read_text().count("\n") == 1 + len(log.ticks)


def test_the_documentation_lists_every_signal():
    assert all(f"`{name}`" in PAGE.read_text() for name in SIGNALS)


def test_two_recordings_share_every_panel_and_begin_together(folder):
    logs, hour_ns = [read_log(folder / f"{name}.mcap") for name in ("heavy", "light")], 3_600_000_000_000
    logs[1].ticks = logs[1].ticks.copy()
    logs[1].ticks["loop"]["time_ns"] += hour_ns
    logs[1].span = (logs[1].span[0] + hour_ns, logs[1].span[1] + hour_ns)
    figure = draw_over(logs)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["heavy.mcap (3.5 s)", "light.mcap (3.5 s)"]
    assert len(figure.axes) == 3 * len(ROWS) + 1
    for panel in figure.axes:
        lines = panel.get_lines()
        assert [line.get_xdata()[0] for line in lines] == [0.0, 0.0]
        assert lines[0].get_color() != lines[1].get_color()
    velocity_y = figure.axes[3 * list(ROWS).index("TCP velocity [m/s]") + 1]
    for line, log in zip(velocity_y.get_lines(), logs, strict=True):
        assert np.array_equal(line.get_ydata(), log.ticks["command"]["twist"][:, 1])


def test_a_fault_is_marked_and_files_of_the_same_name_are_told_apart(folder, tmp_path):
    (tmp_path / "heavy.mcap").write_bytes((folder / "heavy.mcap").read_bytes())
    paths = (folder / "heavy.mcap", tmp_path / "heavy.mcap", folder / "dropout.mcap")
    figure = draw_over([read_log(path) for path in paths])
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == [f"{paths[0]} (3.5 s)", f"{paths[1]} (3.5 s)", "dropout.mcap (2.5 s), dotted: fault"]
    lines = figure.axes[0].get_lines()
    assert [line.get_color() for line in lines if line.get_linestyle() == ":"] == [lines[2].get_color()]


def test_joint_speeds_are_shares_of_each_recordings_own_limits_or_of_none(folder):
    logs = [read_log(folder / "heavy.mcap") for _ in range(2)]
    logs[1].params = {0: logs[1].params[0].copy()}
    logs[1].params[0]["joint_velocity"] = 0.5 * np.asarray(logs[0].params[0]["joint_velocity"])
    joints = draw_over(logs).axes[-1]
    assert joints.get_ylabel() == "fastest joint / limit"
    assert np.allclose(joints.get_lines()[1].get_ydata(), 2.0 * joints.get_lines()[0].get_ydata())
    logs[1].params = {}
    joints = draw_over(logs).axes[-1]
    assert joints.get_ylabel() == "fastest joint [rad/s]"
    for line in joints.get_lines():
        assert np.array_equal(line.get_ydata(), np.abs(logs[0].ticks["command"]["qd"]).max(axis=1))


def test_a_recording_that_begins_and_ends_in_a_fault_has_its_mark(folder):
    log = read_log(folder / "heavy.mcap")
    log.ticks = log.ticks.copy()
    log.ticks["command"]["mode"] = Mode.FAULT
    marks = [line for line in draw_over([log, log]).axes[0].get_lines() if line.get_linestyle() == ":"]
    assert [mark.get_xdata()[0] for mark in marks] == [0.0, 0.0]


def test_plot_takes_up_to_four_recordings(folder, tmp_path):
    done = call("plot", folder / "heavy.mcap", folder / "light.mcap", folder / "dropout.mcap")
    assert done.stdout == f"figure: {folder}/heavy_light_dropout.png\n"
    assert (folder / "heavy_light_dropout.png").stat().st_size > 50_000
    with pytest.raises(LogError, match="5 recordings: 2 to 4 can be laid over each other"):
        compare([read_log(folder / "heavy.mcap")] * 5, tmp_path / "x.png")
