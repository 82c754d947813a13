"""Tuning by feel, with people who do not exist: python -m benchmarks.by_feel [--people 20] [--rounds 6]

Every setting that can be offered is guided with on the simulated arm, with a loose and a firm hand: slowly aside,
then to and fro. A person likes a certain force in each of the two, their own, and likes a setting the less the more
it differs (in the logarithm: the liking is 0 at best). They notice no difference below a threshold of their own, and
err. The search knows mass and damping only: neither what is felt, nor how it is liked.

Even seeds chose the constants of by_feel.py; what is printed is of odd seeds.
"""

import argparse
import math
from dataclasses import dataclass
from functools import cache

import numpy as np

import ur_admittance as ua
from ur_admittance.analysis import by_feel
from ur_admittance.analysis.by_feel import ByFeel, is_safe, scaled

GRAB_S, MOVE_S, SHAKE_S = 0.1, 1.6, 2.0  # [s] begin, led aside, then to and fro
ASIDE, AMPLITUDE, SHAKES_HZ = 0.16, 0.02, 1.5  # [m], [m], [Hz]: both below the speed limit of the preset
HANDS = ((300.0, 15.0), (800.0, 30.0))  # [N/m, Ns/m] a loose and a firm one
# Between two forces a quarter of an octave apart (19 %), 3 of 4 answers are right at an error of 0.14. Side by side a
# hand tells forces apart that differ by 7 % (L. A. Jones, Perception 18, 1989); here they follow each other, in motion.
ERROR, NOTICED = (0.05, 0.15), 0.15
SPREAD = 0.9  # [octaves] of what people like
FINE = np.linspace(-by_feel.RANGE, by_feel.RANGE, 9)


@dataclass(frozen=True)
class Person:
    hand: int
    effort: float  # [N] that is liked
    heavy: float  # [N] to and fro that is liked
    weight: float  # of the heaviness, against the effort
    error: float  # of a judgement, in units of the liking
    notices: float  # difference in liking

    def likes(self, mass: float, damping: float) -> float:
        effort, heavy = felt(self.hand, mass, damping)
        return -(math.log2(effort / self.effort) ** 2 + self.weight * math.log2(heavy / self.heavy) ** 2)

    def answer(self, a: float, b: float, rng: np.random.Generator) -> str:
        difference = a - b + rng.logistic(0.0, self.error)
        return "same" if abs(difference) < self.notices else "a" if difference > 0.0 else "b"


@cache
def felt(hand: int, mass: float, damping: float) -> tuple[float, float]:
    """Mean force of the hand while it leads slowly, and while it goes to and fro [N]."""
    world = ua.World(ua.robot_model("ur5e"))
    start = ua.preset("hand_guiding").changed(world.parameters())
    ratio = damping / (2.0 * math.sqrt(mass * start.admittance.virtual_stiffness[0]))
    law = {"admittance.mass": [mass] * 3 + [0.1 * mass] * 3, "admittance.damping_ratio": [ratio] * 6}
    controller = ua.AdmittanceController(world.model, start.changed(law | {"guiding.enable": "none"}))
    forces: list[float] = []

    def lead(t: float) -> list[float]:
        s = min(max(t - GRAB_S, 0.0) / MOVE_S, 1.0)
        shaking = math.sin(2.0 * math.pi * SHAKES_HZ * max(t - GRAB_S - MOVE_S, 0.0))
        return [0.0, ASIDE * s**3 * (10.0 - 15.0 * s + 6.0 * s * s) + AMPLITUDE * shaking, 0.0, 0.0, 0.0, 0.0]

    def each(_: object) -> bool:
        if not forces:
            world.grab(lead, stiffness=(HANDS[hand][0], 8.0), damping=(HANDS[hand][1], 0.5))
        forces.append(abs(world.hand.wrench[1]))
        return False

    with ua.SimulatedRobot(world) as robot:
        ua.run(controller, robot, duration=GRAB_S + MOVE_S + SHAKE_S, activate=True, on_tick=each)
        world.let_go()
    led = round((GRAB_S + MOVE_S) * start.control_rate)
    return float(np.mean(forces[:led])), float(np.mean(forces[led:]))


def person(seed: int) -> Person:
    """One that likes the feel of some setting near the preset, with a hand of either kind."""
    rng = np.random.default_rng([20263, seed])
    hand, (m, d) = int(rng.integers(len(HANDS))), rng.normal(0.0, SPREAD, 2)
    law = ua.preset("hand_guiding").admittance
    effort, heavy = felt(hand, *(law.mass[0] * 2.0**m, law.effective_damping[0] * 2.0**d))
    return Person(hand, effort, heavy, rng.uniform(0.5, 2.0), rng.uniform(*ERROR), rng.uniform(0.0, NOTICED))


def session(who: Person, seed: int, rounds: int) -> ua.Parameters:
    rng = np.random.default_rng([20264, seed])
    search = ByFeel(ua.preset("hand_guiding"), rounds)
    while not search.done:
        a, b = (who.likes(*_law(each)) for each in (search.a, search.b))
        search.choose(who.answer(a, b, rng))
    return search.best


def _law(parameters: ua.Parameters) -> tuple[float, float]:
    return parameters.admittance.mass[0], float(f"{parameters.admittance.effective_damping[0]:.4g}")


def best_possible(who: Person) -> float:
    """Of all safe settings."""
    start = ua.preset("hand_guiding")
    every = (scaled(start, 2.0**m, 2.0**d) for m in FINE for d in FINE)
    return max(who.likes(*_law(each)) for each in every if is_safe(each))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=by_feel.ROUNDS)
    parser.add_argument("--even", action="store_true", help="the seeds that chose the constants")
    given = parser.parse_args()
    start, table = ua.preset("hand_guiding"), []
    print("| person | preset | reached | best possible | share of the gap | setting |\n|---|---|---|---|---|---|")
    for i in range(given.people):
        seed = 2 * i + (not given.even)
        who = person(seed)
        found = session(who, seed, given.rounds)
        before, after, most = who.likes(*_law(start)), who.likes(*_law(found)), best_possible(who)
        table.append((before, after, most))
        share = f"{100.0 * (after - before) / (most - before):.0f} %" if most - before > 0.05 else "-"
        print(f"| {i + 1} | {before:.2f} | {after:.2f} | {most:.2f} | {share} | {by_feel.described(found)} |")
    before, after, most = np.array(table).T
    print(f"| mean | {before.mean():.2f} | {after.mean():.2f} | {most.mean():.2f} |", end=" ")
    print(f"{100.0 * (after - before).sum() / (most - before).sum():.0f} % | {given.rounds} rounds |")
    print(f"liked less than the preset by more than 0.05: {int((after < before - 0.05).sum())} of {given.people}")


if __name__ == "__main__":
    main()
