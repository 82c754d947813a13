"""0  Is this sample fit to move an arm, and are the records sound?"""

from collections import namedtuple

from ur_admittance.core.kernel import from_here, kernel
from ur_admittance.core.records import DIGITAL_INPUTS, STATE_FLOATS, TRAIL, Mode, Status

ACTIVE, FAULT = int(Mode.ACTIVE), int(Mode.FAULT)
OK, BAD_PERIOD, NOT_FINITE = int(Status.OK), int(Status.BAD_PERIOD), int(Status.NOT_FINITE)
STALE_JOINTS, STALE_WRENCH = int(Status.STALE_JOINTS), int(Status.STALE_WRENCH)
BAD_PARAMS, INTERNAL_ERROR = int(Status.BAD_PARAMS), int(Status.INTERNAL_ERROR)

KNOWN = len(Status)
LONGEST_PERIOD = 0.1  # [s]
ABSURD = 1e9  # no quantity in this program is larger

Finding = namedtuple("Finding", "status value bound")  # a Status with its evidence
NOTHING = Finding(OK, 0.0, 0.0)


@kernel
def is_sane(values):
    """Finite, and small enough that squares and sums stay finite."""
    sane = True
    for i in range(values.size):  # without a branch: usually all are read, and several at a time
        sane &= abs(values[i]) < ABSURD
    return sane


@kernel
def check_sample(p, s, u, doubt):
    """NOTHING, or the first reason not to use this sample. doubt: of two force sensors."""
    if not (0.0 < u.dt <= LONGEST_PERIOD):
        return Finding(BAD_PERIOD, u.dt, LONGEST_PERIOD)
    if u.external_status != OK:
        known = 0 < u.external_status < KNOWN
        return Finding(u.external_status if known else INTERNAL_ERROR, 0.0, 0.0)
    if doubt != OK:
        return Finding(doubt, 0.0, 0.0)
    if not (is_sane(u.q) and is_sane(u.qd)):
        return Finding(NOT_FINITE, 0.0, 0.0)
    if not is_sane(s.reading):
        return Finding(NOT_FINITE, 1.0, 0.0)
    if not (is_sane(u.reference_twist) and is_sane(u.reference_wrench)):
        return Finding(NOT_FINITE, 2.0, 0.0)
    if u.target_id != 0 and not (is_sane(u.target_position) and is_sane(from_here(u.target_rotation, 9))):
        return Finding(NOT_FINITE, 2.0, 0.0)
    if not u.joint_age <= p.joint_state_timeout:
        return Finding(STALE_JOINTS, u.joint_age, p.joint_state_timeout)
    if not s.reading_age <= p.wrench_timeout:
        return Finding(STALE_WRENCH, s.reading_age, p.wrench_timeout)
    return NOTHING


@kernel
def check_params(p):
    """Not even a record that bypassed the parameter schema may produce a NaN."""
    for i in range(6):
        if not (p.mass[i] > 0.0 and p.damping[i] >= 0.0 and p.stiffness[i] >= 0.0):
            return False
        if not (p.joint_velocity[i] >= 0.0 and p.joint_acceleration[i] > 0.0 and p.arm_velocity[i] > 0.0):
            return False
        if not (p.joint_lower[i] <= p.joint_upper[i] and p.deadband_axis[i] >= 0.0):
            return False
    if not 0.0 <= p.elbow_margin < ABSURD:
        return False
    for part in range(2):
        if not (p.max_velocity[part] >= 0.0 and p.max_acceleration[part] > 0.0):
            return False
        if not (p.desired_wrench_rate[part] >= 0.0 and p.bias_limit[part] >= 0.0):
            return False
        if not (p.approach_speed[part] >= 0.0 and p.contact_threshold[part] >= 0.0):
            return False
        if not p.max_contact_damping[part] >= 0.0:
            return False
    for i in range(3):
        if not p.workspace_min[i] <= p.workspace_max[i]:
            return False
    if not (
        p.response_time >= 0.0
        and p.loop_delay >= p.sensor_delay >= 0.0
        and 0.0 < p.travel_damping <= 1.0
        and p.travel_speed > 0.0
    ):
        return False
    if not (p.response_time < ABSURD and p.loop_delay < ABSURD and p.contact_ratio > 0.0 and p.normal_time >= 0.0):
        return False
    if not p.contact_friction >= 0.0:
        return False
    wells = p.wells
    if not (0.0 <= wells.force < ABSURD and 0.0 < wells.radius < ABSURD and 0.0 <= wells.box_force < ABSURD):
        return False
    if not 0.0 < wells.box_stiffness < ABSURD:
        return False
    for i in range(3):
        if not (wells.box_min[i] <= wells.box_max[i] and wells.box_min[i] < ABSURD and wells.box_max[i] > -ABSURD):
            return False
    if not -1 <= p.enable_input < DIGITAL_INPUTS:
        return False
    if not (p.deadband_force >= 0.0 and p.deadband_torque >= 0.0 and p.drift_reset_threshold >= 0.0):
        return False
    if not (p.max_force >= 0.0 and p.max_torque >= 0.0):
        return False
    if not (p.max_position_error >= 0.0 and p.max_orientation_error >= 0.0):
        return False
    if not (p.max_following_error > 0.0 and 0.0 < p.following_time < ABSURD):
        return False
    if not 0.0 <= p.vibration_hz < ABSURD:
        return False
    if not (p.filter_cutoff_hz > 0.0 and p.engagement_time >= 0.0 and p.bias_time >= 0.0):
        return False
    return (
        is_sane(from_here(p.chain_rotation, 7 * 9))
        and is_sane(from_here(p.chain_position, 7 * 3))
        and is_sane(p.mass)
        and is_sane(p.damping)
        and is_sane(p.stiffness)
        and is_sane(p.joint_acceleration)
        and is_sane(p.max_acceleration)
        and is_sane(p.tracking_gain)
        and is_sane(p.region_margin)
        and is_sane(p.region_damping)
        and is_sane(p.region_speed)
        and is_sane(from_here(p.R_tcp_sensor, 9))
        and is_sane(p.p_tcp_sensor)
        and is_sane(from_here(p.R_base_task, 9))
        and is_sane(p.sensor_bias)
        and is_sane(p.tool_weight_base)
        and is_sane(p.tool_com)
        and is_sane(p.desired_wrench)
        and abs(p.sensor_sign) == 1.0
        and 0.0 <= p.tool_inertia_mass < ABSURD
    )


@kernel
def check_state(s):
    """Memory that something else has overwritten must not reach the arm."""
    return (
        0 <= s.mode <= FAULT
        and 0 <= s.status < KNOWN
        and 0.0 <= s.ramp <= 1.0
        and s.quiet_time >= 0.0
        and s.pressed[0] >= 0.0
        and s.pressed[1] >= 0.0
        and s.waiting_time >= 0.0
        and 0 <= s.trail_count <= TRAIL
        and 0 <= s.trail_newest < TRAIL
        and s.contact.unlimited_time >= 0.0
        and is_sane(from_here(s.q_command, STATE_FLOATS))
    )
