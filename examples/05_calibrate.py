"""Find mass, centre of mass, bias and mounting of a tool that nobody knows, then compare with the truth."""

from pathlib import Path

from ur_admittance.apps.practice_arms import truth, unknown_tool
from ur_admittance.calibration import session
from ur_admittance.calibration.arm import CalmArm
from ur_admittance.calibration.file import save_calibration, with_calibration
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.simulation import SimulatedRobot

model = robot_model("ur5e")
world = unknown_tool(model, seed=3)
parameters = Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]})
with SimulatedRobot(world) as robot:
    arm = CalmArm(robot, model, 0.002)
    result = session.calibrate(arm, parameters)
    print(result)
    save_calibration(result, Path("calibration.yaml"))
    verdict = session.check(arm, with_calibration(parameters, Path("calibration.yaml")))
print(f"true mass {truth(world)['tool.mass']} kg; in three new orientations: {verdict}")
