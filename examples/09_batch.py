"""A thousand controllers at once: how far does a 10 N push carry the tool, over mass and damping?"""

import time

import numpy as np

import ur_admittance as ua
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Request, new
from ur_admittance.core.tick import tick_batch
from ur_admittance.params.record import fill

COUNT = 1000
model = ua.robot_model("ur5e")
params, state, sample, command = (new(dtype, COUNT) for dtype in (PARAMS, STATE, SAMPLE, COMMAND))
fill(params[0], ua.Parameters(), model)
params[:] = params[0]
mass, damping = np.meshgrid(np.linspace(2.0, 20.0, 25), np.linspace(20.0, 200.0, 40))
params["mass"][:, :3], params["damping"][:, :3] = mass.reshape(-1, 1), damping.reshape(-1, 1)

sample["dt"], sample["q"], sample["request"] = 0.002, model.home, Request.ACTIVATE
tick_batch(params, state, sample, command)  # compiles for all cores on the first run
start = command["p_tcp"].copy()
sample["request"], sample["wrench"][:, 0] = Request.NONE, 10.0
began = time.perf_counter()
for _ in range(500):  # one second
    tick_batch(params, state, sample, command)
    sample["q"], sample["qd"] = command["q"], command["qd"]
took = time.perf_counter() - began
way = 1000 * np.linalg.norm(command["p_tcp"] - start, axis=1)
print(f"{COUNT} controllers, 500 ticks in {took:.2f} s: {1e6 * took / 500 / COUNT:.2f} us per tick")
print(f"way after one second: {way.min():.0f} mm ({damping.flat[way.argmin()]:.0f} Ns/m) to {way.max():.0f} mm")
