"""A person at the tool, and an arm that is not as configured: what is felt, what is taken for a wall, what rings.

    python -m benchmarks.person tremor --count 200 --first 1 --threads 1 --out tremor.json

tremor   a hand that trembles while it holds or guides: damping raised, force on the hand, stops
pushes   quick opposing pushes in free space: damping raised, distance from the ideal law
taps     taps on the tool, and two hands at once
sliding  the force on a surface that is slid over, against the wanted one
late     response time configured wrong: presses and hands that ring at any frequency

Every case is drawn from its number alone, and each row of a table has the same numbers: --count is n of a row. Even
numbers are for choosing constants, odd ones for reports. "Off": the same run with contact.stabilizer off.
"""

import argparse
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import hand
from ur_admittance.analysis.compliance import GRIP_RATE, GRIP_RATIO
from ur_admittance.core.records import Status
from ur_admittance.params import Parameters, preset
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.campaign.draft import Draft, rising
from ur_admittance_lab.campaign.draw import chance, direction, log_uniform
from ur_admittance_lab.campaign.motion_checks import NOISE, oscillation
from ur_admittance_lab.campaign.touching_families import FALLING, bent, contact
from ur_admittance_lab.episodes import Case, Trace, simulate
from ur_admittance_lab.episodes.normal_force import normal_force
from ur_admittance_lab.scenarios.free import ideal_response
from ur_admittance_lab.scenarios.outcome import best_lag, rms

Array = NDArray[np.float64]
Row = dict[str, Any]  # what is known or measured of one case
Column = Callable[[list[Row], list[Row]], float]  # of the runs with the stabiliser, and without

LAWS = ("defaults", "hand_guiding")
RING = 1.0  # [N] departure from the moving mean
SLOW = 0.5  # [s] of that mean
WINDOW = 2.0  # [s] at the end of a case
WIDE = {"max_linear_velocity": 1.0, "max_linear_acceleration": 20.0}  # the law is judged, not its limits
LIMP = (5.0, 0.1), (5.0, 0.05)  # stiffness and damping of an arm that only pushes [N/m, Nm/rad], [Ns/m, Nms/rad]
LONGEST_LAG = 0.06  # [s] that is taken off before the tool is compared with the ideal law


def drawn(judge: str, number: int, law: str) -> Draft:
    """Robot, pose, tool and devices as for the hands of benchmarks/hand.py, at 500 Hz."""
    draft = Draft(judge, number)
    draft.rate = 500.0
    draft.quieter()
    total = int(draft.rng.integers(4, 21))  # [ms] of servo and sensor together
    late = int(draft.rng.integers(0, min(8, total) + 1)) if chance(draft.rng, 0.3) else 0
    draft.sensor = replace(draft.sensor, delay=1e-3 * late)
    draft.servo = replace(draft.servo, delay=1e-3 * (total - late))
    bent(draft)
    draft.parameters = draft.with_devices(Parameters() if law == "defaults" else preset(law))
    return draft


def place_for(force: Array, stiffness: float, damping: float, period: float) -> Array:
    """Where an arm of that stiffness must want to be (n, 3) [m] so that its muscles exert this force (n, 3) [N]."""
    place, x = np.empty_like(force), np.zeros(3)
    for i, f in enumerate(force):
        x = (f + damping / period * x) / (stiffness + damping / period)
        place[i] = x
    return place


def through_the_grip(frequency: float, mass: float, stiffness: float, damping: float) -> float:
    """Force on a tool that is held fast over that of the muscles: the hand's mass on its grip amplifies a little."""
    if mass == 0.0:
        return 1.0
    s = 2j * math.pi * frequency
    grip = mass * GRIP_RATE**2 + 2.0 * GRIP_RATIO * mass * GRIP_RATE * s
    return abs(grip / (mass * s**2 + damping * s + stiffness + grip))


def grab(draft: Draft, at: float, places: Array, grip: Any, mass: float) -> None:
    """A hand that wants to be at these places (n, 3)."""
    path = np.hstack([places, np.zeros_like(places)])
    stiffness, damping = grip
    draft.act("grab", at, lambda script, at: script.grab(at, path, stiffness=stiffness, damping=damping, mass=mass))


def pair(draft: Draft, **known: Any) -> list[tuple[Case, Row]]:
    """The case with the stabiliser, and without."""
    case = draft.finish(draft.time + 0.5).case
    off = replace(case, parameters=case.parameters.changed({"contact.stabilizer": False}))
    return [(case, known | {"on": True}), (off, known | {"on": False})]


def tremor(number: int) -> list[tuple[Case, Row]]:
    """A hand of 0 to 3 kg trembles by 0 to 4 N: its muscles' force oscillates so that held fast it exerts just that."""
    cases = []
    for law in LAWS:
        for newtons in range(5):
            draft = drawn("tremor", number, law)
            rng = draft.rng
            mass = float(rng.uniform(0.3, 3.0)) if chance(rng, 0.75) else 0.0
            stiffness, damping = float(log_uniform(rng, 300.0, 2000.0)), float(rng.uniform(20.0, 60.0))
            frequency, towards = float(rng.uniform(4.0, 12.0)), direction(rng)
            seconds = 10.0
            t = np.arange(1, round(seconds / draft.period) + 1) * draft.period
            muscles = newtons / through_the_grip(frequency, mass, stiffness, damping)
            shape = muscles * np.sin(2.0 * math.pi * frequency * t) * np.minimum(1.0, t / 0.5)
            places = place_for(shape[:, None] * towards, stiffness, damping, draft.period)
            if chance(rng, 0.5):  # guides slowly, there and back
                way = direction(rng) * float(rng.uniform(0.03, 0.1))
                places += rising(seconds, 0.4 * seconds, draft.period) * way
            grab(draft, draft.time, places, ((stiffness, 30.0), (damping, 1.0)), mass)
            draft.time += seconds
            weight = "massless" if mass == 0.0 else "0.3..3 kg"
            about = f"{mass:.2f} kg {stiffness:.0f} N/m {frequency:.1f} Hz"
            cases += pair(draft, row=f"{law}, {newtons} N, {weight}", about=about)
    return cases


def pushes(number: int) -> list[tuple[Case, Row]]:
    """2 to 6 pushes of 5 to 40 N that rise in 20 to 200 ms, mostly each against the one before."""
    cases = []
    for law in LAWS:
        for heavy in (False, True):
            draft = drawn("pushes", number, law)
            draft.choose(WIDE)
            rng, period = draft.rng, draft.period
            towards, parts = direction(rng), []
            for _ in range(int(rng.integers(2, 7))):
                rise = float(rng.uniform(0.02, 0.2))
                seconds = 2.0 * rise + float(rng.uniform(0.0, 0.3))
                parts.append(rising(seconds, rise, period) * towards * rng.uniform(5.0, 40.0))
                parts.append(np.zeros((round(rng.uniform(0.0, 0.2) / period) if chance(rng, 0.5) else 0, 3)))
                towards = -towards if chance(rng, 0.7) else direction(rng)
            force = np.vstack([*parts, np.zeros((round(1.5 / period), 3))])
            mass = float(rng.uniform(0.3, 2.0))
            if heavy:
                grab(draft, draft.time, place_for(force, LIMP[0][0], LIMP[1][0], period), LIMP, mass)
            else:
                push(draft, draft.time, force)
            draft.time += len(force) * period
            cases += pair(draft, row=f"{law}, {'0.3..2 kg' if heavy else 'massless'}", pushed=len(force))
    return cases


def push(draft: Draft, at: float, force: Array) -> None:
    wrench = np.hstack([force, np.zeros_like(force)])
    draft.act("push", at, lambda script, at: script.push(at, len(wrench) * script.period, wrench))


def taps(number: int) -> list[tuple[Case, Row]]:
    """3 to 8 taps of 10 to 40 N for 5 to 20 ms; on the free tool, or while a hand holds it; a second hand that pushes.

    What a second hand does reaches the tool through the one that holds: 30 Hz wide when that has a mass."""
    cases = []
    for law in LAWS:
        for kind in ("taps", "taps, held", "two hands"):
            draft = drawn("taps", number, law)
            rng, period = draft.rng, draft.period
            force = np.zeros((round(6.0 / period), 3))
            for at in np.sort(rng.uniform(0.5, 5.0, int(rng.integers(3, 9)))):
                seconds = float(rng.uniform(0.005, 0.02)) if kind != "two hands" else float(rng.uniform(0.1, 0.6))
                t = np.arange(len(force)) * period - at
                shape = np.where((t > 0.0) & (t < seconds), np.sin(np.pi * t / seconds), 0.0)
                force += shape[:, None] * direction(rng) * rng.uniform(10.0, 40.0)
            if kind == "taps":
                push(draft, draft.time, force)
            else:
                mass = float(rng.uniform(0.3, 3.0)) if chance(rng, 0.5) else 0.0
                stiffness, damping = float(log_uniform(rng, 300.0, 2000.0)), float(rng.uniform(20.0, 60.0))
                places = place_for(force, stiffness, damping, period)
                grab(draft, draft.time, places, ((stiffness, 30.0), (damping, 1.0)), mass)
            draft.time += len(force) * period
            cases += pair(draft, row=f"{law}, {kind}")
    return cases


def sliding(number: int) -> list[tuple[Case, Row]]:
    """10 N on a plane of 1e4 to 1e5 N/m, mu 0.05 to 0.4, level or as steep as the preset can follow; four strokes."""
    cases = []
    for name in ("surface_following", "polishing"):
        for speed in (0.02, 0.05, 0.1):
            draft = drawn("sliding", number, name)
            rng = draft.rng
            draft.choose({"admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0]})
            draft.choose({"admittance.enabled_axes": [False, False, True, False, False, False]})
            approach = draft.parameters.contact.approach_speed[0]
            angle = math.atan(FALLING * approach / speed) * float(rng.uniform(-1.0, 1.0)) * chance(rng, 0.5)
            stiffness, friction = float(log_uniform(rng, 1e4, 1e5)), float(rng.uniform(0.05, 0.4))
            draft.environment = Environment.incline(angle, stiffness, gap=0.005, friction=friction)
            draft.time += draft.environment.gap / approach + 2.0
            begin, heading = draft.time, float(rng.uniform(0.0, 2.0 * math.pi))
            along = np.array([math.cos(heading), math.sin(heading), 0.0, 0.0, 0.0, 0.0])
            for sign in (1.0, -1.0, 1.0, -1.0):
                draft.twist(0.1 / speed + 0.2, sign * speed * along, ramp=0.2)
            about = f"{stiffness / 1e3:.0f} kN/m mu {friction:.2f} {math.degrees(angle):.1f} deg"
            slides = (begin + 1.0, draft.time)
            case, known = pair(draft, row=f"{name}, {1e3 * speed:.0f} mm/s", about=about, slides=slides)[0]
            cases.append((case, known))
    return cases


def late(number: int) -> list[tuple[Case, Row]]:
    """Presses and hands with robot.response_time right, 0 to 50 % too short, 0 to 100 % too long."""
    cases = []
    for kind, case in (("press", contact(number).case), ("hand", hand.draw(number)[0])):
        true = case.servo.response_time
        much = float(np.random.default_rng(number).uniform())
        for words, factor in (("right", 1.0), ("too short", 1.0 - 0.5 * much), ("too long", 1.0 + much)):
            known = {"row": f"{kind}, {words}", "about": f"{1e3 * true:.0f} ms x {factor:.2f}", "on": True}
            wrong = case.parameters.changed({"robot.response_time": factor * true})
            cases.append((replace(case, parameters=wrong), known))
    return cases


def measure(case: Case, trace: Trace, known: Row) -> Row:
    """What every judge asks, and what its own row needs."""
    period, script = trace.period, case.script
    chosen = max(case.parameters.admittance.effective_damping[:3])
    raised = trace.command["damping"][:, :3].max(axis=1) > 1.01 * chosen
    stopped = np.flatnonzero(trace.command["status"] != 0)
    held = np.linalg.norm(trace.hand[:, :3], axis=1)
    held = held[script.rows["hand"][: len(held)] != 0]
    found: Row = {
        "robot": case.robot,
        "delay": case.servo.delay + case.sensor.delay,
        "raised": float(np.count_nonzero(raised)) * period,
        "stop": Status(int(trace.command["status"][stopped[0]])).name if len(stopped) else "",
        "hand_mean": float(held.mean()) if len(held) else 0.0,
        "hand_peak": float(held.max(initial=0.0)),
    }
    if "pushed" in known:
        found |= {"error": error(case, trace), "limited": bool(np.any(trace.command["limits"] != 0))}
    if "slides" in known:
        start, end = (round(at / period) for at in known["slides"])
        off = normal_force(case, trace)[start:end] - 10.0
        found |= {"mean": float(off.mean()), "rms": rms(off), "max": float(np.abs(off).max())} if len(off) else {}
    rows, slow = round(WINDOW / period), round(SLOW / period)
    noise = NOISE * case.sensor.noise_force
    for name, wrench in (("ring", trace.contact), ("hand_ring", trace.hand)):
        found[name] = float(oscillation(wrench[-rows:, :3], slow).max()) - noise
    return known | found


def error(case: Case, trace: Trace) -> float:
    """RMS of the tool's velocity less that of the ideal mass and damper, over the RMS of the latter."""
    force, law = trace.hand[:, :3], case.parameters.admittance
    norm = np.linalg.norm(force, axis=1)[:, None]
    felt = force * np.maximum(0.0, 1.0 - law.min_motion_threshold / np.maximum(norm, 1e-9))
    ideal = np.column_stack([ideal_response(case.parameters, i, felt[:, i], trace.period) for i in range(3)])
    v_ideal, v = (np.diff(x, axis=0) / trace.period for x in (ideal, trace.command["p_tcp"]))
    return best_lag(v, v_ideal, round(LONGEST_LAG / trace.period))[1] / max(rms(v_ideal), 1e-6)


@dataclass(frozen=True)
class Judge:
    draw: Callable[[int], list[tuple[Case, Row]]]
    columns: Mapping[str, Column]
    goal: str
    worst: Callable[[Row], float]  # the worst cases are printed by it


def share(values: Any, percent: float) -> float:
    return float(np.percentile(list(values), percent)) if len(list(values)) else math.nan


def more(name: str, how: Callable[[Any], Any]) -> Column:
    """Of what the hand feels beyond the run without the stabiliser, where neither stopped."""

    def column(on: list[Row], off: list[Row]) -> float:
        extra = [a[name] - b[name] for a, b in zip(on, off, strict=True) if not (a["stop"] or b["stop"])]
        return float(how(extra)) if extra else math.nan

    return column


def false_stops(on: list[Row], off: list[Row]) -> int:
    return sum(bool(a["stop"] == "OVER_FORCE" and not b["stop"]) for a, b in zip(on, off, strict=True))


def velocity_error(rows: list[Row], off: list[Row]) -> float:
    """95th percentile [%] over the runs that meet no limit."""
    return 100.0 * share([a["error"] for a, b in zip(rows, off, strict=True) if not b["limited"]], 95.0)


RAISED: dict[str, Column] = {
    "raised": lambda on, off: sum(r["raised"] > 0.0 for r in on),
    "for s": lambda on, off: sum(r["raised"] for r in on),
    "longest s": lambda on, off: max(r["raised"] for r in on),
    "false stops": false_stops,
    "stops": lambda on, off: sum(bool(r["stop"]) for r in on),
    "off": lambda on, off: sum(bool(r["stop"]) for r in off),
}
FELT = {"extra N": more("hand_mean", np.mean), "most": more("hand_mean", np.max), "peak +N": more("hand_peak", np.max)}
RINGS = {
    "rings": lambda on, off: sum(rings(r) > RING for r in on),
    "worst N": lambda on, off: max(rings(r) for r in on),
    "stops": lambda on, off: sum(bool(r["stop"]) for r in on),
}


def rings(row: Row) -> float:
    return 0.0 if row["stop"] else float(max(row["ring"], row["hand_ring"]))


def quantile(name: str, percent: float) -> Column:
    return lambda on, off: share([abs(r[name]) for r in on if name in r], percent)


JUDGES = {
    "tremor": Judge(tremor, RAISED | FELT, "raised 0 to 2 N, < 5 % at 3 N; false stops 0", lambda r: r["raised"]),
    "pushes": Judge(
        pushes,
        RAISED
        | {
            "free of limits": lambda on, off: sum(not r["limited"] for r in off),
            "v error 95 %": velocity_error,
            "v error 95 %, off": lambda on, off: velocity_error(off, off),
        },
        "raised 0; error within 1 point of off",
        lambda r: r["raised"],
    ),
    "taps": Judge(taps, RAISED | FELT, "raised 0; false stops 0", lambda r: r["raised"]),
    "sliding": Judge(
        sliding,
        {
            "|mean| N median": quantile("mean", 50.0),
            "|mean| 95 %": quantile("mean", 95.0),
            "RMS N median": quantile("rms", 50.0),
            "RMS 95 %": quantile("rms", 95.0),
            "max N median": quantile("max", 50.0),
            "max 95 %": quantile("max", 95.0),
            "worst": quantile("max", 100.0),
            "stops": RAISED["stops"],
        },
        "RMS 0.3 N at 20 mm/s, 0.5 N at 50 mm/s",
        lambda r: r.get("max", 0.0),
    ),
    "late": Judge(late, RINGS, "rings 0", rings),
}


def judge(name: str, numbers: range, threads: int | None = 1) -> list[Row]:
    rows: list[Row] = []
    for first in range(0, len(numbers), 4):
        drawn = [(case, row | {"number": n}) for n in numbers[first : first + 4] for case, row in JUDGES[name].draw(n)]
        known = {id(case): row for case, row in drawn}
        rows += simulate([case for case, _ in drawn], lambda c, t: measure(c, t, known[id(c)]), threads=threads)  # noqa: B023
    return rows


def report(name: str, rows: list[Row], worst: int = 8) -> None:
    chosen = JUDGES[name]
    print(f"{name}; goal: {chosen.goal}\n\n| case | n | {' | '.join(chosen.columns)} |")
    print(f"|{'---|' * (2 + len(chosen.columns))}")
    for key in sorted({row["row"] for row in rows}):
        on, off = ([r for r in rows if r["row"] == key and r["on"] is which] for which in (True, False))
        print(f"| {key} | {len(on)} | {' | '.join(f'{column(on, off):.3g}' for column in chosen.columns.values())} |")
    print()
    bad = sorted((r for r in rows if r["on"] and chosen.worst(r) > 0.0), key=lambda r: -chosen.worst(r))
    for r in bad[:worst]:
        about = f"{r['robot']} {1e3 * r['delay']:.0f} ms {r.get('about', '')} {r['stop']}"
        print(f"  {r['number']}: {chosen.worst(r):.3g}, {r['row']}, {about}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("judge", choices=JUDGES)
    parser.add_argument("--count", type=int, default=200, help="n of every row")
    parser.add_argument("--first", type=int, default=1, help="number of the first case; every second one follows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = judge(options.judge, range(options.first, options.first + 2 * options.count, 2), options.threads)
    report(options.judge, rows)
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
