"""Remembers what a hand shows: poses and whole paths of the tool, while the arm is guided.

    teacher = ua.Teacher(controller)
    ua.run(controller, robot, activate=True, on_tick=teacher.watch)   # meanwhile, in another thread or in on_tick:
    teacher.begin_path(); ...; teacher.end_path(); teacher.mark(); teacher.undo()
    teacher.taught.save("taught.yaml")

Thinning a minute takes some tenths of a second: an arm in real time is taught by `ur-admittance teach`, whose process
is not that of the loop.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ur_admittance import given
from ur_admittance.control import AdmittanceController
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.model.arm_table import nearest_model
from ur_admittance.model.frames import Array
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.teaching import curve
from ur_admittance.teaching.taught import GRIPPER, MOVES, Step, Taught, check_pin

PERIOD_NS = 10_000_000  # between two samples of a path: 2.5 mm at 0.25 m/s
LONG_PRESS_NS = 500_000_000  # a button that is held longer has marked a path, not a pose
LONGEST_PATH = 60 * 60 * 100  # samples: an hour


class Teacher:
    """One file to be. Not for two threads that teach at once; `watch` may run in another one."""

    def __init__(
        self,
        of: AdmittanceController | Taught,
        distance: float = 0.001,
        angle: float = np.radians(0.5),
        button: str = "",
    ) -> None:
        """of: whose arm and tool; distance [m], angle [rad]: within which paths are thinned; button: an input of the
        robot, such as tool:0: a short press marks a pose, a path is taken for as long as it is held."""
        given.number("teach distance", distance, "m", above=True)
        given.number("teach angle", angle, "rad", above=True)
        if isinstance(of, AdmittanceController):
            of = Taught(nearest_model(of.model), tuple(of.parameters.tool.tcp), (0.0,) * 6)
        if button:
            check_pin("teach button", button)
        kind, _, number = button.partition(":")
        self._bit = FIRST_INPUT[kind] + int(number) if button else -1
        self.taught = replace(of, tolerance=(distance, angle), deviation=(0.0, 0.0))
        self._reached: list[tuple[float, float]] = [(0.0, 0.0) for _ in of.steps]  # per step
        self._now: tuple[Array, Array] | None = None  # pose and joints
        self._path: list[Array] | None = None  # while one is taken
        self._first_joints, self._next_ns = np.zeros(6), 0
        self._pressed_ns: int | None = None

    @property
    def recording(self) -> bool:
        return self._path is not None

    # what the loop tells it

    def watch(self, controller: Any) -> None:
        """After a cycle: fits `on_tick`."""
        self.see(controller.sample, controller.command)

    def see(self, sample: Any, command: Any) -> None:
        """A cycle, as it is or from the telemetry."""
        stamp_ns = int(sample["stamp_ns"])
        pressed = self._bit >= 0 and bool(int(sample["digital_in"]) >> self._bit & 1)
        was = self._pressed_ns is not None
        if stamp_ns < self._next_ns and pressed == was and stamp_ns >= self._next_ns - PERIOD_NS:
            return
        self._next_ns = stamp_ns + PERIOD_NS
        pose = curve.from_matrix(np.array(command["p_tcp"]), np.array(command["R_tcp"]))
        self._now = pose, np.array(sample["q"])
        if pressed and not was:
            self._pressed_ns = stamp_ns
            if not self.recording:
                self.begin_path()
        if self._path is not None and len(self._path) < LONGEST_PATH:
            self._path.append(pose)
        if was and not pressed:
            held, self._pressed_ns = stamp_ns - (self._pressed_ns or 0), None
            path, self._path = self._path or [], None
            if held <= LONG_PRESS_NS or not self._keep(path):
                self.mark()

    # what somebody asks for

    def mark(self) -> str:
        """The pose of the tool now. Like all of these it says what was done."""
        pose, joints = self._seen("mark")
        self._add(Step("pose", curve.to_vectors(pose[None])[0]), joints)
        return f"pose {len(self.taught.steps)} at {_place(pose)}"

    def begin_path(self) -> str:
        _, joints = self._seen("begin_path")
        if self.recording:
            raise LifecycleError("begin_path: a path is being taken already; end it first.")
        self._first_joints, self._path = joints, []
        return "taking a path"

    def end_path(self) -> str:
        path, self._path = self._path, None
        if path is None:
            raise LifecycleError("end_path: no path is being taken.")
        words = self._keep(path)
        if not words:
            raise LifecycleError("end_path: the tool did not move; mark a pose instead.")
        return words

    def _keep(self, path: list[Array]) -> str:
        """Empty: the tool did not move."""
        if not path:
            return ""
        knots, *off = curve.thin(np.array(path), 1e-9 * PERIOD_NS, *self.taught.tolerance)
        if len(knots) < 2:
            return ""
        self._add(Step("path", curve.to_vectors(knots)), self._first_joints, (off[0], off[1]))
        return (
            f"path of {1e-9 * PERIOD_NS * len(path):.1f} s: {len(knots)} points, at most {1e3 * off[0]:.2f} mm and "
            f"{np.degrees(off[1]):.2f} degrees beside what was shown"
        )

    def output(self, name: str, on: bool) -> str:
        check_pin("output", name)
        self._add(Step("output", (name, bool(on))))
        return f"output {name} {'on' if on else 'off'}"

    def gripper(self, does: str, output: str = "tool:0") -> str:
        """open or close; output: what closes it."""
        if does not in GRIPPER:
            raise ParameterError(f"gripper = {does}: must be open or close.")
        self.taught = replace(self.taught, gripper=self.taught.gripper or output)
        self._add(Step("gripper", does))
        return f"gripper {does}"

    def wait(self, seconds: float) -> str:
        given.number("wait", seconds, "s")
        self._add(Step("wait", float(seconds)))
        return f"wait {seconds:g} s"

    def undo(self) -> str:
        """Drops the path that is being taken, or the last step."""
        if self.recording:
            self._path = None
            return "the path is dropped"
        if not self.taught.steps:
            raise LifecycleError("undo: nothing has been taught.")
        dropped, steps = self.taught.steps[-1], self.taught.steps[:-1]
        self._reached.pop()
        moves = any(step.kind in MOVES for step in steps)
        joints = self.taught.start_joints if moves else (0.0,) * 6
        self.taught = replace(self.taught, steps=steps, start_joints=joints, deviation=self._worst())
        return f"{dropped.kind} {len(steps) + 1} is dropped"

    def _seen(self, action: str) -> tuple[Array, Array]:
        if self._now is None:
            raise LifecycleError(f"{action}: no cycle was seen yet.")
        return self._now

    def _add(self, step: Step, joints: Array | None = None, off: tuple[float, float] = (0.0, 0.0)) -> None:
        first = joints is not None and not any(one.kind in MOVES for one in self.taught.steps)
        start = tuple(joints.tolist()) if first and joints is not None else self.taught.start_joints
        self._reached.append(off)
        self.taught = replace(
            self.taught, steps=(*self.taught.steps, step), start_joints=start, deviation=self._worst()
        )

    def _worst(self) -> tuple[float, float]:
        return max((d for d, _ in self._reached), default=0.0), max((a for _, a in self._reached), default=0.0)


def _place(pose: Array) -> str:
    return f"({', '.join(f'{number:.3f}' for number in pose[:3])}) m"
