"""Arms: simulated, a UR through RTDE, one behind ROS 2 topics. Each form is a folder with its Robot and its clock:
simulated_robot.py, rtde_robot.py, ros_robot.py. drive.py is `ua.run`, operate.py a loop in real time with all around
it."""

ROBOT_MODES = {  # of a UR, as RTDE, its dashboard and its ROS driver give them
    -1: "NO_CONTROLLER",
    0: "DISCONNECTED",
    1: "CONFIRM_SAFETY",
    2: "BOOTING",
    3: "POWER_OFF",
    4: "POWER_ON",
    5: "IDLE",
    6: "BACKDRIVE",
    7: "RUNNING",
    8: "UPDATING_FIRMWARE",
}
