"""The hand in compiled code: when it takes hold, where it is at the end of a period, and its wrench on the tool.

A hand with a mass m is a body between the tool and where the person wants it: held to the tool by the grip, to the
place by the arm's spring and damper, K and C:   m h'' = K (place - h) + C (place' - h') - f,   f: on the tool
"""

import math

from ur_admittance.analysis.compliance import GRIP_RATE, GRIP_RATIO
from ur_admittance.core.kernel import doubles_at, kernel, mat3, vec3, vec6
from ur_admittance.core.spatial import (
    cross,
    exp_so3,
    log_so3,
    multiply,
    multiply_transposed,
    rotate,
)
from ur_admittance.robots.simulated.kernels.plant_record import PLANT

OFF, PUSHES, HOLDS = 0, 1, 2


@kernel(PLANT, (3,), (3, 3), name="hand_take_hold")
def take_hold(plant, p_tool, R_tool):
    """The hand holds the tool where it is now."""
    rotate(R_tool, plant.grip, plant.p_grab)
    for i in range(3):
        plant.p_grab[i] += p_tool[i]
    plant.R_grab[:] = R_tool
    plant.R_base_hand[:] = R_tool
    plant.hand = HOLDS
    plant.hand_displacement[:] = 0.0
    plant.hand_to[:] = plant.p_grab
    plant.hand_velocity[:] = 0.0
    plant.p_hand[:] = plant.p_grab
    plant.v_hand[:] = 0.0
    plant.push_to[:] = 0.0


@kernel(PLANT, (6,), name="hand_start_pushing")
def start_pushing(plant, wrench):
    plant.hand = PUSHES
    plant.push_to[:] = wrench


@kernel(PLANT, name="hand_let_go")
def let_go(plant):
    plant.hand = OFF
    plant.push_from[:] = 0.0
    plant.push_to[:] = 0.0


@kernel(PLANT, (6,), float, name="hand_lead")
def lead(plant, values, period):
    """Where the hand is at the end of the coming period: the wrench (6,) of a push, the displacement (6,) of a grip."""
    if plant.hand == PUSHES:
        plant.push_from[:] = plant.push_to
        plant.push_to[:] = values
    elif plant.hand == HOLDS:
        turn = mat3()
        plant.push_from[:] = 0.0
        plant.hand_from[:] = plant.hand_to
        for i in range(3):
            plant.hand_to[i] = plant.p_grab[i] + values[i]
        for i in range(6):
            plant.hand_velocity[i] = (values[i] - plant.hand_displacement[i]) / period
            plant.hand_displacement[i] = values[i]
        exp_so3(values[3:], turn)
        multiply(turn, plant.R_grab, plant.R_base_hand)


@kernel
def hand_force(plant, share, h, p_grip, R_tool, twist, wrench):
    """Wrench of the hand on the tool about the grip: its push, and while it holds a spring and damper to the hand.
    twist: of the grip."""
    for i in range(6):
        wrench[i] = plant.push_from[i] + share * (plant.push_to[i] - plant.push_from[i])
    if plant.hand != HOLDS:
        return
    R_error = mat3()
    turn = vec3()
    multiply_transposed(plant.R_base_hand, R_tool, R_error)
    log_so3(R_error, turn)
    for i in range(3):
        p = plant.hand_from[i] + share * (plant.hand_to[i] - plant.hand_from[i])
        if plant.hand_mass > 0.0:
            wrench[i] += grip_force(plant, p, p_grip[i], twist[i], i, h)
        else:
            spring, damper = plant.hand_stiffness[0], plant.hand_damping[0]
            wrench[i] += spring * (p - p_grip[i]) + damper * (plant.hand_velocity[i] - twist[i])
        turning = plant.hand_velocity[3 + i] - twist[3 + i]
        wrench[3 + i] += plant.hand_stiffness[1] * turn[i] + plant.hand_damping[1] * turning


@kernel
def grip_force(plant, place, p_grip, v_grip, i, h):
    """Force of the grip on the tool along axis i; the hand's own body moves on by one step, implicitly: the grip is as
    fast as the steps are short."""
    stiffness = plant.hand_mass * GRIP_RATE * GRIP_RATE
    damping = 2.0 * GRIP_RATIO * plant.hand_mass * GRIP_RATE
    spring, damper, gap = plant.hand_stiffness[0], plant.hand_damping[0], plant.p_hand[i] - p_grip
    push = spring * (place - plant.p_hand[i]) + damper * plant.hand_velocity[i]
    push += (damping + h * stiffness) * v_grip - stiffness * gap
    held = plant.hand_mass + h * (damping + damper) + h * h * (stiffness + spring)
    plant.v_hand[i] = (plant.hand_mass * plant.v_hand[i] + h * push) / held
    plant.p_hand[i] += h * plant.v_hand[i]
    return stiffness * (gap + h * (plant.v_hand[i] - v_grip)) + damping * (plant.v_hand[i] - v_grip)


@kernel
def push_tool(plant, e, share, scale, p_grip, wrench):
    """The hand's wrench about the grip, its work, and the same wrench about the centre of mass for MuJoCo, where the
    tool shakes itself."""
    p_tool, R_tool, p_com = doubles_at(e.p_tool, (3,)), doubles_at(e.R_tool, (3, 3)), doubles_at(e.p_com, (3,))
    velocity, origin, applied = doubles_at(e.velocity, (6,)), doubles_at(e.origin, (3,)), doubles_at(e.applied, (6,))
    lever = vec3()
    moment = vec3()
    twist = vec6()
    rotate(R_tool, plant.grip, p_grip)
    for i in range(3):
        p_grip[i] += p_tool[i]
        lever[i] = p_grip[i] - origin[i]
        twist[3 + i] = velocity[i]
    cross(twist[3:], lever, twist[:3])
    for i in range(3):
        twist[i] += velocity[3 + i]
    hand_force(plant, share, e.h, p_grip, R_tool, twist, wrench)
    for i in range(3):
        plant.hand_work += e.h * (wrench[i] * twist[i] + wrench[3 + i] * twist[3 + i])
        plant.hand_wrench[i] += scale * wrench[i]
        plant.hand_wrench[3 + i] += scale * wrench[3 + i]
        lever[i] = p_grip[i] - p_com[i]
        applied[i] = wrench[i]
    cross(lever, wrench[:3], moment)
    swing = math.sin(2.0 * math.pi * plant.vibration_hz * plant.steps * e.h)
    rotate(R_tool, plant.vibration, plant.shake)
    for i in range(3):
        plant.shake[i] *= swing
        applied[i] += plant.shake[i]
        applied[3 + i] = wrench[3 + i] + moment[i]
