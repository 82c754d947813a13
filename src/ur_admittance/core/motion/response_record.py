"""What is remembered of how late the arm answers: STATE["response"]. Every number is a float, as in CONTACT."""

import numpy as np

F = np.float64

RESPONSE = np.dtype(
    [
        ("seen", F),  # the last estimate that was certain, 0: none yet [s]
        ("settled", F),  # for which the arm has complied [s]
        ("motion", F),  # for which it has moved, with forgetting [s]
        # through the first and through both low-passes, TCP, base axes
        ("command", F, (2, 3)),  # commanded velocity [m/s]
        ("lost", F, (2, 3)),  # measured velocity less the commanded one [m/s]
        ("force", F, (2, 3)),  # [N]
        ("time", F),  # the last estimate, certain or not, 0: none yet [s]
        # sums over the motion, with forgetting, of the products of a, y and e in response.py
        ("aa", F),
        ("ae", F),
        ("ee", F),
        ("yy", F, (3, 3)),
        ("ay", F, (3, 3)),
        ("ey", F, (3, 3)),
    ],
    align=True,
)
