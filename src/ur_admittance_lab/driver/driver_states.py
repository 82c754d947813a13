"""What the driver's broadcasters publish in every cycle.

| topic | source |
|---|---|
| /joint_states | joint_state_broadcaster.cpp: system default QoS, that is a reliable publisher; order of joints: generations.py |
| /force_torque_sensor_broadcaster/wrench | force_torque_sensor_broadcaster.cpp; frame and point of reference: generations.py, tcp.py |
| /tf, base to tool0_controller | pose_broadcaster.cpp: tf.publish_rate 0 means every cycle |
| /tcp_pose_broadcaster/pose | pose_broadcaster.cpp: the same pose, in every cycle |
| /speed_scaling_state_broadcaster/speed_scaling | speed_scaling_state_broadcaster.cpp, update(): 0 to 100, not latched; its rate is compared as whole seconds, so it publishes in every cycle |
"""  # noqa: E501

from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64

from ur_admittance.model.arm_table import CB_SERIES
from ur_admittance.robots.ros import prepared
from ur_admittance.robots.ros.known_frames import TCP_FRAME
from ur_admittance.robots.ros.prepared import MARKS, Stream
from ur_admittance_lab.driver import driver_messages as messages
from ur_admittance_lab.driver.beside import beside
from ur_admittance_lab.driver.driver import Driver
from ur_admittance_lab.driver.generations import Wrench
from ur_admittance_lab.driver.tcp import PendantTcp

BASE, TOOL = "base", "tool0"


class States:
    """Publishers of joint states, wrench, pose of the TCP and speed scaling. `publish` belongs to the cycle."""

    def __init__(self, driver: Driver, tcp: PendantTcp, with_wrench: bool, log: Any, prefix: str = "") -> None:
        """prefix: of frames, as the driver's tf_prefix."""
        self.tcp = tcp
        self._driver = driver
        self._way: Wrench = "right" if driver.model.name in CB_SERIES else driver.generation.wrench
        self._order = list(driver.generation.joint_order)
        names = [driver.model.joint_names[i] for i in self._order]
        joints, scaling = beside("joint_state_broadcaster"), beside("speed_scaling_state_broadcaster")
        base, tcp_frame = prefix + BASE, prefix + TOOL + TCP_FRAME
        wrench_frame = prefix + driver.generation.wrench_frame
        pose = beside("tcp_pose_broadcaster", {"frame_id": base, "tf.child_frame_id": tcp_frame})
        sensor = beside("force_torque_sensor_broadcaster", {"frame_id": wrench_frame})
        self.nodes: list[Node] = [joints, scaling, sensor, pose]
        self._joints = prepared.joint_states(joints, "joint_states", names)
        self._scaling = Stream(scaling, "~/speed_scaling", Float64(data=MARKS[0]), 1, stamp_at=None)
        self._wrench = prepared.wrenches(sensor, "~/wrench", wrench_frame) if with_wrench else None
        self._poses = [messages.poses(pose, "~/pose", base)]
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            log.info(f"tf2_msgs is not installed: no {tcp_frame} on /tf")
        else:
            self._poses.append(messages.transforms(pose, TFMessage, base, tcp_frame))

    def publish(self, stamp_ns: int) -> None:
        driver, world = self._driver, self._driver.world
        self._joints.send(stamp_ns, world.q[self._order], world.qd[self._order])
        self._scaling.send(stamp_ns, 100.0 * driver.scaling)
        R, p = driver.flange()
        position, turned = self.tcp.pose(R, p)
        for stream in self._poses:
            stream.send(stamp_ns, position, turned)
        if self._wrench is not None:  # last: it is what a controller waits for
            self._wrench.send(stamp_ns, self.tcp.wrench(np.array(world.wrench), R, world.gravity, self._way))
