"""A person at the tool, and an arm that is not as configured: what is felt, what is taken for a wall, what rings.

    python -m benchmarks.person tremor --count 200 --first 1 --threads 1 --out tremor.json

tremor   a hand that trembles while it holds or guides: damping raised, force on the hand, stops
pushes   quick opposing pushes in free space: damping raised, distance from the ideal law
taps     taps on the tool, and two hands at once
sliding  the force on a surface that is slid over, against the wanted one
vibration  the slow force under a tool that presses and vibrates
late     response time configured wrong: presses and hands that ring at any frequency
drag     a hand drags the tool 400 mm at 250 mm/s, as a linear axis does in published tests: force and energy

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

from benchmarks import hand
from ur_admittance.core.records import Limit, Status
from ur_admittance.model import robot_model
from ur_admittance_lab.campaign.draft import Draft, blend, rising
from ur_admittance_lab.campaign.draw import log_uniform
from ur_admittance_lab.campaign.motion_checks import NOISE, RAISED, oscillation
from ur_admittance_lab.campaign.people import (
    LAWS,
    PRESSING,
    SECOND_HAND,
    SHAKING,
    SLOWLY,
    TAPS,
    drawn,
    grab,
    oppose,
    shake,
    stroke,
    touch,
    tremble,
)
from ur_admittance_lab.campaign.touching_families import contact
from ur_admittance_lab.episodes import Case, Trace, simulate
from ur_admittance_lab.episodes.normal_force import normal_force
from ur_admittance_lab.scenarios.free import ideal_response
from ur_admittance_lab.scenarios.outcome import best_lag, rms

Row = dict[str, Any]  # what is known or measured of one case
Column = Callable[[list[Row], list[Row]], float]  # of the runs with the stabiliser, and without

OFF_THE_PATH = Limit.COLLISION | Limit.SINGULARITY | Limit.JOINT_POSITION | Limit.JOINT_VELOCITY | Limit.WORKSPACE
RING = 1.0  # [N] departure from the moving mean
SLOW = 0.5  # [s] of that mean
WINDOW = 2.0  # [s] at the end of a case
WIDE = {"max_linear_velocity": 1.0, "max_linear_acceleration": 20.0}  # the law is judged, not its limits
LONGEST_LAG = 0.06  # [s] that is taken off before the tool is compared with the ideal law
GUIDED = (*LAWS, "light_guiding")
DRAGGED = {  # poses of a UR5e [rad]: 270 mm both ways along each axis stay off singular poses
    "tool down": (-0.19, -1.69, 1.91, -1.79, -1.57, -1.76),
    "tool ahead": (0.05, -1.72, 1.80, -0.08, 1.62, -1.57),
    "tool tilted": (-0.74, -1.45, 1.64, -1.13, -2.07, -0.57),
}
DRAG_SPEED, MEASURED = 0.25, 1.6  # [m/s], [s] of the 400 mm
STARTS, EVENS_OUT = 0.4, 0.15  # [s] until the hand has that speed, and from then until force is measured


def pair(draft: Draft, **known: Any) -> list[tuple[Case, Row]]:
    """The case with the stabiliser, and without."""
    case = draft.finish(draft.time + 0.5).case
    off = replace(case, parameters=case.parameters.changed({"contact.stabilizer": False}))
    return [(case, known | {"on": True}), (off, known | {"on": False})]


def tremor(number: int) -> list[tuple[Case, Row]]:
    """0 to 4 N, with and without a mass of the hand."""
    cases = []
    for law in GUIDED:
        for newtons in range(5):
            draft = drawn("tremor", number, law)
            about = tremble(draft, newtons)
            weight = "massless" if about.startswith("0.00") else "0.3..3 kg"
            cases += pair(draft, row=f"{law}, {newtons} N, {weight}", about=about)
    return cases


def pushes(number: int) -> list[tuple[Case, Row]]:
    cases = []
    for law in GUIDED:
        for heavy in (False, True):
            draft = drawn("pushes", number, law)
            draft.choose(WIDE)
            oppose(draft, heavy)
            cases += pair(draft, row=f"{law}, {'0.3..2 kg' if heavy else 'massless'}", pushed=True)
    return cases


def taps(number: int) -> list[tuple[Case, Row]]:
    """On the free tool, or while a hand holds it; a second hand that pushes."""
    cases = []
    for law in GUIDED:
        for kind, times, held in (("taps", TAPS, False), ("taps, held", TAPS, True), ("two hands", SECOND_HAND, True)):
            draft = drawn("taps", number, law)
            touch(draft, times, held)
            cases += pair(draft, row=f"{law}, {kind}")
    return cases


def sliding(number: int) -> list[tuple[Case, Row]]:
    cases = []
    for name in PRESSING:
        for speed in (0.02, 0.05, 0.1):
            draft = drawn("sliding", number, name)
            begin, about = stroke(draft, speed)
            slides = (begin + 1.0, draft.time)
            cases.append(pair(draft, row=f"{name}, {1e3 * speed:.0f} mm/s", about=about, slides=slides)[0])
    return cases


def vibration(number: int) -> list[tuple[Case, Row]]:
    """A tool that vibrates before it touches and while it presses with 20 N, on a floor of 3 to 100 kN/m."""
    cases = []
    for newtons, frequency in ((0, 50), *((n, hz) for n in (5, 10, 20) for hz in (30, 50, 80, 120, 200))):
        draft = drawn("vibration", number, SHAKING[number // 2 % 3])
        start = shake(draft, newtons, frequency)
        slowly = round(SLOWLY * frequency) / frequency
        known = {"row": f"{newtons:2} N, {frequency:3} Hz", "shaken": (start, draft.time, slowly)}
        about = f"{SHAKING[number // 2 % 3]} {draft.environment.stiffness / 1e3:.0f} kN/m"
        cases.append(pair(draft, about=about, **known)[0])
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


def drag(number: int) -> list[tuple[Case, Row]]:
    """A UR5e; the hand takes the tool back by half of the distance, waits, and drags."""
    cases = []
    for law in GUIDED:
        for pose, q in DRAGGED.items():
            for axis, name in enumerate("xyz"):
                draft = drawn("drag", number, law)
                draft.robot, draft.model, draft.q = "ur5e", robot_model("ur5e"), np.array(q)
                draft.choose({"max_linear_velocity": 0.5})  # hand_guiding has 0.2 m/s
                seconds = 2.0 * STARTS + EVENS_OUT + MEASURED
                dragged = DRAG_SPEED * draft.period * np.cumsum(rising(seconds, STARTS, draft.period))
                back = -0.5 * dragged[-1] * blend(np.linspace(0.0, 1.0, round(4.0 / draft.period)))
                places = np.zeros((len(back) + round(1.0 / draft.period) + len(dragged), 3))
                places[:, axis] = back[-1]
                places[: len(back), axis] = back
                places[-len(dragged) :, axis] += dragged
                stiffness, damping = float(log_uniform(draft.rng, 300.0, 2000.0)), float(draft.rng.uniform(20.0, 60.0))
                grab(draft, places, stiffness, damping, float(draft.rng.uniform(0.3, 2.0)))
                start = draft.time - seconds
                known = {"row": f"{law}, {pose}, {name}", "dragged": (axis, start, start + STARTS + EVENS_OUT)}
                cases.append(pair(draft, about=f"{stiffness:.0f} N/m {damping:.0f} Ns/m", **known)[0])
    return cases


def measure(case: Case, trace: Trace, known: Row) -> Row:
    """What every judge asks, and what its own row needs."""
    period, script = trace.period, case.script
    chosen = max(case.parameters.admittance.effective_damping[:3])
    raised = trace.command["damping"][:, :3].max(axis=1) > RAISED * chosen
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
        found["limited"] = bool(np.any(trace.command["limits"][start:end] & int(OFF_THE_PATH)))
        found |= {"mean": float(off.mean()), "rms": rms(off), "max": float(np.abs(off).max())} if len(off) else {}
    if "shaken" in known:
        start, end, slowly = (round(seconds / period) for seconds in known["shaken"])
        slow_force = np.convolve(normal_force(case, trace)[start:end], np.full(slowly, 1.0 / slowly), "valid")
        found |= (
            {"swing": float(np.ptp(slow_force)), "mean": float(slow_force.mean()) - 20.0} if len(slow_force) else {}
        )
    if "dragged" in known:
        axis, begins, even = known["dragged"]
        parts = [slice(round(a / period), round(b / period)) for a, b in ((even, even + MEASURED), (begins, even))]
        force, speed = trace.hand[:, axis], np.gradient(trace.command["p_tcp"][:, axis], period)
        (drag, start), (paid, begun) = ([v[part] for part in parts] for v in (force, np.abs(force * speed)))
        found |= {"force": float(drag.mean()), "deviation": float(drag.std()), "most": float(drag.max())}
        found |= {"energy": float(paid.sum()) * period, "start": float(begun.sum()) * period}
        found["limited"] = bool(np.any(trace.command["limits"][parts[0]] != 0))
    rows, slow = round(WINDOW / period), round(SLOW / period)
    noise = NOISE * case.sensor.noise_force
    for name, wrench in (("ring", trace.contact), ("hand_ring", trace.hand)):
        found[name] = float(oscillation(wrench[-rows:, :3], slow).max()) - noise
    return known | found


def error(case: Case, trace: Trace) -> float:
    """RMS of the tool's velocity less that of the ideal mass and damper, over the RMS of the latter; NaN where the
    damping varies."""
    force, law = trace.hand[:, :3], case.parameters.admittance
    if law.travel_damping < 1.0:
        return math.nan
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
    """Of whatever kind: a hand that feels a stiff arm may also push it away from its command."""
    return sum(bool(a["stop"] and not b["stop"]) for a, b in zip(on, off, strict=True))


def velocity_error(rows: list[Row], off: list[Row]) -> float:
    """95th percentile [%] over the runs that meet no limit."""
    return 100.0 * share([a["error"] for a, b in zip(rows, off, strict=True) if not b["limited"]], 95.0)


STIFFENED: dict[str, Column] = {
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
    """Of those that kept their path."""
    return lambda on, off: share([abs(r[name]) for r in on if name in r and not r.get("limited")], percent)


JUDGES = {
    "tremor": Judge(tremor, STIFFENED | FELT, "raised 0 to 2 N, < 5 % at 3 N; false stops 0", lambda r: r["raised"]),
    "pushes": Judge(
        pushes,
        STIFFENED
        | {
            "free of limits": lambda on, off: sum(not r["limited"] for r in off),
            "v error 95 %": velocity_error,
            "v error 95 %, off": lambda on, off: velocity_error(off, off),
        },
        "raised 0; error within 1 point of off",
        lambda r: r["raised"],
    ),
    "taps": Judge(taps, STIFFENED | FELT, "raised 0; false stops 0", lambda r: r["raised"]),
    "sliding": Judge(
        sliding,
        {
            "on the path": lambda on, off: sum(not r["limited"] for r in on),
            "|mean| N median": quantile("mean", 50.0),
            "|mean| 95 %": quantile("mean", 95.0),
            "RMS N median": quantile("rms", 50.0),
            "RMS 95 %": quantile("rms", 95.0),
            "max N median": quantile("max", 50.0),
            "max 95 %": quantile("max", 95.0),
            "worst": quantile("max", 100.0),
            "left": lambda on, off: max([r["max"] for r in on if r["limited"]], default=0.0),
            "stops": STIFFENED["stops"],
        },
        "RMS 0.3 N at 20 mm/s, 0.5 N at 50 mm/s",
        lambda r: r.get("max", 0.0),
    ),
    "vibration": Judge(
        vibration,
        {
            "slow swing N median": quantile("swing", 50.0),
            "95 %": quantile("swing", 95.0),
            "worst": quantile("swing", 100.0),
            "|mean| 95 %": quantile("mean", 95.0),
            "mean worst": quantile("mean", 100.0),
            "stops": STIFFENED["stops"],
        },
        "swing and mean as without vibration (0 N), within 1 N",
        lambda r: r.get("swing", 0.0),
    ),
    "late": Judge(late, RINGS, "rings 0", rings),
    "drag": Judge(
        drag,
        {
            "free of limits": lambda on, off: sum(not r["limited"] for r in on),
            "force N": quantile("force", 50.0),
            "95 %": quantile("force", 95.0),
            "deviation N": quantile("deviation", 50.0),
            "energy J": quantile("energy", 50.0),
            "energy 95 %": quantile("energy", 95.0),
            "start J": quantile("start", 50.0),
            "raised": STIFFENED["raised"],
            "stops": STIFFENED["stops"],
        },
        "light_guiding 6 N and 2.4 J",
        lambda r: r.get("force", 0.0),
    ),
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
