"""The surface under a sliding tool: what turns its normal, how fast, and which forces may be friction."""

import numpy as np
import pytest

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.adopt import keep_normal
from ur_admittance.core.contact.surface import estimate_normal, friction_cone
from ur_admittance.core.records import PARAMS, STATE, Frame, new

estimate_normal, friction_cone = compiled(estimate_normal), compiled(friction_cone)
keep_normal = compiled(keep_normal)
DT = 0.002
X, Y, Z = np.eye(3)
SLOPE = np.radians(10.0)
UP_THE_SLOPE = np.cos(SLOPE) * X + np.sin(SLOPE) * Z
NORMAL = np.cos(SLOPE) * Z - np.sin(SLOPE) * X


def slide(distance, velocity, force, commanded=None, by_path=True, stiffness=1e4):
    """The estimated normal after sliding that far [m]."""
    p, state = new(PARAMS)[0], new(STATE)
    p["R_base_task"], p["normal_time"] = np.eye(3), 0.1
    contact = state[0]["contact"]
    contact["normal"], contact["touching"][2], contact["withstood"][2] = Z, 1.0, stiffness
    for _ in range(round(distance / np.linalg.norm(velocity) / DT)):
        estimate_normal(p, contact, force, velocity, velocity if commanded is None else commanded, by_path, DT)
    return contact["normal"].copy()


def tilt(normal):
    return np.degrees(np.arccos(np.clip(normal @ Z, -1.0, 1.0)))


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_a_slope_is_found_with_any_friction(friction):
    force = 10.0 * (NORMAL - friction * UP_THE_SLOPE)
    assert slide(0.03, 0.02 * UP_THE_SLOPE, force) == pytest.approx(NORMAL, abs=1e-3)


def test_a_slope_across_the_path_is_found_from_the_force():
    across = np.cos(SLOPE) * Z - np.sin(SLOPE) * Y
    assert slide(0.03, 0.02 * X, 10.0 * (across - 0.2 * X)) == pytest.approx(across, abs=1e-3)


def test_the_force_of_a_hand_does_not_turn_the_normal():
    pulled = 10.0 * Z + 6.0 * Y
    assert tilt(slide(0.03, 0.02 * X, pulled, by_path=False)) < 1e-6
    assert slide(0.03, 0.02 * UP_THE_SLOPE, pulled, by_path=False) == pytest.approx(NORMAL, abs=1e-3)


def test_the_deeper_the_tool_sinks_in_the_longer_the_distance():
    """It turns by 1 - 1/e of the slope within 1.5 depths: 10 N sink 10 mm into 1 kN/m."""
    share = 10.0 * (1.0 - np.exp(-1.0))
    for stiffness in (1e3, 2e3):
        depths = 1.5 * 10.0 / stiffness
        assert tilt(slide(depths, 0.02 * UP_THE_SLOPE, 10.0 * NORMAL, stiffness=stiffness)) == pytest.approx(
            share, rel=0.05
        )


def test_what_is_not_known_to_be_stiff_is_soft():
    unknown = slide(0.005, 0.02 * UP_THE_SLOPE, 10.0 * NORMAL, stiffness=0.0)
    assert tilt(unknown) == pytest.approx(tilt(slide(0.005, 0.02 * UP_THE_SLOPE, 10.0 * NORMAL, stiffness=1e3)))


def test_a_tool_that_is_pushed_aside_in_an_impact_does_not_slide():
    assert tilt(slide(0.01, 0.02 * UP_THE_SLOPE, 10.0 * NORMAL, commanded=-0.02 * Z)) == 0.0
    assert tilt(slide(0.01, 0.01 * X - 0.02 * Z, 10.0 * NORMAL, commanded=0.02 * X)) == 0.0


def pressed(wrench, friction=0.4, force_axes=(0, 0, 1, 0, 0, 0)):
    p, w = new(PARAMS)[0], np.array(wrench, dtype=float)
    p["contact_friction"], p["force_axes"] = friction, force_axes
    friction_cone(p, w)
    return w


def test_forces_inside_the_cone_move_nothing_and_outside_only_by_the_rest():
    assert pressed([2.0, 3.0, 10.0, 1.0, 1.0, 1.0]) == pytest.approx([0.0, 0.0, 10.0, 1.0, 1.0, 1.0])
    assert pressed([6.0, 8.0, 10.0, 0.0, 0.0, 0.0]) == pytest.approx([3.6, 4.8, 10.0, 0.0, 0.0, 0.0])


def test_without_a_force_axis_or_a_cone_no_force_is_friction():
    w = [1.0, 2.0, 10.0, 0.1, 0.2, 0.3]
    assert pressed(w, force_axes=[0] * 6) == pytest.approx(w)
    assert pressed(w, friction=0.0) == pytest.approx(w)


@pytest.mark.parametrize("path", ["velocity", "target", "none"])
def test_a_path_leads_whether_it_is_a_velocity_or_a_target(ideal_arm, path):
    across = np.cos(SLOPE) * Z - np.sin(SLOPE) * Y
    arm = ideal_arm(**{"control_frame": "normal", "admittance.enabled_axes": [False] * 6, "contact.normal_time": 0.02})
    if path == "target":
        R, position = arm.pose()
        arm.target = (1, position + 0.1 * X, R)
    velocity = 0.15 * X if path == "velocity" else 0.0 * X
    log = arm.run(0.2, push=[*(10.0 * (across - 0.2 * X)), 0.0, 0.0, 0.0], twist=[*velocity, 0.0, 0.0, 0.0])
    turned = np.degrees(np.arctan2(-log["normal"][-1][1], log["normal"][-1][2]))
    assert (turned > 5.0) == (path != "none")


@pytest.mark.parametrize(
    ("frame", "turned", "stays"), [(Frame.NORMAL, 40.0, True), (Frame.NORMAL, 75.0, False), (Frame.TASK, 40.0, False)]
)
def test_a_new_task_axis_leaves_an_estimated_normal_that_is_near_it(frame, turned, stays):
    p, s = (new(kind).view(np.recarray)[0] for kind in (PARAMS, STATE))
    angle = np.radians(turned)
    axis = np.array([np.sin(angle), 0.0, np.cos(angle)])
    p.R_base_task[:, 2], s.contact.normal[:], s.known.control_frame = axis, Z, frame
    keep_normal(p, s)
    assert s.contact.normal == pytest.approx(Z if stays else axis)
