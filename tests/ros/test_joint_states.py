"""Several publishers of joint states: those of other joints are left alone, two of ours are refused."""

import time

import pytest

pytest.importorskip("rclpy")

NAMES = tuple("abcdef")


@pytest.fixture
def nodes(compiled):
    """Inputs of one arm, and publish(node, names, angle) by nodes of other names."""
    import rclpy
    from rclpy.node import Node
    from sensor_msgs.msg import JointState

    from ur_admittance.robots.ros.inputs import Inputs

    context = rclpy.Context()
    rclpy.init(context=context)
    made = {"reader": Node("reader", context=context)}
    inputs = Inputs(made["reader"], NAMES, None, False)
    publishers = {}

    def publish(name, names, angle):
        if name not in publishers:
            made[name] = Node(name, context=context)
            publishers[name] = made[name].create_publisher(JointState, "/joint_states", 10)
            until(
                lambda: (
                    publishers[name].get_subscription_count() and len(inputs._joints.publisher_names()) == len(made) - 1
                )
            )
        if names:
            publishers[name].publish(JointState(name=list(names), position=[angle] * len(names)))

    def leave(name):
        made.pop(name).destroy_node()
        until(lambda: len(inputs._joints.publisher_names()) == len(made) - 1)

    yield inputs, publish, leave
    inputs.destroy()
    for node in made.values():
        node.destroy_node()
    context.try_shutdown()


def until(condition):
    end = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def settle(inputs, states):
    """Poll until so many joint states were taken."""
    until(lambda: (inputs.poll(), inputs.states >= states)[1])


def test_a_gripper_on_the_same_topic_is_left_alone(nodes):
    inputs, publish, leave = nodes
    publish("arm", NAMES, 1.0)
    settle(inputs, 1)
    publish("gripper", (), 0.0)
    assert inputs.crowd(patient=True) == ""  # while the arm moves it has a moment to show its joints
    assert "2 nodes publish on /joint_states" in inputs.crowd()
    for k in range(6):  # between two looks: three of each, the gripper's last
        publish("arm", NAMES, 0.1 * k)
        publish("gripper", ("finger", NAMES[0]), 9.0)
    settle(inputs, 7)
    time.sleep(0.05)
    inputs.poll()
    assert inputs.states == 7  # none was pushed out of the queue
    assert inputs.q.tolist() == [0.5] * 6
    assert inputs.crowd() == ""
    assert "finger" in inputs.strangers()
    assert inputs.strangers() == ""  # said once
    leave("gripper")
    assert inputs.crowd() == ""
    publish("impostor", NAMES, 3.0)  # must not pass for the gripper that was there
    assert "2 nodes publish" in inputs.crowd()


def test_two_publishers_of_the_same_joints_are_refused_at_once(nodes):
    inputs, publish, _ = nodes
    publish("gripper", ("finger",), 9.0)
    for k in range(3):
        publish("arm", NAMES, 0.1)
        publish("impostor", NAMES, 2.0)
        settle(inputs, 2 * k + 2)
    assert "not each was seen to send other joints" in inputs.crowd(patient=True)


def test_a_reading_stays_when_the_same_sample_comes_as_another_object(compiled):
    import rclpy
    from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
    from rclpy.node import Node

    from ur_admittance.core.records import SAMPLE, new
    from ur_admittance.core.views import SampleFields
    from ur_admittance.robots.ros.inputs import Inputs

    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("reader", context=context)
    inputs = Inputs(node, NAMES, "/wrench", False)
    publisher = node.create_publisher(WrenchStamped, "/wrench", 10)
    until(publisher.get_subscription_count)
    publisher.publish(WrenchStamped(wrench=Wrench(force=Vector3(z=5.0))))
    samples = new(SAMPLE)
    until(lambda: (inputs.read(SampleFields(samples[0])), samples[0]["wrench"][2])[1] == 5.0)
    inputs.read(SampleFields(samples[0]))
    assert samples[0]["wrench"][2] == 5.0
    inputs.destroy()
    node.destroy_node()
    context.try_shutdown()
