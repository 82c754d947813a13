"""The stability model refuses what would bounce, and nothing that holds."""

import numpy as np
import pytest

from ur_admittance.apps.tuning.knowledge import Knowledge, Range
from ur_admittance.apps.tuning.screen import arm_of, contact_damping, hopeless_share
from ur_admittance.apps.tuning.task import FRESH, with_parameters
from ur_admittance.apps.tuning.tasks import Press
from ur_admittance.simulation import simulate

TASK = Press(Knowledge(robots=("ur3e", "ur5e", "ur20")))


@pytest.mark.parametrize("index", range(3))
def test_stiffness_of_the_arm_is_that_of_the_physics(index):
    case = TASK.case(0, FRESH, index)
    assert arm_of(case).stiffness == pytest.approx(case.world(look=False).tcp_stiffness()[2], rel=1e-6)


def test_presets_are_worth_a_simulation_and_plain_admittance_is_not():
    cases = [TASK.case(0, FRESH, i) for i in range(12)]
    for name, parameters in TASK.rivals().items():
        assert (hopeless_share(TASK, parameters, cases) > 0.3) == (name == "plain admittance"), name


def test_what_is_refused_bounces():
    plain = TASK.rivals()["plain admittance"]
    cases = [TASK.case(0, FRESH, i) for i in range(12)]
    refused = [case for case in cases if hopeless_share(TASK, plain, [case])]
    assert len(refused) > 3
    measured = simulate([with_parameters(case, plain) for case in refused], TASK.measure)
    assert min(values["residual"] for values in measured) > 2.0


def test_the_stabiliser_gives_at_least_the_damping_that_the_model_counts_on():
    task = Press(Knowledge(stiffness=Range(2e4, 2e4), delay=Range(0.01, 0.01)))
    parameters = task.complete(task.knowledge.base)
    case = with_parameters(task.case(0, FRESH, 1), parameters)
    given = simulate([case])[0].command["damping"][-1, 2]
    assert 0.95 < given / contact_damping(parameters, 2e4, arm_of(case)) < 1.6  # it keeps the largest stiffness it saw
    assert np.isclose(contact_damping(task.rivals()["plain admittance"], 2e4, arm_of(case)), 64.0)
