"""The geometry of one arm from its Denavit-Hartenberg parameters, against the plain product of their matrices."""

import numpy as np
import pytest

from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.model.arm_table import DenavitHartenberg, _table, nearest_model, with_geometry


def nominal(name: str) -> DenavitHartenberg:
    entry = _table()[name]["dh"]
    return DenavitHartenberg(np.zeros(6), *(np.array(entry[key]) for key in ("a", "d", "alpha")))


def of_one_arm(name: str, seed: int, slide: float) -> DenavitHartenberg:
    """Errors as calibration finds them: some mm and mrad; the nearly parallel axes 1 and 2 meet metres away."""
    dh, rng = nominal(name), np.random.default_rng(seed)
    d, alpha = dh.d + rng.normal(0.0, 2e-4, 6), dh.alpha + rng.normal(0.0, 1e-3, 6)
    d[1], d[2] = d[1] - slide, d[2] + slide
    return DenavitHartenberg(rng.normal(0.0, 2e-3, 6), dh.a + rng.normal(0.0, 5e-4, 6), d, alpha)


def by_matrices(dh: DenavitHartenberg, q: np.ndarray) -> np.ndarray:
    """T_base_flange (4, 4), written out as in a textbook; base_link is the UR base turned by pi about z."""
    T = np.diag([-1.0, -1.0, 1.0, 1.0])
    for i in range(6):
        c, s, ca, sa = np.cos(dh.theta[i] + q[i]), np.sin(dh.theta[i] + q[i]), np.cos(dh.alpha[i]), np.sin(dh.alpha[i])
        T = T @ np.array(
            [
                [c, -s * ca, s * sa, dh.a[i] * c],
                [s, c * ca, -c * sa, dh.a[i] * s],
                [0.0, sa, ca, dh.d[i]],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
    return T


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_the_parameters_of_a_type_give_its_chain(name: str) -> None:
    model = robot_model(name)
    rebuilt = with_geometry(model, nominal(name))
    assert np.abs(rebuilt.chain_position - model.chain_position).max() < 1e-12
    assert np.abs(rebuilt.chain_rotation - model.chain_rotation).max() < 1e-12


@pytest.mark.parametrize("slide", [0.0, 12.0])
def test_one_arm_moves_as_its_parameters_say_and_its_links_stay_in_place(slide: float) -> None:
    rng = np.random.default_rng(1)
    for seed in range(10):
        dh, model = of_one_arm("ur10e", seed, slide), robot_model("ur10e")
        arm = with_geometry(model, dh)
        for q in rng.uniform(-np.pi, np.pi, (10, 6)):
            T = by_matrices(dh, q)
            R, p = arm.forward(q)
            assert np.abs(R - T[:3, :3]).max() < 1e-10
            assert np.abs(p - T[:3, 3]).max() < 1e-10
        # alpha_1 of 1 mrad at 12 m is 12 mm: what such parameters say of the arm, and no more, moves the links
        moved = np.linalg.norm(arm.frames(np.zeros(6))[1] - model.frames(np.zeros(6))[1], axis=1)
        assert moved.max() < 0.01 + 4e-3 * slide
        assert moved.max() > 1e-4
        if slide == 0.0:
            assert nearest_model(arm) == "ur10e"
