"""RTDE variables: name, type, and the first controller version that has them; the registers and who owns the inputs.

Source: Universal Robots, Real-Time Data Exchange guide, tables of controller outputs and inputs.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ur_admittance_lab.emulator.protocol import IN_USE, NOT_FOUND, Version, is_polyscope_x

ALWAYS: Version = (0, 0, 0)
NEVER: Version = (9, 9, 9)  # on a CB3
NEW: Version = (5, 23, 0)
NEW_X: Version = (10, 11, 0)  # the PolyScope X of the same time; older ones have what came before it
REGISTERS = 48
FREE_BITS = range(64, 128)  # the bit registers with names of their own


class Variable(NamedTuple):
    kind: str
    since: Version = ALWAYS  # e-Series
    since_cb3: Version = ALWAYS


# kind, first e-Series version, first CB3 version, names
OUTPUT_TABLE: tuple[tuple[str, Version, Version, str], ...] = (
    (
        "DOUBLE",
        ALWAYS,
        ALWAYS,
        "timestamp actual_execution_time target_execution_time speed_scaling target_speed_fraction actual_momentum "
        "actual_main_voltage actual_robot_voltage actual_robot_current standard_analog_input0 standard_analog_input1 "
        "standard_analog_output0 standard_analog_output1 io_current tcp_force_scalar tool_analog_input0 "
        "tool_analog_input1 tool_output_current tool_temperature euromap67_24V_voltage euromap67_24V_current "
        "joint_position_deviation_ratio",
    ),
    (
        "VECTOR6D",
        ALWAYS,
        ALWAYS,
        "target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current "
        "actual_current_window joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose "
        "target_TCP_speed joint_temperatures actual_joint_voltage",
    ),
    (
        "UINT64",
        ALWAYS,
        ALWAYS,
        "actual_digital_input_bits actual_digital_output_bits actual_configurable_digital_input_bits "
        "actual_configurable_digital_output_bits",
    ),
    ("INT32", ALWAYS, ALWAYS, "robot_mode safety_mode safety_status tool_output_voltage"),
    ("VECTOR6INT32", ALWAYS, ALWAYS, "joint_mode"),
    ("VECTOR3D", ALWAYS, ALWAYS, "actual_tool_accelerometer elbow_position elbow_velocity"),
    (
        "UINT32",
        ALWAYS,
        ALWAYS,
        "runtime_state robot_status_bits safety_status_bits analog_io_types tool_mode tool_analog_input_types "
        "euromap67_input_bits euromap67_output_bits output_bit_registers0_to_31 output_bit_registers32_to_63 "
        "input_bit_registers0_to_31 input_bit_registers32_to_63",
    ),
    ("UINT8", ALWAYS, NEVER, "tool_output_mode tool_digital_output0_mode tool_digital_output1_mode"),
    ("INT32", ALWAYS, NEVER, "encoder0_raw encoder1_raw"),
    # the client library ur_rtde asks a CB3 with 3.11 and newer for these four as well
    ("DOUBLE", (5, 5, 1), (3, 11, 0), "payload"),
    ("VECTOR3D", (5, 5, 1), (3, 11, 0), "payload_cog"),
    ("VECTOR6D", (5, 9, 0), (3, 11, 0), "ft_raw_wrench"),
    ("VECTOR6D", (5, 11, 0), (3, 11, 0), "payload_inertia"),
    ("UINT32", (5, 9, 0), (3, 14, 0), "script_control_line"),
    ("VECTOR6D", (5, 11, 0), NEVER, "tcp_offset wrench_calc_from_currents"),
    ("DOUBLE", (5, 15, 0), NEVER, "collision_detection_ratio"),
    ("INT32", (5, 17, 0), NEVER, "time_scale_source"),
    ("DOUBLE", NEW, NEVER, "actual_robot_energy_consumed actual_robot_braking_energy_dissipated"),
    (
        "VECTOR6D",
        NEW,
        NEVER,
        "actual_current_as_torque actual_TCP_acceleration target_TCP_acceleration target_base_acceleration "
        "target_base_wrench",
    ),
    ("VECTOR3D", NEW, NEVER, "target_gravity"),
    ("UINT64", NEW, NEVER, "control_step"),
)

INPUT_TABLE: tuple[tuple[str, str], ...] = (
    ("UINT32", "speed_slider_mask input_bit_registers0_to_31 input_bit_registers32_to_63"),
    ("DOUBLE", "speed_slider_fraction standard_analog_output_0 standard_analog_output_1"),
    (
        "UINT8",
        "standard_digital_output_mask standard_digital_output configurable_digital_output_mask "
        "configurable_digital_output tool_digital_output_mask tool_digital_output standard_analog_output_mask "
        "standard_analog_output_type",
    ),
    ("VECTOR6D", "external_force_torque"),
)


def _registers(direction: str) -> Iterator[tuple[str, Variable]]:
    """The lower half is for field buses, the upper half for external clients; that came with 3.9 and 5.3."""
    for i in range(REGISTERS):
        since = ALWAYS if i < 24 else (3, 9, 0)
        yield f"{direction}_int_register_{i}", Variable("INT32", since, since)
        yield f"{direction}_double_register_{i}", Variable("DOUBLE", since, since)
    for i in FREE_BITS:
        yield f"{direction}_bit_register_{i}", Variable("BOOL", (3, 9, 0), (3, 9, 0))


OUTPUTS: dict[str, Variable] = {
    name: Variable(kind, since, since_cb3) for kind, since, since_cb3, names in OUTPUT_TABLE for name in names.split()
}
OUTPUTS |= dict(_registers("output")) | dict(_registers("input"))  # what was written in can be read back
INPUTS: dict[str, Variable] = {name: Variable(kind) for kind, names in INPUT_TABLE for name in names.split()}
INPUTS |= dict(_registers("input"))


def known(table: dict[str, Variable], name: str, version: Version) -> str | None:
    """Type of a variable in this controller version, None when it has no such variable."""
    variable = table.get(name)
    if variable is None:
        return None
    since = variable.since_cb3 if version[0] <= 3 else variable.since
    if is_polyscope_x(version):
        since = NEW_X if since >= NEW else ALWAYS
    return variable.kind if version >= since else None


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
