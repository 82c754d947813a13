"""2.1  The surface under a sliding tool: its normal, and motion along it."""

from .compile import kernel, vec3
from .spatial import dot, norm

SLIDING = 0.002  # [m/s] slower, the direction of the friction force is unknown
LARGEST_TILT = 0.5  # cosine of the largest angle between the estimated normal and the axis it started from
RETURN_TIME = 0.3  # [s] in which the normal returns to the task axis once contact is lost
ALONG = 0.3  # a velocity keeps its speed if at least this share of it is along the surface


@kernel
def estimate_normal(p, contact, force, velocity, dt):
    """Outward normal of the surface under a sliding tool: the contact force without its part along the motion, which is
    friction. force, velocity: base axes. Starts from, and stays within 60 degrees of, the z axis of the task frame."""
    z = vec3()
    for i in range(3):
        z[i] = p.R_base_task[i, 2]
    if contact.touching[2] == 0.0:
        for i in range(3):
            contact.normal[i] += min(1.0, dt / RETURN_TIME) * (z[i] - contact.normal[i])
    speed = norm(velocity)
    if contact.touching[2] != 0.0 and speed > SLIDING and p.normal_time > 0.0:
        along = dot(force, velocity) / (speed * speed)
        n = vec3()
        for i in range(3):
            n[i] = force[i] - along * velocity[i]
        size = norm(n)
        if size > 0.0 and dot(n, z) > LARGEST_TILT * size:
            for i in range(3):
                contact.normal[i] += min(1.0, dt / p.normal_time) * (n[i] / size - contact.normal[i])
    size = norm(contact.normal)
    for i in range(3):
        contact.normal[i] = contact.normal[i] / size if size > 0.5 else z[i]


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
