"""The tick in Python on Pinocchio and NumPy: same steps and numbers as kdl_tick.cpp, vectors instead of loops."""

import math

import numpy as np
import pinocchio as pin

from ur_admittance.bench.timing import measure
from ur_admittance.bench.workload import PERIOD, Array, Workload
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model.urdf import generate

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
WALL_BRAKING, WALL_RATE, BRAKING = 0.6, 20.0, 0.9  # as in core/cartesian.py and core/inverse.py
SINGULAR = DAMPING = 0.04  # as in core/inverse.py
SLACK, LEAD, RESYNC_TIME = 0.02, 0.1, 0.5  # as in core/tick.py


class PinocchioController:
    def __init__(self, workload: Workload) -> None:
        self.p = {name: np.array(workload.params[0][name]) for name in workload.params.dtype.names or ()}
        self.model = pin.buildModelFromXML(generate(workload.model))
        tool0 = self.model.frames[self.model.getFrameId("tool0")]
        tool = workload.parameters.tool.tcp
        tcp = pin.SE3(pin.rpy.rpyToMatrix(*tool[3:]), np.array(tool[:3]))
        frame = pin.Frame("tcp", tool0.parentJoint, tool0.placement * tcp, pin.FrameType.OP_FRAME)
        self.tcp = self.model.addFrame(frame)
        self.data = self.model.createData()

    def activate(self, q: Array) -> None:
        self.q_command, self.qd_command = q.copy(), np.zeros(6)
        self.reference = self.pose(q).copy()
        self.offset, self.rate, self.twist = np.zeros(6), np.zeros(6), np.zeros(6)
        self.filtered: Array | None = None
        self.ramp = 0.0
        self.desired_wrench = np.zeros(6)

    def pose(self, q: Array) -> pin.SE3:
        pin.forwardKinematics(self.model, self.data, q)
        return pin.updateFramePlacement(self.model, self.data, self.tcp)

    def tick(self, q: Array, qd: Array, raw: Array, dt: float) -> None:
        p = self.p
        if not (0.0 < dt <= 0.1 and np.isfinite(q).all() and np.isfinite(qd).all() and np.isfinite(raw).all()):
            raise UrAdmittanceError("bench: the sample is not usable.")
        measured = self.pose(q).copy()
        wrench = self.deadband(self.condition(raw, measured, dt))
        self.ramp = min(1.0, self.ramp + dt / float(p["engagement_time"]))
        stiffness = self.ramp * p["stiffness"]
        x, v = self.law_step(wrench - self.ramped_desired_wrench(dt), stiffness, dt)
        law = (x - self.offset) / dt

        commanded = pin.exp3(self.offset[ANGULAR]) @ self.reference.rotation
        error = np.concatenate(
            [
                self.reference.translation + self.offset[LINEAR] - measured.translation,
                pin.log3(commanded @ measured.rotation.T),
            ]
        )
        wanted = law + p["tracking_gain"] * error
        q_middle = self.q_command + 0.5 * dt * self.qd_command
        J = pin.computeFrameJacobian(self.model, self.data, q_middle, self.tcp, pin.LOCAL_WORLD_ALIGNED)
        V = self.limit_twist(wanted.copy(), self.data.oMf[self.tcp].translation, measured.translation, dt)

        U, sigma, Vt = np.linalg.svd(J)
        nearness = np.maximum(0.0, 1.0 - (sigma / SINGULAR) ** 2)
        joints = Vt.T @ (sigma / (sigma**2 + (DAMPING * nearness) ** 2) * (U.T @ V))
        joints = self.fit_into_bounds(joints, V, dt)
        realised = J @ joints
        self.feed_back(law, wanted, realised, x, v, stiffness, dt)
        self.twist = realised
        self.qd_command = joints
        self.q_command = self.q_command + joints * dt
        self.resynchronise(q, dt)

    def condition(self, raw: Array, measured: pin.SE3, dt: float) -> Array:
        """Raw wrench -> minus bias and weight -> low-pass -> about the TCP, base axes."""
        p = self.p
        R_base_sensor = measured.rotation @ p["R_tcp_sensor"]
        load = R_base_sensor.T @ p["tool_weight_base"]
        net = p["sensor_sign"] * raw - p["sensor_bias"]
        net[LINEAR] -= load
        net[ANGULAR] -= np.cross(p["tool_com"], load)
        if np.linalg.norm(net[LINEAR]) > p["max_force"] or np.linalg.norm(net[ANGULAR]) > p["max_torque"]:
            raise UrAdmittanceError("bench: the wrench is too large.")
        weight_of_new = -math.expm1(-2.0 * math.pi * float(p["filter_cutoff_hz"]) * dt)
        self.filtered = net if self.filtered is None else self.filtered + weight_of_new * (net - self.filtered)
        force = R_base_sensor @ self.filtered[LINEAR]
        torque = R_base_sensor @ self.filtered[ANGULAR] + np.cross(measured.rotation @ p["p_tcp_sensor"], force)
        return np.concatenate([force, torque])

    def deadband(self, wrench: Array) -> Array:
        for part, threshold in ((LINEAR, self.p["deadband_force"]), (ANGULAR, self.p["deadband_torque"])):
            size = np.linalg.norm(wrench[part])
            wrench[part] *= 1.0 - threshold / size if size > threshold else 0.0
        soft: Array = np.sign(wrench) * np.maximum(np.abs(wrench) - self.p["deadband_axis"], 0.0)
        return soft

    def ramped_desired_wrench(self, dt: float) -> Array:
        change = self.p["desired_wrench"] - self.desired_wrench
        for part, rate in ((LINEAR, self.p["desired_wrench_rate"][0]), (ANGULAR, self.p["desired_wrench_rate"][1])):
            size = np.linalg.norm(change[part])
            self.desired_wrench[part] += min(1.0, rate * dt / size) * change[part] if size > 0.0 else 0.0
        return self.desired_wrench

    def law_step(self, f: Array, stiffness: Array, dt: float) -> tuple[Array, Array]:
        """Exact step of M a + D v = f on free axes, semi-implicit Euler on axes with a spring."""
        m, d, x, v = self.p["mass"], self.p["damping"], self.offset, self.rate
        z = d / m * dt
        h1 = -np.expm1(-z) / z
        v_free = v * (1.0 - z * h1) + f / m * dt * h1
        x_free = x + dt * (v * h1 + f / m * dt * (1.0 - h1) / z)
        v_sprung = v + dt * (f - d * v - stiffness * x) / m
        sprung, enabled = stiffness > 0.0, self.p["enabled"] != 0.0
        x_next = np.where(sprung, x + dt * v_sprung, x_free)
        return np.where(enabled, x_next, 0.0), np.where(enabled, np.where(sprung, v_sprung, v_free), 0.0)

    def limit_twist(self, V: Array, position: Array, measured: Array, dt: float) -> Array:
        p = self.p
        for k, part in enumerate((LINEAR, ANGULAR)):
            a_dt = p["max_acceleration"][k] * dt
            V[part] = shortened_change(V[part], self.twist[part], a_dt)
            if k == 0:
                a = WALL_BRAKING * p["max_acceleration"][0]
                above = np.maximum(p["workspace_max"] - np.maximum(position, measured), 0.0)
                below = np.maximum(np.minimum(position, measured) - p["workspace_min"], 0.0)
                up = np.minimum(braking_speed(above, a, dt), WALL_RATE * above)
                down = np.minimum(braking_speed(below, a, dt), WALL_RATE * below)
                v = self.twist[part]
                V[part] = np.clip(V[part], -np.maximum(down, -v - a * dt), np.maximum(up, v - a * dt))
            speed = np.linalg.norm(V[part])
            if speed > p["max_velocity"][k]:
                V[part] *= p["max_velocity"][k] / speed
            V[part] = shortened_change(V[part], self.twist[part], a_dt)
        return V

    def fit_into_bounds(self, qd: Array, V: Array, dt: float) -> Array:
        p, a = self.p, self.p["joint_acceleration"]
        up = np.minimum(p["joint_velocity"], braking_speed(p["joint_upper"] - self.q_command, a, dt))
        down = -np.minimum(p["joint_velocity"], braking_speed(self.q_command - p["joint_lower"], a, dt))
        high = np.clip(up, self.qd_command - a * dt, self.qd_command + a * dt)
        low = np.clip(down, self.qd_command - a * dt, self.qd_command + a * dt)
        speed = np.maximum(np.abs(qd), 1e-12)
        rate = float(np.min(BRAKING * a / speed))
        for k, part in enumerate((LINEAR, ANGULAR)):
            rate = min(rate, p["max_acceleration"][k] / max(float(np.linalg.norm(V[part])), 1e-12))
        room = np.where(qd > 0.0, p["joint_upper"] - self.q_command, self.q_command - p["joint_lower"])
        stop = braking_speed(room, rate * speed, dt) / speed
        end = np.where(qd > 0.0, high, -low) / speed
        begin = np.where(qd > 0.0, low, -high) / speed
        least, most = max(0.0, float(begin.max())), min(1.0, float(stop.min()), float(end.min()))
        scale = min(max(0.5 * (least + most) if least > most else most, 0.0), 1.0)
        return np.clip(scale * qd, low, high)

    def feed_back(self, law: Array, wanted: Array, realised: Array, x: Array, v: Array, k: Array, dt: float) -> None:
        """What was not realised goes back into the law in proportion to its size."""
        for part in (LINEAR, ANGULAR):
            of_law = np.linalg.norm(law[part])
            total = of_law + np.linalg.norm((wanted - law)[part])
            if total > 0.0:
                lost = of_law / total * (realised - wanted)[part]
                x[part] += lost * dt
                v[part] += lost
        free = np.where(k == 0.0, x, 0.0)
        self.offset, self.rate = x - free, v
        self.reference.translation += free[LINEAR]
        self.reference.rotation = pin.exp3(free[ANGULAR]) @ self.reference.rotation

    def resynchronise(self, q: Array, dt: float) -> None:
        lead = self.q_command - q
        excess = np.maximum(np.abs(lead) - SLACK - LEAD * np.abs(self.qd_command), 0.0)
        moved = self.q_command - np.sign(lead) * excess * dt / RESYNC_TIME
        self.q_command = np.clip(moved, self.p["joint_lower"], self.p["joint_upper"])


def braking_speed(distance: Array, deceleration: Array, dt: float) -> Array:
    half = 0.5 * deceleration * dt
    speed: Array = np.sqrt(half * half + 2.0 * deceleration * np.maximum(distance, 0.0)) - half
    return np.maximum(speed, 0.0)


def shortened_change(v: Array, v_prev: Array, largest: float) -> Array:
    change = v - v_prev
    size = float(np.linalg.norm(change))
    return v if size <= largest else v_prev + largest / size * change


class PinocchioTick:
    name = "pinocchio_tick"
    title = "tick in Python on Pinocchio and NumPy"

    def __init__(self, workload: Workload, calls_per_round: int) -> None:
        self._workload = workload
        self._controller = PinocchioController(workload)
        self.calls_per_round = calls_per_round

    def round(self, count: int) -> Array:
        return self.run(count)[0]

    def run(self, count: int) -> tuple[Array, Array]:
        """Durations [ns], and twist and joint positions at the end (12,)."""
        controller, pushes, rows = self._controller, self._workload.pushes, len(self._workload.pushes)
        q, qd, wrench = self._workload.home.copy(), np.zeros(6), np.zeros(6)
        controller.activate(q)

        def perfect_servo(i: int) -> None:
            q[:] = controller.q_command
            qd[:] = controller.qd_command
            wrench[:] = pushes[i % rows]

        durations = measure(controller.tick, (q, qd, wrench, PERIOD), perfect_servo, count)
        return durations, np.concatenate([controller.twist, controller.q_command])

    def close(self) -> None: ...
