"""Your own control loop with the numerical core alone: four records and one function, nothing else."""

import numpy as np

import ur_admittance as ua
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.params.record import fill

model = ua.robot_model("ur10e")
params, state, sample, command = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
fill(params[0], ua.Parameters(), model)  # names and units -> numbers ready for the arithmetic

sample["dt"] = 0.002
sample["q"] = model.home  # your robot's measured joints
sample["request"] = Request.ACTIVATE
tick(params, state, sample, command)
sample["request"] = Request.NONE

sample["wrench"][0] = [0.0, 0.0, 10.0, 0.0, 0.0, 0.0]  # your sensor: 10 N along its z
for _ in range(500):
    tick(params, state, sample, command)
    sample["q"], sample["qd"] = command["q"], command["qd"]  # an arm that does at once what it is told

assert command["mode"][0] == Mode.ACTIVE
print("tool velocity [m/s]:", np.round(command["twist"][0, :3], 4))
print("expected along z:   ", round((10.0 - 1.5) / ua.Parameters().admittance.effective_damping[2], 4), "downwards")
