"""A real UR through RTDE: rtde_robot.py is the arm behind the Robot protocol, link.py its connection.

direct_link.py carries the commands by input registers to direct.script, our program on the robot; library_link.py
through the library ur_rtde, which lives in child.py, a process of its own.
"""
