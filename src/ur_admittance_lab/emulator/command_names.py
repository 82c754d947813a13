"""The commands of the control program by their numbers: questions and settings here, motion in ``motion_commands``.

A command that is not emulated ends the program with a runtime error: success always means done. UR's force mode and
freedrive are not published in detail, so an imitation would prove nothing about the robot.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ur_admittance_lab.emulator import motion_commands as motion
from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import joints_for
from ur_admittance_lab.emulator.rtde_control import Commands, RtdeControl
from ur_admittance_lab.emulator.safety import StopKind
from ur_admittance_lab.emulator.ur_frames import transformed

SLOWEST_WATCHDOG_HZ = 0.1


def step_time(p: RtdeControl) -> None:
    p.outputs.doubles[p.offset] = p.period


def flange_pose(p: RtdeControl) -> None:
    p.write_doubles(p.arm.actual.flange_pose())


def zero_ft_sensor(p: RtdeControl) -> None:
    p.arm.zero_ft_sensor()


def set_payload(p: RtdeControl) -> None:
    mass, *cog = p.doubles(0, 4)
    p.arm.set_payload(mass, cog if any(cog) else None)


def set_target_payload(p: RtdeControl) -> None:
    numbers = p.doubles(0, 10)
    p.arm.set_payload(numbers[0], numbers[1:4])
    p.arm.payload_inertia = np.array(numbers[4:])


def set_tcp(p: RtdeControl) -> None:
    p.arm.set_tcp(p.vector(0))


def get_tcp(p: RtdeControl) -> None:
    p.write_doubles(p.arm.actual.tcp)


def set_watchdog(p: RtdeControl) -> None:
    p.watch(max(p.double(0), SLOWEST_WATCHDOG_HZ))


def trigger_protective_stop(p: RtdeControl) -> None:
    p.safety.trip(StopKind.PROTECTIVE, "asked for by the program")


def inverse_kinematics(p: RtdeControl) -> None:
    """The angles for a pose, near the arm or near those that are given."""
    near = p.vector(6) if p.integer(0) == 30 else p.arm.q_set
    p.write_doubles(joints_for(p.arm, p.vector(0), near))


def has_inverse(p: RtdeControl) -> None:
    near = p.vector(6) if p.integer(0) == 61 else p.arm.q_set
    p.write_integer(1, int(p.arm.commanded.reach(p.vector(0), near) is not None))


def forward_kinematics(p: RtdeControl) -> None:
    """Of the arm as it stands, or for given angles and TCP."""
    k = p.arm.actual
    p.write_doubles(k.tcp_pose() if p.integer(0) == 43 else k.tcp_pose_at(p.vector(0), p.vector(6)))


def within_limits(p: RtdeControl) -> None:
    q: np.ndarray | None = p.vector(0)
    if p.integer(0) == 36:
        q = p.arm.commanded.reach(p.vector(0), p.arm.q_set)
    model = p.arm.model
    inside = q is not None and bool(np.all((q >= model.lower) & (q <= model.upper)))
    p.write_integer(1, int(inside))


def pose_trans(p: RtdeControl) -> None:
    p.write_doubles(transformed(p.vector(0), p.vector(6)))


def is_steady(p: RtdeControl) -> None:
    p.write_integer(1, int(p.arm.standing))


def refused(p: RtdeControl) -> None:
    number = p.integer(0)
    raise ProgramError(f"{NOT_EMULATED.get(number, f'command {number}')} is not emulated")


NOT_EMULATED = {  # by the names of URScript
    6: "force_mode",
    7: "end_force_mode",
    12: "servoc",
    18: "teach_mode",
    19: "end_teach_mode",
    20: "force_mode_set_damping",
    21: "force_mode_set_gain_scaling",
    25: "tool_contact",
    27: "get_actual_joint_positions_history",
    28: "get_target_waypoint",
    38: "get_joint_torques",
    41: "jog",
    42: "jog",
    45: "a path of several moves",
    51: "moving until contact",
    52: "freedrive_mode",
    53: "end_freedrive_mode",
    54: "get_freedrive_status",
    55: "external force and torque",
    56: "ft_rtde_input_enable",
    57: "ft_rtde_input_enable",
    59: "set_gravity",
    62: "contact detection",
    63: "contact detection",
    64: "contact detection",
    66: "direct_torque",
    67: "get_mass_matrix",
    68: "get_coriolis_and_centrifugal_torques",
    69: "get_target_joint_accelerations",
    70: "get_jacobian",
    71: "get_jacobian_time_derivative",
}

REAL_TIME = {
    9: motion.speed_j,
    10: motion.speed_l,
    11: motion.servo_j,
    24: motion.servo_l,
    26: step_time,
    58: flange_pose,
    **dict.fromkeys((6, 25, 27, 38, 66, 67, 68, 69, 70, 71), refused),
}

BLOCKING: dict[int, Callable[[RtdeControl], Iterator[None] | None]] = {
    **dict.fromkeys((1, 2, 3, 4), motion.move),
    8: zero_ft_sensor,
    **dict.fromkeys((15, 16), motion.speed_stop),
    17: set_payload,
    29: set_tcp,
    **dict.fromkeys((30, 46), inverse_kinematics),
    31: trigger_protective_stop,
    **dict.fromkeys((33, 34), motion.stop_move),
    35: set_watchdog,
    **dict.fromkeys((36, 37), within_limits),
    39: pose_trans,
    40: get_tcp,
    **dict.fromkeys((43, 44), forward_kinematics),
    47: is_steady,
    **dict.fromkeys((60, 61), has_inverse),
    65: set_target_payload,
}

COMMANDS = Commands(REAL_TIME, BLOCKING, refused)
