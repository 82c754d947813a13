"""A path for stages in front of the law, and how close a tool came to it: the same in every form of the program."""

from itertools import pairwise

import numpy as np

CORNERS = np.array([[0.0, 0.03, 0.0], [0.0, 0.03, -0.02]])  # [m] from the start


def along(corners, positions):
    """Largest distance of the positions (n, 3) from the straight lines through the corners, seen from the first
    position; distance of the last one from the last corner [m]."""
    positions = np.asarray(positions) - positions[0]
    ends = np.vstack([np.zeros(3), corners])
    distances = []
    for start, end in pairwise(ends):
        share = np.clip((positions - start) @ (end - start) / ((end - start) @ (end - start)), 0.0, 1.0)
        distances.append(np.linalg.norm(positions - start - share[:, None] * (end - start), axis=1))
    return float(np.min(distances, axis=0).max()), float(np.linalg.norm(positions[-1] - corners[-1]))
