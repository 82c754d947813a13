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
def limit_change(v, v_prev, largest):
    """v := v_prev + (v - v_prev) shortened to `largest`. Returns whether it was shortened."""
    square = 0.0
    for i in range(3):
        square += (v[i] - v_prev[i]) ** 2
    if square <= largest * largest:
        return False
    share = largest / math.sqrt(square)
    for i in range(3):
        v[i] = v_prev[i] + share * (v[i] - v_prev[i])
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
