"""Contact that does not bounce: what an axis touches, how stiff it is, and the damping that this needs.

On a surface of stiffness K an arm that answers after the time T is stable when about  D >= K T: the loop is
x' = -(K/D) x(t - T - M/D), without overshoot while  r = (T + M/D) K/D  stays below 1/e. The damping for a given r is

    D = a + sqrt(a^2 + K M / r),   a = K T / 2r

K is seen from the command: the surface in series with the arm's own compliance. It is found in three ways:

- An arm that moves by itself (force axes, a moving reference) runs into something: K = -df/dx since it touched.
- The force oscillates, three periods or more above 4 Hz that do not decay: K = -sum(x f) / sum(x^2) over the last ones.
- A hand drives the tool into something: K is the slope of the opposing force over the displacement within 30 ms, where
  it is steeper than shaking the mass of the law at 5 Hz would make it, M (2 pi 5 Hz)^2: 7.9 kN/m for 8 kg.

None of it happens when a hand guides the arm in free space: the arm does not run into the hand, and people do not shake
a tool that fast. Damping is only ever raised above what the user chose, is kept until the contact is lost, then returns
smoothly.
"""

import math

from .compile import kernel, mat3, vec3, vec6
from .records import Frame
from .spatial import copy_matrix, cross, multiply, norm, rotate_back
from .wrench import smoothing

TCP, TASK, NORMAL = int(Frame.TCP), int(Frame.TASK), int(Frame.NORMAL)

IMPACT = 0.1  # [s] after touching in which force over displacement is taken for the stiffness
IMPACT_FORCE = (1.0, 0.1)  # [N, Nm] change of force from which that ratio is better than its noise
RUNNING = (0.0005, 0.005)  # [m/s, rad/s] slower, nothing is run into
BAND_LOW_HZ = 4.0
MEMORY = 0.2  # [s] of the sums
OSCILLATION = (1.0, 0.1)  # [N, Nm] smallest peak that counts
HALF_PERIOD = (0.015, 0.125)  # [s] 4 to 33 Hz
SUSTAINED = 0.7  # each peak at least this share of the one before: it does not die out by itself
HALF_CYCLES = 6
HIT_TIME = 0.03  # [s] of the slope of force over displacement
HIT_FORCE = (5.0, 0.5)  # [N, Nm] standard deviation of the force in that time that counts
HAND_STIFFNESS = (2.0 * math.pi * 5.0) ** 2  # [1/s2] stiffness over mass that a hand feigns by shaking at 5 Hz
EXPLAINED = 0.6  # share of the force that the displacement explains
HOLD = 0.5  # [s] without the force of a hit before it is left
AWAY = (0.005, 0.05)  # [m, rad]
STIFFEST = 1e5  # [N/m, Nm/rad] no arm holds its tool more stiffly, so nothing it touches appears stiffer
LOST = 0.1  # [s] without force before contact is lost
RELEASE_TIME = 0.3  # [s] of the way back to the user's damping
SLIDING = 0.002  # [m/s] slower, the direction of the friction force is unknown
LARGEST_TILT = 0.5  # cosine of the largest angle between the estimated normal and the axis it started from


@kernel
def observe(p, s, wrench, R, driven, dt):
    """Contact, stiffness and needed damping of every control axis.

    wrench: about the TCP, control axes, before the deadband. R: R_base_control. driven: the reference moves by itself.
    """
    model_twist, v = vec6(), vec6()  # how a free arm would move now, after its response time
    for i in range(6):
        model_twist[i] = s.lag[i] / p.response_time if p.response_time > 0.0 else s.twist[i]
    rotate_back(R, model_twist[:3], v[:3])
    rotate_back(R, model_twist[3:], v[3:])
    fresh = smoothing(p.filter_cutoff_hz, dt)
    for i in range(6):
        by_itself = driven or p.force_axes[i] != 0.0
        touch(p, s, wrench[i], v[i], by_itself, i, dt)
        stiffness = max(
            impact_stiffness(s, wrench[i], v[i], fresh, i, dt), oscillation_stiffness(s, wrench[i], v[i], fresh, i, dt)
        )
        if not by_itself:
            stiffness = max(stiffness, hit_stiffness(s, wrench[i], v[i], i, dt))
        if stiffness > 0.0:
            if not by_itself and s.hit_side[i] == 0.0:
                s.hit_side[i] = 1.0 if wrench[i] > 0.0 else -1.0
                s.since_hit[i] = s.hit_way[i] = s.unloaded[i] = 0.0
            s.contact_stiffness[i] = min(stiffness, STIFFEST)
            stiff = s.contact_stiffness[i] * p.loop_delay > s.damping[i]
            if p.stabilizer != 0.0 and (stiff or p.force_axes[i] != 0.0):
                a = 0.5 * s.contact_stiffness[i] * p.loop_delay / p.contact_ratio
                enough = a + math.sqrt(a * a + s.contact_stiffness[i] * s.mass[i] / p.contact_ratio)
                s.contact_damping[i] = max(s.contact_damping[i], min(enough, p.max_contact_damping[i // 3]))
        leave_hit(p, s, wrench[i], v[i], i, dt)
        touching = s.contact[i] != 0 and (s.ran_into[i] != 0 or p.force_axes[i] != 0.0)
        if not touching and s.hit_side[i] == 0.0 and s.contact_damping[i] > 0.0:
            s.contact_damping[i] -= min(1.0, dt / RELEASE_TIME) * s.contact_damping[i]
            if s.contact_damping[i] < s.damping[i]:
                s.contact_damping[i] = 0.0
                s.contact_stiffness[i] = 0.0


@kernel
def touch(p, s, force, v, by_itself, i, dt):
    """Contact with hysteresis: on above the threshold, off after a while below a third of it."""
    threshold = p.contact_threshold[i // 3]
    if abs(force) > threshold:
        s.contact[i] = 1
    if abs(force) > threshold / 3.0:
        if s.lost_time[i] > LOST:  # just touched
            s.ran_into[i] = 1 if by_itself and force * v < 0.0 and abs(v) > RUNNING[i // 3] else 0
            s.since_touch[i] = 0.0
            s.f_touch[i] = force
            s.x_touch[i] = s.x_touch_filtered[i] = 0.0
        s.lost_time[i] = 0.0
    else:
        s.lost_time[i] += dt
        if s.lost_time[i] > LOST:
            s.contact[i] = 0
            s.ran_into[i] = 0


@kernel
def impact_stiffness(s, force, v, fresh, i, dt):
    """Stiffness of what the axis has just run into, 0: nothing, or not known yet."""
    if s.ran_into[i] == 0:
        return 0.0
    s.since_touch[i] += dt
    s.x_touch[i] += v * dt
    s.x_touch_filtered[i] += fresh * (s.x_touch[i] - s.x_touch_filtered[i])  # the force went through this filter too
    change = force - s.f_touch[i]
    if s.since_touch[i] > IMPACT or abs(change) < IMPACT_FORCE[i // 3] or change * s.x_touch_filtered[i] >= 0.0:
        return 0.0
    return -change / s.x_touch_filtered[i]


@kernel
def hit_stiffness(s, force, v, i, dt):
    """Stiffness of what a hand-guided tool hits, 0: nothing. It is the slope of force over displacement in the last
    moments, where that is steeper than a hand can make it by shaking the mass of the law."""
    recent = min(1.0, dt / HIT_TIME)
    x, f = s.hit_x[i] + v * dt, force - s.hit_f[i]  # from their means
    s.hit_x[i] = (1.0 - recent) * x
    s.hit_f[i] += recent * f
    s.hit_xx[i] += recent * (x * x - s.hit_xx[i])
    s.hit_xf[i] += recent * (x * f - s.hit_xf[i])
    s.hit_ff[i] += recent * (f * f - s.hit_ff[i])
    if s.hit_side[i] != 0.0 and s.since_hit[i] > IMPACT:  # with the damping raised, a hand looks stiffer than it is
        return 0.0
    if s.unlimited < IMPACT:  # at a limit the arm does not obey the force
        return 0.0
    if force * v >= 0.0 or abs(force) < HIT_FORCE[i // 3]:  # a push that ends is steep, too, but does not oppose
        return 0.0
    if s.hit_ff[i] < HIT_FORCE[i // 3] ** 2 or s.hit_xf[i] > -HAND_STIFFNESS * s.mass[i] * s.hit_xx[i]:
        return 0.0
    if s.hit_xf[i] * s.hit_xf[i] < EXPLAINED * s.hit_xx[i] * s.hit_ff[i]:
        return 0.0
    return -s.hit_xf[i] / s.hit_xx[i]


@kernel
def leave_hit(p, s, force, v, i, dt):
    """What was hit is left when its force is gone for a while, or when the tool has moved with that force further than
    anything stiff could have pushed it."""
    if s.hit_side[i] == 0.0:
        return
    s.since_hit[i] += dt
    s.hit_way[i] += s.hit_side[i] * v * dt
    s.unloaded[i] = 0.0 if force * s.hit_side[i] > p.contact_threshold[i // 3] / 3.0 else s.unloaded[i] + dt
    if s.unloaded[i] > HOLD or s.hit_way[i] > AWAY[i // 3]:
        s.hit_side[i] = 0.0


@kernel
def oscillation_stiffness(s, force, v, fresh, i, dt):
    """Stiffness behind a lasting oscillation, 0: there is none."""
    slow = smoothing(BAND_LOW_HZ, dt)
    s.x_high[i] += v * dt - slow * s.x_high[i]
    s.x_band[i] += fresh * (s.x_high[i] - s.x_band[i])
    s.f_slow[i] += slow * (force - s.f_slow[i])
    f = force - s.f_slow[i]
    forget = min(1.0, dt / MEMORY)
    s.sum_xx[i] += forget * (s.x_band[i] * s.x_band[i] - s.sum_xx[i])
    s.sum_xf[i] += forget * (s.x_band[i] * f - s.sum_xf[i])

    s.half_time[i] += dt
    if f * s.side[i] >= 0.0:  # still the same half of the cycle
        s.peak[i] = max(s.peak[i], abs(f))
    else:
        regular = HALF_PERIOD[0] < s.half_time[i] < HALF_PERIOD[1] and s.peak[i] > OSCILLATION[i // 3]
        if regular and s.peak[i] > SUSTAINED * s.last_peak[i]:
            s.half_cycles[i] += 1
        else:
            s.half_cycles[i] = 0
        s.last_peak[i] = s.peak[i]
        s.peak[i] = abs(f)
        s.half_time[i] = 0.0
    s.side[i] = 1.0 if f > 0.0 else -1.0
    if s.half_time[i] > HALF_PERIOD[1]:
        s.half_cycles[i] = 0
    if s.half_cycles[i] < HALF_CYCLES or s.sum_xf[i] >= 0.0 or s.sum_xx[i] <= 0.0:
        return 0.0
    return -s.sum_xf[i] / s.sum_xx[i]


@kernel
def forget_contact(p, s):
    """At activation: nothing is touched, nothing is known."""
    for i in range(6):
        s.contact[i] = s.ran_into[i] = s.half_cycles[i] = 0
        s.hit_x[i] = s.hit_f[i] = s.hit_xx[i] = s.hit_xf[i] = s.hit_ff[i] = 0.0
        s.hit_side[i] = s.since_hit[i] = s.hit_way[i] = s.unloaded[i] = 0.0
        s.lost_time[i] = s.since_touch[i] = s.contact_stiffness[i] = s.contact_damping[i] = 0.0
        s.x_touch[i] = s.x_touch_filtered[i] = s.f_touch[i] = 0.0
        s.x_high[i] = s.x_band[i] = s.f_slow[i] = s.sum_xx[i] = s.sum_xf[i] = 0.0
        s.half_time[i] = s.peak[i] = s.last_peak[i] = s.side[i] = 0.0
    s.travel = s.unlimited = 0.0
    for i in range(3):
        s.normal[i] = p.R_base_task[i, 2]


@kernel
def approach_limit(p, s, i, v, v_next, dt):
    """Rate of a force axis, kept within the approach speed of its velocity bias: it neither rushes to the surface nor
    races away when the surface ends."""
    if p.force_axes[i] == 0.0:
        return v_next
    part = i // 3
    room = max(p.approach_speed[part], abs(v - s.velocity_bias[i]) - p.max_acceleration[part] * dt)
    return min(max(v_next, s.velocity_bias[i] - room), s.velocity_bias[i] + room)


@kernel
def update_bias(p, s, v, dt):
    """Velocity bias of a force axis: follows the axis' own rate while it touches, so that a surface that moves, slopes
    or curves is followed with no force error (b' = (v - b) / T is integral action). Forgotten when contact is lost."""
    for i in range(6):
        if p.force_axes[i] == 0.0 or p.bias_time <= 0.0 or p.enabled[i] == 0.0:
            s.velocity_bias[i] = 0.0
            continue
        limit = p.bias_limit[i // 3]
        aim = v[i] if s.contact[i] != 0 else 0.0
        s.velocity_bias[i] += min(1.0, dt / p.bias_time) * (aim - s.velocity_bias[i])
        s.velocity_bias[i] = min(max(s.velocity_bias[i], -limit), limit)


@kernel
def estimate_normal(p, s, force, velocity, dt):
    """Outward normal of the surface under a sliding tool: the contact force without its part along the motion, which is
    friction. force, velocity: base axes. Starts from, and stays within 60 degrees of, the z axis of the task frame."""
    z = vec3()
    for i in range(3):
        z[i] = p.R_base_task[i, 2]
    if s.contact[2] == 0:
        for i in range(3):
            s.normal[i] += min(1.0, dt / RELEASE_TIME) * (z[i] - s.normal[i])
    speed = norm(velocity)
    if s.contact[2] != 0 and speed > SLIDING and p.normal_time > 0.0:
        along = (force[0] * velocity[0] + force[1] * velocity[1] + force[2] * velocity[2]) / (speed * speed)
        n = vec3()
        for i in range(3):
            n[i] = force[i] - along * velocity[i]
        size = norm(n)
        if size > 0.0 and n[0] * z[0] + n[1] * z[1] + n[2] * z[2] > LARGEST_TILT * size:
            for i in range(3):
                s.normal[i] += min(1.0, dt / p.normal_time) * (n[i] / size - s.normal[i])
    size = norm(s.normal)
    for i in range(3):
        s.normal[i] = s.normal[i] / size if size > 0.5 else z[i]


@kernel
def control_axes(p, s, R):
    """R_base_control. NORMAL: the task axes, tilted the shortest way so that z is the surface normal."""
    if p.control_frame == TCP:
        copy_matrix(s.R_ref, R)
    elif p.control_frame == TASK:
        copy_matrix(p.R_base_task, R)
    elif p.control_frame == NORMAL:
        z, v, E = vec3(), vec3(), mat3()
        for i in range(3):
            z[i] = p.R_base_task[i, 2]
        cross(z, s.normal, v)
        cosine = z[0] * s.normal[0] + z[1] * s.normal[1] + z[2] * s.normal[2]
        for i in range(3):  # I + [v] + [v]^2 / (1 + cos)
            for j in range(3):
                E[i, j] = v[i] * v[j] / (1.0 + cosine)
            E[i, i] += cosine
        E[0, 1] -= v[2]
        E[1, 0] += v[2]
        E[0, 2] += v[1]
        E[2, 0] -= v[1]
        E[1, 2] -= v[0]
        E[2, 1] += v[0]
        multiply(E, p.R_base_task, R)
    else:
        for i in range(3):
            for j in range(3):
                R[i, j] = 1.0 if i == j else 0.0


@kernel
def along_surface(s, velocity):
    """A desired velocity turned into the tangent plane of the estimated surface, its speed kept."""
    speed = norm(velocity)
    into = velocity[0] * s.normal[0] + velocity[1] * s.normal[1] + velocity[2] * s.normal[2]
    for i in range(3):
        velocity[i] -= into * s.normal[i]
    left = norm(velocity)
    if left > 0.3 * speed:
        for i in range(3):
            velocity[i] *= speed / left
