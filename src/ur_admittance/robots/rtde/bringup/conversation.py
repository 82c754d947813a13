"""The conversation with the person at the arm: each step explained, asked for, shown, confirmed, and written down.

explain -> go on?  -> work -> show -> confirmed?  -> the next step
           skip why?                  repeat, skip why?
"""

import shlex

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.robots.rtde.bringup.bringup_report import DONE, MEASURED, SKIPPED
from ur_admittance.robots.rtde.bringup.moving import MOVING
from ur_admittance.robots.rtde.bringup.standing import STANDING
from ur_admittance.robots.rtde.bringup.step import Bench, Found, Step

STEPS: tuple[Step, ...] = (*STANDING, *MOVING)
NAMES = tuple(step.name for step in STEPS)
YES, REPEAT, SKIP, QUIT = "yrsq"


class Quit(Exception):
    """The person wants to go on another time."""


def talk(bench: Bench) -> bool:
    """Go through the steps that are neither done nor skipped. True: none is left; False: the person wants to go on
    another time."""
    try:
        for number, step in enumerate(STEPS, start=1):
            entry = bench.report.entries.get(step.name)
            if entry is not None and entry.state in (DONE, SKIPPED):
                bench.say(f"{number} of {len(STEPS)}  {step.title}: {entry.state}, {entry.when}")
                continue
            bench.say(f"\n{number} of {len(STEPS)}  {step.title}\n\n{step.words}")
            if entry is None:
                _do(bench, step)
            else:  # measured, but the program ended before it was confirmed
                _confirm(bench, step, Found(True, entry.lines, entry.changes))
    except Quit:
        return False
    return True


def _do(bench: Bench, step: Step) -> None:
    """Until it is done or skipped."""
    if step.moves:
        bench.say(step.moves)
        question = "Is the space clear, and your hand on the emergency stop? (y: yes, s: skip, q: quit)"
    else:
        question = "Enter: go on, s: skip, q: quit"
    if _choice(bench, question, YES + SKIP + QUIT, empty=not step.moves) == SKIP:
        _skip(bench, step, ())
        return
    bench.say("")
    try:
        found = step.work(bench)
    except UrAdmittanceError as error:
        found = Found(False, (str(error),))
    _confirm(bench, step, found)


def _confirm(bench: Bench, step: Step, found: Found) -> None:
    for line in found.lines:
        bench.say(f"  {line}")
    if found.cause:
        again = shlex.join(["--robot", bench.host, "--out", str(bench.report.path), "--from", found.cause])
        title = next(earlier.title for earlier in STEPS if earlier.name == found.cause)
        bench.say(f"  That belongs to an earlier step ({title}): q, then\n    ur-admittance bringup {again}")
    if found.good:
        bench.report.note(step.name, MEASURED, found.lines, found.changes)
        question, choices = f"{step.question} (y: yes, r: repeat, s: skip, q: quit)", YES + REPEAT + SKIP + QUIT
    else:
        question, choices = "That is not good yet. (r: repeat, s: skip, q: quit)", REPEAT + SKIP + QUIT
    choice = _choice(bench, question, choices)
    if choice == YES:
        bench.report.confirm(step.name, bench.report.about["by"])
    elif choice == SKIP:
        _skip(bench, step, found.lines)
    else:
        bench.report.forget([step.name])
        _do(bench, step)


def _skip(bench: Bench, step: Step, lines: tuple[str, ...]) -> None:
    reason = ""
    while not reason:
        reason = bench.ask("Why is it skipped? (goes into the report)").strip()
    bench.report.note(step.name, SKIPPED, (f"reason: {reason}", *lines), {}, bench.report.about["by"])


def _choice(bench: Bench, question: str, choices: str, empty: bool = False) -> str:
    """One of the letters; the empty answer only where it is harmless."""
    while True:
        answer = bench.ask(question).strip().lower()[:1]
        if answer == QUIT:
            raise Quit
        if (answer and answer in choices) or (empty and not answer):
            return answer
