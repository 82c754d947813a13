"""ur-admittance campaign: findings are counted, printed, kept and repeated; exit codes say what happened."""

import json
import re

import pytest
from typer.testing import CliRunner

from benchmarks.campaign import merged
from ur_admittance.cli import app
from ur_admittance.recording.log import read_log
from ur_admittance_lab.campaign import (
    FAMILIES,
    Budget,
    Campaign,
    repeat,
)
from ur_admittance_lab.campaign import (
    motion_checks as checks,
)
from ur_admittance_lab.campaign import (
    run_campaign as run,
)


def call(*arguments):
    return CliRunner(env={"COLUMNS": None}).invoke(app, ["campaign", "--threads", "1", *arguments])  # as in a pipe


@pytest.fixture
def strict(monkeypatch):
    """An arm at rest may not stray at all: a finding in every episode with a rest."""
    monkeypatch.setattr(checks, "REST", (-1.0, 1.0))


def test_a_sound_campaign_ends_with_0_and_counts_cycles():
    done = call("--family", "free", "--family", "faults", "--episodes", "4", "--seed", "1", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["episodes"] == {"free": 2, "faults": 2}
    assert result["cycles"] == sum(result["family_cycles"].values()) > 1000
    assert result["findings"] == []
    assert result["checks"]["free"]["rest"]["readings"] == 2


def test_a_finding_is_printed_kept_and_repeatable(strict, tmp_path, run_once):
    done = call("--family", "free", "--episodes", "2", "--seed", "1", "--keep", str(tmp_path))
    assert done.exit_code == 1
    [line] = [line for line in done.stdout.splitlines() if line.endswith("--repeat free:1")]
    assert re.fullmatch(r"rest \S+ > -1 m at \S+ s, \w+: ur-admittance campaign --repeat free:1", line)
    assert "2 findings in 2 episodes" in done.stdout
    _, trace = run_once("free", 1)
    recorded = read_log(tmp_path / "free_1.mcap").ticks["command"]
    assert recorded["q"].tobytes() == trace.command["q"].tobytes()

    again = call("--repeat", "free:1", "--keep", str(tmp_path), "--json")
    assert again.exit_code == 1
    shown = json.loads(again.stdout)
    [broken] = [reading for reading in shown["readings"] if reading["broken"]]
    assert f"rest {broken['value']:.4g} > -1 m" in line
    assert shown["story"][0].endswith("activate")


def test_repeat_shows_the_case_and_every_check(tmp_path):
    done = call("--repeat", "faults:2", "--keep", str(tmp_path))
    assert done.exit_code == 0, done.output
    for words in ("episode: faults:2", "admittance.mass = ", "s  push [", "ok     finite", "recording: "):
        assert words in done.stdout


def test_at_most_three_recordings_of_a_kind_are_kept(strict, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "record_case", lambda case, path: path.touch())
    assert call("--family", "free", "--episodes", "5", "--keep", str(tmp_path)).exit_code == 1
    assert len(list(tmp_path.iterdir())) == run.EXAMPLES


def test_the_number_of_threads_changes_nothing():
    def result(threads):
        campaign = Campaign(["contact", "faults"], 5, threads)
        campaign.run(Budget(episodes=4))
        return {key: value for key, value in campaign.as_dict().items() if "seconds" not in key}

    assert result(1) == result(2)


def test_ctrl_c_keeps_what_was_found(strict, monkeypatch):
    simulate, calls = run.simulate, []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return simulate(*arguments, **options)

    monkeypatch.setattr(run, "simulate", interrupted)
    monkeypatch.setattr(run, "BATCH", 2)
    done = call("--family", "free", "--episodes", "6", "--seed", "1")
    assert done.exit_code == 130
    assert "interrupted; 2 findings in 2 episodes" in done.stdout


def test_a_budget_of_cycles_or_time_ends_the_campaign(monkeypatch):
    monkeypatch.setattr(run, "BATCH", 1)
    campaign = Campaign(["free"], 0, 1)
    campaign.run(Budget(cycles=1.0))
    assert campaign.episodes == 1
    campaign.run(Budget(seconds=1e-9))
    assert campaign.episodes == 1


def test_the_checks_cost_a_fraction_of_the_simulation():
    families = tuple(name for name in FAMILIES if name != "obstacles")  # builds a MuJoCo model for each episode
    campaign = Campaign(families, 0, 1)
    campaign.run(Budget(episodes=len(families)))
    assert campaign.check_seconds < 0.3 * campaign.seconds  # a tenth, measured


def test_the_families_are_listed_with_a_line_each():
    lines = call("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(FAMILIES)
    assert all(len(line) > 40 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--family", "fre"], "--family fre: must be one of free, limits"),
        (["--repeat", "free"], "--repeat free: must be FAMILY:NUMBER, such as limits:17."),
        (["--repeat", "fre:1"], "family 'fre' is unknown"),
        (["--cycles", "-1"], "--cycles -1: must be a number from 1 to 1e+15."),
        (["--minutes", "0"], "--minutes 0: must be a number from 0.001 to 1000000 min."),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence):
    done = call(*arguments)
    assert done.exit_code != 0
    assert sentence in str(done.exception)


def test_repeat_gives_the_reading_of_the_campaign():
    campaign = Campaign(["hand"], 3, 1)
    campaign.run(Budget(episodes=1))
    _, verdict = repeat("hand:3")
    for reading in verdict.readings:
        assert campaign.tallies["hand", reading.check].worst == reading


def test_pieces_add_up_to_the_whole(strict):
    def piece(first, count):
        campaign = Campaign(["free", "limits"], first, 1)
        campaign.run(Budget(episodes=2 * count))
        return campaign.as_dict()

    whole, parts = merged([piece(0, 4)]), merged([piece(0, 2), piece(2, 2)])
    for key in ("episodes", "cycles", "checks", "findings", "stops"):
        assert whole[key] == parts[key]
    assert whole["checks"]["rest"]["failures"] == {"free": 4, "limits": 4}
    with pytest.raises(SystemExit, match="same first number"):
        merged([piece(0, 1), piece(0, 1)])
