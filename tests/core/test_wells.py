"""Notches and the soft box are potentials: bounded forces that give back no more than was put in. Judge: SciPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

from ur_admittance.core.law.wells import pull

PLACES = np.array([[0.4, 0.1, 0.3], [0.45, 0.1, 0.3], [np.inf] * 3, [np.inf] * 3])
NOTCHES = {"place": PLACES, "force": 6.0, "radius": 0.015}
NO_BOX = {"box_min": np.full(3, -np.inf), "box_max": np.full(3, np.inf), "box_stiffness": 400.0, "box_force": 15.0}
BOX = NO_BOX | {"box_min": np.array([0.35, -np.inf, 0.28]), "box_max": np.array([0.5, 0.13, np.inf])}


def force_at(shapes, position):
    force = np.zeros(3)
    pull(SimpleNamespace(**shapes), np.asarray(position, float), force)
    return force


@pytest.mark.parametrize(("box", "largest"), [(NO_BOX, 6.0), (BOX, 15.0)])
def test_no_force_is_larger_than_it_is_said_to_be(box, largest):
    rng = np.random.default_rng(1)
    sizes = [
        np.linalg.norm(force_at(NOTCHES | box, p)) for p in rng.uniform([0.3, 0.0, 0.2], [0.6, 0.2, 0.4], (4000, 3))
    ]
    assert max(sizes) <= largest + 1e-9
    assert max(sizes) > 0.8 * largest


def test_a_notch_is_as_deep_as_it_is_said_to_be_from_every_side():
    rng = np.random.default_rng(2)
    for way in rng.normal(size=(5, 3)):
        way /= np.linalg.norm(way)
        energy, _ = quad(
            lambda d, way=way: -force_at(NOTCHES | NO_BOX, PLACES[0] + d * way) @ way, 0.0, 0.02, points=[0.015]
        )
        assert energy == pytest.approx(2.0 * 6.0 * 0.015 / np.pi, rel=1e-6)  # 57 mJ
        near = force_at(NOTCHES | NO_BOX, PLACES[0] + 1e-6 * way)
        assert -near @ way == pytest.approx(1e-6 * np.pi * 6.0 / 0.015, rel=1e-3)


def test_no_way_round_gains_energy():
    rng = np.random.default_rng(3)
    shapes = NOTCHES | BOX
    for _ in range(20):
        centre = np.array([0.42, 0.12, 0.29]) + rng.uniform(-0.05, 0.05, 3)
        a, b = rng.normal(scale=0.03, size=(2, 3))
        turn = np.linspace(0.0, 2.0 * np.pi, 4001)
        path = centre + np.outer(np.cos(turn), a) + np.outer(np.sin(2.0 * turn), b)
        forces = np.array([force_at(shapes, p) for p in path])
        work = np.sum(0.5 * (forces[1:] + forces[:-1]) * np.diff(path, axis=0))
        moved = np.sum(np.abs(0.5 * (forces[1:] + forces[:-1]) * np.diff(path, axis=0)))
        assert abs(work) < 1e-4 * max(moved, 1e-3)
