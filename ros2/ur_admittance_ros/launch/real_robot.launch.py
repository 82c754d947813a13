"""The controller for a real arm behind ur_robot_driver, which must already run with the controller for `output` active.

ros2 launch ur_robot_driver ur_control.launch.py ur_type:=ur5e robot_ip:=192.168.56.101
ros2 launch ur_admittance_ros real_robot.launch.py calibration_file:=calibration.yaml

Of several arms, each driver has a namespace and a tf_prefix, and this file is started once for each with the same two:
ros2 launch ur_admittance_ros real_robot.launch.py namespace:=left tf_prefix:=left_
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    share = FindPackageShare("ur_admittance_ros")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "parameters",
                default_value=PathJoinSubstitution([share, "config", "real_robot.yaml"]),
                description="parameter file",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of this arm, if there are several"),
            DeclareLaunchArgument("tf_prefix", default_value="", description="as given to the driver, such as left_"),
            DeclareLaunchArgument("output", default_value="trajectory", description="trajectory or velocity"),
            DeclareLaunchArgument("controller", default_value="", description="its name; empty: the one that fits"),
            DeclareLaunchArgument("calibration_file", default_value="", description="from wrench_calibration_node"),
            DeclareLaunchArgument(
                "wrench_topic",
                default_value="force_torque_sensor_broadcaster/wrench",
                description="raw wrenches; the default is the arm's own sensor",
            ),
            Node(
                package="ur_admittance_ros",
                executable="admittance_node",
                name="admittance_node",
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    LaunchConfiguration("parameters"),
                    {
                        "tf_prefix": LaunchConfiguration("tf_prefix"),
                        "output": LaunchConfiguration("output"),
                        "controller": LaunchConfiguration("controller"),
                        "calibration_file": LaunchConfiguration("calibration_file"),
                    },
                ],
                remappings=[("wrist_ft_sensor", LaunchConfiguration("wrench_topic"))],
                output="screen",
            ),
        ]
    )
