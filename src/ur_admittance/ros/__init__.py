"""ROS 2 nodes around the same controller: admittance, wrench pipeline, calibration, a simulated arm.

    admittance_node.py   READ FIRST: what happens in each transition of the life cycle
    loop.py              the 500 Hz path: wait for a wrench, tick, publish; no executor in it
    arm.py               the arm as topics: raw bytes in, raw bytes out (cdr.py)
    sim_node.py          the simulated UR as a ROS 2 robot

rclpy comes from a ROS installation or from wheels (`pip install "ur-admittance[ros]"`). Only what every distribution
from Humble on has is used.
"""
