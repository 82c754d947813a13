"""Stages inside the loop: those in front of the law lead its reference, those behind it shape what is sent.

    read -> stages in front -> tick -> stages behind -> write

The tick's own command stays as it is, recorded and replayed; the stages behind work on a copy, `sent`. Nothing is sent
that a joint limit forbids, that is not finite, that runs away from the tick's command by more than an arm may lag, or
that still moves half a second after the tick has come to rest: that is a StageError, and the robot's own stop.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ur_admittance.control.kernels import tool_speeds
from ur_admittance.control.references import OUTSIDE, Leader
from ur_admittance.core.following import DRIFT
from ur_admittance.core.records import COMMAND, STANDSTILL, Mode, new
from ur_admittance.core.views import record_bytes, scalar, vector, whole
from ur_admittance.errors import ParameterError, UrAdmittanceError
from ur_admittance.runtime.interfaces import Controller, Stage, StageError

ACTIVE = int(Mode.ACTIVE)
ROUNDING = 2e-6  # [rad] by which the tick keeps a joint inside its limits (core/tick.py), twice
TOLERANCE = 1.001  # of a speed limit: rounding of a step divided by its time
TOOL_TOLERANCE = 1.5  # of the tool's speed limits: joints that catch up one after the other reached 1.26
SETTLING = 0.5  # [s] for the stages to come to rest after the tick has; a jerk-limited stop of 25 rad/s2 takes 0.1 s


class Stages:
    """All stages of one loop."""

    def __init__(self, controller: Controller, stages: Sequence[Stage]) -> None:
        for stage in stages:
            check_stage(stage)
        self.in_front = [(name_of(stage), stage) for stage in stages if not stage.behind]
        self.behind = [(name_of(stage), stage) for stage in stages if stage.behind]
        self._slowest_ns = dict.fromkeys(map(name_of, stages), 0)
        self._controller, self._references = controller, controller.references
        self._references.has_stages = bool(self.in_front)
        self._mode = scalar(controller.command, "mode")
        self._was_active = False
        self.sent = new(COMMAND)[0] if self.behind else controller.command
        self.q, self.qd = vector(self.sent, "q"), vector(self.sent, "qd")
        self._source, self._copy = record_bytes(controller.command), record_bytes(self.sent)
        self._q, self._qd = vector(controller.command, "q"), vector(controller.command, "qd")
        params, state = controller.params, controller.state
        self._dt = scalar(state, "period")  # the one that the tick has used
        self._lower, self._upper = vector(params, "joint_lower"), vector(params, "joint_upper")
        self._velocity, self._recent_speed = vector(params, "joint_velocity"), vector(state, "recent_speed")
        self._slack, self._lateness = scalar(params, "max_following_error"), scalar(params, "following_time")
        self._params, self._tool_limits = whole(params), vector(params, "max_velocity")
        self._twist = vector(controller.command, "twist")
        self._last_q, self._last_sent = np.full(6, np.nan), np.zeros(6)  # of the tick, and sent; nothing yet
        self._unrest = 0.0  # [s] since the tick stands still

    def lead(self) -> None:
        """Before the tick. The mode is that of the last one: in the first active tick nobody leads yet."""
        if not self.in_front:
            return
        active, references = self._mode[0] == ACTIVE, self._references
        begins = active and not self._was_active
        self._was_active = active
        if begins and references.leader not in (Leader.TWIST, Leader.POSE):
            references.lead_by_stages()
        if not active:
            references.end_stages()
            return
        for name, stage in self.in_front:
            with _blamed(name):
                if begins:
                    stage.start(self._controller, self._controller.command)
                if references.leader not in OUTSIDE:
                    self._update(name, stage)
                    references.leader = Leader.STAGE  # whatever it used to write

    def drop_leaders(self) -> None:
        """One of them has failed: the arm is slowed down without them."""
        self._references.end_stages()
        self._references.has_stages = False
        self.in_front = []

    def follow(self) -> None:
        """After the tick: `sent` is what goes to the robot."""
        if not self.behind:
            return
        self._copy[:] = self._source
        dt = self._dt[0]
        step = np.abs(self._q - self._last_q - self._qd * dt)
        anew = not (step <= DRIFT * np.abs(self._qd) * dt + ROUNDING).all()  # also in the first cycle
        self._last_q[:] = self._q
        for name, stage in self.behind:
            with _blamed(name):
                if anew:
                    stage.start(self._controller, self.sent)
                self._update(name, stage)
                self._check(dt, anew)
        with _blamed(name):
            self._check_rest(dt)
        self._last_sent[:] = self.q

    def stand_still(self) -> bool:
        return float(np.abs(self.qd).max()) <= STANDSTILL

    def slowest(self) -> dict[str, float]:
        """The longest that each stage has taken [s]."""
        return {name: 1e-9 * took for name, took in self._slowest_ns.items()}

    def _update(self, name: str, stage: Stage) -> None:
        begin = time.perf_counter_ns()
        stage.update()
        took = time.perf_counter_ns() - begin
        if took > self._slowest_ns[name]:
            self._slowest_ns[name] = took

    def _check(self, dt: float, anew: bool) -> None:
        q, qd = self.q, self.qd
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise StageError(f"its joints are not finite (q = {q.tolist()} rad, qd = {qd.tolist()} rad/s)")
        away = np.abs(q - self._q)
        self._bound(away, self._slack[0] + self._lateness[0] * self._recent_speed, "rad from the command of the law")
        fastest = TOLERANCE * np.maximum(self._velocity, self._recent_speed)  # a limit just lowered: the tick brakes
        self._bound(np.abs(qd), fastest, "rad/s fast")
        if not anew:
            self._bound(np.abs(q - self._last_sent), fastest * dt + ROUNDING, "rad from where it was a cycle ago")
        outside = np.maximum(self._lower - q, q - self._upper)
        law_outside = np.maximum(self._lower - self._q, self._q - self._upper)
        self._bound(outside, np.maximum(law_outside, 0.0) + ROUNDING, "rad beyond its limit")
        for i, (speed, unit) in enumerate(zip(tool_speeds(self._params, q, qd), ("m/s", "rad/s"), strict=True)):
            allowed = TOOL_TOLERANCE * max(self._tool_limits[i], float(np.linalg.norm(self._twist[3 * i : 3 * i + 3])))
            if speed > allowed:
                raise StageError(f"the tool's speed is {speed:.3g} {unit}, at most {allowed:.3g} is allowed")

    def _bound(self, values: np.ndarray, bounds: np.ndarray, what: str) -> None:
        if not (values <= bounds).all():
            i = int(np.argmax(values - bounds))
            raise StageError(f"joint {i + 1} is {values[i]:.3g} {what}, at most {bounds[i]:.3g} is allowed")

    def _check_rest(self, dt: float) -> None:
        resting = self._mode[0] != ACTIVE and float(np.abs(self._qd).max()) <= STANDSTILL
        self._unrest = self._unrest + dt if resting and not self.stand_still() else 0.0
        if self._unrest > SETTLING:
            raise StageError(f"the joints still move {SETTLING:g} s after the law has stopped them")


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """What goes wrong inside is told with the name of the stage."""
    try:
        yield
    except Exception as error:
        raise StageError(f"stage {name}: {sentence_of(error)}") from error


def sentence_of(error: BaseException) -> str:
    text = str(error).strip().rstrip(".") or "no message"
    return text if isinstance(error, UrAdmittanceError) else f"{type(error).__name__}: {text}"


def check_stage(stage: Stage) -> None:
    if not isinstance(getattr(stage, "behind", None), bool):
        raise ParameterError(f"stage {name_of(stage)}: `behind` must be True or False.")
    for part in ("start", "update"):
        if not callable(getattr(stage, part, None)):
            raise ParameterError(f"stage {name_of(stage)}: has no method {part}.")


def name_of(stage: Stage) -> str:
    return str(getattr(stage, "name", type(stage).__name__))
