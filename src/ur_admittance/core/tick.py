"""READ FIRST. One cycle of the controller, 500 times a second.

    0 references that were not renewed end         law/led.py
      hold-to-run: the enabling signal             enabling.py
      one reading, of one force sensor or of two   wrench/fusion.py
      check the sample                             checks.py, memory.py
      parameters that have changed take over       adopt.py
    1 condition the wrench                         wrench/vibration.py, wrench/condition.py, wrench/rest.py
      change the mode                              modes.py
    2 from the wrench to a twist                   law/twist.py, law/ramps.py
      2.1 normal of the surface that is touched    contact/surface.py
      2.2 axes in which the law acts               law/control_axes.py
      2.3 contact: its stiffness, enough damping   contact/stabilise.py, oscillation.py, hit.py
      2.4 damping that varies with speed and place law/variable.py
      2.5 mass, damping and spring of one axis     law/admittance.py
      2.6 axes under force control                 law/force_axes.py
      2.7 notches, a soft box                      law/wells.py
    3 limits: joints, tool, walls, distances, edge of the reach: one file each, listed in limits/every_limit.py
      the reference keeps its line                 limits/line.py
    4 joint speeds that keep every limit           limits/choose.py, limits/singular.py, limits/quadratic.py
    5 what could not be realised goes back into the law; joints are integrated from the last command
    or, held or in every mode but ACTIVE, brake    motion/stopping.py
      on request, back out of a contact            motion/retreat.py
    The command waits for an arm that does not follow it (motion/following.py); how late it follows is learnt
    (motion/response.py).
    6 what is sent: near the arm, near the last    motion/sending.py

Data flows wrench -> contact -> law -> limits -> motion; each folder imports only those before it (a contract in
pyproject.toml).

p: PARAMS, s: STATE, u: SAMPLE, c: COMMAND (records.py). No I/O, no allocation, no exceptions: the same records in give
the same bits out.
"""

from ur_admittance.core.adopt import adopt
from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import (
    ACTIVE,
    BAD_PARAMS,
    FAULT,
    INTERNAL_ERROR,
    LONGEST_PERIOD,
    NOTHING,
    OK,
    Finding,
    check_params,
    check_sample,
    check_state,
    is_sane,
)
from ur_admittance.core.contact.stabilise import explain_hit
from ur_admittance.core.contact.surface import estimate_normal
from ur_admittance.core.enabling import watch_signal
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.law.control_axes import NORMAL
from ur_admittance.core.law.led import take_references
from ur_admittance.core.law.ramps import ramp_parameters, track
from ur_admittance.core.law.twist import LawStep, advance, carry, desired_twist, hold_when_quiet, law_twist, pose_error
from ur_admittance.core.limits.choose import Middle, choose
from ur_admittance.core.limits.line import pace
from ur_admittance.core.limits.obstacles import COLLISION as NEAR_LIMIT
from ur_admittance.core.limits.obstacles import SHOWN, forget_near, nearest_pair
from ur_admittance.core.limits.reach import SINGULARITY
from ur_admittance.core.limits.singular import SINGULAR, damped_factor, smallest_singular_value
from ur_admittance.core.memory import forget_all_but_motion, stands_still, start
from ur_admittance.core.modes import ACTIVATE, INACTIVE, change_mode, enter_fault, hold_to_run
from ur_admittance.core.motion.following import (
    follows,
    forgive_drift,
    observe_lead,
    observe_speed,
    rejoin,
    strays,
)
from ur_admittance.core.motion.response import observe_response
from ur_admittance.core.motion.retreat import BODY, change_retreat, go_back
from ur_admittance.core.motion.sending import send
from ur_admittance.core.motion.stopping import brake_and_hold, move_joints, remember_limits
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Limit, Status
from ur_admittance.core.spatial import Pose, clip, copy_matrix, norm
from ur_admittance.core.wrench.condition import condition
from ur_admittance.core.wrench.fusion import take_reading
from ur_admittance.core.wrench.rest import SEEN, observe_rest
from ur_admittance.core.wrench.vibration import observe_vibration

OVER_FORCE, OVER_TORQUE = int(Status.OVER_FORCE), int(Status.OVER_TORQUE)
POSITION_ERROR, ORIENTATION_ERROR = int(Status.POSITION_ERROR), int(Status.ORIENTATION_ERROR)
IK_FAILED, NOT_FOLLOWING = int(Status.IK_FAILED), int(Status.NOT_FOLLOWING)
COLLISION, STILL_MOVING = int(Status.COLLISION), int(Status.STILL_MOVING)
ACCELERATION = int(Limit.LINEAR_ACCELERATION | Limit.ANGULAR_ACCELERATION | Limit.JOINT_ACCELERATION)

ROUNDING = 1e-6  # [rad] of joint angles summed up over hours
NOMINAL_PERIOD = 0.002  # [s] assumed for braking when no good period was ever measured


@kernel(PARAMS, STATE, SAMPLE, COMMAND)
def tick(p, s, u, c):
    """One cycle of one controller: reads p and u, updates s, fills all of c."""
    s.ticks += 1
    if not check_state(s):
        forget_all_but_motion(s, c)
        enter_fault(s, Finding(INTERNAL_ERROR, 0.0, 0.0))
    missing = watch_signal(p, s, u, take_references(s, u))
    found = check_sample(p, s, u, take_reading(p, s, u))
    trusted = check_params(p)
    if not trusted:
        found = Finding(BAD_PARAMS, 0.0, 0.0)
    dt = known_period(s, u.dt)
    if trusted:
        remember_limits(p, s)

    measured, J = Pose(mat3(), vec3()), mat6()
    load, lead = (0.0, 0.0), 0.0
    usable = found.status == OK
    seen = usable or (trusted and is_sane(u.q) and u.joint_age <= p.joint_state_timeout)
    if seen:
        forward(p.chain_rotation, p.chain_position, u.q, measured.R, measured.p, J)
    if usable:
        observe_vibration(p, s, dt)
    if trusted:
        adopt(p, s, u, c, usable, measured.R)
        observe_speed(p, s, dt)
        rejoin(p, s, u, found.status, seen, usable, stands_still(s))
    if usable:
        if s.has_command == 0:
            start(s, u)
        lead = observe_lead(p, s, u)
        load = condition(p, s, u, measured.R, c)
        observe_rest(p, s, u, c.wrench_tcp, dt)
        if load[0] > p.max_force:
            found = Finding(OVER_FORCE, load[0], p.max_force)
        elif load[1] > p.max_torque:
            found = Finding(OVER_TORQUE, load[1], p.max_torque)
        if found.status != OK:
            s.filter_ready = 0  # a spike must not linger in the filter
        elif s.mode == ACTIVE and not follows(p, s, lead, dt):
            found = Finding(NOT_FOLLOWING, lead, p.max_following_error)
        elif s.mode == INACTIVE and p.shapes.on != 0:
            distance, one, two = nearest_pair(p, u.q, 0.0)
            if one >= 0:
                found = Finding(COLLISION, one + BODY * two, distance)
        resting = s.mode == INACTIVE and s.rest_time >= SEEN
        if found.status == OK and s.mode != ACTIVE and (u.request & ACTIVATE or resting):
            found = Finding(s.rest_doubt, s.rest_evidence[0], s.rest_evidence[1])
    else:
        s.rest_time, s.rest_doubt = 0.0, OK  # what the tool reads now is not known
    was_active = s.mode == ACTIVE
    change_mode(p, s, u, found, load, measured)
    if s.mode == ACTIVE:
        hold_to_run(p, s, c, missing, load, measured)
    if was_active and found.status == OVER_FORCE:
        explain_hit(p, s, dt)
    if s.mode == FAULT:
        change_retreat(p, s, u, found, load, lead, stands_still(s), dt)
    report_hindrance(s, c, found)

    clear_motion(c)
    if seen:
        copy_matrix(measured.R, c.R_tcp)
        c.p_tcp[:] = measured.p
    else:
        copy_matrix(s.R_ref, c.R_tcp)
        c.p_tcp[:] = s.p_ref
    if not usable:  # no wrench to trust
        c.wrench_sensor[:] = 0.0
        c.wrench_tcp[:] = 0.0
    yields = s.mode == ACTIVE and s.held == 0
    if yields:
        found = comply(p, s, u, c, measured, J, dt)
        if found.status != OK:
            enter_fault(s, found)
        elif u.speed_driven != 0:
            forgive_drift(s, u, dt)
    if s.mode != ACTIVE or not yields:
        forget_near(s)
        s.unexplained[:] = 0.0
        s.response.settled = 0.0
        retreat_or_stop(p, s, J, trusted, dt)
    if usable:
        keep_inside(p, s, u)
    report(s, u, c)
    if u.shaped == 0:
        send(p, s, u, c)


@kernel
def known_period(s, dt):
    """The measured period, or the last good one."""
    if 0.0 < dt <= LONGEST_PERIOD:
        s.period = dt
    elif not 0.0 < s.period <= LONGEST_PERIOD:
        s.period = NOMINAL_PERIOD
    return s.period


@kernel
def retreat_or_stop(p, s, J, trusted, dt):
    qd = vec6()
    if s.retreating != 0 and trusted and go_back(p, s, J, dt, qd):
        move_joints(s, J, qd, p.response_time, dt)
    else:
        brake_and_hold(p, s, J, trusted, dt)


@kernel
def clear_motion(c):
    c.limits = 0
    c.scale = c.pace = 1.0
    c.sigma_min = 0.0
    c.wrench_control[:] = 0.0
    c.pose_error[:] = 0.0
    c.damping[:] = 0.0


@kernel
def comply(p, s, u, c, measured, J, dt):
    """Steps 2 to 5: the arm yields to the wrench. Returns a Finding."""
    ramp_parameters(p, s, u, dt)

    velocity = vec6()
    twist_of(J, u.qd, velocity)
    if u.shaped == 0:  # or the arm was sent something else
        observe_response(s, velocity, c.wrench_tcp, dt)
    if p.control_frame == NORMAL:
        by_path = s.target_active != 0 or norm(s.led.twist[:3]) > 0.0
        estimate_normal(p, s.contact, c.wrench_tcp[:3], velocity[:3], s.twist[:3], by_path, dt)
    law, desired = LawStep(mat3(), vec6(), vec6(), vec6(), vec6()), vec6()
    desired_twist(p, s, u, desired)
    carry(s, desired)
    silent = law_twist(p, s, c, velocity, desired, dt, law)
    pose_error(s, measured, c.pose_error)
    if norm(c.pose_error[:3]) > p.max_position_error:
        return Finding(POSITION_ERROR, norm(c.pose_error[:3]), p.max_position_error)
    if norm(c.pose_error[3:]) > p.max_orientation_error:
        return Finding(ORIENTATION_ERROR, norm(c.pose_error[3:]), p.max_orientation_error)

    # The Jacobian in the middle of the coming step makes the joints second-order accurate.
    q_middle, R_command, p_command = vec6(), mat3(), vec3()
    for i in range(6):
        q_middle[i] = s.q_command[i] + 0.5 * dt * s.qd_command[i]
    forward(p.chain_rotation, p.chain_position, q_middle, R_command, p_command, J)
    qd, realised, C = vec6(), vec6(), mat6()
    sigma, exact = damped_factor(J, s.singular_vectors, C)
    followed = smallest_singular_value(C, s.weakest_direction)
    c.sigma_min = sigma if exact else followed
    middle = Middle(q_middle, p_command, J, C, sigma)
    share, slowed_by = pace(p, s, middle, desired)
    c.pace = share if slowed_by != 0 else 1.0
    V, wanted = vec6(), vec6()
    track(p, s, c.pose_error, wanted)
    for i in range(6):
        desired[i] *= share
        wanted[i] += desired[i] + law.twist[i]
        V[i] = wanted[i]
    c.scale, c.limits = choose(p, s, middle, V, measured.p, qd, realised, dt)
    if s.near_distance > p.shapes.clearance + SHOWN and not c.limits & NEAR_LIMIT:
        forget_near(s)
    c.limits |= slowed_by
    if c.sigma_min < SINGULAR:
        c.limits |= SINGULARITY
    obeys = c.limits & ~ACCELERATION == 0 and not strays(s)
    s.contact.unlimited_time = min(s.contact.unlimited_time + dt, 1.0) if obeys else 0.0
    if not (is_sane(qd) and is_sane(realised)):
        return Finding(IK_FAILED, c.sigma_min, 0.0)

    advance(p, s, law, desired, wanted, realised, dt)
    hold_when_quiet(p, s, law.R, silent, desired, measured, dt)
    move_joints(s, J, qd, p.response_time, dt)
    return NOTHING


@kernel
def keep_inside(p, s, u):
    """An arm inside its joint limits is not sent beyond them, not even by rounding. A command that is farther outside
    (the limit was moved) is not pulled back: that would be a jump."""
    for i in range(6):
        if p.joint_lower[i] <= u.q[i] <= p.joint_upper[i]:
            inside = clip(s.q_command[i], p.joint_lower[i], p.joint_upper[i])
            if abs(inside - s.q_command[i]) < ROUNDING:
                s.q_command[i] = inside


@kernel
def report_hindrance(s, c, found):
    """What keeps a fault from its reset."""
    c.hindrance, c.hindrance_evidence[0], c.hindrance_evidence[1] = OK, 0.0, 0.0
    if s.mode == FAULT:
        if found.status != OK:
            c.hindrance, c.hindrance_evidence[0], c.hindrance_evidence[1] = found
        elif not stands_still(s):
            c.hindrance = STILL_MOVING


@kernel
def report(s, u, c):
    c.stamp_ns = u.stamp_ns
    c.mode = s.mode
    c.status = s.status
    c.evidence[:] = s.evidence
    if s.has_command != 0:
        c.q[:] = s.q_command
    elif is_sane(u.q):  # no command yet: where the arm is, or what was commanded before
        c.q[:] = u.q
    c.qd[:] = s.qd_command
    c.twist[:] = s.twist
    c.p_ref[:] = s.p_ref
    copy_matrix(s.R_ref, c.R_ref)
    c.offset[:] = s.offset
    c.rate[:] = s.rate
    c.engagement = s.ramp
    for i in range(6):
        c.contact[i] = int(s.contact.touching[i])
    c.contact_stiffness[:] = s.contact.stiffness
    c.normal[:] = s.contact.normal
    c.near_distance = s.near_distance
    c.response_seen = s.response.seen
    c.vibration_hz = s.vibration.hz if s.vibration.level > 0.0 else 0.0
    for i in range(2):
        c.near[i] = int(s.near[i])
