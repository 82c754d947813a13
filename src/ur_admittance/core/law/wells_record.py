"""Shapes that a hand feels. PARAMS["wells"]."""

import numpy as np

F = np.float64
NOTCHES = 4  # places to snap to

WELLS = np.dtype(
    [
        ("place", F, (NOTCHES, 3)),  # of the TCP, base axes [m], inf: no notch
        ("force", F),  # largest of a notch [N]
        ("radius", F),  # of a notch [m]
        ("box_min", F, 3),  # base axes [m], -inf: no wall
        ("box_max", F, 3),
        ("box_stiffness", F),  # [N/m]
        ("box_force", F),  # largest [N]
    ],
    align=True,
)
