"""Which surfaces can be pressed without bouncing? From the eigenvalues of the whole loop, in milliseconds."""

from pathlib import Path

import ur_admittance as ua
from ur_admittance.analysis.axis_loop import loop_of
from ur_admittance.analysis.stability import margin
from ur_admittance.params import PRESETS
from ur_admittance_lab.stability import minimum_damping
from ur_admittance_lab.stability.stability_map import save

ROBOT = {"robot.response_time": 0.016}  # [s] 10 ms of delay and a servo of 25 Hz
for name in ("defaults", *PRESETS):
    parameters = (ua.Parameters() if name == "defaults" else ua.preset(name)).changed(ROBOT)
    found = margin(parameters)
    print(f"{name:20} stable up to {found.stable_stiffness / 1e3:6.2f} kN/m, feels like {found.apparent_mass:.1f} kg")

loop = loop_of(ua.Parameters().changed(ROBOT), 2)
for stiffness in (1e3, 1e4, 1e5):
    print(f"a surface of {stiffness / 1e3:4.0f} kN/m needs at least {minimum_damping(loop, stiffness):4.0f} Ns/m")
save(loop, "defaults", Path("stability_map.svg"))
