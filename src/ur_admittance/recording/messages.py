"""Records as ROS 2 messages: dictionaries that mcap-ros2-support writes, with the definitions of ROS 2 Jazzy."""

from collections.abc import Iterator
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
DIAGNOSTICS = "/diagnostics"
PARAMETER_EVENTS = "/parameter_events"

# rcl_interfaces/msg/ParameterType
_BOOL, _INTEGER, _DOUBLE, _STRING, _BOOL_ARRAY, _DOUBLE_ARRAY, _STRING_ARRAY = 1, 2, 3, 4, 6, 8, 9
_ERROR, _WARN, _OK = 2, 1, 0  # DiagnosticStatus.level


def cyclic(record: np.void, names: tuple[str, ...], period: float) -> Iterator[tuple[str, Message]]:
    """(topic, message) of everything that changes every cycle. record: TELEMETRY or a recorded tick."""
    sample, command = record["sample"], record["command"]
    stamp = time_message(int(record["loop"]["time_ns"]))
    base = {"stamp": stamp, "frame_id": "base_link"}
    sensor = {"stamp": stamp, "frame_id": "ft_frame"}
    yield (
        "/joint_states",
        {"header": base, "name": list(names), "position": sample["q"].tolist(), "velocity": sample["qd"].tolist()},
    )
    yield "/netft/raw_sensor", {"header": sensor, "wrench": _pair("force", "torque", sample["wrench"])}
    yield "/netft/proc_sensor", {"header": sensor, "wrench": _pair("force", "torque", command["wrench_sensor"])}
    yield "/netft/proc_probe", {"header": base, "wrench": _pair("force", "torque", command["wrench_tcp"])}
    yield "/admittance_cartesian_velocity", {"header": base, "twist": _pair("linear", "angular", command["twist"])}
    yield "/admittance_pose_error", {"header": base, "twist": _pair("linear", "angular", command["pose_error"])}
    loop = record["loop"]
    behind = "stages" in loop.dtype.names and loop["stages"] > 0
    point = {
        "positions": (loop["q_sent"] if behind else command["q"]).tolist(),
        "velocities": (loop["qd_sent"] if behind else command["qd"]).tolist(),
        "time_from_start": time_message(round(period * 1e9)),
    }
    yield (
        "/scaled_joint_trajectory_controller/joint_trajectory",
        {"header": base, "joint_names": list(names), "points": [point]},
    )
    yield "/tcp_pose", {"header": base, "pose": _pose(command["p_tcp"], command["R_tcp"])}
    yield "/reference_pose", {"header": base, "pose": _pose(command["p_ref"], command["R_ref"])}


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
    """(x, y, z, w) of a rotation matrix, by its largest component: exact at every angle [Shepperd1978]."""
    trace = float(np.trace(R))
    candidates = np.array([R[0, 0], R[1, 1], R[2, 2], trace])
    largest = int(np.argmax(candidates))
    if largest == 3:
        q = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1.0 + trace])
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q = np.zeros(4)
        q[i] = 1.0 + R[i, i] - R[j, j] - R[k, k]
        q[j] = R[j, i] + R[i, j]
        q[k] = R[k, i] + R[i, k]
        q[3] = R[k, j] - R[j, k]
    length = float(np.linalg.norm(q))
    if not length > 0.0:  # a record that was never filled
        return 0.0, 0.0, 0.0, 1.0
    x, y, z, w = (q / length).tolist()
    return x, y, z, w


def _pose(position: NDArray[np.float64], R: NDArray[np.float64]) -> Message:
    x, y, z, w = quaternion(R)
    return {"position": _xyz(position), "orientation": {"x": x, "y": y, "z": z, "w": w}}


def _pair(first: str, second: str, six: NDArray[np.float64]) -> Message:
    return {first: _xyz(six[:3]), second: _xyz(six[3:])}


def _xyz(three: NDArray[np.float64]) -> Message:
    x, y, z = three.tolist()
    return {"x": x, "y": y, "z": z}


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
