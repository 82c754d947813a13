"""Episodes on a surface: pressed on by a force axis, held or free sideways, led by a path, by a hand or by nobody."""

import math
from dataclasses import replace

import numpy as np

from ur_admittance.params import preset
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.campaign.campaign_episode import STEADY_WINDOW, Episode
from ur_admittance_lab.campaign.draft import Draft
from ur_admittance_lab.campaign.draw import chance, log_uniform, pick
from ur_admittance_lab.campaign.touching_families import FALLING, STARTING, bent, on_the_surface

SETTLING = 2.0  # [s] from the touch, or from the end of the path, until the force must be steady
FOUND = 1.5  # [s] of sliding until slope and friction must be known
LONGEST = 0.12  # [m] slid at most
STEEPEST = 0.35  # [rad]
HELD = [False, False, True, False, False, False]
FREE = [True, True, True, False, False, False]


def surface(number: int) -> Episode:
    """A preset presses the tool on, held or free sideways: at rest, led by a path or a hand, at rest again."""
    draft = Draft("surface", number)
    rng = draft.rng
    draft.quieter()
    bent(draft)
    draft.servo = replace(draft.servo, delay=1e-3 * int(rng.integers(4, 21)))
    _under(draft)
    name, leads = pick(rng, ("surface_following", "polishing")), pick(rng, ("path", "path", "hand", "nobody"))
    free = leads != "path" or chance(rng, 0.5)
    draft.parameters = draft.with_devices(preset(name).changed({"admittance.enabled_axes": FREE if free else HELD}))
    draft.story.append(f"parameters: {name}, {'free' if free else 'held'} sideways, led by {leads}")
    approach = draft.parameters.contact.approach_speed[0]
    depth = draft.parameters.admittance.desired_wrench[2] / draft.environment.stiffness
    draft.time += (draft.environment.gap + depth) / approach + SETTLING
    windows, slides = [draft.time], None
    draft.time += STEADY_WINDOW
    if leads != "nobody":
        begin, seconds = draft.time, _slide(draft, leads, approach)
        slides = begin + FOUND, begin + seconds - STARTING
        windows.append(draft.time + SETTLING)
        draft.time += SETTLING + STEADY_WINDOW
    return draft.finish(draft.time + 0.1, residual=tuple(windows), sliding=slides)


def _under(draft: Draft) -> None:
    """The surface, 3 to 12 mm below the tool."""
    rng = draft.rng
    kind, stiffness = pick(rng, ("floor", "incline", "cylinder")), float(log_uniform(rng, 1e3, 1e5))
    friction = float(pick(rng, (0.0, rng.uniform(0.0, 0.4), rng.uniform(0.0, 0.4))))
    draft.environment = Environment(
        kind,
        stiffness,
        friction=friction,
        gap=float(rng.uniform(0.003, 0.012)),
        angle=float(rng.uniform(-STEEPEST, STEEPEST)) if kind == "incline" else 0.0,
        radius=float(rng.uniform(0.3, 1.0)),
    )
    draft.story.append(f"{kind} of {stiffness / 1e3:.3g} kN/m, friction {friction:.2f}")


def _slide(draft: Draft, leads: str, approach: float) -> float:
    """Along any direction of the horizontal plane; returns how long [s]."""
    rng = draft.rng
    angle, seconds = rng.uniform(0.0, 2.0 * math.pi), float(rng.uniform(4.0, 5.0))
    slope = abs(math.tan(draft.environment.angle))
    speed = min(float(log_uniform(rng, 0.005, 0.05)), LONGEST / seconds, FALLING * approach / max(slope, 1e-3))
    along = np.array([math.cos(angle), math.sin(angle), 0.0, 0.0, 0.0, 0.0])
    if leads == "hand":
        along = on_the_surface(draft, along)
        stiffness, damping = float(log_uniform(rng, 300.0, 2000.0)), float(rng.uniform(20.0, 60.0))
        places = np.array([0.0 * along, speed * seconds * along, speed * seconds * along])
        held = seconds + SETTLING + STEADY_WINDOW
        draft.lead([0.0, seconds, held], places, (stiffness, 30.0), (damping, 1.0))
        draft.time -= SETTLING + STEADY_WINDOW
    else:
        draft.twist(seconds, speed * along, ramp=STARTING)
    return seconds
