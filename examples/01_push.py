"""Push a simulated arm: it moves like the mass and damper you asked for, and stays where you leave it."""

from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.params import preset
from ur_admittance.simulation import SimulatedRobot, Tool, World

model = robot_model("ur5e")
tool = Tool(mass=1.0)
known = {"tool.mass": tool.mass, "tool.center_of_mass": list(tool.com), "tool.tcp": [*tool.tcp, 0.0, 0.0, 0.0]}
controller = AdmittanceController(model, preset("hand_guiding").changed(known))
controller.configure(print)  # compiles on the first run
world = World(model, tool)
law = controller.parameters.admittance
speed = 1000 * (10.0 - law.min_motion_threshold) / law.effective_damping[1]
print(f"{law.mass[1]:g} kg, {law.effective_damping[1]:.1f} Ns/m: 10 N should move the tool at {speed:.0f} mm/s")

with SimulatedRobot(world) as robot:  # leaving the block stops the arm
    controller.activate()
    for tick in range(1500):  # three seconds
        if tick == 500:
            world.push([0.0, 10.0, 0.0, 0.0, 0.0, 0.0])  # 10 N along y, at the tool point
        if tick == 1000:
            world.let_go()
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)
        if tick == 0:
            start = controller.command["p_tcp"][1]
        if tick % 250 == 0:
            y, speed = controller.command["p_tcp"][1] - start, controller.command["twist"][1]
            print(f"{tick * 0.002:.1f} s   moved {1000 * y:6.1f} mm   speed {1000 * speed:6.1f} mm/s")
print(controller.reason)
