"""0  What is known of contacts when parameters change: in other control axes, or with another wrench from now on."""

from ur_admittance.core.kernel import kernel, vec3
from ur_admittance.core.spatial import rotate

ALIGNED = 0.3  # cosine from which a new axis takes over what is known of the contact on an old one: within 73 degrees
NEVER = 1e3  # [s] without force: long ago


@kernel
def turn_contact(contact, C):
    """Filters of vectors are turned. A new axis takes over contact, stiffness and damping of every old one that it is
    aligned with: too much damping is slow, too little bounces. Squares and powers are collected anew."""
    for a in range(0, 6, 3):
        rotate(C, contact.distance[a : a + 3], contact.distance[a : a + 3])
        rotate(C, contact.impact.distance[a : a + 3], contact.impact.distance[a : a + 3])
        rotate(C, contact.impact.distance_filtered[a : a + 3], contact.impact.distance_filtered[a : a + 3])
        rotate(C, contact.impact.first_force[a : a + 3], contact.impact.first_force[a : a + 3])
        rotate(C, contact.oscillation.displacement[a : a + 3], contact.oscillation.displacement[a : a + 3])
        rotate(
            C,
            contact.oscillation.displacement_filtered[a : a + 3],
            contact.oscillation.displacement_filtered[a : a + 3],
        )
        rotate(C, contact.oscillation.slow_force[a : a + 3], contact.oscillation.slow_force[a : a + 3])
        rotate(C, contact.hit.filtered[a : a + 3], contact.hit.filtered[a : a + 3])
        rotate(C, contact.hit.force[a : a + 3], contact.hit.force[a : a + 3])
        rotate(C, contact.hit.displacement[a : a + 3], contact.hit.displacement[a : a + 3])
        rotate(C, contact.hit.mean_force[a : a + 3], contact.hit.mean_force[a : a + 3])
        take_over(C, contact.touching[a : a + 3])
        take_over(C, contact.ran_into[a : a + 3])
        take_over(C, contact.stiffness[a : a + 3])
        take_over(C, contact.withstood[a : a + 3])
        take_over(C, contact.damping[a : a + 3])
        take_over(C, contact.held[a : a + 3])
        take_over(C, contact.held_time[a : a + 3])
        take_over(C, contact.impact.time[a : a + 3])
        least_of(C, contact.time_without_force[a : a + 3])
    contact.oscillation.variance[:] = 0.0
    contact.oscillation.covariance[:] = 0.0
    contact.oscillation.half_cycles[:] = 0.0
    contact.oscillation.asked[:] = 0.0
    contact.oscillation.ours[:] = 0.0
    contact.oscillation.died[:] = 0.0
    contact.hit.side[:] = 0.0
    contact.hit.last_side[:] = 0.0
    contact.side[:] = 0.0


@kernel
def take_over(C, values):
    """values := on each new axis the largest of the old ones that it is aligned with."""
    largest = vec3()
    for i in range(3):
        largest[i] = 0.0
        for j in range(3):
            if abs(C[i, j]) > ALIGNED:
                largest[i] = max(largest[i], values[j])
    values[:] = largest


@kernel
def least_of(C, values):
    least = vec3()
    for i in range(3):
        least[i] = NEVER
        for j in range(3):
            if abs(C[i, j]) > ALIGNED:
                least[i] = min(least[i], values[j])
    values[:] = least


@kernel
def shift_contact(s, wrench):
    """Memories of the force follow a jump that only the change has made. wrench: before the deadband, control axes."""
    contact = s.contact
    for i in range(6):
        jump = wrench[i] - s.felt[i]
        contact.impact.first_force[i] += jump
        contact.oscillation.slow_force[i] += jump
        contact.hit.filtered[i] += jump
        contact.hit.force[i] += jump
        contact.hit.mean_force[i] += jump
