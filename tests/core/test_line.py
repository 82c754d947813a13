"""The reference keeps its line: it slows down near singular poses and stops in front of where the arm cannot go."""

import numpy as np
import pytest

from benchmarks.lines import run
from ur_admittance.core.records import Limit, Mode

TURNED = 0.6  # [rad] between the joints of both ends of a random line
ON_LINE = 1e-3  # [m] 1 of 3,000 lines was left by more: 3 mm, by joints that had to brake after a straight wrist
X, Y, Z = np.eye(6)[:3]
WRIST = np.array([0.0, -1.2, 1.6, -0.9, 0.0, 0.3])
LEAVE = {"reference.at_singularity": "leave"}
APART = {"collision.enabled": False}


# While the reference was bent at singular poses, these were left by 229 and 246 mm.
@pytest.mark.parametrize("number", [50603, 50710])
def test_a_line_that_ends_at_a_singular_pose_is_kept_and_the_tool_waits_in_front(number):
    line = run(number, TURNED)
    assert line.off < ON_LINE
    assert line.turned < 1e-4
    assert line.stands
    assert not line.arrived
    assert line.said
    assert line.goes_on == 0.0  # Newton finds no straight way on


def test_a_line_is_kept_or_the_tool_waits_in_front_of_where_it_cannot_be(sweep, record_property):
    lines = [run(number, TURNED) for number in range(70_000, 70_000 + sweep(15))]
    record_property("off the line [mm]", 1e3 * max(line.off for line in lines))
    record_property("waits", sum(not line.arrived for line in lines))
    for line in lines:
        assert line.off < ON_LINE, line
        assert line.arrived or line.stands, line
    assert any(line.arrived for line in lines)


def test_leaving_the_line_is_a_choice():
    assert run(50603, TURNED, leave=True).off > 0.1


@pytest.mark.parametrize("direction", [Y, X, -X, [0.0, 0.6, -0.8, 0, 0, 0]])
@pytest.mark.parametrize("closest", [0.003, 0.02, 0.1])  # [rad] from straight; the first is in a singular pose
def test_a_streamed_velocity_keeps_its_line_past_a_straight_wrist(ideal_arm, closest, direction):
    direction = np.array(direction, float)
    arm = ideal_arm(q=WRIST - closest * np.eye(6)[4])
    log = arm.run(3.0, twist=0.1 * direction)
    way, unit = log["p_tcp"] - log["p_tcp"][0], direction[:3]
    assert np.linalg.norm(way - np.outer(way @ unit, unit), axis=1).max() < 1e-4
    assert np.linalg.norm(way[-1]) > 0.1 or log["pace"][-1] < 1e-3


def test_an_arm_that_begins_in_a_singular_pose_leaves_it(ideal_arm):
    arm = ideal_arm(q=WRIST)
    R, p = arm.pose()
    arm.target = (1, p + [-0.1, 0.05, -0.05], R)
    arm.run(8.0)
    assert np.linalg.norm(arm.pose()[1] - arm.target[1]) < 1e-4


def test_the_tool_leaves_its_line_for_a_hand_and_comes_back(ideal_arm):
    """Compliance is the law: a spring of 300 N/m gives way by 20 mm to 6 N while the reference goes on."""
    arm = ideal_arm(**{"admittance.stiffness": [300.0] * 3 + [20.0] * 3, "admittance.stiffness_engagement_time": 0.0})
    p0 = arm.pose()[1]
    arm.run(3.0, twist=0.03 * Y, push=6.0 * Z)
    assert arm.pose()[1] - p0 == pytest.approx([0.0, 0.09, 0.02], abs=1e-3)
    arm.run(3.0)
    assert arm.pose()[1] - p0 == pytest.approx([0.0, 0.09, 0.0], abs=1e-4)


def test_a_hand_feels_no_difference_near_singular_poses(ideal_arm):
    rng = np.random.default_rng(12)
    pushes = np.repeat(rng.normal(size=(20, 6)) * [30, 30, 30, 4, 4, 4], 100, axis=0)
    for q in (WRIST, [0.2, -1.0, 0.02, -0.7, -1.2, 0.0], [0.0, -1.5708, 0.0, -1.5708, 0.01, 0.0]):
        kept, left = (ideal_arm(q=q, **APART, **given).run(4.0, push=pushes) for given in ({}, LEAVE))
        assert kept.tobytes() == left.tobytes()
        assert kept["sigma_min"].min() < 0.004


def test_a_hand_leads_the_tool_away_from_where_its_reference_waits(ideal_arm):
    arm = ideal_arm(q=[0.0, -1.2, 0.6, -1.5, -1.5, 0.3])
    R, p = arm.pose()
    arm.target = (1, p + 0.3 * p / np.linalg.norm(p), R)
    log = arm.run(4.0)
    assert log["pace"][-1] < 1e-3
    assert log["limits"][-1] & Limit.SINGULARITY
    stood = arm.pose()[1]
    arm.run(1.0, push=-30.0 * X)
    assert stood[0] - arm.pose()[1][0] > 0.1
    assert arm.s["mode"] == Mode.ACTIVE
