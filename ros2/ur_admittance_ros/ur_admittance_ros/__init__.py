"""Launch files, parameters and executables of ur_admittance for ROS 2. The nodes are in ur_admittance.ros."""
