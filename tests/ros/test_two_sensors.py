"""Two wrench topics: the first falls silent under a push, and the arm goes on with the second."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.errors import RobotError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay

from .processes import WRENCH as DRIVER_WRENCH
from .relay import JOINTS, WRENCH, Relay
from .test_sent_is_replayed import TRAJECTORIES, known_trajectories
from .watched import steady_speed

pytest.importorskip("rclpy")

SECOND = "/second_wrench"
FORCE, D, THRESHOLD = 8.0, 2 * 0.8 * (8 * 200) ** 0.5, 1.5
SPEED = (FORCE - THRESHOLD) / D


class TwoTopics(Relay):
    """Passes the driver's wrench on twice; each reading has a noise of its own, as no two sensors are equal."""

    def __init__(self, client):
        from geometry_msgs.msg import WrenchStamped

        from ur_admittance.robots.ros.polled import COMMANDS

        self._second_out = client.publisher(WrenchStamped, SECOND, COMMANDS).handle.publish_raw
        self._rng = np.random.default_rng(0)
        super().__init__(client)
        first = self._wrench_out

        self._wrench_out = lambda data: first(self._noisy(data))
        take = self._wrench.take

        def both():
            data = take()
            if data is not None:
                self._second_out(self._noisy(data))
            return data

        self._wrench.take = both

    def _noisy(self, data):
        noise = self._rng.normal(0.0, 0.02, 6) * np.repeat([1.0, 0.1], 3)
        return data[:-48] + (np.frombuffer(data[-48:]) + noise).tobytes()


def test_a_wrench_topic_falls_silent_under_a_push_and_the_arm_goes_on_with_the_other(
    processes, setup_of, patient, tmp_path
):
    from trajectory_msgs.msg import JointTrajectory

    path = tmp_path / "run.mcap"
    processes.start("sim_node", remap={"/joint_states": JOINTS, DRIVER_WRENCH: WRENCH})
    processes.start("admittance_node", {**patient, "second.source": SECOND, "log": str(path)})
    arm = setup_of(processes)
    heard = arm.client.listen(JointTrajectory, TRAJECTORIES)
    relay = TwoTopics(arm.client)
    try:
        arm.bring_up()
        begin = time.monotonic()
        arm.push([0, FORCE, 0, 0, 0, 0], 2.0, ends=False)
        relay.wrench_on = False
        arm.push([0, FORCE, 0, 0, 0, 0], 1.6)
        assert steady_speed(arm.joints, begin + 0.8, begin + 2.0) == pytest.approx(SPEED, rel=0.05)
        assert steady_speed(arm.joints, begin + 2.6, begin + 3.6) == pytest.approx(SPEED, rel=0.05)
        assert arm.state()["mode"] == "active", arm.state()
        assert f"the first force sensor is silent: only the second force sensor ({SECOND})" in arm.state()["reason"]
        relay.wrench_on = True
        arm.client.until(lambda: "used again" in arm.state()["reason"], 5, "both sensors")
        assert not arm.client.trigger("/admittance_node/zero_ft_sensor").success  # active
        assert arm.client.transition("deactivate"), arm.state()
        time.sleep(0.8)
        answer = arm.client.trigger("/admittance_node/zero_ft_sensor")
        assert answer.success, answer.message
        assert arm.client.transition("cleanup"), arm.state()
    finally:
        relay.close()
    log = read_log(path)
    result = replay(log)
    assert result.exact, str(result)
    assert log.ticks["sample"]["second_read"].all()
    assert log.ticks["sample"]["wrench_age"].max() > 1.0  # both raw readings, the silent one too
    assert len(heard) > 500
    assert known_trajectories(log, result, [message for _, message in heard]) == len(heard)


def test_a_second_sensor_that_is_no_topic_is_refused():
    from ur_admittance.robots.ros.inputs import second_topic

    assert second_topic("") is None
    with pytest.raises(RobotError, match=r"second\.source = builtin"):
        second_topic("builtin")


@pytest.mark.parametrize(("own", "two", "itself"), [(True, False, True), (True, True, False), (False, False, False)])
def test_the_driver_zeroes_the_robots_own_sensor_only_and_only_alone(own, two, itself):
    from ur_admittance.robots.ros.ros_robot import RosRobot
    from ur_admittance.robots.ros.sensor_place import DRIVER_SENSOR

    source = f"/wrench {DRIVER_SENSOR if own else 'relay'}"
    robot = SimpleNamespace(inputs=SimpleNamespace(wrench_source=lambda: source), reads_second=two)
    assert RosRobot.zeroes_itself.fget(robot) is itself
