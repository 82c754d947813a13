"""ROS 2 nodes around the same controller: admittance, wrench pipeline, calibration.

    admittance_node.py   READ FIRST: what happens in each transition of the life cycle
    compliant_arm.py     what exists while it is configured: arm, controller, loop, topics
    control_thread.py    the one loop (runtime/loop.py) in a thread of its own; no executor in it

The arm as topics is robots/ros: raw bytes in, raw bytes out. rclpy comes from a ROS installation or from wheels
(`pip install "ur-admittance[ros]"`). Only what every distribution from Humble on has is used.
"""
