"""The values of all RTDE outputs: what the simulation knows, and plausible constants for the rest.

``CONSTANTS`` are listed in docs/reference/emulator.md; any output that is in neither table here is zero.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np

from ur_admittance_lab.emulator.control_box import ControlBox
from ur_admittance_lab.emulator.running_program import PLAYING
from ur_admittance_lab.emulator.safety import MODE_IDLE, MODE_POWER_OFF, MODE_RUNNING
from ur_admittance_lab.emulator.ur_frames import turned
from ur_admittance_lab.emulator.variables import FREE_BITS, OUTPUTS, REGISTERS

ELBOW = 2  # index of the joint
TORQUE_CONSTANT = 12.0  # [Nm/A] motor and gear, all joints; assumed
JOINT_MODES = {MODE_POWER_OFF: 239, MODE_IDLE: 255, MODE_RUNNING: 253}

CONSTANTS: dict[str, Any] = {
    "joint_temperatures": [30.0] * 6,
    "tool_temperature": 30.0,
    "actual_main_voltage": 48.0,
    "actual_robot_voltage": 48.0,
    "actual_robot_current": 0.8,
    "actual_joint_voltage": [48.0] * 6,
    "actual_current_window": [0.3] * 6,
    "io_current": 0.05,
    "tool_mode": 253,
    "speed_scaling": 1.0,
    "actual_execution_time": 0.1,
    "target_execution_time": 0.1,
}


class OutputValues:
    """values[name] -> the present value of an RTDE output; computed when asked for."""

    def __init__(self, box: ControlBox) -> None:
        zero: dict[str, Any] = {"VECTOR6D": [0.0] * 6, "VECTOR3D": [0.0] * 3, "VECTOR6INT32": [0] * 6}
        self._plain: dict[str, Any] = {name: zero.get(variable.kind, 0) for name, variable in OUTPUTS.items()}
        self._plain |= CONSTANTS
        self._live = _state(box) | _motion(box) | _registers(box)

    def __getitem__(self, name: str) -> Any:
        getter = self._live.get(name)
        return self._plain[name] if getter is None else getter()


def _state(box: ControlBox) -> dict[str, Callable[[], Any]]:
    safety, program = box.safety, box.program
    return {
        "timestamp": lambda: box.time,
        "control_step": lambda: box.tick,
        "robot_mode": lambda: safety.robot_mode,
        "joint_mode": lambda: [JOINT_MODES[safety.robot_mode]] * 6,
        "safety_mode": lambda: safety.stop.value[0],
        "safety_status": lambda: safety.stop.value[0],
        "safety_status_bits": lambda: safety.stop.value[1],
        "robot_status_bits": lambda: (
            int(safety.robot_mode != MODE_POWER_OFF) | int(program.runtime_state == PLAYING) << 1
        ),
        "target_speed_fraction": lambda: safety.fraction,
        "runtime_state": lambda: program.runtime_state,
        "actual_digital_input_bits": lambda: box.digital_inputs,
        "actual_configurable_digital_input_bits": lambda: box.digital_inputs >> 8 & 0xFF,
        "actual_digital_output_bits": lambda: box.digital_outputs,
        "actual_configurable_digital_output_bits": lambda: box.digital_outputs >> 8 & 0xFF,
        "tool_output_voltage": lambda: box.tool_voltage,
        "standard_analog_output0": lambda: box.analog_outputs[0],
        "standard_analog_output1": lambda: box.analog_outputs[1],
        "joint_position_deviation_ratio": lambda: box.arm.following_error / safety.following_limit,
        "collision_detection_ratio": lambda: _force(box) / safety.force_limit,
    }


def _motion(box: ControlBox) -> dict[str, Callable[[], Any]]:
    arm = box.arm
    world = arm.world

    def torque() -> list[float]:
        return [float(x) for x in world.mj_data.qfrc_applied]

    def current() -> list[float]:
        return [x / TORQUE_CONSTANT for x in torque()]

    def acceleration() -> list[float]:
        return _ur(arm.commanded.tcp_jacobian() @ arm.qdd_set)

    return {
        "target_q": lambda: arm.q_set.tolist(),
        "target_qd": lambda: arm.target_speed.tolist(),
        "target_qdd": lambda: arm.qdd_set.tolist(),
        "target_moment": torque,
        "target_current": current,
        "actual_q": lambda: world.q.tolist(),
        "actual_qd": lambda: world.qd.tolist(),
        "actual_current": current,
        "joint_control_output": current,
        "actual_current_as_torque": torque,
        "actual_TCP_pose": lambda: arm.actual.tcp_pose().tolist(),
        "actual_TCP_speed": lambda: arm.actual.tcp_speed(world.qd).tolist(),
        "actual_TCP_acceleration": acceleration,
        "actual_TCP_force": lambda: arm.tcp_force.tolist(),
        "wrench_calc_from_currents": lambda: arm.tcp_force.tolist(),
        "tcp_force_scalar": lambda: _force(box),
        "target_TCP_pose": lambda: arm.commanded.tcp_pose().tolist(),
        "target_TCP_speed": lambda: arm.commanded.tcp_speed(arm.target_speed).tolist(),
        "target_TCP_acceleration": acceleration,
        "ft_raw_wrench": lambda: arm.raw.tolist(),
        "elbow_position": lambda: _elbow(box)[0],
        "elbow_velocity": lambda: _elbow(box)[1],
        "actual_tool_accelerometer": lambda: (-arm.actual.R.T @ world.gravity).tolist(),
        "actual_momentum": lambda: _momentum(box),
        "target_gravity": lambda: _ur(-world.gravity),
        "payload": lambda: arm.payload,
        "payload_cog": lambda: arm.cog.tolist(),
        "payload_inertia": lambda: arm.payload_inertia.tolist(),
        "tcp_offset": lambda: arm.actual.tcp.tolist(),
    }


def _registers(box: ControlBox) -> dict[str, Callable[[], Any]]:
    """Outputs of the program, and inputs of clients, which can be read back."""
    integers, doubles, bits = box.outputs.integers, box.outputs.doubles, box.outputs.booleans
    inputs = box.inputs.values
    live: dict[str, Callable[[], Any]] = {
        "output_bit_registers0_to_31": lambda: _packed(bits[:32]),
        "output_bit_registers32_to_63": lambda: _packed(bits[32:64]),
    }
    for i in range(REGISTERS):
        live[f"output_int_register_{i}"] = lambda i=i: integers[i]  # type: ignore[misc]
        live[f"output_double_register_{i}"] = lambda i=i: doubles[i]  # type: ignore[misc]
    for i in FREE_BITS:
        live[f"output_bit_register_{i}"] = lambda i=i: bits[i]  # type: ignore[misc]
    for name in OUTPUTS.keys() & inputs.keys():
        live[name] = lambda name=name: inputs[name]  # type: ignore[misc]
    return live


def _packed(bits: Sequence[bool]) -> int:
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def _force(box: ControlBox) -> float:
    return float(np.linalg.norm(box.arm.tcp_force[:3]))


def _ur(vector: np.ndarray) -> list[float]:
    """A vector or twist from base_link axes to UR base axes."""
    return [float(x) for x in turned(vector)]


def _elbow(box: ControlBox) -> tuple[list[float], list[float]]:
    """Position and velocity of the elbow joint."""
    world = box.arm.world
    rotations, positions = box.arm.model.frames(world.q)
    elbow = positions[ELBOW]
    speeds = (np.cross(rotations[i, :, 2], elbow - positions[i]) * world.qd[i] for i in range(ELBOW))
    return _ur(elbow), _ur(sum(speeds, np.zeros(3)))


def _momentum(box: ControlBox) -> float:
    """Size of the linear momentum of arm and tool [kg m/s]."""
    model, data = box.arm.world.mj_model, box.arm.world.mj_data
    mujoco.mj_subtreeVel(model, data)
    return float(np.linalg.norm(data.subtree_linvel[0]) * model.body_subtreemass[0])
