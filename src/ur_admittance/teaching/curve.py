"""Poses on a curve: the few points that stand for a recorded motion, and the curve through them, by its length.

A pose is a row (7,): position [m] and unit quaternion (w, x, y, z), whose sign changes nowhere along a curve. Length
and distance count turns too, ds^2 = |dp|^2 + (LEVER dtheta)^2, so that one speed holds for motions of any kind.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model.frames import Array, rotation_vector

LEVER = 0.2  # [m] of a hand tool: a turn by one radian counts as this much way, 0.05 m/s as 14 degrees per second
SPACING = 5e-4  # [m] between the places of a curve that is replayed: on an arc of 50 mm they are 0.6 um from it
ACCELERATION = 0.3  # [m/s2] along the path and across it: a tenth of what the limits of an arm begin at
WINDOWS = (2.0, 1.0, 0.5, 0.25, 0.12, 0.06, 0.03)  # [s] of smoothing; a hand trembles at 8 to 12 Hz
SMOOTHING = 0.5  # share of the tolerance that smoothing may use up; thinning has the rest
SAME = 1e-6  # [m] nearer points are one


def from_vectors(vectors: Array) -> Array:
    """Positions and rotation vectors (n, 6) as poses (n, 7)."""
    angle = np.linalg.norm(vectors[:, 3:], axis=1)
    q = np.empty((len(vectors), 4))
    q[:, 0] = np.cos(0.5 * angle)
    q[:, 1:] = 0.5 * np.sinc(angle / (2.0 * np.pi))[:, None] * vectors[:, 3:]
    return np.hstack([vectors[:, :3], one_sign(q)])


def to_vectors(poses: Array) -> Array:
    """The inverse; rotation vectors are at most pi long."""
    q = np.where(poses[:, 3:4] < 0.0, -1.0, 1.0) * poses[:, 3:]
    sine = np.linalg.norm(q[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(sine, q[:, 0])
    return np.asarray(
        np.hstack([poses[:, :3], np.where(sine > 0.0, angle / np.maximum(sine, 1e-300), 2.0)[:, None] * q[:, 1:]])
    )


def from_matrix(position: Array, rotation: Array) -> Array:
    """One pose (7,)."""
    return np.asarray(from_vectors(np.hstack([position, rotation_vector(rotation)])[None])[0])


def matrices(poses: Array) -> Array:
    """Rotations (n, 3, 3)."""
    w, x, y, z = poses[:, 3:].T
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    rows += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return np.ascontiguousarray(np.stack(rows, axis=1).reshape(-1, 3, 3))


def one_sign(q: Array) -> Array:
    """Of q and -q, which are one rotation, the one that is nearer to its predecessor."""
    turned = np.where(np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0, -1.0, 1.0)
    return np.asarray(q * np.concatenate([[1.0], np.cumprod(turned)])[:, None])


def apart(a: Array, b: Array) -> tuple[Array, Array]:
    """Distances [m] and angles [rad] between poses (n, 7)."""
    chord = np.minimum(np.linalg.norm(a[:, 3:] - b[:, 3:], axis=1), np.linalg.norm(a[:, 3:] + b[:, 3:], axis=1))
    return np.linalg.norm(a[:, :3] - b[:, :3], axis=1), 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))


def length_between(a: Array, b: Array) -> Array:
    distance, angle = apart(a, b)
    return np.hypot(distance, LEVER * angle)


def turns(a: Array, b: Array) -> Array:
    """Rotation vectors (n, 3) from a to b, base axes: log(R_b R_a^T), by the quaternion b a^-1."""
    w, v, x, u = b[:, 3:4], b[:, 4:], a[:, 3:4], a[:, 4:]
    q = np.hstack([w * x + np.sum(v * u, axis=1, keepdims=True), x * v - w * u - np.cross(v, u)])
    return to_vectors(np.hstack([np.zeros_like(v), q]))[:, 3:]


def through(knots: Array, at: Array, where: Array) -> Array:
    """Poses (n, 7) of the cubic Hermite curve through the knots, which it meets at the ascending numbers `at`; its
    slope at a knot is that of the parabola through the knot and its neighbours."""
    if len(knots) == 2:
        slope = np.tile((knots[1] - knots[0]) / (at[1] - at[0]), (2, 1))
    else:
        slope = np.gradient(knots, at, axis=0, edge_order=2)
    i = np.clip(np.searchsorted(at, where, side="right") - 1, 0, len(at) - 2)
    h = (at[i + 1] - at[i])[:, None]
    t = (where - at[i])[:, None] / h
    found = (1 + 2 * t) * (1 - t) ** 2 * knots[i] + t**2 * (3 - 2 * t) * knots[i + 1]
    found += h * t * (1 - t) * ((1 - t) * slope[i] - t * slope[i + 1])
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return np.asarray(found)


def chords(knots: Array) -> Array:
    """Where a curve meets its knots: the sum of the distances between them."""
    return np.concatenate([[0.0], np.cumsum(length_between(knots[1:], knots[:-1]))])


def distinct(poses: Array) -> Array:
    """Without poses that are no way from the one before."""
    kept = [0]
    for i in range(1, len(poses)):
        if length_between(poses[i : i + 1], poses[kept[-1] :][:1])[0] > SAME:
            kept.append(i)
    return poses[kept]


def thin(samples: Array, period: float, distance: float, angle: float) -> tuple[Array, float, float]:
    """The few poses (k, 7) whose curve keeps within `distance` [m] and `angle` [rad] of every sample (n, 7), `period`
    [s] apart, and the largest distance and angle that are left.

    A knot is added where the curve is farthest off, in every segment at once, until none is: in the end every sample
    would be one. The deviation is to the place of the same share of the length, never less than that to the curve.
    """
    samples = np.hstack([samples[:, :3], one_sign(samples[:, 3:])])
    wanted = samples
    for window in WINDOWS:
        smooth = smoothed(samples, round(window / period))
        off = apart(smooth, samples)
        if off[0].max() <= SMOOTHING * distance and off[1].max() <= SMOOTHING * angle:
            wanted = smooth
            break
    way = chords(wanted)
    chosen = np.concatenate([[0], np.flatnonzero(np.diff(way) > 0.0) + 1])  # samples at which the tool had gone on
    wanted_on = wanted[chosen]
    if len(chosen) < 2:
        return wanted_on, *(float(part.max()) for part in apart(samples, np.tile(wanted_on[0], (len(samples), 1))))
    knots = np.array([0, len(chosen) - 1])
    while True:
        on = wanted_on[knots]
        at = chords(on)
        where = np.interp(way, way[chosen][knots], at)
        off = apart(through(on, at, where), samples)
        worst = np.maximum(off[0] / distance, off[1] / angle)[chosen]
        added = [
            begin + 1 + int(np.argmax(worst[begin + 1 : end]))
            for begin, end in pairwise(knots.tolist())
            if end - begin > 1 and worst[begin + 1 : end].max() > 1.0
        ]
        if not added:
            return on, float(off[0].max()), float(off[1].max())
        knots = np.union1d(knots, added)


def smoothed(poses: Array, width: int) -> Array:
    """Weighted mean (Hann) over so many samples to either side; both ends stay, as if the motion went on by its mirror
    image there."""
    if width < 1 or len(poses) <= width:
        return poses
    weights = np.hanning(2 * width + 3)[1:-1]
    before, after = 2.0 * poses[0] - poses[width:0:-1], 2.0 * poses[-1] - poses[-2 : -2 - width : -1]
    long = np.vstack([before, poses, after])
    found = np.stack([np.convolve(column, weights / weights.sum(), mode="valid") for column in long.T], axis=1)
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return np.asarray(found)


@dataclass(frozen=True)
class Curve:
    """A way from rest to rest, by its length: places SPACING apart at most."""

    poses: NDArray[np.float64]  # (n, 7)
    rotations: NDArray[np.float64]  # (n, 3, 3)
    along: NDArray[np.float64]  # (n, 6) motion per length [m/m, rad/m]
    fastest: NDArray[np.float64]  # (n,) speed at which no bend takes more than ACCELERATION [m/s]
    step: float  # [m]

    @property
    def length(self) -> float:
        return self.step * (len(self.poses) - 1)


def straight(start: Array, end: Array) -> Curve:
    """On a line, turning about one axis at the same time."""
    turn = turns(start[None], end[None])[0]
    length = np.hypot(np.linalg.norm(end[:3] - start[:3]), LEVER * np.linalg.norm(turn))
    share = np.linspace(0.0, 1.0, _places(float(length)))
    q = from_vectors(np.hstack([np.zeros((len(share), 3)), share[:, None] * turn]))[:, 3:]
    w, v = q[:, :1], q[:, 1:]
    q = np.hstack([w * start[3] - v @ start[4:, None], w * start[4:] + start[3] * v + np.cross(v, start[4:])])
    return _curve(np.hstack([start[:3] + share[:, None] * (end[:3] - start[:3]), q]))


def bent(knots: Array) -> Curve:
    """Through all of these, smoothly."""
    at = chords(knots)
    fine = np.linspace(0.0, at[-1], 4 * _places(at[-1]))
    way = chords(through(knots, at, fine))
    return _curve(through(knots, at, np.interp(np.linspace(0.0, way[-1], _places(way[-1])), way, fine)))


def _places(length: float) -> int:
    return max(2, int(np.ceil(length / SPACING)) + 1)


def _curve(poses: Array) -> Curve:
    rotations = matrices(poses)
    step = max(float(length_between(poses[1:], poses[:-1]).mean()), SAME)  # a pose to stay at is a short way, too
    first, last = np.maximum(np.arange(len(poses)) - 1, 0), np.minimum(np.arange(len(poses)) + 1, len(poses) - 1)
    along = (
        np.hstack([poses[last, :3] - poses[first, :3], turns(poses[first], poses[last])])
        / (step * (last - first))[:, None]
    )
    bend = np.gradient(along * [1.0, 1.0, 1.0, LEVER, LEVER, LEVER], step, axis=0)
    squares = ACCELERATION / np.maximum(np.linalg.norm(bend, axis=1), 1e-9)
    for i in range(len(squares) - 2, -1, -1):  # so slow in front of a bend that it can be taken
        squares[i] = min(squares[i], squares[i + 1] + 2.0 * ACCELERATION * step)
    return Curve(poses, rotations, along, np.sqrt(squares), step)
