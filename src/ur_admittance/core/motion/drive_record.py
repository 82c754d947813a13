"""What a robot does with the commands it is sent, SAMPLE["drive"], and what is remembered of them, STATE["sent"]."""

import numpy as np

F = np.float64
I = np.int64  # noqa: E741

BRAKING = 8.0  # [rad/s2] of the fastest joint, when an arm brakes by itself

DRIVE = np.dtype(  # all zero: it takes each command as it is, and holds the last one
    [
        ("carries_on", I),  # 1: it takes commands now, carries each on by itself, and brakes when none follows
        ("period", F),  # nominal, between two commands [s]
        ("elapsed", F),  # since the last one, by the clock that the robot goes by [s]
        ("patience", F),  # a longer time between two of them is a pause, in which it has gone on [s]
        ("hold", F),  # for which it keeps the speed of the last one; then it brakes [s]
        ("shortest", F),  # least time of that braking [s]
    ],
    align=True,
)

SENT = np.dtype(
    [
        ("valid", I),  # 0: the next command starts at the arm
        ("q", F, 6),  # [rad]
        ("qd", F, 6),  # [rad/s]
        ("arm_speed", F, 6),  # largest measured speed lately [rad/s]
        ("gain", F),  # of joint speeds: they come back slowly after a pause, 0..1
    ],
    align=True,
)
SENT_FLOATS = (SENT.itemsize - SENT.fields["q"][1]) // 8  # type: ignore[index]
