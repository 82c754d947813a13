"""0  New parameters take over: what the arm does is not changed by the change itself.

Nothing that is remembered is in the arm: the reference, the offset of a spring, the desired force are numbers about a
TCP and in axes that parameters define. They are expressed anew for the same arm at the same place:

    another TCP               T_ref := T_ref D, D: from the old TCP to the new one; offset and speeds of that point
    other control axes        x := R_new^T R_old x  for the desired wrench, the velocity bias, what contacts have taught
    another zero, tool        the filtered wrench as if it had always been compensated like that

What drives the law may still change: another torque about another point, a spring in another direction. The difference
is kept as a force of its own that fades out over the engagement time, like that of the tracking error (ramps.py).
"""

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import ACTIVE
from ur_admittance.core.contact.surface import LARGEST_TILT, along_surface, friction_cone
from ur_admittance.core.contact.turned_contact import turn_contact
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.law.control_axes import NORMAL, control_axes
from ur_admittance.core.spatial import (
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
from ur_admittance.core.wrench.condition import condition, deadband, unload

NO_FILTER_HZ = 1e8  # above it a filter has no effect at any rate; a number that passes for a sane one in the state
SAME_AXES = 1e-9  # sum of squares of R_new^T R_old - I below which nothing is turned: rounding


@kernel
def adopt(p, s, u, c, usable, R_measured):
    """Call when the parameters can be trusted, before anything else uses what is remembered. R_measured: of the new
    TCP; usable: the sample has a wrench to trust. Leaves a wrench by the old parameters in c."""
    old = s.known
    if old.valid != 0.0:
        if old.revision == p.revision:
            return
        R_old, R_new, D = mat3(), mat3(), mat3()
        control_axes(old, s, R_old)
        transposed_multiply(old.tip_rotation, p.chain_rotation[6], D)
        for i in range(6):  # what is left of an earlier change: the ramp begins anew
            s.carried[i] *= 1.0 - s.ramp
            s.slip[i] *= 1.0 - s.ramp
        s.changed = 1.0 if s.mode == ACTIVE and usable else 0.0
        if s.changed != 0.0:
            drive_as_before(s, u, c, R_old, R_measured, D)
        led_before, led = vec3(), vec3()
        streamed(old, s, u, led_before)
        move_tip(p, s, u, D)
        if p.control_frame == NORMAL:
            keep_normal(p, s)
        streamed(p, s, u, led)
        if s.mode == ACTIVE:
            for i in range(3):
                s.rate[i] += led_before[i] - led[i]
        control_axes(p, s, R_new)
        turn_axes(s, R_old, R_new)
        if usable:
            keep_wrench(p, s, u, R_measured, D)
        else:
            s.filter_ready = 0
        if old.response_time != p.response_time:
            keep_model(p, s)
        keep_bias(p, s)
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
    known.p_tcp_sensor[:] = p.p_tcp_sensor
    known.sensor_sign = p.sensor_sign
    known.sensor_bias[:] = p.sensor_bias
    known.tool_weight_base[:] = p.tool_weight_base
    known.tool_com[:] = p.tool_com
    known.tool_inertia_mass = p.tool_inertia_mass
    known.filter_cutoff_hz = min(p.filter_cutoff_hz, NO_FILTER_HZ)
    known.deadband_force = p.deadband_force
    known.deadband_torque = p.deadband_torque
    known.deadband_axis[:] = p.deadband_axis
    known.enabled[:] = p.enabled
    known.force_axes[:] = p.force_axes
    known.contact_friction = p.contact_friction
    known.response_time = p.response_time


@kernel
def drive_as_before(s, u, c, R, R_measured, D):
    """s.felt and s.driving: what the old parameters make of this very sample. R: R_base_control of the old ones."""
    old = s.known
    R_tcp, filtered, x, v, w, well = mat3(), vec6(), vec6(), vec6(), vec6(), vec6()
    ready = s.filter_ready
    filtered[:] = s.wrench_filtered
    multiply_transposed(R_measured, D, R_tcp)
    condition(old, s, u, R_tcp, c)
    s.wrench_filtered[:] = filtered  # which goes on with the new parameters
    s.filter_ready = ready
    for a in range(0, 6, 3):
        rotate_back(R, s.offset[a : a + 3], x[a : a + 3])
        rotate_back(R, s.rate[a : a + 3], v[a : a + 3])
        rotate_back(R, c.wrench_tcp[a : a + 3], w[a : a + 3])
    rotate_back(R, s.well, well[:3])
    friction_cone(old, w)
    s.felt[:] = w
    deadband(old, s.pressed, w)
    for i in range(6):
        drive = w[i] - s.desired_wrench[i] + s.damped[i] * (s.velocity_bias[i] - v[i]) - s.stiffness[i] * x[i]
        drive += well[i] if old.force_axes[i] == 0.0 else 0.0
        s.driving[i] = old.enabled[i] * s.obeyed[i] * (drive + s.carried[i])


@kernel
def streamed(p, s, u, velocity):
    """Speed of the reference that is streamed. What a change alters in it at once becomes a speed of the law, which
    fades out. p: PARAMS or KNOWN."""
    velocity[:] = s.led.twist[:3]
    if p.control_frame == NORMAL:
        along_surface(s.contact.normal, velocity)


@kernel
def move_tip(p, s, u, D):
    """Everything about the old TCP becomes the same about the new one. D: R_old_new. A streamed twist turns
    the arm about the new TCP from now on: see `streamed`."""
    tip, arm, lever, arc, spin, change, E, R = vec3(), vec3(), vec3(), vec3(), vec3(), vec3(), mat3(), mat3()
    known = s.known
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
    if s.mode == ACTIVE:
        rotate(E, s.led.twist[3:], arc)
        for i in range(3):
            spin[i] += arc[i]
    cross(spin, lever, change)
    for i in range(3):
        s.p_ref[i] += arm[i]
        s.offset[i] += lever[i] - arm[i]
        s.rate[i] += change[i]
    multiply(s.R_ref, D, R)
    copy_matrix(R, s.R_ref)
    move_point(s.lag, lever)
    move_point(s.slip, lever)
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
        before = s.lag[i]
        s.lag[i] = before * p.response_time / old if old > 0.0 else s.twist[i] * p.response_time
        s.slip[i] += s.lag[i] - before


@kernel
def keep_bias(p, s):
    """Velocity biases that the new parameters do not allow end here, where their force is still carried on."""
    for i in range(6):
        limit = p.bias_limit[i // 3]
        if p.force_axes[i] == 0.0 or p.bias_time <= 0.0 or p.enabled[i] == 0.0:
            limit = 0.0
        s.velocity_bias[i] = clip(s.velocity_bias[i], -limit, limit)
