"""Beside the UR driver of every generation (its strict double): it moves, it stops, and it never jumps."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from .driver_cases import push_speed
from .scene import Scene, no_jump


@pytest.fixture
def scene_of(client):
    scenes = []

    def start(driver="jazzy", output="trajectory", **options):
        scenes.append(Scene(client, driver, output, **options))
        scenes[-1].bring_up()
        return scenes[-1]

    yield start
    for scene in scenes:
        scene.__exit__(None, None, None)
        print(scene.processes.logs())  # noqa: T201  shown for a failed test only


@pytest.mark.parametrize("driver", ["humble_2_12", "humble", "lyrical"])
def test_a_push_moves_the_arm_as_the_law_says_on_every_generation(scene_of, driver):
    scene = scene_of(driver)
    assert push_speed(scene) == pytest.approx(1.0, abs=0.02)
    no_jump(scene)


@pytest.mark.parametrize("output", ["trajectory", "velocity"])
def test_a_node_that_is_killed_leaves_an_arm_that_comes_to_rest(scene_of, output):
    scene = scene_of("jazzy", output)
    scene.at_speed()
    begin = time.monotonic()
    scene.node.send_signal(signal.SIGKILL)
    seconds, metres = scene.standstill(begin, 2.0)
    assert seconds < 0.8
    assert metres < 0.08
    no_jump(scene)


def test_the_weight_of_the_tool_is_not_removed_twice(client):
    sim = {"tool.mass": 1.0, "pendant.payload": 1.0}
    with Scene(client, "jazzy", "trajectory", node={"tool.mass": 1.0}, sim=sim) as scene:
        assert client.transition("configure", timeout=60.0), scene.setup.state()
        time.sleep(0.3)
        assert not client.transition("activate")
        reason = "tool.mass = 1 kg would be removed twice"
        client.until(lambda: reason in scene.setup.state()["reason"], 5, scene.setup.state())


def test_an_old_driver_is_refused_until_its_version_is_known_and_then_read_aright(client):
    """2.11.0 applies the pendant's TCP in the wrong direction: along y, the force would point against the hand."""
    with Scene(client, "humble_2_11", "trajectory", sim={"pendant.tcp": [0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2]}) as scene:
        assert not client.transition("configure", timeout=60.0)
        client.until(lambda: "sensor.driver" in scene.setup.state()["reason"], 5, scene.setup.state())
        assert client.set_parameter("sensor.driver", "2.11.0").successful
        scene.bring_up()
        assert client.parameter("sensor.rotation") == pytest.approx([0.0, 0.0, -np.pi / 2], abs=1e-3)
        assert push_speed(scene, 1.6) == pytest.approx(1.0, abs=0.05)
        no_jump(scene)


def test_commands_that_nobody_obeys_never_run_away_from_the_arm(scene_of):
    scene = scene_of(ignored=True)
    scene.push()
    scene.setup.wait_for(life="inactive", mode="fault", status="NOT_FOLLOWING", timeout=10.0)
    last = scene._nowhere[-1][1]
    arm = scene.setup.joint_state()
    order = [last.joint_names.index(name) for name in arm.name]
    lead = np.abs(np.array(last.points[-1].positions)[order] - arm.position)
    assert lead.max() < 0.2


def test_a_whole_number_will_do_for_a_time(processes, setup_of):
    processes.start("admittance_node", {"startup_timeout": 5})
    arm = setup_of(processes)
    arm.wait_for(timeout=60.0, life="unconfigured")  # or the node of an earlier test is asked
    assert arm.client.parameter("startup_timeout") == 5.0


def test_without_tf2_msgs_the_tcp_comes_from_the_drivers_pose_broadcaster(generated, processes, setup_of, patient):
    kept = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != str(generated)]
    environment = {"PYTHONPATH": os.pathsep.join(kept)}
    processes.start("sim_node", {"pendant.tcp": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0]}, environment=environment)
    processes.start("admittance_node", patient, environment=environment)
    arm = setup_of(processes)
    arm.bring_up()
    assert arm.client.parameter("sensor.position") == pytest.approx([0.0, 0.1, 0.0], abs=1e-3)


def test_a_clock_that_stands_still_does_not_stop_the_cycles():
    from ur_admittance.robots.ros.ros_clock import CLOCK_PATIENCE_NS, RosClock

    class Standing:
        """Time on /clock has stopped."""

        def begin(self): ...
        def now_ns(self):
            return 7

        def wait(self, timeout_ns):
            time.sleep(max(timeout_ns, 0) * 1e-9)
            return False

        def time_moves(self):
            return False

    clock, begin = RosClock(Standing(), 500.0), time.monotonic()
    while not clock.wait():
        assert time.monotonic() - begin < 2.0
    assert 0.9 * CLOCK_PATIENCE_NS < 1e9 * (time.monotonic() - begin) < 3.0 * CLOCK_PATIENCE_NS
