"""Which orientations to visit, and whether those that were visited tell the unknowns apart.

Shoulder and elbow stay where they are; only the wrist turns. Of many candidates, inside the limits and clear of arm and
floor, the set with the largest determinant of the information matrix is built greedily (a D-optimal design) and put
into an order with short paths. Only the directions of gravity in the flange matter, not the tool.
"""

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration.fit import Array, Flags, cross_matrix
from ur_admittance.errors import CalibrationError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy, rotation_vector
from ur_admittance.params import Parameters

LINK_RADIUS = 0.075  # [m] of forearm and upper arm of the larger arms, with covers
TOOL_RADIUS = 0.06  # [m]
NEAR = LINK_RADIUS + TOOL_RADIUS
FLOOR = 0.05  # [m] above the base plane, or the start's height if that is lower
SHORTEST_TOOL = 0.1  # [m]
ALONG_PATH = np.radians(8.0)  # largest joint step between two checks
POINTS = np.linspace(0.0, 1.0, 7)

CANDIDATES = 400
RANGE = np.radians([75.0, 75.0, 150.0])  # of the three wrist joints about the start
MARGIN = 0.1  # [rad] kept from every joint limit
TINY = 1e-6  # makes the first determinants finite

FEWEST_POSES = 6  # three determine the force part without any redundancy; six leave room to find a bad one
LEAST = 0.005  # 12 poses with the three wrist joints within +-10 degrees give 0.0025, within +-30 degrees 0.026
ADVICE = "tilt the wrist by at least 30 degrees about two axes"


class Clearance:
    """Does the tool stay clear of the arm itself, the mounting plane and the workspace box? A coarse check with spheres
    around one start posture, which must itself be clear."""

    def __init__(self, model: RobotModel, parameters: Parameters, start: Array, reach: float | None = None) -> None:
        self._model = model
        tcp = np.array(parameters.tool.tcp)
        axis = rotation_from_rpy(tcp[3:])[:, 2]
        tip = tcp[:3] if np.linalg.norm(tcp[:3]) >= SHORTEST_TOOL else SHORTEST_TOOL * axis
        if reach is not None:
            tip = tip * (reach / np.linalg.norm(tip))
        self._tip, self._tcp = tip, tcp[:3]
        box = parameters.workspace
        self._box_min = np.array([-np.inf if v is None else v for v in box.min or (None,) * 3])
        self._box_max = np.array([np.inf if v is None else v for v in box.max or (None,) * 3])
        self._floor = -np.inf
        self._floor = min(FLOOR, float(self._points(start[None])[1][..., 2].min()) - 0.01)
        why = self.problem(start)
        if why:
            raise CalibrationError(f"the start posture is not suitable for a calibration: {why}; move the arm first.")

    def _points(self, q: Array) -> tuple[Array, Array, Array]:
        """Points of the arm without wrist (n, k, 3), of the tool (n, l, 3), and the TCP (n, 3), base axes [m]."""
        rotations, positions = _frames(self._model, q)
        R, flange = rotations[:, 6], positions[:, 6]
        base = np.zeros_like(flange)
        upper_arm, forearm = _line(positions[:, 1], positions[:, 2]), _line(positions[:, 2], positions[:, 3])
        arm = np.concatenate([_line(base, positions[:, 1]), upper_arm, forearm[:, :-2]], axis=1)
        return arm, _line(flange, flange + R @ self._tip), flange + R @ self._tcp

    def _measures(self, q: Array) -> tuple[Array, Array, Flags]:
        """Distance of the tool from the arm (n,), its lowest height (n,) [m], and if the TCP is in the box (n,)."""
        arm, tool, tcp = self._points(q)
        distance = np.linalg.norm(arm[:, :, None] - tool[:, None], axis=3).min(axis=(1, 2))
        inside = ((tcp >= self._box_min) & (tcp <= self._box_max)).all(axis=1)
        return distance, tool[..., 2].min(axis=1), np.asarray(inside)

    def problem(self, q: Array) -> str:
        """What is in the way at this posture; empty: nothing."""
        distance, height, inside = (float(values[0]) for values in self._measures(q[None]))
        if distance < NEAR:
            return f"the tool comes within {1e3 * distance:.0f} mm of the arm's own links"
        if height < self._floor:
            return f"the tool comes down to {1e3 * height:.0f} mm above the mounting plane"
        return "" if inside else "the TCP leaves the workspace box"

    def path_is_clear(self, start: Array, end: Array) -> bool:
        """Along the straight line in joint space, the end included."""
        steps = int(np.ceil(float(np.abs(end - start).max()) / ALONG_PATH)) + 1
        distance, height, inside = self._measures(start + np.linspace(0.0, 1.0, steps)[1:, None] * (end - start))
        return bool(((distance >= NEAR) & (height >= self._floor) & inside).all())


def _frames(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """As model.frames for many postures (n, 6): rotations (n, 7, 3, 3), positions (n, 7, 3) [m]."""
    n = len(q)
    rotations, positions = np.empty((n, 7, 3, 3)), np.empty((n, 7, 3))
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    turn = np.zeros((n, 3, 3))
    turn[:, 2, 2] = 1.0
    for i in range(7):
        p = R @ model.chain_position[i] + p
        R = R @ model.chain_rotation[i]
        if i < 6:
            c, s = np.cos(q[:, i]), np.sin(q[:, i])
            turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
            R = R @ turn
        rotations[:, i], positions[:, i] = R, p
    return rotations, positions


def _line(a: Array, b: Array) -> Array:
    """Points from a to b: (n, 3) -> (n, 7, 3)."""
    return np.asarray(a[:, None] + POINTS[:, None] * (b - a)[:, None])


def choose(
    model: RobotModel, parameters: Parameters, start: ArrayLike, count: int, seed: int = 0, reach: float | None = None
) -> Array:
    """Joint angles of ``count`` poses around ``start``, in the order of travel (count, 6) [rad].

    ``reach``: farthest part of the tool from the flange [m] (default: the TCP, at least 0.1 m). Another seed gives
    other poses: used to test a calibration where it was not made."""
    q0 = np.asarray(start, dtype=float)
    clearance = Clearance(model, parameters, q0, reach)
    candidates = _candidates(model, parameters, q0, seed)
    candidates = np.array([q for q in candidates if clearance.path_is_clear(q0, q)]).reshape(-1, 6)
    if len(candidates) < count:
        raise CalibrationError(
            f"from this posture the wrist can reach only {len(candidates)} of the {count} poses without coming near "
            "the arm, the floor, the workspace box or a joint limit; move the tool up and away from the base, or set "
            "the poses by hand (--manual)."
        )
    R_flange_base = np.array([model.forward(q)[0].T for q in candidates])
    chosen = _most_informative(information(R_flange_base, parameters.gravity), count)
    return _short_path(candidates[chosen], q0)


def paths(
    model: RobotModel, parameters: Parameters, start: ArrayLike, poses: Array, reach: float | None = None
) -> list[Array]:
    """For each pose the points to pass on the path to it (the pose last): straight, or through the start if that is
    not clear. The last element leads back to the start."""
    q0 = np.asarray(start, dtype=float)
    clearance = Clearance(model, parameters, q0, reach)
    legs, here = [], q0
    for q in poses:
        legs.append(np.array([q]) if clearance.path_is_clear(here, q) else np.array([q0, q]))
        here = q
    return [*legs, np.array([q0])]


def _candidates(model: RobotModel, parameters: Parameters, q0: Array, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    q = np.tile(q0, (CANDIDATES, 1))
    q[:, 3:] += rng.uniform(-RANGE, RANGE, (CANDIDATES, 3))
    limits = parameters.joint_limits
    lower, upper = _narrower(model.lower, limits.position_lower), _narrower(model.upper, limits.position_upper)
    inside = ((q[:, 3:] > lower[3:] + MARGIN) & (q[:, 3:] < upper[3:] - MARGIN)).all(axis=1)
    return q[inside]


def _narrower(of_model: Array, given: tuple[float | None, ...] | None) -> Array:
    if given is None:
        return np.array(of_model)
    return np.array([bound if value is None else value for value, bound in zip(given, of_model, strict=True)])


def _most_informative(info: Array, count: int) -> list[int]:
    """Indices whose summed information has the largest determinant, one after the other."""
    total = TINY * np.eye(info.shape[1])
    chosen: list[int] = []
    for _ in range(count):
        gain = np.linalg.slogdet(total + info)[1]
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        total = total + info[best]
    return chosen


def _short_path(poses: Array, start: Array) -> Array:
    """Nearest next pose first; the distance is the largest joint step, because that sets the time."""
    left, here, order = list(range(len(poses))), start, []
    while left:
        nearest = min(left, key=lambda i: float(np.abs(poses[i] - here).max()))
        left.remove(nearest)
        order.append(nearest)
        here = poses[nearest]
    return poses[order]


def information(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> Array:
    """J^T J of each pose (n, 9, 9) for the force part: mounting, direction of the weight, bias, for a unit weight."""
    down = np.asarray(gravity, dtype=float)
    down = down / np.linalg.norm(down)
    n = len(R_flange_base)
    J = np.zeros((n, 3, 9))
    J[:, :, 0:3], J[:, :, 3:6], J[:, :, 6:9] = -cross_matrix(R_flange_base @ down), R_flange_base, np.eye(3)
    return np.swapaxes(J, 1, 2) @ J


def excitation(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> float:
    """Smallest eigenvalue of the mean information: variance of the worst-determined combination is noise^2 / (n m^2
    g^2 excitation). 0: some combination cannot be determined at all; well-chosen wrist poses reach 0.1 or more."""
    return float(max(0.0, np.linalg.eigvalsh(information(R_flange_base, gravity).mean(axis=0))[0]))


def spread_deg(R_flange_base: Array) -> Array:
    """How far the orientations turn about their three principal axes, largest first (3,) [degrees].

    Square roots of the eigenvalues of the mean r r^T, r the rotation vector from the mean orientation, times two."""
    U, _, Vt = np.linalg.svd(R_flange_base.mean(axis=0))
    mean = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    vectors = np.array([rotation_vector(R @ mean.T) for R in R_flange_base])
    values = np.linalg.eigvalsh(vectors.T @ vectors / len(vectors))[::-1]
    return np.asarray(2.0 * np.degrees(np.sqrt(np.maximum(values, 0.0))))


def refusal(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> str:
    """Why these poses are not enough, with advice; empty when they are."""
    n = len(R_flange_base)
    if n < FEWEST_POSES:
        return f"{n} poses: at least {FEWEST_POSES} are needed (12 are better); {ADVICE}."
    value = excitation(R_flange_base, gravity)
    if value >= LEAST:
        return ""
    largest, second, _ = spread_deg(R_flange_base)
    if largest < 20.0:
        return f"the {n} poses are too similar (they differ by about {largest:.0f} degrees); {ADVICE}."
    if second < 15.0:
        return (
            f"the {n} poses turn about one axis only ({largest:.0f} degrees about it, {second:.0f} about the next); "
            f"{ADVICE}."
        )
    return f"the {n} poses do not tell mounting, tilt and bias apart (excitation {value:.4f}, least {LEAST}); {ADVICE}."
