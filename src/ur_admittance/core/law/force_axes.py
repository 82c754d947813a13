"""2.6  Axes under force control: their speed in free space, and how they follow a surface that moves."""

from ur_admittance.core.kernel import kernel
from ur_admittance.core.spatial import clip

SETTLED = 3.0  # time constants of the force until it is within 5 %; a bias as slow as that has a damping ratio of 0.87


@kernel
def limit_approach(p, s, i, v, v_next, dt):
    """Rate of a force axis, kept within the approach speed of its velocity bias: it neither rushes to the surface nor
    races away when the surface ends."""
    if p.force_axes[i] == 0.0:
        return v_next
    part = i // 3
    room = max(p.approach_speed[part], abs(v - s.velocity_bias[i]) - p.max_acceleration[part] * dt)
    return clip(v_next, s.velocity_bias[i] - room, s.velocity_bias[i] + room)


@kernel
def update_bias(p, s, v, dt):
    """Velocity bias of a force axis: follows the axis' own rate while it touches, so that a surface that moves, slopes
    or curves is followed with no force error (b' = (v - b) / T is integral action). Decays when contact is lost.

    The force settles with D / K. An integral that is not slower, or that takes the approach for a motion of the
    surface, overshoots: T is at least 3 D / K, and the bias begins that long after the touch.
    """
    contact = s.contact
    for i in range(6):
        if p.force_axes[i] == 0.0 or p.bias_time <= 0.0 or p.enabled[i] == 0.0:
            s.velocity_bias[i] = 0.0
            continue
        settling = 0.0
        if contact.withstood[i] > 0.0:
            settling = SETTLED * max(s.damping[i], contact.damping[i]) / contact.withstood[i]
        arriving = contact.ran_into[i] != 0.0 and contact.impact.time[i] < settling
        aim = v[i] if contact.touching[i] != 0.0 and not arriving else 0.0
        limit = p.bias_limit[i // 3]
        s.velocity_bias[i] += min(1.0, dt / max(p.bias_time, settling)) * (aim - s.velocity_bias[i])
        s.velocity_bias[i] = clip(s.velocity_bias[i], -limit, limit)
