"""Where the pendant's TCP is heard of: one message of the driver's pose topic, /tf where that is silent."""

import time

import pytest

pytest.importorskip("rclpy")

from ur_admittance.model import robot_model
from ur_admittance.robots.ros.known_frames import FRESH_S, POSE_TOPIC, SILENT_S, Description, Frames
from ur_admittance_lab.urdf_writer import generate

FRAME = "tool0_controller"
ON_POSE, ON_TF = 0.1, 0.2  # [m] above the base: which of the two was believed


@pytest.fixture
def driver(client):
    """driver(pose, tf): publishes one message on each topic that is given a height."""
    from geometry_msgs.msg import PoseStamped, TransformStamped
    from tf2_msgs.msg import TFMessage

    class Driver:
        def __init__(self):
            self.tf = client.publisher(TFMessage, "/tf")
            self.start()

        def start(self):
            self.pose = client.publisher(PoseStamped, POSE_TOPIC)

        def stop(self):
            client.made.remove(self.pose)
            client.node.destroy_publisher(self.pose)

        def __call__(self, pose=None, tf=None):
            if pose is not None:
                message = PoseStamped()
                message.header.frame_id, message.pose.position.z = "base", pose
                self.pose.publish(message)
            if tf is not None:
                transform = TransformStamped(child_frame_id=FRAME)
                transform.header.frame_id, transform.transform.translation.z = "base", tf
                self.tf.publish(TFMessage(transforms=[transform]))

    yield Driver()
    client.forget()


def height(frames):
    """As a look finds it."""
    frames.poll()
    frames.listen(FRAME)
    pose = frames.present("base", FRAME)
    return None if pose is None else pose.position[2]


def heard(client, frames, publish, wanted, timeout=10.0):
    def look():
        publish()
        time.sleep(0.02)
        return height(frames) == pytest.approx(wanted)

    client.until(look, timeout, f"the frame at {wanted} m")


def test_the_tcp_is_the_newest_message_of_the_pose_topic_and_no_other_is_read(client, driver):
    frames = Frames(client.node)
    client.until(lambda: client.node.count_publishers(POSE_TOPIC), 10, "the publisher")
    heard(client, frames, lambda: driver(ON_POSE, ON_TF), ON_POSE)
    for k in range(20):
        driver(ON_POSE + 0.01 * k)
        time.sleep(0.005)
    time.sleep(0.2)
    assert len(list(iter(frames._dynamic.take, None))) == 1  # waits for a look
    driver(ON_POSE + 0.5)
    client.until(lambda: height(frames) == pytest.approx(ON_POSE + 0.5), 5, "the newest")
    time.sleep(FRESH_S + 0.1)
    assert height(frames) is None


def test_tf_is_asked_while_the_pose_topic_is_silent_and_no_longer_than_that_driver_lives(client, driver):
    frames = Frames(client.node)
    begin = time.monotonic()
    client.until(lambda: client.node.count_publishers(POSE_TOPIC), 10, "the publisher")
    heard(client, frames, lambda: driver(tf=ON_TF), ON_TF)
    assert time.monotonic() - begin > SILENT_S
    end = time.monotonic() + 2 * SILENT_S
    while time.monotonic() < end:  # and stays: the topics do not take turns
        driver(tf=ON_TF)
        time.sleep(0.05)
        assert height(frames) == pytest.approx(ON_TF)
    driver.stop()
    client.until(lambda: not client.node.count_publishers(POSE_TOPIC), 10, "the end of the publisher")
    height(frames)
    driver.start()
    heard(client, frames, lambda: driver(ON_POSE, ON_TF), ON_POSE)


def test_a_description_is_read_once_and_again_when_it_changes(client):
    description = Description(client.node)
    description.text = generate(robot_model("ur5e"))
    links = description.fixed_links()
    assert ("base_link", "base") in [link[:2] for link in links]
    assert description.fixed_links() is links
    found = description.fixed_frame("base_link", "tool0", "ft_frame")
    assert found is not None
    assert description.fixed_frame("base_link", "tool0", "ft_frame") is found
    assert description.fixed_frame("base_link", "tool0", FRAME) is None
    description.text = "<robot/>"
    assert description.fixed_links() == ()
    assert description.fixed_frame("base_link", "tool0", "ft_frame") is None
