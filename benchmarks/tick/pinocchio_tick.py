"""The tick in Python on Pinocchio and NumPy: vectors instead of loops. Functions have the names of core.

Steps 3 and 4 are in pinocchio_solve.py. Parameters and constants are those of core (workload.py). It leaves out what
kdl_tick.cpp leaves out; there a bad sample ends the program, here it is an error.
"""

import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from benchmarks.tick.pinocchio_solve import ANGULAR, LINEAR, PARTS, TINY, Solve, norm
from benchmarks.tick.workload import PERIOD, Array, Samples, Setting, Workload
from ur_admittance.errors import UrAdmittanceError
from ur_admittance_lab.speed import timed
from ur_admittance_lab.urdf_writer import generate


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
        self.solve = Solve(self.p, self.k, self.kinematics)

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

    def kinematics(self, q: Array) -> tuple[Array, Array]:
        """(position, Jacobian) of the TCP"""
        J = pin.computeFrameJacobian(self.model, self.data, q, self.tcp, pin.LOCAL_WORLD_ALIGNED)
        return self.data.oMf[self.tcp].translation.copy(), np.array(J)

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

        top = self.top_speed(1.0), self.top_speed(-1.0)
        command = self.q_command, self.qd_command, self.twist
        joints, J = self.solve.choose(wanted, *command, measured.translation, top, dt)
        self.advance(law, desired, wanted, J @ joints, x, v, E, dt)
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

    def top_speed(self, direction: float) -> Array:
        """A command that leads the arm waits for it."""
        p, ahead, most = self.p, direction * self.unexplained, float(self.p.max_following_error)
        slow = np.minimum(p.joint_velocity, self.recent_speed) * np.clip(2.0 - ahead / most, 0.0, 1.0)
        return np.asarray(np.where(ahead <= most, p.joint_velocity, slow))

    def keep_inside(self, q: Array) -> None:
        p = self.p
        inside = (p.joint_lower <= q) & (q <= p.joint_upper)
        self.q_command = np.where(inside, np.clip(self.q_command, p.joint_lower, p.joint_upper), self.q_command)


def smoothing(cutoff_hz: float, dt: float) -> float:
    return -math.expm1(-2.0 * math.pi * float(cutoff_hz) * dt)


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
