"""Definitions of the ROS 2 messages in a recording, as Foxglove, PlotJuggler and rosbag expect them (ROS 2 Jazzy)."""

_LINE = "=" * 80

_TIME = "int32 sec\nuint32 nanosec"
_DURATION = "int32 sec\nuint32 nanosec"
_HEADER = "builtin_interfaces/Time stamp\nstring frame_id"
_VECTOR3 = "float64 x\nfloat64 y\nfloat64 z"
_POINT = "float64 x\nfloat64 y\nfloat64 z"
_QUATERNION = "float64 x\nfloat64 y\nfloat64 z\nfloat64 w"
_WRENCH = "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque"
_TWIST = "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular"
_POSE = "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation"
_POINTS = (
    "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
    "builtin_interfaces/Duration time_from_start"
)
_DIAGNOSTIC_STATUS = (
    "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\n"
    "string hardware_id\ndiagnostic_msgs/KeyValue[] values"
)
_PARAMETER_VALUE = (
    "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\n"
    "byte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\n"
    "float64[] double_array_value\nstring[] string_array_value"
)


def _with(definition: str, **parts: str) -> str:
    """A definition followed by those of its parts, in the form of the ros2msg encoding."""
    texts = [definition]
    texts += [f"{_LINE}\nMSG: {name.replace('__', '/')}\n{text}" for name, text in parts.items()]
    return "\n".join(texts)


_STAMP = {"std_msgs__Header": _HEADER, "builtin_interfaces__Time": _TIME}

DEFINITIONS = {
    "sensor_msgs/msg/JointState": _with(
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort", **_STAMP
    ),
    "geometry_msgs/msg/WrenchStamped": _with(
        "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
        **_STAMP,
        geometry_msgs__Wrench=_WRENCH,
        geometry_msgs__Vector3=_VECTOR3,
    ),
    "geometry_msgs/msg/TwistStamped": _with(
        "std_msgs/Header header\ngeometry_msgs/Twist twist",
        **_STAMP,
        geometry_msgs__Twist=_TWIST,
        geometry_msgs__Vector3=_VECTOR3,
    ),
    "geometry_msgs/msg/PoseStamped": _with(
        "std_msgs/Header header\ngeometry_msgs/Pose pose",
        **_STAMP,
        geometry_msgs__Pose=_POSE,
        geometry_msgs__Point=_POINT,
        geometry_msgs__Quaternion=_QUATERNION,
    ),
    "trajectory_msgs/msg/JointTrajectory": _with(
        "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points",
        **_STAMP,
        trajectory_msgs__JointTrajectoryPoint=_POINTS,
        builtin_interfaces__Duration=_DURATION,
    ),
    "diagnostic_msgs/msg/DiagnosticArray": _with(
        "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status",
        **_STAMP,
        diagnostic_msgs__DiagnosticStatus=_DIAGNOSTIC_STATUS,
        diagnostic_msgs__KeyValue="string key\nstring value",
    ),
    "rcl_interfaces/msg/ParameterEvent": _with(
        "builtin_interfaces/Time stamp\nstring node\nrcl_interfaces/Parameter[] new_parameters\n"
        "rcl_interfaces/Parameter[] changed_parameters\nrcl_interfaces/Parameter[] deleted_parameters",
        builtin_interfaces__Time=_TIME,
        rcl_interfaces__Parameter="string name\nrcl_interfaces/ParameterValue value",
        rcl_interfaces__ParameterValue=_PARAMETER_VALUE,
    ),
    "std_msgs/msg/UInt8MultiArray": _with(
        "std_msgs/MultiArrayLayout layout\nuint8[] data",
        std_msgs__MultiArrayLayout="std_msgs/MultiArrayDimension[] dim\nuint32 data_offset",
        std_msgs__MultiArrayDimension="string label\nuint32 size\nuint32 stride",
    ),
}
