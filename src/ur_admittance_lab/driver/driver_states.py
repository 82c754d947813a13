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
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from ur_admittance.model.arm_table import CB_SERIES
from ur_admittance.robots.ros import prepared
from ur_admittance.robots.ros.polled import COMMANDS
from ur_admittance.robots.ros.transforms import TCP_FRAME
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
        self._joints = joints.create_publisher(JointState, "joint_states", COMMANDS).handle.publish_raw
        self._joint_state, self._q, self._qd = prepared.joint_state(names)
        self._scaling = scaling.create_publisher(Float64, "~/speed_scaling", COMMANDS).handle.publish_raw
        self._percent, self._percentage = messages.number()
        self._wrench = sensor.create_publisher(WrenchStamped, "~/wrench", COMMANDS) if with_wrench else None
        self._wrench_message, self._numbers = prepared.wrench(wrench_frame)
        self._tcp_pose = pose.create_publisher(PoseStamped, "~/pose", COMMANDS).handle.publish_raw
        self._stamped, self._stamped_pose = messages.pose(base)
        self._tf = self._transform = None
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            log.info(f"tf2_msgs is not installed: no {tcp_frame} on /tf")
        else:
            self._tf = pose.create_publisher(TFMessage, "/tf", COMMANDS)
            self._transform, self._pose = messages.transform(TFMessage, base, tcp_frame)

    def publish(self, stamp_ns: int) -> None:
        driver, world = self._driver, self._driver.world
        self._q[:], self._qd[:] = world.q[self._order], world.qd[self._order]
        self._joint_state.set_stamp(stamp_ns)
        self._joints(bytes(self._joint_state.data))
        self._percentage[:] = 100.0 * driver.scaling
        self._scaling(bytes(self._percent.data))
        R, p = driver.flange()
        position, turned = self.tcp.pose(R, p)
        self._stamped_pose[:3], self._stamped_pose[3:] = position, turned
        self._stamped.set_stamp(stamp_ns)
        self._tcp_pose(bytes(self._stamped.data))
        if self._tf is not None and self._transform is not None:
            self._pose[:3], self._pose[3:] = position, turned
            messages.stamp_transform(self._transform, stamp_ns)
            self._tf.handle.publish_raw(bytes(self._transform.data))
        if self._wrench is not None:  # last: it is what a controller waits for
            self._numbers[:] = self.tcp.wrench(np.array(world.wrench), R, world.gravity, self._way)
            self._wrench_message.set_stamp(stamp_ns)
            self._wrench.handle.publish_raw(bytes(self._wrench_message.data))
