"""mink's differential inverse kinematics alone: pose target -> joint velocities inside the limits, one QP.

No wrench, no law, no acceleration limits.
"""

import mink
import mujoco
import numpy as np

from benchmarks.tick.workload import PERIOD, TURN_TICKS, Array, Setting
from ur_admittance_lab.speed import timed
from ur_admittance_lab.urdf_writer import generate

RADIUS = 0.04  # [m] of the circle the tool is sent along
DAMPING = 1e-6
SOLVER = "daqp"


class MinkIk:
    def __init__(self, setting: Setting) -> None:
        self._home = setting.home
        model = mujoco.MjModel.from_xml_string(generate(setting.model))
        self._configuration = mink.Configuration(model)
        self._task = mink.FrameTask(setting.model.links[-1].name, "body", position_cost=1.0, orientation_cost=1.0)
        speeds = dict(zip(setting.model.joint_names, setting.model.velocity, strict=True))
        self._limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)]

    def time_solves(self, count: int) -> Array:
        """Durations [ns] along a circle."""
        self._go(self._home)
        start = self._pose()

        def next_target(i: int) -> None:
            angle = 2.0 * np.pi * i / TURN_TICKS
            distance = RADIUS * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
            self._task.set_target(mink.SE3.from_translation(distance) @ start)

        return timed(self._step, (), next_target, count)

    def joint_velocities(self, q: Array, velocity: Array) -> Array:
        """To move the last link with `velocity` (3,) in base axes, without turning it."""
        self._go(q)
        self._task.set_target(mink.SE3.from_translation(PERIOD * velocity) @ self._pose())
        return self._solve()

    def _go(self, q: Array) -> None:
        self._configuration.update(q)
        self._task.set_target_from_configuration(self._configuration)

    def _pose(self) -> mink.SE3:
        return self._configuration.get_transform_frame_to_world(self._task.frame_name, self._task.frame_type)

    def _solve(self) -> Array:
        solved = mink.solve_ik(self._configuration, [self._task], PERIOD, SOLVER, DAMPING, limits=self._limits)
        return np.asarray(solved)

    def _step(self) -> None:
        self._configuration.integrate_inplace(self._solve(), PERIOD)
