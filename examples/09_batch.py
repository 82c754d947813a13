"""Sixty contacts at once: how hard does the tool hit a wall, over its stiffness and the damping of the law?"""

import time

import numpy as np

import ur_admittance as ua
import ur_admittance_lab as lab

STIFFNESS = np.geomspace(1e3, 1e5, 6)  # [N/m]
DAMPING = np.geomspace(30.0, 1000.0, 10)  # [Ns/m]
tool, one = ua.Tool(mass=1.0), [True] + 5 * [False]
pressing = {"admittance.force_axes": one, "admittance.enabled_axes": one, "contact.approach_speed": [0.02, 0.2]}
pressing |= {"admittance.desired_wrench": [-10.0] + 5 * [0.0], "contact.stabilizer": False}

script = lab.Script(seconds=5.0)
script.activate(at=0.1)
cases = []
for stiffness in STIFFNESS:
    for damping in DAMPING:
        law = pressing | {"admittance.damping": 3 * [damping] + 3 * [np.nan]}
        parameters = ua.Parameters().changed(tool.parameters() | law)
        wall = ua.Environment.wall(stiffness, gap=0.005)
        cases.append(lab.Case(script, parameters, "ur5e", tool, wall, ua.Servo(delay=0.010)))

began = time.perf_counter()
peaks = lab.simulate(cases, lambda case, trace: -trace.contact[:, 0].min())  # [N] one number for each case
took = time.perf_counter() - began
print(f"{len(cases)} contacts, {5 * len(cases)} s of them in {took:.1f} s; pressed with 10 N, largest force:\n")
print(" " * 10 + "".join(f"{damping:7.0f}" for damping in DAMPING) + "  Ns/m")
for stiffness, row in zip(STIFFNESS, np.reshape(peaks, (len(STIFFNESS), -1)), strict=True):
    print(f"{stiffness / 1e3:5.1f} kN/m" + "".join(f"{peak:7.1f}" for peak in row) + "  N")
