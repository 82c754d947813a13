"""Arms that are not simulated: a UR through RTDE, an arm behind ROS 2 topics, and one that costs nothing."""
