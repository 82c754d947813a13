"""A simulated UR as a ROS 2 robot."""
