"""What is remembered about contact: STATE["contact"], one entry per control axis.

Each observer in stabilise.py has a record of its own. Every number is a float, flags and counts too, so that all of it
can be cleared and checked as one block.
"""

import numpy as np

F = np.float64

IMPACT = np.dtype(  # since an axis ran into something
    [
        ("time", F, 6),  # [s]
        ("distance", F, 6),  # [m, rad]
        ("distance_filtered", F, 6),  # the same, as late as the filtered force
        ("first_force", F, 6),  # when it touched [N, Nm]
    ],
    align=True,
)
OSCILLATION = np.dtype(  # of the force
    [
        ("displacement", F, 6),  # above 4 Hz [m, rad]
        ("displacement_filtered", F, 6),  # the same, as late as the filtered force
        ("slow_force", F, 6),  # below 4 Hz [N, Nm]
        ("variance", F, 6),  # of the displacement over the last 0.2 s [m2, rad2]
        ("covariance", F, 6),  # of displacement and force [Nm, Nm rad]
        ("half_cycles", F, 6),  # how many in a row have not decayed
        ("half_cycle_time", F, 6),  # of the present one [s]
        ("sign", F, 6),  # of the force in the present one
        ("peak", F, 6),  # of the force in the present one [N, Nm]
        ("previous_peak", F, 6),  # in the one before [N, Nm]
    ],
    align=True,
)
POWER = np.dtype(  # that goes through the tool into the arm
    [
        ("filtered", F, 6),  # measured velocity, as late as the wrench filter [m/s, rad/s]
        ("delayed", F, 6),  # and half the sensor [m/s, rad/s]
        ("slow_velocity", F, 6),  # below 2 Hz [m/s, rad/s]
        ("slow_force", F, 6),  # below 2 Hz [N, Nm]
        ("fast_once", F, 6),  # power above 2 Hz after one low-pass [W]
        ("fast", F, 6),  # after two; negative: the arm hands energy out [W]
        ("whole_once", F, 6),  # the same at all frequencies [W]
        ("whole", F, 6),
        ("activity_once", F, 6),  # force above 2 Hz times speed of the law, without signs, after one low-pass [W]
        ("activity", F, 6),  # after two
        ("lasting_fast", F),  # sum of `fast` over the axes without force control, over a second [W]
        ("lasting_whole", F),  # the same of `whole`
    ],
    align=True,
)
HIT = np.dtype(  # of a tool that a hand guides
    [
        ("force", F, 6),  # filtered, one tick ago [N, Nm]
        ("displacement", F, 6),  # from its mean over the last 10 ms [m, rad]
        ("mean_force", F, 6),  # over the last 10 ms [N, Nm]
    ],
    align=True,
)
CONTACT = np.dtype(  # control axes
    [
        ("touching", F, 6),  # 0 or 1
        ("ran_into", F, 6),  # 1: the arm moved by itself when it touched
        ("time_without_force", F, 6),  # [s]
        ("stiffness", F, 6),  # estimated from force and displacement, 0: unknown [N/m, Nm/rad]
        ("withstood", F, 6),  # that, or what the damping is enough for where only power was seen [N/m, Nm/rad]
        ("damping", F, 6),  # used where the user's is smaller [Ns/m, Nms/rad]
        ("held", F, 6),  # 1: that damping stays until the tool has left the place
        ("held_time", F, 6),  # since then [s]
        ("distance", F, 6),  # from there [m, rad]
        ("impact", IMPACT),
        ("oscillation", OSCILLATION),
        ("power", POWER),
        ("hit", HIT),
        ("unlimited_time", F),  # in which the arm obeyed the law: no limit but acceleration held it; at most 1 [s]
        ("speed_lately", F),  # largest of the tool lately [m/s]
        ("normal", F, 3),  # of the surface, base axes
    ],
    align=True,
)
CONTACT_FLOATS = CONTACT.itemsize // 8
