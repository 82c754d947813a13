"""The small quadratic problem against a general solver (DAQP)."""

import daqp
import numpy as np
import pytest

from ur_admittance.core.limits.quadratic import N, minimise

SIZES = (1, 6, 20, 32)


def solve(H, g, A, b):
    x, active, multipliers = np.zeros(N), np.zeros(N), np.zeros(N)
    count = minimise(H, g, np.column_stack([A, b]), len(b), x, active, multipliers)
    return count, x, active[: max(count, 0)].astype(int), multipliers[: max(count, 0)]


def random_problem(rng, rows, singular):
    """Like those of a tick: a Jacobian, joint bounds among the rows, and a point inside all of them."""
    U, sigma, W = np.linalg.svd(rng.normal(size=(6, 6)))
    sigma[-1] *= 1e-4 if singular else 1.0
    J = U * sigma @ W
    J_s = np.hstack([J, -rng.normal(size=(6, 1))])
    H = J_s.T @ J_s + 1e-6 * np.eye(7)
    g = rng.normal(size=7) * 0.1
    A = rng.normal(size=(rows, 7))
    A[:, 6] = 0.0
    A /= np.linalg.norm(A, axis=1)[:, None]
    return H, g, A, A @ (0.1 * rng.normal(size=7)) + rng.uniform(0.0, 0.5, rows)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("singular", [False, True])
def test_the_minimum_is_that_of_a_general_solver(rows, singular):
    rng = np.random.default_rng(rows)
    for _ in range(200):
        H, g, A, b = random_problem(rng, rows, singular)
        count, x, active, multipliers = solve(H, g, A, b)
        assert count >= 0
        sense = np.zeros(rows, dtype=np.int32)
        other = daqp.solve(H, g, A, b, np.full(rows, -1e30), sense, primal_tol=1e-10)[0]

        def cost(z, H=H, g=g):
            return 0.5 * z @ H @ z + g @ z

        assert (A @ x - b).max() < 1e-8
        rounding = 1e-15 * np.abs(x) @ np.abs(H) @ np.abs(x)  # of a cost at x of 1e4, where H is nearly singular
        assert cost(x) <= cost(other) + rounding + 1e-9 * (1.0 + abs(cost(other)))
        assert (multipliers >= -1e-12).all()
        assert H @ x + g + A[active].T @ multipliers == pytest.approx(np.zeros(7), abs=1e-7)


def test_rows_that_contradict_each_other_are_told():
    A = np.zeros((2, N))
    A[0, 0], A[1, 0] = 1.0, -1.0
    assert solve(np.eye(N), np.zeros(N), A, np.array([-1.0, 0.5]))[0] == -1


def test_a_problem_without_a_minimum_is_told():
    assert solve(-np.eye(N), np.zeros(N), np.zeros((0, N)), np.zeros(0))[0] == -2


def test_rows_given_twice_do_no_harm():
    A = np.zeros((4, N))
    A[:, 0] = 1.0
    count, x, _, _ = solve(np.eye(N), np.full(N, -1.0), A, np.full(4, 0.25))
    assert count == 1
    assert x == pytest.approx([0.25, 1, 1, 1, 1, 1, 1])


def nasty_problem(rng, rows):
    """Rows nearly parallel or opposite, many through one point, unknowns over six powers of ten: but a point inside."""
    U, sigma, W = np.linalg.svd(rng.normal(size=(6, 6)))
    J = np.hstack([U * (sigma * 10 ** rng.uniform(-4, 0, 6)) @ W, rng.normal(size=(6, 1)) * 10 ** rng.uniform(-4, 1)])
    H = (J.T @ J + 10 ** rng.uniform(-8, -2) * np.eye(7)) * 10 ** rng.uniform(-6, 4)
    A = rng.normal(size=(rows, 7))
    for i in range(1, rows, 2):
        A[i] = rng.choice([1, -1]) * A[rng.integers(i)] + rng.normal(size=7) * 10 ** rng.uniform(-12, -2)
    A[:, 6] = 0.0
    A /= np.linalg.norm(A, axis=1)[:, None]
    room = rng.choice([1e-9, 1e-6, 1e-3, 1.0], rows)
    return H, -H @ (rng.normal(size=7) * 10 ** rng.uniform(-3, 2)), A, A @ rng.normal(size=7) + room


def test_nasty_problems_are_solved_in_bounded_steps(sweep):
    rng = np.random.default_rng(8)
    told = 0
    for _ in range(sweep(500)):
        H, g, A, b = nasty_problem(rng, int(rng.choice([4, 12, 32, 56])))
        count, x, active, multipliers = solve(H, g, A, b)
        assert count >= -1, "neither too many steps nor a broken factor"
        told += count == -1
        if count >= 0:
            assert (A @ x - b).max() < 1e-8
            assert (multipliers >= -1e-9 * (1.0 + np.abs(multipliers).max(initial=0.0))).all()
            force = H @ x + g + A[active].T @ multipliers
            assert np.abs(force).max() < 1e-6 * (1.0 + np.abs(g).max() + np.abs(multipliers).max(initial=0.0))
    assert told < 0.002 * sweep(500) + 1, "a thin room is seldom taken for none"
