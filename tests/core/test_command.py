"""What happens to the commanded joints after the law: drift is forgiven, rounding is cut off, disabled axes coast."""

import numpy as np
import pytest

from ur_admittance.core.law.admittance import coast
from ur_admittance.core.motion.following import DRIFT, SLACK, forgive_drift
from ur_admittance.core.records import PARAMS, SAMPLE, STATE
from ur_admittance.core.tick import ROUNDING, keep_inside

DT = 0.002


@pytest.fixture
def records():
    """PARAMS with joint limits of 1 rad, STATE, SAMPLE."""
    p, s, u = (np.zeros(1, kind).view(np.recarray)[0] for kind in (PARAMS, STATE, SAMPLE))
    p.joint_lower[:], p.joint_upper[:] = -1.0, 1.0
    return p, s, u


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_command_ahead_of_the_arm_follows_it_beyond_the_slack_and_only_while_it_moves(records, side):
    _, s, u = records
    s.q_command[:3] = side * np.array([0.9 * SLACK, 1.5 * SLACK, 1.5 * SLACK])
    s.qd_command[:2] = 0.5
    forgive_drift(s, u, DT)
    assert s.q_command[0] == side * 0.9 * SLACK
    assert s.q_command[1] == pytest.approx(side * (1.5 * SLACK - DRIFT * 0.5 * DT))
    assert s.q_command[2] == side * 1.5 * SLACK  # at rest nothing is pulled
    s.qd_command[:] = 1e3
    forgive_drift(s, u, DT)
    assert s.q_command[:3] == pytest.approx(side * SLACK * np.array([0.9, 1.0, 1.0]))


def test_rounding_beyond_a_joint_limit_is_cut_off_where_the_arm_is_inside_and_nothing_else(records):
    p, s, u = records
    s.q_command[:] = [1.0 + 0.5 * ROUNDING, -1.0 - 0.5 * ROUNDING, 1.0 + 2.0 * ROUNDING, 0.3, 1.0 + 0.5 * ROUNDING, 0.0]
    u.q[4] = 1.1  # outside: the limit was moved
    before = s.q_command.copy()
    keep_inside(p, s, u)
    assert s.q_command.tolist() == [1.0, -1.0, *before[2:]]


def test_a_disabled_axis_yields_to_what_brakes_it_and_not_to_what_drives_it():
    released = coast(0.1, 8.0, 60.0, 0.0, DT)
    assert coast(0.1, 8.0, 60.0, 20.0, DT) == released
    assert coast(-0.1, 8.0, 60.0, -20.0, DT) == tuple(-x for x in released)
    dx, v = coast(0.1, 8.0, 60.0, -20.0, DT)
    assert 0.0 < dx < released[0]
    assert v == pytest.approx(released[1] - 20.0 / 8.0 * DT, rel=0.01)
    assert coast(0.001, 8.0, 60.0, -200.0, DT) == (0.0, 0.0)  # it never turns round
