"""Joint speeds that keep every limit: random arms in random motion, judged by a general solver (DAQP)."""

import math
import os

import daqp
import numpy as np
import pytest

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import ROWS, record
from ur_admittance.core.limits import approach, choose, every_limit, joints, tool
from ur_admittance.core.limits.singular import damped_factor, damped_inverse
from ur_admittance.core.records import PARAMS, STATE, Limit, new
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

DT = 0.002
TYPES = ("ur3e", "ur5e", "ur10e", "ur16e", "ur30")
CASES = int(os.environ.get("SWEEP", "0")) or 400


@compiled
def chosen(params, state, J, C, V, sigma, q, position, qd, twist):
    middle = choose.Middle(q, position, J, C, sigma)
    return choose.choose(record(params, 0), record(state, 0), middle, V, position, qd, twist, DT)


@compiled
def lessened(state, J, brake, most, caps, qd, twist):
    tool.towards(record(state, 0), J, brake, most, caps, qd, twist)


@compiled
def shaped(params, state, J, C, V, qd, caps):
    p, s = record(params, 0), record(state, 0)
    flags = tool.shape(p, s, V, caps, DT)
    damped_inverse(J, C, V, qd)
    return flags


@compiled
def calmed(params, state, J, C, V, sigma, q, qd):
    middle = choose.Middle(q, q[:3], J, C, sigma)  # its position does not matter here
    return choose.calm_curve(record(params, 0), record(state, 0), middle, V, qd, DT)


@compiled
def rows_of(params, state, J, now, place, table, low, high, why_low, why_high):
    p, s = record(params, 0), record(state, 0)
    time = approach.stopping_time(p, now, s.qd_command)
    joints.joint_bounds(p, s, time, DT, low, high, why_low, why_high)
    return every_limit.put_gates(p, s, J, now, time, place, table), time


class Moment:
    """A random arm in motion near its limits, and what is wanted of it."""

    def __init__(self, seed):
        rng = np.random.default_rng((5, seed))
        model = robot_model(TYPES[rng.integers(len(TYPES))])
        q = rng.uniform(-3.0, 3.0, 6)
        if seed % 3 == 1:
            q[2] = rng.choice([-1, 1]) * rng.uniform(0.02, 0.1)
        if seed % 3 == 2:
            q[4] = rng.uniform(-0.1, 0.1)
        self.params, self.state = new(PARAMS), new(STATE)
        self.p, self.s = self.params[0], self.state[0]
        fill(self.p, Parameters(), model)
        R, position, self.J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
        forward(self.p["chain_rotation"], self.p["chain_position"], q, R, position, self.J)
        half = rng.uniform(0.0, 0.1, 3)
        changes = {
            "workspace.min": (position - half).tolist(),
            "workspace.max": (position + rng.uniform(0.0, 0.1, 3)).tolist(),
            "max_linear_velocity": float(rng.uniform(0.05, 0.5)),
            "joint_limits.acceleration": [float(rng.uniform(2.0, 20.0))] * 6,
            "collision.enabled": False,  # some of these poses are not possible
        }
        fill(self.p, Parameters().changed(changes), model)
        self.q, self.position = q, position
        self.C = np.empty((6, 6))
        self.s["singular_vectors"], self.s["period"] = np.eye(6), DT
        self.sigma = damped_factor(self.J, self.s["singular_vectors"], self.C)[0]
        twist = rng.normal(size=6) * np.repeat([rng.uniform(0, 0.05), rng.uniform(0, 0.3)], 3)
        qd = np.empty(6)
        damped_inverse(self.J, self.C, twist, qd)
        qd *= min(1.0, 0.5 / max(np.abs(qd).max(), 1e-9))
        self.s["q_command"], self.s["qd_command"], self.s["twist"] = q, qd, self.J @ qd
        self.wanted = self.J @ qd + rng.normal(size=6) * rng.choice([0.001, 0.1, 1.0])

    def choose(self):
        qd, twist = np.empty(6), np.empty(6)
        V = self.wanted.copy()
        scale, flags = chosen(self.params, self.state, self.J, self.C, V, self.sigma, self.q, self.position, qd, twist)
        return qd, twist, scale, flags

    def rows(self):
        table, place = np.zeros((ROWS, 9)), np.array([self.position] * 2)
        low, high, why_low, why_high = (np.zeros(6) for _ in range(4))
        now = self.J @ self.s["qd_command"]
        n, time = rows_of(self.params, self.state, self.J, now, place, table, low, high, why_low, why_high)
        return table[:n, :6].copy(), table[:n, 7].copy(), low, high, time

    def first(self):
        """What is wanted within the norms, as joint speeds."""
        V, qd = self.wanted.copy(), np.empty(6)
        shaped(self.params, self.state, self.J, self.C, V, qd, self.p["max_velocity"].copy())
        self.shaped = V
        return qd


def general(H, g, A, b):
    size = np.abs(H).max() * 1e-6  # the weight of the speed is small: scaled, so that tolerances do not hide it
    sense = np.zeros(len(b), dtype=np.int32)
    x, _, status, _ = daqp.solve(
        H / size, g / size, A, b, np.full(len(b), -1e30), sense, primal_tol=1e-10, dual_tol=1e-10
    )
    return x if status == 1 else None


def expected(moment):
    """Both problems with the general solver; None where rows contradict each other or a norm gets a row."""
    J, s = moment.J, moment.s
    A, b, low, high, time = moment.rows()
    qd0 = moment.first()
    nearness = max(0.0, 1.0 - (moment.sigma / 0.002) ** 2)
    H = J.T @ J + (1e-8 + (0.002 * nearness) ** 2) * np.eye(6)

    def slid(qd):
        return general(H, -H @ qd, A, b) if len(b) and (A @ qd > b + 1e-9).any() else qd

    qd1 = slid(qd0)
    if qd1 is None:
        return None
    V = J @ qd1 if qd1 is not qd0 else moment.shaped
    qd1 = qd1.copy()
    if calmed(moment.params, moment.state, J, moment.C, V, moment.sigma, moment.q, qd1):
        qd1 = slid(qd1)
    if qd1 is None:
        return None
    if ((low - 1e-9 <= qd1) & (qd1 <= high + 1e-9)).all():
        return qd1
    keep = max(0.0, 1.0 - DT / time) if time > 0 else 0.0
    hold = np.empty(6)
    damped_inverse(J, moment.C, keep * s["twist"], hold)
    J2 = np.vstack([J, 1e-2 * np.eye(6)])
    M = np.hstack([J2, -(J2 @ (qd1 - hold))[:, None]])
    r = J2 @ hold
    size = np.sum((J2 @ (qd1 - hold)) ** 2)
    H = M.T @ M
    H[6, 6] += 1e-6 * size
    g = -M.T @ r
    g[6] -= 1e-6 * size
    A = np.vstack([np.hstack([A, np.zeros((len(b), 1))]), np.eye(6, 7), -np.eye(6, 7)])
    x = general(H, g, A, np.concatenate([b, high, -low]))
    return None if x is None else x[:6]


def norms(moment, twist):
    p, dt = moment.p, DT
    speeds = np.linalg.norm(twist.reshape(2, 3), axis=1) / p["max_velocity"]
    change = np.linalg.norm((twist - moment.s["twist"]).reshape(2, 3), axis=1) / (p["max_acceleration"] * dt)
    return max(speeds.max(), change.max())


def test_the_solution_is_that_of_a_general_solver(record_property):
    compared, apart = 0, 0.0
    for seed in range(CASES):
        moment = Moment(seed)
        qd, _twist, _, _ = moment.choose()
        other = expected(moment)
        if other is None or norms(moment, moment.J @ other) > 0.9999:
            continue
        compared += 1
        apart = max(apart, np.abs(moment.J @ (qd - other)).max())
        assert moment.J @ qd == pytest.approx(moment.J @ other, abs=2e-6), seed
        assert qd == pytest.approx(other, abs=2e-4), seed
    record_property("apart [m/s, rad/s]", float(apart))
    assert compared > 0.3 * CASES


def test_every_bound_holds_or_the_arm_brakes_along_its_motion(record_property):
    braking, over = 0, 0.0
    for seed in range(CASES):
        moment = Moment(seed)
        qd, twist, scale, _flags = moment.choose()
        A, b, low, high, time = moment.rows()
        keep = max(0.0, 1.0 - DT / time) if time > 0 else 0.0
        brake = keep * moment.s["qd_command"]
        over = max(over, (A @ qd - np.maximum(b, A @ brake)).max(initial=0.0), (qd - np.maximum(high, brake)).max())
        assert (qd <= np.maximum(high, brake) + 1e-7).all(), seed
        assert (qd >= np.minimum(low, brake) - 1e-7).all(), seed
        assert (A @ qd <= np.maximum(b, A @ brake) + 1e-7).all(), seed
        assert twist == pytest.approx(moment.J @ qd)
        assert 0.0 <= scale <= 1.0
        braking += bool((A @ qd > b + 1e-7).any())
        p, change = moment.p, twist - moment.s["twist"]
        for part in range(2):
            own = slice(3 * part, 3 * part + 3)
            allowed = max(p["max_acceleration"][part] * DT, np.linalg.norm((moment.J @ brake - moment.s["twist"])[own]))
            assert np.linalg.norm(change[own]) <= allowed * 1.00001, seed
            allowed = max(p["max_velocity"][part], np.linalg.norm((moment.J @ brake)[own]))
            assert np.linalg.norm(twist[own]) <= allowed * 1.00001, seed
    record_property("beyond a bound [m/s, rad/s]", float(over))
    assert braking < 0.2 * CASES  # bounds seldom contradict each other


def curved(seed):
    """A fast moment with weak brakes of the tool, which the joints' own line bends by about as much."""
    moment = Moment(3 * seed)  # none of these at the edge of the reach
    rng = np.random.default_rng((6, seed))
    s, p = moment.s, moment.p
    qd = rng.uniform(-1.0, 1.0, 6)
    before, R, position = np.empty((6, 6)), np.empty((3, 3)), np.empty(3)
    forward(p["chain_rotation"], p["chain_position"], moment.q - DT * qd, R, position, before)
    s["qd_command"], s["twist"] = qd, before @ qd
    bend = np.linalg.norm(((moment.J - before) @ qd)[:3]) / DT
    p["max_acceleration"] = [bend * rng.uniform(1.0, 2.0), 50.0]
    p["max_velocity"] = 10.0
    p["workspace_min"], p["workspace_max"] = -math.inf, math.inf
    p["joint_acceleration"] = 50.0
    moment.wanted = s["twist"] + rng.normal(size=6)
    return moment


def test_a_path_that_the_joints_bend_is_no_reason_to_exceed_the_acceleration_of_the_tool(record_property):
    tempted, largest = 0, 0.0
    for seed in range(CASES):
        moment = curved(seed)
        s, most, hold = moment.s, moment.p["max_acceleration"][0] * DT, np.empty(6)
        _, twist, _, _ = moment.choose()
        A, b, low, high, time = moment.rows()
        keep = 1.0 - DT / time
        damped_inverse(moment.J, moment.C, keep * s["twist"], hold)
        if (hold < low).any() or (hold > high).any() or (A @ hold > b).any():
            continue  # the joints cannot even brake the tool along its line
        tempted += np.linalg.norm((keep * moment.J @ s["qd_command"] - s["twist"])[:3]) > 1.1 * most
        share = np.linalg.norm((twist - s["twist"])[:3]) / most
        largest = max(largest, share)
        assert share <= 1.001, seed
    record_property("share of the acceleration", float(largest))
    assert tempted > 0.4 * CASES


def test_what_keeps_all_limits_is_taken_as_it_is():
    taken = 0
    for seed in range(CASES):
        moment = Moment(seed)
        qd0 = moment.first()
        A, b, low, high, _ = moment.rows()
        inside = (low <= qd0).all() and (qd0 <= high).all() and (A @ qd0 <= b).all()
        V, qd = moment.shaped.copy(), qd0.copy()
        bent = calmed(moment.params, moment.state, moment.J, moment.C, V, moment.sigma, moment.q, qd)
        if inside and not bent and norms(moment, moment.J @ qd0) < 1.0:
            qd, _, scale, flags = moment.choose()
            assert (qd == qd0).all()
            assert scale == 1.0
            assert not flags & (Limit.WORKSPACE | Limit.JOINT_POSITION | Limit.JOINT_VELOCITY)
            taken += 1
    assert taken > 20


@pytest.mark.parametrize("seed", range(40))
def test_between_braking_and_what_is_wanted_the_fastest_that_keeps_the_norms_is_taken(seed):
    moment, rng = Moment(seed), np.random.default_rng((7, seed))
    J, before, brake = moment.J, moment.s["twist"], 0.9 * moment.s["qd_command"]
    wanted = brake + rng.normal(size=6)
    halves = lambda twist: np.linalg.norm(twist.reshape(2, 3), axis=1)  # noqa: E731
    caps = halves(J @ brake) * rng.uniform(1.0, 2.0, 2) + 1e-3  # braking keeps both
    most = halves(J @ brake - before) * rng.uniform(1.0, 2.0, 2) + 1e-3
    qd, twist = wanted.copy(), J @ wanted
    lessened(moment.state, J, brake, most, caps, qd, twist)

    def kept(t):
        tried = J @ (brake + t * (wanted - brake))
        return (halves(tried) <= caps).all() and (halves(tried - before) <= most).all()

    low, high = 0.0, 1.0  # the norms are convex: those that keep them are an interval that begins with braking
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    assert qd == pytest.approx(brake + low * (wanted - brake), abs=1e-9)
    assert twist == pytest.approx(J @ qd)
    assert low < 1.0


@pytest.mark.parametrize("part", [0, 1])
def test_the_flags_name_the_norm_of_the_tool_that_has_shaped_what_is_wanted(part):
    moment = Moment(0)
    caps, step = np.array([0.25, 1.0]), moment.p["max_acceleration"][part] * DT
    acceleration = (Limit.LINEAR_ACCELERATION, Limit.ANGULAR_ACCELERATION)[part]
    velocity = (Limit.LINEAR_VELOCITY, Limit.ANGULAR_VELOCITY)[part]
    for before, wanted, flags in (
        (0.0, 0.99 * step, Limit.NONE),
        (0.0, 1.01 * step, acceleration),
        (caps[part] - 0.9 * step, caps[part] - 1e-6, Limit.NONE),
        (caps[part] - 0.1 * step, caps[part] + 0.1 * step, velocity),
        (caps[part] - 0.1 * step, caps[part] + 9.0 * step, velocity | acceleration),
    ):
        V, moment.s["twist"] = np.zeros(6), 0.0
        moment.s["twist"][3 * part], V[3 * part] = before, wanted
        assert shaped(moment.params, moment.state, moment.J, moment.C, V, np.empty(6), caps) == flags
