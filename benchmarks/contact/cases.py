"""The contact cases, each with this controller and with plain admittance: same scenario, same damping, same noise.

Plain: no stabiliser, no velocity bias, no surface normal, nothing taken off the mass. 10 ms delay, 25 Hz servo, 0.1 N.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.contact.guiding import guide
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.scenarios import Setup, Stage, run_scenario
from ur_admittance_lab.scenarios.outcome import Outcome

PLAIN: dict[str, Any] = {
    "contact.stabilizer": False,
    "admittance.bias_time": 0.0,
    "control_frame": "base",
    "admittance.compensate_mass": False,
    "tool.inertia_compensation": False,
}
STIFFNESSES = (1e3, 3e3, 1e4, 3e4, 1e5)  # [N/m]
PLAIN_SEEDS = 2  # plain admittance is only there to compare with
HEAVY_FILTER = {"admittance.filter_coefficient": 0.2}
Say = Callable[[str], None]


@dataclass
class Row:
    """One figure of one case over all seeds."""

    case: str
    figure: str
    unit: str
    target: float | None  # at most this, None: only told
    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    at_least: bool = False

    @property
    def worst(self) -> float:
        if not self.ours:
            return -math.inf if self.at_least else math.inf
        return min(self.ours) if self.at_least else max(self.ours)

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.worst >= self.target if self.at_least else self.worst <= self.target


def outcome(name: str, seed: int, changes: dict[str, Any] | None = None, **options: Any) -> Outcome:
    return run_scenario(name, Setup(seed=seed, changes=changes or {}, options=options))


def values(result: Outcome) -> dict[str, float]:
    return {metric.name: float(metric.value) for metric in result.metrics}


def sides(seed: int) -> list[tuple[dict[str, Any], str]]:
    """Changes of the parameters, and the column they belong to."""
    return [({}, "ours"), (PLAIN, "plain")] if seed < PLAIN_SEEDS else [({}, "ours")]


def contact(seeds: range, say: Say) -> Iterator[Row]:
    """Drive into a wall from D = 80 Ns/m and press it with 10 N for 20 s, light and heavy wrench filter."""
    for heavy in (False, True):
        for stiffness in STIFFNESSES:
            case = f"wall {stiffness / 1e3:g} kN/m{', heavy filter' if heavy else ''}"
            limit = {1e4: 10.0, 1e5: 50.0}.get(stiffness)
            residual = Row(case, "residual, peak to peak over 20 s", "N", 0.4)
            over = Row(case, "overshoot", "%", limit)
            stops = Row(case, "stops", "", 0.0)
            for seed in seeds:
                say(f"{case}, seed {seed}")
                for changes, side in sides(seed):
                    result = outcome("wall", seed, changes | (HEAVY_FILTER if heavy else {}), stiffness=stiffness)
                    figures = values(result)
                    getattr(residual, side).append(figures["residual"])
                    getattr(over, side).append(figures["overshoot"])
                    getattr(stops, side).append(float(len(result.stops)))
            yield from (residual, over, stops)


def following(seeds: range, say: Say) -> Iterator[Row]:
    """Press with 10 N and slide; error of the normal force from 0.5 s after the start on."""
    for shape in ("flat", "incline", "cylinder"):
        for speed, limit in ((0.02, 0.3), (0.05, 0.5)):
            row = Row(f"{shape}, {1e3 * speed:g} mm/s", "RMS error of the normal force", "N", limit)
            for seed in seeds:
                say(f"{row.case}, seed {seed}")
                for changes, side in sides(seed):
                    figures = values(outcome("surface", seed, changes, shape=shape, speed=speed))
                    getattr(row, side).append(figures["rms_error"])
            yield row


def peg(count: int, say: Say) -> Iterator[Row]:
    """Peg in hole from `count` random starts, plain from a fifth of them."""
    inserted = Row(f"peg in hole, {count} starts", "inserted", "%", 95.0, at_least=True)
    force = Row(inserted.case, "peak force", "N", 40.0)
    for changes, side, starts in (({}, "ours", count), (PLAIN, "plain", max(1, count // 5))):
        results = []
        for seed in range(starts):
            say(f"peg in hole, {side}, start {seed}")
            results.append(values(outcome("peg_in_hole", seed, changes)))
        getattr(inserted, side).append(100.0 * float(np.mean([one["inserted"] for one in results])))
        getattr(force, side).append(max(one["peak_force"] for one in results))
    yield from (inserted, force)


def feel(seeds: range, say: Say) -> Iterator[Row]:
    """What a hand feels at 1 Hz in free space, against what was asked for."""
    mass = Row("hand at 1 Hz", "error of the felt mass", "%", 15.0)
    damping = Row("hand at 1 Hz", "error of the felt damping", "%", 10.0)
    for seed in seeds:
        say(f"hand at 1 Hz, seed {seed}")
        for changes, side in sides(seed):
            figures = values(outcome("hand_guiding", seed, changes))
            getattr(mass, side).append(abs(figures["mass_error"]))
            getattr(damping, side).append(abs(figures["damping_error"]))
    yield from (mass, damping)


def guiding(seeds: range, minutes: float, say: Say) -> Iterator[Row]:
    """Varied hand guiding in free space, `minutes` in all."""
    row = Row(f"hand guiding, {minutes:g} min", "activations of the stabiliser", "", 0.0)
    for seed in seeds:
        say(f"hand guiding, seed {seed}")
        row.ours.append(float(guide(seed, minutes / len(seeds)).activations))
    yield row


def hand_into_wall(
    seed: int, stiffness: float, force: float, grip: float, speed: float, **changes: Any
) -> dict[str, float]:
    """A hand of stiffness `grip` [N/m] leads the tool into a wall and presses on with `force` [N]: what happens?"""
    stage = Stage(Setup(seed=seed, changes=changes), environment=Environment.wall(stiffness, gap=0.02))
    deep = 0.02 + force / grip
    lasts, damping = deep / speed, 0.6 * float(np.sqrt(2.0 * grip))
    path = np.array([deep, 0.0, 0.0, 0.0, 0.0, 0.0])
    stage.world.grab(lambda t: path * min(1.0, t / lasts), stiffness=(grip, 30.0), damping=(damping, 1.0))
    start = stage.time
    stage.run(lasts + 5.0)
    part = stage.finish().since(start, start + lasts + 5.0)
    wall, last = -part.contact[:, 0], part.t > lasts + 3.0
    return {
        "peak": float(wall.max()),
        "mean": float(wall[last].mean()),
        "residual": float(np.ptp(wall[last])),
        "stopped": float(np.any(part.command["status"] != 0)),
    }


def pressed_by_hand(seeds: range, say: Say) -> Iterator[Row]:
    """A hand pushes the arm, with default damping, into a wall: 15 and 30 N, soft and firm grip."""
    for stiffness in (1e4, 3e4, 1e5):
        row = Row(f"hand presses a wall of {stiffness / 1e3:g} kN/m", "residual, peak to peak", "N", 1.0)
        stops = Row(row.case, "stops", "", 0.0)
        for seed in seeds:
            say(f"{row.case}, seed {seed}")
            for force, grip in ((15.0, 500.0), (30.0, 2000.0)):
                for _, side in sides(seed):
                    changes = {"contact.stabilizer": side == "ours"}
                    result = hand_into_wall(seed, stiffness, force, grip, 0.05, **changes)
                    if not result["stopped"]:  # an arm that was stopped does not bounce
                        getattr(row, side).append(result["residual"])
                    getattr(stops, side).append(result["stopped"])
        yield from (row, stops)
