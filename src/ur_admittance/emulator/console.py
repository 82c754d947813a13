"""Dashboard commands, answered as the robot does, and ``emulator ...`` commands for what happens around a robot:
buttons, fences, hands, broken cables. ``ur-emulator tell "emergency stop"`` sends one of the latter."""

import json
from collections.abc import Callable
from dataclasses import asdict

from ur_admittance.emulator.controller import Controller
from ur_admittance.emulator.program import PAUSED, PLAYING
from ur_admittance.emulator.safety import MODE_IDLE, MODE_POWER_OFF, MODE_RUNNING, StopKind

MODE_NAMES = {MODE_POWER_OFF: "POWER_OFF", MODE_IDLE: "IDLE", MODE_RUNNING: "RUNNING"}
EMULATOR = "emulator "

Answer = Callable[[Controller], str]


def _play(box: Controller) -> str:
    return "Starting program" if box.program.play() else "Failed to execute: play"


def _stop(box: Controller) -> str:
    box.program.end("dashboard", quiet=True)
    return "Stopped"


def _pause(box: Controller) -> str:
    box.program.pause()
    return "Pausing program"


def _power_on(box: Controller) -> str:
    if box.safety.robot_mode == MODE_POWER_OFF:
        box.safety.power(MODE_IDLE)
    return "Powering on"


def _power_off(box: Controller) -> str:
    box.safety.power(MODE_POWER_OFF)
    return "Powering off"


def _brake_release(box: Controller) -> str:
    box.safety.power(MODE_RUNNING)
    return "Brake releasing"


def _state(box: Controller) -> str:
    return {PLAYING: "PLAYING", PAUSED: "PAUSED"}.get(box.program.runtime_state, "STOPPED")


def _version(box: Controller) -> str:
    return f"URSoftware {'.'.join(str(part) for part in box.version)}.0 (ur_admittance emulator)"


DASHBOARD: dict[str, Answer] = {
    "polyscopeversion": _version,
    "version": _version,
    "get serial number": lambda box: "20200000001",
    "get robot model": lambda box: box.arm.model.name.upper().rstrip("E"),
    "is in remote control": lambda box: str(box.safety.remote_control).lower(),
    "robotmode": lambda box: f"Robotmode: {MODE_NAMES[box.safety.robot_mode]}",
    "safetymode": lambda box: f"Safetymode: {box.safety.stop.value[2]}",
    "safetystatus": lambda box: f"Safetystatus: {box.safety.stop.value[2]}",
    "programstate": lambda box: f"{_state(box)} rtde_control",
    "running": lambda box: f"Program running: {str(box.program.runtime_state == PLAYING).lower()}",
    "get loaded program": lambda box: "No program loaded",
    "issaved": lambda box: "true rtde_control",
    "isprogramsaved": lambda box: "true rtde_control",
    "get operational mode": lambda box: "NONE",
    "play": _play,
    "stop": _stop,
    "pause": _pause,
    "power on": _power_on,
    "power off": _power_off,
    "brake release": _brake_release,
    "unlock protective stop": lambda box: box.safety.unlock_protective_stop(),
    "close safety popup": lambda box: "closing safety popup",
    "close popup": lambda box: "closing popup",
    "restart safety": lambda box: "Restarting safety",
    "shutdown": lambda box: "Shutting down",
    "quit": lambda box: "Disconnected",
}
PREFIXES = {"load ": "Loading program: ", "popup ": "showing popup", "addtolog ": "Added log message"}


def answer(box: Controller, line: str) -> str:
    """The answer to one line. Never raises."""
    command = line.lower()
    if command.startswith(EMULATOR):
        return _emulator(box, command.removeprefix(EMULATOR).strip())
    if command in DASHBOARD:
        return DASHBOARD[command](box)
    for prefix, reply in PREFIXES.items():
        if command.startswith(prefix):
            return reply + line[len(prefix) :] if prefix == "load " else reply
    box.log("dashboard", f"could not understand {line[:80]!r}")
    return f"could not understand: '{line[:80]}'"


def _emulator(box: Controller, command: str) -> str:
    words = command.split()
    try:
        return _around(box, words)
    except (ValueError, IndexError):
        return f"error: could not understand {command[:80]!r}; say: emulator help"


HELP = (
    "protective stop | emergency stop | emergency release | safeguard stop | safeguard release | slider 0..1 | "
    "push fx fy fz tx ty tz [seconds] | let go | local control | remote control | unlock delay SECONDS | "
    "digital input 0..17 on/off | cut SECONDS | drop | reset | incident | mark TEXT | trace | counters | state | help"
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
    elif words[:2] == ["unlock", "delay"]:
        safety.unlock_delay = float(words[2])
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
    if text == "trace":  # cycles in which streamed commands were seen, since the last question
        seen = {"cycles": list(box.trace), "microseconds": [round(1e6 * delay) for delay in box.delays]}
        box.trace.clear()
        box.delays.clear()
        return json.dumps({"last": box.commands} | seen)
    if text == "state":
        arm = box.arm
        return json.dumps(
            {
                "time": box.time,
                "cycle": box.tick,
                "late": box.late_cycles,
                "q": arm.world.q.tolist(),
                "qd": arm.world.qd.tolist(),
                "target_q": arm.q_set.tolist(),
                "tcp_force": arm.tcp_force.tolist(),
                "true_wrench": arm.world.external_wrench.tolist(),
                "contact_force": arm.world.contact_wrench[:3].tolist(),
                "standing": arm.standing,
                "travel": arm.travel,
                "runtime_state": box.program.runtime_state,
                "watchdog_hz": box.program.watchdog_hz,
                "stop": box.safety.stop.name,
                "reason": box.safety.reason,
            }
        )
    if text == "help":
        return HELP
    raise ValueError
