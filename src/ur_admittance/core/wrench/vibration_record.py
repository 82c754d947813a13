"""What is remembered of a tool that vibrates: STATE["vibration"]. Every number is a float, as in CONTACT."""

import numpy as np

F = np.float64

SEARCH = np.dtype(  # for a tone in the force, while the arm stands and does not comply
    [
        ("slow", F, 3),  # below 10 Hz [N]
        ("tone", F, 3),  # what is left, as a rotating pointer of this frequency: its two parts [N]
        ("quadrature", F, 3),
        ("hz", F),
        ("power", F),  # mean square of the pointer's length [N2]
        ("rest", F),  # mean square of what it does not explain [N2]
        ("steady_hz", F),
        ("steady_time", F),  # for which the frequency has stayed near that one, and the tone clear [s]
    ],
    align=True,
)
VIBRATION = np.dtype(
    [
        ("hz", F),  # of the notch; 0: there has been none
        ("level", F),  # share of the tone that is taken off the reading, 0..1
        ("found", F),  # by the search, 0: nothing yet [Hz]
        ("pointer", F, 6),  # the tone in the reading as a rotating pointer: its two parts [N, Nm]
        ("quadrature", F, 6),
        ("tone", F, 6),  # what is taken off the reading of this cycle [N, Nm]
        ("search", SEARCH),
    ],
    align=True,
)
