"""Parameters that an active controller refuses: it would move although nothing pushes it."""

import re

import numpy as np
import pytest

from ur_admittance.control.zeroing import unrest
from ur_admittance.core.records import Mode
from ur_admittance.errors import ParameterError
from ur_admittance.runtime.mailbox import Mailbox

MOUNTING = [
    ("gravity", [0.0, 9.80665, 0.0]),
    ("sensor.sign", -1.0),
    ("sensor.rotation", [0.1, 0.0, 0.0]),
    ("sensor.position", [0.0, 0.0, 0.02]),
]


@pytest.mark.parametrize(("name", "value"), MOUNTING)
def test_how_the_sensor_is_mounted_changes_only_while_the_arm_is_not_active(bench, name, value):
    b = bench().active()
    with pytest.raises(ParameterError, match=f"{name}: changes only while the arm is not active; deactivate first"):
        b.controller.set_parameters({name: value})
    b.controller.deactivate()
    b.run(0.1)
    b.controller.set_parameters({name: value})
    assert b.controller.mode == Mode.INACTIVE


@pytest.mark.parametrize(
    ("changes", "push"),
    [
        ({"sensor.bias": [5.0, 0.0, 0.0, 0.0, 0.0, 0.0]}, "5 N"),
        ({"sensor.bias": [0.0, 0.0, 0.0, 0.0, 0.6, 0.0]}, "0.6 Nm"),
        ({"tool.mass": 2.0}, "19.6 N"),
        ({"tool.mass": 0.1, "tool.center_of_mass": [0.5, 0.5, 0.0]}, "Nm"),
    ],
)
def test_a_zero_or_tool_that_would_be_felt_as_a_push_is_refused_with_its_size(bench, changes, push):
    b = bench().active()
    b.run(0.1)
    with pytest.raises(ParameterError, match=f"a push of .*{push} that nobody gives .*deactivate first"):
        b.controller.set_parameters(changes)
    assert np.abs(b.run(0.5)).max() < 1e-12


THRESHOLD, FORCE_AXES = "admittance.min_motion_threshold", "admittance.force_axes"
FALSE = {"sensor.bias": [1.4, 0.0, 0.0, 0.0, 0.0, 0.0]}  # [N] below the threshold of 1.5 N
LEVER = {"tool.tcp": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0]}
PRESSING = {FORCE_AXES: [True] * 3 + [False] * 3}


@pytest.mark.parametrize(
    ("start", "steps"),
    [
        ({}, [{"sensor.bias": [0.04 * k, 0.0, 0.0, 0.0, 0.0, 0.0]} for k in range(50)]),
        ({}, [{"tool.mass": 0.004 * k} for k in range(50)]),
        ({}, [{THRESHOLD: 6.0}, {"sensor.bias": [5.0, 0.0, 0.0, 0.0, 0.0, 0.0]}, {THRESHOLD: 0.1}]),
        ({}, [FALSE, PRESSING]),
        (PRESSING, [FALSE]),
        ({}, [FALSE, LEVER]),
        (LEVER, [FALSE]),
    ],
    ids=("zero", "tool", "threshold", "force axis later", "force axis", "lever later", "lever"),
)
def test_a_wrong_zero_does_not_become_a_push_in_small_steps(bench, start, steps):
    b = bench(**start).active()
    said = set()
    for changes in steps:
        try:
            b.controller.set_parameters(changes)
        except ParameterError as error:
            said.add(str(error).partition("push of ")[2])
        assert np.abs(b.run(0.05)).max() < 1e-12
    assert said
    assert all(re.match(r"[0-9.]+ Nm? that nobody gives", sentence) for sentence in said)
    assert np.abs(b.run(0.5)).max() < 1e-12


def test_a_pushed_arm_takes_other_parameters_after_a_better_zero(bench):
    b = bench().active()
    drifted = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    b.run(1.0, wrench=drifted)
    b.controller.set_parameters({"sensor.bias": drifted.tolist()})
    b.run(1.0, wrench=drifted - [0.0, 0.0, 10.0, 0.0, 0.0, 0.0])  # less is felt with the old zero
    b.controller.set_parameters({THRESHOLD: 1.0})
    b.controller.set_parameters({"sensor.bias": [0.0, 0.0, 2.99, 0.0, 0.0, 0.0]})


def test_the_weight_of_a_tool_that_was_forgotten_may_be_taken_off_and_comes_off_smoothly(bench):
    b = bench(**{"admittance.stiffness": [300.0] * 3 + [20.0] * 3}).active()
    R = b.controller.model.forward(b.q)[0]
    weight = np.concatenate([R.T @ [0.0, 0.0, -9.80665], np.zeros(3)])
    b.run(3.0, wrench=weight)
    b.controller.set_parameters({"tool.mass": 1.0})
    qd = b.run(3.0, wrench=weight)
    assert np.abs(np.diff(qd[:200], n=2, axis=0)).max() / 0.002 < 0.05  # [rad/s2] from one cycle to the next
    assert b.controller.mode == Mode.ACTIVE
    assert np.abs(b.q - b.controller.model.home).max() < 1e-3


def test_the_mailbox_answers_a_refused_change_with_the_sentence(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    b = bench().active()
    with Mailbox("refusing") as mailbox:
        answer = mailbox.answer(b.controller, b'{"set": {"tool.mass": 2.0}}')
    assert not answer.accepted
    assert "would feel a push of 19.6 N" in answer.text


def test_the_tcp_of_an_active_arm_stays_while_its_wrench_is_about_the_tcp_of_another_program(bench):
    b = bench(**{"sensor.source": "probe:/netft/proc_probe"}).active()
    with pytest.raises(ParameterError, match=r"tool.tcp: the wrench of sensor.source = probe:/netft"):
        b.controller.set_parameters({"tool.tcp": [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]})
    b.controller.set_parameters({"admittance.damping_ratio": [1.0] * 6})  # nothing else is held back
    other = bench().active()
    other.controller.set_parameters({"tool.tcp": [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]})
    assert other.controller.mode == Mode.ACTIVE


@pytest.mark.parametrize("axis", range(6))
def test_a_reading_is_at_rest_up_to_the_spread_of_common_sensors_and_no_further(axis):
    most = (0.5, 0.5, 0.5, 0.05, 0.05, 0.05)[axis]  # [N, Nm]
    assert unrest(0.0, 0.99 * most * np.eye(6)[axis]) == ""
    assert unrest(0.0, 1.01 * most * np.eye(6)[axis]) != ""
    assert unrest(0.0101, np.zeros(6)) != ""


def test_nothing_about_a_second_sensor_changes_while_the_arm_is_active_and_its_source_only_when_unconfigured(bench):
    b = bench().active()
    for name, value in (("second.bias", [1.0] + [0.0] * 5), ("second.tolerance", [9.0, 0.9]), ("second.lag", 0.1)):
        with pytest.raises(ParameterError) as refused:
            b.controller.set_parameters({name: value})
        assert refused.value.name == name
    b.controller.deactivate()
    b.run(0.1)
    with pytest.raises(ParameterError) as refused:
        b.controller.set_parameters({"second.source": "builtin"})
    assert refused.value.name == "second.source", "not before it is unconfigured"
