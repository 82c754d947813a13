"""Stages in the loop: a path in front of the law, a stage of your own, and a jerk-limited follower behind it."""

import numpy as np

import ur_admittance as ua


class Sway:
    """Your own stage in front of the law: adds a sideways swing to what leads the reference."""

    behind = False

    def start(self, controller, command):
        self.twist, self.cycle = controller.sample["reference_twist"], 0  # views: what is written here the tick reads

    def update(self):
        self.cycle += 1
        self.twist[0] += 0.02 * np.cos(2 * np.pi * 0.002 * self.cycle)  # [m/s] once a second, 3.2 mm to each side


world = ua.World(ua.robot_model("ur5e"))
controller = ua.AdmittanceController(world.model, ua.Parameters().changed(world.parameters()))
path = ua.CartesianPath([[0.0, 0.1, 0.0]], speed=0.05, relative=True)
tool = []


def watch(controller):
    tool.append(controller.command["p_tcp"].copy())
    return path.done


with ua.SimulatedRobot(world) as robot:
    world.push([0, 0, 5, 0, 0, 0], seconds=0.5)  # the arm still yields, and goes back to its path
    ua.run(controller, robot, activate=True, on_tick=watch, stages=[path, Sway(), ua.JointFollower()])
moved = 1e3 * (np.array(tool) - tool[0])
print(f"led {moved[-1, 1]:.0f} mm along y, swaying {np.ptp(moved[:, 0]):.1f} mm, pushed up {moved[:, 2].max():.0f} mm")
