"""What is remembered of the motion: where the command starts, whether it stands, and what is forgotten."""

import math

from ur_admittance.core.checks import is_sane
from ur_admittance.core.kernel import from_here, kernel, vec6
from ur_admittance.core.records import STANDSTILL, STATE_MEMORY
from ur_admittance.core.spatial import set_identity


@kernel
def start(s, u):
    """First valid sample: the command starts where the arm is."""
    start_memory(s, u.q)


@kernel
def start_memory(s, q):
    s.has_command = 1
    s.q_command[:] = q
    s.qd_command[:] = 0.0
    s.twist[:] = 0.0
    s.trail_count = 0
    s.weakest_direction[:] = math.sqrt(1.0 / 6.0)
    set_identity(s.singular_vectors)


@kernel
def start_at_arm(s, u):
    """The next command starts where the arm is. The way back is no longer known."""
    s.q_command[:] = u.q
    s.twist[:] = 0.0  # forgotten: it was that of another place
    s.trail_count = 0


@kernel
def stands_still(s):
    for i in range(6):
        if abs(s.qd_command[i]) > STANDSTILL:
            return False
    return True


@kernel
def clear_state(s):
    """Forget everything; the next valid sample starts afresh."""
    s.has_command = 0
    s.filter_ready = 0
    s.recovered = 0
    s.rest_doubt = 0
    s.retreating = 0
    s.trail_count = 0
    s.trail_newest = 0
    from_here(s.reading, STATE_MEMORY)[:] = 0.0
    set_identity(s.R_ref)


@kernel
def forget_all_but_motion(s, c):
    """The memory is broken: everything is forgotten except the motion, which is braked. What is not finite in it
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
