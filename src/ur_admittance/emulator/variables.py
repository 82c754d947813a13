"""RTDE variables: name, type, and the first controller version that has them; the registers and who owns the inputs.

Source: Universal Robots, Real-Time Data Exchange guide, tables of controller outputs and inputs.
"""

from dataclasses import dataclass
from typing import Any

from ur_admittance.robots.rtde.wire import IN_USE, NOT_FOUND

Version = tuple[int, int, int]
ALWAYS: Version = (0, 0, 0)
REGISTERS = 48


@dataclass(frozen=True)
class Variable:
    kind: str
    since: Version = ALWAYS
    since_cb3: Version | None = None  # None: as ``since``, that is never for a 5.x number


# in every version
OLD_OUTPUTS = {
    "DOUBLE": (
        "timestamp actual_execution_time speed_scaling target_speed_fraction actual_momentum "
        "actual_main_voltage actual_robot_voltage actual_robot_current standard_analog_input0 "
        "standard_analog_input1 standard_analog_output0 standard_analog_output1 io_current tcp_force_scalar "
        "actual_robot_energy_consumed"
    ),
    "VECTOR6D": (
        "target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current "
        "joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose "
        "target_TCP_speed joint_temperatures actual_joint_voltage"
    ),
    "UINT64": "actual_digital_input_bits actual_digital_output_bits",
    "INT32": "robot_mode safety_mode safety_status",
    "VECTOR6INT32": "joint_mode",
    "VECTOR3D": "actual_tool_accelerometer elbow_position elbow_velocity",
    "UINT32": (
        "runtime_state robot_status_bits safety_status_bits analog_io_types output_bit_registers0_to_31 "
        "output_bit_registers32_to_63"
    ),
}


def _outputs() -> dict[str, Variable]:
    variables = {name: Variable(kind) for kind, names in OLD_OUTPUTS.items() for name in names.split()}
    # the client library asks a CB3 with 3.11 and newer for these four as well
    variables["payload"] = Variable("DOUBLE", (5, 5, 1), (3, 11, 0))
    variables["payload_cog"] = Variable("VECTOR3D", (5, 5, 1), (3, 11, 0))
    variables["payload_inertia"] = Variable("VECTOR6D", (5, 11, 0), (3, 11, 0))
    variables["ft_raw_wrench"] = Variable("VECTOR6D", (5, 9, 0), (3, 11, 0))
    variables["tcp_offset"] = Variable("VECTOR6D", (5, 11, 0))
    variables["actual_current_as_torque"] = Variable("VECTOR6D", (5, 23, 0))
    for i in range(REGISTERS):
        # the upper half is for external clients, the lower for field buses; it came with 3.9 and 5.3
        since = ALWAYS if i < 24 else (3, 9, 0)
        variables[f"output_int_register_{i}"] = Variable("INT32", since)
        variables[f"output_double_register_{i}"] = Variable("DOUBLE", since)
    for i in range(64, 128):
        variables[f"output_bit_register_{i}"] = Variable("BOOL", (3, 9, 0))
    return variables


def _inputs() -> dict[str, Variable]:
    variables = {
        "speed_slider_mask": Variable("UINT32"),
        "speed_slider_fraction": Variable("DOUBLE"),
        "standard_digital_output_mask": Variable("UINT8"),
        "configurable_digital_output_mask": Variable("UINT8"),
        "tool_digital_output_mask": Variable("UINT8"),
        "standard_digital_output": Variable("UINT8"),
        "configurable_digital_output": Variable("UINT8"),
        "tool_digital_output": Variable("UINT8"),
        "standard_analog_output_mask": Variable("UINT8"),
        "standard_analog_output_type": Variable("UINT8"),
        "standard_analog_output_0": Variable("DOUBLE"),
        "standard_analog_output_1": Variable("DOUBLE"),
        "input_bit_registers0_to_31": Variable("UINT32"),
        "input_bit_registers32_to_63": Variable("UINT32"),
        "external_force_torque": Variable("VECTOR6D", (3, 3, 0)),
    }
    for i in range(REGISTERS):
        since = ALWAYS if i < 24 else (3, 9, 0)
        variables[f"input_int_register_{i}"] = Variable("INT32", since)
        variables[f"input_double_register_{i}"] = Variable("DOUBLE", since)
    for i in range(64, 128):
        variables[f"input_bit_register_{i}"] = Variable("BOOL", (3, 9, 0))
    return variables


OUTPUTS = _outputs()
INPUTS = _inputs()


def known(table: dict[str, Variable], name: str, version: Version) -> str | None:
    """Type of a variable in this controller version, None when it has no such variable."""
    variable = table.get(name)
    if variable is None:
        return None
    since = variable.since_cb3 if version[0] <= 3 and variable.since_cb3 is not None else variable.since
    if since > version:
        return None
    return variable.kind


class Inputs:
    """Every input keeps its last value. One connection owns an input until it closes."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.values: dict[str, Any] = {
            name: [0.0] * 6 if variable.kind == "VECTOR6D" else 0 for name, variable in INPUTS.items()
        }
        self._owner: dict[str, object] = {}

    def types(self, names: list[str], owner: object) -> tuple[list[str], bool]:
        """Types, or why not; True when all could be claimed for ``owner`` (then they are)."""
        answers = []
        for name in names:
            kind = known(INPUTS, name, self.version)
            if kind is None:
                answers.append(NOT_FOUND)
            elif self._owner.get(name, owner) is not owner:
                answers.append(IN_USE)
            else:
                answers.append(kind)
        granted = bool(names) and NOT_FOUND not in answers and IN_USE not in answers
        if granted:
            for name in names:
                self._owner[name] = owner
        return answers, granted

    def release(self, owner: object) -> bool:
        """The connection has closed. True when it commanded the control program."""
        mine = [name for name, who in self._owner.items() if who is owner]
        for name in mine:
            del self._owner[name]
        return "input_int_register_0" in mine or "input_int_register_24" in mine

    def boolean(self, i: int) -> bool:
        if i >= 64:
            return bool(self.values[f"input_bit_register_{i}"])
        word = "input_bit_registers0_to_31" if i < 32 else "input_bit_registers32_to_63"
        return bool(self.values[word] >> i % 32 & 1)

    def integer(self, i: int) -> int:
        return int(self.values[f"input_int_register_{i}"])

    def doubles(self, first: int, count: int) -> list[float]:
        values = self.values
        return [float(values[f"input_double_register_{i}"]) for i in range(first, first + count)]


class Outputs:
    """Output registers, written by the program."""

    def __init__(self) -> None:
        self.integers = [0] * REGISTERS
        self.doubles = [0.0] * REGISTERS
        self.booleans = [False] * 128
