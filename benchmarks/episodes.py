"""Simulated over real time: a press against a wall through the control loop in Python, and compiled on 1 and all cores.

python -m benchmarks.episodes              about a minute
python -m benchmarks.episodes --rounds 20  on a busy machine
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from benchmarks.machine import machine
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Environment
from ur_admittance.robots.simulated.devices import NOISE, SERVO
from ur_admittance_lab.episodes import Case, Script, simulate
from ur_admittance_lab.episodes.batch import cores
from ur_admittance_lab.episodes.record_case import record_case
from ur_admittance_lab.scenarios.in_contact import pressing
from ur_admittance_lab.scenarios.stage import TOOL

SECONDS = 10.0  # of an episode
PARTS = ("sample", "command", "contact", "hand")


def episode(seed: int) -> Case:
    """The wall scenario: approach, touch, press with 10 N."""
    script = Script(SECONDS)
    script.activate(0.02)
    known = TOOL.parameters() | {"robot.response_time": SERVO.response_time, "contact.approach_speed": [0.02, 0.2]}
    parameters = Parameters().changed(pressing(0, -10.0) | known)
    return Case(script, parameters, "ur5e", TOOL, Environment.wall(1e4, gap=0.01), SERVO, NOISE, seed=seed)


def factor(run: Callable[[], object], episodes: int) -> float:
    """Simulated over real time."""
    began = time.perf_counter()
    run()
    return episodes * SECONDS / (time.perf_counter() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of the closed loop in simulation.")
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    compiled, looped = simulate([episode(0)])[0], record_case(episode(0))  # also loads all code
    equal = all(getattr(compiled, part).tobytes() == getattr(looped, part).tobytes() for part in PARTS)
    batch = [episode(seed) for seed in range(4 * cores())]
    found: dict[str, list[float]] = {"loop": [], "one": [], "all": []}
    for _ in range(rounds):  # all in every round: what disturbs the machine disturbs all of them
        found["loop"].append(factor(lambda: record_case(episode(0)), 1))
        found["one"].append(factor(lambda: simulate(batch, lambda case, trace: None, threads=1), len(batch)))
        found["all"].append(factor(lambda: simulate(batch, lambda case, trace: None), len(batch)))
    print(f"{machine()}\n{SECONDS:g} s pressed against a wall, {rounds} rounds; simulated over real time, median\n")
    titles = {"loop": "control loop in Python", "one": "compiled, 1 thread", "all": f"compiled, {cores()} threads"}
    for key, title in titles.items():
        ratio = statistics.median(a / b for a, b in zip(found[key], found["loop"], strict=True))
        print(f"{title:26}{statistics.median(found[key]):7.0f} x   {ratio:5.2f} times the loop")
    more = statistics.median(a / b for a, b in zip(found["all"], found["one"], strict=True))
    print(f"\n{cores()} threads over one: {more:.2f}; bits {'equal' if equal else 'DIFFERENT'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
