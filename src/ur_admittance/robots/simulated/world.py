"""A UR arm in MuJoCo: commands go in once per control period, readings and the truth come out.

``world.step(q_command, None, 0.002)`` moves on by one period; ``q``, ``qd``, ``wrench`` are what a robot would report,
``pose()``, ``external_wrench``, ``contact_wrench`` what only a simulation knows.
"""

import ctypes
import math
from functools import cache
from pathlib import Path as File
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.records import new
from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.robots.simulated import mjcf
from ur_admittance.robots.simulated.devices import (
    GRAVITY,
    STEADY_HAND,
    FtSensor,
    Servo,
    Tool,
    need_device,
    need_number,
    need_vector,
    need_whole,
)
from ur_admittance.robots.simulated.environment import Environment
from ur_admittance.robots.simulated.hand import Hand, Path, Profile
from ur_admittance.robots.simulated.kernels import plant as kernels
from ur_admittance.robots.simulated.kernels.plant_record import ENGINE, PLANT
from ur_admittance.robots.simulated.second import SecondSensor

Array = NDArray[np.float64]

NO_WRENCH = (0.0,) * 6
NOISE_BLOCK = 512  # periods of random numbers drawn at once


class World:
    """The arm with tool, sensor and environment. Deterministic: the same seed and commands give the same bytes."""

    def __init__(
        self,
        model: RobotModel | str,
        tool: Tool | None = None,
        environment: Environment | None = None,
        servo: Servo | None = None,
        sensor: FtSensor | None = None,
        seed: int = 0,
        physics_dt: float = 0.001,
        gravity: ArrayLike = GRAVITY,
        second: SecondSensor | None = None,
    ) -> None:
        """physics_dt [s]; gravity [m/s2], base axes. tool, environment, servo, sensor: None: the default of each. seed:
        of the sensor's noise. second: another force sensor on the same tool."""
        self.model = model = robot_model(model)
        self.tool = need_device("tool", tool, Tool)
        self.environment = need_device("environment", environment, Environment)
        self.servo = need_device("servo", servo, Servo)
        self.sensor = need_device("sensor", sensor, FtSensor)
        need_whole("seed", seed)
        need_number("physics_dt", physics_dt, "s", above=True)
        self.seed, self.physics_dt = seed, physics_dt
        self.gravity = need_vector("gravity", gravity, 3, "m/s2").copy()
        devices = self.tool, self.environment, self.sensor, self.servo
        self.xml = mjcf.generate(model, *devices, physics_dt, self.gravity)
        self.mj_model = mujoco.MjModel.from_xml_string(self.xml)
        self.mj_data = mujoco.MjData(self.mj_model)
        self._tool_body = self.mj_model.body("tool").id
        self._tcp_site = self.mj_model.site("tcp").id
        self._set_contact_stiffness()

        self.plants = new(PLANT)  # one
        self._plant = self.plants[0]
        self._commands = np.zeros((1 + self._steps_of("servo.delay", self.servo.delay), 6))
        self._readings = np.zeros((1 + self._steps_of("sensor.delay", self.sensor.delay), 6))
        self._engines = self._engine()
        self._period = math.nan  # [s] of which the record has the steps
        self._target = np.zeros(6)
        self._rng = np.random.default_rng(seed)
        self._noise = np.zeros((NOISE_BLOCK, 12))
        self._noise_row = 0
        self._twelve = np.zeros(12)
        self._noisy = bool(self.sensor.noise_force or self.sensor.noise_torque or any(self.sensor.drift))
        self.second = None if second is None else need_device("second", second, SecondSensor)
        self.hand = Hand(self._plant, np.array(self.tool.tcp), np.array(self.tool.tcp_rotation))
        self._fill_plant()
        self._advance = kernels.advance.on(self._engines, self.plants, self._target, self._twelve)
        self.reset()

    # life

    def reset(self, q: ArrayLike | None = None) -> None:
        """Arm at rest at ``q`` [rad] (default: home), time 0, hand off, the environment placed before the tool."""
        mj, data, plant = self.mj_model, self.mj_data, self._plant
        start = need_vector("reset: q", self.model.home if q is None else q, 6, "rad")
        mujoco.mj_resetData(mj, data)
        data.qpos[:] = start
        mujoco.mj_kinematics(mj, data)
        R, p = data.xmat[self._tool_body].reshape(3, 3), data.xpos[self._tool_body]
        mj.body("environment").pos[:] = self.environment.place(p + R @ self.tool.tip, self.tool.radius)
        mujoco.mj_forward(mj, data)
        data.qfrc_applied[:] = data.qfrc_bias  # at rest: the motors carry the arm
        mujoco.mj_forward(mj, data)

        self.hand.let_go()
        for field in ("setpoint", "delayed", "y"):
            plant[field] = start
        for field in ("steps", "yd", "drift", "external", "contact", "hand_wrench", "hand_work"):
            plant[field] = 0
        plant["torque"] = data.qfrc_bias
        plant["clean"] = -data.sensordata[:6]
        self._commands[:] = start
        self._readings[:] = plant["clean"]
        plant["bias"] = self.sensor.bias
        self._rng = np.random.default_rng(self.seed)
        self._noise_row = NOISE_BLOCK
        self._next_noise()
        kernels.report(self._plant, self._twelve, 0.0)
        plant["recent"] = plant["wrench"]
        if self.second is not None:
            self.second.begin(plant["clean"], self.sensor, self.seed)

    def step(self, q_cmd: ArrayLike | None, qd_cmd: ArrayLike | None, period: float) -> None:
        """One control period [s].

        Position command: ``q_cmd`` is where the joints should be at the end of the period; the arm feeds the speed
        of that line forward itself. Velocity command (``q_cmd`` None, as ``speedj``): the arm integrates ``qd_cmd``.
        """
        if q_cmd is not None:
            self._target[:] = q_cmd
        elif qd_cmd is not None:
            self._target[:] = self._plant["setpoint"] + np.asarray(qd_cmd) * period
        if self.hand.active:
            self.hand.prepare(self.time, period)
        self._next_noise()
        self.engine(period)
        if not self._advance():
            q = np.round(self.q, 3).tolist()
            raise SimulationError(f"the simulation has diverged at t = {self.time:.3f} s, q = {q} rad.")
        if self.second is not None:
            self.second.sense(self._plant["clean"], period)

    def zero_sensor(self) -> None:
        """The sensor, and the second one, takes its mean reading of the last tenth of a second as zero from now on.

        The sensor's own tare, as UR's zero_ftsensor is: part of what it reports. The tick takes sensor.bias off."""
        self._plant["bias"] -= self._plant["recent"]
        self._plant["wrench"] -= self._plant["recent"]
        self._plant["recent"] = 0.0
        if self.second is not None:
            self.second.zero()

    # what a robot reports

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return float(self._plant["steps"]) * self.physics_dt

    @property
    def q(self) -> Array:
        """Measured joint angles (6,) [rad]; a view."""
        return self._q

    @property
    def qd(self) -> Array:
        """Measured joint speeds (6,) [rad/s]; a view."""
        return self._qd

    @property
    def wrench(self) -> Array:
        """The sensor's reading (6,) [N, Nm], sensor axes; a view."""
        return self._wrench

    @property
    def setpoint(self) -> Array:
        """The last commanded joint angles (6,) [rad]; a view."""
        return self._setpoint

    # what only a simulation knows

    def pose(self) -> tuple[Array, Array]:
        """T_base_tcp now: rotation (3, 3) and position (3,) [m]."""
        mujoco.mj_kinematics(self.mj_model, self.mj_data)
        site, data = self._tcp_site, self.mj_data
        return data.site_xmat[site].reshape(3, 3).copy(), data.site_xpos[site].copy()

    @property
    def external_wrench(self) -> Array:
        """What hand and surfaces do to the tool, about the TCP, base axes, mean over the last period (6,)."""
        return np.array(self._plant["external"])

    @property
    def contact_wrench(self) -> Array:
        """The surfaces' part of it (6,)."""
        return np.array(self._plant["contact"])

    def parameters(self) -> dict[str, Any]:
        """The controller's parameters that a perfect calibration of this world would find, by dotted name, for hands
        that are steadier than people's: ``Parameters().changed(world.parameters())``."""
        return {
            **STEADY_HAND,
            **self.tool.parameters(self.sensor),
            **self.sensor.parameters(),
            **(self.second.parameters(self.tool) if self.second is not None else {}),
            "gravity": self.gravity.tolist(),
            "robot.response_time": self.servo.response_time,
        }

    def tcp_stiffness(self) -> Array:
        """Stiffness of the servoed arm at the TCP against a force along x, y, z, base axes (3,) [N/m].

        K_i = 1 / (J kp^-1 J^T)_ii, the linear part of the Jacobian about the TCP."""
        J = np.zeros((3, self.mj_model.nv))
        mujoco.mj_forward(self.mj_model, self.mj_data)
        mujoco.mj_jacSite(self.mj_model, self.mj_data, J, None, self._tcp_site)
        return np.asarray(1.0 / np.diag(J @ np.diag(1.0 / self._plant["kp"]) @ J.T))

    # the hand

    def grab(self, path: Path, **options: object) -> None:
        """The hand holds the tool from now on and leads it along ``path``; options as ``Hand.grab``."""
        mujoco.mj_kinematics(self.mj_model, self.mj_data)
        body = self._tool_body
        p, R = self.mj_data.xpos[body].copy(), self.mj_data.xmat[body].reshape(3, 3).copy()
        self.hand.grab(path, time=self.time, p_base_tool=p, R_base_tool=R, **options)  # type: ignore[arg-type]

    def push(self, profile: Profile | ArrayLike, grip: ArrayLike = (0.0, 0.0, 0.0), seconds: float = math.inf) -> None:
        """The hand pushes from now on, for ``seconds`` or until ``let_go``. ``profile``: a wrench (6,) [N, Nm], or a
        function of the time since the start of the push [s] that returns one; about the grip, base axes."""
        need_number("push: seconds", seconds, "s", infinite=True)
        wanted = profile if callable(profile) else need_vector("push: wrench", profile, 6, "N, Nm").copy()

        def wrench(t: float) -> ArrayLike:
            if t > seconds:
                return NO_WRENCH
            return wanted(t) if callable(wanted) else wanted

        self.hand.push(wrench, time=self.time, grip=grip)

    def let_go(self) -> None:
        """The hand leaves the tool."""
        self.hand.let_go()

    # for compiled code

    def engine(self, period: float) -> NDArray[np.void]:
        """Where MuJoCo keeps what kernels work on, for periods of this length [s]: one record, the same each time."""
        if period != self._period:
            self._engines["count"] = self._steps_of("step: period", period, least=1)
            self._period = period
        return self._engines

    def noise(self, periods: int) -> Array:
        """The normal random numbers (n, 12) of an episode from its reset on; the first row was used by the reset."""
        rng = np.random.default_rng(self.seed)
        return rng.standard_normal((periods, 12)) if self._noisy else np.zeros((periods, 12))

    # construction

    def _set_contact_stiffness(self) -> None:
        mj = self.mj_model
        normal, along = self.environment.solref(float(mj.body_invweight0[self._tool_body, 0]))
        mj.pair_solref[:], mj.pair_solreffriction[:] = normal, along

    def _fill_plant(self) -> None:
        plant, servo, sensor = self._plant, self.servo, self.sensor
        kp = servo.stiffness_of(self.model)
        plant["kp"], plant["kd"] = kp, 2.0 * servo.damping_ratio * np.sqrt(kp * self._inertia_at_home())
        plant["effort"], plant["lag"] = self.model.effort, 2.0 * np.pi * servo.lag_hz
        payload = self.tool.mass if servo.payload is None else servo.payload
        plant["vibration"], plant["vibration_hz"] = self.tool.vibration, self.tool.vibration_hz
        plant["payload_excess"] = (payload - self.tool.mass) * self.gravity
        plant["command_delay"], plant["sensor_delay"] = len(self._commands) - 1, len(self._readings) - 1
        plant["sign"], plant["drift_rate"] = sensor.sign, sensor.drift
        plant["noise"] = np.repeat([sensor.noise_force, sensor.noise_torque], 3)
        plant["resolution"] = np.repeat([sensor.resolution_force, sensor.resolution_torque], 3)
        self._q: Array = self.mj_data.qpos
        self._qd: Array = self.mj_data.qvel
        self._wrench: Array = plant["wrench"]
        self._setpoint: Array = plant["setpoint"]

    def _inertia_at_home(self) -> Array:
        """M_ii of the arm with its tool (6,) [kg m2]."""
        mj, data = self.mj_model, self.mj_data
        data.qpos[:] = self.model.home
        mujoco.mj_forward(mj, data)
        M: Array = np.zeros((6, 6))
        for column, unit in zip(M, np.eye(6), strict=True):
            mujoco.mj_mulM(mj, data, column, unit)
        return np.array(M.diagonal())

    def _steps_of(self, name: str, time: float, least: int = 0) -> int:
        steps = int(round(time / self.physics_dt))
        if steps < least or abs(steps * self.physics_dt - time) > 1e-9:
            raise SimulationError(f"{name} = {time} s: must be a multiple of the physics step, {self.physics_dt} s.")
        return steps

    def _engine(self) -> NDArray[np.void]:
        data, tool = self.mj_data, self._tool_body
        root = int(self.mj_model.body_rootid[tool])
        functions = ("mj_step1", "mj_step2", "mj_kinematics")
        places = {
            "q": data.qpos,
            "qd": data.qvel,
            "applied_torque": data.qfrc_applied,
            "bias_torque": data.qfrc_bias,
            "axes": data.xaxis,
            "anchors": data.xanchor,
            "sensed": data.sensordata,
            "origin": data.subtree_com[root],
            "p_tool": data.xpos[tool],
            "R_tool": data.xmat[tool],
            "p_com": data.xipos[tool],
            "p_tcp": data.site_xpos[self._tcp_site],
            "velocity": data.cvel[tool],
            "applied": data.xfrc_applied[tool],
            "external": data.cfrc_ext[tool],
            "commands": self._commands,
            "readings": self._readings,
        }
        engines = new(ENGINE)
        engine = engines[0]
        engine["model"], engine["data"], engine["h"] = self.mj_model._address, data._address, self.physics_dt
        engine["command_slots"], engine["reading_slots"] = len(self._commands), len(self._readings)
        for name in functions:
            engine[name] = ctypes.cast(getattr(_mujoco(), name), ctypes.c_void_p).value
        for name, array in places.items():
            engine[name] = array.ctypes.data
        return engines

    def _next_noise(self) -> None:
        """Twelve normal random numbers, or zeros for a sensor without noise and drift."""
        if self._noisy and self._noise_row == NOISE_BLOCK:
            self._rng.standard_normal(out=self._noise)
            self._noise_row = 0
        if self._noisy:
            self._twelve[:] = self._noise[self._noise_row]
            self._noise_row += 1


@cache
def _mujoco() -> ctypes.CDLL:
    """Its C library, which is loaded already."""
    folder = File(mujoco.__file__).parent
    return ctypes.CDLL(str(next(path for pattern in ("libmujoco*", "mujoco.dll") for path in folder.glob(pattern))))
