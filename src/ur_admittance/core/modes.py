"""0  Requests and faults change the mode; what is started, latched or forgotten when they do."""

from ur_admittance.core.checks import ACTIVE, FAULT, NOTHING, OK
from ur_admittance.core.contact.stabilise import forget_contact
from ur_admittance.core.enabling import has_rested
from ur_admittance.core.kernel import kernel, mat3, vec3
from ur_admittance.core.law.control_axes import control_axes
from ur_admittance.core.law.twist import latch
from ur_admittance.core.memory import stands_still, start_at_arm
from ur_admittance.core.motion.following import SLACK
from ur_admittance.core.records import Mode, Request, Status
from ur_admittance.core.spatial import clip, rotate_back

INACTIVE, STOPPING = int(Mode.INACTIVE), int(Mode.STOPPING)
ACTIVATE, DEACTIVATE = int(Request.ACTIVATE), int(Request.DEACTIVATE)
RESET_FAULT, LATCH_REFERENCE = int(Request.RESET_FAULT), int(Request.LATCH_REFERENCE)
START_AT_ARM, ACCEPT_LOAD = int(Request.START_AT_ARM), int(Request.ACCEPT_LOAD)
RAMP_LOAD = int(Request.RAMP_LOAD)
UNEXPLAINED_FORCE, UNEXPLAINED_TORQUE = int(Status.UNEXPLAINED_FORCE), int(Status.UNEXPLAINED_TORQUE)


@kernel
def follow_moved_arm(s, u):
    """An arm that was moved by other means while the controller was inactive must not be sent back at activation."""
    for i in range(6):
        if abs(s.q_command[i] - u.q[i]) > SLACK:
            start_at_arm(s, u)
            return


@kernel
def enter_fault(s, found):
    s.mode = FAULT
    set_status(s, found)


@kernel
def set_status(s, found):
    s.status = found.status
    s.evidence[:] = 0.0
    s.evidence[0] = found.value
    s.evidence[1] = found.bound


@kernel
def start_unchanged(p, s):
    """Nothing is left of changes that were made before."""
    s.changed = 0.0
    s.damped[:] = p.damping
    s.obeyed[:] = 1.0
    s.driving[:] = 0.0
    s.carried[:] = 0.0
    s.felt[:] = 0.0
    s.tracking_gain[:] = p.tracking_gain
    s.slip[:] = 0.0


@kernel
def begin(p, s, load):
    """From rest: what is felt, wanted and remembered starts anew; the ramps do."""
    s.revision = p.revision - 1  # start the ramps
    s.stiffness[:] = 0.0
    s.mass[:] = p.mass
    s.damping[:] = p.damping
    s.desired_wrench[:] = 0.0
    s.rate[:] = 0.0
    start_unchanged(p, s)
    s.velocity_bias[:] = 0.0
    s.lag[:] = 0.0
    s.travel = 0.0
    s.waiting_time = 0.0
    s.unexplained[:] = 0.0
    forget_contact(p, s.contact)
    s.quiet_time = 0.0
    s.guided = 0.0
    s.well[:] = 0.0
    s.pressed[0] = load[0] if s.recovered != 0 else 0.0
    s.pressed[1] = load[1] if s.recovered != 0 else 0.0


@kernel
def hold_to_run(p, s, c, missing, load, measured):
    """An active arm is held while the enabling signal is missing, and goes on when it is there again. What presses on
    the tool then is felt slowly. A force axis that presses begins with that force, so that it neither lets go nor
    leaps; the desired wrench goes on from there at its slew rate. A target pose is still one."""
    if missing.status != OK:
        s.held = 1
        set_status(s, missing)
    elif s.held != 0 and has_rested(s):
        s.held, s.recovered = 0, 1
        set_status(s, NOTHING)
        normal = vec3()
        normal[:] = s.contact.normal
        begin(p, s, load)
        s.contact.normal[:] = normal
        latch(s, measured)
        R, felt = mat3(), vec3()
        control_axes(p, s, R)
        for a in range(0, 6, 3):
            rotate_back(R, c.wrench_tcp[a : a + 3], felt)
            for i in range(3):
                wanted = p.desired_wrench[a + i] + s.led.wrench[a + i]
                if p.force_axes[a + i] != 0.0:
                    s.desired_wrench[a + i] = clip(felt[i], min(wanted, 0.0), max(wanted, 0.0))


@kernel
def change_mode(p, s, u, found, load, measured):
    """Faults first, then requests. A fault stays until it is reset, which needs standstill and a valid sample.
    load: force and torque on the tool now [N, Nm]."""
    status = found.status
    if s.mode == ACTIVE and status != OK:
        enter_fault(s, found)
    elif s.mode == FAULT:
        if u.request & RESET_FAULT and status == OK and stands_still(s):
            s.mode = INACTIVE
            s.retreating = 0
            s.recovered = 1
    elif s.mode == ACTIVE and u.request & DEACTIVATE:
        s.mode = STOPPING
    if s.mode == STOPPING and stands_still(s):
        s.mode = INACTIVE
    if s.mode == INACTIVE:
        set_status(s, found)  # not latched: nothing moves
        accepted = u.request & ACCEPT_LOAD and (status == UNEXPLAINED_FORCE or status == UNEXPLAINED_TORQUE)
        if u.request & ACTIVATE and (status == OK or accepted):
            s.mode = ACTIVE
            set_status(s, NOTHING)
            if u.request & RAMP_LOAD:
                s.recovered = 1
            begin(p, s, load)
            s.held = 0
            s.target_id = u.target_id
            s.target_active = 0
            latch(s, measured)
            if u.request & START_AT_ARM:
                start_at_arm(s, u)
            else:
                follow_moved_arm(s, u)
    elif s.mode == ACTIVE and u.request & LATCH_REFERENCE:
        latch(s, measured)
