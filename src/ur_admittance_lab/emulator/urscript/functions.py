"""The built-in functions of URScript: settings, questions, registers, inputs and outputs, values.

A function of the robot that is not emulated ends the program with a runtime error; an unknown one does not compile.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import joints_for
from ur_admittance_lab.emulator.running_program import Program
from ur_admittance_lab.emulator.ur_frames import matrix_of, transformed
from ur_admittance_lab.emulator.urscript.interpreter import ScriptRun
from ur_admittance_lab.emulator.urscript.script_values import (
    Array,
    Pose,
    boolean,
    checked,
    concatenated,
    integer,
    number,
    positive,
    shown,
    vector,
)
from ur_admittance_lab.emulator.urscript.socket_functions import SocketFunctions
from ur_admittance_lab.emulator.variables import REGISTERS

BOOLEANS = 128  # boolean registers
STANDARD, CONFIGURABLE, TOOL = range(8), range(8, 16), range(16, 18)  # digital inputs and outputs
INVERSE_TURNS = 100  # of a loop: the time that an inverse takes
WATCHDOG_ACTIONS = ("ignore", "pause", "stop")
NOT_EMULATED = """
    force_mode end_force_mode force_mode_set_damping force_mode_set_gain_scaling freedrive_mode get_freedrive_status
    teach_mode end_teach_mode screw_driving end_screw_driving movec movep servoc direct_torque tool_contact
    enable_external_ft_sensor ft_rtde_input_enable path_offset_enable path_offset_set interpreter_mode optimovej
    optimovel socket_send_string socket_send_byte socket_send_line socket_read_string socket_read_byte_list
    socket_read_ascii_float socket_read_line socket_get_var socket_set_var rpc_factory modbus_add_signal
    modbus_get_signal_status modbus_set_output_register set_gravity set_payload_mass set_payload_cog
    get_target_payload_cog get_target_payload_inertia get_joint_torques get_actual_joint_positions_history
    get_target_waypoint get_tool_accelerometer_reading is_within_safety_limits set_tool_communication
    set_standard_analog_out get_standard_analog_in set_flag get_flag pose_add pose_sub pose_dist point_dist
    interpolate_pose wrench_trans rotvec2rpy rpy2rotvec random to_num str_at str_empty str_find str_len str_sub
    integer_to_binary_list binary_list_to_integer time powerdown"""
MATHS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "floor", "ceil")
} | {"d2r": math.radians, "r2d": math.degrees, "log": math.log}


def function_table(program: Program, run: ScriptRun) -> dict[str, Callable[..., Any]]:
    functions = Functions(program, run)
    table = {name: getattr(functions, name) for name in dir(Functions) if not name.startswith("_")}
    table |= {name: _of_a_number(name, function) for name, function in MATHS.items()}
    return table | {name: _refusal(name) for name in NOT_EMULATED.split()}


def _of_a_number(name: str, function: Callable[[float], float]) -> Callable[[Any], float]:
    return lambda x: checked(function(number(x, name)))


def _refusal(name: str) -> Callable[..., None]:
    def refuse(*arguments: Any, **keywords: Any) -> None:
        raise ProgramError(f"{name} is not emulated")

    return refuse


class Functions(SocketFunctions):
    """Every public method is a function of the language, with the names of its parameters."""

    # settings

    def set_tcp(self, pose: Any, tcp_name: Any = "") -> None:
        self._arm.set_tcp(vector(pose, "pose"))

    def set_payload(self, m: Any, CoG: Any = None) -> None:
        self._arm.set_payload(number(m, "m"), None if CoG is None else vector(CoG, "CoG", 3))

    def set_target_payload(self, m: Any, cog: Any, inertia: Any = None, transition_time: Any = 0.0) -> None:
        self._arm.set_payload(number(m, "m"), vector(cog, "cog", 3))
        self._arm.payload_inertia = np.zeros(6) if inertia is None else vector(inertia, "inertia")

    def zero_ftsensor(self) -> None:
        self._arm.zero_ft_sensor()

    def end_freedrive_mode(self) -> None:
        """Done: no arm is in freedrive mode here. UR's tests end what was never begun."""

    def rtde_set_watchdog(self, variable_name: Any, min_frequency: Any, action: Any = "pause") -> None:
        name, wanted = str(variable_name), str(action).lower()
        if name not in self._program.inputs.values:
            raise ProgramError(f"rtde_set_watchdog: {name!r} is not an input variable")
        if wanted not in WATCHDOG_ACTIONS:
            raise ProgramError(f"rtde_set_watchdog: action {action!r}: must be {', '.join(WATCHDOG_ACTIONS)}")
        self._program.watch(name, positive(min_frequency, "min_frequency"), wanted)

    # questions

    def get_actual_joint_positions(self) -> list[float]:
        return _list(self._arm.world.q)

    def get_actual_joint_speeds(self) -> list[float]:
        return _list(self._arm.world.qd)

    def get_joint_positions(self) -> list[float]:
        """Not in the manual; UR's driver says: the target without what force mode adds to it."""
        return self.get_target_joint_positions()

    def get_target_joint_positions(self) -> list[float]:
        return _list(self._arm.q_set)

    def get_target_joint_speeds(self) -> list[float]:
        return _list(self._arm.target_speed)

    def get_actual_tcp_pose(self) -> Pose:
        return Pose(_list(self._arm.actual.tcp_pose()))

    def get_target_tcp_pose(self) -> Pose:
        return Pose(_list(self._arm.commanded.tcp_pose()))

    def get_actual_tcp_speed(self) -> list[float]:
        return _list(self._arm.actual.tcp_speed(self._arm.world.qd))

    def get_tcp_force(self) -> list[float]:
        return _list(self._arm.tcp_force)

    def get_tcp_offset(self) -> Pose:
        return Pose(_list(self._arm.actual.tcp))

    def get_target_payload(self) -> float:
        return float(self._arm.payload)

    def is_steady(self) -> bool:
        return self._arm.standing

    def get_forward_kin(self, q: Any = None, tcp: Any = None) -> Pose:
        angles = self._arm.world.q if q is None else vector(q, "q")
        return Pose(_list(self._arm.actual.tcp_pose_at(angles, None if tcp is None else vector(tcp, "tcp"))))

    def get_inverse_kin(self, x: Any, qnear: Any = None) -> list[float]:
        self._run.turns += INVERSE_TURNS
        near = self._arm.q_set if qnear is None else vector(qnear, "qnear")
        return _list(joints_for(self._arm, vector(x, "x"), near))

    # registers, inputs and outputs

    def read_input_integer_register(self, address: Any) -> int:
        return self._program.inputs.integer(integer(address, "address", REGISTERS))

    def read_input_float_register(self, address: Any) -> float:
        return self._program.inputs.doubles(integer(address, "address", REGISTERS), 1)[0]

    def read_input_boolean_register(self, address: Any) -> bool:
        return self._program.inputs.boolean(integer(address, "address", BOOLEANS))

    def write_output_integer_register(self, address: Any, value: Any) -> None:
        self._program.outputs.integers[integer(address, "address", REGISTERS)] = integer(value, "value")

    def write_output_float_register(self, address: Any, value: Any) -> None:
        self._program.outputs.doubles[integer(address, "address", REGISTERS)] = number(value, "value")

    def write_output_boolean_register(self, address: Any, value: Any) -> None:
        self._program.outputs.booleans[integer(address, "address", BOOLEANS)] = boolean(value, "value")

    def set_standard_digital_out(self, n: Any, b: Any) -> None:
        self._set_output(STANDARD, n, b)

    def set_configurable_digital_out(self, n: Any, b: Any) -> None:
        self._set_output(CONFIGURABLE, n, b)

    def set_tool_digital_out(self, n: Any, b: Any) -> None:
        self._set_output(TOOL, n, b)

    def set_digital_out(self, n: Any, b: Any) -> None:
        self._set_output(range(18), n, b)

    def _set_output(self, wires: range, n: Any, b: Any) -> None:
        bit, io = wires[integer(n, "n", len(wires))], self._program.io
        io.digital_outputs = io.digital_outputs & ~(1 << bit) | boolean(b, "b") << bit

    def set_tool_voltage(self, voltage: Any) -> None:
        if number(voltage, "voltage") not in (0, 12, 24):
            raise ProgramError(f"voltage = {shown(voltage)} V: must be 0, 12 or 24 V")
        self._program.io.tool_voltage = int(voltage)

    def get_standard_digital_in(self, n: Any) -> bool:
        return self._input(STANDARD, n)

    def get_configurable_digital_in(self, n: Any) -> bool:
        return self._input(CONFIGURABLE, n)

    def get_tool_digital_in(self, n: Any) -> bool:
        return self._input(TOOL, n)

    def get_digital_in(self, n: Any) -> bool:
        return self._input(range(18), n)

    def _input(self, wires: range, n: Any) -> bool:
        return bool(self._program.io.digital_inputs >> wires[integer(n, "n", len(wires))] & 1)

    def get_standard_digital_out(self, n: Any) -> bool:
        return bool(self._program.io.digital_outputs >> STANDARD[integer(n, "n", 8)] & 1)

    # values

    def textmsg(self, s1: Any, s2: Any = "") -> None:
        self._program.tell("textmsg", shown(s1) + shown(s2))

    def popup(
        self, s: Any, title: Any = "Popup", warning: Any = False, error: Any = False, blocking: Any = False
    ) -> None:
        if boolean(blocking, "blocking"):
            raise ProgramError("popup: blocking=True is not emulated, nobody would answer")
        self._program.tell("popup", f"{shown(title)}: {shown(s)}")

    def pose_trans(self, p_from: Any, p_from_to: Any) -> Pose:
        return Pose(_list(transformed(vector(p_from, "p_from"), vector(p_from_to, "p_from_to"))))

    def pose_inv(self, p_from: Any) -> Pose:
        a = vector(p_from, "p_from")
        return Pose(_list(np.concatenate([-matrix_of(a[3:]).T @ a[:3], -a[3:]])))

    def norm(self, a: Any) -> float:
        return math.dist(vector(a, "a", None), [0.0] * len(a)) if isinstance(a, list) else abs(number(a, "a"))

    def length(self, v: Any) -> int:
        if not isinstance(v, list | str):
            raise ProgramError(f"type error: {shown(v)} has no length")
        return len(v)

    def get_list_length(self, v: Any) -> int:
        if not isinstance(v, list):
            raise ProgramError(f"type error: {shown(v)} is not a list")
        return len(v)

    def pow(self, base: Any, exponent: Any) -> float:
        return math.pow(number(base, "base"), number(exponent, "exponent"))

    def atan2(self, x: Any, y: Any) -> float:
        return math.atan2(number(x, "x"), number(y, "y"))

    def to_str(self, val: Any) -> str:
        return shown(val)

    def str_cat(self, op1: Any, op2: Any) -> str:
        return concatenated(shown(op1), shown(op2))


def _list(values: Array) -> list[float]:
    return [float(value) for value in values]
