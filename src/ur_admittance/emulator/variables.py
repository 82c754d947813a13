"""RTDE variables: name, type, and the first controller version that has them.

Source: Universal Robots, Real-Time Data Exchange guide, tables of controller outputs and inputs.
"""

from dataclasses import dataclass

Version = tuple[int, int, int]
ALWAYS: Version = (0, 0, 0)
REGISTERS = 48


@dataclass(frozen=True)
class Variable:
    kind: str
    since: Version = ALWAYS
    since_cb3: Version | None = None  # None: as ``since``, that is never for a 5.x number


def _outputs() -> dict[str, Variable]:
    six, three, number = "VECTOR6D", "VECTOR3D", "DOUBLE"
    table = {
        "timestamp": number,
        "target_q": six,
        "target_qd": six,
        "target_qdd": six,
        "target_current": six,
        "target_moment": six,
        "actual_q": six,
        "actual_qd": six,
        "actual_current": six,
        "joint_control_output": six,
        "actual_TCP_pose": six,
        "actual_TCP_speed": six,
        "actual_TCP_force": six,
        "target_TCP_pose": six,
        "target_TCP_speed": six,
        "actual_digital_input_bits": "UINT64",
        "joint_temperatures": six,
        "actual_execution_time": number,
        "robot_mode": "INT32",
        "joint_mode": "VECTOR6INT32",
        "safety_mode": "INT32",
        "safety_status": "INT32",
        "actual_tool_accelerometer": three,
        "speed_scaling": number,
        "target_speed_fraction": number,
        "actual_momentum": number,
        "actual_main_voltage": number,
        "actual_robot_voltage": number,
        "actual_robot_current": number,
        "actual_joint_voltage": six,
        "actual_digital_output_bits": "UINT64",
        "runtime_state": "UINT32",
        "elbow_position": three,
        "elbow_velocity": three,
        "robot_status_bits": "UINT32",
        "safety_status_bits": "UINT32",
        "analog_io_types": "UINT32",
        "standard_analog_input0": number,
        "standard_analog_input1": number,
        "standard_analog_output0": number,
        "standard_analog_output1": number,
        "io_current": number,
        "tcp_force_scalar": number,
        "output_bit_registers0_to_31": "UINT32",
        "output_bit_registers32_to_63": "UINT32",
        "actual_robot_energy_consumed": number,
    }
    variables = {name: Variable(kind) for name, kind in table.items()}
    # the client library asks a CB3 with 3.11 and newer for these four as well
    variables["payload"] = Variable(number, (5, 5, 1), (3, 11, 0))
    variables["payload_cog"] = Variable(three, (5, 5, 1), (3, 11, 0))
    variables["payload_inertia"] = Variable(six, (5, 11, 0), (3, 11, 0))
    variables["ft_raw_wrench"] = Variable(six, (5, 9, 0), (3, 11, 0))
    variables["tcp_offset"] = Variable(six, (5, 11, 0))
    variables["actual_current_as_torque"] = Variable(six, (5, 23, 0))
    for i in range(REGISTERS):
        # the upper half is for external clients, the lower for field buses; it came with 3.9 and 5.3
        since = ALWAYS if i < 24 else (3, 9, 0)
        variables[f"output_int_register_{i}"] = Variable("INT32", since)
        variables[f"output_double_register_{i}"] = Variable(number, since)
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
