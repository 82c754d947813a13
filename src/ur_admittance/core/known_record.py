"""Of the parameters in force: what the memory of the tick is expressed in. STATE["known"], names as in PARAMS.

When parameters change, adopt.py translates from these to the new ones. Every number is a float, as in CONTACT.
"""

import numpy as np

F = np.float64

KNOWN = np.dtype(
    [
        ("valid", F),  # 0: no parameters have been seen yet
        ("revision", F),
        ("tip_rotation", F, (3, 3)),  # chain_rotation[6] and chain_position[6]: the TCP behind the last joint
        ("tip_position", F, 3),  # [m]
        ("control_frame", F),
        ("R_base_task", F, (3, 3)),
        ("R_tcp_sensor", F, (3, 3)),
        ("p_tcp_sensor", F, 3),  # [m]
        ("sensor_sign", F),
        ("sensor_bias", F, 6),  # [N, Nm]
        ("tool_weight_base", F, 3),  # [N]
        ("tool_com", F, 3),  # [m]
        ("tool_inertia_mass", F),  # [kg]
        ("filter_cutoff_hz", F),
        ("deadband_force", F),  # [N]
        ("deadband_torque", F),  # [Nm]
        ("deadband_axis", F, 6),  # [N, Nm]
        ("enabled", F, 6),  # 0 or 1
        ("force_axes", F, 6),
        ("contact_friction", F),
        ("response_time", F),  # [s]
    ],
    align=True,
)
