"""Raw wrenches -> /netft/proc_sensor -> /netft/proc_probe, for an external sensor or for looking at the arm's own."""

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
                default_value=PathJoinSubstitution([share, "config", "wrench_pipeline.yaml"]),
                description="parameter file",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of this arm, if there are several"),
            DeclareLaunchArgument("tf_prefix", default_value="", description="as given to the driver, such as left_"),
            DeclareLaunchArgument("calibration_file", default_value="", description="from wrench_calibration_node"),
            DeclareLaunchArgument("raw_topic", default_value="netft/raw_sensor", description="raw wrenches"),
            Node(
                package="ur_admittance_ros",
                executable="wrench_node",
                name="wrench_node",
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    LaunchConfiguration("parameters"),
                    {name: LaunchConfiguration(name) for name in ("calibration_file", "tf_prefix")},
                ],
                remappings=[("netft/raw_sensor", LaunchConfiguration("raw_topic"))],
                output="screen",
            ),
        ]
    )
