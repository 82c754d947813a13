"""0  Is this sample fit to move an arm by? And the requests that change the mode."""

from .compile import kernel
from .records import Mode, Request, Status

INACTIVE, ACTIVE, STOPPING, FAULT = int(Mode.INACTIVE), int(Mode.ACTIVE), int(Mode.STOPPING), int(Mode.FAULT)
ACTIVATE, DEACTIVATE = int(Request.ACTIVATE), int(Request.DEACTIVATE)
RESET_FAULT, LATCH_REFERENCE = int(Request.RESET_FAULT), int(Request.LATCH_REFERENCE)
OK, BAD_PERIOD, NOT_FINITE = int(Status.OK), int(Status.BAD_PERIOD), int(Status.NOT_FINITE)
STALE_JOINTS, STALE_WRENCH = int(Status.STALE_JOINTS), int(Status.STALE_WRENCH)
BAD_PARAMS, INTERNAL_ERROR = int(Status.BAD_PARAMS), int(Status.INTERNAL_ERROR)

KNOWN = len(Status)
LONGEST_PERIOD = 0.1  # [s]
ABSURD = 1e9  # no quantity of this program is larger


@kernel
def is_sane(values):
    """Finite, and small enough that squares and sums stay finite."""
    sane = True
    for value in values.flat:  # without a branch: the common case is all of it
        sane &= abs(value) < ABSURD
    return sane


@kernel
def check_sample(p, u):
    """(Status, value, bound) of a sample: OK, or the first reason not to use it."""
    if not (0.0 < u.dt <= LONGEST_PERIOD):
        return BAD_PERIOD, u.dt, LONGEST_PERIOD
    if u.external_status != OK:
        return u.external_status if 0 < u.external_status < KNOWN else INTERNAL_ERROR, 0.0, 0.0
    if not (is_sane(u.q) and is_sane(u.qd)):
        return NOT_FINITE, 0.0, 0.0
    if not is_sane(u.wrench):
        return NOT_FINITE, 1.0, 0.0
    if not (is_sane(u.reference_twist) and is_sane(u.reference_wrench)):
        return NOT_FINITE, 2.0, 0.0
    if u.target_id != 0 and not (is_sane(u.target_position) and is_sane(u.target_rotation)):
        return NOT_FINITE, 2.0, 0.0
    if not u.joint_age <= p.joint_state_timeout:
        return STALE_JOINTS, u.joint_age, p.joint_state_timeout
    if not u.wrench_age <= p.wrench_timeout:
        return STALE_WRENCH, u.wrench_age, p.wrench_timeout
    return OK, 0.0, 0.0


@kernel
def check_params(p):
    """A record that did not come through the parameter schema must not be able to produce a NaN."""
    for i in range(6):
        if not (p.mass[i] > 0.0 and p.damping[i] >= 0.0 and p.stiffness[i] >= 0.0):
            return False
        if not (p.joint_velocity[i] >= 0.0 and p.joint_acceleration[i] > 0.0):
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
    if not (p.response_time >= 0.0 and p.loop_delay >= 0.0 and 0.0 < p.travel_damping <= 1.0 and p.travel_speed > 0.0):
        return False
    if not (p.response_time < ABSURD and p.loop_delay < ABSURD and p.contact_ratio > 0.0 and p.normal_time >= 0.0):
        return False
    if not (p.deadband_force >= 0.0 and p.deadband_torque >= 0.0 and p.drift_reset_threshold >= 0.0):
        return False
    if not (p.max_force >= 0.0 and p.max_torque >= 0.0):
        return False
    if not (p.max_position_error >= 0.0 and p.max_orientation_error >= 0.0):
        return False
    if not (p.filter_cutoff_hz > 0.0 and p.engagement_time >= 0.0 and p.bias_time >= 0.0):
        return False
    return (
        is_sane(p.chain_rotation)
        and is_sane(p.chain_position)
        and is_sane(p.mass)
        and is_sane(p.damping)
        and is_sane(p.stiffness)
        and is_sane(p.joint_acceleration)
        and is_sane(p.max_acceleration)
        and is_sane(p.tracking_gain)
        and is_sane(p.region_margin)
        and is_sane(p.region_damping)
        and is_sane(p.region_speed)
        and is_sane(p.R_tcp_sensor)
        and is_sane(p.p_tcp_sensor)
        and is_sane(p.R_base_task)
        and is_sane(p.sensor_bias)
        and is_sane(p.tool_weight_base)
        and is_sane(p.tool_com)
        and is_sane(p.desired_wrench)
        and abs(p.sensor_sign) == 1.0
        and 0.0 <= p.tool_inertia_mass < ABSURD
    )


@kernel
def check_state(s):
    """Memory that was overwritten from outside must not reach the arm."""
    return (
        0 <= s.mode <= FAULT
        and 0 <= s.status < KNOWN
        and 0.0 <= s.ramp <= 1.0
        and 0.0 <= s.quiet_time < ABSURD
        and 0.0 <= s.unlimited < ABSURD
        and is_sane(s.mass_from)
        and is_sane(s.damping_from)
        and is_sane(s.stiffness_from)
        and is_sane(s.lost_time)
        and is_sane(s.since_touch)
        and is_sane(s.half_time)
        and is_sane(s.peak)
        and is_sane(s.last_peak)
        and is_sane(s.side)
        and is_sane(s.hit_x)
        and is_sane(s.hit_f)
        and is_sane(s.hit_xx)
        and is_sane(s.hit_xf)
        and is_sane(s.hit_ff)
        and is_sane(s.hit_side)
        and is_sane(s.since_hit)
        and is_sane(s.hit_way)
        and is_sane(s.unloaded)
        and is_sane(s.q_command)
        and is_sane(s.qd_command)
        and is_sane(s.twist)
        and is_sane(s.p_ref)
        and is_sane(s.R_ref)
        and is_sane(s.offset)
        and is_sane(s.rate)
        and is_sane(s.velocity_bias)
        and is_sane(s.lag)
        and is_sane(s.normal)
        and is_sane(s.contact_damping)
        and is_sane(s.sum_xx)
        and is_sane(s.sum_xf)
        and is_sane(s.contact_stiffness)
        and is_sane(s.x_touch)
        and is_sane(s.x_touch_filtered)
        and is_sane(s.f_touch)
        and is_sane(s.x_high)
        and is_sane(s.x_band)
        and is_sane(s.f_slow)
        and abs(s.travel) < ABSURD
        and is_sane(s.mass)
        and is_sane(s.damping)
        and is_sane(s.stiffness)
        and is_sane(s.desired_wrench)
        and is_sane(s.wrench_filtered)
        and is_sane(s.acceleration)
        and is_sane(s.singular_vectors)
        and is_sane(s.weakest_direction)
    )
