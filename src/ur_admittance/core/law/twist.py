"""2  From the wrench to a twist: reference, offset, and what goes back into them.

The commanded pose is the reference moved by the offset, all in base axes:

    p_cmd = p_ref + x_p        R_cmd = exp([x_r]) R_ref

Axes with K = 0 keep no offset: their motion is absorbed into the reference.
"""

import math
from collections import namedtuple

from ur_admittance.core.contact.hit import held_back
from ur_admittance.core.contact.oscillation import heard, heavier
from ur_admittance.core.contact.stabilise import observe
from ur_admittance.core.contact.surface import along_surface, friction_cone
from ur_admittance.core.contact.turned_contact import shift_contact
from ur_admittance.core.kernel import kernel, mat3, vec3, vec6
from ur_admittance.core.law.admittance import coast, step, too_fast
from ur_admittance.core.law.control_axes import NORMAL, control_axes
from ur_admittance.core.law.force_axes import limit_approach, update_bias
from ur_admittance.core.law.ramps import carried_force, keep_realised
from ur_admittance.core.law.variable import damping_factor
from ur_admittance.core.law.wells import AT_PLACE, feel_shapes
from ur_admittance.core.spatial import (
    clip,
    copy_matrix,
    exp_so3,
    left_jacobian,
    left_jacobian_inverse,
    log_so3,
    multiply,
    multiply_transposed,
    norm,
    rotate,
    rotate_back,
    turn,
)
from ur_admittance.core.wrench.condition import deadband, fade

QUIET = 0.2  # [s] without force and motion before the reference of free axes is latched to the measured pose
TARGET_SPEED = 0.8  # fraction of the speed limit used to go to a target pose: the rest is for compliance
REACHED = 1e-5  # [m, rad]

# One step of the law. R: control axes; rate, x_next, v_next: in them; twist: in base axes, the mean over the step.
LawStep = namedtuple("LawStep", "R rate x_next v_next twist")


@kernel
def approach(error, speed_limit, acceleration, out):
    """Velocity that brings an error (3-vector) to zero: fast far away, braking near, v <= 4/s |e| at the end."""
    distance = norm(error)
    if distance == 0.0:
        speed_per_distance = 0.0
    else:
        speed = min(min(speed_limit, math.sqrt(acceleration * distance)), 4.0 * distance)
        speed_per_distance = speed / distance
    for i in range(3):
        out[i] = speed_per_distance * error[i]
    return distance


@kernel
def latch(s, measured):
    """The reference becomes the measured pose: nothing to correct, nothing to spring back to."""
    s.p_ref[:] = measured.p
    copy_matrix(measured.R, s.R_ref)
    s.offset[:] = 0.0


@kernel
def law_twist(p, s, c, velocity, desired, dt, law):
    """M a + D (v - b) + K x = F_ext - F_des on every axis of the control frame; b is the velocity bias of force axes.

    velocity: measured TCP twist, base axes.
    Fills `law`; its twist takes the commanded pose from x to x_next exactly. Returns whether no wrench is left after
    the deadband.
    """
    R, v, x_next, v_next = law.R, law.rate, law.x_next, law.v_next
    control_axes(p, s, R)
    x = vec6()
    for a in range(0, 6, 3):
        rotate_back(R, s.offset[a : a + 3], x[a : a + 3])
        rotate_back(R, s.rate[a : a + 3], v[a : a + 3])
        rotate_back(R, c.wrench_tcp[a : a + 3], c.wrench_control[a : a + 3])
    driven = norm(desired[:3]) > 0.0 or norm(desired[3:]) > 0.0
    friction_cone(p, c.wrench_control)
    if s.changed != 0.0:
        shift_contact(s, c.wrench_control)
    observe(p, s, c.wrench_control, velocity, R, driven, dt)
    silent = deadband(p, s.pressed, c.wrench_control)
    fade(s.pressed, dt)
    if s.pressed[0] == 0.0 and s.pressed[1] == 0.0:
        s.recovered = 0
    lightness = damping_factor(p, s, c.p_tcp, c.wrench_tcp, dt)

    root, well = feel_shapes(p, s), vec6()
    rotate_back(R, s.well, well[:3])
    mean = vec6()  # rate of x over the step
    for i in range(6):
        mean[i] = 0.0
        d = max(lightness * s.damping[i], held_back(s.contact, v[i], i))
        if p.enabled[i] == 0.0:  # held actively where it is, once it has stopped
            mean[i], v_next[i] = coast(v[i], s.mass[i], d, c.wrench_control[i], dt)
            mean[i] /= dt
            x_next[i] = x[i] + mean[i] * dt
            s.carried[i] = 0.0
            continue
        if i < 3 and p.force_axes[i] == 0.0:
            d = max(d, root * math.sqrt(s.mass[i]))
        else:
            well[i] = 0.0
        c.damping[i] = s.damped[i] = d
        s.obeyed[i] = 1.0
        f = heard(s.contact.oscillation, c.wrench_control[i], i, dt) + well[i]
        f += d * s.velocity_bias[i] - s.desired_wrench[i]
        f += carried_force(s, i, f - d * v[i] - s.stiffness[i] * x[i])
        m = s.mass[i] * heavier(s.contact.oscillation, i)
        x_next[i], v_next[i] = step(p.integrator, x[i], v[i], m, d, s.stiffness[i], f, dt)
        slowed = limit_approach(p, s, i, v[i], v_next[i], dt)
        if slowed != v_next[i]:
            keep_realised(s, i, v_next[i] - v[i], slowed - v[i])
            x_next[i], v_next[i] = x[i] + 0.5 * (v[i] + slowed) * dt, slowed
        mean[i] = (x_next[i] - x[i]) / dt
    rotate(R, mean[:3], law.twist[:3])
    rate = vec3()
    rotate(R, mean[3:], rate)
    left_jacobian(s.offset[3:], rate, law.twist[3:])
    return silent


@kernel
def desired_twist(p, s, u, twist):
    """Velocity of the reference: the streamed twist plus the motion to a target pose."""
    twist[:] = s.led.twist
    if p.control_frame == NORMAL:
        along_surface(s.contact.normal, twist[:3])
    if u.target_id != s.target_id:
        s.target_id = u.target_id
        s.target_active = 1 if u.target_id != 0 else 0
    if s.target_active == 0:
        return
    error, velocity, R = vec3(), vec3(), mat3()
    for i in range(3):
        error[i] = u.target_position[i] - s.p_ref[i]
    leave_pressing_axes(p, s, 0, error)
    distance = approach(error, TARGET_SPEED * p.max_velocity[0], 0.5 * p.max_acceleration[0], velocity)
    for i in range(3):
        twist[i] += velocity[i]
    multiply_transposed(u.target_rotation, s.R_ref, R)
    log_so3(R, error)
    leave_pressing_axes(p, s, 3, error)
    angle = approach(error, TARGET_SPEED * p.max_velocity[1], 0.5 * p.max_acceleration[1], velocity)
    for i in range(3):
        twist[3 + i] += velocity[i]
    if distance < REACHED and angle < REACHED:
        s.target_active = 0


@kernel
def leave_pressing_axes(p, s, first, error):
    """Along an axis that presses, the surface says where the tool is: a target there would hold the tool off it.

    error: to the target, base axes; first: 0 for its position, 3 for its orientation."""
    pressing = False
    for i in range(first, first + 3):
        if p.force_axes[i] != 0.0 and s.desired_wrench[i] != 0.0:
            pressing = True
    if not pressing:
        return
    R, along = mat3(), vec3()
    control_axes(p, s, R)
    rotate_back(R, error, along)
    for i in range(3):
        if p.force_axes[first + i] != 0.0 and s.desired_wrench[first + i] != 0.0:
            along[i] = 0.0
    rotate(R, along, error)


@kernel
def pose_error(s, measured, error):
    """Commanded minus measured pose, base axes: [p_cmd - p; log(R_cmd R^T)]."""
    R_command, difference, E = mat3(), mat3(), mat3()
    exp_so3(s.offset[3:], E)
    multiply(E, s.R_ref, R_command)
    multiply_transposed(R_command, measured.R, difference)
    log_so3(difference, error[3:])
    for i in range(3):
        error[i] = s.p_ref[i] + s.offset[i] - measured.p[i]


@kernel
def advance(p, s, law, desired, wanted, realised, dt):
    """5  Moves reference and offset by what the arm will really do.

    deficit = realised - wanted. Law and desired twist each take a part of it in proportion to their size, so that
    neither winds up: after a release at a limit the arm stops as the ideal system would.
    """
    R, x_next, v_next = law.R, law.x_next, law.v_next
    lost_law, lost_desired, tracking = vec6(), vec6(), vec3()
    for part in range(2):
        for i in range(3):
            k = 3 * part + i
            tracking[i] = wanted[k] - law.twist[k] - desired[k]
        of_law = norm(law.twist[3 * part : 3 * part + 3])
        of_desired = norm(desired[3 * part : 3 * part + 3])
        total = of_law + of_desired + norm(tracking)
        for k in range(3 * part, 3 * part + 3):
            deficit = (realised[k] - wanted[k]) / total if total > 0.0 else 0.0
            lost_law[k] = of_law * deficit
            lost_desired[k] = of_desired * deficit

    lost = vec6()
    control_axes(p, s, R)  # tracking may have turned the reference
    rotate_back(R, lost_law[:3], lost[:3])
    rate = vec3()
    left_jacobian_inverse(s.offset[3:], lost_law[3:], rate)
    rotate_back(R, rate, lost[3:])

    x, absorbed = vec6(), vec6()
    for a in range(0, 6, 3):
        rotate_back(R, s.offset[a : a + 3], x[a : a + 3])
    for i in range(6):
        absorbed[i] = 0.0
        if p.enabled[i] == 0.0 and v_next[i] == 0.0:
            absorbed[i], x_next[i] = x[i], 0.0
            continue
        mean = (x_next[i] - x[i]) / dt + lost[i]
        x_next[i] += lost[i] * dt
        v = v_next[i] + lost[i]
        if too_fast(s.mass[i], s.damping[i], s.stiffness[i], dt):
            # After half a period of a stiff spring its rate is opposite to its mean: no faster than either of them.
            fastest = max(abs(v_next[i]), abs(mean))
            v = clip(v, -fastest, fastest)
        keep_realised(s, i, v_next[i] - law.rate[i], v - law.rate[i])
        v_next[i] = v
        if s.stiffness[i] == 0.0 or p.enabled[i] == 0.0:
            absorbed[i] = x_next[i]
            x_next[i] = 0.0
    update_bias(p, s, v_next, dt)

    # The reference moves as asked, in axes that the offset has rotated for the commanded pose ...
    E, shift = mat3(), vec6()
    exp_so3(s.offset[3:], E)
    for i in range(6):
        shift[i] = desired[i] + lost_desired[i]
    rotate_back(E, shift[3:], rate)
    turn(s.R_ref, rate, dt)
    # ... and takes over the offset of free axes.
    for a in range(0, 6, 3):
        rotate(R, x_next[a : a + 3], s.offset[a : a + 3])
        rotate(R, v_next[a : a + 3], s.rate[a : a + 3])
    rotate(R, absorbed[:3], rate)
    for i in range(3):
        s.p_ref[i] += shift[i] * dt + rate[i]
    rotate(R, absorbed[3:], rate)
    absorb_rotation(s, rate)


@kernel
def absorb_rotation(s, r):
    """R_ref := exp([r_kept])^T exp([r_kept + r]) R_ref: the commanded orientation stays when r leaves the offset."""
    if norm(r) == 0.0:
        return
    whole, kept, difference, turned = vec3(), mat3(), mat3(), mat3()
    for i in range(3):
        whole[i] = s.offset[3 + i] + r[i]
    exp_so3(whole, turned)
    exp_so3(s.offset[3:], kept)
    for i in range(3):
        for j in range(3):
            difference[i, j] = kept[0, i] * turned[0, j] + kept[1, i] * turned[1, j] + kept[2, i] * turned[2, j]
    log_so3(difference, whole)
    turn(s.R_ref, whole, 1.0)


@kernel
def carry(s, twist):
    """The reference turns with w, the commanded orientation exp([r]) R_ref then with exp([r]) w."""
    E = mat3()
    exp_so3(s.offset[3:], E)
    rotate(E, twist[3:], twist[3:])


@kernel
def hold_when_quiet(p, s, R, silent, desired, measured, dt):
    """Drift reset: no wrench and hardly any motion for a while -> rates of free axes := 0, reference := measured."""
    v, shift = vec6(), vec6()
    moving = norm(s.well) > AT_PLACE
    if not silent:
        s.guided = 1.0
    for a in range(0, 6, 3):
        rotate_back(R, s.rate[a : a + 3], v[a : a + 3])
    for i in range(6):
        if s.stiffness[i] == 0.0 and abs(v[i]) > p.drift_reset_threshold:
            moving = True
        if desired[i] != 0.0 or s.desired_wrench[i] != 0.0:
            moving = True
    if moving or not silent:
        s.quiet_time = 0.0
        return
    s.quiet_time += dt
    if s.quiet_time < QUIET:
        return
    s.guided = 0.0
    error, turned = vec6(), vec3()
    pose_error(s, measured, error)
    for a in range(0, 6, 3):
        rotate_back(R, error[a : a + 3], shift[a : a + 3])
    for i in range(6):
        if s.stiffness[i] == 0.0:
            v[i] = 0.0
            if p.enabled[i] == 0.0:  # a disabled axis holds its reference, even while nothing moves
                shift[i] = 0.0
        else:
            shift[i] = 0.0
    for a in range(0, 6, 3):
        rotate(R, v[a : a + 3], s.rate[a : a + 3])
    rotate(R, shift[:3], turned)
    for i in range(3):
        s.p_ref[i] -= turned[i]
    rotate(R, shift[3:], turned)
    if norm(turned) > 0.0:
        turn(s.R_ref, turned, -1.0)
