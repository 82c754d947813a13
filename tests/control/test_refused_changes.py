"""Parameters that an active controller refuses: it would move although nothing pushes it."""

import numpy as np
import pytest

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


def test_nothing_about_a_second_sensor_changes_while_the_arm_is_active_and_its_source_only_when_unconfigured(bench):
    b = bench().active()
    for name, value in (("second.bias", [1.0] + [0.0] * 5), ("second.tolerance", [9.0, 0.9]), ("second.lag", 0.1)):
        with pytest.raises(ParameterError, match="deactivate first"):
            b.controller.set_parameters({name: value})
    with pytest.raises(ParameterError, match="while unconfigured"):
        b.controller.set_parameters({"second.source": "builtin"})
