"""The stage that replays what was taught, in front of the law: the arm yields all the time, and the path waits for it.

    ua.run(controller, robot, activate=True, stages=[ua.TaughtPath("taught.yaml", speed=0.05)])

The place s on the path is led with limited acceleration and jerk to the end of each step. Its speed is taken back as
the tool is held off it, to zero at STANDS, or as a force against the motion grows, to zero at HELD_BY: a hand that
holds the arm stops it, let go it goes on from there. The reference is led, never faster than asked, by the twist

    t(s) ds/dt + PATH_GAIN (pose(s) - reference)        the second part changes by ACCELERATION at most
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ruckig import ControlInterface, InputParameter, OutputParameter, Result, Ruckig

from ur_admittance import given
from ur_admittance.control.chaining import PATH_GAIN
from ur_admittance.core.tick import NOMINAL_PERIOD
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import ParameterError, UrAdmittanceError
from ur_admittance.model.arm_table import nearest_model
from ur_admittance.model.frames import Array, rotation_vector
from ur_admittance.teaching import curve as curves
from ur_admittance.teaching.curve import ACCELERATION, LEVER, SAME, Curve
from ur_admittance.teaching.taught import MOVES, Step, Taught, load_taught
from ur_admittance.teaching.way_check import check_way

JERK = 3.0  # [m/s3] along the path: it starts and stops at 0.05 m/s within 0.3 s
STANDS = 0.025  # [m] of the tool from its place; the path is as much slower as the tool is away, and catches up
AWAY = 0.05  # [m] taken farther by somebody else, it waits until the tool is brought back
# [N] against the motion: full speed up to the first, twice what a sensor of a UR may be off; none from the second
RESISTED, HELD_BY = 8.0, 16.0
STILL = 1e-5  # [m/s] a slower path stands
NEARLY, SETTLING = 5e-4, 2.0  # [m] a step ends that near its last place, or after [s] as near as a touch lets it
NEAR = 0.02, np.radians(10.0)  # [m, rad] from the first pose, at the start
POSTURE = 0.3  # [rad] the same of each joint: 20 mm and 10 degrees turn none by more in a pose that can be taught
SAME_TOOL = 1e-3, np.radians(0.5)  # [m, rad]
SCALES = np.array([1.0, 1.0, 1.0, LEVER, LEVER, LEVER])


class TaughtPath:
    """Once, or `loops` times (0: until something else ends it) with a straight way back to the first pose."""

    name, behind = "taught path", False

    def __init__(
        self, taught: Taught | str | Path, speed: float = 0.05, loops: int = 1, adapt: bool = False, ends: bool = False
    ) -> None:
        """taught: or its file; speed: of the tool [m/s]; adapt: go this way although it was taught on another arm or
        with another tool, if this one can; ends: so does the loop, when all is done."""
        self.taught = taught if isinstance(taught, Taught) else load_taught(taught)
        given.number("play speed", speed, "m/s", above=True)
        given.whole("play loops", loops)
        self.speed, self.loops, self.adapt, self._ends = speed, loops, adapt, ends
        self._items, self._back = items_of(self.taught)
        self.start_joints: Array = np.array(self.taught.start_joints)
        self.warning = ""  # of an adapted path
        self._set_output: Callable[[str, bool], object] | None = None
        self._otg = Ruckig(1, NOMINAL_PERIOD)
        self._begin()

    def _begin(self) -> None:
        self.done = self._begun = False
        self.round, self.step = 0, 0  # of `loops`, of the taught steps
        self._program = self._all_items()
        self._curve, self._left = self._first, 0.0
        self._moving = False
        self._plan, self._next = InputParameter(1), OutputParameter(1)
        self._plan.max_acceleration, self._plan.max_jerk = [ACCELERATION], [JERK]

    @property
    def _first(self) -> Curve:
        return next(item for _, item in self._items if isinstance(item, Curve))

    @property
    def finished(self) -> bool:
        """The loop asks: it may end."""
        return self._ends and self.done

    def prepare(self, controller: Any, robot: Any) -> None:
        """Before the loop: ParameterError when this arm cannot or must not go this way."""
        taught = self.taught
        other = self._differs(nearest_model(controller.model), controller.parameters.tool.tcp)
        if other and not self.adapt:
            raise ParameterError(f"{taught.name}: {other}; to go there all the same, adapt it (adapt=True, --adapt).")
        ways = [(f"step {i + 1} ({taught.steps[i].kind})", item) for i, item in self._items if isinstance(item, Curve)]
        if self.loops != 1:
            ways.append(("the way back to the first pose", self._back))
        try:
            joints = np.array(taught.start_joints)
            self.start_joints = check_way(controller.params, ways, joints, self.speed)
        except ParameterError as error:
            raise ParameterError(f"{taught.name}: {error}") from None
        if other:
            self.warning = f"{taught.name}: {other}; every place is within reach, what is in the way was not looked at."
            warnings.warn(self.warning, stacklevel=2)
        if any(step.kind in ("output", "gripper") for step in taught.steps):
            if not hasattr(robot, "open_outputs"):
                raise ParameterError(f"{taught.name}: sets outputs, which this robot has not.")
            self._set_output = robot.open_outputs()
        self._begin()

    def _differs(self, arm: str, tcp: Any) -> str:
        taught = self.taught
        if arm != taught.arm:
            return f"was taught on a {taught.arm}, this arm is a {arm}"
        off = np.abs(np.array(tcp) - taught.tcp)
        if off[:3].max() > SAME_TOOL[0] or off[3:].max() > SAME_TOOL[1]:
            return f"was taught with tool.tcp = {list(taught.tcp)}, now it is {list(tcp)}"
        return ""

    def start(self, controller: Any, command: Any) -> None:
        """As the arm becomes active. Where it was interrupted it goes on, if the tool is still there."""
        state = controller.state
        self._twist = vector(controller.sample, "reference_twist")
        self._p, self._R, self._offset = vector(state, "p_ref"), vector(state, "R_ref"), vector(state, "offset")
        self._ticks, self._dt = scalar(state, "ticks"), scalar(state, "period")
        self._wrench = vector(controller.command, "wrench_tcp")
        self._last_tick = -1  # not led yet
        if self.done or (self._begun and self._distance(self._off(*self._place()[:2])) <= STANDS):
            return
        self._begin()
        off = self._off(*self._place()[:2])
        distance, angle = float(np.linalg.norm(off[:3])), float(np.linalg.norm(off[3:]))
        turned = float(np.abs(vector(controller.sample, "q") - self.start_joints).max())
        if distance > NEAR[0] or angle > NEAR[1] or turned > POSTURE:
            raise ParameterError(
                f"{self.taught.name}: the tool is {1e3 * distance:.0f} mm and {np.degrees(angle):.0f} degrees from the "
                f"first pose, a joint {turned:.2f} rad; at most {1e3 * NEAR[0]:.0f} mm, {np.degrees(NEAR[1]):.0f} "
                f"degrees and {POSTURE:g} rad are allowed: take it to the joints "
                f"[{', '.join(f'{q:.4f}' for q in self.start_joints)}] first (ur-admittance go)"
            )
        self._begun = True
        self._enter_next()

    def update(self) -> None:
        self._twist[:] = 0.0
        if self.done:
            return
        if self._ticks[0] != self._last_tick + 1:  # held, or led from outside meanwhile: it starts from rest
            self._plan.current_velocity, self._plan.current_acceleration = [0.0], [0.0]
            self._correction, self._back_on = np.zeros(6), False
        self._last_tick = int(self._ticks[0])
        dt = float(self._dt[0])
        place, rotation, along, fastest = self._place()
        off = self._off(place, rotation)
        lag = self._distance(off - self._offset)
        self._back_on = self._back_on or lag <= AWAY
        if not self._back_on:
            return
        against = -float(self._wrench @ along)
        freedom = min(falling(lag, 0.0, STANDS), falling(against, RESISTED, HELD_BY))
        speed = self._advance(freedom * min(self.speed, fastest), dt) if self._moving else 0.0
        self._twist[:] = shortened(speed * along + self._pull(off, dt), self.speed)
        if not self._moving:
            self._left -= dt
            near = self._distance(off) <= NEARLY or (self._left <= -SETTLING and lag < STANDS)
            if self._left <= 0.0 and near:
                self._enter_next()

    def _place(self) -> tuple[Array, Array, Array, float]:
        """Position, rotation, motion per length and the speed that bends allow, where the path is now."""
        curve = self._curve
        where = min(self._plan.current_position[0] / curve.step, len(curve.poses) - 1.0)
        i = min(int(where), len(curve.poses) - 2)
        share = where - i

        def between(values: Array) -> Any:
            return values[i] + share * (values[i + 1] - values[i])

        return between(curve.poses)[:3], between(curve.rotations), between(curve.along), float(between(curve.fastest))

    def _off(self, place: Array, rotation: Array) -> Array:
        """From the reference to there (6,) [m, rad]."""
        return np.concatenate([place - self._p, rotation_vector(rotation @ self._R.T)])

    def _distance(self, off: Array) -> float:
        return float(np.linalg.norm(SCALES * off))

    def _advance(self, allowed: float, dt: float) -> float:
        """Moves on along the curve; the speed [m/s]."""
        plan, found = self._plan, self._next
        self._otg.delta_time = dt
        if allowed > STILL:
            plan.control_interface = ControlInterface.Position
            plan.target_position, plan.max_velocity = [self._curve.length], [allowed]
        else:
            plan.control_interface = ControlInterface.Velocity
        plan.target_velocity, plan.target_acceleration = [0.0], [0.0]
        result = self._otg.update(plan, found)
        if result < Result.Working:
            raise UrAdmittanceError(f"Ruckig finds no motion ({result.name})")
        plan.current_position, plan.current_velocity = found.new_position, found.new_velocity
        plan.current_acceleration = found.new_acceleration
        self._moving = self._curve.length - found.new_position[0] > SAME or abs(found.new_velocity[0]) > STILL
        return float(found.new_velocity[0])

    def _pull(self, off: Array, dt: float) -> Array:
        """Back to the place on the path, no faster than the path itself."""
        self._correction += shortened(shortened(PATH_GAIN * off, self.speed) - self._correction, ACCELERATION * dt)
        return self._correction

    def _all_items(self) -> Iterator[tuple[int, Curve | Step]]:
        while True:
            yield from self._items
            self.round += 1
            if self.round == self.loops:
                return
            yield len(self.taught.steps), self._back

    def _enter_next(self) -> None:
        item: Curve | Step | None
        self.step, item = next(self._program, (self.step, None))
        self._left = 0.0
        if item is None:
            self.done = True
            self._twist[:] = 0.0
        elif isinstance(item, Curve):
            self._curve, self._moving = item, True
            self._plan.current_position = [0.0]
            self._plan.current_velocity, self._plan.current_acceleration = [0.0], [0.0]
        elif item.kind == "wait":
            self._left = float(item.value)
        elif self._set_output is not None:
            name, on = (self.taught.gripper, item.value == "close") if item.kind == "gripper" else item.value
            self._set_output(name, on)


def falling(value: float, full: float, none: float) -> float:
    """1 up to `full`, 0 from `none`."""
    return min(1.0, max(0.0, (none - value) / (none - full)))


def shortened(twist: Array, length: float) -> Array:
    """To at most that length [m/s], turns counted by LEVER."""
    return twist * min(1.0, length / max(float(np.linalg.norm(SCALES * twist)), 1e-12))


def items_of(taught: Taught) -> tuple[list[tuple[int, Curve | Step]], Curve]:
    """What one round does, each with the number of its step: curves, each from rest to rest, and what is between them.
    And the straight way back to the first pose."""
    items: list[tuple[int, Curve | Step]] = []
    first = last = None
    for i, step in enumerate(taught.steps):
        if step.kind not in MOVES:
            items.append((i, step))
            continue
        poses = curves.from_vectors(np.atleast_2d(step.value))
        if step.kind == "pose" or (last is not None and curves.length_between(last[None], poses[:1])[0] > SAME):
            items.append((i, curves.straight(poses[0] if last is None else last, poses[0])))
        if step.kind == "path":
            items.append((i, curves.bent(curves.distinct(poses))))
        first, last = (poses[0] if first is None else first), poses[-1]
    if first is None or last is None:
        raise ParameterError(f"{taught.name}: has neither a pose nor a path.")
    return items, curves.straight(last, first)
