"""What happened in a run, cycle by cycle."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import COMMAND, SAMPLE, new
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated.world import World
from ur_admittance.runtime.interfaces import Controller

Array = NDArray[np.float64]

FIRST_ROOM = 4096  # cycles that are kept before the room is doubled


@dataclass(frozen=True)
class Trace:
    """Every cycle of a run."""

    sample: NDArray[Any]  # (n,) SAMPLE
    command: NDArray[Any]  # (n,) COMMAND
    contact: Array  # (n, 6) true wrench of surfaces on the tool about the TCP, base axes [N, Nm]
    hand: Array  # (n, 6) true wrench of the hand about its grip, base axes [N, Nm]
    period: float  # [s]
    parameters: Parameters  # at the start
    realtime_factor: float = math.nan  # simulated over real time
    recording_problem: str = ""  # why the recording ended early, empty: it did not, or there was none
    diverged: bool = False  # the simulation ended early, with numbers out of all bounds

    @property
    def t(self) -> Array:
        return np.arange(len(self.sample), dtype=np.float64) * self.period

    def since(self, start: float, end: float = math.inf) -> "Trace":
        """The part between two times [s]."""
        window = (self.t >= start - 1e-9) & (self.t < end)
        parts = {name: getattr(self, name)[window] for name in ("sample", "command", "contact", "hand")}
        return replace(self, **parts)


class Keeper:
    """A publisher that keeps every cycle of a loop in a simulated world."""

    def __init__(self, world: World) -> None:
        self._world, self._count = world, 0
        self._samples, self._commands = new(SAMPLE, FIRST_ROOM), new(COMMAND, FIRST_ROOM)
        self._contacts, self._hands = np.zeros((FIRST_ROOM, 6)), np.zeros((FIRST_ROOM, 6))

    def publish(self, controller: Controller, loop: Any) -> None:
        if self._count == len(self._samples):
            parts = (self._samples, self._commands, self._contacts, self._hands)
            doubled = (np.concatenate([part, np.zeros_like(part)]) for part in parts)
            self._samples, self._commands, self._contacts, self._hands = doubled
        self._samples[self._count] = controller.sample
        self._commands[self._count] = controller.command
        self._contacts[self._count] = self._world.contact_wrench
        self._hands[self._count] = self._world.hand.wrench
        self._count += 1

    def trace(self, period: float, parameters: Parameters, realtime_factor: float = math.nan) -> Trace:
        n = self._count
        parts = (self._samples[:n], self._commands[:n], self._contacts[:n], self._hands[:n])
        return Trace(*parts, period, parameters, realtime_factor)
