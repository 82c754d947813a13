"""Life cycle, parameters, references and zeroing, as a program sees them."""

import tracemalloc

import numpy as np
import pytest

from ur_admittance.control.references import WAITS
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import CalibrationError, Doubt, LifecycleError, ParameterError
from ur_admittance.model.frames import rotation_z

NOT_YET = ("activate", "deactivate", "reset_fault", "retreat", "latch_reference", "cleanup", "zero_ft_sensor")
PUSH = np.array([10.0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("action", NOT_YET)
def test_an_unconfigured_controller_does_nothing_but_configure(bench, action):
    with pytest.raises(LifecycleError, match="unconfigured"):
        getattr(bench().controller, action)()


def test_every_action_that_does_not_fit_is_refused_and_changes_nothing(bench):
    b = bench()
    c = b.controller
    c.configure()
    with pytest.raises(LifecycleError, match="already configured"):
        c.configure()
    with pytest.raises(LifecycleError, match="not in fault"):
        c.reset_fault()
    c.activate()
    b.run(0.002)
    b.run(0.1, PUSH)
    for action in (c.activate, c.cleanup, c.reset_fault, c.retreat, c.configure):
        with pytest.raises(LifecycleError):
            action()
    assert c.mode == Mode.ACTIVE
    b.run(0.002, [200, 0, 0, 0, 0, 0])
    assert (c.mode, c.status) == (Mode.FAULT, Status.OVER_FORCE)
    assert c.reason == "stopped: force 200.0 N is above safety.max_force 100.0 N"
    with pytest.raises(LifecycleError, match="reset the fault first"):
        c.activate()


def test_the_whole_life(bench):
    b = bench().active()
    c = b.controller
    assert np.abs(b.run(0.5, PUSH)[-1]).max() > 0.05
    c.deactivate()
    b.run(0.002, PUSH)
    assert c.mode == Mode.STOPPING
    b.run(0.5, PUSH)
    assert c.mode == Mode.INACTIVE
    assert not b.qd.any()
    with pytest.raises(Doubt):
        c.activate()  # the push is still there
    b.run(0.1)
    c.activate()
    b.run(0.2, wrench_age=0.1)
    assert c.status == Status.STALE_WRENCH
    assert c.mode in (Mode.INACTIVE, Mode.FAULT)
    c.deactivate()
    b.run(0.1)
    c.cleanup()
    assert not c.configured
    c.configure()
    c.activate()
    b.run(0.1)
    assert c.mode == Mode.ACTIVE


def test_a_fault_is_left_by_reset_and_activation_without_motion(bench, record_property):
    b = bench().active()
    b.run(0.3, PUSH)
    b.run(0.5, joint_age=1.0)
    assert b.controller.status == Status.STALE_JOINTS
    with pytest.raises(LifecycleError):
        b.controller.reset_fault()
    assert b.controller.command["hindrance"] == Status.STALE_JOINTS
    b.run(0.002)
    b.controller.reset_fault()
    b.run(0.002)
    assert b.controller.mode == Mode.INACTIVE
    b.controller.activate()
    speed = np.abs(b.run(0.3)).max()
    record_property("joint speed [rad/s]", float(speed))
    assert speed < 1e-9
    assert b.controller.mode == Mode.ACTIVE


@pytest.mark.parametrize(("at_arm", "expected"), [(False, 0.0), (True, 0.01)])
def test_activation_starts_at_the_arm_when_others_may_have_moved_it(bench, at_arm, expected):
    """A small difference may be a load that is held, or another program's motion: who activates knows."""
    b = bench().active()
    b.run(0.1)
    b.controller.deactivate()
    b.run(0.1)
    before = b.controller.command["q"].copy()
    b.q[0] += 0.01
    b.controller.activate(start_at_arm=at_arm)
    b.run(0.002)
    assert b.controller.mode == Mode.ACTIVE
    assert b.controller.command["q"][0] - before[0] == pytest.approx(expected, abs=1e-4)


def test_changes_are_taken_over_together_at_the_next_update(bench):
    b = bench().active()
    c = b.controller
    revision = c.params["revision"]
    c.set_parameters({"admittance.mass": [4.0] * 6, "max_linear_velocity": 0.2})
    assert c.params["mass"][0] == 8.0
    b.run(0.002)
    assert c.params["mass"][0] == 4.0
    assert c.params["max_velocity"][0] == 0.2
    assert c.params["revision"] == revision + 1


def test_a_bad_change_is_refused_whole_with_its_name_and_value(bench):
    c = bench().active().controller
    before = c.params.tobytes()
    with pytest.raises(ParameterError) as refused:
        c.set_parameters({"max_linear_velocity": 0.1, "admittance.mass": [1, 1, -1, 1, 1, 1]})
    assert refused.value.name == "admittance.mass[2]"
    c.update()
    assert c.params.tobytes() == before
    assert c.parameters.max_linear_velocity == 0.5


@pytest.mark.parametrize("change", [{"control_rate": 250.0}, {"tip_link": "tool1"}])
def test_what_is_fixed_changes_only_while_unconfigured(bench, change):
    c = bench().active().controller
    with pytest.raises(ParameterError, match="unconfigured"):
        c.set_parameters(change)


def test_with_dynamic_parameters_off_nothing_changes_live(bench):
    c = bench(dynamic_parameters=False).active().controller
    with pytest.raises(ParameterError, match="dynamic_parameters is false"):
        c.set_parameters({"admittance.mass": [4.0] * 6})


def test_a_streamed_twist_that_is_not_renewed_ends(bench):
    b = bench().active()
    b.controller.set_reference_twist([0.05, 0, 0, 0, 0, 0])
    assert np.abs(b.run(0.05)[-1]).max() > 0.01
    b.run(0.05)
    b.run(0.3)
    assert np.abs(b.qd).max() < 1e-3
    assert not b.controller.state["led"]["twist"].any()


def test_a_twist_that_comes_too_late_moves_nothing(bench):
    b = bench().active()
    b.controller.set_reference_twist([0.05, 0, 0, 0, 0, 0], valid_for=0.0)
    assert np.abs(b.run(0.3)).max() < 1e-6
    assert not b.controller.state["led"]["twist"].any()


def test_a_twist_does_not_outlive_a_cycle_without_a_time(bench):
    b = bench().active()
    b.controller.set_reference_twist([0.05, 0, 0, 0, 0, 0], valid_for=10.0)
    b.controller.sample["dt"] = np.nan
    b.controller.update()
    assert not b.controller.state["led"]["twist"].any()


def test_a_streamed_wrench_that_is_not_renewed_ends_and_the_arm_comes_to_rest(bench):
    b = bench().active()
    for _ in range(100):
        b.controller.set_reference_wrench([0, 0, -8.0, 0, 0, 0])
        b.run(0.01)
    assert np.abs(b.qd).max() > 0.05
    b.run(0.1)
    assert not b.controller.state["led"]["wrench"].any()
    b.run(1.5)
    assert np.abs(b.qd).max() < 1e-3


def test_a_wrench_lasts_as_long_as_it_is_said_to(bench):
    b = bench().active()
    for seconds, rests in ((0.0, True), (0.5, True), (np.inf, False)):
        b.controller.set_reference_wrench([0, 0, -8.0, 0, 0, 0], valid_for=seconds)
        b.run(0.6)
        assert b.controller.state["led"]["wrench"].any() != rests
    b.controller.sample["dt"] = np.nan
    b.controller.update()
    assert not b.controller.state["led"]["wrench"].any()
    with pytest.raises(ParameterError, match="valid_for"):
        b.controller.set_reference_wrench([0.0] * 6, valid_for=-1.0)


@pytest.mark.parametrize("method", ["set_reference_twist", "set_reference_wrench"])
@pytest.mark.parametrize("value", [[np.nan] + [0.0] * 5, [0.0] * 5])
def test_references_that_are_not_six_finite_numbers_are_refused(bench, method, value):
    with pytest.raises(ParameterError):
        getattr(bench().controller, method)(value)


def test_a_target_that_is_no_rotation_is_refused(bench):
    with pytest.raises(ParameterError, match="rotation"):
        bench().controller.set_target_pose([0.3, 0, 0.3], 1.1 * np.eye(3))


@pytest.mark.parametrize(
    ("shift", "turn", "words"),
    [
        (
            [0.6, 0.0, 0.0],
            0.0,
            "target position: 0.600 m from the tool, must be at most safety.max_position_error = 0.5 m",
        ),
        (
            [0.1, 0.0, 0.0],
            0.7,
            "target rotation: 0.700 rad from the tool, must be at most safety.max_orientation_error",
        ),
    ],
)
def test_a_target_pose_that_is_far_away_is_refused_with_its_distance_and_nothing_moves(bench, shift, turn, words):
    b = bench().active()
    R, p = b.controller.model.forward(b.q)
    with pytest.raises(ParameterError, match=words):
        b.controller.set_target_pose(p + shift, rotation_z(turn) @ R)
    assert np.abs(b.run(0.5)).max() < 1e-12
    b.controller.set_target_pose(p + 0.5 * np.array(shift), rotation_z(0.5 * turn) @ R)
    assert np.abs(b.run(0.5)).max() > 0.01


def test_latching_the_reference_lets_the_spring_forget(bench):
    b = bench(
        **{"admittance.stiffness": [200.0] * 3 + [20.0] * 3, "admittance.stiffness_engagement_time": 0.0}
    ).active()
    b.run(2.0, PUSH)
    q = b.q.copy()
    b.controller.latch_reference()
    b.run(0.002, PUSH)
    assert np.abs(b.controller.state["offset"]).max() < 1e-3
    b.run(2.0)
    assert np.abs(b.q - q).max() < 0.02


def test_zeroing_makes_a_steady_reading_the_new_zero(bench):
    b = bench().active()
    reading = np.array([0.8, -0.3, 0.2, 0.02, 0.01, -0.03])
    b.run(0.6, reading)
    change = b.controller.zero_ft_sensor()
    assert change == pytest.approx(reading, abs=1e-9)
    b.run(0.2, reading)
    assert np.abs(b.controller.command["wrench_sensor"]).max() < 1e-6


def test_zeroing_is_refused_while_moving_shaking_or_too_early(bench):
    b = bench().active()
    with pytest.raises(CalibrationError, match="readings so far"):
        b.controller.zero_ft_sensor()
    b.run(0.6, PUSH)
    with pytest.raises(CalibrationError, match="is moving"):
        b.controller.zero_ft_sensor()
    b = bench().active()
    for k in range(300):
        b.run(0.002, [1.2 * (-1) ** k, 0, 0, 0, 0, 0])
    with pytest.raises(CalibrationError, match="reading varies"):
        b.controller.zero_ft_sensor()


def test_memory_is_flat_over_ten_thousand_updates(bench, record_property):
    b = bench().active()
    update = b.controller.update
    tracemalloc.start()
    for _ in range(5_000):  # until Python's free lists are full
        update()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        update()
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    record_property("bytes that 10,000 updates leave", float(last - first))
    assert last - first < 10_000  # bytes: less than one per update; the drift monitor's window fills slowly


@pytest.mark.parametrize(
    "tcp", [[0.0, 0.0, 0.3, 0.0, 0.0, 0.0], [0.1, 0.0, 0.2, 1.0, -0.5, 0.3]], ids=("longer", "turned")
)
@pytest.mark.parametrize("seconds", [0.002, 1.5], ids=("at the start", "nearly there"))
def test_another_tcp_leaves_a_target_pose_at_its_place_of_the_arm(bench, tcp, seconds):
    ends = []
    for changed in (False, True):
        b = bench(**{"tool.tcp": [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]}).active()
        b.run(0.1)
        p, R = b.controller.command["p_tcp"].copy(), b.controller.command["R_tcp"].copy()
        b.controller.set_target_pose(p + [0.05, 0.0, 0.0], R)
        b.run(seconds)
        if changed:
            b.controller.set_parameters({"tool.tcp": tcp})
        b.run(3.0)
        ends.append(b.q.copy())
    assert np.abs(ends[1] - ends[0]).max() < 1e-5


def test_a_target_pose_after_a_change_of_the_tcp_is_one_of_the_new_tcp(bench):
    b = bench().active()
    b.run(0.1)
    p, R = b.controller.command["p_tcp"].copy(), b.controller.command["R_tcp"].copy()
    b.controller.set_parameters({"tool.tcp": [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]})
    b.controller.set_target_pose(p, R)  # in the same cycle: 0.1 m back
    b.run(4.0)
    assert np.abs(b.controller.command["p_tcp"] - p).max() < 1e-4


def test_a_reference_that_waits_in_front_of_a_singular_pose_says_so_until_it_has_another_target(bench):
    b = bench()
    b.q[:] = [0.0, -1.2, 0.6, -1.5, -1.5, 0.3]
    b.active().run(0.1)
    p, R = b.controller.command["p_tcp"].copy(), b.controller.command["R_tcp"].copy()
    b.controller.set_target_pose(p * (1.0 + 0.3 / np.linalg.norm(p)), R)
    b.run(0.5)
    assert "waits" not in b.controller.reason
    b.run(4.0)
    assert b.controller.reason == f"active; {WAITS}"
    assert np.abs(b.qd).max() < 1e-4
    b.controller.set_target_pose(p, R)
    b.run(0.1)
    assert b.controller.reason == "active"
