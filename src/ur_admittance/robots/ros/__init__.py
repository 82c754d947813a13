"""An arm behind ROS 2 topics."""
