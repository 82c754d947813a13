"""What the arm is said to do without a push is what it does."""

import re

import numpy as np
import pytest

from ur_admittance.params import Parameters, preset
from ur_admittance.params.own_motion import moves_more, own_motion_of

SAID = re.compile(
    r"(moves along|turns about) ([+-])([xyz]) at up to (\S+) (?:m|rad)/s until it is pushed back with (\S+) Nm?"
    r"(?: or by its spring after (\S+) (?:m|rad))?"
)


@pytest.mark.parametrize("axis", [0, 2, 4])
@pytest.mark.parametrize(
    ("wanted", "force_axis", "spring"), [(6.0, True, 0.0), (-6.0, False, 0.0), (4.0, False, 100.0)]
)
def test_a_free_tool_leaves_in_the_direction_and_at_the_speed_that_are_announced(
    bench, axis, wanted, force_axis, spring
):
    scale = 1.0 if axis < 3 else 0.1
    wrench, axes, stiffness = [0.0] * 6, [False] * 6, [0.0] * 6
    wrench[axis], axes[axis], stiffness[axis] = scale * wanted, force_axis, scale * spring
    b = bench(
        **{
            "admittance.desired_wrench": wrench,
            "admittance.force_axes": axes,
            "admittance.stiffness": stiffness,
            "admittance.compensate_mass": False,
        }
    ).active()
    [(does, sign, letter, speed, _, spring_end)] = SAID.findall(b.controller.own_motion)
    went, fastest, farthest = np.zeros(6), 0.0, 0.0
    for _ in range(1000):
        b.run(0.002)
        twist = np.array(b.controller.command["twist"])
        went += 0.002 * twist
        fastest, farthest = max(fastest, np.abs(twist).max()), max(farthest, np.abs(went).max())
    assert "xyz"[axis % 3] == letter
    assert does == ("moves along" if axis < 3 else "turns about")
    assert np.sign(went[axis]) == (1 if sign == "+" else -1)
    assert np.abs(np.delete(went, axis)).max() < 1e-3 * abs(went[axis])
    assert fastest <= 1.01 * float(speed)
    assert fastest > 0.5 * float(speed)
    if spring_end:
        assert farthest == pytest.approx(float(spring_end), rel=0.1)


@pytest.mark.parametrize("name", ["surface_following", "polishing", "probe_contact", "assembly"])
def test_presets_that_press_say_so_and_the_others_stand(name):
    assert "pushed back with" in own_motion_of(preset(name))
    assert own_motion_of(preset("hand_guiding")) == own_motion_of(Parameters()) == ""


def test_an_axis_that_is_off_does_not_move():
    wrench, enabled = [0.0, 0.0, 10.0, 0.0, 0.0, 0.0], [True, True, False, True, True, True]
    changes = {"admittance.desired_wrench": wrench, "admittance.enabled_axes": enabled}
    assert own_motion_of(Parameters().changed(changes)) == ""


PRESSING = Parameters().changed(
    {"admittance.desired_wrench": [0, 0, 10, 0, 0, 0], "admittance.stiffness": [0, 0, 100, 0, 0, 0]}
)


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({}, False),
        ({"admittance.desired_wrench": [0, 0, 5, 0, 0, 0]}, False),  # slower
        ({"admittance.desired_wrench": [0, 0, 20, 0, 0, 0]}, True),
        ({"admittance.desired_wrench": [0, 0, -5, 0, 0, 0]}, True),  # the other way
        ({"admittance.desired_wrench": [0, 0, 10, 0, 0, 0.5]}, True),  # about another axis, too
        ({"admittance.damping": [300] * 6}, False),
        ({"admittance.damping": [20] * 6}, True),
        ({"admittance.stiffness": [0] * 6}, True),  # the spring that held it is gone
        ({"admittance.stiffness": [0, 0, 200, 0, 0, 0]}, False),
        ({"admittance.stiffness": [50, 0, 100, 0, 0, 0]}, False),  # of an axis that stands
        ({"control_frame": "tcp"}, True),  # another direction
        ({"control_frame": "task", "task_rotation": [0, 1, 0]}, True),
        ({"admittance.mass": [4] * 6, "admittance.damping": [64] * 6}, False),
        ({"admittance.enabled_axes": [True, True, False, True, True, True]}, False),
    ],
)
def test_more_motion_than_now_is_noticed_whatever_causes_it(change, more):
    assert moves_more(PRESSING, PRESSING.changed(change)) == more


def test_more_force_on_a_force_axis_is_more_although_the_approach_is_as_fast():
    now = preset("surface_following")
    wrench = [2 * value for value in now.admittance.desired_wrench]
    assert moves_more(now, now.changed({"admittance.desired_wrench": wrench}))
    assert not moves_more(now.changed({"admittance.desired_wrench": wrench}), now)
