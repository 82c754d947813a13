"""The stability model refuses what would bounce, and nothing that holds."""

import numpy as np
import pytest

from ur_admittance_lab.episodes import simulate
from ur_admittance_lab.tuning.knowledge import Knowledge, Range
from ur_admittance_lab.tuning.score import failures
from ur_admittance_lab.tuning.screen import arm_of, contact_damping, refused, refused_share, reserve
from ur_admittance_lab.tuning.task import FRESH, with_parameters
from ur_admittance_lab.tuning.tasks import Press

TASK = Press(Knowledge(robots=("ur3e", "ur5e", "ur20")))


@pytest.mark.parametrize("index", range(3))
def test_stiffness_of_the_arm_is_that_of_the_physics(index):
    case = TASK.case(0, FRESH, index)
    assert arm_of(case).stiffness == pytest.approx(case.world().tcp_stiffness()[2], rel=1e-6)


def test_presets_are_worth_a_simulation_and_plain_admittance_is_not():
    cases = [TASK.case(0, FRESH, i) for i in range(12)]
    for name, parameters in TASK.rivals().items():
        assert (refused_share(TASK, parameters, cases) > 0.3) == (name == "plain admittance"), name


SLOW = TASK.rivals()["preset assembly"].changed({"admittance.damping": [2900.0] * 3 + [10.0] * 3})
FAST = TASK.rivals()["defaults"].changed({"contact.approach_speed": [0.06, 0.2]})


@pytest.mark.parametrize(("parameters", "broken"), [(SLOW, "error"), (FAST, "overshoot")], ids=["slow", "fast"])
def test_what_settles_too_slowly_or_hits_too_hard_is_refused_and_fails(parameters, broken):
    cases = [TASK.case(0, FRESH, i) for i in range(24)]
    out = [case for case in cases if refused(TASK, parameters, case)]
    assert out
    for values in simulate([with_parameters(case, parameters) for case in out], TASK.measure):
        assert broken in failures(TASK.figures, values)


def test_what_bounces_is_refused():
    plain = TASK.rivals()["plain admittance"]
    cases = [TASK.case(0, FRESH, i) for i in range(24)]
    measured = simulate([with_parameters(case, plain) for case in cases], TASK.measure)
    bounced = [case for case, values in zip(cases, measured, strict=True) if values["residual"] > 2.0]
    assert len(bounced) > 8
    assert all(refused(TASK, plain, case) for case in bounced)
    assert max(reserve(TASK, plain, case) for case in bounced) < 1.3  # the model errs by this much in other poses


def test_the_stabiliser_gives_at_least_the_damping_that_the_model_counts_on():
    task = Press(Knowledge(stiffness=Range(2e4, 2e4), delay=Range(0.01, 0.01)))
    parameters = task.complete(task.knowledge.base)
    case = with_parameters(task.case(0, FRESH, 1), parameters)
    given = simulate([case])[0].command["damping"][-1, 2]
    assert 0.95 < given / contact_damping(parameters, 2e4, arm_of(case)) < 1.6  # it keeps the largest stiffness it saw
    assert np.isclose(contact_damping(task.rivals()["plain admittance"], 2e4, arm_of(case)), 64.0)
