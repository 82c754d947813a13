"""The real-robot path without a robot: the emulator speaks a UR's protocols, and the RTDE client drives it."""

from ur_admittance.control import AdmittanceController
from ur_admittance.emulator.process import EmulatorProcess
from ur_admittance.model import robot_model
from ur_admittance.params import preset
from ur_admittance.robots.rtde.clock import RobotClock
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.realtime import realtime

model = robot_model("ur5e")
controller = AdmittanceController(model, preset("hand_guiding"))
controller.configure(print)
with EmulatorProcess() as emulator, RtdeRobot(emulator.host, model) as robot:
    print(*robot.info.sentences, sep="\n")
    controller.activate()
    emulator.tell("push 0 10 0 0 0 0")  # a hand that pushes with 10 N along y of the robot's own base
    with realtime() as setup:  # priority, locked memory, frozen collector: what the system allows
        print(setup)
        print(run(controller, robot, RobotClock(robot), duration=2.0))
