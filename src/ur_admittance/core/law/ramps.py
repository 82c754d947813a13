"""2  What changes gradually: mass, damping, stiffness, the desired wrench, and what a change leaves behind.

A change alters what drives the law, and the pose error that is tracked, from one tick to the next. Both differences are
kept and fade out over the engagement time (`carried`, `slip`): the arm goes on as it did, and then as it is told.
"""

from ur_admittance.core.kernel import kernel, vec3, vec6
from ur_admittance.core.spatial import clip, norm, turn

ROUNDING = 1e-9  # [m/s, rad/s] in a tick: a limit takes more, and a ratio of two roundings means nothing


@kernel
def ramp_parameters(p, s, u, dt):
    """Mass, damping and stiffness move to new values over the engagement time, the desired wrench at its slew rate."""
    if p.revision != s.revision:
        s.revision = p.revision
        s.mass_from[:] = s.mass
        s.damping_from[:] = s.damping
        s.stiffness_from[:] = s.stiffness
        s.ramp = 0.0
    if s.ramp < 1.0:
        before = s.ramp
        s.ramp = min(1.0, s.ramp + dt / p.engagement_time) if p.engagement_time > 0.0 else 1.0
        share = (s.ramp - before) / (1.0 - before)  # of what is left
        for i in range(6):
            s.tracking_gain[i] += share * min(0.0, p.tracking_gain[i] - s.tracking_gain[i])  # rises: track
            s.mass[i] = s.mass_from[i] + s.ramp * (p.mass[i] - s.mass_from[i])
            s.damping[i] = s.damping_from[i] + s.ramp * (p.damping[i] - s.damping_from[i])
            s.stiffness[i] = s.stiffness_from[i] + s.ramp * (p.stiffness[i] - s.stiffness_from[i])
    change = vec3()
    for part in range(2):
        for i in range(3):
            k = 3 * part + i
            change[i] = p.desired_wrench[k] + s.led.wrench[k] - s.desired_wrench[k]
        size = norm(change)
        most = p.desired_wrench_rate[part] * dt
        keep = most / size if size > most else 1.0
        for i in range(3):
            s.desired_wrench[3 * part + i] += keep * change[i]


@kernel
def carried_force(s, i, drive):
    """Force that is left of a change on axis i. drive: mass times acceleration without it, with the new parameters."""
    if s.changed != 0.0:
        s.carried[i] = s.driving[i] - drive
    return (1.0 - s.ramp) * s.carried[i]


@kernel
def keep_realised(s, i, wanted, got):
    """Where a limit lets the rate of axis i change by `got` in place of `wanted`, only so much of the drive counts: an
    arm at its speed limit must not leap ahead when the limit is raised."""
    if abs(wanted - got) > ROUNDING and wanted != 0.0:
        s.obeyed[i] *= clip(got / wanted, 0.0, 1.0)


@kernel
def track(p, s, error, velocity):
    """velocity = gain (error - lag). error: commanded minus measured pose. What a change alters in the lag fades in;
    where the gain rises the reference comes nearer: an error that stood there must not begin to move the arm."""
    nearer = vec6()
    for i in range(6):
        now = error[i] - s.lag[i]
        nearer[i] = 0.0
        if s.changed != 0.0 and p.tracking_gain[i] > s.tracking_gain[i]:
            keep = s.tracking_gain[i] / p.tracking_gain[i]
            s.tracking_gain[i] = p.tracking_gain[i]
            nearer[i] = (keep - 1.0) * now
            error[i] += nearer[i]
            now *= keep
            s.slip[i] *= keep
        velocity[i] = s.tracking_gain[i] * (now + (1.0 - s.ramp) * s.slip[i])
    if s.changed != 0.0:
        for i in range(3):
            s.p_ref[i] += nearer[i]
        turn(s.R_ref, nearer[3:], 1.0)
    s.changed = 0.0
