"""A frame of the wrench that has moved on the tool is a fault; a transform that does not fit a joint state is not."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.model.frames import Pose
from ur_admittance.robots.ros import sensor_place
from ur_admittance.robots.ros.sensor_place import AGAIN_S, LOOKS, Place, SensorWatch
from ur_admittance.ros.admittance_node import STATE_PERIOD_S

HERE, ELSEWHERE = np.zeros(3), np.array([0.0, 0.0, 0.15])


def place(position):
    return Place(Pose(np.eye(3), position), "", "tool0_controller", moving=True)


@pytest.fixture
def watch(monkeypatch):
    """watch(positions): of the frame at one look after the other; (SensorWatch, what the robot says and is)."""

    def start(*positions):
        inputs = SimpleNamespace(
            q=np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0]),
            qd=np.zeros(6),
            joint_age=lambda: 0.0,
            other_frame=lambda: "",
            wrench_frame="tool0_controller",
            keep_frame=lambda: None,
        )
        found = iter(positions)
        places = SimpleNamespace(forget_driver=lambda: None, frame_of=lambda *_: "tool0_controller")
        monkeypatch.setattr(sensor_place, "SensorPlace", lambda *_: places)
        watched = SensorWatch(SimpleNamespace(parameters=None, search=None))
        watched._place = place(HERE)
        monkeypatch.setattr(watched, "_find", lambda *_: place(next(found)))
        monkeypatch.setattr(sensor_place, "refuse_double_weight", lambda _: None)
        monkeypatch.setattr(watched, "_use", lambda now: setattr(watched, "_place", now))
        return watched, (inputs, robot_model("ur5e"))

    return start


def test_a_frame_that_is_elsewhere_at_every_look_has_moved(watch):
    watched, robot = watch(*[ELSEWHERE] * LOOKS)
    assert "has moved on the tool by 150 mm" in watched.problem(*robot)
    assert STATE_PERIOD_S + (LOOKS - 1) * AGAIN_S < 0.25  # [s] as the page about ROS 2 says


@pytest.mark.parametrize("wrong", range(1, LOOKS))
def test_a_transform_of_another_moment_is_no_fault(watch, wrong):
    watched, robot = watch(*[ELSEWHERE] * wrong, HERE)
    assert watched.problem(*robot) == ""


def test_activation_takes_over_a_frame_that_stays(watch):
    watched, robot = watch(*[ELSEWHERE] * LOOKS)
    watched.activate(*robot, None)
    assert watched._place.position() == tuple(ELSEWHERE)


def test_activation_is_refused_while_transforms_and_joint_states_do_not_fit(watch):
    watched, robot = watch(ELSEWHERE, HERE)
    with pytest.raises(RobotError, match="moves on a standing arm"):
        watched.activate(*robot, None)
    assert watched._place.position() == tuple(HERE)
