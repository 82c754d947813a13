"""Which orientations to visit: inside the limits, clear of arm and floor, and telling as much as possible.

Shoulder and elbow stay where they are; only the wrist turns. Of many candidates the set with the largest determinant of
the information matrix is built greedily (a D-optimal design) and put into an order with short ways.
"""

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration.clearance import Clearance
from ur_admittance.calibration.excitation import information
from ur_admittance.calibration.readings import Array
from ur_admittance.errors import CalibrationError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters

CANDIDATES = 400
RANGE = np.radians([75.0, 75.0, 150.0])  # of the three wrist joints about the start
MARGIN = 0.1  # [rad] kept from every joint limit
TINY = 1e-6  # makes the first determinants finite


def choose(
    model: RobotModel, parameters: Parameters, start: ArrayLike, count: int, seed: int = 0, reach: float | None = None
) -> Array:
    """Joint angles of ``count`` poses around ``start``, in the order of travel (count, 6) [rad].

    ``reach``: farthest part of the tool from the flange [m] (default: the TCP, at least 0.1 m). Another seed gives
    other poses: used to test a calibration where it was not made."""
    q0 = np.asarray(start, dtype=float)
    clearance = Clearance(model, parameters, q0, reach)
    candidates = _candidates(model, parameters, q0, seed)
    candidates = np.array([q for q in candidates if clearance.way_is_clear(q0, q)]).reshape(-1, 6)
    if len(candidates) < count:
        raise CalibrationError(
            f"from this posture the wrist can reach only {len(candidates)} of the {count} poses without coming near "
            "the arm, the floor, the workspace box or a joint limit; move the tool up and away from the base, or set "
            "the poses by hand (--manual)."
        )
    R_flange_base = np.array([model.forward(q)[0].T for q in candidates])
    chosen = _most_telling(information(R_flange_base, parameters.gravity), count)
    return _short_way(candidates[chosen], q0)


def ways(
    model: RobotModel, parameters: Parameters, start: ArrayLike, poses: Array, reach: float | None = None
) -> list[Array]:
    """For each pose the points to pass on the way to it (the pose last): straight, or through the start if that is
    not clear. The last element leads back to the start."""
    q0 = np.asarray(start, dtype=float)
    clearance = Clearance(model, parameters, q0, reach)
    legs, here = [], q0
    for q in poses:
        legs.append(np.array([q]) if clearance.way_is_clear(here, q) else np.array([q0, q]))
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


def _most_telling(info: Array, count: int) -> list[int]:
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


def _short_way(poses: Array, start: Array) -> Array:
    """Nearest next pose first; the distance is the largest joint step, because that sets the time."""
    left, here, order = list(range(len(poses))), start, []
    while left:
        nearest = min(left, key=lambda i: float(np.abs(poses[i] - here).max()))
        left.remove(nearest)
        order.append(nearest)
        here = poses[nearest]
    return poses[order]
