"""The control loop of a node, in a thread of its own: no executor in its path. Other threads ask it with `call`."""

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from ur_admittance.control import AdmittanceController
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import RobotError
from ur_admittance.robots.operate import Operation, operate
from ur_admittance.robots.ros.ros_robot import RosRobot
from ur_admittance.ros.node_topics import Monitor, References
from ur_admittance.runtime.loop import stands_still
from ur_admittance.runtime.report import LoopReport

T = TypeVar("T")

ANSWER_S = 1.0
REFERENCES_EVERY = 3  # ticks: one of the three topics in turn, each 55 times per second
BEGIN_S = 30.0  # for the recorder and the page, which are processes of their own, to start


class ControlThread:
    """Runs from ``start`` to ``stop``; every field of `Operation` may be given."""

    def __init__(
        self,
        controller: AdmittanceController,
        robot: RosRobot,
        monitor: Monitor,
        references: References,
        **options: Any,
    ) -> None:
        self.failure = ""  # why the loop has ended by itself
        self.report: LoopReport | None = None  # when it has ended as it should
        self._controller, self._robot, self._options = controller, robot, options
        self._monitor, self._references, self._turn = monitor, references, 0
        self._calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._begun, self._stopping = threading.Event(), False
        self._mode, self._qd = scalar(controller.command, "mode"), vector(controller.state, "qd_command")
        self._thread = threading.Thread(target=self._run, name="control loop")

    def start(self) -> None:
        """Returns when the loop runs; RobotError says why it does not."""
        self._thread.start()
        if not self._begun.wait(BEGIN_S) or not self.alive:
            self.stop()
            raise RobotError(self.failure or f"the control loop did not start within {BEGIN_S:g} s.")

    def stop(self) -> None:
        """End the thread. The arm must stand still or be somebody else's."""
        self._stopping = True
        self._thread.join(timeout=20.0)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def done(self) -> bool:
        """A stage that ends the loop has done all that it had to do."""
        return any(getattr(stage, "finished", False) for stage in self._options.get("stages", ()))

    def call(self, action: Callable[[], T], timeout: float = ANSWER_S) -> T:
        """Run ``action`` between two ticks and return what it returns, or raise what it raises."""
        answer: Future[T] = Future()
        self._calls.append((action, answer))
        if not self.alive or not wait([answer], timeout).done:
            raise RobotError(self.failure or f"the control loop did not answer within {timeout:g} s.")
        return answer.result()

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Sleep in the caller's thread until the condition holds."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end or not self.alive:
                return False
            time.sleep(0.002)
        return True

    def stands_still(self) -> bool:
        """No motion is commanded any more, nor sent by a stage behind the law."""
        loop = self._monitor.loop
        sent = loop["qd_shaped"][0] if loop["stages"][0] else self._qd
        return stands_still(int(self._mode[0]), self._qd) and stands_still(int(self._mode[0]), sent)

    @property
    def ticks(self) -> int:
        return int(self._monitor.loop["sequence"][0])

    @property
    def stalls(self) -> int:
        return int(self._monitor.loop["stalls"][0])

    def _run(self) -> None:
        try:
            how = Operation(publishers=[self._monitor], on_tick=self._on_tick, **self._options)
            self.report = operate(self._controller, self._robot, self._robot.clock(), how)
        except Exception as error:
            self.report = getattr(error, "report", None)  # of a LoopError
            self.failure = str(error) or type(error).__name__
            self._options["say"](traceback.format_exc())
        self._begun.set()

    def _on_tick(self, controller: Any) -> bool:
        while self._calls:
            action, answer = self._calls.popleft()
            try:
                answer.set_result(action())
            except Exception as error:
                answer.set_exception(error)
        self._turn += 1
        if self._turn == REFERENCES_EVERY:
            self._turn = 0
            self._references.poll(controller)
            self._begun.set()
        return self._stopping
