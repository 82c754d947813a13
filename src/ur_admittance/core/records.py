"""The four records of a tick, and the codes of the controller.

    tick(params, state, sample, command)

PARAMS   what the user chose, as numbers ready to compute with, in SI units
SAMPLE   what came in this cycle: measurements, references, requests
STATE    what is remembered from one tick to the next
COMMAND  what goes out, with the status and everything a plot needs

Each is a NumPy structured dtype: a C struct that Numba reads as ``p.mass[i]``, that is copied with one
assignment into a log or a shared-memory ring, and that a replay compares bit for bit.
Six-vectors are linear first. ``*_base`` means axes of the base frame, ``*_control`` axes of the control frame.
"""

from enum import IntEnum, IntFlag

import numpy as np

from ur_admittance.core.contact.contact_record import CONTACT
from ur_admittance.core.known_record import KNOWN
from ur_admittance.core.law.led_record import LED
from ur_admittance.core.law.wells_record import WELLS
from ur_admittance.core.limits.shapes_record import SHAPES
from ur_admittance.core.motion.drive_record import DRIVE, SENT
from ur_admittance.core.motion.response_record import RESPONSE
from ur_admittance.core.wrench.fusion_record import FUSION, SECOND
from ur_admittance.core.wrench.vibration_record import VIBRATION
from ur_admittance.library import PLAIN

F = np.float64
I = np.int64  # noqa: E741  (one letter per column keeps the tables readable)

TRAIL = 32  # places on the way back that are remembered
REGIONS = 3  # boxes of the workspace with their own damping and speed
DIGITAL_INPUTS = 18  # of a UR: 8 standard, 8 configurable, 2 of the tool
STANDSTILL = 1e-9  # [rad/s] commanded joints that are slower have stopped
AT_REST = 0.01  # [rad/s] measured joints that are slower stand still: above the noise of encoders
STOPPED = 1e-3  # [rad/s] measured joints that are slower have come to their stop


class Mode(IntEnum):
    """Where the controller is in its life cycle. Only ACTIVE yields to forces; every other mode holds or slows down."""

    INACTIVE = 0  # holds the last command
    ACTIVE = 1
    STOPPING = 2  # slows down inside the limits, then INACTIVE
    FAULT = 3  # slows down inside the limits, then holds until an explicit reset


class Request(IntFlag):
    """What the program around the tick may ask for in a sample."""

    NONE = 0
    ACTIVATE = 1
    DEACTIVATE = 2
    RESET_FAULT = 4  # FAULT -> INACTIVE, accepted only at standstill with healthy inputs
    LATCH_REFERENCE = 8  # reference := measured pose
    START_AT_ARM = 16  # with ACTIVATE: command := measured angles, for an arm that others may have moved
    RETREAT = 32  # in a fault, for as long as it is set: back along the way the arm came, until the force is small
    ACCEPT_LOAD = 64  # with ACTIVATE: somebody knows the force at rest; the arm yields to it
    RAMP_LOAD = 128  # with ACTIVATE: what presses is felt slowly, as after a fault
    FORGET_REST = 256  # nobody watched the arm: what was read at rest does not count


class Status(IntEnum):
    """Why the controller is in its mode. The sentences are in core/faults.py."""

    OK = 0
    BAD_PERIOD = 1
    NOT_FINITE = 2
    STALE_JOINTS = 3
    STALE_WRENCH = 4
    OVER_FORCE = 5
    OVER_TORQUE = 6
    POSITION_ERROR = 7
    ORIENTATION_ERROR = 8
    IK_FAILED = 9
    BAD_PARAMS = 10
    LOOP_OVERRUN = 11
    PROTECTIVE_STOP = 12
    EMERGENCY_STOP = 13
    SAFEGUARD_STOP = 14
    CONNECTION_LOST = 15
    INTERNAL_ERROR = 16
    COMMAND_REJECTED = 17
    NOT_FOLLOWING = 18
    STILL_MOVING = 19  # never the reason of a fault: what keeps it from its reset
    RETREATING = 20
    RETREATED = 21
    RETREAT_BLOCKED = 22
    RETREAT_ENDED = 23
    COLLISION = 24
    RETREAT_CLOSED = 25
    SENSORS_DISAGREE = 26
    UNEXPLAINED_FORCE = 27  # at rest: keeps the arm inactive
    UNEXPLAINED_TORQUE = 28
    STEADY_FORCE = 29  # followed for longer than any hand is that steady
    NOT_ENABLED = 30  # while ACTIVE, and no fault: the arm is held until somebody presses: enabling.py
    ENABLE_SILENT = 31  # the same: the enabling signal was not renewed in time


class Limit(IntFlag):
    """Which limits shaped the motion of this tick."""

    NONE = 0
    LINEAR_ACCELERATION = 1
    ANGULAR_ACCELERATION = 2
    WORKSPACE = 4
    LINEAR_VELOCITY = 8
    ANGULAR_VELOCITY = 16
    SINGULARITY = 32
    JOINT_VELOCITY = 64
    JOINT_ACCELERATION = 128
    JOINT_POSITION = 256
    COLLISION = 512


class Frame(IntEnum):
    """Axes in which mass, damping, stiffness and deadband act."""

    BASE = 0
    TCP = 1  # those of the reference pose, never of the measured pose
    TASK = 2  # fixed axes given by R_base_task
    NORMAL = 3  # those of R_base_task, tilted so that z is the estimated normal of the surface that is touched


class Enable(IntEnum):
    """Whether an active arm moves only while an enabling signal is held."""

    NONE = 0
    REQUIRED = 1
    REAL_ARMS = 2  # required, unless the arm says that it is simulated


class Integrator(IntEnum):
    EXACT = 0
    RK4 = 1
    SEMI_IMPLICIT_EULER = 2


PARAMS = np.dtype(
    [
        ("revision", I),  # changes whenever anything below does: starts the ramps
        # the arm: T_base_tcp = X[0] Rz(q0) X[1] Rz(q1) ... X[5] Rz(q5) X[6]
        ("chain_rotation", F, (7, 3, 3)),
        ("chain_position", F, (7, 3)),  # [m]
        ("joint_lower", F, 6),  # [rad]
        ("joint_upper", F, 6),  # [rad]
        ("joint_velocity", F, 6),  # [rad/s]
        ("arm_velocity", F, 6),  # of the model: no joint speed beyond it is ever sent [rad/s]
        ("joint_acceleration", F, 6),  # [rad/s2]
        ("elbow_margin", F),  # the elbow of a UR stays bent by this much, 0: other arms [rad]
        # 1 wrench conditioning
        ("R_tcp_sensor", F, (3, 3)),  # mounting, from calibration
        ("p_tcp_sensor", F, 3),  # sensor origin seen from the TCP, TCP axes [m]
        ("sensor_sign", F),  # -1: the sensor reports the reaction force
        ("sensor_bias", F, 6),  # after the sign, sensor axes [N, Nm]
        ("tool_weight_base", F, 3),  # weight of everything beyond the sensor, base axes [N]
        ("tool_com", F, 3),  # its centre of mass, sensor frame [m]
        ("tool_inertia_mass", F),  # mass whose inertia force is removed too [kg], 0: off
        ("second", SECOND),  # another force sensor: wrench/fusion_record.py
        ("filter_cutoff_hz", F),
        ("vibration_hz", F),  # of the tool, as it appears at the rate of the loop; 0: none is known
        ("find_vibration", F),  # 0 or 1
        ("deadband_force", F),  # norm [N]
        ("deadband_torque", F),  # norm [Nm]
        ("deadband_axis", F, 6),  # [N, Nm]
        # 2 the law
        ("control_frame", I),
        ("R_base_task", F, (3, 3)),
        ("integrator", I),
        ("mass", F, 6),  # [kg, kg m2]
        ("damping", F, 6),  # [Ns/m, Nms/rad]
        ("stiffness", F, 6),  # [N/m, Nm/rad]
        ("enabled", F, 6),  # 0 or 1
        ("force_axes", F, 6),  # 1: axis under force control (no deadband, but a velocity bias)
        ("desired_wrench", F, 6),  # on the tool, control axes [N, Nm]
        ("desired_wrench_rate", F, 2),  # slew limit [N/s, Nm/s]
        ("bias_time", F),  # time constant of the velocity bias of force axes [s], 0: off
        ("bias_limit", F, 2),  # largest velocity bias [m/s, rad/s]
        # contact
        ("response_time", F),  # from a command to the arm's motion [s], 0: unknown
        ("sensor_delay", F),  # from a force to its reading without the tool's vibration [s]
        ("loop_delay", F),  # sensor + filter + one tick + response [s]: what damping in contact has to make up for
        ("stabilizer", F),  # 0 or 1
        ("contact_ratio", F),  # (T + M/D) K/D: the aim of the damping in contact
        ("max_contact_damping", F, 2),  # [Ns/m, Nms/rad]
        ("contact_threshold", F, 2),  # [N, Nm]
        ("approach_speed", F, 2),  # of force axes relative to their bias [m/s, rad/s]
        ("contact_friction", F),  # friction cone of a pressed contact, in which no free axis moves
        ("normal_time", F),  # smoothing of the surface normal [s]
        # variable admittance
        ("travel_damping", F),  # fraction of the damping that remains at travel speed, 1: constant
        ("travel_speed", F),  # [m/s]
        ("region_min", F, (REGIONS, 3)),  # [m]
        ("region_max", F, (REGIONS, 3)),
        ("region_margin", F, REGIONS),  # width of the transition [m]
        ("region_damping", F, REGIONS),  # factor inside
        ("region_speed", F, REGIONS),  # factor on the linear speed limit inside
        ("wells", WELLS),  # notches and a soft box: law/wells_record.py
        ("engagement_time", F),  # ramp of stiffness, mass, damping [s]
        ("drift_reset_threshold", F),  # [m/s, rad/s]
        # 3 command twist and limits
        ("tracking_gain", F, 6),  # Kp [1/s], base axes
        ("keep_line", F),  # 1: the reference stops in front of singular poses, 0: it is bent there
        ("max_velocity", F, 2),  # linear [m/s], angular [rad/s]
        ("max_acceleration", F, 2),  # linear [m/s2], angular [rad/s2]
        ("workspace_min", F, 3),  # [m], -inf: no wall
        ("workspace_max", F, 3),
        ("shapes", SHAPES),  # of the arm and of what it must not hit: shapes_record.py
        # 0 checks
        ("max_force", F),  # [N]
        ("max_torque", F),  # [Nm]
        ("max_position_error", F),  # [m]
        ("max_orientation_error", F),  # [rad]
        ("max_following_error", F),  # of a joint [rad]
        ("following_time", F),  # of motion by which the arm may be late [s]
        ("joint_state_timeout", F),  # [s]
        ("wrench_timeout", F),  # [s]
        ("steady_force_time", F),  # for which a hand is never as steady as a sensor [s]: control/zeroing.py
        ("period", F),  # that the times above were made for, between two ticks [s]
        # hold-to-run: enabling.py
        ("enable_needed", I),  # Enable
        ("enable_input", I),  # digital input of the robot that enables, -1: a program's signal does
        ("enable_timeout", F),  # after which an older signal counts as released [s]
    ],
    align=True,
)

SAMPLE = np.dtype(
    [
        ("stamp_ns", I),
        ("dt", F),  # time since the last tick [s]; less than real time where a speed slider stretches it
        ("q", F, 6),  # measured [rad]
        ("qd", F, 6),  # measured [rad/s]
        ("wrench", F, 6),  # raw, sensor frame [N, Nm]
        ("second_wrench", F, 6),  # raw, of the second force sensor, its own frame [N, Nm]
        ("joint_age", F),  # [s]
        ("wrench_age", F),  # [s]
        ("second_age", F),  # [s]
        ("second_read", I),  # 1: this robot reads a second force sensor
        ("request", I),  # Request flags
        ("speed_driven", I),  # 1: the robot is sent joint speeds and adds them up itself
        ("shaped", I),  # 1: stages behind the law shape the command; then it is made fit to be sent (motion/sending.py)
        ("drive", DRIVE),  # what this robot does with commands: motion/drive_record.py
        ("external_status", I),  # a Status found outside the tick (robot stop, overrun, ...), 0: none
        ("reference_twist", F, 6),  # of the reference pose, base axes [m/s, rad/s]
        ("twist_id", I),  # a new number: it was renewed, and ends after the time below; 0: it does not end by itself
        ("twist_valid_for", F),  # [s]
        ("reference_wrench", F, 6),  # added to params.desired_wrench [N, Nm]
        ("wrench_id", I),  # as twist_id
        ("wrench_valid_for", F),  # [s]
        ("target_id", I),  # a new number sends the reference to the target pose, 0: none
        ("target_position", F, 3),  # [m]
        ("target_rotation", F, (3, 3)),  # R_base_tcp
        # hold-to-run: enabling.py
        ("simulated", I),  # 1: nothing real moves
        ("digital_in", I),  # inputs of the robot, bit by bit: 8 standard, 8 configurable, 2 of the tool
        ("digital_age", F),  # [s]
        ("enable", I),  # 1: a program says that the enabling signal is held
        ("enable_id", I),  # a new number: it has just said so, 0: never
    ],
    align=True,
)

STATE = np.dtype(
    [
        ("mode", I),  # Mode
        ("status", I),  # Status
        ("evidence", F, 5),  # the value that was out of bounds, the bound; of a hit: contact/stabilise.py
        ("ticks", I),  # since the record was made
        ("stamp_ns", I),  # of the last sample
        ("has_command", I),  # 0 until the first valid tick has latched q_command
        ("target_id", I),  # the last one seen in a sample
        ("target_active", I),  # 1: the reference is on its way to the target pose
        ("revision", I),  # of the parameters the ramps lead to
        ("filter_ready", I),  # 0: the next wrench starts the filter
        ("was_lost", I),  # 1: the last sample could not be used, 2: nor did the robot take commands
        ("recovered", I),  # 1: a fault was reset, and the load of then has not been let in since
        ("rest_revision", I),  # of the parameters with which the tool was read at rest
        ("rest_doubt", I),  # Status of what the tool reads at rest, OK: nothing that would move the arm: rest.py
        ("retreating", I),  # 1: on the way back
        ("retreat_asked", I),  # 1: by the last sample
        ("trail_count", I),  # places in use
        ("trail_newest", I),  # index of the last one
        ("trail", F, (TRAIL, 6)),  # the way the command came [rad]
        ("sent", SENT),  # the last command that was sent: motion/drive_record.py
        ("held", I),  # 1: active, but held until the enabling signal comes: enabling.py
        ("enable_id", I),  # the last one seen in a sample
        ("enable_age", F),  # of a program's enabling signal [s]
        ("reading", F, 6),  # of this cycle: of the force sensor, or of both; raw, frame of the first [N, Nm]
        ("reading_age", F),  # [s]
        ("fusion", FUSION),  # of two force sensors: wrench/fusion_record.py
        ("led", LED),  # the references in force: law/led_record.py
        # From here on all are floats, those of CONTACT too: checked and cleared as one block.
        ("q_command", F, 6),  # [rad]
        ("qd_command", F, 6),  # [rad/s]
        ("twist", F, 6),  # commanded TCP twist, base axes [m/s, rad/s]
        ("period", F),  # the last good one [s]
        ("last_acceleration", F, 8),  # limits of joints and tool when parameters could last be trusted
        ("recent_speed", F, 6),  # of the commanded joints [rad/s]
        ("unexplained", F, 6),  # lead of the command over the arm beyond what speed explains [rad]
        ("waiting_time", F),  # of a command that waits for the arm [s]
        ("response", RESPONSE),  # how late the arm answers: motion/response_record.py
        ("load", F),  # of a retreat: share of the largest force or torque, smoothed
        ("lowest_load", F),  # since the retreat began
        # law: commanded pose = reference (+) offset, all in base axes
        ("p_ref", F, 3),  # [m]
        ("R_ref", F, (3, 3)),  # R_base_tcp of the reference
        ("offset", F, 6),  # [m, rad]
        ("rate", F, 6),  # of the offset [m/s, rad/s]
        ("velocity_bias", F, 6),  # of force axes, control axes [m/s, rad/s]
        ("lag", F, 6),  # by how much the arm is expected to trail its command, base axes [m, rad]
        ("led_speed", F, 2),  # of the reference in the last tick [m/s, rad/s]
        ("travel", F),  # smoothed speed of a hand-driven tool over travel speed
        ("contact", CONTACT),  # what each axis touches: contact_record.py
        # ramps
        ("ramp", F),  # 0..1
        ("mass", F, 6),  # in force now [kg, kg m2]
        ("damping", F, 6),  # in force now [Ns/m, Nms/rad]
        ("stiffness", F, 6),  # in force now [N/m, Nm/rad]
        ("mass_from", F, 6),  # where the ramp began
        ("damping_from", F, 6),
        ("stiffness_from", F, 6),
        ("desired_wrench", F, 6),  # in force now, control axes [N, Nm]
        # changes of parameters: adopt.py
        ("known", KNOWN),  # what this memory is expressed in: known_record.py
        ("changed", F),  # 1: in this tick, while active
        ("damped", F, 6),  # damping in the last tick, control axes [Ns/m, Nms/rad]
        ("obeyed", F, 6),  # how much of the acceleration of the law the limits left then, 0..1
        ("driving", F, 6),  # mass times acceleration of the law by the old parameters, control axes [N, Nm]
        ("carried", F, 6),  # by which a change would have altered it: fades out with the ramp, control axes [N, Nm]
        ("felt", F, 6),  # wrench before the deadband by the old parameters, control axes [N, Nm]
        ("tracking_gain", F, 6),  # in force now [1/s]
        ("slip", F, 6),  # by which a change would have altered the lag: fades out with the ramp, base axes [m, rad]
        # wrench
        ("wrench_filtered", F, 6),  # sensor axes [N, Nm]
        ("vibration", VIBRATION),  # of the tool: wrench/vibration_record.py
        ("acceleration", F, 3),  # of the TCP, filtered, base axes [m/s2]
        ("quiet_time", F),  # without force and motion [s]
        ("guided", F),  # 1: a hand has pushed since the arm was at rest
        ("well", F, 3),  # force of notches and soft box in this tick, base axes [N]
        ("rest_time", F),  # of standstill without compliance, over which the next one is the mean [s]
        ("rest_wrench", F, 6),  # about the TCP, base axes [N, Nm]
        ("rest_evidence", F, 2),  # of the doubt: value and bound [N, Nm]
        ("pressed", F, 2),  # what is left of the load at an activation after a fault [N, Nm]: wrench/condition.py
        # distances: core/limits/obstacles.py
        ("near_q", F, 6),  # joint angles at which they were measured last [rad]
        ("near_room", F),  # smallest distance there beyond the clearance, or less [m]
        ("near_revision", F),  # of the parameters then
        ("near", F, 2),  # in this tick: the nearest two bodies, counted from 1; 0: none is near
        ("near_distance", F),  # between them [m]
        # Jacobian
        ("weakest_direction", F, 6),  # unit length
        ("singular_vectors", F, (6, 6)),  # start of the next tick's iteration
    ],
    align=True,
)
STATE_FLOATS = (STATE.itemsize - STATE.fields["q_command"][1]) // 8
STATE_MEMORY = (STATE.itemsize - STATE.fields["reading"][1]) // 8  # what is cleared: zeros, whole numbers too

COMMAND = np.dtype(
    [
        ("stamp_ns", I),
        ("mode", I),
        ("status", I),
        ("evidence", F, 5),
        ("hindrance", I),  # in a fault, the Status that keeps it from its reset; OK: nothing does
        ("hindrance_evidence", F, 2),
        ("limits", I),  # Limit flags
        ("q", F, 6),  # to be sent, unless stages behind the law change it [rad]
        ("qd", F, 6),  # the same [rad/s]
        ("twist", F, 6),  # TCP velocity that the joint velocities produce, base axes [m/s, rad/s]
        ("pose_error", F, 6),  # commanded minus measured, base axes [m, rad]
        ("wrench_sensor", F, 6),  # compensated and filtered, sensor frame
        ("wrench_tcp", F, 6),  # about the TCP, base axes
        ("wrench_control", F, 6),  # control axes, after the deadband: what drives the law
        ("p_tcp", F, 3),  # measured
        ("R_tcp", F, (3, 3)),
        ("p_ref", F, 3),
        ("R_ref", F, (3, 3)),
        ("offset", F, 6),  # base axes
        ("rate", F, 6),  # base axes
        ("scale", F),  # fraction of the twist that the limits leave, 0..1
        ("pace", F),  # share of its speed at which the reference keeps its line, 0..1: limits/line.py
        ("sigma_min", F),  # smallest singular value of the Jacobian
        ("engagement", F),  # 0..1
        ("contact", I, 6),  # control axes: 1 where something is touched
        ("contact_stiffness", F, 6),  # estimated [N/m, Nm/rad], 0: unknown
        ("damping", F, 6),  # in force now [Ns/m, Nms/rad]
        ("normal", F, 3),  # estimated surface normal, base axes
        ("near", I, 2),  # bodies that are near each other: shapes_record.BODIES counted from 1, 0: none
        ("near_distance", F),  # between them [m]
        ("vibration_hz", F),  # taken out of the wrench; 0: nothing is
        ("response_seen", F),  # time from a command to the arm's motion, learnt in use; 0: not known yet [s]
    ],
    align=True,
)


def new(dtype: np.dtype, count: int = 1) -> np.ndarray:
    """An array of zeroed records, as tick() takes it. array[0] is a view whose fields can be read and set by name."""
    records = np.zeros(count, dtype)
    return records.view(np.recarray) if PLAIN else records  # fields as attributes, as in compiled code
