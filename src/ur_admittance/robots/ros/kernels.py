"""What a command goes through on its way to the arm (seam.py), compiled: 2 us in each cycle, where NumPy took 11.

Six joints each. A row that is named as an output may also be an input: every number is read before it is written.
"""

import math

from ur_admittance.core.compile import kernel

HOLD_S = 0.01  # a message may be that late without a change of speed: 2.5 mm at 0.25 m/s
CATCH_UP = 0.05  # [rad/s] with which a joint closes the gap of a jump: 40 mm/s at the end of a UR5e's reach
FASTER = 1.1  # of the commanded speed: the time between two commands differs from that between their samples
SLACK = 0.01  # [rad] by which a standing arm may differ from its command: a load bends it by less
LAG_S = 0.1  # of its motion, by which a moving arm may be late: 34 ms with servoj, twice, and what messages take


@kernel
def hold(q, qd, q_arm, qd_arm, rates, rows):
    """Command no farther from the arm than SLACK + LAG_S |its speed lately| + delay |commanded speed lately|.
    rates: what a cycle leaves of both speeds, and the delay [s]; rows (4, 6): both speeds [rad/s], updated, and the
    command, out: q, qd. An angle that is not finite holds nothing, a speed that is not finite counts as none."""
    forget, keep, delay = rates[0], rates[1], rates[2]
    for i in range(6):
        speed = qd_arm[i] if math.isfinite(qd_arm[i]) else 0.0
        rows[0, i] = max(abs(speed), forget * rows[0, i])
        rows[1, i] = max(abs(qd[i]), keep * rows[1, i])
        reach = SLACK + LAG_S * rows[0, i] + delay * rows[1, i]
        low, high = q_arm[i] - reach, q_arm[i] + reach
        rows[2, i], rows[3, i] = q[i], qd[i]
        if math.isfinite(q_arm[i]) and not low <= q[i] <= high:
            rows[2, i], rows[3, i] = low if q[i] < low else high, speed


@kernel
def approach(q, qd, start, step_s, elapsed, rows):
    """Command no farther from ``start`` than its speed explains in step_s [s]; a joint that is held back moves as it
    does in the time that has elapsed [s]. rows (2, 6): the command, out: q, qd."""
    explained = True
    for i in range(6):
        explained = explained and abs(q[i] - start[i]) <= (FASTER * abs(qd[i]) + CATCH_UP) * step_s
    for i in range(6):
        allowed = (FASTER * abs(qd[i]) + CATCH_UP) * step_s
        gap = q[i] - start[i]
        step = gap
        if abs(gap) > allowed:
            step = allowed if gap > 0.0 else -allowed
        rows[0, i] = q[i] if explained else start[i] + step
        rows[1, i] = step / elapsed if abs(gap) > allowed else qd[i]


@kernel
def brake(q, qd, shortest, braking, rows):
    """From the command at its speed for HOLD_S, then to rest at ``braking`` [rad/s2] of the fastest joint; returns the
    time of that, at least ``shortest`` [s]. rows (4, 6), out: q, qd, where braking begins, where it ends [rad]."""
    fastest = 0.0
    for i in range(6):
        fastest = max(fastest, abs(qd[i]))
    time = max(shortest, fastest / braking)
    for i in range(6):
        rows[0, i], rows[1, i] = q[i], qd[i]
        rows[2, i] = HOLD_S * qd[i] + q[i]
        rows[3, i] = 0.5 * time * qd[i] + rows[2, i]
    return time
