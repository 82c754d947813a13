"""Everything that exists while the admittance node is configured: the arm, its controller, the loop, the topics."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.model.arm_table import nearest_model
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.inputs import second_topic, wrench_topic
from ur_admittance.robots.ros.ros_robot import RosRobot, RosSettings
from ur_admittance.ros.control_thread import ControlThread
from ur_admittance.ros.node_run import saying_unless_ended
from ur_admittance.ros.node_topics import Monitor, References
from ur_admittance.ros.parameters import COMMANDING
from ur_admittance.runtime.interfaces import Stage
from ur_admittance.runtime.mailbox import Handler
from ur_admittance.runtime.named_stages import build_stages
from ur_admittance.runtime.realtime import whole_process

ACTIVATION_S, ASK_AGAIN_S = 0.5, 0.1
SEEN_S = 2.0  # in which an arm is seen at rest for half a second
STOP_S = 5.0  # more than braking from any speed inside the limits takes
NOTICED_S = 0.1  # in which the robot's word that all is well has arrived
LAST_TICKS = 10  # at standstill before the topic is given back: one lost message must not leave the arm moving


class CompliantArm:
    """Connected and ticking, but sending nothing: `begin` and `end` do that. All in the executor's thread."""

    def __init__(self, node: Any, name: str | None, log: Path | None, handlers: dict[str, Handler]) -> None:
        """node: AdmittanceNode, whose parameters and options count; name: for other programs, None: not for them."""
        p: Parameters = node.parameters
        settings = RosSettings.of(
            p,
            joints=tuple(p.joints),
            wrench_topic=wrench_topic(node, p.sensor.source),
            second_topic=second_topic(p.second.source),
            driving=False,
            **{name: node.option(name) for name in COMMANDING},
        )
        self._node, self._log = node, node.get_logger()
        self._duration, self._remark = p.trajectory_duration, ""
        self.robot = RosRobot(settings, node, node.search)
        with contextlib.ExitStack() as undo:
            undo.callback(self.robot.close)
            model = self.robot.connect().model
            node.use_frames(self.robot)
            self.controller = AdmittanceController(model, node.parameters)
            self.controller.configure(saying_unless_ended(node))
            every = max(1, round(p.control_rate / node.option("monitor_rate")))
            self._monitor = Monitor(node, self.controller, every, model.joint_names)
            undo.callback(self._monitor.destroy)
            self.references = References(node, p.base_link, node.option("tcp_frame"))
            undo.callback(self.references.destroy)
            priority = int(node.option("realtime_priority"))
            self.thread = ControlThread(
                self.controller,
                self.robot,
                self._monitor,
                self.references,
                model=nearest_model(model),
                name=name,
                log=log,
                handlers=handlers,
                stages=stages_of(node),
                priority=priority or None,
                say=self._log.info,
                beside=lambda: _beside(name if node.option("dashboard") else None, priority, self._log),
            )
            self.thread.start()
            self._undo = undo.pop_all()

    def tell_news(self) -> None:
        """References that were refused, force sensors that were dropped or are used again, an arm that answers later
        than configured, into the log."""
        if self.references.refused:
            self._log.warning(self.references.refused)
            self.references.refused = ""
        if self.controller.remark != self._remark:
            self._remark = self.controller.remark
            if self._remark:
                going = self.controller.going
                fine = going is not None and self._remark == going.sentence
                (self._log.info if fine else self._log.warning)(self._remark)

    def begin(self, accept_load: bool = False) -> None:
        """Take the command topic and comply, from where the arm is now; not while a force at rest is unexplained."""
        controller, robot, thread = self.controller, self.robot, self.thread
        if thread.failure or not thread.alive:
            raise LifecycleError(f"the loop has ended ({thread.failure or 'stopped'}); clean up and configure again.")
        if controller.mode == Mode.FAULT:
            reason = robot.complaint or controller.reason
            raise LifecycleError(f"the controller is in fault ({reason}); call ~/reset_fault first.")

        accept_load = accept_load or bool(self._node.option("accept_load"))
        thread.wait_for(lambda: controller.seen_at_rest, SEEN_S)
        controller.check_activation(accept_load)

        def drive() -> None:
            controller.expect_load()  # what presses now is felt slowly, whoever activates
            controller.activate(start_at_arm=True, accept_load=accept_load)  # others may have moved it
            robot.driving = True

        try:
            robot.take_command()
            self._until_active(drive)
        except Exception:
            self.end()
            self._let_go()
            raise

    def _until_active(self, drive: Callable[[], None]) -> None:
        """Ask until the controller is active; RobotError with what it last had against that."""
        controller, cause = self.controller, ""
        end = time.monotonic() + ACTIVATION_S
        while time.monotonic() < end and self.thread.alive:
            if controller.mode == Mode.INACTIVE:
                self.thread.call(drive)
            if self.thread.wait_for(lambda: controller.mode == Mode.ACTIVE, ASK_AGAIN_S):
                return
            if self.robot.complaint or controller.status != Status.OK:
                cause = self.robot.complaint or controller.reason
        raise RobotError(cause or self.thread.failure or f"the controller is still {controller.reason}.")

    def end(self) -> None:
        """Slow down, hold, give the command topic back."""
        thread = self.thread
        if not self.robot.driving:
            return
        try:
            stopped = False
            if not thread.done:  # or the loop comes to rest by itself, and answers nobody after that
                thread.call(self.controller.deactivate)
                stopped = thread.wait_for(thread.stands_still, STOP_S)
        except Exception as error:  # a loop that has failed brakes by itself and answers nobody
            self._log.warning(f"the loop ends, to stop the arm: {error}")
            stopped = False
        if stopped:
            ticks = thread.ticks
            thread.wait_for(lambda: thread.ticks >= ticks + LAST_TICKS, 0.5)
        else:
            thread.stop()  # the end of the loop slows the arm down and stops it
        self._let_go()

    def close(self) -> None:
        """The arm stands still before anything is torn down."""
        try:
            self.end()
        finally:
            self.thread.stop()
            self.controller.configured = False
            self._undo.close()

    def set_duration(self, duration: float) -> None:
        """Least time in which a trajectory leads to rest [s]."""
        path = self.robot.path
        if path is not None and duration != self._duration:
            self.thread.call(lambda: path.set_duration(duration))
            self._duration = duration

    def reset_fault(self) -> None:
        """RobotError when the cause is still there."""
        controller, thread = self.controller, self.thread
        thread.wait_for(lambda: not controller.hindrance, NOTICED_S)
        word = self.robot.status.word if self.robot.status is not None else ""
        if word and controller.mode == Mode.FAULT:
            raise RobotError(f"the cause is still there: {word}.")
        thread.call(controller.reset_fault)
        if not thread.wait_for(lambda: controller.mode != Mode.FAULT, ACTIVATION_S):
            raise RobotError(f"the cause is still there: {controller.reason}.")

    def retreat(self) -> None:
        """Start a retreat: take the command topic for as long as it lasts; end_retreat gives it back."""
        controller, robot = self.controller, self.robot

        def drive() -> None:
            controller.retreat()
            robot.driving = True

        robot.take_command()
        try:
            self.thread.call(drive)
        except Exception:
            self._let_go()
            raise

    def end_retreat(self) -> bool:
        """Give the command topic back when a retreat is over and the arm stands. True: that was just now."""
        if not self.robot.driving or self.controller.retreating or not self.thread.stands_still():
            return False
        self._let_go()
        return True

    def _let_go(self) -> None:
        def silence() -> None:
            self.controller.deactivate()  # also a request to activate that was not served yet
            self.robot.driving = False

        try:
            with contextlib.suppress(Exception):  # a loop that has ended sends nothing any more
                self.thread.call(silence)
            silence()
        finally:
            self.robot.driving = False
            self.robot.give_command_back()


def stages_of(node: Any) -> list[Stage]:
    """New ones, as the node's option names them."""
    return build_stages([name for name in node.option("stages") if name])


def next_log(first: Path | None) -> Path | None:
    """Each configure begins a new file: run.mcap, run-2.mcap ..."""
    path, number = first, 1
    while first is not None and path is not None and path.exists():
        number += 1
        path = first.with_stem(f"{first.stem}-{number}")
    return path


@contextlib.contextmanager
def _beside(page: str | None, priority: int, log: Any) -> Iterator[None]:
    """The page, if wanted, as a process without privileges; then real-time priority for all threads of this one."""
    with contextlib.ExitStack() as stack:
        if page is not None:
            from ur_admittance.page import page_process

            stack.enter_context(page_process(page, say=log.info))
        stack.enter_context(whole_process(priority - 1))
        yield
