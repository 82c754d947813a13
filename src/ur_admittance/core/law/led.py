"""0  References that are streamed end unless they are renewed: a client that has died must not keep the arm moving."""

from ur_admittance.core.kernel import kernel

LONGEST_PAUSE = 1.0  # [s] between two samples of one run


@kernel
def real_time(last_ns, stamp_ns, dt):
    """Since the last sample [s]: dt is shorter where a robot's speed slider stretches time."""
    passed = 1e-9 * (stamp_ns - last_ns)
    return passed if dt < passed <= LONGEST_PAUSE else dt


@kernel
def take_references(s, u):
    """Fills s.led: the references of the sample, or none where they have not been renewed in time. Returns the time
    since the last sample [s]."""
    led, passed = s.led, real_time(s.stamp_ns, u.stamp_ns, u.dt)
    s.stamp_ns = u.stamp_ns
    led.twist[:] = u.reference_twist
    led.wrench[:] = u.reference_wrench
    if u.twist_id != led.twist_id:
        led.twist_id, led.twist_left = u.twist_id, u.twist_valid_for
    if u.twist_id != 0:
        led.twist_left -= passed
        if not led.twist_left > 0.0:  # NaN too
            led.twist[:] = 0.0
    if u.wrench_id != led.wrench_id:
        led.wrench_id, led.wrench_left = u.wrench_id, u.wrench_valid_for
    if u.wrench_id != 0:
        led.wrench_left -= passed
        if not led.wrench_left > 0.0:
            led.wrench[:] = 0.0
    return passed
