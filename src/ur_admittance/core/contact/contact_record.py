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
        ("displacement", F, 6),  # above 2 Hz [m, rad]
        ("displacement_filtered", F, 6),  # the same, as late as the filtered force
        ("slow_force", F, 6),  # below 2 Hz [N, Nm]
        ("variance", F, 6),  # of the displacement over the last 0.2 s [m2, rad2]
        ("covariance", F, 6),  # of displacement and force [Nm, Nm rad]
        ("sign", F, 6),  # of the force in the present half cycle
        ("time", F, 6),  # since it began [s]
        ("peak", F, 6),  # of the force in it [N, Nm]
        ("last_peak", F, 6),  # in the one before [N, Nm]
        ("older_peak", F, 6),  # in the one before that, on the same side [N, Nm]
        ("half_cycles", F, 6),  # how many in a row have not decayed; below 0: they do not count yet
        ("time_sum", F, 6),  # of those [s]
        ("peak_sum", F, 6),  # of those [N, Nm]
        ("asked", F, 6),  # times the mass of the law, to see whose oscillation it is, 0: not asked
        ("late", F, 6),  # and how much later the force, if it has been asked before [s]
        ("heard", F, 6),  # force that the law obeys: while it is asked, later [N, Nm]
        ("time_before", F, 6),  # mean half cycle when that began [s]
        ("peak_before", F, 6),  # and peak [N, Nm]
        ("theirs", F, 6),  # peak of an oscillation that was not the arm's own [N, Nm]
        ("ours", F, 6),  # 1: it is
        ("died", F, 6),  # so long it may come back after it died while asked [s]
        ("moved", F, 6),  # since then [m, rad]
    ],
    align=True,
)
HIT = np.dtype(  # of a tool that a hand guides
    [
        ("filtered", F, 6),  # force, filtered, one tick ago [N, Nm]
        ("force", F, 6),  # and before the filter [N, Nm]
        ("displacement", F, 6),  # from its mean over the last 10 ms [m, rad]
        ("mean_force", F, 6),  # over the last 10 ms [N, Nm]
        ("side", F, 6),  # sign of a force that may be a wall's, 0: none is suspected
        ("doing", F, 6),  # about it: WAITS, BRAKES or CERTAIN of hit.py
        ("before", F, 6),  # damping of the contact before it [Ns/m, Nms/rad]
        ("time", F, 6),  # since it was first suspected [s]
        ("depth", F, 6),  # of the tool in it [m, rad]
        ("deepest", F, 6),
        ("strongest", F, 6),  # largest force [N, Nm]
        ("last_side", F, 6),  # of the last one, 0: none
        ("distance", F, 6),  # of the tool from the last one [m, rad]
    ],
    align=True,
)
CONTACT = np.dtype(  # control axes
    [
        ("touching", F, 6),  # 0 or 1
        ("ran_into", F, 6),  # 1: the arm moved by itself when it touched
        ("time_without_force", F, 6),  # [s]
        ("stiffness", F, 6),  # estimated from force and displacement, 0: unknown [N/m, Nm/rad]
        ("withstood", F, 6),  # that, or what the damping is enough for where that is more [N/m, Nm/rad]
        ("damping", F, 6),  # used where the user's is smaller [Ns/m, Nms/rad]
        ("held", F, 6),  # 1: that damping stays until the tool has left the place
        ("held_time", F, 6),  # since then [s]
        ("distance", F, 6),  # from there [m, rad]
        ("side", F, 6),  # of the force of a wall that was hit, 0: not known
        ("depth", F, 6),  # of the tool in it [m, rad]
        ("impact", IMPACT),
        ("oscillation", OSCILLATION),
        ("hit", HIT),
        ("unlimited_time", F),  # in which the arm obeyed the law: no limit but acceleration held it; at most 1 [s]
        ("speed_lately", F),  # largest of the tool lately [m/s]
        ("normal", F, 3),  # of the surface, base axes
    ],
    align=True,
)
CONTACT_FLOATS = CONTACT.itemsize // 8
