"""Do the peers compute what this package computes? The same samples for everybody, command by command.

The samples come from an arm that lags behind the commands of this package, in situations that between them use every
constant that the peers are given: a circle, a corner of the workspace, a straight wrist, a stretched elbow, a joint at
its limit, a blocked joint, springs with a moving reference, a release; and small boxes around a stretched arm, in which
norms of speed and acceleration are exceeded and bounds contradict each other.
"""

import math
from collections.abc import Callable, Container, Iterator, Mapping
from importlib.util import find_spec

import numpy as np

from benchmarks.tick import ours
from benchmarks.tick.workload import PERIOD, Array, Missing, Samples, setting
from ur_admittance.core.records import Request
from ur_admittance.core.tick import tick
from ur_admittance.errors import UrAdmittanceError

# [rad, rad/s, m/s] The peers round differently (1e-16 per operation): integrated over 1000 ticks, and divided by the
# smallest singular value at a straight wrist, that is 1e-10, with DAQP, too. A constant that is off by 1 % changes at
# least 5e-6.
TOLERANCE = 1e-8
LAG = math.exp(-PERIOD / 0.01)  # of the arm: 10 ms

Push = Callable[[float], list[float]]


def record(
    name: str,
    push: Push,
    seconds: float,
    changes: Mapping[str, object] | None = None,
    start: dict[int, float] | None = None,
    twist: Push = lambda t: [0.0] * 6,
    blocked_after: float = math.inf,
) -> Samples:
    """push, twist: wrench about the TCP and reference twist at the time t, base axes. start: joints away from home."""
    s = setting({"contact.stabilizer": False, "robot.response_time": 0.01, **(changes or {})})
    records = ours.at_rest(s.params)
    _, _, sample, command = records
    cycle, q = tick.on(*records), s.home.copy()
    for joint, angle in (start or {}).items():
        q[joint] = angle
    rows: dict[str, list[Array]] = {name: [] for name in ("q", "qd", "wrench", "reference_twist")}
    before = q.copy()
    for i in range(int(seconds / PERIOD)):
        t = i * PERIOD
        sample["q"], sample["qd"] = q, (q - before) / PERIOD
        sample["wrench"], sample["reference_twist"] = s.reading(q, np.array(push(t))), twist(t)
        for key, values in rows.items():
            values.append(sample[key][0].copy())
        cycle()
        sample["request"] = Request.NONE
        before = q.copy()
        if t < blocked_after:
            q += (1.0 - LAG) * (command["q"][0] - q)
    ours.must_be_active(command)
    return Samples(s.model, s.parameters, s.params, name, *(np.array(values) for values in rows.values()))


def situations() -> Iterator[Samples]:
    """Each is a push that brings the arm to some limit, or lets go of it."""

    def steady(*wrench: float) -> Push:
        return lambda t: list(wrench)

    def turning(t: float) -> list[float]:
        return [10.0 * math.cos(3.0 * t), 10.0 * math.sin(3.0 * t), 0.0, 0.0, 0.3, math.sin(9.0 * t)]

    def released(t: float) -> list[float]:
        return [12.0, 6.0, -4.0, 0.6, -0.4, 0.8] if t < 0.5 else [0.0] * 6

    x, y, z = setting().model.forward(setting().home)[1]
    corner = {"workspace.max": [x + 0.03, y + 0.05, z + 0.04]}
    springs = {
        "admittance.stiffness": [100.0, 0.0, 300.0, 5.0, 10.0, 0.0],
        "admittance.enabled_axes": [True, True, True, True, True, False],
        "admittance.deadband": [0.2, 0.0, 0.0, 0.0, 0.05, 0.0],
        "admittance.desired_wrench": [0.0, 2.0, -3.0, 0.0, 0.0, 0.0],
        "reference.at_singularity": "leave",  # the peers have no limit of the reference
    }
    yield record("circle", turning, 2.0)
    yield record("corner", steady(30.0, 25.0, 20.0, 0.0, 0.0, 0.0), 1.5, corner)
    yield record("straight wrist", steady(0.0, 12.0, 6.0, 2.5, 2.5, 0.0), 1.5, start={4: -0.04})
    outwards, stretched = steady(60.0, 0.0, 10.0, 0.0, 0.0, 0.0), {1: -0.6, 2: 0.25, 3: -1.2}
    weak = {"joint_limits.acceleration": [1.5] * 6}
    light = {"admittance.mass": [0.8] * 3 + [0.1] * 3, "max_linear_acceleration": 200.0, "max_linear_velocity": 2.0}
    wide = {"workspace.min": [-1.2] * 3, "workspace.max": [1.2] * 3}  # the edge of the reach is nearer
    yield record("outside a wall", outwards, 1.5, start=stretched)
    yield record("stretched elbow", outwards, 1.5, wide, stretched)
    yield record("elbow stretched at once", outwards, 0.5, light | weak | wide, stretched | {2: 0.5})
    limit = {"joint_limits.position_upper": [0.1, -1.4, None, None, None, None], **weak}
    yield record("joint limit", steady(20.0, 40.0, -20.0, 0.0, 0.0, 2.0), 1.5, limit)
    yield record("blocked arm", steady(2.0, 0.0, 1.0, 0.0, 0.2, 0.0), 1.5, blocked_after=0.5)
    slide = [0.02, -0.03, 0.0, 0.0, 0.05, 0.1]
    yield record("springs", turning, 2.0, springs, twist=lambda t: slide if t > 0.8 else [0.0] * 6)
    yield record("release", released, 2.0)
    yield boxed("norms in a box", 0.14, (0.015, 0.03, 0.017), (0.038, 0.039, 0.017), NORMS, LIGHT)
    yield boxed("contradictions", 0.08, (0.039, 0.029, 0.017), (0.042, 0.03, 0.023), CONTRADICTIONS, LIGHT)


# [N, Nm] Before and after 0.4 s, found among random ones in random boxes: in the first the fourth round for the norms
# matters, in the second bounds contradict each other.
NORMS = [13.0, 3.4, -4.6, 3.3, 2.8, -2.2], [-20.0, 24.9, -20.6, 2.1, -1.5, -1.1]
CONTRADICTIONS = [-22.0, 11.0, -18.0, 1.0, 0.6, -0.9], [-26.0, -30.0, 23.0, -0.4, -1.6, 1.9]
LIGHT = {
    "admittance.mass": [2.0] * 3 + [0.2] * 3,
    "max_linear_acceleration": 2.0,
    "max_angular_acceleration": 2.0,
    "max_angular_velocity": 1.0,
}


def boxed(
    name: str,
    elbow: float,
    above: tuple[float, float, float],
    below: tuple[float, float, float],
    pushes: tuple[list[float], list[float]],
    changes: Mapping[str, object],
) -> Samples:
    """A stretched arm in a box that leaves the tool this much room [m]."""
    start, s = {1: -0.6, 2: elbow, 3: -1.2}, setting()
    q = s.home.copy()
    for joint, angle in start.items():
        q[joint] = angle
    box = {"workspace.max": (s.place(q) + above).tolist(), "workspace.min": (s.place(q) - below).tolist()}
    joints = {"joint_limits.acceleration": [20.0] * 6}
    return record(name, lambda t: pushes[0 if t < 0.4 else 1], 0.8, {**changes, **box, **joints}, start)


def difference(replay: Callable[[Samples], Array], samples: Samples) -> float:
    """Largest difference between the commands of a peer and ours [rad, rad/s, m/s]."""
    return float(np.abs(replay(samples) - ours.replay(samples)).max())


def kdl(samples: Samples) -> Array:
    from benchmarks.tick.kdl import KdlProcess

    with KdlProcess(samples) as process:
        return process.replay()


def pinocchio(samples: Samples) -> Array:
    if find_spec("pinocchio") is None or find_spec("daqp") is None:
        raise Missing("not installed: pip install pin daqp")
    from benchmarks.tick.pinocchio_tick import replay

    return replay(samples)


PEERS: dict[str, Callable[[Samples], Array]] = {"kdl_tick": kdl, "pinocchio_tick": pinocchio}


def largest_differences(missing: Container[str] = ()) -> dict[str, float]:
    """Of every peer over all situations; an error if one is not the same controller."""
    found = {name: 0.0 for name in PEERS if name not in missing}
    for samples in situations():
        for name in found:
            off = difference(PEERS[name], samples)
            if not off < TOLERANCE:
                raise UrAdmittanceError(f"bench: {name} is not the same controller: off by {off:.1e} ({samples.name}).")
            found[name] = max(found[name], off)
    return found
