"""Find mass, centre of mass, bias and mounting of a tool that nobody knows, then compare with the truth."""

from pathlib import Path

import ur_admittance as ua
from ur_admittance.calibration import session
from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.tool_calibration import save_calibration, with_calibration
from ur_admittance.robots.simulated.practice_arms import unknown_tool

model = ua.robot_model("ur5e")
world = unknown_tool(model, seed=3)
parameters = ua.Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]})
with ua.SimulatedRobot(world) as robot:
    arm = CalmArm(robot, model, 0.002)
    result = session.calibrate(arm, parameters)
    print(result)
    save_calibration(result, Path("calibration.yaml"))
    verdict = session.check(arm, with_calibration(parameters, Path("calibration.yaml")))
print(f"true mass {world.tool.mass} kg; in three new orientations: {verdict}")
