"""What the primary and secondary ports (30001, 30002) send: state ten times a second, messages when something happens.

Big endian. Package: int32 size, uint8 type, content; a state package (type 16) is a row of parts: uint32 size, uint8
type, content; a message (type 20) begins with uint64 time [us], int8 source, uint8 type.
Source: Universal Robots, Remote Control via TCP/IP, client interface of 5.10; what it leaves open is as UR's own client
library reads it.
"""

import math
import struct
import zlib

from ur_admittance.model import RobotModel
from ur_admittance.model.arm_table import DenavitHartenberg
from ur_admittance_lab.emulator.control_box import ControlBox
from ur_admittance_lab.emulator.geometry import denavit_hartenberg
from ur_admittance_lab.emulator.output_values import OutputValues
from ur_admittance_lab.emulator.protocol import is_polyscope_x
from ur_admittance_lab.emulator.running_program import PAUSED, PLAYING
from ur_admittance_lab.emulator.safety import MODE_POWER_OFF, StopKind

RATE_HZ = 10.0
STATE, MESSAGE = 16, 20  # types of packages
MODES, JOINTS, TOOL, MASTERBOARD, CARTESIAN, KINEMATICS, CONFIGURATION = range(7)  # types of parts
TEXT, VERSION, SAFETY_MODE, ERROR, KEY, RUNTIME_EXCEPTION = 0, 3, 5, 6, 7, 10  # types of messages
SOURCE = 7  # the controller
WARNING, VIOLATION = 2, 3  # levels of an error message
READ_ONLY = 210  # code of the error that answers a script in local control

# e-Series and the UR series after it; 7e and 12e are taken for the arms they grew out of
ROBOT_TYPES = {"ur3": 3, "ur5": 1, "ur7": 1, "ur8long": 6, "ur10": 2, "ur12": 2, "ur15": 9, "ur16": 4, "ur18": 5}
ROBOT_TYPES |= {"ur20": 7, "ur30": 8}
DEFAULT_MOTION = (1.05, 1.4, 0.25, 1.2)  # joint speed [rad/s] and acceleration, tool speed [m/s] and acceleration
MAX_JOINT_ACCELERATION = 40.0  # [rad/s2]


def package(kind: int, content: bytes) -> bytes:
    return struct.pack(">iB", 5 + len(content), kind) + content


def _part(kind: int, layout: str, *values: object) -> bytes:
    content = struct.pack(">" + layout, *values)
    return struct.pack(">IB", 5 + len(content), kind) + content


# messages


def message(box: ControlBox, kind: int, content: bytes) -> bytes:
    return package(MESSAGE, struct.pack(">QbB", int(box.time * 1e6), SOURCE, kind) + content)


def version(box: ControlBox) -> bytes:
    major, minor, bugfix = box.version
    name = b"URControl"
    return message(box, VERSION, struct.pack(">b9sBBii", len(name), name, major, minor, bugfix, 0) + b"emulator")


def text(box: ControlBox, words: str) -> bytes:
    return message(box, TEXT, words.encode())


def key(box: ControlBox, title: str, words: str) -> bytes:
    """``PROGRAM_XXX_STARTED``, ``PROGRAM_XXX_STOPPED`` with the name of the program."""
    return message(box, KEY, struct.pack(">iiB", 0, 0, len(title)) + title.encode() + words.encode())


def error(box: ControlBox, code: int, level: int, words: str, argument: int = 0) -> bytes:
    return message(box, ERROR, struct.pack(">iiiII", code, argument, level, 0, 0) + words.encode())


def safety_mode(box: ControlBox) -> bytes:
    return message(box, SAFETY_MODE, struct.pack(">iiBII", 0, 0, box.safety.stop.value[0], 0, 0))


def runtime_exception(box: ControlBox, line: int, column: int, words: str) -> bytes:
    return message(box, RUNTIME_EXCEPTION, struct.pack(">ii", line, column) + words.encode())


# state


def state(box: ControlBox, v: OutputValues, first: bool) -> bytes:
    """A state package; ``first``: with what never changes, geometry and limits. v: of the box."""
    parts = _modes(box, v) + _joints(v) + _tool(v) + _masterboard(box, v) + _cartesian(v)
    if first:
        geometry = denavit_hartenberg(box.arm.model)
        parts += _kinematics(geometry) + _configuration(box, geometry)
    return package(STATE, parts)


def _modes(box: ControlBox, v: OutputValues) -> bytes:
    safety, runtime = box.safety, box.program.runtime_state
    flags = (
        True,  # a robot is connected
        True,  # and enabled
        safety.robot_mode != MODE_POWER_OFF,
        safety.stop is StopKind.EMERGENCY,
        safety.stop is StopKind.PROTECTIVE,
        runtime == PLAYING,
        runtime == PAUSED,
    )
    numbers = safety.robot_mode, 0, safety.fraction, v["speed_scaling"], 1.0, 0
    return _part(MODES, "Q7?BBdddB", int(box.time * 1e6), *flags, *numbers)


def _joints(v: OutputValues) -> bytes:
    names = "actual_q", "target_q", "actual_qd", "actual_current", "actual_joint_voltage", "joint_temperatures"
    rows = zip(*(v[name] for name in (*names, "joint_temperatures", "joint_mode")), strict=True)
    return _part(JOINTS, "dddffffB" * 6, *(value for row in rows for value in row))


def _tool(v: OutputValues) -> bytes:
    types = v["tool_analog_input_types"]
    analog = types & 1, types >> 1 & 1, v["tool_analog_input0"], v["tool_analog_input1"]
    power = v["actual_robot_voltage"], v["tool_output_voltage"], v["tool_output_current"], v["tool_temperature"]
    return _part(TOOL, "BBddfBffB", *analog, *power, v["tool_mode"])


def _masterboard(box: ControlBox, v: OutputValues) -> bytes:
    types = v["analog_io_types"]
    analog_in = types & 1, types >> 1 & 1, v["standard_analog_input0"], v["standard_analog_input1"]
    analog_out = types >> 2 & 1, types >> 3 & 1, v["standard_analog_output0"], v["standard_analog_output1"]
    power = v["joint_temperatures"][0], v["actual_robot_voltage"], v["actual_robot_current"], v["io_current"]
    mode = box.safety.stop.value[0], False, False  # reduced mode, injection moulding interface
    digital = v["actual_digital_input_bits"], v["actual_digital_output_bits"]
    return _part(MASTERBOARD, "IIBBddBBddffffB??IB?B", *digital, *analog_in, *analog_out, *power, *mode, 0, 0, False, 0)


def _cartesian(v: OutputValues) -> bytes:
    return _part(CARTESIAN, "12d", *v["actual_TCP_pose"], *v["tcp_offset"])


def _kinematics(geometry: DenavitHartenberg) -> bytes:
    """What identifies this unit: a checksum of each joint's row, the rows, and how they were calibrated (0: well)."""
    theta, a, d, alpha = geometry.columns
    checksums = [zlib.crc32(struct.pack(">4d", *row)) for row in zip(theta, a, d, alpha, strict=True)]
    return _part(KINEMATICS, "6I24dI", *checksums, *theta, *a, *d, *alpha, 0)


def _configuration(box: ControlBox, geometry: DenavitHartenberg) -> bytes:
    model = box.arm.model
    limits = [x for low, high in zip(model.lower, model.upper, strict=True) for x in (_finite(low), _finite(high))]
    motion = [x for speed in model.velocity for x in (float(speed), MAX_JOINT_ACCELERATION)]
    theta, a, d, alpha = geometry.columns
    radius = 0.0  # equivalent radius of the tool
    boards = [0, 0, robot_type(model), 0 if box.version[0] <= 3 else 1]
    boards += [0, 0] if is_polyscope_x(box.version) else []  # reserved
    layout = f"12d12d5d24d{len(boards)}i"
    return _part(CONFIGURATION, layout, *limits, *motion, *DEFAULT_MOTION, radius, *a, *d, *alpha, *theta, *boards)


def robot_type(model: RobotModel) -> int:
    return ROBOT_TYPES.get(model.name.removesuffix("e"), 0)


def _finite(angle: float) -> float:
    return float(angle) if math.isfinite(angle) else math.copysign(2.0 * math.pi, angle)
