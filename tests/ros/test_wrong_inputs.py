"""What is wrong on a network from the start: the right sentence, no crash."""

import threading
import time

import numpy as np
import pytest

from .bench import HOME, NAMES, moving

pytest.importorskip("rclpy")
WITH_CLOCK = True  # the test's: a busy computer is not late by it


def test_nobody_on_the_command_topic_is_told(world):
    _, setup = world
    setup.client.transition("deactivate")
    setup.client.node.destroy_subscription(setup.client.made.pop(-1))
    time.sleep(0.3)
    assert not setup.client.transition("activate")
    setup.client.until(lambda: "nobody listens on" in setup.state()["reason"], 5, setup.state())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("this is not a robot", "URDF"),
        ("<robot name='x'><link name='base_link'/></robot>", "tool0"),
        ("<robot", "URDF"),
        ("", "waiting for the robot's description"),
    ],
)
def test_a_malformed_description_is_refused_with_a_sentence(world, text, sentence):
    bench, setup = world
    setup.client.transition("deactivate")
    setup.client.transition("cleanup")
    bench.describe(text)
    time.sleep(0.3)
    assert not setup.client.transition("configure", timeout=60.0)
    setup.client.until(lambda: sentence in setup.state()["reason"], 5, setup.state())


def test_wrong_joint_names_are_told_by_name(world):
    bench, setup = world
    setup.client.transition("deactivate")
    setup.client.transition("cleanup")
    bench.names = ["left_" + name for name in NAMES]
    time.sleep(0.3)
    assert not setup.client.transition("configure", timeout=60.0)
    reason = "waiting for joint shoulder_pan_joint on /joint_states; the joints there are: left_shoulder_pan_joint"
    setup.client.until(lambda: reason in setup.state()["reason"], 5, setup.state())


def test_joints_in_another_order_with_others_between_them_are_sorted_by_name(world):
    bench, setup = world
    setup.client.transition("deactivate")
    bench.commands.clear()
    order = [3, 0, 5, 1, 4, 2]
    names, angles = [NAMES[i] for i in order], [HOME[i] for i in order]
    bench.joints_on = False
    time.sleep(0.1)
    end = time.monotonic() + 1.0
    JointState = bench.kinds[0]
    message = JointState(name=["finger", *names], position=[9.0, *angles], velocity=[0.0] * 7)
    stop = threading.Event()

    def stream():
        while not stop.wait(0.005):
            bench.joint_out.publish(message)

    thread = threading.Thread(target=stream)
    thread.start()
    time.sleep(max(0.0, end - time.monotonic()))
    try:
        setup.activate()
        setup.client.until(lambda: len(bench.commands) > 5, 5)
        assert list(bench.commands[-1][1].points[0].positions) == pytest.approx(HOME, abs=1e-6)
    finally:
        stop.set()
        thread.join()


def test_a_thousand_malformed_messages_are_survived(world):
    """Random bytes, cut and changed messages on every input; the node stays active and still obeys."""
    from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    bench, setup = world
    rng = np.random.default_rng(5)
    inputs = [
        (JointState, "/joint_states", serialize_message(JointState(name=NAMES, position=HOME, velocity=[0.0] * 6))),
        (WrenchStamped, "/wrist_ft_sensor", serialize_message(WrenchStamped())),
        (PoseStamped, "/admittance_node/desired_pose", serialize_message(PoseStamped())),
        (TwistStamped, "/admittance_node/desired_twist", serialize_message(TwistStamped())),
        (WrenchStamped, "/admittance_node/desired_wrench", serialize_message(WrenchStamped())),
        (String, "/robot_description", serialize_message(String(data="<robot"))),
    ]
    publishers = [setup.client.publisher(kind, topic) for kind, topic, _ in inputs]
    time.sleep(0.5)
    for k in range(1000):
        i = int(rng.integers(len(inputs) - 1)) if k % 50 else len(inputs) - 1
        good = inputs[i][2]
        choice = rng.integers(3)
        if choice == 0:
            bad = rng.bytes(int(rng.integers(1, 400)))
        elif choice == 1:
            bad = good[: int(rng.integers(1, len(good)))]
        else:
            changed = bytearray(good)
            for _ in range(int(rng.integers(1, 8))):
                changed[int(rng.integers(len(good)))] = int(rng.integers(256))
            bad = bytes(changed)
        publishers[i].publish(bad)
        time.sleep(0.002)
    assert setup.processes.running[0].poll() is None
    for publisher in publishers:
        setup.client.node.destroy_publisher(publisher)
        setup.client.made.remove(publisher)
    # a changed bit can be a valid message with an absurd number: a fault is right then, and has its way back
    setup.client.trigger("/admittance_node/stop")
    setup.client.transition("cleanup")
    setup.client.until(lambda: setup.client.transition("configure", timeout=60.0), 30)
    setup.activate()
    moving(bench, setup)
    bench.force = 0.0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"admittance.mas": 1.0}, "the nearest known name is admittance.mass"),
        ({"admittance.mass": [1.0, 2.0]}, "admittance.mass = [1, 2] kg, kg m2 (2 values): must be 6 numbers >= 0.001"),
        ({"output": "telepathy"}, "output = 'telepathy': must be one of trajectory, velocity."),
        ({"include": "x.yaml"}, "use the parameter calibration_file"),
        ({"realtime_priority": 500}, "realtime_priority = 500: must be 0 to 99."),
        ({"monitor_rate": -1.0}, "monitor_rate = -1: must be 0.1 to 1000."),
        ({"startup_timeout": "soon"}, "startup_timeout = 'soon': must be a number."),
        ({"stages": ["folower"]}, "stage 'folower': is unknown"),
    ],
)
def test_parameters_that_do_not_exist_or_do_not_fit_end_the_start_with_a_sentence(refused, parameters, sentence):
    from ur_admittance.ros.admittance_node import AdmittanceNode

    code, text = refused(AdmittanceNode, parameters)
    assert code == 2
    assert sentence in text
    assert "Traceback" not in text
