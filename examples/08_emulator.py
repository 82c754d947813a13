"""The real-robot path without a robot: the emulator speaks a UR's protocols, and the RTDE client drives it."""

import ur_admittance as ua
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

model = ua.robot_model("ur5e")
parameters = ua.preset("hand_guiding").changed({"guiding.enable": "none"})  # a real arm: hold a button while it moves
controller = ua.AdmittanceController(model, parameters)
controller.configure(print)  # may compile on the first run: better before the robot waits for commands
with EmulatorProcess() as emulator, ua.RtdeRobot(emulator.host, model) as robot:  # a real arm: its address
    print(*robot.info.sentences, sep="\n")
    emulator.tell("push 0 10 0 0 0 0")  # a hand that pushes with 10 N along y of the robot's own base
    print(ua.run(controller, robot, duration=2.0, activate=True, say=print))  # say: which privileges it got
