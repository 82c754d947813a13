"""Stages and robots for tests of the loop with stages."""

import numpy as np

from ur_admittance.core.leader import Leader
from ur_admittance_lab.null_robot import NullRobot

DT = 0.002


class Watch:
    """Keeps the tick's joints, what was sent, and who led."""

    def __init__(self):
        self.law, self.sent, self.speeds, self.leaders, self.poses, self.twists = [], [], [], [], [], []

    def publish(self, controller, loop):
        command, behind = controller.command, int(loop["stages"][0])
        self.law.append(command["q"].copy())
        self.sent.append(loop["q_sent"][0].copy() if behind else command["q"].copy())
        self.speeds.append(loop["qd_sent"][0].copy() if behind else command["qd"].copy())
        self.leaders.append(Leader(int(loop["leader"][0])))
        self.poses.append(command["p_ref"].copy())
        self.twists.append(command["twist"].copy())


class Behind:
    """Does `act(command, cycle)` behind the law."""

    name, behind = "mine", True

    def __init__(self, act=lambda command, cycle: None):
        self.act, self.cycles, self.starts = act, 0, 0

    def start(self, controller, command):
        self.command = command
        self.starts += 1

    def update(self):
        self.cycles += 1
        self.act(self.command, self.cycles)


class InFront(Behind):
    behind = False

    def start(self, controller, command):
        self.command, self.starts = controller.sample, self.starts + 1


class Braked(NullRobot):
    """Pushed; remembers what it was sent, and the speed at which it was told to stop."""

    def __init__(self):
        super().__init__()
        self.wrench[1] = 20.0
        self.speeds, self.at_stop = [], None

    def write(self, command):
        self.speeds.append(command["qd"].copy())
        return super().write(command)

    def stop(self):
        if self.at_stop is None:
            self.at_stop = float(np.abs(self.qd).max())
        super().stop()
