"""The hand in compiled code: when it takes hold, where it is at the end of a period, and its wrench on the tool."""

from ur_admittance.core.compile import kernel, mat3, vec3
from ur_admittance.core.spatial import cross, exp_so3, log_so3, multiply, multiply_transposed, rotate

OFF, PUSHES, HOLDS = 0, 1, 2


@kernel
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
    plant.push_to[:] = 0.0


@kernel
def start_pushing(plant, wrench):
    plant.hand = PUSHES
    plant.push_to[:] = wrench


@kernel
def let_go(plant):
    plant.hand = OFF
    plant.push_from[:] = 0.0
    plant.push_to[:] = 0.0


@kernel
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
def hand_force(plant, share, p_grip, R_tool, v, w, force, torque):
    """Wrench of the hand on the tool about the grip: its push, and while it holds a spring and damper to the hand."""
    for i in range(3):
        force[i] = plant.push_from[i] + share * (plant.push_to[i] - plant.push_from[i])
        torque[i] = plant.push_from[3 + i] + share * (plant.push_to[3 + i] - plant.push_from[3 + i])
    if plant.hand != HOLDS:
        return
    R_error = mat3()
    turn = vec3()
    multiply_transposed(plant.R_base_hand, R_tool, R_error)
    log_so3(R_error, turn)
    for i in range(3):
        p = plant.hand_from[i] + share * (plant.hand_to[i] - plant.hand_from[i])
        force[i] += plant.hand_stiffness[0] * (p - p_grip[i]) + plant.hand_damping[0] * (plant.hand_velocity[i] - v[i])
        torque[i] += plant.hand_stiffness[1] * turn[i] + plant.hand_damping[1] * (plant.hand_velocity[3 + i] - w[i])


@kernel
def push_tool(plant, share, scale, h, p_tool, R_tool, p_com, velocity, origin, p_grip, force, torque, applied):
    """The hand's wrench about the grip, its work, and the same wrench about the centre of mass for MuJoCo."""
    lever = vec3()
    v_grip = vec3()
    w = vec3()
    moment = vec3()
    rotate(R_tool, plant.grip, p_grip)
    for i in range(3):
        p_grip[i] += p_tool[i]
        lever[i] = p_grip[i] - origin[i]
        w[i] = velocity[i]
    cross(w, lever, v_grip)
    for i in range(3):
        v_grip[i] += velocity[3 + i]
    hand_force(plant, share, p_grip, R_tool, v_grip, w, force, torque)
    for i in range(3):
        plant.hand_work += h * (force[i] * v_grip[i] + torque[i] * w[i])
        plant.hand_wrench[i] += scale * force[i]
        plant.hand_wrench[3 + i] += scale * torque[i]
        lever[i] = p_grip[i] - p_com[i]
        applied[i] = force[i]
    cross(lever, force, moment)
    for i in range(3):
        applied[3 + i] = torque[i] + moment[i]
