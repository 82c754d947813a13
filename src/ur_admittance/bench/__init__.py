"""How long a tick takes, next to the same tick in other hands (READ FIRST: compare.py), and how contact behaves, next
to plain admittance (READ FIRST: contact_report.py).

workload.py         the same push on the same arm for everybody
ours.py             this package: one tick, controller.update(), a batch
kdl.py              the tick in C++ on KDL and Eigen (kdl_tick.cpp), built on the spot
pinocchio_tick.py   the tick in Python on Pinocchio and NumPy
mink_ik.py          differential inverse kinematics of mink, without a controller around it
footprint.py        memory, import and warm-up time, each in a process of its own
contact_cases.py    walls, surfaces, pegs and hands, with this controller and with plain admittance
guiding.py          minutes of varied hand guiding
boundary.py         least stable damping, simulated and predicted
contact_report.py   all of it as a table and figures
"""
