"""Two force sensors: PARAMS["second"], what is known of the second one; STATE["fusion"], what is remembered; codes."""

import numpy as np

F = np.float64
I = np.int64  # noqa: E741

FIRST, OTHER = 0, 1  # index of a sensor
BOTH, DOUBT, ONLY_FIRST, ONLY_SECOND = range(4)  # rules
NOTHING, SILENT, NOT_FINITE, STUCK, TOO_LARGE, NOISY, JUMPED, DRIFTED, UNDECIDED = range(9)  # why not both

SECOND = np.dtype(
    [
        ("on", I),  # 1: there is a second sensor
        ("revision", I),  # changes when anything below does: the memory starts anew
        ("R_first_second", F, (3, 3)),
        ("p_first_second", F, 3),  # origin of the second sensor seen from the first, axes of the first [m]
        ("sign", F),
        ("bias", F, 6),
        ("weight_base", F, 3),  # of everything beyond the second sensor, base axes [N]
        ("com", F, 3),  # its centre of mass, axes of the second sensor [m]
        ("share", F, 6),  # of the second sensor, 0..1
        ("tolerance", F, 6),  # [N, Nm]
        ("rate", F, 6),  # of the gap [N/s, Nm/s]
        ("patience", F),  # [s]
        ("lag", F),  # by which the second sensor is later than the first [s]
    ],
    align=True,
)

FUSION = np.dtype(
    [
        ("revision", I),
        ("rule", I),
        ("why", I),  # not both, or UNDECIDED
        ("news", I),  # changes of the two above since the start
        ("doubt_time", F),  # [s] of disagreement
        ("apart_time", F),  # [s] since their slow difference was within half the tolerance
        ("good_time", F),  # [s] of agreement with one that is not used
        ("raw", F, (2, 6)),
        ("own", F, (2, 6)),  # without bias and weight, own axes [N, Nm]
        ("e", F, (2, 6)),  # the same in the axes of the first sensor, about its origin
        ("average", F, (2, 6)),  # of own: what zeroing takes off
        ("same_time", F, 2),  # [s] since the reading has changed
        ("jump_age", F, 2),  # [s] since it jumped faster than physics allows
        ("rough", F, 2),  # mean change from one reading to the next, now [N]
        ("usual", F, 2),  # and as it usually is
        ("lively", F, 2),  # share of the cycles with another reading, while both agreed
        ("known_time", F),  # of that mean [s]
        ("late", F, 6),  # e1 as late as e2
        ("difference", F, 6),  # e2 - late
        ("shared", F, 6),  # its low-pass
        ("gap", F, 6),
        ("out", F, 6),
    ],
    align=True,
)
