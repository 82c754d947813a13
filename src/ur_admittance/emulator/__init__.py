"""A UR controller on the network with contact physics behind it: RTDE, dashboard and script port.

    ur-emulator --model ur5e --host 127.0.0.2 --environment wall --stiffness 2e4

The unmodified ur_rtde client and other RTDE clients connect to it as to a robot. Reading order:
    wire.py        RTDE messages: types, packing, splitting a byte stream
    variables.py   which variables exist in which controller version
    arm.py         the simulated arm: motion commands, payload, TCP, force conventions
    safety.py      stops, power, brakes, speed slider
    registers.py   input and output registers, who may write them
    program.py     the uploaded control script: command handshake, motion threads, watchdog
    controller.py  one control cycle of the box
    ports.py       the three TCP ports
    server.py      one thread: absolute schedule and sockets
"""
