"""Arms that are not simulated: a UR through RTDE, an arm behind ROS 2 topics, and one that costs nothing."""

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
