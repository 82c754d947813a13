"""Child process that holds the command connection: run by ``library_link.Commander``, which imports only its
constants.

It loads only the standard library and ur_rtde, so it starts in a tenth of a second. It sends nothing to the
robot that its parent has not asked for, with two exceptions: when a moving arm gets no command for the patience,
because the parent is dead or held up, the arm is slowed down, and the next command goes on from there; while the arm
rests, the watchdog is kept quiet. Without a parent it stops the arm and exits.

The library's own thread looks for states every 0.1 ms, which costs more than all the rest of this program. While
commands are streamed nothing depends on how soon it sees one, so it gets ordinary priority and a timer that may be
late. But every call, and the first command after one, spins until that thread has seen the robot's answer: meanwhile
it runs above the one that spins, or on a busy computer the watchdog would expire before it has its turn.

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
from pathlib import Path
from typing import Any

STREAMED = struct.Struct("<c9d")  # kind, six numbers, three more
LARGEST = 4096  # [bytes]
STOPS = ("speedStop", "servoStop")
STOP_DECELERATION = 10.0  # [rad/s2]
STOP_PATIENCE_S = 5
KICKS = 5  # signs of life within the time of the watchdog, while the arm rests
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
    threads = LibraryThreads(int(priority))
    parent.send(b'{"value": true}')
    serve(parent, control, 1.0 / float(frequency), float(patience), threads)


class LibraryThreads:
    """The priority of this thread, and that of the ones that the library has started."""

    def __init__(self, priority: int) -> None:
        self._above = 0
        self._hurried = False
        if priority > 0:
            with contextlib.suppress(OSError):  # not allowed: ordinary priority, as for the loop itself
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
                self._above = min(priority + 1, os.sched_get_priority_max(os.SCHED_FIFO))

    def hurry(self, yes: bool) -> None:
        """yes: this thread is going to wait for them."""
        if yes is self._hurried or not self._above:
            return
        self._hurried = yes
        policy, priority = (os.SCHED_FIFO, self._above) if yes else (os.SCHED_OTHER, 0)
        for thread in Path("/proc/self/task").iterdir():
            if int(thread.name) != os.getpid():
                with contextlib.suppress(OSError):  # it has ended
                    os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))


def serve(parent: socket.socket, control: Any, period: float, patience: float, threads: LibraryThreads) -> None:
    """Until the parent is gone. period [s]: of the robot; patience [s]: as RtdeSettings.command_patience."""
    moving = ""  # S or V: what the last command was
    late = False
    rest = ORPHAN_S  # [s] to wait for a message while the arm rests
    born_of = os.getppid()
    parent.settimeout(rest)
    threads.hurry(True)
    while True:
        try:
            message = parent.recv(LARGEST)
        except TimeoutError:
            if os.getppid() != born_of:  # another process may hold the parent's end of the socket
                break
            if not moving:
                if rest < ORPHAN_S and not (control.isConnected() and _accepted(control.kickWatchdog)):
                    rest = ORPHAN_S  # the program has ended
                parent.settimeout(rest)
                continue
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
            threads.hurry(False)
        else:
            threads.hurry(True)
            request = json.loads(message)
            answer = _call(control, request)
            parent.send(json.dumps(answer).encode())
            name = request["call"]
            if name in STOPS and answer.get("value"):
                moving = ""  # until then nothing here may keep the watchdog quiet
            if name == "setWatchdog":
                rest = min(0.5 * ORPHAN_S, 1.0 / (KICKS * request["arguments"][0]))
            elif name == "reuploadScript":
                rest, moving = ORPHAN_S, ""  # a new program, without a watchdog
            parent.settimeout(patience if moving else rest)
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


def _call(control: object, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"value": getattr(control, request["call"])(*request["arguments"])}
    except Exception as error:  # whatever the library raises is the parent's to judge
        return {"error": f"{type(error).__name__}: {error}"}


def _timer_slack(nanoseconds: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)


if __name__ == "__main__":
    main()
