"""The controller box of the simulated arm: takes commands, brakes by itself, reports, and fails on request."""

import math

import numpy as np

from ur_admittance.core.kernel import kernel
from ur_admittance.core.records import SAMPLE, Status
from ur_admittance.runtime.braking import BRAKING, WATCHDOG_S

F = np.float64
I = np.int64  # noqa: E741

REJECTED = int(Status.COMMAND_REJECTED)
PROTECTIVE_STOP, EMERGENCY_STOP = int(Status.PROTECTIVE_STOP), int(Status.EMERGENCY_STOP)
Q, QD, WRENCH = 1, 2, 3  # fields of a sample that can be corrupted, 0: none

ARM = np.dtype(
    [
        ("period", F),  # [s]
        ("velocity", I),  # 1: takes joint speeds, 0: joint angles
        ("top_speed", F, 6),  # [rad/s]
        ("driven", I),  # 1: follows the last command, 0: brakes and holds
        ("silence", F),  # [s] since the last command
        ("sent", F, 6),  # the last command that got through [rad] or [rad/s]
        ("braking", F, 6),  # joint speeds while it brakes by itself [rad/s]
        ("digital_in", I),  # inputs, bit by bit
        ("external_status", I),  # what the box reports: a Status, 0: nothing
        # faults
        ("fault", I),  # the one of a script that is in force (ur_admittance_lab.episodes)
        ("wrench_lost", I),
        ("joints_lost", I),
        ("frozen", I),
        ("joint_age", F),  # [s]
        ("wrench_age", F),  # [s]
        ("corrupted", I),  # Q, QD or WRENCH: its first number reads corrupt_value
        ("corrupt_value", F),
    ],
    align=True,
)


@kernel(ARM, name="box_hold")
def hold(arm):
    """Stand still until the next command."""
    arm.braking[:] = 0.0
    arm.driven = 0
    arm.silence = 0.0


@kernel(ARM, (6,), name="box_brake")
def brake(arm, qd):
    for j in range(6):
        arm.braking[j] = min(max(qd[j], -arm.top_speed[j]), arm.top_speed[j])
    arm.driven = 0


@kernel(ARM, name="box_restore")
def restore(arm):
    """Everything works again."""
    arm.wrench_lost = arm.joints_lost = arm.frozen = arm.corrupted = 0
    arm.joint_age = arm.wrench_age = 0.0
    arm.external_status = 0
    hold(arm)


@kernel(ARM, name="box_silent", returns=bool)
def silent(arm):
    """No command for so long that the arm has braked by itself; half a period is granted for rounding."""
    return arm.silence >= WATCHDOG_S + 0.5 * arm.period


@kernel(ARM, (6,), (6,), name="box_take")
def take(arm, qd, wanted):
    """A command arrives. One that is not finite is rejected; in a stop or a frozen connection none gets through."""
    if arm.frozen or arm.external_status == PROTECTIVE_STOP or arm.external_status == EMERGENCY_STOP:
        return
    square = 0.0
    for j in range(6):
        square += wanted[j] * wanted[j]
    if not math.isfinite(square):
        arm.external_status = REJECTED
        brake(arm, qd)
        return
    if arm.external_status == REJECTED:
        arm.external_status = 0
    arm.sent[:] = wanted
    arm.driven = 1
    arm.silence = 0.0


@kernel(ARM, (6,), (6,), (6,), name="box_aim")
def aim(arm, setpoint, qd, target):
    """A period begins: where the joints go in it, under the last command, the brake or the hold."""
    if arm.driven:
        arm.silence += arm.period
        if silent(arm):
            brake(arm, qd)
    if not arm.driven:
        fastest = 0.0
        for j in range(6):
            fastest = max(fastest, abs(arm.braking[j]))
        keep = max(0.0, 1.0 - BRAKING * arm.period / fastest) if fastest > 0.0 else 0.0
        for j in range(6):
            arm.braking[j] *= keep
            target[j] = setpoint[j] + arm.braking[j] * arm.period
    elif arm.velocity:
        for j in range(6):
            target[j] = setpoint[j] + arm.sent[j] * arm.period
    else:
        target[:] = arm.sent
    arm.joint_age = arm.joint_age + arm.period if arm.joints_lost else 0.0
    arm.wrench_age = arm.wrench_age + arm.period if arm.wrench_lost else 0.0


@kernel(ARM, (6,), (6,), (6,), SAMPLE, int, float, float, name="box_fill")
def fill(arm, q, qd, wrench, u, stamp_ns, dt, since):
    """The sample u as the box reports it, ``since`` [s] after its newest state."""
    u.stamp_ns = stamp_ns
    u.dt = dt
    u.external_status = arm.external_status
    u.simulated = 1
    u.digital_in = arm.digital_in
    u.digital_age = arm.joint_age + since
    if not arm.joints_lost:
        u.q[:] = q
        u.qd[:] = qd
    if not arm.wrench_lost:
        u.wrench[:] = wrench
    u.joint_age = arm.joint_age + since
    u.wrench_age = arm.wrench_age + since
    if arm.corrupted == Q:
        u.q[0] = arm.corrupt_value
    elif arm.corrupted == QD:
        u.qd[0] = arm.corrupt_value
    elif arm.corrupted == WRENCH:
        u.wrench[0] = arm.corrupt_value
