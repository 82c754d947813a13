"""The commands of the control program by their numbers: questions and settings here, motion in ``motion_commands``.

Commands that no client here really needs are accepted and logged.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from ur_admittance.emulator import motion_commands as motion
from ur_admittance.model.frames import rotation_from_vector, rotation_vector

if TYPE_CHECKING:
    from ur_admittance.emulator.program import Program

RealTime = Callable[["Program"], None]
Blocking = Callable[["Program"], Iterator[None] | None]

SLOWEST_WATCHDOG_HZ = 0.1


# -- questions that are answered at once ----------------------------------------------------------------------------


def step_time(p: "Program") -> None:
    p.outputs.doubles[p.offset] = p.period


def joint_history(p: "Program") -> None:
    p.write_doubles(p.arm.world.q)


def joint_torques(p: "Program") -> None:
    p.write_doubles(p.arm.world.mj_data.qfrc_applied)


def flange_pose(p: "Program") -> None:
    p.write_doubles(p.arm.actual.flange_pose())


def no_contact(p: "Program") -> None:
    p.write_integer(1, 0)


def mass_matrix(p: "Program") -> None:
    mj, data = p.arm.world.mj_model, p.arm.world.mj_data
    matrix, column = np.zeros((6, 6)), np.zeros(6)
    for j in range(6):
        mujoco.mj_mulM(mj, data, column, np.eye(6)[j])
        matrix[:, j] = column
    _write_matrix(p, matrix)


def jacobian(p: "Program") -> None:
    J = p.arm.actual.tcp_jacobian()
    J[[0, 1, 3, 4]] *= -1.0  # UR base axes
    _write_matrix(p, J)


def _write_matrix(p: "Program", matrix: np.ndarray) -> None:
    numbers = matrix.T.reshape(-1).tolist()  # column by column
    p.outputs.doubles[0:24], p.outputs.doubles[36:48] = numbers[:24], numbers[24:]


def target_acceleration(p: "Program") -> None:
    p.write_doubles(p.arm.qdd_set)


def ignored_each_cycle(p: "Program") -> None:
    p.log("command", f"command {p.integer(0)} is accepted but not emulated")


# -- settings and questions -----------------------------------------------------------------------------------------


def zero_ft_sensor(p: "Program") -> None:
    p.arm.zero_ft_sensor()


def set_payload(p: "Program") -> None:
    mass, *cog = p.doubles(0, 4)
    p.arm.set_payload(mass, cog if any(cog) else None)


def set_target_payload(p: "Program") -> None:
    numbers = p.doubles(0, 10)
    p.arm.set_payload(numbers[0], numbers[1:4])
    p.arm.payload_inertia = np.array(numbers[4:])


def set_gravity(p: "Program") -> None:
    # set_gravity takes the reaction (a robot standing on a table: 0 0 9.82) in UR base axes
    x, y, z = p.doubles(0, 3)
    p.arm.gravity = np.array([x, y, -z])


def set_tcp(p: "Program") -> None:
    p.arm.set_tcp(p.vector(0))


def get_tcp(p: "Program") -> None:
    p.write_doubles(p.arm.actual.tcp)


def set_watchdog(p: "Program") -> None:
    p.watchdog.limit = 1.0 / max(p.double(0), SLOWEST_WATCHDOG_HZ)
    p.kick()


def trigger_protective_stop(p: "Program") -> None:
    from ur_admittance.emulator.safety import StopKind

    p.safety.trip(StopKind.PROTECTIVE, "asked for by the program")


def target_waypoint(p: "Program") -> None:
    p.write_doubles(p.arm.commanded.tcp_pose())


def inverse_kinematics(p: "Program") -> None:
    near = p.vector(6) if p.integer(0) in (30, 61) else p.arm.q_set
    q = p.arm.commanded.inverse(p.vector(0), near)
    p.write_integer(1, int(q is not None))
    if q is not None:
        p.write_doubles(q)


def forward_kinematics(p: "Program") -> None:
    k = p.arm.actual
    if p.integer(0) == 43:
        p.write_doubles(k.tcp_pose())
        return
    tcp, offset = k.tcp.copy(), p.vector(6)
    k.set_tcp(offset)
    k.update(p.vector(0))
    p.write_doubles(k.tcp_pose())
    k.set_tcp(tcp)
    k.update(p.arm.world.q)


def within_limits(p: "Program") -> None:
    q: np.ndarray | None = p.vector(0)
    if p.integer(0) == 36:
        q = p.arm.commanded.inverse(p.vector(0), p.arm.q_set)
    model = p.arm.model
    inside = q is not None and bool(np.all((q >= model.lower) & (q <= model.upper)))
    p.write_integer(1, int(inside))


def pose_trans(p: "Program") -> None:
    a, b = p.vector(0), p.vector(6)
    R_a, R_b = rotation_from_vector(a[3:]), rotation_from_vector(b[3:])
    p.write_doubles(np.concatenate([a[:3] + R_a @ b[:3], rotation_vector(R_a @ R_b)]))


def is_steady(p: "Program") -> None:
    p.write_integer(1, int(p.arm.standing))


def ignored(p: "Program") -> None:
    p.write_integer(1, 0)
    p.log("command", f"command {p.integer(0)} is accepted but not emulated")


REAL_TIME: dict[int, RealTime] = {
    6: ignored_each_cycle,  # forceMode
    9: motion.speed_j,
    10: motion.speed_l,
    11: motion.servo_j,
    24: motion.servo_l,
    25: no_contact,
    26: step_time,
    27: joint_history,
    38: joint_torques,
    58: flange_pose,
    66: ignored_each_cycle,  # directTorque
    67: mass_matrix,
    68: ignored_each_cycle,  # Coriolis torques
    69: target_acceleration,
    70: jacobian,
    71: ignored_each_cycle,  # time derivative of the Jacobian
}

BLOCKING: dict[int, Blocking] = {
    **dict.fromkeys((1, 2, 3, 4), motion.move),
    8: zero_ft_sensor,
    **dict.fromkeys((15, 16), motion.speed_stop),
    17: set_payload,
    28: target_waypoint,
    29: set_tcp,
    **dict.fromkeys((30, 46, 60, 61), inverse_kinematics),
    31: trigger_protective_stop,
    **dict.fromkeys((33, 34), motion.stop_move),
    35: set_watchdog,
    **dict.fromkeys((36, 37), within_limits),
    39: pose_trans,
    40: get_tcp,
    41: motion.jog_start,
    42: motion.jog_stop,
    **dict.fromkeys((43, 44), forward_kinematics),
    45: motion.move_path,
    47: is_steady,
    51: motion.move_until_contact,
    59: set_gravity,
    65: set_target_payload,
    # force mode and its settings, teach and freedrive mode, external sensor, contact detection
    **dict.fromkeys((7, 12, 18, 19, 20, 21, 52, 53, 54, 55, 56, 57, 62, 63, 64), ignored),
}
