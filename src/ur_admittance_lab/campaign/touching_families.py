"""Episodes with something to touch: force control, sliding along surfaces, a hand that holds the tool."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.params import Parameters, preset
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.campaign.campaign_episode import REST_WINDOW, STEADY_WINDOW, Episode
from ur_admittance_lab.campaign.draft import Draft
from ur_admittance_lab.campaign.draw import chance, log_uniform, pick

Array = NDArray[np.float64]

FALLING = 0.5  # share of the approach speed with which a surface may fall away under a sliding tool: it has to catch up
STARTING = 0.5  # [s] in which a path starts and stops
SETTLED = 5.0  # time constants D / K until a force is within 1 %
STABILISED = 0.15  # [s] time constant that the stabiliser leaves on stiff surfaces
TRIES = 100  # poses; most arms are strong enough in the first


def surface(draft: Draft, *kinds: str) -> None:
    """Something to touch, 3 to 12 mm below (floor, incline, cylinder) or in front of (wall) the tool."""
    rng = draft.rng
    kind, stiffness = pick(rng, kinds), float(log_uniform(rng, 1e3, 3e5))
    options: dict[str, Any] = {"gap": float(rng.uniform(0.003, 0.012)), "friction": float(rng.uniform(0.05, 0.4))}
    if kind == "incline":
        draft.environment = Environment.incline(float(rng.uniform(-0.35, 0.35)), stiffness, **options)
    elif kind == "cylinder":
        draft.environment = Environment.cylinder(float(rng.uniform(0.3, 1.0)), stiffness, **options)
    else:
        draft.environment = {"floor": Environment.floor, "wall": Environment.wall}[kind](stiffness, **options)
    draft.story.append(f"{kind} of {stiffness / 1e3:.3g} kN/m, {1e3 * options['gap']:.1f} mm away")


def bent(draft: Draft) -> None:
    """A working pose: the arm in front, elbow and wrist well bent."""
    for _ in range(TRIES):
        draft.q = np.array(draft.model.home) + draft.rng.uniform(-0.45, 0.45, 6)
        if draft.is_strong_enough():
            return


def pressing(rng: np.random.Generator) -> dict[str, Any]:
    """Force control along z: mass, damping and force around the presets'."""
    z = [False, False, True, False, False, False]
    free_sideways = chance(rng, 0.3)
    return {
        "admittance.mass": [float(log_uniform(rng, 2.0, 10.0))] * 3 + [float(log_uniform(rng, 0.2, 1.0))] * 3,
        "admittance.damping": [float(log_uniform(rng, 60.0, 1000.0))] * 3 + [float(log_uniform(rng, 5.0, 30.0))] * 3,
        "admittance.enabled_axes": [free_sideways, free_sideways, True, False, False, False],
        "admittance.force_axes": z,
        "admittance.desired_wrench": [0.0, 0.0, float(rng.uniform(3.0, 25.0)), 0.0, 0.0, 0.0],
        "admittance.bias_time": float(pick(rng, (0.0, rng.uniform(0.2, 1.0)))),
        "contact.approach_speed": [float(rng.uniform(0.005, 0.03)), 0.2],
    }


def contact(number: int, family: str = "contact") -> Episode:
    """Force control onto surfaces of 1 to 300 kN/m: the force settles and does not oscillate."""
    draft = Draft(family, number)
    rng = draft.rng
    draft.quieter()
    bent(draft)
    surface(draft, "floor", "floor", "incline", "cylinder")
    name = pick(rng, ("assembly", "polishing", "probe_contact", "surface_following", None, None, None, None))
    chosen = preset(name) if name else Parameters().changed(pressing(rng))
    draft.story.append(f"parameters: {name or 'drawn'}")
    draft.parameters = draft.with_devices(chosen)
    approach = draft.environment.gap / draft.parameters.contact.approach_speed[0]
    draft.time += approach + 2.5
    end = draft.time + STEADY_WINDOW
    start = end - STEADY_WINDOW - 0.1
    return draft.finish(end, steady=start, residual=(start,) if settles(draft, 2.4) else ())


def settles(draft: Draft, seconds: float) -> bool:
    """Has the law pressed the tool in, and the force settled, that long after the touch?"""
    law, stiffness = draft.parameters.admittance, draft.environment.stiffness
    sinking = law.desired_wrench[2] / stiffness / draft.parameters.contact.approach_speed[0]
    return sinking + SETTLED * max(law.effective_damping[2] / stiffness, STABILISED) < seconds


def sliding(number: int) -> Episode:
    """Pressed onto a surface and led along it by a path or by a hand; then it stops there."""
    draft = Draft("sliding", number)
    rng = draft.rng
    draft.quieter()
    bent(draft)
    surface(draft, "floor", "floor", "incline", "cylinder")
    name = pick(rng, ("polishing", "surface_following"))
    draft.parameters = draft.with_devices(preset(name))
    by_hand = name == "surface_following" and chance(rng, 0.5)
    if name == "surface_following" and not by_hand:
        draft.choose({"admittance.enabled_axes": [False, False, True, False, False, False]})
    draft.story.append(f"parameters: {name}, led by a {'hand' if by_hand else 'path'}")
    draft.time += draft.environment.gap / draft.parameters.contact.approach_speed[0] + 1.5
    angle = rng.uniform(0.0, 2.0 * math.pi)
    speed, seconds = float(rng.uniform(0.01, 0.04)), float(rng.uniform(4.0, 5.0))
    slope, approach = abs(math.tan(draft.environment.angle)), draft.parameters.contact.approach_speed[0]
    speed = min(speed, FALLING * approach / max(slope, 1e-3))
    along = np.array([math.cos(angle), math.sin(angle), 0.0, 0.0, 0.0, 0.0])
    begin = draft.time
    if by_hand:
        stiffness = float(log_uniform(rng, 300.0, 2000.0))
        along = on_the_surface(draft, along)
        places = np.array([0.0 * along, speed * seconds * along, speed * seconds * along])
        draft.lead([0.0, seconds, seconds + 1.0], places, (stiffness, 30.0), (float(rng.uniform(20.0, 60.0)), 1.0))
        slides = None
    else:
        draft.twist(seconds, speed * along, ramp=STARTING)
        slides = (begin + 2.5, begin + seconds - STARTING)
    end = draft.time + 1.0 + STEADY_WINDOW
    start = end - STEADY_WINDOW - 0.1
    return draft.finish(end, steady=start, sliding=slides, residual=(start,) if settles(draft, seconds) else ())


def on_the_surface(draft: Draft, along: Array) -> Array:
    """Where a hand leads instead: a straight line on the surface. A hand that leaves it presses or lifts."""
    if draft.environment.kind == "cylinder":
        return np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # its axis
    normal = draft.environment.normal
    return np.asarray(along - np.concatenate([normal * float(along[:3] @ normal), np.zeros(3)]))


def hand(number: int, family: str = "hand") -> Episode:
    """A hand holds the tool, leads it through free space or against a wall, holds it there, lets go."""
    draft = Draft(family, number)
    rng = draft.rng
    draft.quieter()
    draft.parameters = draft.with_devices(draft.parameters)
    name = pick(rng, ("hand_guiding", None, None))
    touches = chance(rng, 0.6)
    if touches:
        bent(draft)
        surface(draft, "floor", "wall")
    if name:
        draft.parameters = draft.with_devices(preset(name))
    elif chance(rng, 0.5):
        draft.choose({"admittance.mass": [float(log_uniform(rng, 4.0, 12.0))] * 3 + [0.8] * 3})
    draft.story.append(f"parameters: {name or 'defaults, mass drawn'}")
    speed, stiffness = float(log_uniform(rng, 0.02, 0.2)), float(log_uniform(rng, 300.0, 2000.0))
    damping = float(rng.uniform(20.0, 60.0))
    if touches:
        depth = draft.environment.gap + float(rng.uniform(5.0, 40.0)) / stiffness
        places = np.zeros((3, 6))
        places[1:, :3] = -draft.environment.normal * depth
        times = [0.0, 1.875 * depth / speed, 1.875 * depth / speed + 2.0 + STEADY_WINDOW]
    else:
        places = np.zeros((5, 6))
        places[1:4, :3] = rng.uniform(-0.1, 0.1, (3, 3))
        places[1:4, 3:] = rng.uniform(-0.2, 0.2, (3, 3))
        places[4] = places[3]
        steps = 1.875 * np.linalg.norm(np.diff(places[:4, :3], axis=0), axis=1) / speed
        times = [0.0, *np.cumsum(np.maximum(steps, 0.5)).tolist()]
        times.append(times[-1] + 2.0 + STEADY_WINDOW)
    draft.lead(times, places, (stiffness, 30.0), (damping, 1.0))
    released = draft.time
    end = draft.settled()
    return draft.finish(end, steady=released - STEADY_WINDOW - 0.1, rest=end - REST_WINDOW)
