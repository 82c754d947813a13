"""A trace as the checks read it: the numbers in force in every cycle, and who moved where."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import PARAMS, Integrator, Limit, Status, new
from ur_admittance.model import robot_model
from ur_admittance.params.record import fill
from ur_admittance_lab.campaign.campaign_episode import Episode
from ur_admittance_lab.episodes import Trace

Array = NDArray[np.float64]

GRACE = 1.0  # [s] to get below a cap that was lowered: from 1 m/s at 1 m/s2, the fastest and the weakest that are drawn

RECENT = 0.1  # [s] before a finding in which a limit may have to do with it


@dataclass(frozen=True)
class Reading:
    """The worst value of a check in an episode, and its bound."""

    check: str
    value: float
    bound: float
    unit: str
    at: float  # [s]
    during: str = ""  # what was going on, for a broken one

    @property
    def broken(self) -> bool:
        return not self.value <= self.bound  # NaN is not within any bound

    @property
    def share(self) -> float:
        """Value over bound; what is forbidden altogether (bound 0) counts as infinite once it happens."""
        if self.bound > 0.0:
            return self.value / self.bound
        return float("inf") if self.broken else 0.0


class View:
    """One episode and its trace."""

    def __init__(self, episode: Episode, trace: Trace) -> None:
        self.episode, self.trace = episode, trace
        self.sample, self.command = trace.sample, trace.command
        self.period = trace.period
        self.model = robot_model(episode.case.robot)
        self.sets: NDArray[Any] = new(PARAMS, len(episode.parameter_sets()))
        for record, parameters in zip(self.sets, episode.parameter_sets(), strict=True):
            fill(record, parameters, self.model)
        self.index: NDArray[Any] = episode.case.script.rows["parameters"][: len(trace.sample)]

    @cached_property
    def t(self) -> Array:
        return self.trace.t

    def in_force(self, field: str) -> Array:
        """A parameter in every cycle: (n, ...) or, when it never changes, (1, ...)."""
        values: Array = self.sets[field]
        return values[self.index] if len(self.sets) > 1 else values[:1]

    def eased(self, caps: Array) -> Array:
        """Caps (n, ...); one that was lowered counts from GRACE later on."""
        bound = np.array(caps)
        for k in self.changed:
            until = k + self.row(GRACE)
            bound[k:until] = np.maximum(bound[k:until], bound[k - 1])
        return bound

    @cached_property
    def changed(self) -> NDArray[np.int64]:
        """Cycles in which other parameters came into force."""
        return np.flatnonzero(np.diff(self.index)) + 1

    def row(self, at: float) -> int:
        return round(at / self.period)

    def window(self, start: float, end: float) -> slice:
        return slice(self.row(start), self.row(end))

    @cached_property
    def fresh(self) -> NDArray[np.bool_]:
        """Cycles with a joint state of their own: neither lost nor spoilt."""
        return np.asarray(np.isfinite(self.sample["q"]).all(axis=1) & (self.sample["joint_age"] <= 0.0))

    @cached_property
    def commanded_position(self) -> Array:
        """TCP at the commanded joints (n, 3) [m]; NaN-free only where the command is."""
        tcp = np.array([parameters.tool.tcp for parameters in self.episode.parameter_sets()])
        return positions(self.command["q"], self.model, tcp[self.index, :3])

    @cached_property
    def flange_position(self) -> Array:
        """Measured flange (n, 3) [m]."""
        return positions(self.sample["q"], self.model, np.zeros((1, 3)))

    @cached_property
    def moved(self) -> tuple[Array, Array]:
        """Measured distance [m] and angle [rad] of the tool per cycle (n - 1,)."""
        p, R = self.command["p_tcp"], self.command["R_tcp"].reshape(-1, 9)
        chord = np.linalg.norm(np.diff(R, axis=0), axis=1)  # |R1 - R0| = 2 sqrt(2) sin(angle / 2)
        return np.linalg.norm(np.diff(p, axis=0), axis=1), 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))

    @cached_property
    def compliance(self) -> float:
        """Largest deflection of the servoed arm at the TCP per force [m/N], whatever its pose: the sum of
        lever^2 / stiffness over the joints, each lever as long as the links behind it allow."""
        case = self.episode.case
        lengths = np.linalg.norm(self.model.chain_position[1:7], axis=1)
        lengths[5] += np.linalg.norm(case.tool.tcp)
        levers = np.cumsum(lengths[::-1])[::-1]
        return float(np.sum(levers**2 / case.servo.stiffness_of(self.model)))

    def during(self, at: float) -> str:
        """What may explain a finding at that time: limits that acted just before, the status, a parameter change, an
        integrator other than the default."""
        k = min(self.row(at), len(self.command) - 1)
        recent = self.command[max(0, k - self.row(RECENT)) : k + 1]
        flags = Limit(int(np.bitwise_or.reduce(recent["limits"])))
        words = [str(limit.name) for limit in Limit if limit and limit in flags]
        if recent["status"][-1] != Status.OK:
            words.append(Status(int(recent["status"][-1])).name)
        if any(k - self.row(GRACE) <= changed <= k for changed in self.changed):
            words.append("parameter change")
        integrator = Integrator(int(self.sets["integrator"][self.index[k]]))
        if integrator != Integrator.EXACT:
            words.append(integrator.name)
        return ", ".join(words)

    def worst(self, check: str, values: Array, bounds: Any, unit: str, first: int = 0) -> Reading:
        """The reading with the largest share; ``first``: the cycle that values[0] belongs to."""
        values = np.asarray(values, dtype=float)
        if values.size == 0:
            return Reading(check, 0.0, float(np.max(bounds)), unit, 0.0)
        bound = np.broadcast_to(bounds, values.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.isfinite(values), values / bound, np.inf)
        k = int(np.argmax(share))
        cycle = first + k // (values[0].size if values.ndim > 1 else 1)
        return Reading(check, float(values.flat[k]), float(bound.flat[k]), unit, cycle * self.period)


def positions(q: Array, model: Any, tcp: Array) -> Array:
    """p_base_tcp (n, 3) for joint angles (n, 6): the chain of the model, all cycles at once, tool axes last.

    tcp: TCP in the flange frame, (n, 3) or (1, 3) [m]."""
    c, s = np.cos(q), np.sin(q)
    p = np.broadcast_to(np.asarray(tcp, dtype=float), (len(q), 3)).copy()
    p = p @ model.chain_rotation[6].T + model.chain_position[6]
    for i in range(5, -1, -1):
        x = c[:, i] * p[:, 0] - s[:, i] * p[:, 1]
        y = s[:, i] * p[:, 0] + c[:, i] * p[:, 1]
        p = np.stack([x, y, p[:, 2]], axis=1) @ model.chain_rotation[i].T + model.chain_position[i]
    return np.asarray(p)
