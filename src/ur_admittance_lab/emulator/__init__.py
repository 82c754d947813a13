"""A UR controller on the network with contact physics behind it: RTDE, dashboard, script and primary ports, Robot API.

    ur-emulator --model ur5e --host 127.0.0.2 --environment wall --stiffness 2e4

The unmodified ur_rtde client and other RTDE clients connect to it as to a robot. Reading order:
    protocol.py         RTDE messages and types, software of each type of arm: tables of its own
    variables.py        which variables exist in which controller version, registers, who may write them
    output_values.py    what they are worth now
    ur_frames.py        rotation vectors and the UR base frame, by maths of its own
    geometry.py         the arm's Denavit-Hartenberg rows, and a unit that is not quite as drawn
    emulated_kinematics.py  pose, speed and inverse in UR base axes
    motion_limits.py    what a robot refuses: impossible wishes and set-points, with the values that are assumed
    motions.py          speedj, servoj, movej, stopj ...: one cycle of each
    emulated_arm.py     the simulated arm: motion, payload, TCP, force conventions
    safety.py           stops, power, brakes, speed slider
    urscript/           the robot's language: programs are compiled and executed
    running_program.py  the life of a program: upload, start, pause, end, watchdogs
    program_kinds.py    which of the two kinds it is
    rtde_control.py     ur_rtde's control program, imitated: command handshake, motion threads
    command_names.py    its commands by their numbers: questions and settings
    motion_commands.py  its commands that move the arm
    control_box.py      arm, program and safety in one box
    emulated_controller.py  one control cycle of the box, and what it reports
    program_files.py    the robot's disk: programs to load, saved logs
    dashboard.py        dashboard commands
    emulator_console.py commands that play the world around the robot
    primary.py          state and messages of the primary and secondary ports
    ports.py            the TCP ports
    api_server.py       what PolyScope X has in the place of the dashboard
    server.py           one thread: absolute schedule and sockets
    main.py             the command ur-emulator
    emulator_process.py the emulator as another process, for tests and examples
"""

CONSOLE_PORT = 29990  # our own, on every version; here, so that `ur-emulator tell` loads neither physics nor compiler
