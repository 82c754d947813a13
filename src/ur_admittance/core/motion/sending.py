"""6  What is sent: the command, near the arm and near the command before it, whatever has happened in between.

A robot that carries commands on by itself (trajectories over ROS) gets each one as a plan that ends at rest:

    q(t) = q + qd t                          t <= H
    q(t) = q + qd (t - (t - H)^2 / 2T)       t <= H + T, T = max(shortest, max |qd| / BRAKING); then rest

A program that dies, or a computer that pauses, leaves an arm that brakes by itself. What comes after such a pause, or
after a jump of the command (the controller has started again at the arm), goes on from there (`join`). An arm that
stands although it is driven (a paused program, a controller that was switched) has its command near it (`stay_near`):
whenever the robot obeys again, it has no distance to make up for. An arm that is driven by speeds was stopped in the
pause: they come back slowly.
"""

import math

from ur_admittance.core.checks import ABSURD, LONGEST_PERIOD, is_sane
from ur_admittance.core.kernel import from_here, kernel, vec6
from ur_admittance.core.motion.drive_record import BRAKING, SENT_FLOATS
from ur_admittance.core.motion.following import SLACK
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE

CATCH_UP = 0.05  # [rad/s] with which a joint closes the gap of a jump: 40 mm/s at the end of a UR5e's reach
FASTER = 1.1  # of the commanded speed: the time between two commands differs from that between their samples
LAG = 0.1  # [s] of its motion, by which a moving arm may be late: 34 ms with servoj, twice, and what messages take
FRESH = 0.02  # [s] an older joint state says nothing about where the arm is
FORGET = 0.03  # [s] in which an arm that has stopped counts as standing
REGAIN = 0.5  # [s] until speeds count in full again after a pause
LONGEST_PLAN = 60.0  # [s] no robot goes on by itself for that long


@kernel
def limit_speeds(top, qd):
    """The whole vector is slowed down when a joint would exceed its top speed: the direction stays."""
    excess = 0.0
    for i in range(6):
        if top[i] > 0.0:
            excess = max(excess, abs(qd[i]) / top[i])
    if excess > 1.0:
        for i in range(6):
            qd[i] /= excess


@kernel
def braking_time(qd, shortest):
    """From these speeds to rest [s]."""
    fastest = 0.0
    for i in range(6):
        fastest = max(fastest, abs(qd[i]))
    return max(shortest, fastest / BRAKING)


@kernel((6,), (6,), (2, 6), float, float, returns=float)
def plan_to_rest(q, qd, points, hold, shortest):
    """points (2, 6): where the plan of a command begins to brake, and where it ends [rad]; returns the time of that."""
    time = braking_time(qd, shortest)
    for i in range(6):
        points[0, i] = hold * qd[i] + q[i]
        points[1, i] = 0.5 * time * qd[i] + points[0, i]
    return time


@kernel
def plan_at(q, qd, hold, shortest, t, out):
    """Where that plan is after t [s] (6,) [rad]."""
    time = braking_time(qd, shortest)
    braked = max(0.0, t - hold)
    for i in range(6):
        if braked < time:
            out[i] = q[i] + (t - braked**2 / (2.0 * time)) * qd[i]
        else:
            out[i] = 0.5 * time * qd[i] + (hold * qd[i] + q[i])


@kernel
def stay_near(m, u, q, qd):
    """q, qd, in place: no farther from the arm than SLACK + LAG |its speed lately|. An angle that is
    absurd holds nothing, such a speed counts as none."""
    forget = math.exp(-u.drive.period / FORGET)
    for i in range(6):
        speed = u.qd[i] if abs(u.qd[i]) < ABSURD else 0.0
        m.arm_speed[i] = max(abs(speed), forget * m.arm_speed[i])
        reach = SLACK + LAG * m.arm_speed[i]
        low, high = u.q[i] - reach, u.q[i] + reach
        if abs(u.q[i]) < ABSURD and not low <= q[i] <= high:
            q[i], qd[i] = low if q[i] < low else high, speed


@kernel
def join(start, step_time, elapsed, q, qd):
    """q, qd, in place: no farther from ``start`` than the speed explains in step_time [s]; a joint that is held back
    moves as it does in the time that has elapsed [s]."""
    explained = True
    for i in range(6):
        explained = explained and abs(q[i] - start[i]) <= (FASTER * abs(qd[i]) + CATCH_UP) * step_time
    for i in range(6):
        allowed = (FASTER * abs(qd[i]) + CATCH_UP) * step_time
        gap = q[i] - start[i]
        step = gap
        if abs(gap) > allowed:
            step = allowed if gap > 0.0 else -allowed
            qd[i] = step / elapsed
        if not explained:
            q[i] = start[i] + step


@kernel
def send_angles(m, u, q, qd):
    d, start = u.drive, vec6()
    if u.joint_age < FRESH:
        stay_near(m, u, q, qd)
    elapsed = d.period
    if m.valid != 0:
        elapsed = d.elapsed
        start[:] = m.q
    elif is_sane(u.q):
        start[:] = u.q
    else:
        start[:] = q
    step_time = elapsed = max(elapsed, d.period)
    if m.valid != 0 and elapsed >= d.patience:  # the arm has gone on without us
        step_time = d.period
        plan_at(m.q, m.qd, d.hold, d.shortest, elapsed, start)
    join(start, step_time, elapsed, q, qd)


@kernel
def send_speeds(m, u, qd):
    d = u.drive
    if m.valid == 0:
        m.gain = 1.0
    elif d.elapsed > d.patience:
        m.gain = 0.0
    elif m.gain < 1.0:
        m.gain = min(1.0, m.gain + d.elapsed / REGAIN)
    for i in range(6):
        qd[i] *= m.gain


@kernel
def is_believable(d):
    """Not even a record that something else has overwritten may produce a NaN."""
    return (
        0.0 < d.period <= LONGEST_PERIOD
        and abs(d.elapsed) < ABSURD
        and 0.0 <= d.hold < LONGEST_PLAN
        and 0.0 <= d.shortest < LONGEST_PLAN
    )


@kernel(PARAMS, STATE, SAMPLE, COMMAND)
def send(p, s, u, c):
    """c.q, c.qd, in place: what goes to the robot. The tick calls it, or a loop after stages behind the law."""
    m = s.sent
    if u.speed_driven != 0:
        limit_speeds(p.arm_velocity, c.qd)
    if u.drive.carries_on == 0 or not is_believable(u.drive):
        m.valid = 0
        return
    if not is_sane(from_here(m.q, SENT_FLOATS)):
        m.valid = 0
        from_here(m.q, SENT_FLOATS)[:] = 0.0
    if u.speed_driven != 0:
        send_speeds(m, u, c.qd)
    else:
        send_angles(m, u, c.q, c.qd)
    m.q[:] = c.q
    m.qd[:] = c.qd
    m.valid = 1
