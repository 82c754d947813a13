"""3  Limits of the command twist: acceleration, workspace box, speed; linear and angular parts separately."""

import math

from .compile import kernel, vec3
from .records import Limit
from .spatial import dot, norm
from .variable import speed_factor

ACCELERATION = (int(Limit.LINEAR_ACCELERATION), int(Limit.ANGULAR_ACCELERATION))
VELOCITY = (int(Limit.LINEAR_VELOCITY), int(Limit.ANGULAR_VELOCITY))
WORKSPACE = int(Limit.WORKSPACE)

WALL_BRAKING = 0.5  # fraction of the acceleration limit planned for braking at a wall: three at once, in a corner, fit
WALL_RATE = 20.0  # [1/s] close to the wall the speed falls linearly: braking along sqrt(2 a d) would chatter there


@kernel
def braking_speed(distance, deceleration, dt):
    """Largest speed from which steps of dt at a constant deceleration still stop within the distance:
    v^2 + a v dt = 2 a d, and the last step v dt <= d."""
    if distance <= 0.0:
        return 0.0
    half = 0.5 * deceleration * dt
    return min(math.sqrt(half * half + 2.0 * deceleration * distance) - half, distance / dt)


@kernel
def approach_rate(v_prev, a_dt, bound):
    """A bound on the speed that may have shrunk since the last tick: reached no faster than the acceleration allows."""
    return max(bound, v_prev - a_dt)


@kernel
def limit_change(v, v_prev, largest, urgent):
    """v := v_prev + (v - v_prev) shortened to `largest`. Axes that brake at a wall (urgent) come first, the others
    get what is left. Returns whether it was shortened."""
    first, rest = 0.0, 0.0
    for i in range(3):
        square = (v[i] - v_prev[i]) ** 2
        first += square if urgent[i] != 0.0 else 0.0
        rest += square if urgent[i] == 0.0 else 0.0
    left = largest * largest - first
    if rest <= left:
        return False
    keep = math.sqrt(left / rest) if left > 0.0 else 0.0
    keep_first = 1.0 if left > 0.0 else largest / math.sqrt(first)
    for i in range(3):
        v[i] = v_prev[i] + (keep if urgent[i] == 0.0 else keep_first) * (v[i] - v_prev[i])
    return True


@kernel
def limit_norm(v, v_prev, cap, a_dt):
    """Speed cap, direction kept. Returns whether it acted."""
    square = dot(v, v)
    if square <= cap * cap:
        return False
    speed = math.sqrt(square)
    cap = approach_rate(norm(v_prev), a_dt, cap)
    if speed <= cap:
        return True
    for i in range(3):
        v[i] *= cap / speed
    return True


@kernel
def stop_at_walls(p, v, v_prev, position, measured, dt, urgent):
    """One-sided gate: towards a wall only as fast as braking allows, from the commanded or the measured TCP position,
    whichever is closer to the wall (the measured one lags). The stop stays within the acceleration limit. Marks in
    `urgent` the axes that have to brake."""
    a = p.max_acceleration[0]
    acted = False
    for i in range(3):
        for side in (1.0, -1.0):
            if side > 0.0:
                room = p.workspace_max[i] - max(position[i], measured[i])
            else:
                room = min(position[i], measured[i]) - p.workspace_min[i]
            bound = min(braking_speed(room, WALL_BRAKING * a, dt), WALL_RATE * max(room, 0.0))
            if side * v_prev[i] > bound:
                urgent[i] = 1.0
            bound = approach_rate(side * v_prev[i], a * dt, bound)
            if side * v[i] > bound:
                v[i] = side * bound
                urgent[i] = 1.0
                acted = True
    return acted


@kernel
def limit_twist(p, twist, twist_prev, position, measured, dt):
    """Limits `twist` in place (base axes), in the order acceleration, workspace, speed. Returns Limit flags.

    position: TCP as commanded; measured: TCP as measured [m].
    """
    flags = 0
    urgent = vec3()
    for part in range(2):
        for i in range(3):
            urgent[i] = 0.0
        v = twist[3 * part : 3 * part + 3]
        v_prev = twist_prev[3 * part : 3 * part + 3]
        a_dt = p.max_acceleration[part] * dt
        if limit_change(v, v_prev, a_dt, urgent):
            flags |= ACCELERATION[part]
        if part == 0 and stop_at_walls(p, v, v_prev, position, measured, dt, urgent):
            flags |= WORKSPACE
        cap = p.max_velocity[part] * (speed_factor(p, measured) if part == 0 else 1.0)
        if limit_norm(v, v_prev, cap, a_dt):
            flags |= VELOCITY[part]
        # Walls and caps that moved while the arm was fast may need more than the limit: spread it over several ticks.
        limit_change(v, v_prev, a_dt, urgent)
    return flags


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
