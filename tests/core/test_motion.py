"""The whole tick on an ideal arm: what a push does."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

STIFF = {"admittance.stiffness": [200.0] * 3 + [20.0] * 3, "admittance.stiffness_engagement_time": 0.0}
X, Y, Z = np.eye(6)[:3]


def angle_between(A, B):
    return np.linalg.norm(Rotation.from_matrix(A @ B.T).as_rotvec())


def test_constant_push_settles_at_force_over_stiffness(ideal_arm):
    arm = ideal_arm(**STIFF)
    R0, p0 = arm.pose()
    arm.run(6.0, push=[8, -6, 4, 0.6, -0.4, 0.8])
    R, p = arm.pose()
    assert p - p0 == pytest.approx([0.04, -0.03, 0.02], abs=1e-6)
    assert Rotation.from_matrix(R @ R0.T).as_rotvec() == pytest.approx([0.03, -0.02, 0.04], abs=1e-6)
    arm.run(6.0)
    assert arm.pose()[1] == pytest.approx(p0, abs=1e-6)
    assert angle_between(arm.pose()[0], R0) < 1e-6


def test_free_push_reaches_force_over_damping(ideal_arm):
    arm = ideal_arm()
    log = arm.run(1.2, push=10 * X)
    assert log["twist"][-1] == pytest.approx(10.0 / 64.0 * X, abs=2e-5)


def test_free_push_follows_the_solution_of_the_law(ideal_arm):
    arm = ideal_arm()
    p0 = arm.pose()[1]
    log = arm.run(0.8, push=10 * Y)
    oracle = solve_ivp(lambda t, y: [y[1], (10.0 - 64.0 * y[1]) / 8.0], (0, 0.8), [0, 0], rtol=1e-12, atol=1e-14).y[
        :, -1
    ]
    assert arm.pose()[1][1] - p0[1] == pytest.approx(oracle[0], abs=2e-6)
    assert log["rate"][-1, 1] == pytest.approx(oracle[1], abs=1e-6)


def test_force_response_linearity(ideal_arm):
    ways = []
    for force in (2.0, 5.0, 10.0, 20.0):
        arm = ideal_arm()
        p0 = arm.pose()[1]
        arm.run(0.5, push=force * Z)
        ways.append((arm.pose()[1] - p0) / force)
    assert np.ptp(ways, axis=0).max() < 1e-5 * ways[0][2]  # [m/N]


@pytest.mark.slow
def test_drift_prevention_a_bias_inside_the_deadband_moves_nothing_in_ten_minutes(ideal_arm):
    arm = ideal_arm(**{"admittance.min_motion_threshold": 1.5, "admittance.min_motion_threshold_torque": 0.3})
    q0 = arm.s["q_command"].copy()
    for _ in range(10):
        arm.run(60.0, push=[0.3, 0.3, 0.2, 0.05, 0.05, 0.05])
    assert np.abs(arm.s["q_command"] - q0).max() < 1e-12


def test_drift_prevention_does_not_stop_a_small_push_from_starting_a_motion(ideal_arm):
    arm = ideal_arm(**{"admittance.min_motion_threshold": 1.5})
    arm.run(3.0)
    p0 = arm.pose()[1]
    arm.run(2.0, push=2 * X)
    assert arm.pose()[1][0] - p0[0] == pytest.approx(0.5 / 64.0 * (2.0 - 8.0 / 64.0), rel=0.01)


def test_a_small_push_on_a_quiet_force_axis_starts_a_motion(ideal_arm):
    arm = ideal_arm(
        **{"admittance.force_axes": [False, False, True, False, False, False]},
        **{"admittance.min_motion_threshold": 1.5, "admittance.min_motion_threshold_torque": 0.3},
    )
    arm.run(1.0)
    p0 = arm.pose()[1]
    arm.run(1.0, push=0.8 * Z)
    assert arm.pose()[1][2] - p0[2] == pytest.approx(0.8 / 64.0 * (1.0 - 8.0 / 64.0), rel=0.01)


def test_without_stiffness_the_arm_stays_where_it_is_released(ideal_arm):
    arm = ideal_arm()
    arm.run(0.5, push=[10, 5, -5, 0.5, 0.2, 1.0])
    arm.run(2.0)
    R, p = arm.pose()
    log = arm.run(10.0)
    assert arm.pose()[1] == pytest.approx(p, abs=1e-9)
    assert angle_between(arm.pose()[0], R) < 1e-8
    assert np.abs(log["twist"][-1]).max() < 1e-15


def test_rotations_about_two_axes_are_composed_as_rotations(ideal_arm):
    arm = ideal_arm()
    R0 = arm.pose()[0]
    torques = np.zeros((1000, 6))
    torques[:500, 3], torques[500:, 5] = 2.0, 2.0
    log = arm.run(2.0, push=torques)
    expected = np.eye(3)
    for w in log["rate"][:, 3:]:  # free axes: w of the law is the angular velocity of the tool
        expected = Rotation.from_rotvec(w * arm.dt).as_matrix() @ expected
    assert angle_between(expected @ R0, arm.pose()[0]) < 2e-3
    assert angle_between(R0, arm.pose()[0]) > 0.4
    assert angle_between(log["R_tcp"][-1], log["R_ref"][-2]) < 1e-5


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_mixed_stiffness_free_axes_stay_and_sprung_axes_return(ideal_arm, gain):
    arm = ideal_arm(
        **STIFF
        | {"admittance.stiffness": [200, 0, 200, 20, 0, 20], "tracking.velocity_gain": [2 * gain] * 3 + [gain] * 3}
    )
    p0 = arm.pose()[1]
    log = arm.run(2.0, push=[10, 4, 0, 6, 0.5, 0])
    assert np.abs(log["pose_error"]).max() < 1e-3
    log = arm.run(6.0)
    p = arm.pose()[1]
    assert p[[0, 2]] == pytest.approx(p0[[0, 2]], abs=1e-5)
    assert p[1] - p0[1] == pytest.approx(4.0 / 64.0 * 2.0, rel=0.01)
    assert np.abs(log["offset"][-1]).max() < 1e-5
    assert np.abs(log["pose_error"][-1]).max() < 5e-5


def test_a_spring_that_is_switched_off_while_deflected_moves_nothing(ideal_arm):
    arm = ideal_arm(**STIFF | {"admittance.stiffness": [200.0] * 3 + [5.0] * 3})
    arm.run(4.0, push=[5, 0, 0, 2, 2, 1])
    assert np.linalg.norm(arm.s["offset"][3:]) > 0.5
    arm.set(**{"admittance.stiffness": [200.0] * 3 + [0, 0, 5.0], "admittance.stiffness_engagement_time": 0.0})
    log = arm.run(0.01, push=[5, 0, 0, 0, 0, 1])
    assert np.abs(log["pose_error"]).max() < 1e-4


@pytest.mark.parametrize("frame", ["tcp", "task"])
def test_axes_are_those_of_the_control_frame(ideal_arm, frame):
    arm = ideal_arm(
        q=[0.3, -1.2, 1.4, -1.0, -1.2, 0.4],
        **STIFF
        | {
            "control_frame": frame,
            "task_rotation": [0.3, 0.4, 0.5],
            "admittance.stiffness": [100, 400, 800, 20, 20, 20],
        },
    )
    R0, p0 = arm.pose()
    axes = R0 if frame == "tcp" else Rotation.from_euler("xyz", [0.3, 0.4, 0.5]).as_matrix()
    push = np.array([6.0, -4.0, 5.0])
    arm.run(8.0, push=[*push, 0, 0, 0])
    expected = axes @ ((axes.T @ push) / [100, 400, 800])
    assert arm.pose()[1] - p0 == pytest.approx(expected, abs=1e-5)


def test_a_disabled_axis_does_not_yield_and_comes_back_when_disturbed(ideal_arm):
    arm = ideal_arm(**{"admittance.enabled_axes": [True, True, False, True, True, True]})
    p0 = arm.pose()[1]
    arm.run(1.0, push=30 * Z + 5 * X)
    assert arm.pose()[1][2] == pytest.approx(p0[2], abs=1e-6)
    assert arm.pose()[1][0] - p0[0] > 0.05
    arm.run(2.0)
    p = arm.pose()[1]
    arm.s["q_command"] += [0, 0.02, -0.01, 0, 0, 0]  # the arm slips
    assert abs(arm.pose()[1][2] - p[2]) > 2e-3
    arm.run(4.0)
    assert arm.pose()[1][2] == pytest.approx(p[2], abs=1e-4)


def test_engagement_ramps_the_spring(ideal_arm):
    arm = ideal_arm(**{"admittance.stiffness": [200.0] * 6, "admittance.stiffness_engagement_time": 1.0})
    log = arm.run(1.2, push=X)
    assert log["engagement"][249] == pytest.approx(0.502, abs=1e-9)
    assert log["engagement"][-1] == 1.0
    assert np.diff(log["engagement"]).max() == pytest.approx(0.002)


SPRING = {"admittance.stiffness": [300.0] * 3 + [30.0] * 3}
ONE_SPRING = {"admittance.stiffness": [300.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
HELD = {"admittance.enabled_axes": [False] + [True] * 5}
PULLED = {"admittance.desired_wrench": [-8.0, 0.0, 0.0, 0.0, 0.0, 0.0], **SPRING}


@pytest.mark.parametrize(
    ("before", "pushed", "change"),
    [
        ({}, 0.1, {"admittance.mass": [2.0] * 3 + [0.2] * 3}),
        ({}, 0.6, {"admittance.damping": [300.0] * 3 + [20.0] * 3}),
        ({}, 0.6, {"admittance.min_motion_threshold": 6.0}),
        (SPRING, 1.5, {"admittance.stiffness": [1500.0] * 3 + [30.0] * 3}),
        (SPRING, 1.5, {"admittance.stiffness": [0.0] * 6}),
        (SPRING, 1.5, {"sensor.bias": [4.0, 0.0, 0.0, 0.0, 0.0, 0.0]}),
        (ONE_SPRING, 1.5, {"control_frame": "task", "task_rotation": [0.0, 0.0, 1.5]}),
        (HELD, 0.6, {"admittance.enabled_axes": [True] * 6}),
    ],
)
def test_a_live_change_of_the_law_makes_a_fiftieth_of_the_step_that_it_makes_without_its_ramp(
    ideal_arm, before, pushed, change, record_property
):
    steps = []
    for ramp in (1.0, 0.0):
        arm = ideal_arm(**before | {"admittance.stiffness_engagement_time": ramp})
        if ramp > 0.0:
            arm.run(ramp)
        log = arm.run(pushed, push=10 * X)
        arm.set(**change)
        qd = np.concatenate([log["qd"][-2:], arm.run(0.1, push=10 * X)["qd"]])
        steps.append(np.abs(np.diff(qd, n=2, axis=0)).max() / arm.dt)  # [rad/s2] from one cycle to the next
    record_property("of the step without a ramp", float(steps[0] / steps[1]))
    assert steps[0] < steps[1] / 50.0
    assert steps[1] > 0.3


def test_a_desired_force_turns_with_its_axes_no_faster_than_it_may_change(ideal_arm):
    """Without the ramp of the law: the slew rate of the desired wrench alone."""
    arm = ideal_arm(**PULLED | {"admittance.stiffness_engagement_time": 0.0})
    before = arm.run(2.0)
    arm.set(control_frame="task", task_rotation=[0.0, 0.0, 1.5])
    log = np.concatenate([before, arm.run(2.0)])
    change = np.linalg.norm(np.diff(log["twist"][-1000:, :3], axis=0), axis=1)
    assert change.max() / arm.dt < 0.5  # [m/s2] 8 N at once would be 1 and more
    turned = log["offset"][-1, :3] / np.linalg.norm(log["offset"][-1, :3])
    assert turned == pytest.approx([np.cos(1.5), np.sin(1.5), 0.0], abs=1e-3)


def test_a_moving_axis_that_is_disabled_stops_as_if_it_were_released(ideal_arm):
    arm = ideal_arm()
    arm.run(0.6, push=10 * X)
    v = arm.s["rate"][0]
    arm.set(**HELD)
    log = arm.run(1.5, push=10 * X)
    t = arm.dt * np.arange(1, 101)
    assert log["rate"][:100, 0] == pytest.approx(v * np.exp(-arm.p["damping"][0] / arm.p["mass"][0] * t), rel=1e-6)
    assert log["qd"][-1] == pytest.approx(np.zeros(6), abs=1e-7)
    assert np.linalg.norm(log["p_tcp"][-1] - log["p_tcp"][0]) < 1.05 * v * arm.p["mass"][0] / arm.p["damping"][0]
