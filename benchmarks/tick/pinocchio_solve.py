"""Steps 3 and 4 of the tick in NumPy. Functions have the names of core; the quadratic problems are solved by DAQP, a
general solver: a foreign judge of the method in core."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import daqp
import numpy as np

from benchmarks.tick.workload import Array

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
PARTS = (LINEAR, ANGULAR)
TINY = 1e-300  # instead of 0 below a fraction bar
SOLVED, CONTRADICTION = 1, -1  # exit flags of DAQP

Kinematics = Callable[[Array], tuple[Array, Array]]  # q -> position and Jacobian of the TCP


class Motion(SimpleNamespace):
    """The present command, and what braking it leads to."""

    q: Array
    qd: Array
    top: tuple[Array, Array]  # speed limits of the joints, up and down
    twist: Array  # last commanded one
    now: Array  # twist of qd at the Jacobian of this tick
    time: float  # to stop [s]
    keep: float  # fraction of the speed left after a tick of braking


class Solve:
    def __init__(self, p: SimpleNamespace, k: SimpleNamespace, kinematics: Kinematics) -> None:
        self.p, self.k, self.kinematics = p, k, kinematics
        self.contradiction = False  # in the last tick some rows contradicted each other

    def choose(
        self, V: Array, q: Array, qd: Array, twist: Array, measured: Array, top: tuple[Array, Array], dt: float
    ) -> tuple[Array, Array]:
        """(joint speeds, the Jacobian of this tick)"""
        p, k = self.p, self.k
        self.contradiction = False
        q_middle = q + 0.5 * dt * qd
        position, J = self.kinematics(q_middle)
        inverse, sigma = self.damped_factor(J)
        now = J @ qd
        time = self.stopping_time(now, qd)
        keep = max(0.0, 1.0 - dt / time) if time > 0.0 else 0.0
        m = Motion(q=q, qd=qd, top=top, twist=twist, now=now, time=time, keep=keep)
        low, high, A, b = self.joint_bounds(m, dt)
        walls = self.walls(m, J, position, measured, dt)
        A, b = np.vstack([A, walls[0]]), np.concatenate([b, walls[1]])

        V = self.shape(V, twist, dt)
        joints = J.T @ (inverse @ V)
        if (A @ joints > b + k.KEPT).any():
            joints, b = self.slide(J, sigma, A, b, keep * qd, joints)
            V = J @ joints
        calm = self.calm_curve(V, J, inverse, sigma, q_middle, joints, twist, dt)
        if calm is not None:
            joints = calm
            if (A @ joints > b + k.KEPT).any():
                joints, b = self.slide(J, sigma, A, b, keep * qd, joints)
        caps, most = np.maximum(p.max_velocity, keep * parts(twist)), p.max_acceleration * dt
        inside = (low - k.KEPT <= joints).all() and (joints <= high + k.KEPT).all()
        if not (inside and self.norms_kept(J @ joints, twist, most, caps)):
            A, b = np.vstack([A, np.eye(6), -np.eye(6)]), np.concatenate([b, high, -low])
            hold = J.T @ (inverse @ (keep * twist))
            joints = self.fastest_along(J, A, b, most, caps, keep * qd, hold, joints, twist)
        return joints, J

    def stopping_time(self, V: Array, qd: Array) -> float:
        joints = (np.abs(qd) / self.p.joint_acceleration).max()
        return float(max(joints, (parts(V) / self.p.max_acceleration).max()) / self.k.BRAKING)

    def stoppable_speed(self, room: Array, speed: Array, time: float, dt: float) -> Array:
        room = np.maximum(room, 0.0)
        limit = 2.0 * room / (time / self.k.PLANNED + 3.0 * dt)
        allowed = np.sqrt(np.maximum(speed, 0.25 * limit) * limit)
        return np.asarray(np.minimum(allowed, self.k.NEAR_RATE * room))

    def joint_bounds(self, m: Motion, dt: float) -> tuple[Array, Array, Array, Array]:
        """(low, high, and the row of the elbow, if it is at the edge of the reach)"""
        p, elbow = self.p, int(self.k.ELBOW)
        step = p.joint_acceleration * dt
        up = np.minimum(self.stoppable_speed(p.joint_upper - m.q, m.qd, m.time, dt), m.top[0])
        down = np.minimum(self.stoppable_speed(m.q - p.joint_lower, -m.qd, m.time, dt), m.top[1])
        row, bound, side = np.zeros((0, 6)), np.zeros(0), -1.0 if m.q[elbow] > 0.0 else 1.0
        if p.elbow_margin > 0.0:
            allowed, speed = (up, side * m.qd[elbow]) if side > 0.0 else (down, side * m.qd[elbow])
            straighten = float(self.stoppable_speed(abs(m.q[elbow]) - p.elbow_margin, speed, m.time, dt))
            allowed[elbow] = min(allowed[elbow], straighten)
            if straighten < p.joint_velocity[elbow]:
                row, bound = side * np.eye(6)[[elbow]], np.array([max(straighten, speed - step[elbow])])
        return np.clip(-down, m.qd - step, m.qd + step), np.clip(up, m.qd - step, m.qd + step), row, bound

    def walls(self, m: Motion, J: Array, position: Array, measured: Array, dt: float) -> tuple[Array, Array]:
        """Rows of the workspace, seen from the commanded or the measured position, whichever is closer."""
        p, k = self.p, self.k
        above = p.workspace_max - np.maximum(position, measured)
        below = np.minimum(position, measured) - p.workspace_min
        speed = np.abs(m.qd) @ np.linalg.norm(J[LINEAR], axis=0)
        if min(above.min(), below.min()) > k.FAR + 2.0 * speed * (m.time / k.PLANNED + 1.0 / k.NEAR_RATE):
            return np.zeros((0, 6)), np.zeros(0)
        ahead = self.kinematics(m.q + 0.5 * (0.5 * m.time / k.PLANNED + dt) * m.qd)[1]
        room, now = np.concatenate([above, below]), np.concatenate([m.now[LINEAR], -m.now[LINEAR]])
        mean = ahead[LINEAR] @ m.qd
        mean = np.concatenate([mean, -mean])
        slowest = np.minimum(now, np.concatenate([m.twist[LINEAR], -m.twist[LINEAR]])) - p.max_acceleration[0] * dt
        least = -k.NEAR_RATE * np.maximum(room, 0.0)
        curved = np.maximum(self.stoppable_speed(room, mean, m.time, dt) - (mean - now), least)
        bound = np.minimum(self.stoppable_speed(room, now, m.time, dt), curved)
        bound = np.maximum(bound, slowest)
        return of_length_one(np.vstack([J[LINEAR], -J[LINEAR]]), bound)

    def damped_factor(self, J: Array) -> tuple[Array, float]:
        """((J J^T + damping of singular directions)^-1, smallest singular value or a lower bound of it)"""
        k = self.k
        A = J @ J.T
        try:
            C = np.linalg.inv(np.linalg.cholesky(A))
            bound = 1.0 / norm(C)
            if bound > k.SINGULAR:
                return C.T @ C, bound
        except np.linalg.LinAlgError:
            pass  # singular: the directions tell
        sigma2, U = np.linalg.eigh(A)
        sigma2 = np.maximum(sigma2, 0.0)
        nearness = np.maximum(0.0, 1.0 - sigma2 / k.SINGULAR**2)
        return (U / (sigma2 + (k.DAMPING * nearness) ** 2)) @ U.T, math.sqrt(sigma2[0])

    def shape(self, V: Array, twist: Array, dt: float) -> Array:
        """What is wanted, within the norms of acceleration and speed; its direction is kept."""
        shaped: Array = V.copy()
        for n, part in enumerate(PARTS):
            a_dt, before = self.p.max_acceleration[n] * dt, twist[part]
            v = limit_change(V[part], before, a_dt)
            speed, most = norm(v), float(self.p.max_velocity[n])
            if speed > most:
                v = v * min(1.0, max(most, norm(before) - a_dt) / speed)
            shaped[part] = limit_change(v, before, a_dt)
        return shaped

    def calm_curve(
        self, V: Array, J: Array, inverse: Array, sigma: float, q: Array, joints: Array, twist: Array, dt: float
    ) -> Array | None:
        """Joint speeds for V slowed down, where a straight path would bend the joints too fast"""
        share = self.curve_speed(q, V, joints, sigma)
        if share == 1.0:
            return None
        limits = zip(PARTS, self.p.max_acceleration * dt, strict=True)
        change = np.concatenate([limit_change(share * V[part], twist[part], most) for part, most in limits]) - share * V
        return np.asarray(share * joints + J.T @ (inverse @ change))

    def curve_speed(self, q: Array, V: Array, qd: Array, sigma: float) -> float:
        """Share of V at which a straight path asks for no more than CURVE of the joint accelerations."""
        p, k = self.p, self.k
        fastest = np.abs(qd).max()
        if fastest == 0.0 or fastest**2 <= k.CURVE * p.joint_acceleration.min() * max(0.0, sigma - k.AHEAD):
            return 1.0
        time = k.AHEAD / fastest
        J = self.kinematics(q + time * qd)[1]
        change = np.abs(J.T @ (self.damped_factor(J)[0] @ V) - qd)
        most = k.CURVE * p.joint_acceleration * time
        return float(np.sqrt(np.minimum(1.0, most / np.maximum(change, TINY))).min())

    def slide(self, J: Array, sigma: float, A: Array, b: Array, brake: Array, qd: Array) -> tuple[Array, Array]:
        """(as close to qd as the rows allow, their bounds: wider where they contradicted each other)"""
        nearness = max(0.0, 1.0 - (sigma / self.k.SINGULAR) ** 2)
        H = J.T @ J + (self.k.SLIDING + (self.k.DAMPING * nearness) ** 2) * np.eye(6)
        return self.minimise_or_brake(H, -H @ qd, A, b, brake)

    def fastest_along(
        self,
        J: Array,
        A: Array,
        b: Array,
        most: Array,
        caps: Array,
        brake: Array,
        hold: Array,
        qd: Array,
        twist: Array,
    ) -> Array:
        """qd with its direction kept and as fast as all rows and norms allow."""
        distance, change = J.T @ J + self.k.TURNING * np.eye(6), qd - hold
        turn = distance @ change
        size = float(turn @ change)
        scale = math.sqrt(size) if size >= 1e-16 else 1.0  # the unknown is scale s: as large as the others
        H, g = np.eye(7), np.append(-distance @ hold, -1.0)
        H[:6, :6] = distance
        if size >= 1e-16:  # else: what is wanted is to brake
            H[6, :6] = H[:6, 6] = -turn / scale
            H[6, 6] = 1.0 + self.k.SPEED
            g[6] = turn @ hold / scale - self.k.SPEED * scale
        for _ in range(int(self.k.CUTS)):
            rows = np.hstack([A, np.zeros((len(b), 1))])
            qd, b = self.minimise_or_brake(H, g, rows, b, brake)
            if self.norms_kept(J @ qd, twist, most, caps):
                return qd
            A, b = self.put_norms(A, b, J, J @ qd, twist, most, caps)
        return towards(J, brake, qd, twist, most, caps)

    def minimise_or_brake(self, H: Array, g: Array, A: Array, b: Array, brake: Array) -> tuple[Array, Array]:
        """(joint speeds at the minimum, bounds). When rows contradict each other, braking is always allowed."""
        x, flag = minimise(H, g, A, b, self.k.VIOLATED)
        if flag == CONTRADICTION:
            self.contradiction = True
            b = np.maximum(b, A[:, :6] @ brake + 1e-12)
            x, flag = minimise(H, g, A, b, self.k.VIOLATED)
        return (x[:6] if flag == SOLVED else brake), b

    def norms_kept(self, V: Array, twist: Array, most: Array, caps: Array) -> bool:
        slack = math.sqrt(self.k.NORM_KEPT)
        return bool((parts(V) <= caps * slack).all() and (parts(V - twist) <= most * slack).all())

    def put_norms(
        self, A: Array, b: Array, J: Array, V: Array, twist: Array, most: Array, caps: Array
    ) -> tuple[Array, Array]:
        """A row for each norm that is too large, along the vector that is."""
        for n, part in enumerate(PARTS):
            for start, largest in ((np.zeros(3), caps[n]), (twist[part], most[n])):
                change = V[part] - start
                if norm(change) > largest:
                    along = change / norm(change)
                    row, bound = of_length_one((along @ J[part])[None], np.array([along @ start + largest]))
                    A, b = np.vstack([A, row]), np.append(b, bound)
        return A, b


def minimise(H: Array, g: Array, A: Array, b: Array, violated: float) -> tuple[Array, int]:
    """min 1/2 x' H x + g' x under A x <= b -> (x, exit flag). A row may be violated by as much as in core: with another
    tolerance, commands at a straight elbow differ by 4e-9."""
    below, sense = np.full(len(b), -1e30), np.zeros(len(b), np.int32)
    x, _, flag, _ = daqp.solve(H, g, np.ascontiguousarray(A), b, below, sense, primal_tol=violated)
    return np.asarray(x), int(flag)


def towards(J: Array, brake: Array, qd: Array, twist: Array, most: Array, caps: Array) -> Array:
    """brake + t (qd - brake) with the largest t, 0..1, at which the norms hold, or the one that comes nearest."""
    t, base, change = 1.0, J @ brake, J @ (qd - brake)
    for n, part in enumerate(PARTS):
        for start, largest in ((np.zeros(3), caps[n]), (twist[part], most[n])):
            b, c = base[part] - start, change[part]
            bc, cc, room = float(b @ c), float(c @ c), float(largest**2 - b @ b)
            if cc > 0.0 and cc * t * t + 2.0 * bc * t > room:
                t = min(max((math.sqrt(max(bc * bc + cc * room, 0.0)) - bc) / cc, 0.0), t)
    return brake + t * (qd - brake)


def of_length_one(A: Array, b: Array) -> tuple[Array, Array]:
    """Rows scaled to length one; those without a direction are left out."""
    length = np.linalg.norm(A, axis=1)
    some = length >= 1e-12
    return A[some] / length[some, None], b[some] / length[some]


def limit_change(v: Array, v_prev: Array, largest: float) -> Array:
    """Shortened to `largest`."""
    change = v - v_prev
    size = norm(change)
    return v if size <= largest else np.asarray(v_prev + largest / size * change)


def parts(V: Array) -> Array:
    """(linear, angular) norms"""
    return np.array([norm(V[LINEAR]), norm(V[ANGULAR])])


def norm(v: Array) -> float:
    return float(np.linalg.norm(v))
