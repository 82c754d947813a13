"""mink's differential inverse kinematics alone: pose target -> joint velocities inside the limits, one QP."""

import mink
import mujoco
import numpy as np

from ur_admittance.bench.timing import measure
from ur_admittance.bench.workload import PERIOD, TURN_TICKS, Array, Workload
from ur_admittance.model.urdf import generate

RADIUS = 0.04  # [m] of the circle the tool is sent along
DAMPING = 1e-6


class MinkIk:
    name = "mink_ik"
    title = "mink: inverse kinematics only"

    def __init__(self, workload: Workload, calls_per_round: int, solver: str = "daqp") -> None:
        self.calls_per_round = calls_per_round
        self._solver = solver
        self._home = workload.home
        model = mujoco.MjModel.from_xml_string(generate(workload.model))
        self._configuration = mink.Configuration(model)
        self._task = mink.FrameTask(workload.model.links[-1].name, "body", position_cost=1.0, orientation_cost=1.0)
        speeds = dict(zip(workload.model.joint_names, workload.model.velocity, strict=True))
        self._limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)]

    def round(self, count: int) -> Array:
        configuration, task = self._configuration, self._task
        configuration.update(self._home)
        task.set_target_from_configuration(configuration)
        start = configuration.get_transform_frame_to_world(task.frame_name, task.frame_type)

        def next_target(i: int) -> None:
            angle = 2.0 * np.pi * i / TURN_TICKS
            way = RADIUS * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
            task.set_target(mink.SE3.from_translation(way) @ start)

        return measure(self._step, (), next_target, count)

    def _step(self) -> None:
        qd = mink.solve_ik(self._configuration, [self._task], PERIOD, self._solver, DAMPING, limits=self._limits)
        self._configuration.integrate_inplace(qd, PERIOD)

    def close(self) -> None: ...
