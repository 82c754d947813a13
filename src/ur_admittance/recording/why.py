"""Why did it stop? A recording explained in plain words."""

import numpy as np

from ur_admittance.control.response_check import response_warning
from ur_admittance.core.enabling import HELD
from ur_admittance.core.faults import remedy, sentence
from ur_admittance.core.leader import WORDS as LEADERS
from ur_admittance.core.leader import Leader
from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import PARAMS, STANDSTILL, Limit, Mode, Status
from ur_admittance.params.own_motion import own_motion
from ur_admittance.recording.log import Log

RETREATS = (Status.RETREATING, Status.RETREATED, Status.RETREAT_BLOCKED, Status.RETREAT_ENDED, Status.RETREAT_CLOSED)
TOLD = (Mode.FAULT, Mode.ACTIVE)  # modes whose status changes too: a retreat, an arm that is held
BEFORE_S = 0.5  # what happened this long before a fault is reported too


def why(log: Log) -> str:
    """The story of a recording: each change of mode with its reason, the faults with what led to them, how it ended."""
    if len(log.ticks) == 0:
        return f"The recording contains no cycles. {log.lacks or 'The controller never ran.'}"
    lines = [_overview(log)]
    for i, (words, *details) in told(log):
        lines += [f"{log.seconds[i]:9.3f} s  {words}", *(f"             {line}" for line in details)]
    lines += _slowed_down(log)
    lines += _late(log)
    lines.append(_ending(log))
    return "\n".join(lines)


def told(log: Log) -> list[tuple[int, list[str]]]:
    """What changed: the cycle, and one line about it with lines of details, in order."""
    mode, status = np.asarray(log.ticks["command"]["mode"]), np.asarray(log.ticks["command"]["status"])
    changed = np.diff(mode).astype(bool) | (np.diff(status).astype(bool) & np.isin(mode[1:], TOLD))
    changes = [0, *(np.flatnonzero(changed) + 1).tolist()]
    by_itself = _by_itself(log)
    found = []
    for i in sorted({*changes, *by_itself}):
        if i in changes:
            lines = [mode_words(log.ticks["command"][i])]
            if mode[i] == Mode.ACTIVE and status[i] in HELD:
                lines += _stop(log, i)
            if mode[i] == Mode.FAULT and (i == 0 or mode[i - 1] != Mode.FAULT):
                lines += _before_fault(log, i)
            found.append((i, lines))
        if i in by_itself:
            found.append((i, [by_itself[i]]))
    return found


def _late(log: Log) -> list[str]:
    """Whether the arm answered at another time than configured, as of the end."""
    command = log.ticks["command"][-1]
    if "response_seen" not in (command.dtype.names or ()) or not log.params:  # of an earlier version, or cut short
        return []
    configured = log.params[max(log.params)]["response_time"]
    warning = response_warning(float(command["response_seen"]), float(configured))
    return [f"{warning[0].upper()}{warning[1:]}."] if warning else []


def _overview(log: Log) -> str:
    parts = [f"{log.path.name}: {log.seconds[-1]:.1f} s, {len(log.ticks)} cycles"]
    if log.about.get("model"):
        parts.append(str(log.about["model"]))
    loop = log.ticks["loop"][-1]
    if loop["missed"]:
        parts.append(f"{int(loop['missed'])} deadlines missed")
    line = ", ".join(parts)
    return f"{line}\n{log.lacks}" if log.lacks else line


def mode_words(command: np.void) -> str:
    """What the arm does, and why."""
    mode, status = Mode(int(command["mode"])), int(command["status"])
    reason = sentence(status, command["evidence"])
    if mode == Mode.FAULT:
        return reason if status in RETREATS else f"stopped: {reason}"
    words = {
        Mode.ACTIVE: "active: the arm obeys forces",
        Mode.INACTIVE: "inactive: holds",
        Mode.STOPPING: "slows down on request",
    }[mode]
    if mode == Mode.ACTIVE and status in HELD:
        return f"active, but {reason}"
    return words if status == Status.OK else f"{words} ({reason})"


def _by_itself(log: Log) -> dict[int, str]:
    """Where the arm began, or ceased, to move although nobody pushed it, and why."""
    mode, leader = log.ticks["command"]["mode"], log.ticks["loop"]["leader"]
    known = [i for i, params in log.params.items() if set(PARAMS.names or ()) <= set(params.dtype.names or ())]
    places = sorted({*known, *(np.flatnonzero(np.diff(leader) | np.diff(mode)) + 1).tolist(), 0})
    told, last = {}, ""
    for i in places:
        in_force = max((k for k in known if k <= i), default=None)
        active = mode[i] == Mode.ACTIVE
        alone = own_motion(log.params[in_force]) if active and in_force is not None else ""
        words = "; ".join(each for each in (alone, LEADERS[Leader(int(leader[i]))] if active else "") if each)
        if words != last and (words or active):
            told[i] = words or "moves only when it is pushed"
        last = words
    return told


def _before_fault(log: Log, i: int) -> list[str]:
    """What led to it: force, speed and limits in the half second before, the braking after, and how to recover."""
    seconds, command = log.seconds, log.ticks["command"]
    window = (seconds >= seconds[i] - BEFORE_S) & (seconds <= seconds[i])
    force = float(np.linalg.norm(command["wrench_tcp"][window, :3], axis=1).max())
    speed = float(np.linalg.norm(command["twist"][window, :3], axis=1).max())
    lines = [f"in the {BEFORE_S:g} s before: force up to {force:.1f} N, tool speed up to {speed:.3f} m/s"]
    if int(command["status"][i]) == Status.LOOP_OVERRUN:
        pause = float(log.ticks["loop"]["period"][window].max())
        lines.append(f"the longest pause between two cycles was {1e3 * pause:.0f} ms")
    flags = int(np.bitwise_or.reduce(command["limits"][window]))
    names = [str(limit.name).lower().replace("_", " ") for limit in Limit if limit and limit & flags]
    if names:
        lines.append(f"limits that acted: {', '.join(names)}")
    lines += _stop(log, i)
    lines.append(remedy(int(command["status"][i])))
    return [line for line in lines if line]


def _stop(log: Log, i: int) -> list[str]:
    """When its command was at rest, and how far the tool went until then; nothing where it stood."""
    seconds, command = log.seconds, log.ticks["command"]
    still = np.flatnonzero(np.abs(command["qd"][i:]).max(axis=1) <= STANDSTILL)
    if not len(still) or not still[0]:
        return []
    went = float(np.linalg.norm(command["p_tcp"][i + still[0]] - command["p_tcp"][i]))
    return [f"the arm was at rest {1e3 * (seconds[i + still[0]] - seconds[i]):.0f} ms later, {1e3 * went:.0f} mm on"]


def _slowed_down(log: Log) -> list[str]:
    """Each pair of bodies that slowed the arm down: for how long, and how near it came."""
    command = log.ticks["command"]
    if "near" not in (command.dtype.names or ()):  # an older recording
        return []
    acted = (np.asarray(command["limits"]) & int(Limit.COLLISION) != 0) & (command["near"][:, 0] > 0)
    lines = []
    for pair in np.unique(command["near"][acted], axis=0):
        rows = np.flatnonzero(acted & (command["near"] == pair).all(axis=1))
        words = pair_words(pair, float(command["near_distance"][rows].min()))
        lines.append(f"{log.seconds[rows[0]]:9.3f} s  slowed down: {words} at the nearest, in {len(rows)} cycles")
    return lines


def _ending(log: Log) -> str:
    last = log.ticks["command"][-1]
    moving = float(np.abs(last["qd"]).max()) > STANDSTILL
    if log.complete:
        return "The recording ends " + ("while the arm moves." if moving else "with the arm at rest.")
    moved = "moving" if moving else "at rest"
    return (
        f"The file was cut off, or its end is damaged: at {log.seconds[-1]:.3f} s the arm was {moved}, what came then "
        "is not known (after a kill it is half a second at most)."
    )
