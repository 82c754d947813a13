"""A real UR through RTDE.

settings.py        everything that can be chosen about the connection
robot.py           the arm behind the Robot protocol
clock.py           the robot's beat: waiting for its next state
tool.py            TCP, payload and wrench
checks.py          is the robot ready to be driven?
kinematics.py      the geometry of this very arm; does our tool pose agree with the robot's?
listen.py          a short look at its state, with nothing started on it
dashboard_port.py  the robot's dashboard server
versions.py        families of software: CB3, PolyScope 5, PolyScope X; the oldest for each type of arm
panel.py           PolyScope X without a dashboard: the same questions and commands
primary_port.py    the primary port: state, messages, lines and programs
robot_api.py       the Robot API of PolyScope X: remote control
states.py          one connection: states in by blocking receive, input registers out
link.py            states and commands together, and what is wrong with the robot now
ended.py           why the program on the robot does not run any more
library_link.py    commands through the library ur_rtde
commander.py       that library, in a process of its own
child.py           that process
direct_link.py     commands by input registers on the connection of the states
direct.script      what the robot does with them: our control program
wire.py            RTDE messages: types, packing, splitting a byte stream; the emulator speaks it, too
ur_base.py         UR base frame and poses
"""
