"""Dashboard commands, answered as the robot does. Source: Universal Robots, Dashboard Server e-Series, port 29999."""

from collections.abc import Callable

from ur_admittance_lab.emulator import emulator_console as console
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.running_program import PAUSED, PLAYING, STOPPED
from ur_admittance_lab.emulator.safety import MODE_IDLE, MODE_POWER_OFF, MODE_RUNNING

MODE_NAMES = {MODE_POWER_OFF: "POWER_OFF", MODE_IDLE: "IDLE", MODE_RUNNING: "RUNNING"}
EMULATOR = "emulator "
UNNAMED = "<unnamed>"  # the program that is not loaded from a file
INSTALLATION = "default.installation"
OPERATIONAL_MODES = ("MANUAL", "AUTOMATIC")
USER_ROLES = ("PROGRAMMER", "OPERATOR", "NONE", "LOCKED", "RESTRICTED")

Answer = Callable[[Controller], str]
AnswerTo = Callable[[Controller, str], str]


def _play(box: Controller) -> str:
    if box.program.play():
        return "Starting program"
    if box.files.loaded is None or box.program.runtime_state != STOPPED or not box.safety.can_move:
        return "Failed to execute: play"
    box.program.upload(box.files.loaded.text)
    return "Starting program"


def _stop(box: Controller) -> str:
    box.program.end("dashboard", quiet=True)
    return "Stopped"


def _pause(box: Controller) -> str:
    box.program.pause()
    return "Pausing program" if box.program.runtime_state == PAUSED else "Failed to execute: pause"


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


def _restart_safety(box: Controller) -> str:
    box.safety.power(MODE_POWER_OFF)
    return "Restarting safety"


def _shutdown(box: Controller) -> str:
    box.shutdown = True
    return "Shutting down"


def _state(box: Controller) -> str:
    return {PLAYING: "PLAYING", PAUSED: "PAUSED"}.get(box.program.runtime_state, "STOPPED")


def _version(box: Controller) -> str:
    return ".".join(str(part) for part in (*box.version, 0))


def _program(box: Controller) -> str:
    return box.files.loaded.name if box.files.loaded else UNNAMED


def _loaded(box: Controller) -> str:
    return f"Loaded program: {box.files.loaded.name}" if box.files.loaded else "No program loaded"


def _clear_mode(box: Controller) -> str:
    box.operational_mode = "NONE"
    return "No longer controlling the operational mode. Current operational mode: 'NONE'."


DASHBOARD: dict[str, Answer] = {
    "polyscopeversion": lambda box: f"URSoftware {_version(box)} (ur_admittance emulator)",
    "version": _version,
    "get serial number": lambda box: "20200000001",
    "get robot model": lambda box: box.arm.model.name.upper().rstrip("E"),
    "is in remote control": lambda box: str(box.safety.remote_control).lower(),
    "robotmode": lambda box: f"Robotmode: {MODE_NAMES[box.safety.robot_mode]}",
    "safetymode": lambda box: f"Safetymode: {box.safety.stop.value[2]}",
    "safetystatus": lambda box: f"Safetystatus: {box.safety.stop.value[2]}",
    "programstate": lambda box: f"{_state(box)} {_program(box)}",
    "running": lambda box: f"Program running: {str(box.program.runtime_state == PLAYING).lower()}",
    "get loaded program": _loaded,
    "isprogramsaved": lambda box: f"true {_program(box)}",
    "get operational mode": lambda box: box.operational_mode,
    "clear operational mode": _clear_mode,
    "getuserrole": lambda box: box.user_role,
    "play": _play,
    "stop": _stop,
    "pause": _pause,
    "power on": _power_on,
    "power off": _power_off,
    "brake release": _brake_release,
    "unlock protective stop": lambda box: box.safety.unlock_protective_stop(),
    "close safety popup": lambda box: "closing safety popup",
    "close popup": lambda box: "closing popup",
    "restart safety": _restart_safety,
    "savelog": lambda box: "Log saved to disk" if box.files.save("log_history", box.state()) else NO_DISK,
    "shutdown": _shutdown,
    "quit": lambda box: "Disconnected",
}
NO_DISK = "Error: the emulator has no directory to write to; start it with --files"


def _load(box: Controller, path: str) -> str:
    if box.program.runtime_state != STOPPED:
        return f"Error while loading program: {path}"
    return f"Loading program: {path}" if box.files.load(path) else f"File not found: {path}"


def _load_installation(box: Controller, path: str) -> str:
    found = path.rpartition("/")[2] == INSTALLATION  # the only one: what the emulator was started with
    return f"Loading installation: {path}" if found else f"File not found: {path}"


def _set_mode(box: Controller, mode: str) -> str:
    if mode.upper() not in OPERATIONAL_MODES:
        return f"could not understand: 'set operational mode {mode}'"
    box.operational_mode = mode.upper()
    return f"Operational mode '{box.operational_mode}' is set"


def _set_role(box: Controller, role: str) -> str:
    if role.upper() not in USER_ROLES:
        return f"Failed setting user role: {role}"
    box.user_role = role.upper()
    return f"Setting user role: {box.user_role}"


def _say(kind: str, reply: str) -> AnswerTo:
    def answer_to(box: Controller, words: str) -> str:
        box.log(kind, words)
        return reply

    return answer_to


def _flight_report(box: Controller, kind: str) -> str:
    name = box.files.save("flight_report", box.state())
    return f"Flight Report generated with id:{name}" if name else NO_DISK


def _support_file(box: Controller, directory: str) -> str:
    name = box.files.save("support_file", box.state())
    return f"Completed successfully: {name}" if name else NO_DISK


WITH_WORDS: dict[str, AnswerTo] = {
    "load installation": _load_installation,
    "load": _load,
    "set operational mode": _set_mode,
    "setuserrole": _set_role,
    "popup": _say("popup", "showing popup"),
    "addtolog": _say("note", "Added log message"),
    "generate flight report": _flight_report,
    "generate support file": _support_file,
}
CB3_ONLY = ("setuserrole", "getuserrole")


def answer(box: Controller, line: str) -> str:
    """The answer to one line. Never raises."""
    command = line.lower()
    if command.startswith(EMULATOR):
        return console.obey(box, command.removeprefix(EMULATOR).strip())
    if command.startswith(CB3_ONLY) and box.version[0] > 3:
        return f"could not understand: '{line[:80]}'"
    if command in DASHBOARD:
        return DASHBOARD[command](box)
    for name, reply in WITH_WORDS.items():
        if command == name or command.startswith(name + " "):
            return reply(box, line[len(name) :].strip())
    box.log("dashboard", f"could not understand {line[:80]!r}")
    return f"could not understand: '{line[:80]}'"
