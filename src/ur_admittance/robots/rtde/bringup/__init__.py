"""What a person at a real arm does, step by step, and the report of it, which `run` takes as its configuration.

conversation.py  explains a step, asks before it, shows what it found, asks again; repeats, skips, continues
standing.py      the steps in which nothing moves: check, model, kinematics, payload, sensor
moving.py        those in which the arm is driven: frames, response, calibration, motion
cable.py         the last one: somebody pulls the network cable
step.py          what a step is, and what it needs
report.py        the report file
"""
