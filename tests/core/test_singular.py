"""Joint velocities: the direction is kept at joint limits, and singular arms stay smooth."""

import math

import numpy as np
import pinocchio as pin
import pytest

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import record
from ur_admittance.core.limits.singular import AHEAD, CURVE, curve_speed, damped_factor
from ur_admittance.core.records import COMMAND, SAMPLE, Limit, Mode, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.model import robot_model
from ur_admittance_lab.urdf_writer import generate

X, Y, Z = np.eye(6)[:3]
ON_LINE = 2e-4  # [m] largest distance from the straight line when joint limits slow the motion
INTO_ITSELF = {"collision.enabled": False}  # some random poses are not possible
WRIST = [0.0, -1.2, 1.6, -0.9, 0.0, 0.3]


def off_line(log, direction):
    way = log["p_tcp"] - log["p_tcp"][0]
    unit = np.array(direction[:3]) / np.linalg.norm(direction[:3])
    return np.linalg.norm(way - np.outer(way @ unit, unit), axis=1).max()


def joint_accelerations(log, dt=0.002):
    return np.abs(np.diff(log["qd"], axis=0)).max() / dt


@pytest.mark.parametrize("limit", [0.1, 0.3, 1.0])
def test_reduced_joint_speeds_slow_the_tool_down_but_do_not_bend_its_path(ideal_arm, limit):
    arm = ideal_arm(**{"joint_limits.velocity": [limit] * 6})
    push = 60 * np.array([0.35, 0.81, -0.47, 0, 0, 0])
    log = np.concatenate([arm.run(1.0, push=push), arm.run(0.5), arm.run(1.0, push=-push), arm.run(0.5)])
    assert np.abs(log["qd"]).max() == pytest.approx(limit, rel=1e-9)
    assert off_line(log, push) < ON_LINE


def test_reduced_joint_accelerations_do_not_bend_the_path(ideal_arm):
    arm = ideal_arm(**{"joint_limits.acceleration": [2.0] * 6})
    push = 40 * np.array([0.35, 0.81, -0.47, 0, 0, 0])
    log = np.concatenate([arm.run(0.6, push=push), arm.run(1.5), arm.run(0.6, push=-push), arm.run(1.5)])
    assert joint_accelerations(log) <= 2.0 * (1 + 1e-9)
    assert off_line(log, push) < ON_LINE


@pytest.mark.parametrize("direction", [X, Y, Z, [0.43, 0.86, 0.26, 0, 0, 0]])
@pytest.mark.parametrize("closest", [0.02, 0.05, 0.1, 0.3])
def test_a_pass_close_to_the_wrist_singularity_at_full_speed_stays_on_its_line(ideal_arm, closest, direction):
    direction = np.array(direction, float)
    there = ideal_arm(q=np.array(WRIST) - closest * np.eye(6)[4])
    there.run(4.0, twist=-0.05 * direction)  # 0.2 m before the closest point
    arm = ideal_arm(q=there.s["q_command"].copy())
    log = arm.run(2.5, push=80 * direction)
    assert np.linalg.norm(log["twist"][:, :3], axis=1).max() == pytest.approx(0.5, abs=1e-6)
    assert np.linalg.norm(arm.pose()[1] - log["p_tcp"][0]) > 0.25
    assert off_line(before_stretched(log), direction) < ON_LINE
    assert joint_accelerations(log) <= 20.0 * (1 + 1e-9)


def before_stretched(log):
    """The part before the arm is out of reach (the elbow straight), where no straight line goes on."""
    stretched = np.flatnonzero(log["limits"] & int(Limit.SINGULARITY))
    return log[: stretched[0]] if stretched.size else log


@pytest.mark.parametrize("direction", [X, [0.8, 0, 0.6, 0, 0, 0], [0.6, 0.6, 0.5, 0, 0, 0]])
@pytest.mark.parametrize("force", [20.0, 90.0])
def test_reaching_towards_a_straight_elbow_stays_on_its_line_until_out_of_reach(ideal_arm, direction, force):
    arm = ideal_arm(q=[0.0, -1.2, 1.6, -1.5, -1.5, 0.3])
    log = arm.run(4.0, push=force * np.array(direction, float))
    assert abs(log["q"][-1, 2]) < 0.03  # it was stretched out
    assert log["q"][:, 2].min() > 0.019  # and the elbow never folds to the other side
    assert off_line(before_stretched(log), direction) < ON_LINE
    assert joint_accelerations(log) <= 20.0 * (1 + 1e-9)
    back = arm.run(2.0, push=-20 * np.array(direction, float))
    assert (log["p_tcp"][-1] - back["p_tcp"][-1]) @ np.array(direction[:3]) > 0.1  # and is free again


def test_a_stop_at_any_moment_near_the_edge_of_the_reach_does_not_fold_the_elbow(ideal_arm):
    """Braking the tool along its line would straighten the elbow further than the joints alone."""
    rng = np.random.default_rng(77)
    light = {"admittance.mass": [2.0] * 3 + [0.1] * 3, "admittance.damping": [20.0] * 3 + [1.0] * 3}
    for case in range(150):
        q = np.array([0.1, -1.2, rng.uniform(0.06, 0.4), -0.6, rng.choice([-1.2, 0.1]), 0.0])
        slow = {"max_linear_acceleration": float(rng.choice([0.5, 1.0, 2.5]))}
        arm = ideal_arm(q=q, **INTO_ITSELF, **light, **slow)
        arm.run(rng.uniform(0.1, 1.5), push=rng.normal(size=6) * [40, 40, 40, 4, 4, 4])
        log = arm.run(0.8, request=Request.DEACTIVATE)
        assert log["q"][:, 2].min() > 0.0199, case


def test_pushed_sideways_at_the_edge_of_the_reach_the_tool_slides_along_it(ideal_arm):
    arm = ideal_arm(q=[0.0, -1.2, 1.0, -1.5, -1.5, 0.3], **INTO_ITSELF)
    outwards = arm.pose()[1] / np.linalg.norm(arm.pose()[1])
    sideways = np.cross(outwards, [0.0, 0.0, 1.0])
    sideways /= np.linalg.norm(sideways)
    push = np.zeros(6)
    push[:3] = 40.0 * outwards
    arm.run(4.0, push=push)
    stretched = arm.pose()[1]
    push[:3] += 20.0 * sideways
    log = arm.run(2.0, push=push)
    assert (arm.pose()[1] - stretched) @ sideways > 0.2
    assert log["q"][:, 2].min() > 0.019


SINGULAR = {
    "wrist": WRIST,
    "elbow": [0.2, -1.0, 0.0, -0.7, -1.2, 0.0],
    "shoulder": [0.0, -1.5708, 0.0, -1.5708, -1.2, 0.0],
    "wrist and elbow": [0.2, -1.0, 0.0, -0.7, 0.0, 0.0],
    "all three": [0.0, -1.5708, 0.0, -1.5708, 0.0, 0.0],
    "zero": [0.0] * 6,
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("aside", [0.0, 1e-9, 1e-3])
def test_singular_arms_stay_smooth_and_finite_whatever_the_push(ideal_arm, name, aside, sweep):
    rng = np.random.default_rng(3)
    for _ in range(max(1, sweep(200) // 100)):
        arm = ideal_arm(q=np.array(SINGULAR[name]) + aside)
        directions = rng.normal(size=(12, 6)) * [30, 30, 30, 4, 4, 4]
        log = arm.run(2.4, push=np.repeat(directions, 100, axis=0))
        assert arm.s["mode"] == Mode.ACTIVE
        assert np.isfinite(log["qd"]).all()
        assert np.isfinite(log["q"]).all()
        assert joint_accelerations(log) <= 20.0 * (1 + 1e-9)
        assert np.linalg.norm(log["pose_error"][:, :3], axis=1).max() < 2e-3


def test_away_from_singularities_qd_is_the_inverse_of_pinocchios_jacobian(ideal_arm):
    model = pin.buildModelFromXML(generate(robot_model("ur5e")))
    data, frame = model.createData(), model.getFrameId("tool0")
    rng, twist = np.random.default_rng(0), np.array([0.01, -0.02, 0.015, 0.02, 0.03, -0.01])
    compared = 0
    for _ in range(60):
        q = rng.uniform(-2.5, 2.5, 6)
        arm = ideal_arm(q=q, **INTO_ITSELF)
        log = arm.run(0.2, twist=twist)
        if log["sigma_min"].min() < 0.05 or log["limits"][-1]:
            continue
        q_middle = log["q"][-1] - 0.5 * arm.dt * log["qd"][-1]
        J = pin.computeFrameJacobian(model, data, q_middle, frame, pin.LOCAL_WORLD_ALIGNED)
        assert log["qd"][-1] == pytest.approx(np.linalg.pinv(J) @ twist, abs=2e-5)
        compared += 1
    assert compared > 20


@compiled
def random_walk(params, state, sample, command, changes, wrenches, twists, requests):
    """Ticks with random pushes, references, targets and parameter sets; the arm lags a little. Returns the worst ratios
    of speed, acceleration and position to their bounds, and whether everything was finite."""
    worst = np.zeros(3)
    u, s, c = sample[0], state[0], command[0]
    q_arm, previous = u.q.copy(), np.zeros(6)
    for k in range(changes.shape[0] * 200):
        if k % 200 == 0:
            revision = params[0].revision + 1
            params[:] = changes[k // 200]
            params[0].revision = revision
            u.wrench[:] = wrenches[k // 200]
            u.reference_twist[:] = twists[k // 200]
            u.request = requests[k // 200]
            if s.mode == 3:
                u.request = 4
        p = params[0]
        q_arm += 0.5 * (s.q_command - q_arm)
        u.q[:] = q_arm
        tick(params[0], s, u, c)
        for i in range(6):
            # A limit that was lowered below the present speed is approached from above, never away from it.
            worst[0] = max(worst[0], abs(c.qd[i]) / max(p.joint_velocity[i], abs(previous[i])))
            worst[1] = max(worst[1], abs(c.qd[i] - previous[i]) / (p.joint_acceleration[i] * u.dt))
            worst[2] = max(worst[2], c.q[i] - p.joint_upper[i], p.joint_lower[i] - c.q[i])
            if not (np.isfinite(c.q[i]) and np.isfinite(c.qd[i])):
                worst[:] = np.inf
                return worst
            previous[i] = c.qd[i]
    return worst


@pytest.mark.parametrize("robot", ["ur3e", "ur5e", "ur10e", "ur20"])
def test_no_joint_bound_is_exceeded_in_a_random_walk(ideal_arm, sweep, robot, record_property):
    rng = np.random.default_rng(11)
    count = max(1, sweep(26_000) // 200)
    arm = ideal_arm(robot, active=False)
    changes = np.repeat(arm.params, count)
    upper = np.where(np.isfinite(arm.model.upper), np.minimum(arm.model.upper, 2.2), 2.2)
    changes["joint_upper"], changes["joint_lower"] = upper, -upper
    changes["joint_velocity"] *= rng.uniform(0.2, 1.0, (count, 1))
    changes["mass"] *= rng.uniform(0.3, 3.0, (count, 1))
    changes["damping"] *= rng.uniform(0.3, 3.0, (count, 1))
    changes["stiffness"] = rng.choice([0.0, 0.0, 100.0, 1000.0], (count, 6))
    changes["enabled"] = rng.random((count, 6)) < 0.9
    changes["control_frame"] = rng.integers(0, 2, count)
    changes["integrator"] = rng.integers(0, 2, count)
    changes["max_velocity"] *= rng.uniform(0.1, 2.0, (count, 1))
    changes["max_acceleration"] *= rng.uniform(0.2, 4.0, (count, 1))
    changes["max_force"], changes["max_torque"] = 1e4, 1e4
    sample, command = new(SAMPLE), new(COMMAND)
    sample["dt"], sample["q"] = 0.002, rng.uniform(-2, 2, 6)
    wrenches = rng.normal(size=(count, 6)) * [25, 25, 25, 3, 3, 3]
    twists = rng.normal(size=(count, 6)) * 0.2 * (rng.random((count, 6)) < 0.3)
    requests = rng.choice([65] * 8 + [2], count)  # activate, whatever presses; now and then deactivate
    speed, acceleration, outside = random_walk(
        arm.params, arm.state, sample, command, changes, wrenches, twists, requests
    )
    record_property("share of the speed", float(speed))
    record_property("share of the acceleration", float(acceleration))
    record_property("outside [rad]", float(outside))
    assert 0.99 < speed <= 1.0 + 1e-9  # the bounds are really reached
    assert acceleration <= 1.0 + 1e-6
    assert outside <= 1e-9


@pytest.mark.parametrize("robot", ["ur3e", "ur5e", "ur20"])
def test_hard_pushes_from_any_pose_keep_speed_and_acceleration_of_the_tool(ideal_arm, sweep, robot, record_property):
    """120 N and 12 Nm in changing directions, from random poses, through singularities and along the edge of reach."""
    rng = np.random.default_rng(37)
    unchecked = {f"safety.max_{what}": 1e6 for what in ("force", "torque", "position_error", "orientation_error")}
    fastest = np.zeros(2)
    accelerations = []
    for _ in range(max(1, sweep(100_000) // 2500)):
        arm = ideal_arm(robot, q=rng.uniform(-2.5, 2.5, 6), **unchecked, **INTO_ITSELF)
        pushes = rng.normal(size=(10, 2, 3))
        pushes *= np.array([120.0, 12.0])[:, None] / np.linalg.norm(pushes, axis=2, keepdims=True)
        twist = arm.run(5.0, push=np.repeat(pushes.reshape(10, 6), 250, axis=0))["twist"].reshape(-1, 2, 3)
        fastest = np.maximum(fastest, np.linalg.norm(twist, axis=2).max(axis=0))
        accelerations.append(np.linalg.norm(np.diff(twist, axis=0), axis=2) / arm.dt)
    hardest = (np.concatenate(accelerations) / arm.p["max_acceleration"]).max()
    record_property("share of the speed", float((fastest / arm.p["max_velocity"]).max()))
    record_property("share of the acceleration", float(hardest))
    assert (fastest / arm.p["max_velocity"] > 0.99).all()  # the bounds are really reached
    assert (fastest / arm.p["max_velocity"] < 1.02).all()
    assert hardest < 1.05


def test_forward_kinematics_agree_with_pinocchio():
    model = pin.buildModelFromXML(generate(robot_model("ur10e")))
    data, frame = model.createData(), model.getFrameId("tool0")
    arm, rng = robot_model("ur10e"), np.random.default_rng(2)
    R, p, J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
    for _ in range(50):
        q = rng.uniform(-3, 3, 6)
        forward(np.array(arm.chain_rotation), np.array(arm.chain_position), q, R, p, J)
        oracle = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, data, q)
        assert np.abs(p - data.oMf[frame].translation).max() < 1e-9
        assert np.abs(R - data.oMf[frame].rotation).max() < 1e-9
        assert np.abs(J - oracle).max() < 1e-9


@compiled
def curve(params, q, U, V, qd, sigma):
    return curve_speed(record(params, 0), q, U, V, qd, sigma)


def test_past_a_singularity_the_tool_is_as_fast_as_the_joints_can_bend(ideal_arm):
    """Over the time in which the fastest joint turns by AHEAD the speeds change by what two Jacobians say; slowed to a
    share c the change is c and the time 1/c of it: c^2 change / time is what the joints accelerate with."""
    arm, rng, slowed = ideal_arm(active=False, **INTO_ITSELF), np.random.default_rng(8), 0
    chain, limit = (arm.p["chain_rotation"], arm.p["chain_position"]), arm.p["joint_acceleration"]
    for case in range(60):
        q = rng.uniform(-3.0, 3.0, 6)
        q[4] = rng.choice([-1, 1]) * rng.uniform(0.02, 0.3)
        R, position, J, ahead = np.empty((3, 3)), np.empty(3), np.empty((6, 6)), np.empty((6, 6))
        forward(*chain, q, R, position, J)
        V = rng.normal(size=6) * np.repeat([0.1, 0.3], 3)
        qd = np.linalg.solve(J, V)
        time = AHEAD / np.abs(qd).max()
        forward(*chain, q + time * qd, R, position, ahead)
        if min(np.linalg.svd(jacobian, compute_uv=False)[-1] for jacobian in (J, ahead)) < 0.005:
            continue  # damped: not what the two Jacobians say
        U = np.eye(6)
        sigma = damped_factor(J, U, np.empty((6, 6)))[0]
        share = curve(arm.params, q, U, V, qd, sigma)
        bend = np.abs(np.linalg.solve(ahead, V) - qd) / time / (CURVE * limit)
        if share < 1.0:
            assert share == pytest.approx(1.0 / math.sqrt(bend.max()), rel=1e-3), case
            slowed += 1
        else:
            assert bend.max() <= 1.001 or np.abs(qd).max() ** 2 <= CURVE * limit.min() * sigma, case
    assert slowed > 10
