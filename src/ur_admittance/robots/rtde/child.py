"""Child process that holds the command connection: run by ``commander.Commander``, which imports only its constants.

It loads only the standard library and ur_rtde, so it starts in a tenth of a second. It sends nothing to the
robot that its parent has not asked for. When the parent dies it stops the arm and exits.

Messages on the socket, one per packet:
    S or V + 6 + n doubles      speedJ(qd, acceleration, time) or servoJ(q, 0, 0, time, lookahead, gain)
                                answer: one byte, bit 0 accepted, bit 1 connected
    { ... JSON                  {"call": name, "arguments": [...]}; answer {"value": ...} or {"error": text}
"""

import contextlib
import json
import os
import signal
import socket
import struct
import sys

STREAMED = struct.Struct("<c9d")  # kind, six numbers, three more
LARGEST = 4096  # [bytes]
STOP_DECELERATION = 10.0  # [rad/s2]
STOP_PATIENCE_S = 5


def main() -> None:
    descriptor, host, frequency, priority = sys.argv[1:5]
    if int(priority) > 0:
        with contextlib.suppress(OSError):  # not allowed: ordinary priority, as for the loop itself
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority)))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # for the parent, which stops the arm itself; without it this ends, too
    parent = socket.socket(fileno=int(descriptor))
    from rtde_control import RTDEControlInterface

    try:
        control = RTDEControlInterface(host, float(frequency), rt_priority=int(priority))
    except RuntimeError as error:
        parent.send(json.dumps({"error": str(error)}).encode())
        os._exit(1)
    parent.send(b'{"value": true}')
    moving = ""
    while message := _receive(parent):
        if message[:1] in b"SV":
            kind, *numbers = STREAMED.unpack(message)
            moving = kind.decode()
            try:
                if kind == b"S":
                    accepted = control.speedJ(numbers[:6], numbers[6], numbers[7])
                else:
                    accepted = control.servoJ(numbers[:6], 0.0, 0.0, *numbers[6:])
            except (RuntimeError, ValueError):
                accepted = False
            parent.send(bytes([bool(accepted) | bool(control.isConnected()) << 1]))
        else:
            parent.send(_call(control, message))
    signal.alarm(STOP_PATIENCE_S)  # a robot that is gone never answers: the system ends this process then
    if moving and control.isConnected():
        (control.speedStop if moving == "S" else control.servoStop)(STOP_DECELERATION)
    # the library's own clean-up takes half a second and can crash; closing the sockets is enough
    os._exit(0)


def _receive(parent: socket.socket) -> bytes:
    try:
        return parent.recv(LARGEST)
    except OSError:
        return b""


def _call(control: object, message: bytes) -> bytes:
    try:
        request = json.loads(message)
        return json.dumps({"value": getattr(control, request["call"])(*request["arguments"])}).encode()
    except Exception as error:  # whatever the library raises is the parent's to judge
        return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()


if __name__ == "__main__":
    main()
