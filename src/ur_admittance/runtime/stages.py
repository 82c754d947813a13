"""Stages inside the loop: those in front of the law lead its reference, those behind it shape what is sent.

    read -> stages in front -> tick -> stages behind -> write

The tick's own command stays as it is, recorded and replayed; the stages behind work on a copy, which then becomes fit
to be sent as the tick's own would (core/motion/sending.py): `sent`. Nothing is sent
that a joint limit forbids, that is not finite, that runs away from the tick's command by more than an arm may lag, or
that still moves half a second after the tick has come to rest: that is a StageError, and the robot's own stop.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ur_admittance.core.enabling import HELD
from ur_admittance.core.leader import FROM_OUTSIDE, Leader
from ur_admittance.core.motion.sending import send
from ur_admittance.core.records import COMMAND, STANDSTILL, STOPPED, Mode, new
from ur_admittance.core.views import record_bytes, scalar, vector
from ur_admittance.errors import ParameterError, sentence_of
from ur_admittance.runtime import kernels
from ur_admittance.runtime.interfaces import Controller, Stage, StageError

ACTIVE = int(Mode.ACTIVE)
SETTLING = 0.5  # [s] for the stages to come to rest after the tick has; a jerk-limited stop of 25 rad/s2 takes 0.1 s

WRONG = {
    kernels.NOT_FINITE: "its joints are not finite",
    kernels.AWAY: "joint {0:.0f} is {1:.3g} rad from the command of the law, at most {2:.3g} is allowed",
    kernels.TOO_FAST: "joint {0:.0f} moves at {1:.3g} rad/s, at most {2:.3g} is allowed",
    kernels.TOO_FAR: "joint {0:.0f} is {1:.3g} rad from where it was a cycle ago, at most {2:.3g} is allowed",
    kernels.OUTSIDE: "joint {0:.0f} is {1:.3g} rad beyond its limit",
    kernels.TOOL_TOO_FAST: "the tool moves at {1:.3g} m/s, at most {2:.3g} is allowed",
    kernels.TOOL_TURNS: "the tool turns at {1:.3g} rad/s, at most {2:.3g} is allowed",
}


class Stages:
    """All stages of one loop."""

    def __init__(self, controller: Controller, stages: Sequence[Stage]) -> None:
        for stage in stages:
            check_stage(stage)
        self.in_front = [(name_of(stage), stage) for stage in stages if not stage.behind]
        self.behind = [(name_of(stage), stage) for stage in stages if stage.behind]
        self._ending = [stage for stage in stages if hasattr(stage, "finished")]
        self._slowest_ns = dict.fromkeys(map(name_of, stages), 0)
        self._controller, self._references = controller, controller.references
        self._references.has_stages = bool(self.in_front)
        self._twist = vector(controller.sample, "reference_twist")
        self._mode, self._status = scalar(controller.command, "mode"), scalar(controller.command, "status")
        self._was_active = False
        self._shaped = new(COMMAND)[0] if self.behind else controller.command
        self.sent = new(COMMAND)[0] if self.behind else controller.command
        self.q, self.qd = vector(self._shaped, "q"), vector(self._shaped, "qd")
        self._source, self._copy = record_bytes(controller.command), record_bytes(self._shaped)
        self._out = record_bytes(self.sent)
        scalar(controller.sample, "shaped")[0] = bool(self.behind)
        self._qd_law, self._dt = vector(controller.command, "qd"), scalar(controller.state, "period")
        self._last_law, self._last = np.full(6, np.nan), [np.zeros(6) for _ in self.behind]  # angles; none yet
        self._allowed, self._age, self._evidence = np.zeros((2, kernels.ALLOWED)), np.zeros(1), np.zeros(3)
        self._unrest, self._distance = 0.0, 0.0  # [s] of motion since the tick stands still; from its angles [rad]
        if self.behind:
            params, state, law, shaped = controller.params, controller.state, controller.command, self._shaped
            self._begins_anew = kernels.begins_anew.on(state, law, self._last_law)
            self._remember = kernels.remember.on(params, law, self._allowed, self._age)
            self._check = [
                kernels.check_sent.on(params, state, law, shaped, last, self._allowed, self._evidence)
                for last in self._last
            ]
            self._send = send.on(params, state, controller.sample, self.sent)

    def lead(self) -> None:
        """Before the tick. The mode is that of the last one: in the first active tick nobody leads yet."""
        if not self.in_front:
            return
        active, references = self._mode[0] == ACTIVE, self._references
        references.forget_ended()
        begins = active and not self._was_active
        self._was_active = active
        if begins and references.leader not in (Leader.TWIST, Leader.POSE, Leader.GO):
            references.lead_by_stages()
        if not active:
            references.end_stages()
            return
        if references.leader in FROM_OUTSIDE:
            references.end_wrench_of_stages()
        elif self._status[0] in HELD:
            self._twist[:] = 0.0  # of before: the arm that is let go on would start with it
        for name, stage in self.in_front:
            with _blamed(name):
                if begins:
                    stage.start(self._controller, self._controller.command)
                if references.leader not in FROM_OUTSIDE and self._status[0] not in HELD:  # those wait for it
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
        moving = not self.stand_still()
        self._copy[:] = self._source
        anew = bool(self._begins_anew())
        if anew and moving and self._mode[0] == ACTIVE:
            anew = False  # activated while a stage is still coming to rest: it goes on from there
        self._remember(float(self._dt[0]))
        for (name, stage), last, check in zip(self.behind, self._last, self._check, strict=True):
            with _blamed(name):
                if anew:
                    stage.start(self._controller, self._shaped)
                self._update(name, stage)
                wrong = check(anew)
                if wrong:
                    raise StageError(WRONG[wrong].format(*self._evidence))
                step = 0.0 if anew else float(np.abs(self.q - last).max())
                last[:] = self.q
        with _blamed(name):
            self._check_rest(step)
        self._out[:] = self._copy
        self._send()

    @property
    def finished(self) -> bool:
        """A stage that ends the loop has done all that it had to do."""
        return any(stage.finished for stage in self._ending)

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

    def _check_rest(self, step: float) -> None:
        """step: of the joint that has moved most [rad]."""
        if self._mode[0] == ACTIVE:
            self._unrest = 0.0
            return
        resting = float(np.abs(self._qd_law).max()) <= STANDSTILL
        moving = not self.stand_still() or step > STOPPED * self._dt[0]
        before, self._distance = self._distance, float(np.abs(self.q - self._last_law).max())
        if not (resting and moving):
            self._unrest = 0.0
        elif self._distance >= before:  # one that still catches up may do so: it ends by itself
            self._unrest += self._dt[0]
        if self._unrest > SETTLING:
            raise StageError(f"the joints still move {SETTLING:g} s after the law has stopped them")


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """What goes wrong inside is told with the name of the stage."""
    try:
        yield
    except Exception as error:
        raise StageError(f"stage {name}: {sentence_of(error)}") from error


def check_stage(stage: Stage) -> None:
    if not isinstance(getattr(stage, "behind", None), bool):
        raise ParameterError(f"stage {name_of(stage)}: `behind` must be True or False.")
    for part in ("start", "update"):
        if not callable(getattr(stage, part, None)):
            raise ParameterError(f"stage {name_of(stage)}: has no method {part}.")


def name_of(stage: Stage) -> str:
    return str(getattr(stage, "name", type(stage).__name__))
