"""What is remembered of the simulated arm, and where MuJoCo keeps what it computes."""

import numpy as np

F = np.float64
I = np.int64  # noqa: E741

PLANT = np.dtype(
    [
        ("steps", I),  # physics steps since the reset
        # servo
        ("kp", F, 6),  # [Nm/rad]
        ("kd", F, 6),  # [Nms/rad]
        ("effort", F, 6),  # [Nm]
        ("lag", F),  # [rad/s], inf: none
        ("command_delay", I),  # [steps]
        ("setpoint", F, 6),  # end of the last straight line [rad]
        ("delayed", F, 6),  # the command that comes out of the delay [rad]
        ("y", F, 6),  # after the lag [rad]
        ("yd", F, 6),  # [rad/s]
        ("torque", F, 6),  # [Nm]
        ("payload_excess", F, 3),  # weight that the arm wrongly compensates, base axes [N]
        # the tool
        ("vibration", F, 3),  # amplitude of the force with which it shakes itself, tool axes [N]
        ("vibration_hz", F),
        ("shake", F, 3),  # that force in this step, base axes [N]
        # the hand
        ("grip", F, 3),  # where the hand holds, in tool axes, from the tool's origin [m]
        ("hand", I),  # what it does: robots/simulated/kernels/holding.py
        ("p_grab", F, 3),  # where it took hold, base axes [m]
        ("R_grab", F, (3, 3)),
        ("hand_displacement", F, 6),  # how far it has led the tool since then [m, rad]
        ("hand_stiffness", F, 2),  # [N/m, Nm/rad]
        ("hand_damping", F, 2),  # [Ns/m, Nms/rad]
        ("hand_mass", F),  # of the hand's own body, 0: none [kg]
        ("p_hand", F, 3),  # where that body is, base axes [m]
        ("v_hand", F, 3),  # [m/s]
        ("hand_from", F, 3),  # hand position at the start and the end of the period [m]
        ("hand_to", F, 3),
        ("hand_velocity", F, 6),  # [m/s, rad/s]
        ("R_base_hand", F, (3, 3)),  # how the hand wants the tool turned
        ("push_from", F, 6),  # wrench about the grip, base axes, at the start and the end of the period
        ("push_to", F, 6),
        ("hand_wrench", F, 6),  # about the grip, base axes, mean over the period [N, Nm]
        ("hand_work", F),  # [J]
        # truth, mean over the period, about the TCP, base axes
        ("external", F, 6),  # hand and contacts
        ("contact", F, 6),  # contacts only
        # sensor
        ("sensor_delay", I),  # [steps]
        ("sign", F),
        ("bias", F, 6),
        ("drift", F, 6),  # where the random walk is [N, Nm]
        ("drift_rate", F, 6),  # [N/sqrt(s)]
        ("noise", F, 6),
        ("resolution", F, 6),
        ("clean", F, 6),  # before bias, drift, noise and resolution
        ("wrench", F, 6),  # the reading
        ("recent", F, 6),  # its mean over about the last 0.1 s, for zeroing
    ],
    align=True,
)

# Addresses in MuJoCo's memory, as whole numbers; how long a period is.
ENGINE = np.dtype(
    [
        ("model", I),
        ("data", I),
        ("mj_step1", I),  # its functions
        ("mj_step2", I),
        ("mj_kinematics", I),
        ("count", I),  # physics steps of a period
        ("h", F),  # length of one [s]
        ("commands", I),  # (command_slots, 6): the last ones, for the delay [rad]
        ("command_slots", I),
        ("readings", I),  # (reading_slots, 6) [N, Nm]
        ("reading_slots", I),
        # of the joints
        ("q", I),
        ("qd", I),
        ("applied_torque", I),
        ("bias_torque", I),  # gravity and Coriolis
        ("axes", I),  # (6, 3)
        ("anchors", I),  # (6, 3)
        # of the tool
        ("p_tool", I),
        ("R_tool", I),
        ("p_com", I),
        ("p_tcp", I),
        ("velocity", I),  # spatial vectors, angular first, about `origin` (the arm's centre of mass), base axes
        ("origin", I),
        ("applied", I),
        ("external", I),
        ("sensed", I),
    ],
    align=True,
)
