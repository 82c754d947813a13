"""The right status: faults are reported in time and for what they are, nothing else stops the arm, modes change only on
request, and the arm then stops in time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import STANDSTILL, Mode, Request, Status
from ur_admittance_lab.campaign.campaign_episode import REPORTED, Fault
from ur_admittance_lab.campaign.motion_checks import unfit
from ur_admittance_lab.campaign.view import Reading, View

Flags = NDArray[np.bool_]

CYCLES = 2  # to notice a fault: the one in which it happens, and the one whose tick is next
STOPPING = 1.3  # braking plans with 90 % of the joint accelerations, and the levers change on the way
GRAVITY = 9.9  # [m/s2]
TIGHT = 0.1  # [m, rad] a lower safety.max_*_error may be exceeded by lag alone
IMMEDIATE = ("nan_wrench", "nan_joints", "protective_stop")


def status(v: View) -> Iterator[Reading]:
    lost = unfit(v)
    mode = v.command["mode"]
    active = lost & (mode == Mode.ACTIVE)
    yield _count(v, "active_while_lost", active)
    yield from faults(v)
    entered = np.flatnonzero((mode[1:] == Mode.FAULT) & (mode[:-1] != Mode.FAULT)) + 1
    unexplained = np.zeros(len(mode), dtype=bool)
    for k in entered:
        unexplained[k] = not (lost[k] or explained(v, int(k)))
    yield _count(v, "stop_without_reason", unexplained)
    if v.episode.unstopped:
        yield _count(v, "needless_stop", np.isin(np.arange(len(mode)), entered))
    yield _count(v, "life_cycle", wrong_changes(v, lost))
    yield from stops(v)


def _count(v: View, check: str, wrong: Flags) -> Reading:
    return Reading(check, float(np.count_nonzero(wrong)), 0.0, "cycles", float(np.argmax(wrong)) * v.period)


def faults(v: View) -> Iterator[Reading]:
    """Each injected fault that lasts: reported as itself, in time."""
    for fault in v.episode.faults:
        first, allowed = v.row(fault.start), _time_to_notice(v, fault)
        if first >= len(v.command) or v.command["mode"][first - 1] != Mode.ACTIVE:
            continue
        if fault.end - fault.start <= allowed + CYCLES * v.period:
            continue  # over before it must be noticed
        part = v.command[first : v.row(fault.end)]
        hits = np.flatnonzero(part["mode"] == Mode.FAULT)
        late = float(hits[0]) * v.period if len(hits) else fault.end - fault.start
        yield Reading("fault_noticed", late, allowed + CYCLES * v.period, "s", fault.start)
        if len(hits):
            stops = {int(part["status"][hits[0]])}
            wrong = not stops <= {int(status) for status in REPORTED[fault.kind]}
            wrong = wrong and not explained(v, first + int(hits[0]))  # something else came first
            yield Reading("fault_named", float(wrong), 0.0, "", fault.start)


def _time_to_notice(v: View, fault: Fault) -> float:
    if fault.kind in IMMEDIATE:
        return 0.0
    safety = v.episode.case.parameters.safety
    return safety.wrench_timeout if fault.kind == "wrench_lost" else safety.joint_state_timeout


def stops(v: View) -> Iterator[Reading]:
    """Time from leaving the active mode to standstill, over what the slowest of the limits needs."""
    mode, qd, twist = v.command["mode"], np.abs(v.command["qd"]), v.command["twist"]
    for k in np.flatnonzero((mode[1:] != Mode.ACTIVE) & (mode[:-1] == Mode.ACTIVE)) + 1:
        p: Any = v.sets[v.index[k]]
        speeds = np.linalg.norm(twist[k - 1].reshape(2, 3), axis=1)
        needed = max(np.max(qd[k - 1] / p["joint_acceleration"]), np.max(speeds / p["max_acceleration"]))
        bound = STOPPING * float(needed) + (CYCLES + 1) * v.period
        if (k + 1) * v.period + bound > len(mode) * v.period:
            continue  # the episode ends first
        moving = (qd[k:] > STANDSTILL).any(axis=1) & (np.cumsum(mode[k:] == Mode.ACTIVE) == 0)
        yield Reading("stop_time", float(np.count_nonzero(moving)) * v.period, bound, "s", float(k) * v.period)


def explained(v: View, k: int) -> bool:
    """Does the reading, or a tight limit, explain the stop of cycle k?"""
    p: Any = v.sets[v.index[k]]
    command, sample = v.command[k], v.sample[k]
    raw = p["sensor_sign"] * sample["wrench"] - p["sensor_bias"]
    tool = v.episode.case.tool
    # What gravity and the tool's own inertia may take off or add to the reading [N].
    other = tool.mass * (GRAVITY + 2.0 * float(p["max_acceleration"][0]))
    force = float(np.linalg.norm(raw[:3])) + other
    if command["status"] == Status.OVER_FORCE:
        return bool(force >= p["max_force"])
    if command["status"] == Status.OVER_TORQUE:
        lever = float(np.linalg.norm(p["p_tcp_sensor"])) + float(np.linalg.norm(p["tool_com"]))
        return bool(np.linalg.norm(raw[3:]) + lever * force >= p["max_torque"])
    if command["status"] == Status.POSITION_ERROR:
        return bool(p["max_position_error"] < TIGHT)
    if command["status"] == Status.ORIENTATION_ERROR:
        return bool(p["max_orientation_error"] < TIGHT)
    if command["status"] == Status.NOT_FOLLOWING:
        return bool(np.abs(v.command["q"][k - 1] - sample["q"]).max() > p["max_following_error"])
    return False


def wrong_changes(v: View, lost: Flags) -> Flags:
    """Cycles in which the mode is not what the last mode, the requests and the faults allow."""
    mode, request = v.command["mode"], v.sample["request"]
    before = np.concatenate([[Mode.INACTIVE], mode[:-1]])
    qd = np.vstack([np.zeros(6), v.command["qd"][:-1]])
    stopped = (np.abs(qd) <= STANDSTILL).all(axis=1)
    trouble = lost | (v.command["status"] != Status.OK)

    def asked(what: Request) -> Flags:
        return np.asarray((request & int(what)) != 0)

    wrong = (mode == Mode.ACTIVE) & (before != Mode.ACTIVE) & ~asked(Request.ACTIVATE)
    wrong |= (before == Mode.FAULT) & (mode != Mode.FAULT) & ~asked(Request.RESET_FAULT)
    wrong |= (before == Mode.ACTIVE) & ((mode == Mode.STOPPING) | (mode == Mode.INACTIVE)) & ~asked(Request.DEACTIVATE)
    wrong |= (before == Mode.INACTIVE) & (mode != Mode.ACTIVE) & asked(Request.ACTIVATE) & ~trouble
    wrong |= (before == Mode.ACTIVE) & (mode == Mode.ACTIVE) & asked(Request.DEACTIVATE)
    wrong |= (before == Mode.FAULT) & (mode == Mode.FAULT) & asked(Request.RESET_FAULT) & ~lost & stopped & _calm(v)
    return np.asarray(wrong)


def _calm(v: View) -> Flags:
    """Cycles with a reading well inside the force and torque limits: these do not keep a fault from its reset."""
    p = v.sets[0]
    tool, force = v.episode.case.tool, np.linalg.norm(v.trace.hand[:, :3] + v.trace.contact[:, :3], axis=1)
    return np.asarray(force + tool.mass * GRAVITY < 0.5 * p["max_force"])
