"""Moving the joints by one step, and every mode but ACTIVE: brake inside all limits, then hold."""

import math

from .bounds import BRAKING, stopping_time
from .chain import forward, twist_of
from .checks import is_sane
from .choose import choose
from .compile import kernel, mat3, mat6, vec3, vec6
from .modes import clear_state, stands_still, start_memory
from .retreat import remember_place
from .singular import damped_factor
from .spatial import norm
from .wrench import ACCELERATION_CUTOFF_HZ, smoothing

BLIND_BRAKING = 5.0  # [rad/s2] when no parameters could ever be trusted


@kernel
def move_joints(s, J, qd, response_time, dt):
    """Joint positions are integrated from the last command, never from the lagging measurement."""
    twist = vec6()
    twist_of(J, qd, twist)
    take_step(s, twist, qd, response_time, dt)


@kernel
def take_step(s, twist, qd, response_time, dt):
    weight = smoothing(ACCELERATION_CUTOFF_HZ, dt)
    for i in range(3):
        s.acceleration[i] += weight * ((twist[i] - s.twist[i]) / dt - s.acceleration[i])
    s.twist[:] = twist
    late = math.exp(-dt / response_time) if response_time > 0.0 else 0.0
    for i in range(6):
        s.lag[i] = late * s.lag[i] + (1.0 - late) * response_time * twist[i]
        s.qd_command[i] = qd[i]
        s.q_command[i] += qd[i] * dt
    remember_place(s)


@kernel
def slow_down(p, s, J, trusted, dt):
    """Brakes the tool along its straight line, inside every limit. Needs no measurement."""
    if s.has_command == 0 or stands_still(s):
        s.qd_command[:] = 0.0
        s.twist[:] = 0.0
        s.acceleration[:] = 0.0
        s.lag[:] = 0.0
        return
    if not trusted:
        brake_blindly(s, dt)
        return
    q_middle, R, position = vec6(), mat3(), vec3()
    for i in range(6):
        q_middle[i] = s.q_command[i] + 0.5 * dt * s.qd_command[i]
    forward(p.chain_rotation, p.chain_position, q_middle, R, position, J)
    if norm(s.twist[:3]) == 0.0 and norm(s.twist[3:]) == 0.0:  # forgotten
        twist_of(J, s.qd_command, s.twist)
    keep = max(0.0, 1.0 - dt / stopping_time(p, s.twist, s.qd_command))
    C, V, twist, qd = mat6(), vec6(), vec6(), vec6()
    for i in range(6):
        V[i] = keep * s.twist[i]
    sigma, _ = damped_factor(J, s.singular_vectors, C)
    choose(p, s, J, C, V, sigma, q_middle, position, position, qd, twist, dt)
    if not is_sane(qd):
        for i in range(6):
            qd[i] = keep * s.qd_command[i]
    move_joints(s, J, qd, p.response_time, dt)


@kernel
def remember_limits(p, s):
    """For braking in case that the parameters cannot be trusted any more."""
    s.last_acceleration[:6] = p.joint_acceleration
    s.last_acceleration[6:] = p.max_acceleration


@kernel
def brake_blindly(s, dt):
    """Without parameters there is no model of the arm: joints and tool lose their speed at the last known limits."""
    rate = math.inf
    for i in range(6):
        if s.qd_command[i] != 0.0:
            limit = BRAKING * s.last_acceleration[i] if s.last_acceleration[i] > 0.0 else BLIND_BRAKING
            rate = min(rate, limit / abs(s.qd_command[i]))
    for part in range(2):
        speed = norm(s.twist[3 * part : 3 * part + 3])
        if speed > 0.0 and s.last_acceleration[6 + part] > 0.0:
            rate = min(rate, s.last_acceleration[6 + part] / speed)
    keep = max(0.0, 1.0 - rate * dt)
    twist, qd = vec6(), vec6()
    for i in range(6):
        twist[i] = keep * s.twist[i]
        qd[i] = keep * s.qd_command[i]
    take_step(s, twist, qd, 0.0, dt)


@kernel
def forget_all_but_motion(s, c):
    """The memory is broken: everything is forgotten except the motion, which slow_down brakes. What is not finite in it
    is taken from the last command; without a position the next valid sample starts afresh."""
    q, qd, twist = vec6(), vec6(), vec6()
    q[:] = s.q_command
    qd[:] = s.qd_command if is_sane(s.qd_command) else c.qd
    twist[:] = s.twist
    known = s.has_command != 0 and is_sane(q) and is_sane(qd)
    clear_state(s)
    if known:
        start_memory(s, q)
        s.qd_command[:] = qd
        if is_sane(twist):
            s.twist[:] = twist
