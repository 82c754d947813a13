"""Record a control loop of your own, recompute it bit for bit, and write it as a table for pandas or a spreadsheet."""

import ur_admittance as ua
from ur_admittance.recording.export import export
from ur_admittance.recording.replay import replay

model = ua.robot_model("ur5e")
controller = ua.AdmittanceController(model, ua.preset("hand_guiding"))
controller.configure(print)
controller.activate()
sample, command = controller.sample, controller.command
sample["q"] = model.home  # your robot's measured joints

with ua.Recorder("mine.mcap", model="ur5e", rate=500) as recorder:  # realtime=True for a loop that must not wait
    for cycle in range(1000):
        sample["dt"] = 0.002
        sample["wrench"] = [0.0, 0.0, 12.0 if cycle > 250 else 0.0, 0.0, 0.0, 0.0]  # your sensor
        controller.enable()  # hold-to-run: in each cycle in which your button is held
        controller.update()
        recorder.add(controller)
        sample["q"], sample["qd"] = command["q"], command["qd"]  # an arm that does at once what it is told

log = ua.read_log("mine.mcap")
print(replay(log))
print("table:", export(log, "mine.csv", ["force", "velocity", "q"]))
