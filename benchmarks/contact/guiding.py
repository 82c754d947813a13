"""Minutes of varied hand guiding: places, circles, shaking, quick short moves and pushes, by hands of all kinds.

The stabiliser must stay silent all along. Speeds and accelerations are those of a brisk person (0.35 m/s, 4 m/s2),
within the reach of the arm, so that no limit acts.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated.hand import Path
from ur_admittance_lab.scenarios.in_contact import OVER_TABLE
from ur_admittance_lab.scenarios.stage import Setup, Stage, waypoints

Array = NDArray[np.float64]

FASTEST, BRISKEST, TURNING = 0.35, 4.0, 0.6  # [m/s], [m/s2], [rad/s]
HAND = (300.0, 2000.0)  # [N/m]
AT_REST = 0.02  # [m/s] nobody grabs a tool that flies by


@dataclass(frozen=True)
class Guided:
    minutes: float
    activations: int  # of the stabiliser
    peak_speed: float  # [m/s]
    peak_force: float  # [N]
    limits: int  # Limit flags that were met


def guide(seed: int, minutes: float, changes: dict[str, Any] | None = None) -> Guided:
    """Guide the arm in free space and watch the damping."""
    rng = np.random.default_rng(seed)
    stage = Stage(Setup(seed=seed, changes=changes or {}), q=OVER_TABLE)
    home, chosen = stage.position, np.array(stage.parameters.admittance.effective_damping)
    seen = {"on": 0, "activations": 0, "limits": 0, "speed": 0.0, "force": 0.0}

    def watch(s: Stage) -> bool:
        command = s.controller.command
        on = int(np.any(command["damping"] > chosen + 1e-9))
        seen["activations"] += on > seen["on"]
        seen["on"] = on
        seen["limits"] = int(seen["limits"]) | int(command["limits"])
        seen["speed"] = max(seen["speed"], float(np.linalg.norm(command["twist"][:3])))
        seen["force"] = max(seen["force"], float(np.linalg.norm(command["wrench_tcp"][:3])))
        return False

    while stage.time < 60.0 * minutes:
        path, seconds = motion(rng, home - stage.position)
        stiffness = math.exp(rng.uniform(math.log(HAND[0]), math.log(HAND[1])))
        damping = 2.0 * rng.uniform(0.2, 0.8) * math.sqrt(1.5 * stiffness)
        grip = {"stiffness": (stiffness, 0.015 * stiffness), "damping": (damping, 0.015 * damping)}
        stage.world.grab(path, **grip)
        stage.run(seconds, until=watch)
        if rng.random() < 0.3:
            push, lasts = np.r_[rng.uniform(-12.0, 12.0, 3), np.zeros(3)], rng.uniform(0.4, 1.0)
            stage.world.push(lambda t, w=push, T=lasts: w * math.sin(math.pi * min(1.0, t / T)) ** 2)  # type: ignore[misc]
            stage.run(lasts, until=watch)
        stage.world.let_go()
        stage.run(3.0, until=lambda s: watch(s) or float(np.linalg.norm(s.controller.command["twist"][:3])) < AT_REST)
    stage.finish()
    return Guided(
        stage.time / 60.0, int(seen["activations"]), float(seen["speed"]), float(seen["force"]), int(seen["limits"])
    )


def motion(rng: Any, back: Array) -> tuple[Path, float]:
    """A path from where the tool is, `back` from home [m], and its duration [s]."""
    kind = rng.integers(4)
    if kind == 0:
        places = np.zeros((7, 6))
        places[1:, :3] = rng.uniform(-0.12, 0.12, (6, 3)) + back
        places[1:, 3:] = rng.uniform(-0.2, 0.2, (6, 3))
        return _timed(places, rng.uniform(1.0, 2.5, 6))
    if kind == 1:
        places = np.zeros((9, 6))
        places[1:, :3] = rng.uniform(-0.04, 0.04, (8, 3))
        return _timed(places, rng.uniform(1.0, 1.5, 8))
    if kind == 2:
        radius, axes = rng.uniform(0.02, 0.08), rng.permutation(3)
        omega = min(2 * math.pi * rng.uniform(0.3, 1.5), FASTEST / radius, math.sqrt(BRISKEST / radius))

        def circle(t: float) -> Array:
            x, grown = np.zeros(6), min(1.0, t / 0.5)
            size = radius * grown**2 * (3.0 - 2.0 * grown)
            x[axes[0]], x[axes[1]] = size * math.sin(omega * t), size * (1.0 - math.cos(omega * t))
            return x

        return circle, 6.0
    omega = 2 * math.pi * rng.uniform(1.0, 3.5)
    size = min(0.05, rng.uniform(0.3, 1.0) * BRISKEST / omega**2, FASTEST / omega)
    direction = rng.normal(size=6)
    direction /= np.linalg.norm(direction[:3])
    direction[3:] *= min(1.0, TURNING / (omega * size * float(np.linalg.norm(direction[3:]))))
    return lambda t: direction * size * math.sin(omega * t) * min(1.0, t / 0.5), 5.0


def _timed(places: Array, slower: Array) -> tuple[Path, float]:
    """Through all places, each leg `slower` times as long as a brisk person takes (minimum jerk)."""
    legs = np.diff(places, axis=0)
    way, turn = np.linalg.norm(legs[:, :3], axis=1), np.linalg.norm(legs[:, 3:], axis=1)
    seconds = np.maximum.reduce([1.875 * way / FASTEST, np.sqrt(5.77 * way / BRISKEST), 1.875 * turn / TURNING])
    times = np.r_[0.0, np.cumsum(np.maximum(0.15, seconds) * slower)]
    return waypoints(times.tolist(), places), float(times[-1]) + 0.3
