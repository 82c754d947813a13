"""References in force: STATE["led"]. What is streamed ends unless it is renewed: see led.py."""

import numpy as np

F = np.float64
I = np.int64  # noqa: E741

LED = np.dtype(
    [
        ("twist_id", I),  # the last one seen in a sample
        ("wrench_id", I),
        ("twist_left", F),  # [s] for which it is still valid
        ("wrench_left", F),
        ("twist", F, 6),  # in force now, base axes [m/s, rad/s]
        ("wrench", F, 6),  # in force now, control axes [N, Nm]
    ],
    align=True,
)
