"""The search on a hill that is known on paper: no physics, so that a thousand candidates take a second."""

import math

import pytest

from ur_admittance.errors import ParameterError
from ur_admittance_lab.tuning import optimise as search_module
from ur_admittance_lab.tuning.knowledge import Knowledge, Range
from ur_admittance_lab.tuning.optimise import Budget, search
from ur_admittance_lab.tuning.score import REFUSED
from ur_admittance_lab.tuning.tasks import Press

BEST = {
    "damping": 200.0,
    "max_damping": 1500.0,
    "mass": 4.0,
    "ratio": 0.2,
    "approach_speed": 0.01,
    "cutoff": 60.0,
    "response_time": 0.02,
}
BUDGET = Budget(cases=3, trials=18)


@pytest.fixture(autouse=True)
def _needs_optuna(optional, monkeypatch):
    optional("optuna")
    optional("cmaes")
    monkeypatch.setattr(search_module, "refused_share", lambda task, parameters, cases: 0.0)


class Hill:
    """A batch whose only cost is the distance from BEST, in decades."""

    candidates = 1

    def __init__(self, task, interrupted_at=math.inf):
        self.task, self.interrupted_at, self.seen = task, interrupted_at, []

    def __call__(self, task, jobs, progress=None):
        values = {u.name: u.get(jobs[0].parameters) for u in task.unknowns}
        self.seen.append(values)
        if len(self.seen) > self.interrupted_at:
            raise KeyboardInterrupt
        distance = sum(math.log10(values[name] / BEST[name]) ** 2 for name in values)
        quiet = dict.fromkeys(self.task.figures, 0.0)
        return [quiet | {"settling": 10.0 * distance} for _ in jobs]


@pytest.fixture
def task():
    return Press(Knowledge(delay=Range(0.005, 0.02)))


def test_cma_es_climbs_down_to_the_best_parameters(task, tmp_path):
    found = search(task, 0, Budget(3, 101), Hill(task), tmp_path / "a.journal")
    assert found.score < 0.5
    assert found.values["damping"] == pytest.approx(BEST["damping"], rel=0.5)
    assert found.trials <= 101
    assert not found.interrupted


def test_presets_and_defaults_are_tried_first(task, tmp_path):
    hill = Hill(task)
    search(task, 0, Budget(3, 6), hill, tmp_path / "a.journal")
    dampings = [round(values["damping"]) for values in hill.seen]
    assert dampings == [300, 250, 400, 800, 64]


def test_the_same_seed_gives_the_same_candidates_and_another_seed_does_not(task, tmp_path):
    hills = [Hill(task) for _ in range(3)]
    for i, (hill, seed) in enumerate(zip(hills, (0, 0, 1), strict=True)):
        search(task, seed, BUDGET, hill, tmp_path / f"{i}.journal")
    assert hills[0].seen == hills[1].seen
    assert hills[0].seen[5:] != hills[2].seen[5:]


@pytest.mark.parametrize("interrupted_at", [2, 9])
def test_an_interrupted_search_goes_on_as_if_nothing_had_happened(task, tmp_path, interrupted_at):
    whole, first, second = Hill(task), Hill(task, interrupted_at), Hill(task)
    expected = search(task, 0, BUDGET, whole, tmp_path / "whole.journal")
    kept = search(task, 0, BUDGET, first, tmp_path / "a.journal")
    assert kept.interrupted
    assert kept.trials == interrupted_at
    resumed = search(task, 0, BUDGET, second, tmp_path / "a.journal", resume=True)
    assert resumed.values == expected.values
    assert first.seen[:-1] + second.seen == whole.seen


def test_a_longer_search_begins_with_the_shorter_one(task, tmp_path):
    short, long = Hill(task), Hill(task)
    search(task, 0, Budget(3, 17), short, tmp_path / "a.journal")
    search(task, 0, Budget(3, 30), long, tmp_path / "b.journal")
    assert long.seen[: len(short.seen)] == short.seen


def test_ctrl_c_before_the_first_candidate_has_nothing_to_keep(task, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        search(task, 0, BUDGET, Hill(task, 0), tmp_path / "a.journal")


def test_refused_candidates_are_not_simulated(task, tmp_path, monkeypatch):
    monkeypatch.setattr(
        search_module, "refused_share", lambda t, p, cases: 0.5 if p.admittance.damping[0] < 100.0 else 0.0
    )
    hill = Hill(task)
    found = search(task, 0, Budget(3, 40), hill, tmp_path / "a.journal")
    assert found.refused > 0
    assert all(values["damping"] >= 100.0 for values in hill.seen)
    assert found.simulated == 3 * (found.trials - found.refused)
    assert found.score < REFUSED


def test_a_whole_generation_can_run_at_once_with_the_same_result(task, tmp_path):
    class Wide(Hill):
        candidates = 1000

        def __call__(self, task, jobs, progress=None):
            parts = [Hill.__call__(self, task, jobs[i : i + 3]) for i in range(0, len(jobs), 3)]
            return [values for part in parts for values in part]

    one, wide = Hill(task), Wide(task)
    a = search(task, 0, BUDGET, one, tmp_path / "a.journal")
    b = search(task, 0, BUDGET, wide, tmp_path / "b.journal")
    assert a.values == b.values
    assert one.seen == wide.seen


def test_a_journal_is_neither_overwritten_nor_mixed_up(task, tmp_path):
    path = tmp_path / "a.journal"
    with pytest.raises(ParameterError, match="no search to resume"):
        search(task, 0, BUDGET, Hill(task), path, resume=True)
    search(task, 0, Budget(3, 5), Hill(task), path)
    with pytest.raises(ParameterError, match="go on with --resume"):
        search(task, 0, BUDGET, Hill(task), path)
    for other, seed, cases in ((task, 1, 3), (task, 0, 4), (Press(Knowledge(force=12.0)), 0, 3)):
        with pytest.raises(ParameterError, match="another task, seed or range"):
            search(other, seed, Budget(cases, 60), Hill(other), path, resume=True)


def test_without_optuna_the_sentence_names_the_extra(task, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(ParameterError, match=r"pip install 'ur-admittance\[tune\]'"):
        search(task, 0, BUDGET, Hill(task), tmp_path / "a.journal")


def test_a_search_killed_anywhere_goes_on_with_the_same_candidates(task, tmp_path):
    whole, part = tmp_path / "whole.journal", tmp_path / "part.journal"
    expected = search(task, 0, BUDGET, Hill(task), whole)
    data = whole.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for end in (*ends[3:-1:9], ends[20] + 30, len(data) - 5):  # between two lines, and inside of one
        part.write_bytes(data[:end])
        found = search(task, 0, BUDGET, Hill(task), part, resume=True)
        assert (found.values, found.score, found.trials) == (expected.values, expected.score, expected.trials), end


def test_a_journal_is_used_by_one_search_at_a_time(task, tmp_path):
    journal, refused = tmp_path / "a.journal", []

    class Second(Hill):
        def __call__(self, task, jobs, progress=None):
            with pytest.raises(ParameterError, match="another tune is using it") as caught:
                search(task, 0, BUDGET, Hill(task), journal, resume=True)
            refused.append(caught)
            return super().__call__(task, jobs, progress)

    assert search(task, 0, BUDGET, Second(task), journal).trials == len(refused)


@pytest.mark.parametrize("rubbish", [b"rubbish\n", b"[1]\n", b"\x00\xd8\xff\n"])
def test_a_file_that_is_no_journal_is_refused(rubbish, task, tmp_path):
    (tmp_path / "a.journal").write_bytes(rubbish)
    with pytest.raises(ParameterError, match="line 1 is not of a search"):
        search(task, 0, BUDGET, Hill(task), tmp_path / "a.journal", resume=True)
    assert (tmp_path / "a.journal").read_bytes() == rubbish
