"""The kinds of episodes. Each function draws everything from the family's name and a number."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ur_admittance.errors import SimulationError
from ur_admittance.params import PRESETS, Parameters, preset
from ur_admittance_lab.campaign import draw, live
from ur_admittance_lab.campaign.campaign_episode import REPORTED, REST_WINDOW, Episode
from ur_admittance_lab.campaign.draft import Draft
from ur_admittance_lab.campaign.draw import RAMP, chance, direction, log_uniform, pick
from ur_admittance_lab.campaign.near_bodies import obstacles, stops
from ur_admittance_lab.campaign.people import late, pushes, strokes, taps, tremor, vibration
from ur_admittance_lab.campaign.surfaces import surface
from ur_admittance_lab.campaign.touching_families import contact, hand, sliding

NO_WRENCH = {"admittance.desired_wrench": [0.0] * 6}


def calm(draft: Draft) -> float | None:
    """Rise time of the pushes when all of them are smooth."""
    return draft.ramp if RAMP <= draft.ramp < math.inf else None


def free(number: int) -> Episode:
    """Pushes in free space, any pose, law and caps around the defaults; then it comes to rest."""
    draft = Draft("free", number)
    draft.choose_law()
    if chance(draft.rng, 0.1):
        draft.parameters = draft.with_devices(preset("hand_guiding"))
    begin = draft.time
    for _ in range(int(draft.rng.integers(1, 4))):
        draft.push(float(draft.rng.uniform(0.6, 1.5)))
        draft.wait(0.0, 0.5)
    end = draft.settled(draft.time - begin)
    return draft.finish(end, ramp=calm(draft), rest=end - REST_WINDOW)


def limits(number: int) -> Episode:
    """Hard pushes near singular poses with walls, narrow joint limits and low caps."""
    draft = Draft("limits", number, singular=0.6)
    rng = draft.rng
    draft.choose_law()
    if chance(rng, 0.6):
        draft.choose(draw.box(rng, draw.tcp_position(draft.model, draft.q, draft.tool)))
    if chance(rng, 0.5):
        draft.choose(draw.joint_limits(rng, draft.model, draft.q))
    begin = draft.time
    for _ in range(int(rng.integers(2, 5))):
        draft.push(float(rng.uniform(0.6, 1.5)))
    end = draft.settled(draft.time - begin)
    return draft.finish(end, ramp=calm(draft), rest=end - REST_WINDOW)


def reference(number: int) -> Episode:
    """The reference moves, desired wrenches come and go, a hand pushes meanwhile."""
    draft = Draft("reference", number)
    rng = draft.rng
    draft.choose_law()
    begin = draft.time
    for _ in range(int(rng.integers(1, 4))):
        seconds = float(rng.uniform(0.6, 1.5))
        fastest = draft.parameters.max_linear_velocity, draft.parameters.max_angular_velocity
        speed = np.concatenate([direction(rng) * rng.uniform(0.0, v) * pick(rng, (0.0, 0.3, 1.0)) for v in fastest])
        if chance(rng, 0.4):
            draft.wrench(seconds, [*direction(rng) * rng.uniform(1.0, 20.0), *direction(rng) * rng.uniform(0.0, 2.0)])
        if chance(rng, 0.4):
            draft.push(seconds, ramp=float(rng.uniform(RAMP, 0.3)))
            draft.time -= seconds
        draft.twist(seconds, speed)
        draft.wait(0.0, 0.5)
    draft.time += 0.5  # the desired wrench falls at 50 N/s
    end = draft.settled(draft.time - begin)
    return draft.finish(end, ramp=calm(draft), rest=end - REST_WINDOW)


def soft(number: int) -> Episode:
    """Arms with weak servos and a wrong payload setting sag and yield: they still come to rest."""
    draft = Draft("soft", number)
    rng = draft.rng
    weaker = np.array(draft.servo.stiffness_of(draft.model)) * log_uniform(rng, 0.05, 1.0)
    payload = max(0.0, draft.tool.mass + float(rng.uniform(-2.0, 2.0)))
    draft.servo = replace(draft.servo, stiffness=tuple(weaker.tolist()), payload=payload)
    draft.choose_law()
    begin = draft.time
    draft.push(float(rng.uniform(0.6, 1.5)))
    end = draft.settled(draft.time - begin)
    return draft.finish(end, rest=end - REST_WINDOW)


def faults(number: int) -> Episode:
    """Things break while the arm moves; it stops, says why, is reset and goes on. Also stopped and started by hand."""
    draft = Draft("faults", number)
    rng = draft.rng
    draft.choose_law()
    longest = draft.parameters.safety.wrench_timeout
    for _ in range(int(rng.integers(1, 3))):
        pushed = float(rng.uniform(0.6, 1.2))
        begin = draft.time
        draft.push(pushed)
        at = begin + float(rng.uniform(0.1, pushed))
        kind = pick(rng, (*REPORTED, "deactivate", "latch"))
        if kind == "deactivate":
            draft.act("deactivate", at, lambda script, at: script.deactivate(at))
        elif kind == "latch":
            draft.act("latch the reference", at, lambda script, at: script.latch_reference(at))
        else:
            short = "lost" in kind and chance(rng, 0.25)
            draft.fault(kind, at, float(rng.uniform(0.01, 0.8 * longest) if short else rng.uniform(0.1, 0.6)))
            if chance(rng, 0.2):
                draft.act("activate, too early", at + 0.07, lambda script, at: script.activate(at, accept_load=True))
        draft.time += float(rng.uniform(1.5, 2.0))  # it stops: from 1 m/s at 1 m/s2 within a second
        draft.act("reset the fault", draft.time, lambda script, at: script.reset_fault(at))
        draft.act("activate", draft.time + 0.05, lambda script, at: script.activate(at, accept_load=True))
        draft.time += 0.2
    end = draft.settled(1.2)
    return draft.finish(end, rest=end - REST_WINDOW)


def parameters(number: int) -> Episode:
    """Parameters change while the arm runs: untouched it does not move, pushed it keeps its limits."""
    draft = Draft("parameters", number)
    rng = draft.rng
    still = chance(rng, 0.5)
    draft.choose_law()
    begin = draft.time
    if not still:
        draft.push(float(rng.uniform(2.0, 3.0)))
    end = begin + 3.0
    now, slowest = draft.parameters, draw.settling(draft.parameters)
    for at in np.sort(rng.uniform(begin, begin + 2.0, int(rng.integers(1, 5)))).tolist():
        words, changes = live_change(draft)
        if words in PRESETS:
            now = draft.parameters.changed(preset(words).flat() | kept(draft.parameters) | changes)
        else:
            now = now.changed(changes)
        draft.change(at, now, words)
        slowest = max(slowest, draw.settling(now))
    end += slowest + 1.5 + REST_WINDOW
    return draft.finish(end, rest=end - REST_WINDOW, still=still)


def kept(parameters: Parameters) -> dict[str, Any]:
    """What a preset does not replace: devices, and the rate, which is fixed while the controller runs."""
    own = ("control_rate", "gravity", "robot.response_time", "tool.", "sensor.")
    return {name: value for name, value in parameters.flat().items() if name.startswith(own)}


def live_change(draft: Draft) -> tuple[str, dict[str, Any]]:
    """(words, changes) that ask for no motion; a preset is given by its name."""
    rng = draft.rng
    kind = pick(rng, ("law", "caps", "frame", "preset", "tcp", "any", "any", "any"))
    if kind == "any":
        while True:
            name = str(pick(rng, live.calm_names()))
            changed = live.one_change(rng, name, draft.parameters, draft.model, draft.q)
            if draw.settling(changed) <= draw.LONGEST_SETTLING:
                return name, {name: changed.flat()[name]}
    if kind == "law":
        while True:
            changes = draw.law(rng, draft.tool, draft.sensor)
            changes.pop("admittance.filter_cutoff_hz", None)
            if draw.settling(draft.parameters.changed(changes)) <= draw.LONGEST_SETTLING:
                return "the law", changes
    if kind == "caps":
        return "the caps", draw.caps(rng)
    if kind == "frame":
        return "the control frame", draw.frame(rng)
    if kind == "tcp":
        moved = np.array(draft.parameters.tool.tcp) + [*rng.uniform(-0.1, 0.1, 3), *rng.uniform(-0.3, 0.3, 3)]
        return "tool.tcp", {"tool.tcp": moved.tolist()}
    name = str(pick(rng, PRESETS))
    law = preset(name).admittance
    quiet = draw.thresholds(draft.sensor, law.min_motion_threshold, law.min_motion_threshold_torque)
    return name, NO_WRENCH | {"admittance.force_axes": [False] * 6} | quiet


def extremes(number: int) -> Episode:
    """Any parameters that the schema accepts, over many powers of ten: what holds for every number is checked."""
    draft = Draft("extremes", number, singular=0.4)
    rng = draft.rng

    def six(low: float, high: float) -> list[float]:
        return [float(x) for x in log_uniform(rng, low, high, 6)]

    draft.choose(draw.caps(rng), draw.frame(rng))
    draft.choose(
        {
            "admittance.mass": six(1e-2, 1e4),
            "admittance.damping": six(1e-2, 1e5),
            "admittance.stiffness": (np.array(six(1e-2, 1e6)) * (rng.random(6) < 0.5)).tolist(),
            "admittance.integrator": pick(rng, ("exact", "exact", "rk4", "semi_implicit_euler")),
            "admittance.filter_cutoff_hz": float(log_uniform(rng, 1e-1, 1e5)),
            "admittance.min_motion_threshold": float(pick(rng, (0.0, log_uniform(rng, 1e-3, 1e2)))),
            "admittance.force_axes": (rng.random(6) < 0.2).tolist(),
            "admittance.enabled_axes": (rng.random(6) < 0.8).tolist(),
            "admittance.desired_wrench": (np.array(six(1e-1, 1e2)) * rng.choice([-1, 0, 0, 1], 6)).tolist(),
            "admittance.desired_wrench_rate": [float(log_uniform(rng, 1e-1, 1e4))] * 2,
            "admittance.bias_time": float(pick(rng, (0.0, log_uniform(rng, 1e-3, 10.0)))),
            "admittance.stiffness_engagement_time": float(pick(rng, (0.0, log_uniform(rng, 1e-3, 10.0)))),
            "admittance.travel_damping": float(rng.uniform(0.01, 1.0)),
            "tracking.velocity_gain": [float(pick(rng, (0.0, log_uniform(rng, 1e-2, 50.0))))] * 6,
            "contact.max_damping": [float(log_uniform(rng, 1e2, 1e6)), float(log_uniform(rng, 1.0, 1e4))],
            "max_linear_velocity": float(log_uniform(rng, 1e-4, 1e2)),
            "max_angular_velocity": float(log_uniform(rng, 1e-4, 1e2)),
            "max_linear_acceleration": float(log_uniform(rng, 1e-2, 1e3)),
            "max_angular_acceleration": float(log_uniform(rng, 1e-1, 1e4)),
            "joint_limits.acceleration": six(1e-1, 1e3),
            "safety.max_force": float(log_uniform(rng, 1.0, 1e4)),
            "safety.max_torque": float(log_uniform(rng, 0.1, 1e4)),
        }
    )
    if chance(rng, 0.3):
        draft.choose(draw.box(rng, draw.tcp_position(draft.model, draft.q, draft.tool)))
    for _ in range(int(rng.integers(1, 4))):
        draft.push(float(rng.uniform(0.3, 1.5)))
    return draft.finish(draft.time + 1.0)


FAMILIES: dict[str, Callable[[int], Episode]] = {
    family.__name__: family
    for family in (
        free,
        limits,
        obstacles,
        reference,
        contact,
        sliding,
        surface,
        hand,
        tremor,
        pushes,
        taps,
        strokes,
        vibration,
        late,
        soft,
        faults,
        stops,
        parameters,
        extremes,
    )
}


def episode(family: str, number: int) -> Episode:
    """The episode of that family and number: always the same."""
    if family not in FAMILIES:
        raise SimulationError(f"family {family!r} is unknown: choose from {', '.join(FAMILIES)}.")
    return FAMILIES[family](number)
