"""No parameter moves the arm: every one of the schema, pairs of them, presets onto presets, changed while it runs."""

import itertools
import os

import numpy as np
import pytest

from ur_admittance.control.live_checks import FELT_THROUGH, FIXED_WHILE_ACTIVE, FIXED_WHILE_CONFIGURED
from ur_admittance.params import PRESETS, Parameters, preset
from ur_admittance_lab.campaign.live import COMMANDS, DRAWS
from ur_admittance_lab.episodes import Case, simulate

from .live_changes import (
    DEVICES,
    NO_WRENCH,
    Outcome,
    change,
    explained,
    measure,
    random_change,
    start,
)

SWEEP = int(os.environ.get("SWEEP", "0"))  # changes of each parameter in each situation, and pairs; 0: one and forty
SEED = 20260
STILL = 1e-4  # [m] nothing pushes
STEP = 0.5  # [m/s2] 1 mm/s from one cycle to the next; the ramps explain 0.1, an 8 kg mass that is let go by 15 N 1.9
SITUATIONS = ("rest", "spring", "contact", "motion", "turning")
CHANGEABLE = [name for name in Parameters().flat() if name not in FIXED_WHILE_CONFIGURED]


def judge(cases: list[tuple[str, str, Case]]) -> tuple[list[str], list[Outcome]]:
    """(what did not hold, all outcomes) of (situation, words, case)."""
    outcomes = simulate([case for _, _, case in cases], measure)
    broken = []
    for (situation, words, case), outcome in zip(cases, outcomes, strict=True):
        if outcome.refused:
            continue
        if situation == "rest":
            if outcome.moved > STILL or not outcome.active:
                broken.append(f"{words}, at rest: {1e3 * outcome.moved:.3f} mm, active: {outcome.active}")
        elif not outcome.active:
            if "safety." not in words and "collision." not in words:
                broken.append(f"{words}, {situation}: stopped")
        elif not outcome.stopped_by and outcome.step > STEP + explained(case, outcome):
            bound = STEP + explained(case, outcome)
            broken.append(f"{words}, {situation}: step of {outcome.step:.3f} > {bound:.3f} m/s2")
    return broken, outcomes


def motion_at_rest(situation: str, outcomes: list[Outcome]) -> float:
    """[mm]"""
    return 1e3 * max((o.moved for o in outcomes if situation == "rest" and not o.refused), default=0.0)


def test_every_parameter_of_the_schema_is_tried():
    limits = {name for name in CHANGEABLE if name.startswith("joint_limits.")}
    assert set(DRAWS) | limits == set(CHANGEABLE)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_parameter_moves_the_arm_or_makes_its_velocity_jump(situation, record_property):
    rng = np.random.default_rng(SEED + SWEEP)
    asked = COMMANDS if situation == "rest" else ()
    names = [name for name in CHANGEABLE if name not in asked for _ in range(SWEEP or 1)]
    broken, outcomes = judge([(situation, name, random_change(rng, situation, name)) for name in names])
    record_property("motion at rest [mm]", motion_at_rest(situation, outcomes))
    assert not broken
    refused = {name for name, outcome in zip(names, outcomes, strict=True) if outcome.refused}
    assert refused <= {*FIXED_WHILE_ACTIVE, *FELT_THROUGH}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_pair_of_parameters_moves_the_arm_or_makes_its_velocity_jump(situation, record_property):
    rng = np.random.default_rng(SEED + 1 + SWEEP)
    names = [name for name in CHANGEABLE if name not in (*COMMANDS, *FIXED_WHILE_ACTIVE, *FELT_THROUGH)]
    pairs = [rng.choice(names, 2, replace=False) for _ in range(len(names) * SWEEP or 40)]
    broken, outcomes = judge([(situation, " and ".join(pair), random_change(rng, situation, *pair)) for pair in pairs])
    record_property("motion at rest [mm]", motion_at_rest(situation, outcomes))
    assert not broken


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_preset_put_in_the_place_of_another_moves_the_arm_or_makes_its_velocity_jump(situation, record_property):
    cases = []
    for before, after in itertools.permutations(("", *PRESETS), 2):
        wanted = (preset(after) if after else Parameters()).changed(DEVICES)
        if situation == "rest":
            wanted = wanted.changed(NO_WRENCH)  # which asks for motion
        cases.append((situation, f"{before} -> {after}", change(situation, start(situation, base=before), wanted)))
    broken, outcomes = judge(cases)
    assert len(cases) == len(PRESETS) * (len(PRESETS) + 1)
    record_property("motion at rest [mm]", motion_at_rest(situation, outcomes))
    assert not broken


SIDEWAYS = {"tool.tcp": [0.1, 0.0, 0.15, 0.0, 0.0, 0.0]}
LONGER = {"tool.tcp": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0]}
TURNED = {"tool.tcp": [0.0, 0.05, 0.1, 1.0, -1.0, 2.0]}


@pytest.mark.parametrize("variant", range(4))
@pytest.mark.parametrize("tcp", [SIDEWAYS, LONGER, TURNED], ids=("sideways", "longer", "turned"))
def test_another_tcp_leaves_the_arm_where_it_is(tcp, variant):
    before = start("rest", variant)
    broken, [outcome] = judge([("rest", "tool.tcp", change("rest", before, before.changed(tcp)))])
    assert not broken
    assert outcome.moved < 1e-6


def test_a_desired_force_goes_on_pressing_where_it_did_when_the_axes_turn_and_then_turns_with_them():
    before = start("contact").changed({"admittance.enabled_axes": [True, True, True, False, False, False]})
    after = before.changed({"control_frame": "task", "task_rotation": [0.3, 0.0, 0.0]})
    broken, [outcome] = judge([("contact", "control_frame", change("contact", before, after))])
    assert not broken
    assert outcome.step < 0.05
