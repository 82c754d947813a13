"""``emulator ...`` on the console and dashboard ports, for what happens around a robot: buttons, fences, hands, cables.
``ur-emulator tell "emergency stop"`` sends one."""

import json
from collections.abc import Callable
from dataclasses import asdict

from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.safety import StopKind


def obey(box: Controller, command: str) -> str:
    """The answer to what follows the word ``emulator``. Never raises."""
    words = command.split()
    try:
        return _around(box, words)
    except (ValueError, IndexError):
        return f"error: could not understand {command[:80]!r}; help lists all"


HELP = (
    "protective stop | emergency stop | emergency release | safeguard stop | safeguard release | slider 0..1 | "
    "push fx fy fz tx ty tz [seconds] | let go | local control | remote control | unlock delay SECONDS | "
    "digital input 0..17 on/off | first watchdog on/off | pace 0.01..10 | "
    "cut SECONDS | drop | reset | incident | mark TEXT | trace | counters | state | help"
)


def _around(box: Controller, words: list[str]) -> str:
    safety = box.safety
    simple: dict[str, Callable[[], object]] = {
        "protective stop": lambda: safety.trip(StopKind.PROTECTIVE, "asked for"),
        "emergency stop": lambda: safety.trip(StopKind.EMERGENCY, "button pressed"),
        "emergency release": lambda: safety.release(StopKind.EMERGENCY),
        "safeguard stop": lambda: safety.trip(StopKind.SAFEGUARD, "fence opened"),
        "safeguard release": lambda: safety.release(StopKind.SAFEGUARD),
        "let go": lambda: box.arm.world.let_go(),
        "local control": lambda: box.take_local_control(),
        "remote control": lambda: setattr(safety, "remote_control", True),
        "reset": lambda: box.reset(),
        "drop": lambda: box.request_drop(),
    }
    text = " ".join(words)
    if text in simple:
        simple[text]()
        return "ok"
    if words[0] == "slider":
        box.set_slider(float(words[1]))
    elif words[0] == "push":
        numbers = [float(word) for word in words[1:]]
        if len(numbers) not in (6, 7) or not all(abs(x) < 1e4 for x in numbers):
            raise ValueError
        box.push(numbers[:6], numbers[6] if len(numbers) == 7 else None)
    elif words[:2] == ["digital", "input"] and words[3:] in (["on"], ["off"]):
        box.set_digital_input(int(words[2]), words[3] == "on")
    elif words[:2] == ["first", "watchdog"] and words[2:] in (["on"], ["off"]):
        box.program.keeps_first_watchdog = words[2] == "on"
    elif words[:2] == ["unlock", "delay"]:
        safety.unlock_delay = float(words[2])
    elif words[0] == "pace":
        box.set_pace(float(words[1]))
    elif words[0] == "cut":
        box.request_cut(float(words[1]))
    elif words[0] == "mark":
        safety.begin_incident(text.removeprefix("mark "))
    else:
        return _report(box, text)
    return "ok"


def _report(box: Controller, text: str) -> str:
    """Questions; each answer is one line of JSON."""
    if text == "incident":
        return json.dumps(asdict(box.safety.incident) if box.safety.incident else None)
    if text == "counters":
        return json.dumps(dict(box.counters))
    if text == "trace":  # streamed commands since the last question: the cycle in which each was seen, its numbers
        microseconds = [round(1e6 * delay) for delay in box.delays]
        seen = {"last": box.commands, "cycles": [*box.trace], "microseconds": microseconds, "values": [*box.taken]}
        box.trace.clear()
        box.taken.clear()
        box.delays.clear()
        return json.dumps(seen)
    if text == "state":
        return json.dumps(box.state())
    if text == "help":
        return HELP
    raise ValueError
