"""Records as ROS 2 messages: dictionaries that mcap-ros2-support writes, with the definitions of ROS 2 Jazzy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.params.names import flatten

Message = dict[str, Any]

# topic -> type. The names are those of the ROS 2 nodes, so that a recording and a live system look alike.
TOPICS = {
    "/joint_states": "sensor_msgs/msg/JointState",
    "/netft/raw_sensor": "geometry_msgs/msg/WrenchStamped",  # as the sensor reports it
    "/netft/proc_sensor": "geometry_msgs/msg/WrenchStamped",  # compensated and filtered, sensor axes
    "/netft/proc_probe": "geometry_msgs/msg/WrenchStamped",  # about the TCP, base axes
    "/admittance_cartesian_velocity": "geometry_msgs/msg/TwistStamped",
    "/admittance_pose_error": "geometry_msgs/msg/TwistStamped",  # linear: m, angular: rad
    "/scaled_joint_trajectory_controller/joint_trajectory": "trajectory_msgs/msg/JointTrajectory",
    "/tcp_pose": "geometry_msgs/msg/PoseStamped",
    "/reference_pose": "geometry_msgs/msg/PoseStamped",
}
_FRAMES = {"/netft/raw_sensor": "ft_frame", "/netft/proc_sensor": "ft_frame"}  # the others: base_link
DIAGNOSTICS = "/diagnostics"
PARAMETER_EVENTS = "/parameter_events"

# rcl_interfaces/msg/ParameterType
_BOOL, _INTEGER, _DOUBLE, _STRING, _BOOL_ARRAY, _DOUBLE_ARRAY, _STRING_ARRAY = 1, 2, 3, 4, 6, 8, 9
_ERROR, _WARN, _OK = 2, 1, 0  # DiagnosticStatus.level


def numbers(ticks: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Of each topic that changes every cycle, its numbers in the order of the message: (cycles, numbers)."""
    loop, sample, command = ticks["loop"], ticks["sample"], ticks["command"]
    behind = (loop["stages"] > 0)[:, None]
    sent = (np.where(behind, loop["q_sent"], command["q"]), np.where(behind, loop["qd_sent"], command["qd"]))
    poses = ((command[f"p_{of}"], quaternions(command[f"R_{of}"])) for of in ("tcp", "ref"))
    columns = (
        (sample["q"], sample["qd"]),
        (sample["wrench"],),
        (command["wrench_sensor"],),
        (command["wrench_tcp"],),
        (command["twist"],),
        (command["pose_error"],),
        sent,
        *poses,
    )
    return {topic: np.hstack(each) for topic, each in zip(TOPICS, columns, strict=True)}


def cyclic(topic: str, numbers: NDArray[np.float64], time_ns: int, joints: tuple[str, ...], period: float) -> Message:
    """The message of one cycle from its numbers."""
    header = {"stamp": time_message(time_ns), "frame_id": _FRAMES.get(topic, "base_link")}
    first, second = numbers[: len(numbers) // 2].tolist(), numbers[len(numbers) // 2 :].tolist()
    match TOPICS[topic]:
        case "sensor_msgs/msg/JointState":
            return {"header": header, "name": list(joints), "position": first, "velocity": second}
        case "trajectory_msgs/msg/JointTrajectory":
            after = time_message(round(period * 1e9))
            point = {"positions": first, "velocities": second, "time_from_start": after}
            return {"header": header, "joint_names": list(joints), "points": [point]}
        case "geometry_msgs/msg/WrenchStamped":
            return {"header": header, "wrench": {"force": _named(first), "torque": _named(second)}}
        case "geometry_msgs/msg/TwistStamped":
            return {"header": header, "twist": {"linear": _named(first), "angular": _named(second)}}
        case _:
            return {"header": header, "pose": {"position": _named(first), "orientation": _named(second)}}


def diagnostics(record: np.void, reason: str, model: str) -> Message:
    """diagnostic_msgs/DiagnosticArray with the mode, its reason and the timing of the loop."""
    command, loop = record["command"], record["loop"]
    mode, status = Mode(int(command["mode"])), Status(int(command["status"]))
    values = {
        "mode": mode.name,
        "status": status.name,
        "limits": ", ".join(limit.name or "" for limit in Limit if limit and limit & int(command["limits"])) or "none",
        "period [ms]": f"{1e3 * float(loop['period']):.3f}",
        "read to write [ms]": f"{1e3 * float(loop['latency']):.3f}",
        "missed deadlines": str(int(loop["missed"])),
        "overruns": str(int(loop["overruns"])),
    }
    one = {
        "level": _ERROR if mode == Mode.FAULT else _WARN if status != Status.OK else _OK,
        "name": "ur_admittance: controller",
        "message": reason,
        "hardware_id": model,
        "values": [{"key": key, "value": value} for key, value in values.items()],
    }
    return {"header": {"stamp": time_message(int(loop["time_ns"])), "frame_id": ""}, "status": [one]}


def parameter_event(time_ns: int, old: dict[str, Any], new: dict[str, Any]) -> Message:
    """rcl_interfaces/ParameterEvent of the difference between two (nested) sets of parameters."""
    before, after = (
        {name: value for name, value in flatten(values).items() if value is not None} for values in (old, new)
    )
    added = [_parameter(name, value) for name, value in after.items() if name not in before]
    changed = [_parameter(n, v) for n, v in after.items() if n in before and before[n] != v]
    return {
        "stamp": time_message(time_ns),
        "node": "/ur_admittance",
        "new_parameters": added,
        "changed_parameters": changed,
        "deleted_parameters": [_parameter(name, value) for name, value in before.items() if name not in after],
    }


def time_message(nanoseconds: int) -> Message:
    return {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000}


def quaternion(R: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """(x, y, z, w) of a rotation matrix."""
    x, y, z, w = quaternions(np.asarray(R)[None])[0].tolist()
    return x, y, z, w


def quaternions(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """(x, y, z, w) of rotation matrices (n, 3, 3), each by its largest component: exact at every angle [Shepperd1978].

    4 q q^T can be read off the matrix; any row of it is q but for its length, the largest is the most exact.
    """
    xx, yy, zz = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    xy, xz, yz = R[:, 1, 0] + R[:, 0, 1], R[:, 2, 0] + R[:, 0, 2], R[:, 2, 1] + R[:, 1, 2]
    xw, yw, zw = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]
    products = np.array(
        [
            [1.0 + xx - yy - zz, xy, xz, xw],
            [xy, 1.0 + yy - xx - zz, yz, yw],
            [xz, yz, 1.0 + zz - xx - yy, zw],
            [xw, yw, zw, 1.0 + xx + yy + zz],
        ]
    )  # (4, 4, n)
    largest = np.argmax([xx, yy, zz, xx + yy + zz], axis=0)
    q = products[largest, :, np.arange(len(R))]  # (n, 4)
    length = np.linalg.norm(q, axis=1, keepdims=True)
    known = length > 0.0  # not so in a record that was never filled
    return np.where(known, q / np.where(known, length, 1.0), (0.0, 0.0, 0.0, 1.0))


def _named(values: list[float]) -> Message:
    return dict(zip("xyzw", values, strict=False))


def _parameter(name: str, value: Any) -> Message:
    return {"name": name, "value": _parameter_value(value)}


def _parameter_value(value: Any) -> Message:
    if isinstance(value, bool):
        return {"type": _BOOL, "bool_value": value}
    if isinstance(value, int):
        return {"type": _INTEGER, "integer_value": value}
    if isinstance(value, float):
        return {"type": _DOUBLE, "double_value": value}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(item, bool) for item in value):
            return {"type": _BOOL_ARRAY, "bool_array_value": list(value)}
        if value and all(isinstance(item, str) for item in value):
            return {"type": _STRING_ARRAY, "string_array_value": list(value)}
        numbers = [float("nan") if item is None else float(item) for item in value]
        return {"type": _DOUBLE_ARRAY, "double_array_value": numbers}
    return {"type": _STRING, "string_value": str(value)}


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
_TRAJECTORY_POINT = (
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
        trajectory_msgs__JointTrajectoryPoint=_TRAJECTORY_POINT,
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
