"""Push a simulated arm: it moves like the mass and damper you asked for, and stays where you leave it."""

import ur_admittance as ua

world = ua.World(ua.robot_model("ur5e"), ua.Tool(mass=1.0))
controller = ua.AdmittanceController(world.model, ua.preset("hand_guiding").changed(world.parameters()))
controller.configure(print)  # in a checkout the first run compiles: about a minute
start, speed = world.pose()[1], []
with ua.SimulatedRobot(world) as robot:  # leaving the block stops the arm
    world.push([0, 10, 0, 0, 0, 0], seconds=1.0)  # a hand: 10 N along y for one second
    ua.run(controller, robot, duration=3.0, activate=True, on_tick=lambda c: speed.append(c.command["twist"][1]))
print(f"10 N moved the tool {1e3 * (world.pose()[1] - start)[1]:.0f} mm along y, at up to {1e3 * max(speed):.0f} mm/s")
