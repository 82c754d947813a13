"""autostart: the node configures and activates itself, once per start; after that a person activates.

    it waits     for what is not there yet: description, joint states, wrench, frames, a controller that listens
    it ends      with an activation; at a robot that is stopped, because the end of that stop must not start the arm;
                 when somebody asks for a transition or a stop; and STARTING_S after the arm was found
    it refuses   after a run that was killed, or that ended in a stop which nobody answered with an activation: nothing
                 distinguishes a person from a supervisor that starts the node again (`respawn` of a launch file)

A mark in the shared-memory file system remembers such a run, until the computer restarts.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.search import FIRST_PAUSE
from ur_admittance.runtime import registry

LONGEST_PAUSE = 10.0  # [s] between two attempts
STARTING_S = 10.0  # from a driver's first joint states to its active controllers, and more
LONGEST_NAME = 40  # of a shared file


class Autostart:
    """`look` is called five times per second, `end` from any thread."""

    def __init__(self, node: Any, wanted: bool, activate: bool, attended: bool) -> None:
        """activate: False: configure only; attended: a person has just confirmed it, whatever happened before."""
        self._node, self._activate = node, activate
        name = node.get_fully_qualified_name().strip("/").replace("/", "-")
        mark = registry.shared_file(f"{name}-{node.context.get_domain_id()}"[-LONGEST_NAME:], "autostart")
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
