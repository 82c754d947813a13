"""2.1  The surface under a sliding tool: its normal, and motion along it."""

import math

from ur_admittance.core.kernel import kernel, vec3
from ur_admittance.core.spatial import dot, norm

SLIDING = 0.002  # [m/s] slower, the direction of the friction force is unknown
LARGEST_TILT = 0.5  # cosine of the largest angle between the estimated normal and the axis it started from
SOFTEST = 1e3  # [N/m] assumed where the stiffness is not known: it could not be seen in the first touch
DEPTHS = 1.5  # the normal is taken over this many times the depth to which the tool sinks in
RETURN_TIME = 0.3  # [s] in which the normal returns to the task axis once contact is lost
ALONG = 0.3  # a velocity keeps its speed if at least this share of it is along the surface


@kernel
def estimate_normal(p, contact, force, velocity, commanded, by_path, dt):
    """Outward normal of the surface under a sliding tool: across the motion, and there along the contact force. What
    the force has along the motion is friction. With a hand on the tool the force across it is not the surface's alone:
    unless a path leads, the normal only turns as the motion does. force, velocity (measured, commanded): base axes.
    Starts from, and stays within 60 degrees of, the z axis of the task frame. Only a tool that is commanded to slide
    slides: in an impact it is pushed aside.

    A wrong normal leans into the friction: it changes the force that is regulated, and the arm's answer looks like a
    slope in turn. Seen over the distance L that loop is stable for  L > mu N / K, the share mu of the depth N / K to
    which the tool sinks in; so the normal is taken over a distance, longer on what is soft.
    """
    z = vec3()
    for i in range(3):
        z[i] = p.R_base_task[i, 2]
    if contact.touching[2] == 0.0:
        for i in range(3):
            contact.normal[i] += min(1.0, dt / RETURN_TIME) * (z[i] - contact.normal[i])
    speed = norm(velocity)
    sliding = min(sideways(contact.normal, velocity), sideways(contact.normal, commanded))
    if contact.touching[2] != 0.0 and sliding > SLIDING and p.normal_time > 0.0:
        n = vec3()
        for i in range(3):
            n[i] = force[i] if by_path else contact.normal[i]
        along = dot(n, velocity) / (speed * speed)
        for i in range(3):
            n[i] -= along * velocity[i]
        size = norm(n)
        if size > 0.0 and dot(n, z) > LARGEST_TILT * size:
            depth = norm(force) / max(contact.withstood[2], SOFTEST)
            weight = min(1.0, dt / p.normal_time, sliding * dt / (DEPTHS * depth))
            for i in range(3):
                contact.normal[i] += weight * (n[i] / size - contact.normal[i])
    size = norm(contact.normal)
    for i in range(3):
        contact.normal[i] = contact.normal[i] / size if size > 0.5 else z[i]


@kernel
def sideways(normal, velocity):
    """Speed along the surface [m/s], 0 for a motion that is more across than along."""
    into, speed = dot(velocity, normal), norm(velocity)
    return math.sqrt(speed * speed - into * into) if 2.0 * into * into < speed * speed else 0.0


@kernel
def along_surface(normal, velocity):
    """A desired velocity turned into the tangent plane of the estimated surface, its speed kept."""
    speed = norm(velocity)
    into = dot(velocity, normal)
    for i in range(3):
        velocity[i] -= into * normal[i]
    left = norm(velocity)
    if left > ALONG * speed:
        for i in range(3):
            velocity[i] *= speed / left


@kernel
def friction_cone(p, w):
    """While force axes press with N, a force on the others moves the tool only by what exceeds mu N: within the cone it
    cannot be told from friction, and an arm that yields to friction sticks, slips and chatters. w: control axes."""
    pressed, across = 0.0, 0.0
    for i in range(3):
        if p.force_axes[i] != 0.0:
            pressed += w[i] * w[i]
        else:
            across += w[i] * w[i]
    cone, size = p.contact_friction * math.sqrt(pressed), math.sqrt(across)
    keep = 1.0 - cone / size if size > cone else 0.0
    for i in range(3):
        if p.force_axes[i] == 0.0 and cone > 0.0:
            w[i] *= keep
