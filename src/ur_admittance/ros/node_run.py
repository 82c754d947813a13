"""Start and end of a node: one sentence instead of a traceback, and an end that leaves the arm standing; and services
without arguments, which answer with a sentence.

rclpy's own signal handlers would close the context before a last command can be published, so signals only set an
event here; the main thread then ends the executor's thread and lets the node finish.
"""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from ur_admittance.errors import LifecycleError, UrAdmittanceError
from ur_admittance.robots.ros import use_own_prefix
from ur_admittance.runtime.loop import ending_signals

INTERRUPTED = 130  # exit code, as shells have it
LONGEST_CALLBACK_S = 60.0  # configure may be starting a recorder and the page; what comes after needs its result
SPIN_S = 0.5  # longest sleep of the executor before it looks whether it shall end


class Spinner:
    """An executor in a thread. An exception in a callback is logged and does not end the node."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.executor = SingleThreadedExecutor()
        for each in (node, *getattr(node, "beside", ())):  # nodes that live with it
            self.executor.add_node(each)
        self._end = False
        self._thread = threading.Thread(target=self._spin, name="executor")

    def start(self) -> None:
        self._thread.start()

    def _spin(self) -> None:
        while not self._end and rclpy.ok():
            try:
                self.executor.spin_once(timeout_sec=SPIN_S)
            except ExternalShutdownException:
                return
            except Exception as error:
                self.node.get_logger().error(f"a callback failed ({type(error).__name__}): {error}")

    def stop(self) -> None:
        self._end = True
        self.executor.wake()
        self._thread.join(timeout=LONGEST_CALLBACK_S)
        self.executor.shutdown(2.0)


def run(make: Callable[[], Any], args: list[str] | None = None) -> int:
    """Run one node until it is done or a signal comes. Returns the exit code.

    A node may have ``work()`` (runs in the main thread, its return value is the exit code), ``finish()``, and
    ``must_finish`` for work that has an end of its own: a signal before it is a failure.
    """
    use_own_prefix()
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # arguments that ROS cannot read
        _print(error)
        return 2
    told = threading.Event()

    def tell(number: int, frame: FrameType | None) -> None:
        told.set()

    handlers = {number: signal.signal(number, tell) for number in ending_signals()}
    node = spinner = None
    code = 0
    try:
        node = make()
        node.told_to_end = told
        spinner = Spinner(node)
        spinner.start()
        if hasattr(node, "work"):
            code = int(node.work() or 0)
        else:
            told.wait()
    except UrAdmittanceError as error:
        _print(error)
        code = 2
        if told.is_set():
            code = INTERRUPTED if getattr(node, "must_finish", False) else 0
    finally:
        _end(node, spinner)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code


def saying_unless_ended(node: Any) -> Callable[[str], None]:
    """Says into the node's log; raises once the program was told to end, so that a first start compiles no longer."""

    def say(sentence: str) -> None:
        if node.told_to_end.is_set():
            raise LifecycleError("the program was told to end.")
        node.get_logger().info(sentence)

    return say


def _end(node: Any, spinner: Spinner | None) -> None:
    if spinner is not None:
        spinner.stop()  # from here on nobody else works on the node
        if hasattr(node, "finish"):
            try:
                node.finish()
            except Exception as error:
                node.get_logger().error(f"the end was not clean: {error}")
    if node is not None:
        node.destroy_node()
    rclpy.try_shutdown()


def _print(error: Exception) -> None:
    program = sys.argv[0].rsplit("/", 1)[-1].removesuffix(".py")
    print(f"{program}: {error}", file=sys.stderr)  # noqa: T201


def offer(node: Node, **actions: Callable[[], str]) -> None:
    """~/name for each action. It returns the sentence of the answer, or raises that of a refusal."""
    for name, action in actions.items():
        node.create_service(Trigger, f"~/{name}", answering(node, action))


def say(node: Node, action: Callable[[], str]) -> tuple[str, bool]:
    """Do it and log how it went: (sentence, whether it was done)."""
    try:
        message, done = action(), True
    except UrAdmittanceError as error:
        message, done = str(error), False
    node.get_logger().info(message)
    return message, done


def answering(node: Node, action: Callable[[], str]) -> Callable[[Any, Any], Any]:
    """The callback of one such service."""

    def answer(request: Any, response: Any) -> Any:
        response.message, response.success = say(node, action)
        return response

    return answer
