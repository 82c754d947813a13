"""The reference: streamed twists, target poses, wanted wrenches, surfaces that move."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.core.records import COMMAND, Mode, Request, new
from ur_admittance.core.tick import tick

STIFF = {"admittance.stiffness": [300.0] * 3 + [20.0] * 3, "admittance.stiffness_engagement_time": 0.0}
X, Y, Z = np.eye(6)[:3]


def turned(A, B):
    """Rotation vector from B to A."""
    return Rotation.from_matrix(A @ B.T).as_rotvec()


def test_reference_twist_is_followed(ideal_arm):
    arm = ideal_arm()
    R0, p0 = arm.pose()
    arm.run(1.0, twist=[0.05, -0.03, 0.02, 0.1, 0.2, -0.1])
    arm.run(1.0)
    assert arm.pose()[1] - p0 == pytest.approx([0.05, -0.03, 0.02], abs=2e-4)  # accelerates at 5 m/s2
    assert turned(arm.pose()[0], R0) == pytest.approx([0.1, 0.2, -0.1], abs=4e-4)


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_a_turning_reference_carries_a_deflected_tool_along(ideal_arm, gain):
    arm = ideal_arm(**STIFF | {"tracking.velocity_gain": [2 * gain] * 3 + [gain] * 3})
    torque = [0, 0, 0, 6.0, 0, 0]
    arm.run(3.0, push=torque)  # 0.3 rad against the spring
    log = arm.run(2.0, push=torque, twist=[0, 0, 0, 0, 0, 0.2])
    assert np.abs(log["pose_error"]).max() < 1e-3
    log = arm.run(3.0, push=torque)
    assert log["offset"][-1, 3:] == pytest.approx([0.3, 0, 0], abs=1e-3)


def test_target_pose_is_reached_and_stays_compliant(ideal_arm):
    arm = ideal_arm(**STIFF)
    R0, p0 = arm.pose()
    goal = p0 + [0.1, 0.1, -0.1]
    R_goal = Rotation.from_rotvec([0.2, -0.3, 0.4]).as_matrix() @ R0
    arm.target = (1, goal, R_goal)
    log = arm.run(6.0)
    assert arm.pose()[1] == pytest.approx(goal, abs=5e-5)
    assert np.linalg.norm(turned(arm.pose()[0], R_goal)) < 5e-5
    assert np.linalg.norm(log["twist"][:, :3], axis=1).max() <= 0.5
    arm.run(4.0, push=6 * X)
    assert arm.pose()[1] - goal == pytest.approx([0.02, 0, 0], abs=1e-4)
    arm.run(4.0)
    assert arm.pose()[1] == pytest.approx(goal, abs=5e-5)


def test_a_target_given_before_activation_is_not_obeyed_afterwards(ideal_arm):
    arm = ideal_arm(active=False)
    arm.target = (7, np.array([0.3, 0.3, 0.3]), np.eye(3))
    arm.run(0.01, request=Request.ACTIVATE)
    q0 = arm.s["q_command"].copy()
    arm.run(1.0)
    assert np.abs(arm.s["q_command"] - q0).max() < 1e-12


class Wall:
    """A spring along z that moves; pushes the tool up when it is below the surface."""

    def __init__(self, arm, stiffness, speed=0.0):
        self.arm, self.stiffness, self.speed = arm, stiffness, speed
        self.height = arm.pose()[1][2]
        self.time = 0.0

    def run(self, seconds, **inputs):
        """Returns the contact force at every tick [N]."""
        arm, forces = self.arm, []
        for u in arm.samples(round(seconds / arm.dt), **inputs):
            R, p = arm.pose()
            surface = self.height + self.speed * self.time
            force = self.stiffness * max(0.0, surface - p[2])
            u["q"], u["qd"] = arm.s["q_command"], arm.s["qd_command"]
            u["wrench"][:3] = R.T @ [0, 0, force]
            tick(arm.params, arm.state, u.reshape(1), new(COMMAND))
            self.time += arm.dt
            forces.append(force)
        assert arm.s["mode"] == Mode.ACTIVE
        return np.array(forces)


FORCE = {
    "admittance.force_axes": [False, False, True, False, False, False],
    "admittance.damping": [250.0] * 3 + [20.0] * 3,
    "admittance.desired_wrench": [0, 0, 10.0, 0, 0, 0],
}


def test_desired_wrench_is_what_the_surface_gives(ideal_arm):
    force = Wall(ideal_arm(**FORCE), 1e4).run(3.0)
    assert force[-250:] == pytest.approx(10.0, abs=0.01)
    assert force.max() < 12.0


def test_a_target_pose_leads_along_the_surface_and_never_off_it(ideal_arm):
    """The target is 5 cm over the wall: the arm goes sideways to it, and still presses with what it is asked for."""
    arm = ideal_arm(**FORCE)
    wall, (R, p) = Wall(arm, 1e4), arm.pose()
    arm.target = (1, p + [0.0, 0.1, 0.05], R)
    force = wall.run(6.0)
    assert force[-1] == pytest.approx(10.0, abs=0.1)
    assert arm.pose()[1][1] - p[1] == pytest.approx(0.1, abs=1e-4)
    assert arm.s["target_active"] == 0, "it counts as reached"


def test_reference_wrench_adds_to_the_desired_one_at_a_limited_rate(ideal_arm):
    arm = ideal_arm(**FORCE)
    wall = Wall(arm, 1e4)
    wall.run(2.0)
    force = wall.run(2.0, wrench=5 * Z)
    assert force[-100:] == pytest.approx(15.0, abs=0.05)
    assert arm.s["desired_wrench"][2] == pytest.approx(15.0)


def test_without_velocity_bias_a_moving_wall_costs_damping_times_speed(ideal_arm):
    force = Wall(ideal_arm(**FORCE), 1e4, speed=0.01).run(4.0)
    assert force[-1] == pytest.approx(10.0 + 250.0 * 0.01, rel=0.05)


@pytest.mark.parametrize("speed", [0.01, -0.01])
def test_velocity_bias_removes_the_force_error_on_a_moving_wall(ideal_arm, speed):
    arm = ideal_arm(**FORCE | {"admittance.bias_time": 0.3})
    wall = Wall(arm, 1e4)
    wall.run(2.0)
    wall.speed, wall.height, wall.time = speed, wall.height, 0.0
    force = wall.run(5.0)
    assert force[-250:] == pytest.approx(10.0, abs=0.05)


def test_velocity_bias_stays_within_its_limit_when_nothing_is_touched(ideal_arm):
    arm = ideal_arm(**FORCE | {"admittance.bias_time": 0.1})
    log = arm.run(3.0)
    assert np.abs(arm.s["velocity_bias"]).max() <= 0.05
    assert abs(log["twist"][-1, 2]) <= 10.0 / 250.0 + 1e-6
