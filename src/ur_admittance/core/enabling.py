"""0  Hold-to-run: an active arm yields and follows references only while somebody holds the enabling signal.

    released, or older than enable_timeout  ->  brake inside the limits, then hold (motion/stopping.py)
    pressed, and the arm has come to rest   ->  go on as after an activation (modes.py, hold_to_run)

The mode stays ACTIVE: nobody has to activate again; the status says that the arm is held, and why. What watches an
active arm (forces, whether it follows) watches a held one too. The signal is a digital input of the robot, or what a
program says and has to say again and again: one that has died has let go.
"""

from ur_admittance.core.checks import NOTHING, Finding
from ur_admittance.core.kernel import kernel
from ur_admittance.core.memory import stands_still
from ur_admittance.core.records import AT_REST, Enable, Status

NOT_ENABLED, ENABLE_SILENT = int(Status.NOT_ENABLED), int(Status.ENABLE_SILENT)
HELD = (NOT_ENABLED, ENABLE_SILENT)
NONE, REAL_ARMS = int(Enable.NONE), int(Enable.REAL_ARMS)


@kernel
def watch_signal(p, s, u, passed):
    """NOTHING while the arm may move, or why it is held. passed: since the last sample [s]."""
    if u.enable_id != s.enable_id:
        s.enable_id, s.enable_age = u.enable_id, 0.0
    else:
        s.enable_age += passed
    if p.enable_needed == NONE or (p.enable_needed == REAL_ARMS and u.simulated != 0):
        return NOTHING
    pressed, age = u.enable != 0 and u.enable_id != 0, s.enable_age
    if p.enable_input >= 0:
        pressed, age = u.digital_in >> p.enable_input & 1 != 0, u.digital_age
    if not pressed:
        return Finding(NOT_ENABLED, 0.0, 0.0)
    if not 0.0 <= age <= p.enable_timeout:  # NaN too
        return Finding(ENABLE_SILENT, p.enable_timeout, 0.0)
    return NOTHING


@kernel
def has_rested(s):
    """Nothing was commanded for so long that the arm has followed: it stands where it was sent."""
    for i in range(6):
        if s.recent_speed[i] > AT_REST:
            return False
    return stands_still(s)
