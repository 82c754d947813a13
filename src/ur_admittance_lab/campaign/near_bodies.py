"""Episodes among boxes, above a table and next to the arm itself."""

import math
from typing import Any

import numpy as np

from ur_admittance.model.frames import rotation_from_vector, rpy_from_rotation
from ur_admittance_lab.campaign import draw
from ur_admittance_lab.campaign.campaign_episode import REPORTED, REST_WINDOW, Episode
from ur_admittance_lab.campaign.draft import Draft, room
from ur_admittance_lab.campaign.draw import RAMP, chance, direction, log_uniform, pick

APART = 1e-3  # [m] beyond the clearance at the start
TRIES = 200


def obstacles(number: int) -> Episode:
    """Hard pushes among boxes and above a table, arms folded and stretched: the arm keeps its clearance."""
    draft = Draft("obstacles", number, singular=0.4)
    rng = draft.rng
    draft.choose_law()
    surround(draft)
    begin = draft.time
    for _ in range(int(rng.integers(2, 5))):
        draft.push(float(rng.uniform(0.6, 1.5)))
    end = draft.settled(draft.time - begin)
    calm = draft.ramp if RAMP <= draft.ramp < math.inf else None
    sprung = any(draft.parameters.admittance.stiffness)
    return draft.finish(end, ramp=calm, rest=end - REST_WINDOW, dragged=sprung, clear=True)


def stops(number: int) -> Episode:
    """Stopped by a fault or on request at any moment, between walls or among boxes: braking keeps every limit."""
    draft = Draft("stops", number, singular=0.4)
    rng = draft.rng
    draft.choose_law()
    if chance(rng, 0.5):  # a stop then takes a large part of the way
        draft.choose({"joint_limits.acceleration": log_uniform(rng, 0.5, 5.0, 6).tolist()})
    among = chance(rng, 0.5)
    if among:
        surround(draft)
    else:
        draft.choose(draw.box(rng, draw.tcp_position(draft.model, draft.q, draft.tool)))
    if chance(rng, 0.3):
        draft.choose(draw.joint_limits(rng, draft.model, draft.q))
    for _ in range(int(rng.integers(2, 5))):
        begin = draft.time
        draft.push(float(rng.uniform(0.6, 1.5)))
        at = float(rng.uniform(begin + 0.1, draft.time))
        kind = pick(rng, ("deactivate", *REPORTED))
        if kind == "deactivate":
            draft.act("deactivate", at, lambda script, at: script.deactivate(at))
        else:
            draft.fault(kind, at, float(rng.uniform(0.1, 0.6)))
        draft.time += float(rng.uniform(1.5, 2.0))
        draft.act("reset the fault", draft.time, lambda script, at: script.reset_fault(at))
        draft.act("activate", draft.time + 0.05, lambda script, at: script.activate(at, accept_load=True))
        draft.time += 0.2
    return draft.finish(draft.time, clear=among)


def surround(draft: Draft) -> None:
    """Boxes and a table around the arm, in a pose that is free of them."""
    rng = draft.rng
    draft.choose({"collision.clearance": float(pick(rng, (0.01, 0.01, rng.uniform(0.0, 0.05))))})
    draft.choose({"collision.tool_radius": float(pick(rng, (0.03, rng.uniform(0.005, 0.06))))})
    for _ in range(TRIES):
        if room(draft.parameters, draft.model, draft.q) > APART and draft.is_strong_enough():
            break
        draft.q = np.array(draft.model.home) + rng.uniform(-1.2, 1.2, 6)
    else:
        draft.q = np.array(draft.model.home)
    if chance(rng, 0.5):
        stand_on_a_table(draft)
    for i in range(1, int(rng.integers(1, 5))):
        put_box(draft, i)


def keep_if_free(draft: Draft, changes: dict[str, Any], words: str) -> bool:
    wanted = draft.parameters.changed(changes)
    if room(wanted, draft.model, draft.q) <= APART:
        return False
    draft.parameters = wanted
    draft.story.append(words)
    return True


def stand_on_a_table(draft: Draft) -> None:
    """Up to 0.3 m below the lowest link."""
    for _ in range(TRIES):
        height = float(draft.rng.uniform(-0.8, 0.6))
        changes = {"collision.table_height": height, "collision.table_touchable": chance(draft.rng, 0.5)}
        lower = draft.parameters.changed(changes | {"collision.table_height": height + 0.3})
        if room(lower, draft.model, draft.q) < APART and keep_if_free(draft, changes, f"table at {height:.3f} m"):
            return


def put_box(draft: Draft, i: int) -> None:
    """Some centimetres beside some link."""
    rng = draft.rng
    _, positions = draft.model.frames(draft.q)
    for _ in range(TRIES):
        size = log_uniform(rng, 0.03, 0.6, 3)
        at = positions[int(rng.integers(1, 7))] + direction(rng) * rng.uniform(0.1, 0.5)
        changes = {
            f"collision.box_{i}.center": at.tolist(),
            f"collision.box_{i}.size": size.tolist(),
            f"collision.box_{i}.rotation": rpy_from_rotation(rotation_from_vector(direction(rng) * 2.0)).tolist(),
            f"collision.box_{i}.touchable": chance(rng, 0.3),
        }
        if keep_if_free(draft, changes, f"box {i} of {np.round(size, 3).tolist()} m at {np.round(at, 3).tolist()} m"):
            return
