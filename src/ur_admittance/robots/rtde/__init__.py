"""A real UR through RTDE, with the library ur_rtde.

settings.py        everything that can be chosen about the connection
robot.py           the arm behind the Robot protocol
clock.py           the robot's beat: waiting for its next state
tool.py            TCP, payload and wrench
checks.py          is the robot ready to be driven?
kinematics.py      the geometry of this very arm; does our tool pose agree with the robot's?
listen.py          a short look at its state, with nothing started on it
dashboard_port.py  the robot's dashboard server
link.py            the two connections: states in, commands out
commander.py       the command connection, in a process of its own
child.py           that process
wire.py            RTDE messages: types, packing, splitting a byte stream; the emulator speaks it, too
ur_base.py         UR base frame and poses
"""
