"""A recording of the ROS form gives every bit of what went over the command topic again, across a pause too."""

import contextlib
import os
import signal
import time

import numpy as np
import pytest

from ur_admittance.core.motion.sending import plan_to_rest
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay

pytest.importorskip("rclpy")
pytestmark = pytest.mark.realtime  # a pause of 60 ms on a busy computer is one of 100 ms, a fault

TRAJECTORIES = "/scaled_joint_trajectory_controller/joint_trajectory"
SPEEDS = "/forward_velocity_controller/commands"
PAUSE_S = 0.06


@contextlib.contextmanager
def punctual():
    """Above the nodes' priority, where that is allowed: a pause that lasts 0.1 s would stop the arm."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def recorded(arm_with_node, path, kind, topic, options, sim=None):
    """The recording of a push in which the program pauses, and what was heard on the command topic."""
    arm = arm_with_node({"log": str(path), **options}, sim)
    heard = arm.client.listen(kind, topic)
    arm.bring_up()
    arm.push([0, 8, 0, 0, 0, 0], 1.0, ends=False)
    node = arm.processes.running[-1]
    with punctual():
        os.kill(node.pid, signal.SIGSTOP)  # the arm goes on by its plan, or is stopped by its guard
        time.sleep(PAUSE_S)
        os.kill(node.pid, signal.SIGCONT)
    arm.push([0, 8, 0, 0, 0, 0], 1.0)
    assert arm.client.transition("deactivate"), arm.state()
    assert arm.client.transition("cleanup"), arm.state()
    log = read_log(path)
    result = replay(log)
    assert result.exact, str(result)
    drive = log.ticks["sample"]["drive"]
    assert drive["elapsed"][drive["carries_on"] == 1][1:].max() > 0.5 * PAUSE_S  # after the first command
    return log, result, [message for _, message in heard]


def test_every_trajectory_on_the_topic_is_recomputed(arm_with_node, tmp_path):
    from trajectory_msgs.msg import JointTrajectory

    log, result, messages = recorded(arm_with_node, tmp_path / "run.mcap", JointTrajectory, TRAJECTORIES, {})
    assert len(messages) > 500
    assert known_trajectories(log, result, messages) == len(messages)


def known_trajectories(log, result, messages):
    """How many of the trajectories are those that the recording gives again, in every number."""
    sent, points = {}, np.zeros((2, 6))
    for row, drive in zip(result.sent, log.ticks["sample"]["drive"], strict=True):
        q, qd = np.ascontiguousarray(row[:6]), np.ascontiguousarray(row[6:])
        hold = float(drive["hold"])
        braking = plan_to_rest(q, qd, points, hold, float(drive["shortest"]))
        end_ns = int(1e9 * (hold + braking)) + 1
        sent[(*q, *qd)] = (*points[0], *points[1], end_ns)
    known = 0
    for message in messages:
        first, second, last = message.points
        end = last.time_from_start
        rest = (*second.positions, *last.positions, end.sec * 1_000_000_000 + end.nanosec)
        known += sent.get((*first.positions, *first.velocities)) == rest
    return known


def test_every_joint_speed_on_the_topic_is_recomputed(arm_with_node, tmp_path):
    from std_msgs.msg import Float64MultiArray

    path, sim = tmp_path / "run.mcap", {"controller": "forward_velocity_controller"}
    log, result, messages = recorded(arm_with_node, path, Float64MultiArray, SPEEDS, {"output": "velocity"}, sim)
    sent = {tuple(row) for row in result.sent[:, 6:]}
    assert log.ticks["sample"]["speed_driven"].all()
    assert len(messages) > 500
    unknown = [message for message in messages if tuple(message.data) not in sent]
    assert len(unknown) < 40, unknown[:3]  # those of the guard, which brakes in the pause
