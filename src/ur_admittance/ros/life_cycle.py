"""The life cycle of a managed node: it survives wrong requests and says why a transition failed; and autostart: it
configures and activates itself, once per start; after that a person activates.

    it waits     for what is not there yet: description, joint states, wrench, frames, a controller that listens
    it ends      with an activation; at a robot that is stopped, because the end of that stop must not start the arm;
                 when somebody asks for a transition or a stop; and STARTING_S after the arm was found
    it refuses   after a run that was killed, or that ended in a stop which nobody answered with an activation: nothing
                 distinguishes a person from a supervisor that starts the node again (`respawn` of a launch file)

A mark in the shared-memory file system remembers such a run, until the computer restarts.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError, UrAdmittanceError
from ur_admittance.robots.ros.known_frames import FIRST_PAUSE
from ur_admittance.runtime import registry

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
LONGEST_PAUSE = 10.0  # [s] between two attempts
STARTING_S = 10.0  # from a driver's first joint states to its active controllers, and more
LONGEST_NAME = 40  # of a shared file (runtime/registry.py)


class ManagedNode(LifecycleNode):  # type: ignore[misc]
    """Subclasses write `configure`, `activate`, `deactivate`, `cleanup`; an UrAdmittanceError refuses the transition,
    and its sentence is logged and kept in `refusal`."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.refusal = ""
        for service in self.services:
            if service.srv_type is ChangeState:
                service.callback = _answering(self, service.callback)

    @property
    def life(self) -> str:
        """unconfigured, inactive, active, finalized, or the name of a transition."""
        return str(self._state_machine.current_state[1])

    def configure(self) -> None: ...
    def activate(self) -> None: ...
    def deactivate(self) -> None: ...
    def cleanup(self) -> None: ...
    def asked(self) -> None:
        """Somebody outside asks for a transition, before it is tried."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("configure", self.configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("activate", self.activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("deactivate", self.deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("cleanup", self.cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        def close() -> None:
            self.deactivate()
            self.cleanup()

        return self._try("shutdown", close)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return SUCCESS

    def _try(self, what: str, action: Callable[[], None]) -> TransitionCallbackReturn:
        try:
            action()
        except UrAdmittanceError as error:
            self.refusal = f"{what} refused: {error}"
            self.get_logger().error(self.refusal)
            return FAILURE
        except Exception as error:
            self.refusal = f"{what} failed ({type(error).__name__}): {error}"
            self.get_logger().error(self.refusal)
            return FAILURE
        self.refusal = ""
        self.get_logger().info(f"{what}: done")
        return SUCCESS


def unique_name(node: Any) -> str:
    """On this computer: nodes of one name may run in different domains."""
    name = node.get_fully_qualified_name().strip("/").replace("/", "-")
    return f"{name}-{node.context.get_domain_id()}"


def _answering(node: ManagedNode, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """rclpy raises for a transition that the present state does not have, out of spin: answer it instead."""

    def answer(request: Any, response: Any) -> Any:
        before = node.life
        node.asked()
        try:
            return callback(request, response)
        except Exception:
            wanted = request.transition.label or f"number {request.transition.id}"
            node.refusal = f"transition {wanted} refused: the node is {before}"
            node.get_logger().error(node.refusal)
            response.success = False
            return response

    return answer


class Autostart:
    """`look` is called five times per second, `end` from any thread."""

    def __init__(self, node: Any, wanted: bool, activate: bool, attended: bool) -> None:
        """activate: False: configure only; attended: a person has just confirmed it, whatever happened before."""
        self._node, self._activate = node, activate
        mark = registry.shared_file(unique_name(node)[-LONGEST_NAME:], "autostart")
        self._mark: Path | None = mark if wanted and not attended else None
        self._marked = self._mark is not None and mark.exists()  # by an earlier run
        self._activated = False
        self._next, self._pause, self._latest = 0.0, FIRST_PAUSE, 0.0  # [s] monotonic, but the pause
        self.pending = wanted
        self.refusal = ""  # why it ended without an activation

    def look(self) -> None:
        """The next step, if its time has come. Configure and activate are two: in between the loop hears what the robot
        says about itself."""
        node = self._node
        if not self.pending or time.monotonic() < self._next or node.told_to_end.is_set():
            return
        if node.life == "unconfigured":
            node.trigger_configure()
            if node.life == "inactive":
                self._latest, self._pause = time.monotonic() + STARTING_S, FIRST_PAUSE
                self.pending = self._activate
        elif self._marked:
            self._refuse(f"the last run of this node was killed or ended in a stop ({self._mark} remembers it)")
        else:
            node.trigger_activate()
            if node.life != "active" and ((word := _stopped(node)) or time.monotonic() > self._latest):
                self._refuse(word or node.refusal)
        self._next = time.monotonic() + self._pause
        self._pause = min(2.0 * self._pause, LONGEST_PAUSE)

    def end(self) -> None:
        """Nothing happens by itself any more."""
        self.pending = False

    @contextlib.contextmanager
    def remembered(self) -> Iterator[None]:
        """Around every activation: if the node is killed from now on, the next one does not start by itself."""
        if self._mark is not None:
            self._write()
        try:
            yield
        except BaseException:
            if self._mark is not None and not (self._marked or self._activated):
                self._mark.unlink(missing_ok=True)
            raise
        self.end()
        self._activated, self.refusal = True, ""

    def _write(self) -> None:
        assert self._mark is not None
        try:
            self._mark.touch()
        except OSError as error:  # a person may activate all the same
            if self.pending:
                raise RobotError(f"{self._mark} cannot be written: {error.strerror}.") from None

    def close(self, stopped: bool) -> None:
        """The node ends in good order. stopped: the arm was stopped, and nobody has activated it since."""
        if self._mark is not None and self._activated and not stopped:
            self._mark.unlink(missing_ok=True)

    def _refuse(self, why: str) -> None:
        self.end()
        self.refusal = self._node.refusal = f"autostart has ended: {why.rstrip('.')}; activate the node yourself."
        self._node.get_logger().error(self.refusal)


def _stopped(node: Any) -> str:
    """The word of a robot that is stopped; empty: it is not, or nobody says so."""
    status = None if node.arm is None else node.arm.robot.status
    return "" if status is None or status.status == Status.OK else str(status.word)
