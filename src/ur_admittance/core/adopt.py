"""0  New parameters take over: what the arm does is not changed by the change itself.

Nothing that is remembered is in the arm: the reference, the offset of a spring, the desired force are numbers about a
TCP and in axes that parameters define. They are expressed anew for the same arm at the same place:

    another TCP               T_ref := T_ref D, D: from the old TCP to the new one; offset and speeds of that point
    other control axes        x := R_new^T R_old x  for the desired wrench, the velocity bias, what contacts have taught
    another zero, tool        the filtered wrench as if it had always been compensated like that

What drives the law may still change: another torque about another point, a spring in another direction. The difference
is kept as a force of its own that fades out over the engagement time, like that of the tracking error (ramps.py).
"""

from .chain import forward, twist_of
from .checks import ACTIVE
from .compile import kernel, mat3, mat6, vec3, vec6
from .control_axes import NORMAL, control_axes
from .spatial import (
    clip,
    copy_matrix,
    cross,
    dot,
    exp_so3,
    left_jacobian,
    multiply,
    multiply_transposed,
    rotate,
    rotate_back,
    transposed_multiply,
)
from .surface import LARGEST_TILT
from .wrench import unload

SAME_AXES = 1e-9  # sum of squares of R_new^T R_old - I below which nothing is turned: rounding
ALIGNED = 0.3  # cosine from which a new axis takes over what is known of the contact on an old one: within 73 degrees


@kernel
def adopt(p, s, u, usable, R_measured):
    """Call when the parameters can be trusted, before anything else uses what is remembered. R_measured: of the new
    TCP; usable: the sample has a wrench to trust."""
    old = s.known
    if old.valid != 0.0:
        if old.revision == p.revision:
            return
        R_old, R_new, D = mat3(), mat3(), mat3()
        control_axes(old, s, R_old)
        move_tip(p, s, D)
        if p.control_frame == NORMAL:
            keep_normal(p, s)
        control_axes(p, s, R_new)
        turn_axes(s, R_old, R_new)
        if usable:
            keep_wrench(p, s, u, R_measured, D)
        else:
            s.filter_ready = 0
        if old.response_time != p.response_time:
            keep_model(p, s)
        keep_bias(p, s)
        s.changed = 1.0 if s.mode == ACTIVE else 0.0
    remember(p, s)


@kernel
def remember(p, s):
    known = s.known
    known.valid = 1.0
    known.revision = p.revision
    copy_matrix(p.chain_rotation[6], known.tip_rotation)
    known.tip_position[:] = p.chain_position[6]
    known.control_frame = p.control_frame
    copy_matrix(p.R_base_task, known.R_base_task)
    copy_matrix(p.R_tcp_sensor, known.R_tcp_sensor)
    known.sensor_sign = p.sensor_sign
    known.sensor_bias[:] = p.sensor_bias
    known.tool_weight_base[:] = p.tool_weight_base
    known.tool_com[:] = p.tool_com
    known.tool_inertia_mass = p.tool_inertia_mass
    known.response_time = p.response_time


@kernel
def move_tip(p, s, D):
    """Everything about the old TCP becomes the same about the new one. D: out, R_old_new."""
    tip, arm, lever, spin, change, E, R = vec3(), vec3(), vec3(), vec3(), vec3(), mat3(), mat3()
    known = s.known
    transposed_multiply(known.tip_rotation, p.chain_rotation[6], D)
    moved = False
    for i in range(3):
        change[i] = p.chain_position[6, i] - known.tip_position[i]
        moved |= change[i] != 0.0
        for j in range(3):
            moved |= p.chain_rotation[6, i, j] != known.tip_rotation[i, j]
    if not moved:
        return
    rotate_back(known.tip_rotation, change, tip)
    rotate(s.R_ref, tip, arm)
    exp_so3(s.offset[3:], E)
    rotate(E, arm, lever)
    left_jacobian(s.offset[3:], s.rate[3:], spin)
    cross(spin, lever, change)
    for i in range(3):
        s.p_ref[i] += arm[i]
        s.offset[i] += lever[i] - arm[i]
        s.rate[i] += change[i]
    multiply(s.R_ref, D, R)
    copy_matrix(R, s.R_ref)
    move_point(s.lag, lever)
    move_point(s.tracked, lever)
    if s.has_command != 0:
        q, J = vec6(), mat6()
        for i in range(6):
            q[i] = s.q_command[i] - 0.5 * s.period * s.qd_command[i]
        forward(p.chain_rotation, p.chain_position, q, R, tip, J)
        twist_of(J, s.qd_command, s.twist)


@kernel
def move_point(twist, lever):
    """v := v + w x lever"""
    more = vec3()
    cross(twist[3:], lever, more)
    for i in range(3):
        twist[i] += more[i]


@kernel
def keep_normal(p, s):
    """An estimated surface normal stays, unless it is far from the new task axis, or was not estimated."""
    z = vec3()
    for i in range(3):
        z[i] = p.R_base_task[i, 2]
    if s.known.control_frame != NORMAL or dot(z, s.contact.normal) < LARGEST_TILT:
        s.contact.normal[:] = z


@kernel
def turn_axes(s, R_old, R_new):
    """What is remembered in control axes, from the old to the new ones."""
    C = mat3()  # R_new_old
    transposed_multiply(R_new, R_old, C)
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += (C[i, j] - (1.0 if i == j else 0.0)) ** 2
    if square < SAME_AXES:
        return
    for a in range(0, 6, 3):
        rotate(C, s.desired_wrench[a : a + 3], s.desired_wrench[a : a + 3])
        rotate(C, s.velocity_bias[a : a + 3], s.velocity_bias[a : a + 3])
        rotate(C, s.driving[a : a + 3], s.driving[a : a + 3])
        rotate(C, s.felt[a : a + 3], s.felt[a : a + 3])
    turn_contact(s.contact, C)


@kernel
def turn_contact(contact, C):
    """Filters of vectors are turned. A new axis takes over contact, stiffness and damping of every old one that it is
    aligned with: too much damping is slow, too little bounces. Squares and powers are collected anew."""
    for a in range(0, 6, 3):
        rotate(C, contact.distance[a : a + 3], contact.distance[a : a + 3])
        rotate(C, contact.impact.distance[a : a + 3], contact.impact.distance[a : a + 3])
        rotate(C, contact.impact.distance_filtered[a : a + 3], contact.impact.distance_filtered[a : a + 3])
        rotate(C, contact.impact.first_force[a : a + 3], contact.impact.first_force[a : a + 3])
        rotate(C, contact.oscillation.displacement[a : a + 3], contact.oscillation.displacement[a : a + 3])
        rotate(
            C,
            contact.oscillation.displacement_filtered[a : a + 3],
            contact.oscillation.displacement_filtered[a : a + 3],
        )
        rotate(C, contact.oscillation.slow_force[a : a + 3], contact.oscillation.slow_force[a : a + 3])
        rotate(C, contact.power.filtered[a : a + 3], contact.power.filtered[a : a + 3])
        rotate(C, contact.power.delayed[a : a + 3], contact.power.delayed[a : a + 3])
        rotate(C, contact.power.slow_velocity[a : a + 3], contact.power.slow_velocity[a : a + 3])
        rotate(C, contact.power.slow_force[a : a + 3], contact.power.slow_force[a : a + 3])
        rotate(C, contact.hit.force[a : a + 3], contact.hit.force[a : a + 3])
        rotate(C, contact.hit.displacement[a : a + 3], contact.hit.displacement[a : a + 3])
        rotate(C, contact.hit.mean_force[a : a + 3], contact.hit.mean_force[a : a + 3])
        take_over(C, contact.touching[a : a + 3])
        take_over(C, contact.ran_into[a : a + 3])
        take_over(C, contact.stiffness[a : a + 3])
        take_over(C, contact.damping[a : a + 3])
        take_over(C, contact.held[a : a + 3])
        take_over(C, contact.held_time[a : a + 3])
        take_over(C, contact.impact.time[a : a + 3])
        least_of(C, contact.time_without_force[a : a + 3])
    contact.oscillation.variance[:] = 0.0
    contact.oscillation.covariance[:] = 0.0
    contact.oscillation.half_cycles[:] = 0.0
    contact.power.fast_once[:] = 0.0
    contact.power.fast[:] = 0.0
    contact.power.whole_once[:] = 0.0
    contact.power.whole[:] = 0.0
    contact.power.activity_once[:] = 0.0
    contact.power.activity[:] = 0.0


@kernel
def take_over(C, values):
    """values := on each new axis the largest of the old ones that it is aligned with."""
    largest = vec3()
    for i in range(3):
        largest[i] = 0.0
        for j in range(3):
            if abs(C[i, j]) > ALIGNED:
                largest[i] = max(largest[i], values[j])
    values[:] = largest


@kernel
def least_of(C, values):
    least = vec3()
    for i in range(3):
        least[i] = 1e3
        for j in range(3):
            if abs(C[i, j]) > ALIGNED:
                least[i] = min(least[i], values[j])
    values[:] = least


@kernel
def keep_wrench(p, s, u, R_measured, D):
    """The filtered wrench keeps its distance from the unfiltered one, which the new parameters may change at once."""
    known = s.known
    R_tcp, old_axes, new_axes, C = mat3(), mat3(), mat3(), mat3()
    multiply_transposed(R_measured, D, R_tcp)
    multiply(R_tcp, known.R_tcp_sensor, old_axes)
    multiply(R_measured, p.R_tcp_sensor, new_axes)
    transposed_multiply(new_axes, old_axes, C)
    before, after = vec6(), vec6()
    unload(known, s, u, old_axes, before)
    unload(p, s, u, new_axes, after)
    flip = p.sensor_sign * known.sensor_sign
    for i in range(6):
        before[i] = flip * (s.wrench_filtered[i] - before[i])
    for a in range(0, 6, 3):
        rotate(C, before[a : a + 3], before[a : a + 3])
    for i in range(6):
        s.wrench_filtered[i] = after[i] + before[i]


@kernel
def keep_model(p, s):
    """The arm is expected to move as it does, whatever time it is said to need: lag over time stays."""
    old = s.known.response_time
    for i in range(6):
        s.lag[i] = s.lag[i] * p.response_time / old if old > 0.0 else s.twist[i] * p.response_time


@kernel
def keep_bias(p, s):
    """Velocity biases that the new parameters do not allow end here, where their force is still carried on."""
    for i in range(6):
        limit = p.bias_limit[i // 3]
        if p.force_axes[i] == 0.0 or p.bias_time <= 0.0 or p.enabled[i] == 0.0:
            limit = 0.0
        s.velocity_bias[i] = clip(s.velocity_bias[i], -limit, limit)


@kernel
def shift_contact(s, wrench):
    """Memories of the force follow a jump that only the change has made. wrench: before the deadband, control axes."""
    contact = s.contact
    for i in range(6):
        jump = wrench[i] - s.felt[i]
        contact.impact.first_force[i] += jump
        contact.oscillation.slow_force[i] += jump
        contact.power.slow_force[i] += jump
        contact.hit.force[i] += jump
        contact.hit.mean_force[i] += jump
