"""2.2  The axes in which the law acts."""

from ur_admittance.core.kernel import kernel, mat3, vec3
from ur_admittance.core.records import Frame
from ur_admittance.core.spatial import copy_matrix, cross, dot, multiply, set_identity

TCP, TASK, NORMAL = int(Frame.TCP), int(Frame.TASK), int(Frame.NORMAL)


@kernel
def control_axes(p, s, R):
    """R_base_control. NORMAL: the task axes, tilted by the smallest rotation that makes z the surface normal."""
    if p.control_frame == TCP:
        copy_matrix(s.R_ref, R)
    elif p.control_frame == TASK:
        copy_matrix(p.R_base_task, R)
    elif p.control_frame == NORMAL:
        z, v, E = vec3(), vec3(), mat3()
        for i in range(3):
            z[i] = p.R_base_task[i, 2]
        cross(z, s.contact.normal, v)
        cosine = dot(z, s.contact.normal)
        for i in range(3):  # I + [v] + [v]^2 / (1 + cos)
            for j in range(3):
                E[i, j] = v[i] * v[j] / (1.0 + cosine)
            E[i, i] += cosine
        E[0, 1] -= v[2]
        E[1, 0] += v[2]
        E[0, 2] += v[1]
        E[2, 0] -= v[1]
        E[1, 2] -= v[0]
        E[2, 1] += v[0]
        multiply(E, p.R_base_task, R)
    else:
        set_identity(R)
