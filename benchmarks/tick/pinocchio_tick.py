"""The tick in Python on Pinocchio and NumPy: vectors instead of loops. Functions have the names of core.

Parameters and constants are those of core (workload.py). It leaves out what kdl_tick.cpp leaves out: the contact
observers, the check of parameters and memory on every tick, reported flags and singular value; modes and faults (a bad
sample is an error), target pose, force axes, control frames other than the base, regions, travel damping.
"""

import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.tick.workload import PERIOD, Array, Samples, Setting, Workload
from ur_admittance.apps.bench import timed
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model.urdf import generate

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
PARTS = (LINEAR, ANGULAR)
TINY = 1e-300  # instead of 0 below a fraction bar


class PinocchioController:
    def __init__(self, setting: Setting) -> None:
        record = setting.params[0]
        self.p = SimpleNamespace(**{name: np.array(record[name]) for name in record.dtype.names or ()})
        self.k = SimpleNamespace(**setting.constants)
        self.model = pin.buildModelFromXML(generate(setting.model))
        tool0 = self.model.frames[self.model.getFrameId("tool0")]
        tool = setting.parameters.tool.tcp
        tcp = pin.SE3(pin.rpy.rpyToMatrix(*tool[3:]), np.array(tool[:3]))
        frame = pin.Frame("tcp", tool0.parentJoint, tool0.placement * tcp, pin.FrameType.OP_FRAME)
        self.tcp = self.model.addFrame(frame)
        self.data = self.model.createData()

    def activate(self, q: Array) -> None:
        self.q_command, self.qd_command = q.copy(), np.zeros(6)
        measured = self.pose(q)
        self.R_ref, self.p_ref = measured.rotation.copy(), measured.translation.copy()
        self.offset, self.rate, self.twist, self.lag = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
        self.acceleration, self.desired_wrench, self.stiffness = np.zeros(3), np.zeros(6), np.zeros(6)
        self.filtered: Array | None = None
        self.recent_speed, self.unexplained = np.zeros(6), np.zeros(6)
        self.ramp = self.quiet_time = 0.0

    def pose(self, q: Array) -> pin.SE3:
        pin.forwardKinematics(self.model, self.data, q)
        return pin.updateFramePlacement(self.model, self.data, self.tcp)

    def jacobian(self, q: Array) -> Array:
        return np.array(pin.computeFrameJacobian(self.model, self.data, q, self.tcp, pin.LOCAL_WORLD_ALIGNED))

    def tick(self, q: Array, qd: Array, raw: Array, reference_twist: Array, dt: float) -> None:
        p = self.p
        finite = all(np.isfinite(values).all() for values in (q, qd, raw, reference_twist))
        if not (0.0 < dt <= self.k.LONGEST_PERIOD and finite):
            raise UrAdmittanceError("bench: the sample is not usable.")
        measured = self.pose(q).copy()
        self.observe_lead(q, dt)
        wrench = self.deadband(self.condition(raw, measured, dt))
        silent = not wrench[p.enabled != 0.0].any()
        self.ramp_parameters(dt)
        E = pin.exp3(self.offset[ANGULAR])
        desired = reference_twist.copy()
        desired[ANGULAR] = E @ desired[ANGULAR]
        x, v = self.law_step(wrench - self.desired_wrench, dt)
        law = np.where(p.enabled != 0.0, (x - self.offset) / dt, 0.0)
        law[ANGULAR] = left_jacobian(self.offset[ANGULAR], law[ANGULAR])
        error = self.pose_error(E, measured)
        if norm(error[LINEAR]) > p.max_position_error or norm(error[ANGULAR]) > p.max_orientation_error:
            raise UrAdmittanceError("bench: the arm does not follow.")
        wanted = desired + law + p.tracking_gain * (error - self.lag)

        q_middle = self.q_command + 0.5 * dt * self.qd_command
        J = self.jacobian(q_middle)
        V = self.limit_twist(wanted.copy(), self.data.oMf[self.tcp].translation, measured.translation, dt)
        A, sigma = self.damped_factor(J)
        self.keep_elbow_bent(V, J, A, dt)
        joints, joints_hold = J.T @ (A @ V), J.T @ (A @ self.twist)
        curve = self.curve_speed(q_middle, V, joints, sigma)
        joints, realised = self.fit_into_bounds(J, joints_hold, curve, joints, dt)
        self.advance(law, desired, wanted, realised, x, v, E, dt)
        self.hold_when_quiet(silent, desired, measured, dt)
        self.move_joints(J, joints, dt)
        self.keep_inside(q)

    def condition(self, raw: Array, measured: pin.SE3, dt: float) -> Array:
        """Raw wrench -> minus bias, weight and inertia -> low-pass -> about the TCP, base axes."""
        p = self.p
        R_base_sensor = measured.rotation @ p.R_tcp_sensor
        inertia = min(p.tool_inertia_mass, max(0.0, p.mass[LINEAR].min() - p.tool_inertia_mass))
        load = R_base_sensor.T @ (p.tool_weight_base - inertia * self.acceleration)
        net = p.sensor_sign * raw - p.sensor_bias
        net[LINEAR] -= load
        net[ANGULAR] -= np.cross(p.tool_com, load)
        torque_at_tcp = net[ANGULAR] + np.cross(p.R_tcp_sensor.T @ p.p_tcp_sensor, net[LINEAR])
        if norm(net[LINEAR]) > p.max_force or norm(torque_at_tcp) > p.max_torque:
            raise UrAdmittanceError("bench: the wrench is too large.")
        if self.filtered is None:
            self.filtered = net
        self.filtered = self.filtered + smoothing(p.filter_cutoff_hz, dt) * (net - self.filtered)
        force = R_base_sensor @ self.filtered[LINEAR]
        torque = R_base_sensor @ self.filtered[ANGULAR] + np.cross(measured.rotation @ p.p_tcp_sensor, force)
        return np.concatenate([force, torque])

    def deadband(self, wrench: Array) -> Array:
        for part, threshold in ((LINEAR, self.p.deadband_force), (ANGULAR, self.p.deadband_torque)):
            size = norm(wrench[part])
            wrench[part] *= 1.0 - threshold / size if size > threshold else 0.0
        soft: Array = np.sign(wrench) * np.maximum(np.abs(wrench) - self.p.deadband_axis, 0.0)
        return soft

    def ramp_parameters(self, dt: float) -> None:
        p = self.p
        self.ramp = min(1.0, self.ramp + dt / float(p.engagement_time)) if p.engagement_time > 0.0 else 1.0
        self.stiffness = self.ramp * p.stiffness
        change = p.desired_wrench - self.desired_wrench
        for part, rate in zip(PARTS, p.desired_wrench_rate, strict=True):
            self.desired_wrench[part] += min(1.0, rate * dt / max(norm(change[part]), TINY)) * change[part]

    def law_step(self, f: Array, dt: float) -> tuple[Array, Array]:
        """Exact step of M a + D v + K x = f on every axis."""
        m, d, k, x, v = self.p.mass, self.p.damping, self.stiffness, self.offset, self.rate
        z = d / m * dt
        h1 = -np.expm1(-z) / z
        v_free = v * (1.0 - z * h1) + f / m * dt * h1
        x_free = x + dt * (v * h1 + f / m * dt * (1.0 - h1) / z)
        a, sprung = 0.5 * d / m, k > 0.0
        w = np.sqrt((k / m - a * a).astype(complex))  # imaginary: overdamped
        w = np.where(np.abs(w) < 1e-8, 1e-8, w)
        ec, es = np.exp(-a * dt) * np.cos(w * dt).real, np.exp(-a * dt) * (np.sin(w * dt) / w).real
        rest = f / np.where(sprung, k, 1.0)
        y = x - rest
        x_next = np.where(sprung, rest + y * (ec + a * es) + v * es, x_free)
        v_next = np.where(sprung, v * (ec - a * es) - y * (k / m) * es, v_free)
        enabled = self.p.enabled != 0.0
        return np.where(enabled, x_next, 0.0), np.where(enabled, v_next, 0.0)

    def pose_error(self, E: Array, measured: pin.SE3) -> Array:
        turned = pin.log3(E @ self.R_ref @ measured.rotation.T)
        return np.concatenate([self.p_ref + self.offset[LINEAR] - measured.translation, turned])

    def limit_twist(self, V: Array, position: Array, measured: Array, dt: float) -> Array:
        """Acceleration, walls, speed; linear and angular parts separately."""
        p, k = self.p, self.k
        for n, part in enumerate(PARTS):
            a_dt, before, urgent = p.max_acceleration[n] * dt, self.twist[part], np.zeros(3, bool)
            v = limit_change(V[part], before, a_dt, urgent)
            if n == 0:
                a = k.WALL_BRAKING * p.max_acceleration[0]
                above = p.workspace_max - np.maximum(position, measured)
                below = np.minimum(position, measured) - p.workspace_min
                up = np.minimum(braking_speed(above, a, dt), k.WALL_RATE * np.maximum(above, 0.0))
                down = np.minimum(braking_speed(below, a, dt), k.WALL_RATE * np.maximum(below, 0.0))
                urgent = (before > up) | (-before > down)
                up, down = np.maximum(up, before - a_dt), np.maximum(down, -before - a_dt)
                urgent |= (v > up) | (-np.minimum(v, up) > down)
                v = np.maximum(np.minimum(v, up), -down)
            speed, most = norm(v), float(p.max_velocity[n])
            if speed > most:
                v = v * min(1.0, max(most, norm(before) - a_dt) / speed)
            V[part] = limit_change(v, before, a_dt, urgent)
        return V

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

    def keep_elbow_bent(self, V: Array, J: Array, A: Array, dt: float) -> None:
        p, k, elbow = self.p, self.k, int(self.k.ELBOW)
        if p.elbow_margin <= 0.0:
            return
        bend = self.q_command[elbow]
        g, side, room = A @ J[:, elbow], 1.0 if bend > 0.0 else -1.0, abs(bend) - p.elbow_margin
        braking = float(braking_speed(room, k.ELBOW_BRAKING * p.joint_acceleration[elbow], dt))
        allowed = min(braking, k.ELBOW_RATE * max(room, 0.0))
        speed, square = g @ V, g @ g
        if -side * speed > allowed and square > 0.0:
            V -= (speed + side * allowed) / square * g

    def common_braking(self, V: Array, qd: Array) -> float:
        """Fraction of its speed per second that the whole vector can lose [1/s]."""
        rates = self.k.BRAKING * self.p.joint_acceleration / np.maximum(np.abs(qd), TINY)
        speeds = [max(norm(V[part]), TINY) for part in PARTS]
        return float(min(rates.min(), (self.p.max_acceleration / speeds).min()))

    def curve_speed(self, q: Array, V: Array, qd: Array, sigma: float) -> float:
        """Share of V at which a straight path asks for no more than CURVE of the joint accelerations."""
        p, k = self.p, self.k
        fastest = np.abs(qd).max()
        if fastest == 0.0 or fastest**2 <= k.CURVE * p.joint_acceleration.min() * max(0.0, sigma - k.AHEAD):
            return 1.0
        time = k.AHEAD / fastest
        J = self.jacobian(q + time * qd)
        change = np.abs(J.T @ (self.damped_factor(J)[0] @ V) - qd)
        most = k.CURVE * p.joint_acceleration * time
        return float(np.sqrt(np.minimum(1.0, most / np.maximum(change, TINY))).min())

    def speed_share(self, qd: Array, rate: float, dt: float) -> float:
        """Share of qd that joint speeds and position limits allow."""
        p, speed = self.p, np.maximum(np.abs(qd), TINY)
        room = np.where(qd > 0.0, p.joint_upper - self.q_command, self.q_command - p.joint_lower)
        allowed = np.minimum(braking_speed(room, np.minimum(rate, 1e300) * speed, dt), self.top_speed(np.sign(qd)))
        return float(np.where(qd != 0.0, np.minimum(1.0, allowed / speed), 1.0).min())

    def fit_into_bounds(self, J: Array, qd_hold: Array, curve: float, qd: Array, dt: float) -> tuple[Array, Array]:
        """(qd inside the bounds, its twist), without bending the path of the tool."""
        p, a = self.p, self.p.joint_acceleration
        slowest, fastest = self.qd_command - a * dt, self.qd_command + a * dt
        up = np.minimum(self.top_speed(np.ones(6)), braking_speed(p.joint_upper - self.q_command, a, dt))
        down = -np.minimum(self.top_speed(-np.ones(6)), braking_speed(self.q_command - p.joint_lower, a, dt))
        high, low = np.clip(up, slowest, fastest), np.clip(down, slowest, fastest)
        rate = self.common_braking(self.twist, qd_hold)
        hold, target = self.speed_share(qd_hold, rate, dt), J @ qd
        wanted = self.speed_share(qd, self.common_braking(target, qd), dt)
        if curve < 1.0:
            wanted = min(wanted, curve)
            along, size = float(qd @ qd_hold), float(qd_hold @ qd_hold)
            if curve * along < size:
                hold = min(hold, max(curve * along / size, 1.0 - rate * dt))
        moving, divisor = qd_hold != 0.0, np.where(qd_hold != 0.0, qd_hold, 1.0)
        least = max(0.0, np.where(moving, np.where(qd_hold > 0.0, low, high) / divisor, 0.0).max())
        most = min(1.0, np.where(moving, np.where(qd_hold > 0.0, high, low) / divisor, 1.0).min())
        if least > most:
            hold = max(0.0, 1.0 - self.common_braking(self.twist, self.qd_command) * dt)
            qd_hold = self.qd_command
        else:
            hold = min(max(hold, least), most)
        base = np.clip(hold * qd_hold, low, high)
        change = wanted * qd - base
        ends = (np.where(change > 0.0, high, low) - base) / np.where(change != 0.0, change, 1.0)
        turn = min(1.0, float(np.where(change != 0.0, ends, 1.0).min()))
        for n, part in enumerate(PARTS):  # calm_turn
            b, c = (hold - 1.0) * self.twist[part], wanted * target[part] - hold * self.twist[part]
            bc, cc = float(b @ c), float(c @ c)
            room = max((p.max_acceleration[n] * dt) ** 2 - float(b @ b), 0.0)
            if cc * turn * turn + 2.0 * bc * turn > room:
                turn = max(0.0, (math.sqrt(bc * bc + cc * room) - bc) / cc)
        fitted = hold * qd_hold + turn * (wanted * qd - hold * qd_hold)
        return np.clip(fitted, low, high), J @ fitted

    def advance(
        self, law: Array, desired: Array, wanted: Array, realised: Array, x: Array, v: Array, E: Array, dt: float
    ) -> None:
        """Law and desired twist each bear what was not realised in proportion to their size."""
        lost, shift = np.zeros(6), desired.copy()
        for part in PARTS:
            of_law, of_desired = norm(law[part]), norm(desired[part])
            total = of_law + of_desired + norm((wanted - law - desired)[part])
            deficit = (realised - wanted)[part] / (total if total > 0.0 else math.inf)
            lost[part] = of_law * deficit
            shift[part] += of_desired * deficit
        lost[ANGULAR] = left_jacobian_inverse(self.offset[ANGULAR], lost[ANGULAR])
        enabled = self.p.enabled != 0.0
        x, v = np.where(enabled, x + lost * dt, 0.0), np.where(enabled, v + lost, 0.0)
        free = enabled & (self.stiffness == 0.0)
        absorbed = np.where(enabled, np.where(free, x, 0.0), self.offset)
        self.R_ref = pin.exp3(dt * (E.T @ shift[ANGULAR])) @ self.R_ref
        self.offset, self.rate = np.where(free, 0.0, x), v
        self.p_ref = self.p_ref + dt * shift[LINEAR] + absorbed[LINEAR]
        if absorbed[ANGULAR].any():
            kept, whole = pin.exp3(self.offset[ANGULAR]), pin.exp3(self.offset[ANGULAR] + absorbed[ANGULAR])
            self.R_ref = kept.T @ whole @ self.R_ref

    def hold_when_quiet(self, silent: bool, desired: Array, measured: pin.SE3, dt: float) -> None:
        free = self.stiffness == 0.0
        too_fast = np.abs(self.rate[free]) > self.p.drift_reset_threshold
        if not silent or desired.any() or self.desired_wrench.any() or too_fast.any():
            self.quiet_time = 0.0
            return
        self.quiet_time += dt
        if self.quiet_time < self.k.QUIET:
            return
        error = self.pose_error(pin.exp3(self.offset[ANGULAR]), measured)
        shift = np.where(free & (self.p.enabled != 0.0), error, 0.0)
        self.rate[free] = 0.0
        self.p_ref = self.p_ref - shift[LINEAR]
        self.R_ref = pin.exp3(-shift[ANGULAR]) @ self.R_ref

    def move_joints(self, J: Array, qd: Array, dt: float) -> None:
        twist, response = J @ qd, float(self.p.response_time)
        change = (twist - self.twist)[LINEAR] / dt
        weight = smoothing(self.k.ACCELERATION_CUTOFF_HZ, dt)
        self.acceleration = self.acceleration + weight * (change - self.acceleration)
        late = math.exp(-dt / response) if response > 0.0 else 0.0
        self.lag = late * self.lag + (1.0 - late) * response * twist
        self.twist, self.qd_command = twist, qd
        self.q_command = self.q_command + qd * dt

    def observe_lead(self, q: Array, dt: float) -> None:
        """How far the command leads the arm, beyond what its speed explains."""
        time, lead = float(self.p.following_time), self.q_command - q
        self.recent_speed = np.maximum(np.abs(self.qd_command), math.exp(-dt / time) * self.recent_speed)
        self.unexplained = np.sign(lead) * np.maximum(0.0, np.abs(lead) - time * self.recent_speed)
        if np.abs(self.unexplained).max() > 2.0 * float(self.p.max_following_error):
            raise UrAdmittanceError("bench: the arm does not follow.")

    def top_speed(self, direction: Array) -> Array:
        """A command that leads the arm waits for it."""
        p, ahead, most = self.p, direction * self.unexplained, float(self.p.max_following_error)
        slow = np.minimum(p.joint_velocity, self.recent_speed) * np.clip(2.0 - ahead / most, 0.0, 1.0)
        return np.asarray(np.where(ahead <= most, p.joint_velocity, slow))

    def keep_inside(self, q: Array) -> None:
        p = self.p
        inside = (p.joint_lower <= q) & (q <= p.joint_upper)
        self.q_command = np.where(inside, np.clip(self.q_command, p.joint_lower, p.joint_upper), self.q_command)


def norm(v: Array) -> float:
    return float(np.linalg.norm(v))


def smoothing(cutoff_hz: float, dt: float) -> float:
    return -math.expm1(-2.0 * math.pi * float(cutoff_hz) * dt)


def braking_speed(distance: Array, deceleration: Array, dt: float) -> Array:
    half, room = 0.5 * deceleration * dt, np.maximum(distance, 0.0)
    speed: Array = np.minimum(np.sqrt(half * half + 2.0 * deceleration * room) - half, room / dt)
    return speed


def limit_change(v: Array, v_prev: Array, largest: float, urgent: NDArray[np.bool_]) -> Array:
    """Shortened to `largest`; urgent axes come first, the others get what is left."""
    change = v - v_prev
    first, rest = float(change[urgent] @ change[urgent]), float(change[~urgent] @ change[~urgent])
    left = largest * largest - first
    if rest <= left:
        return v
    keep = math.sqrt(left / rest) if left > 0.0 else 0.0
    keep_first = 1.0 if left > 0.0 else largest / math.sqrt(first)
    shortened: Array = v_prev + np.where(urgent, keep_first, keep) * change
    return shortened


def left_jacobian(r: Array, rate: Array) -> Array:
    t = norm(r)
    b = (1.0 - math.cos(t)) / t**2 if t > 1e-3 else 0.5 - t**2 / 24.0
    c = (t - math.sin(t)) / t**3 if t > 1e-3 else 1.0 / 6.0 - t**2 / 120.0
    once = np.cross(r, rate)
    return np.asarray(rate + b * once + c * np.cross(r, once))


def left_jacobian_inverse(r: Array, w: Array) -> Array:
    t = norm(r)
    d = (1.0 - 0.5 * t / math.tan(0.5 * t)) / t**2 if t > 1e-2 else 1.0 / 12.0 + t**2 / 720.0
    once = np.cross(r, w)
    return np.asarray(w - 0.5 * once + d * np.cross(r, once))


def time_ticks(workload: Workload, count: int) -> Array:
    """Durations of single ticks [ns]."""
    controller, pushes = PinocchioController(workload), workload.pushes
    q, qd, wrench, still = workload.home.copy(), np.zeros(6), np.zeros(6), np.zeros(6)
    controller.activate(q)

    def perfect_servo(i: int) -> None:
        q[:] = controller.q_command
        qd[:] = controller.qd_command
        wrench[:] = pushes[i % len(pushes)]

    return timed(controller.tick, (q, qd, wrench, still, PERIOD), perfect_servo, count)


def replay(samples: Samples) -> Array:
    """Commands for all samples (n, 18): q, qd, twist."""
    controller = PinocchioController(samples)
    controller.activate(samples.q[0])
    found = []
    for q, qd, wrench, twist in zip(samples.q, samples.qd, samples.wrench, samples.reference_twist, strict=True):
        controller.tick(q, qd, wrench, twist, PERIOD)
        found.append(np.concatenate([controller.q_command, controller.qd_command, controller.twist]))
    return np.array(found)
