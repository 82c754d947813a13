"""A process that outlives the program and stops the arm when speed commands end: kill -9, a crash, a pause.

forward_velocity_controller keeps the last speed for ever (no time-out in any version: forward_controllers_base.cpp of
ros2_controllers 2.54 to 6.9). So the program leaves its last speeds and a count in shared memory in every cycle; the
guard, a process of its own, brakes from those speeds when the count stands still. Its publisher exists only while the
program's does. Positions need no guard: every trajectory ends at rest (core/motion/sending.py).

Its priority is one above the program's most urgent thread: a loop that hangs at SCHED_FIFO never lets anything of its
own priority or below run on its core. The price is that a look of the guard, every 5 ms, may delay the loop.
"""

import mmap
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.runtime.braking import BRAKING, slow_down
from ur_admittance.runtime.realtime import highest_priority, schedule_all

Array = NDArray[np.float64]

SILENCE_S = 0.05  # 25 cycles at 500 Hz: a pause that is none of the operating system's usual ones
LOOK_S = 0.005
PERIOD_S = 0.002  # between two commands of the guard
LAST_COMMANDS = 500  # after standstill, one second: lost messages must not leave the arm moving
HANGS_S = 0.1  # since the guard has looked: no pause of the operating system either
ARMED, COUNT, SPEEDS, LISTENERS, LOOKS, NUMBERS = 0, 1, slice(2, 8), 8, 9, 10  # of the shared memory, doubles
READY_S = 20.0
SUFFIX = "_guard"  # of the node's name
RANK_EVERY = 100  # looks, 0.5 s: the program may get its priority after it has armed the guard
HIGHEST = 99  # of SCHED_FIFO


class Guard:
    """The program's side: `arm` and `disarm` it, and `beat` in every cycle."""

    def __init__(self, node_name: str, namespace: str, topic: str) -> None:
        """Starts the process, which takes a second; `wait_ready` waits for it."""
        descriptor = os.memfd_create("ur_admittance_guard")
        os.ftruncate(descriptor, 8 * NUMBERS)
        self._memory: Array = np.frombuffer(mmap.mmap(descriptor, 8 * NUMBERS), "<f8")
        command = [sys.executable, "-m", __name__, str(descriptor), node_name + SUFFIX, namespace, topic]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
            start_new_session=True,  # Ctrl-C in a terminal is for the program alone
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        os.close(descriptor)
        self._looks, self._looked = -1.0, time.monotonic()  # its count, and when that changed [s]

    def wait_ready(self) -> bool:
        """Whether the process has begun to watch."""
        out = self._process.stdout
        assert out is not None
        return bool(select.select([out], [], [], READY_S)[0] and os.read(out.fileno(), 1))

    def looks(self) -> bool:
        """Whether the process does its work."""
        looks, now = float(self._memory[LOOKS]), time.monotonic()
        if looks != self._looks:
            self._looks, self._looked = looks, now
        return now - self._looked < HANGS_S and self._process.poll() is None

    @property
    def listeners(self) -> int:
        """How many controllers the guard's own publisher has found."""
        return int(self._memory[LISTENERS])

    def arm(self) -> None:
        self._memory[SPEEDS] = 0.0
        self._memory[LISTENERS] = 0.0
        self._memory[COUNT] += 1.0
        self._memory[ARMED] = 1.0
        self._looked = time.monotonic()

    def beat(self, qd: Array) -> None:
        """These speeds have just been sent."""
        self._memory[SPEEDS] = qd
        self._memory[COUNT] += 1.0

    def disarm(self) -> None:
        """The arm stands; nothing more is to be watched."""
        self._memory[ARMED] = 0.0

    def close(self) -> None:
        self.disarm()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()


class Watch:
    """The guard's side, without ROS: looks at the memory and says what to send."""

    def __init__(self, memory: Array, now: Callable[[], float] = time.monotonic) -> None:
        self._memory, self._now = memory, now
        self._count, self._seen = -1.0, now()
        self._speeds = np.zeros(6)
        self._braking = False
        self.left = 0  # zeros still to be sent

    @property
    def armed(self) -> bool:
        return bool(self._memory[ARMED])

    @property
    def done(self) -> bool:
        """The arm was stopped, and nobody has commanded it since."""
        return self._braking and self.left <= 0

    def look(self) -> Array | None:
        """Speeds (6,) [rad/s] to send now, or None."""
        self._memory[LOOKS] += 1.0
        count, now = float(self._memory[COUNT]), self._now()
        if count != self._count or not self.armed:
            self._count, self._seen, self._braking, self.left = count, now, False, 0
            return None
        if not self._braking:
            if now - self._seen < SILENCE_S:
                return None
            self._braking, self.left = True, LAST_COMMANDS
            self._speeds[:] = np.nan_to_num(self._memory[SPEEDS])
        if self.left <= 0:
            return None
        slow_down(self._speeds, BRAKING * PERIOD_S)
        self.left -= not self._speeds.any()
        return self._speeds


class Rank:
    """Of this process: one above the program while armed, an ordinary one otherwise."""

    def __init__(self, program: int) -> None:
        """program: its process number."""
        self._program, self._looks, self._priority = program, 0, 0

    def look(self, armed: bool) -> None:
        self._looks = self._looks + 1 if armed else 0
        if self._looks % RANK_EVERY != 1 and armed:
            return
        theirs = highest_priority(self._program) if armed else 0
        priority = min(theirs + 1, HIGHEST) if theirs else 0
        if priority != self._priority:
            self._priority = priority
            schedule_all(priority)


def watch_over(descriptor: int, name: str, namespace: str, topic: str) -> None:
    """The process: until the program has ended and the arm stands."""
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import Float64MultiArray

    from ur_admittance.robots.ros.polled import COMMANDS

    memory: Array = np.frombuffer(mmap.mmap(descriptor, 8 * NUMBERS), "<f8")
    watch = Watch(memory)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Node(name, namespace=namespace, enable_rosout=False, start_parameter_services=False)
    publisher: Any = None
    sys.stdout.write("r")
    sys.stdout.flush()
    rank = Rank(os.getppid())
    ended = False
    while not (ended and (watch.done or not watch.armed)):
        if not ended:
            rank.look(watch.armed)
        if watch.armed and publisher is None:
            publisher = node.create_publisher(Float64MultiArray, topic, COMMANDS)
        elif not watch.armed and publisher is not None:
            node.destroy_publisher(publisher)
            publisher = None
        if publisher is not None:
            memory[LISTENERS] = publisher.get_subscription_count()
        speeds = watch.look()
        if speeds is not None and publisher is not None:
            publisher.publish(Float64MultiArray(data=speeds.tolist()))
        wait = PERIOD_S if speeds is not None else LOOK_S
        if ended:
            time.sleep(wait)
        elif select.select([sys.stdin], [], [], wait)[0]:
            ended = not os.read(sys.stdin.fileno(), 1)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    schedule_all(0)  # whatever the thread had that started it: importing ROS takes a second
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends when the program has ended and the arm stands
    watch_over(int(sys.argv[1]), *sys.argv[2:5])
