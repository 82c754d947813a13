"""Hands that drive the tool into something, by the thousand: what bounces for ever, what trips, what physics allows.

    python -m benchmarks.hand --first 0 --count 1500 --out before.json

Every case is drawn from its number alone: type, pose, tool, delays, sensor, surface, grip and law. A hand, half of them
with a mass, leads the tool into a surface and holds it there. Even numbers are for choosing constants, odd ones for
reports.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contact.guiding import motion
from benchmarks.unavoidable import unavoidable
from ur_admittance.core.records import Status
from ur_admittance.params import Parameters, preset
from ur_admittance_lab.campaign.draft import Draft, blend
from ur_admittance_lab.campaign.draw import chance, log_uniform, pick
from ur_admittance_lab.campaign.motion_checks import oscillation
from ur_admittance_lab.campaign.touching_families import bent, surface
from ur_admittance_lab.episodes import Case, Trace, simulate

Array = NDArray[np.float64]
Draw = Callable[[int], tuple[Case, dict[str, Any]]]

HOLD = 6.5  # [s] pressed against the surface
WINDOW = 2.0  # [s] at the end, in which nothing may bounce
SLOW = 0.5  # [s] of the moving mean that a bounce departs from
BOUNCE = 1.0  # [N] peak to peak ...
NOISE = 10.0  # ... beside this many standard deviations of the sensor's noise
TOUCHED = 0.5  # [N] of the surface
PHYSICS_STEP = 1e-3  # [s]


@dataclass(frozen=True)
class Outcome:
    """One case, in numbers."""

    number: int
    robot: str
    law: str
    stiffness: float  # of the surface [N/m]
    grip: float  # [N/m]
    hand_mass: float  # [kg]
    delay: float  # of servo and sensor together [s]
    speed: float  # of the tool when it touched [m/s]
    touched: bool
    bounce: float  # peak to peak in the last 2 s, less what noise may do [N]
    hand_bounce: float  # the same of the hand's force
    peak: float  # of the surface's force [N]
    stop: str  # name of the fault, empty: none
    limit: float  # safety.max_force [N]
    bound: float  # force that the best braking could not have avoided [N]
    raised: float  # time with raised damping [s]

    @property
    def bounces(self) -> bool:
        return not self.stop and max(self.bounce, self.hand_bounce) > BOUNCE


def draw(number: int, only: str = "") -> tuple[Case, dict[str, Any]]:
    """The case of that number. only: with this preset, whatever law would have been drawn."""
    draft = Draft("judge", number)
    rng = draft.rng
    draft.rate = float(pick(rng, (500.0, 500.0, 500.0, 250.0, 1000.0)))
    draft.quieter()
    total = int(rng.integers(4, 21))  # [ms] of servo and sensor together
    late = int(rng.integers(0, min(8, total) + 1)) if chance(rng, 0.3) else 0
    draft.sensor = replace(draft.sensor, delay=1e-3 * late)
    draft.servo = replace(draft.servo, delay=1e-3 * (total - late))
    bent(draft)
    surface(draft, "floor", "wall")
    drawn = pick(rng, ("defaults", "hand_guiding", "drawn"))
    law = only or drawn
    chosen = Parameters() if law in ("defaults", "drawn") else preset(law)
    if law == "drawn":
        mass = float(log_uniform(rng, 3.0, 20.0))
        damping = mass * float(log_uniform(rng, 4.0, 20.0))
        turning = [0.05 * mass] * 3, [0.05 * damping] * 3
        chosen = chosen.changed(
            {"admittance.mass": [mass] * 3 + turning[0], "admittance.damping": [damping] * 3 + turning[1]}
        )
    draft.parameters = draft.with_devices(chosen)
    grip, speed = float(log_uniform(rng, 300.0, 2000.0)), float(log_uniform(rng, 0.02, 0.2))
    hand_mass = float(rng.uniform(0.3, 2.0)) if chance(rng, 0.5) else 0.0
    damping = float(rng.uniform(20.0, 60.0))
    deep = draft.environment.gap + float(rng.uniform(5.0, 40.0)) / grip
    seconds = 1.875 * deep / speed  # minimum jerk: the largest speed is `speed`
    rows = round((seconds + HOLD) / draft.period)
    path = np.zeros((rows, 6))
    share = blend(np.clip(np.arange(1, rows + 1) * draft.period / seconds, 0.0, 1.0))
    path[:, :3] = -draft.environment.normal * deep * share[:, None]
    draft.act(
        "grab",
        draft.time,
        lambda script, at: script.grab(at, path, stiffness=(grip, 30.0), damping=(damping, 1.0), mass=hand_mass),
    )
    case = draft.finish(draft.time + rows * draft.period).case
    return case, {"number": number, "law": law, "grip": grip, "hand_mass": hand_mass}


def draw_free(number: int, only: str = "") -> tuple[Case, dict[str, Any]]:
    """The same robots, laws and hands in free space: 20 s of varied guiding."""
    draft = Draft("judge free", number)
    rng = draft.rng
    draft.rate = 500.0
    draft.quieter()
    draft.servo = replace(draft.servo, delay=1e-3 * int(rng.integers(4, 13)))
    bent(draft)
    drawn = pick(rng, ("defaults", "hand_guiding"))
    law = only or drawn
    draft.parameters = draft.with_devices(preset(law) if law != "defaults" else Parameters())
    hand_mass = float(rng.uniform(0.3, 2.0)) if chance(rng, 0.5) else 0.0
    grip = float(log_uniform(rng, 300.0, 2000.0))
    damping = 2.0 * float(rng.uniform(0.2, 0.8)) * math.sqrt(1.5 * grip)
    back = np.zeros(3)
    for _ in range(4):
        path, seconds = motion(rng, back)
        rows = round(seconds / draft.period)
        places = np.array([path((i + 1) * draft.period) for i in range(rows)])
        draft.act(
            "grab",
            draft.time,
            lambda script, at, places=places: script.grab(  # type: ignore[misc]
                at, places, stiffness=(grip, 0.015 * grip), damping=(damping, 0.015 * damping), mass=hand_mass
            ),
        )
        draft.time += rows * draft.period + 1.0
        back -= places[-1, :3]
    case = draft.finish(draft.time).case
    return case, {"number": number, "law": law, "grip": grip, "hand_mass": hand_mass}


def measure(case: Case, trace: Trace, known: dict[str, Any]) -> Outcome:
    period = case.script.period
    normal = case.environment.normal
    force = trace.contact[:, :3] @ normal
    touching = np.flatnonzero(force > TOUCHED)
    first = int(touching[0]) if len(touching) else -1
    p = trace.command["p_tcp"] @ normal
    speed = float(p[first - 6] - p[first - 1]) / (5 * period) if first > 6 else 0.0
    status = trace.command["status"]
    stopped = np.flatnonzero(status != 0)
    stop = Status(int(status[stopped[0]])).name if len(stopped) else ""
    limit = case.parameters.safety.max_force
    bound = unavoidable(case, trace, first) if stop == "OVER_FORCE" and first > 0 else 0.0
    pairs = max(1, round(2.0 * PHYSICS_STEP / period))  # a light wrist may flip from one physics step to the next
    rows, slow = round(WINDOW / period / pairs), round(SLOW / period / pairs)
    noise = NOISE * case.sensor.noise_force
    chosen = max(case.parameters.admittance.effective_damping[:3])
    return Outcome(
        robot=case.robot,
        stiffness=case.environment.stiffness,
        delay=case.servo.delay + case.sensor.delay,
        speed=speed,
        touched=first >= 0,
        bounce=bounce(meaned(trace.contact[:, :3], pairs)[-rows:], slow) - noise,
        hand_bounce=bounce(meaned(trace.hand[:, :3], pairs)[-rows:], slow) - noise,
        peak=float(force.max()),
        stop=stop,
        limit=limit,
        bound=bound,
        raised=float(np.count_nonzero(trace.command["damping"][:, :3].max(axis=1) > 1.01 * chosen)) * period,
        **known,
    )


def meaned(force: Array, rows: int) -> Array:
    """Means of ``rows`` in a row."""
    whole = len(force) // rows * rows
    return np.asarray(force[:whole].reshape(-1, rows, 3).mean(axis=1))


def bounce(force: Array, rows: int) -> float:
    """Twice the largest departure from the moving mean [N]: peak to peak, without slow changes."""
    return 2.0 * float(oscillation(force, rows).max())


def judge(numbers: range, threads: int | None = 1, draw: Draw = draw) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for first in range(0, len(numbers), 40):
        drawn = [draw(number) for number in numbers[first : first + 40]]
        known = {id(case): words for case, words in drawn}
        outcomes += simulate([case for case, _ in drawn], lambda c, t: measure(c, t, known[id(c)]), threads=threads)  # noqa: B023
    return outcomes


def report(outcomes: list[Outcome]) -> None:
    stops = Counter(o.stop for o in outcomes if o.stop)
    trips = [o for o in outcomes if o.stop == "OVER_FORCE"]
    bounces = [o for o in outcomes if o.bounces]
    print(
        f"{len(outcomes)} cases, {sum(o.touched for o in outcomes)} touched: {len(bounces)} bounce, stops {dict(stops)}"
    )
    print(f"trips that the best braking could avoid: {sum(o.bound < o.limit for o in trips)} of {len(trips)}")
    for o in sorted(bounces, key=lambda o: -max(o.bounce, o.hand_bounce)):
        print(
            f"  {o.number}: {o.bounce:.3g} N, hand {o.hand_bounce:.3g}, {o.robot} {o.law} {o.stiffness / 1e3:.3g} kN/m,"
            f" grip {o.grip:.0f} N/m {o.hand_mass:.2f} kg, {1e3 * o.delay:.0f} ms, {1e3 * o.speed:.0f} mm/s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--first", type=int, default=1, help="number of the first case: odd ones were not used to choose"
    )
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--step", type=int, default=2, help="2: only even or only odd numbers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--law", default="", help="every case with this preset, or with the defaults")
    parser.add_argument("--free", action="store_true", help="guide in free space instead")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.step * options.count, options.step)
    if options.free:
        guided = judge(numbers, options.threads, partial(draw_free, only=options.law))
        seconds = sum(o.raised for o in guided)
        print(
            f"free guiding: {sum(o.raised > 0.0 for o in guided)} of {len(guided)} raised the damping, {seconds:.1f} s"
        )
        for o in guided:
            if o.raised > 0.0 or o.stop:
                print(
                    f"  {o.number}: {o.raised:.2f} s {o.stop} {o.robot} {o.law} grip {o.grip:.0f} {o.hand_mass:.2f} kg"
                )
        return
    outcomes = judge(numbers, options.threads, partial(draw, only=options.law))
    report(outcomes)
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))


if __name__ == "__main__":
    main()
