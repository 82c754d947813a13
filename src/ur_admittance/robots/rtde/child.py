"""Child process that holds the command connection: run by ``commander.Commander``, which imports only its constants.

It loads only the standard library and ur_rtde, so it starts in a tenth of a second. It sends nothing to the
robot that its parent has not asked for, with one exception: when a moving arm gets no command for the patience, because
the parent is dead or held up, the arm is slowed down; the next command goes on from there. Without a parent it stops
the arm and exits.

The library's own thread looks for states every 0.1 ms, which costs more than all the rest of this program. Nothing
here depends on how soon it sees one, so it gets ordinary priority and a timer that may be late.

Messages on the socket, one per packet:
    S or V + 6 + n doubles      speedJ(qd, acceleration, time) or servoJ(q, 0, 0, time, lookahead, gain)
                                answer: one byte, bit 0 accepted, bit 1 connected
    { ... JSON                  {"call": name, "arguments": [...]}; answer {"value": ...} or {"error": text}
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
from typing import Any

STREAMED = struct.Struct("<c9d")  # kind, six numbers, three more
LARGEST = 4096  # [bytes]
STOP_DECELERATION = 10.0  # [rad/s2]
STOP_PATIENCE_S = 5
ORPHAN_S = 1.0  # between two looks whether the parent is still there
PR_SET_TIMERSLACK = 29  # linux/prctl.h
LATE_NS, DEFAULT = 1_500_000, 0


def main() -> None:
    descriptor, host, frequency, priority, patience = sys.argv[1:6]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # for the parent, which stops the arm itself; without it this ends, too
    parent = socket.socket(fileno=int(descriptor))
    try:
        from rtde_control import RTDEControlInterface

        _timer_slack(LATE_NS)  # the thread that the library starts inherits it
        control = RTDEControlInterface(host, float(frequency), rt_priority=-1)
        _timer_slack(DEFAULT)
    except (RuntimeError, ImportError) as error:
        parent.send(json.dumps({"error": str(error)}).encode())
        os._exit(1)
    if int(priority) > 0:
        with contextlib.suppress(OSError):  # not allowed: ordinary priority, as for the loop itself
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority)))
    parent.send(b'{"value": true}')
    serve(parent, control, 1.0 / float(frequency), float(patience))


def serve(parent: socket.socket, control: Any, period: float, patience: float) -> None:
    """Until the parent is gone. period [s]: of the robot; patience [s]: as RtdeSettings.command_patience."""
    moving = ""  # S or V: what the last command was
    late = False
    born_of = os.getppid()
    parent.settimeout(ORPHAN_S)
    while True:
        try:
            message = parent.recv(LARGEST)
        except TimeoutError:
            if os.getppid() != born_of:  # another process may hold the parent's end of the socket
                break
            if moving == "S" and not late:  # a position that is not renewed is a stop already
                _accepted(control.speedJ, [0.0] * 6, STOP_DECELERATION, period)
            late = True  # once: it must not pass for a command that keeps the watchdog quiet
            parent.settimeout(ORPHAN_S)
            continue
        except OSError:
            break
        if not message:
            break
        if message[:1] in b"SV":
            kind, *numbers = STREAMED.unpack(message)
            moving, late = kind.decode(), False
            parent.settimeout(patience)
            if kind == b"S":
                accepted = _accepted(control.speedJ, numbers[:6], numbers[6], numbers[7])
            else:
                accepted = _accepted(control.servoJ, numbers[:6], 0.0, 0.0, *numbers[6:])
            parent.send(bytes([accepted | bool(control.isConnected()) << 1]))
        else:
            moving = ""  # calls are for an arm at rest, or bring it there
            parent.settimeout(ORPHAN_S)
            parent.send(_call(control, message))
    signal.alarm(STOP_PATIENCE_S)  # a robot that is gone never answers: the system ends this process then
    if moving and control.isConnected():
        (control.speedStop if moving == "S" else control.servoStop)(STOP_DECELERATION)
    # the library's own clean-up takes half a second and can crash; closing the sockets is enough
    os._exit(0)


def _accepted(command: Any, *arguments: Any) -> bool:
    try:
        return bool(command(*arguments))
    except (RuntimeError, ValueError):
        return False


def _call(control: object, message: bytes) -> bytes:
    try:
        request = json.loads(message)
        return json.dumps({"value": getattr(control, request["call"])(*request["arguments"])}).encode()
    except Exception as error:  # whatever the library raises is the parent's to judge
        return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()


def _timer_slack(nanoseconds: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)


if __name__ == "__main__":
    main()
