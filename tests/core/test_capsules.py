"""Distances of the arm against Coal, a collision library, and their gradients against differences."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.kernel import record
from ur_admittance.core.limits.capsules import box_distance, gradient, pair_count, pair_distance, place
from ur_admittance.core.limits.shapes_record import BODIES, FIRST_BOX, TABLE
from ur_admittance.core.records import PARAMS, new
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

load = importlib.import_module if os.environ.get("UR_ADMITTANCE_CI") else pytest.importorskip
coal: Any = load("coal")
Array = NDArray[np.float64]

SWEEP = int(os.environ.get("SWEEP", "300"))  # configurations
AGREEMENT = 1e-6  # [m]


@compiled
def _measure(p, q, limit, P, axes, distances, bodies, gradients, x, n):
    place(p.chain_rotation, p.chain_position, p.shapes, q, P, axes)
    for i in range(pair_count(p.shapes)):
        distances[i], one, two = pair_distance(p.shapes, P, i, limit, x, n)
        bodies[i, 0], bodies[i, 1] = one, two
        if distances[i] < limit:
            gradient(p.shapes, axes, one, two, x, n, gradients[i])


@compiled
def _to_box(params, P, part, x, n):
    return box_distance(record(params, 0).shapes, P, 0, part, 0, x, n)


@compiled
def _measure_first(params, q, limit, P, axes, distances, bodies, gradients, x, n):
    _measure(record(params, 0), q, limit, P, axes, distances, bodies, gradients, x, n)


class Measured:
    """All pairs of one arm at q."""

    def __init__(self, params: Any, q: Array, limit: float = 1e3) -> None:
        count = 16 + 12 * 5
        self.P, axes = np.zeros((8, 2, 3)), np.zeros((6, 6))
        distances, bodies, gradients = np.full(count, np.inf), np.zeros((count, 2)), np.zeros((count, 6))
        _measure_first(params, q, limit, self.P, axes, distances, bodies, gradients, np.zeros(3), np.zeros(3))
        used = np.isfinite(distances)
        self.distances, self.bodies, self.gradients = distances[used], bodies[used].astype(int), gradients[used]


def cell(rng: np.random.Generator) -> tuple[Any, Parameters, str]:
    """Some arm with a tool, two boxes and a table."""
    name = str(rng.choice(MODEL_NAMES))
    parameters = Parameters().changed(
        {
            "tool.tcp": [*rng.uniform(-0.1, 0.2, 3), 0.0, 0.0, 0.0],
            "collision.table_height": float(rng.uniform(-0.3, 0.1)),
            "collision.table_touchable": False,
            **{
                f"collision.box_{i}.{field}": value
                for i in (1, 3)
                for field, value in (
                    ("center", rng.uniform(-1.0, 1.0, 3).tolist()),
                    ("size", rng.uniform(0.05, 1.0, 3).tolist()),
                    ("rotation", rng.uniform(-3.0, 3.0, 3).tolist()),
                )
            },
        }
    )
    params = new(PARAMS)
    fill(params[0], parameters, robot_model(name))
    return params, parameters, name


def foreign(params: Any, parameters: Parameters, name: str, q: Array) -> dict[tuple[int, int], float]:
    """The same distances by Coal, whole capsules, placed by the model's own kinematics."""
    shapes, model = params["shapes"][0], robot_model(name)
    rotations, positions = model.frames(q)
    rotations, positions = np.concatenate([[np.eye(3)], rotations]), np.vstack([np.zeros(3), positions])
    bodies: dict[int, tuple[Any, Any]] = {}
    for i in range(8):
        link = int(shapes["link"][i])
        a, b = (rotations[link] @ shapes[end][i] + positions[link] for end in ("start", "end"))
        length = float(np.linalg.norm(b - a))
        z = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.7 else [0.0, 1.0, 0.0])
        x /= np.linalg.norm(x)
        pose = coal.Transform3s(np.column_stack([x, np.cross(z, x), z]), 0.5 * (a + b))
        bodies[i] = coal.Capsule(float(shapes["radius"][i]), length), pose
    for i in (1, 3):
        box = getattr(parameters.collision, f"box_{i}")
        pose = coal.Transform3s(rotation_from_rpy(box.rotation), np.array(box.center))
        bodies[FIRST_BOX + i - 1] = coal.Box(*box.size), pose
    up = -np.array(parameters.gravity) / np.linalg.norm(parameters.gravity)
    bodies[TABLE] = coal.Halfspace(up, parameters.collision.table_height), coal.Transform3s.Identity()
    request = coal.DistanceRequest()
    request.gjk_tolerance = 1e-9
    found = {}
    pairs = [tuple(pair) for pair in shapes["pair"][: shapes["pairs"]].tolist()]
    pairs += [(one, two) for one in range(2, 8) for two in (FIRST_BOX, FIRST_BOX + 2, TABLE)]
    for one, two in pairs:
        result = coal.DistanceResult()
        found[one, two] = coal.distance(*bodies[one], *bodies[two], request, result)
    return found


def test_distances_agree_with_a_collision_library(record_property: Callable[[str, object], None]) -> None:
    rng = np.random.default_rng(1)
    compared, apart = 0, 0.0
    for _ in range(SWEEP):
        params, parameters, name = cell(rng)
        q = rng.uniform(-np.pi, np.pi, 6)
        ours: dict[tuple[int, int], float] = {}
        measured = Measured(params, q)
        for (one, two), distance in zip(measured.bodies.tolist(), measured.distances, strict=True):
            ours[one, two] = min(ours.get((one, two), np.inf), distance)
        for pair, theirs in foreign(params, parameters, name, q).items():
            if pair == (2, TABLE):  # its end at the shoulder does not count
                continue
            deep = -0.9 * float(params["shapes"]["radius"][0][pair[0]])
            if theirs > deep:  # an axis inside a box has no single nearest point
                assert ours[pair] == pytest.approx(theirs, abs=AGREEMENT), [BODIES[body] for body in pair]
                compared, apart = compared + 1, max(apart, abs(ours[pair] - theirs))
    record_property("apart [mm]", float(1e3 * apart))
    assert compared > 25 * SWEEP


def test_gradients_agree_with_differences_of_the_distance() -> None:
    rng = np.random.default_rng(2)
    step, checked = 1e-6, 0
    for _ in range(min(SWEEP, 1000)):
        params, _, _ = cell(rng)
        q, k = rng.uniform(-np.pi, np.pi, 6), int(rng.integers(6))
        here = Measured(params, q)
        shift = step * np.eye(6)[k]
        slopes = (Measured(params, q + shift).distances - Measured(params, q - shift).distances) / (2.0 * step)
        wrong = np.abs(slopes - here.gradients[:, k]) > 1e-4
        inside = here.distances < -0.02
        checked += int(np.count_nonzero(~wrong & ~inside))
        assert np.count_nonzero(wrong & ~inside) <= 1  # a nearest point may jump within the step
    assert checked > 20 * min(SWEEP, 1000)


def test_a_bound_in_place_of_a_far_distance_is_never_above_it() -> None:
    rng = np.random.default_rng(3)
    for _ in range(SWEEP):
        params, _, _ = cell(rng)
        q, limit = rng.uniform(-np.pi, np.pi, 6), float(rng.uniform(0.0, 0.3))
        exact, quick = Measured(params, q).distances, Measured(params, q, limit).distances
        near = exact < limit
        np.testing.assert_array_equal(quick[near], exact[near])
        assert (quick[~near] >= limit).all()
        assert (quick <= exact + 1e-12).all()


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_an_arm_at_home_is_far_from_itself(name: str) -> None:
    params = new(PARAMS)
    fill(params[0], Parameters(), robot_model(name))
    assert Measured(params, np.array(robot_model(name).home)).distances.min() > 0.03


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_link_inside_a_box_is_sent_out_through_the_nearest_face(axis: int, side: float, part: int) -> None:
    """The half of it that is looked at lies 0.1 m below one face and points away from it, to 0.15 m."""
    params, P, x, n = new(PARAMS), np.zeros((8, 2, 3)), np.zeros(3), np.zeros(3)
    shapes, R = params[0]["shapes"], rotation_from_rpy(np.array([0.3, -0.5, 1.1]))
    shapes["box_rotation"][0], shapes["box_position"][0], shapes["box_half"][0] = R, [0.2, 0.4, -0.1], [0.3, 0.5, 0.7]
    near, far = np.zeros(3), np.zeros(3)
    half = float(shapes["box_half"][0][axis])
    near[axis], far[axis] = side * (half - 0.1), side * (half - 0.15)
    begin, end = (near, near + 2.0 * (far - near)) if part == 0 else (far - (near - far), near)
    P[0] = shapes["box_position"][0] + np.array([R @ begin, R @ end])
    assert _to_box(params, P, part, x, n) == pytest.approx(-0.15)  # until all of it is out
    assert n == pytest.approx(side * R[:, axis])
