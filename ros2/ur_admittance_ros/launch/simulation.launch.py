"""A simulated arm, the controller, and RViz: push with `ros2 service call /ur_sim/push std_srvs/srv/Trigger`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    share = FindPackageShare("ur_admittance_ros")
    parameters = LaunchConfiguration("parameters")
    namespace = LaunchConfiguration("namespace")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "parameters",
                default_value=PathJoinSubstitution([share, "config", "simulation.yaml"]),
                description="parameter file of both nodes",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of this arm, if there are several"),
            DeclareLaunchArgument("tf_prefix", default_value="", description="of its links and joints, such as left_"),
            DeclareLaunchArgument("output", default_value="trajectory", description="trajectory or velocity"),
            DeclareLaunchArgument(
                "controller",
                default_value="default",
                description="active one; forward_velocity_controller for velocity",
            ),
            DeclareLaunchArgument(
                "driver", default_value="jazzy", description="whose rules: humble, jazzy, kilted, lyrical"
            ),
            DeclareLaunchArgument("rviz", default_value="true", description="start RViz (of an arm without a prefix)"),
            Node(
                package="ur_admittance_ros",
                executable="sim_node",
                name="ur_sim",
                namespace=namespace,
                parameters=[parameters, {n: LaunchConfiguration(n) for n in ("driver", "controller", "tf_prefix")}],
                remappings=[("force_torque_sensor_broadcaster/wrench", "wrist_ft_sensor")],
            ),
            Node(
                package="ur_admittance_ros",
                executable="admittance_node",
                name="admittance_node",
                namespace=namespace,
                parameters=[parameters, {name: LaunchConfiguration(name) for name in ("output", "tf_prefix")}],
                output="screen",
            ),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": _description()}],
                remappings=[("robot_description", "robot_description_for_tf")],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", PathJoinSubstitution([share, "rviz", "admittance.rviz"])],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )


def _description():
    """robot_state_publisher needs the text as a parameter; the simulated arm publishes the same one."""
    from ur_admittance.model import robot_model
    from ur_admittance_lab.urdf_writer import generate

    return generate(robot_model("ur5e"))
