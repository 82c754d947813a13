"""Records as ROS 2 messages, encoded by mcap-ros2-support."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from mcap_ros2._dynamic import serialize_dynamic  # the encoder itself: the library's writer would pack every message
from numpy.typing import NDArray

from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.params.parameters import flatten

Message = dict[str, Any]
Bytes = NDArray[np.uint8]
EXACT = "std_msgs/msg/UInt8MultiArray"
STAMP = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])
STAMP_AT = slice(4, 4 + STAMP.itemsize)  # of a message that begins with a time: after the four bytes of the encoding

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

_ERROR, _WARN, _OK = 2, 1, 0  # DiagnosticStatus.level

# of ROS 2 Jazzy
_DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset",
    "std_msgs/UInt8MultiArray": "std_msgs/MultiArrayLayout layout\nuint8[] data",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
    "geometry_msgs/TwistStamped": "std_msgs/Header header\ngeometry_msgs/Twist twist",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\ngeometry_msgs/Pose pose",
    "sensor_msgs/JointState": "std_msgs/Header header\nstring[] name\n"
    "float64[] position\nfloat64[] velocity\nfloat64[] effort",
    "trajectory_msgs/JointTrajectoryPoint": "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\n"
    "float64[] effort\nbuiltin_interfaces/Duration time_from_start",
    "trajectory_msgs/JointTrajectory": "std_msgs/Header header\nstring[] joint_names\n"
    "trajectory_msgs/JointTrajectoryPoint[] points",
    "diagnostic_msgs/KeyValue": "string key\nstring value",
    "diagnostic_msgs/DiagnosticStatus": "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\n"
    "string message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values",
    "diagnostic_msgs/DiagnosticArray": "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status",
    "rcl_interfaces/ParameterValue": "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\n"
    "string string_value\nbyte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\n"
    "float64[] double_array_value\nstring[] string_array_value",
    "rcl_interfaces/Parameter": "string name\nrcl_interfaces/ParameterValue value",
    "rcl_interfaces/ParameterEvent": "builtin_interfaces/Time stamp\nstring node\n"
    "rcl_interfaces/Parameter[] new_parameters\nrcl_interfaces/Parameter[] changed_parameters\n"
    "rcl_interfaces/Parameter[] deleted_parameters",
}


def definition(kind: str) -> str:
    """A message type such as geometry_msgs/msg/Pose, followed by its parts, in the form of the ros2msg encoding."""
    found: dict[str, str] = {}

    def collect(name: str) -> None:
        found[name] = text = _DEFINITIONS[name]
        for line in text.splitlines():
            part = line.split()[0].removesuffix("[]")
            if "/" in part and part not in found:
                collect(part)

    collect(kind.replace("/msg/", "/"))
    (_, first), *parts = found.items()
    return "\n".join([first, *(f"{'=' * 80}\nMSG: {name}\n{text}" for name, text in parts)])


@cache
def _encoder(kind: str) -> Callable[[Message], bytes]:
    encode: Callable[[Message], bytes] = serialize_dynamic(kind, definition(kind))[kind]
    return encode


def encoded(kind: str, content: Message) -> bytes:
    return _encoder(kind)(content)


def exact(data: bytes) -> bytes:
    """The bytes of a record as a message."""
    return encoded(EXACT, {"layout": {"dim": [], "data_offset": 0}, "data": data})


class CyclicMessages:
    """Those that change every cycle, many at once: they differ in their numbers alone. The encoder makes one message
    with known numbers; where it has put them is where those of every other message go."""

    def __init__(self, tick: np.dtype[Any], joints: tuple[str, ...], period: float) -> None:
        self._templates: dict[str, tuple[Bytes, NDArray[np.intp]]] = {}  # topic -> a message, places of its numbers
        for topic, values in numbers(np.zeros(1, tick)).items():
            marks = 1e-300 * np.arange(1.0, 1.0 + values.size)  # no other eight bytes of a message look like these
            message = encoded(TOPICS[topic], cyclic(topic, marks, 0, joints, period))
            places = np.array([message.index(mark.tobytes()) for mark in marks])[:, None] + np.arange(8)
            self._templates[topic] = np.frombuffer(message, np.uint8), places.ravel()

    def encoded(self, ticks: NDArray[Any]) -> dict[str, list[bytes]]:
        """Of each topic, the messages of these cycles."""
        stamps = np.zeros(len(ticks), STAMP)
        stamps["sec"], stamps["nanosec"] = np.divmod(ticks["loop"]["time_ns"], 1_000_000_000)
        result = {}
        for topic, values in numbers(ticks).items():
            template, places = self._templates[topic]
            rows = np.tile(template, (len(ticks), 1))
            rows[:, STAMP_AT], rows[:, places] = _bytes(stamps), _bytes(values)
            result[topic] = [row.tobytes() for row in rows]
        return result


def _bytes(rows: NDArray[Any]) -> Bytes:
    """Rows of numbers as rows of bytes."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.itemsize * math.prod(rows.shape[1:]))


def numbers(ticks: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Of each topic that changes every cycle, its numbers in the order of the message: (cycles, numbers)."""
    sample, command = ticks["sample"], ticks["command"]
    poses = ((command[f"p_{of}"], quaternions(command[f"R_{of}"])) for of in ("tcp", "ref"))
    columns = (
        (sample["q"], sample["qd"]),
        (sample["wrench"],),
        (command["wrench_sensor"],),
        (command["wrench_tcp"],),
        (command["twist"],),
        (command["pose_error"],),
        (sent(ticks, "q"), sent(ticks, "qd")),
        *poses,
    )
    return {topic: np.hstack(each) for topic, each in zip(TOPICS, columns, strict=True)}


def sent(ticks: NDArray[Any], field: str) -> NDArray[np.float64]:
    """q or qd that the robot was sent (n, 6): that of the law, or what stages behind it have made of it."""
    loop = ticks["loop"]
    return np.where((loop["stages"] > 0)[:, None], loop[f"{field}_sent"], ticks["command"][field])


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
    changed = {name: value for name, value in after.items() if name in before and before[name] != value}
    return {
        "stamp": time_message(time_ns),
        "node": "/ur_admittance",
        "new_parameters": _parameters({name: value for name, value in after.items() if name not in before}),
        "changed_parameters": _parameters(changed),
        "deleted_parameters": _parameters({name: value for name, value in before.items() if name not in after}),
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


def _parameters(values: dict[str, Any]) -> list[Message]:
    return [{"name": name, "value": _parameter_value(value)} for name, value in values.items()]


def _parameter_value(value: Any) -> Message:
    """With its number in rcl_interfaces/msg/ParameterType."""
    match value:
        case bool():
            return {"type": 1, "bool_value": value}
        case int():
            return {"type": 2, "integer_value": value}
        case float():
            return {"type": 3, "double_value": value}
        case [bool(), *_]:
            return {"type": 6, "bool_array_value": list(value)}
        case [str(), *_]:
            return {"type": 9, "string_array_value": list(value)}
        case list() | tuple():
            return {"type": 8, "double_array_value": [math.nan if item is None else float(item) for item in value]}
        case _:
            return {"type": 4, "string_value": str(value)}
