"""The 500 Hz path: wait for a wrench, read, tick, publish. A thread of its own, no executor, no message objects.

Everything else (services, parameters, life cycle) runs in the executor's thread and asks the loop with ``call``.
"""

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Status
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.robot import RosArm
from ur_admittance.ros.scheduling import whole_process
from ur_admittance.runtime.realtime import realtime

T = TypeVar("T")

LONGEST_PERIOD = 0.1  # [s] as in core/checks.py
STANDSTILL = 1e-9  # [rad/s]
ANSWER_S = 1.0
MOST_FAILURES = 50  # cycles in a row that may raise before the loop gives up: 0.1 s
LAST_COMMANDS = 10  # stop commands after standstill: one lost message must not leave the arm moving


class ControlLoop:
    """Runs from ``start`` to ``stop``. ``driving``: commands are sent."""

    def __init__(
        self,
        controller: AdmittanceController,
        arm: RosArm,
        after_tick: Callable[[int], None] | None = None,
        priority: int = 0,
        say: Callable[[str], None] = lambda text: None,
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.controller, self.arm = controller, arm
        self._after_tick, self._priority, self._say, self._complain = after_tick, priority, say, complain
        self.driving = False
        self.external_status = 0  # a Status the node has found: a fault from the next tick on
        self.ticks = self.stalls = 0
        self.failure = ""
        self._requests: deque[_Request] = deque()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="control loop")
        self._mode, self._qd = scalar(controller.command, "mode"), vector(controller.command, "qd")
        self._dt, self._status = scalar(controller.sample, "dt"), scalar(controller.sample, "external_status")
        self._nominal = arm.period_ns * 1e-9

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread. The arm must stand or be somebody else's."""
        self._stopping = True
        self._thread.join(timeout=2.0)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def call(self, action: Callable[[], T], timeout: float = ANSWER_S) -> T:
        """Run ``action`` between two ticks and return what it returns, or raise what it raises."""
        request = _Request(action)
        self._requests.append(request)
        if not self._thread.is_alive() or not request.done.wait(timeout):
            raise RobotError(f"the control loop did not answer within {timeout:g} s.")
        if request.error is not None:
            raise request.error
        return request.result  # type: ignore[no-any-return]

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Sleep in the caller's thread until the condition holds."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end or not self._thread.is_alive():
                return False
            time.sleep(0.002)
        return True

    def stands(self) -> bool:
        """No motion is commanded any more."""
        return self._mode[0] in (Mode.INACTIVE, Mode.FAULT) and float(np.abs(self._qd).max()) <= STANDSTILL

    def finish_commands(self) -> None:
        """A few more commands of standstill, then none."""
        ticks = self.ticks
        self.wait_for(lambda: self.ticks >= ticks + LAST_COMMANDS, 0.5)
        self.driving = False

    def _run(self) -> None:
        with (
            whole_process(self._priority - 1),
            realtime(priority=self._priority or None, lock_memory=self._priority > 0) as setup,
        ):
            self._say(str(setup))
            self.arm.begin()
            failures = 0
            while not self._stopping:
                try:
                    self._cycle()
                    failures = 0
                except Exception as error:  # an exception is a fault, not a crash with the arm moving
                    failures += 1
                    self.external_status = int(Status.INTERNAL_ERROR)
                    if failures == 1:
                        self.failure = f"{type(error).__name__}: {error}"
                        self._complain(f"the control loop failed: {traceback.format_exc()}")
                    if failures > MOST_FAILURES:
                        self._stop_without_tick()
                        return
                    time.sleep(self._nominal)

    def _cycle(self) -> None:
        arm, controller = self.arm, self.controller
        arm.wait()
        while self._requests:
            self._requests.popleft().run()
        if not arm.poll():
            return  # simulated time stands still
        arm.read(controller.sample)
        self._check_period()
        controller.update()
        if self.driving:
            arm.write(controller.command)
        self.ticks += 1
        if self._after_tick is not None:
            self._after_tick(self.ticks)

    def _check_period(self) -> None:
        """A pause of the loop itself is an overrun; a clock that runs backwards is left to the tick."""
        dt = self._dt[0]
        if dt > LONGEST_PERIOD:
            self.stalls += 1
            self._dt[0] = self._nominal  # the arm held its last command meanwhile: brake in steps of a normal size
            self._status[0] = Status.LOOP_OVERRUN
        if self.external_status:
            self._status[0] = self.external_status

    def _stop_without_tick(self) -> None:
        """The tick itself is broken: hold where the arm is."""
        command = self.controller.command
        command["qd"] = 0.0
        if self.driving:
            for _ in range(LAST_COMMANDS):
                self.arm.write(command)
                time.sleep(self._nominal)
        self.driving = False


class _Request:
    def __init__(self, action: Callable[[], Any]) -> None:
        self.action, self.done = action, threading.Event()
        self.result: Any = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.result = self.action()
        except Exception as error:
            self.error = error
        self.done.set()
