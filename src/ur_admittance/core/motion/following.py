"""Does the arm follow? The command never leads it by more than delay, speed and load explain.

    lead = q_command - q_measured        unexplained = |lead| - T speed

T: following_time; speed: the joint's largest commanded one lately. Up to E = safety.max_following_error nothing
happens: a load bends the arm, and a command that followed its sag would sink with it. Beyond E the command waits for
the arm: the joint slows down from its present speed to none at 2 E, but may go back freely (`top_speed` in
limits/joints.py). An arm that stays there does not follow, which is a fault. An arm that is driven by speeds adds up
small errors while it moves: they are forgiven, up to DRIFT of the distance.
"""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.memory import start_at_arm
from ur_admittance.core.records import Mode, Status

ACTIVE = int(Mode.ACTIVE)
STOPPED_ROBOT = (
    int(Status.PROTECTIVE_STOP),
    int(Status.EMERGENCY_STOP),
    int(Status.SAFEGUARD_STOP),
    int(Status.CONNECTION_LOST),
    int(Status.COMMAND_REJECTED),
)  # the robot takes no commands
LOST, STOPPED = 1, 2  # what the last samples were: not fit for use; of a robot that takes no commands
PATIENCE = 0.5  # [s] beyond E before it is a fault: an arm that is only slow has caught up
DRIFT = 0.05  # of the distance: more than a speed command is ever off, and a blocked arm is noticed all the same
# [rad] from its command, a joint under load: 100 N (safety.max_force by default) on 0.45 m from the elbow of a UR3e to
# its TCP bend the softest large joint of the family, some 2.2 kNm/rad, by 0.020. Less, and a command that is kept near
# the arm would sink with the load; more, and an arm that obeys again has further to go (17 mm at a UR5e's reach).
SLACK = 0.02


@kernel
def observe_speed(p, s, dt):
    forget = math.exp(-dt / p.following_time)
    for i in range(6):
        s.recent_speed[i] = max(abs(s.qd_command[i]), forget * s.recent_speed[i])


@kernel
def forgive_drift(s, u, dt):
    """An arm that is driven by speeds never sees the commanded position: beyond SLACK it follows the arm."""
    for i in range(6):
        lead = s.q_command[i] - u.q[i]
        excess = max(0.0, abs(lead) - SLACK)
        s.q_command[i] -= math.copysign(min(excess, DRIFT * abs(s.qd_command[i]) * dt), lead)


@kernel
def observe_lead(p, s, u):
    """Updates s.unexplained [rad], with the sign of the lead. Returns the largest size."""
    worst = 0.0
    for i in range(6):
        lead = s.q_command[i] - u.q[i]
        s.unexplained[i] = math.copysign(max(0.0, abs(lead) - p.following_time * s.recent_speed[i]), lead)
        worst = max(worst, abs(s.unexplained[i]))
    return worst


@kernel
def follows(p, s, worst, dt):
    """Whether the arm still counts as following; s.waiting_time grows while it is too far away."""
    s.waiting_time = s.waiting_time + dt if worst > p.max_following_error else 0.0
    return s.waiting_time <= PATIENCE and worst <= 2.0 * p.max_following_error


@kernel
def strays(s):
    """Whether a joint is further from its command than a load bends it: the arm is stuck, or its motors give all."""
    for i in range(6):
        if abs(s.unexplained[i]) > SLACK:
            return True
    return False


@kernel
def rejoin(p, s, u, status, seen, usable, standing):
    """A robot that took no commands (a stop, a lost connection) stands where it stopped, not where it was sent: sending
    it there at once would be a jump. The command is where the arm is, already when the robot takes it again."""
    if s.has_command == 0 or s.mode == ACTIVE:
        s.was_lost = 0
        return
    if seen and status in STOPPED_ROBOT:
        s.was_lost = STOPPED
        if standing:
            start_at_arm(s, u)
    elif not usable:
        s.was_lost = max(s.was_lost, LOST)
    elif s.was_lost != 0:
        if s.was_lost == STOPPED or far_away(p, s, u):
            start_at_arm(s, u)
        s.was_lost = 0


@kernel
def far_away(p, s, u):
    for i in range(6):
        if abs(s.q_command[i] - u.q[i]) > SLACK + p.following_time * s.recent_speed[i]:
            return True
    return False
