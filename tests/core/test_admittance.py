"""The law of one axis against SciPy's solver and the analytic step response."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from ur_admittance.core.law.admittance import step
from ur_admittance.core.records import Integrator

EXACT, RK4, EULER = int(Integrator.EXACT), int(Integrator.RK4), int(Integrator.SEMI_IMPLICIT_EULER)

CASES = {  # mass, damping, stiffness
    "underdamped": (8.0, 20.0, 500.0),
    "overdamped": (8.0, 400.0, 100.0),
    "critically damped": (8.0, 2.0 * np.sqrt(8.0 * 200.0), 200.0),
    "almost critical": (8.0, 2.0 * np.sqrt(8.0 * 200.0) * (1 + 1e-9), 200.0),
    "no spring": (8.0, 64.0, 0.0),
    "no damper": (8.0, 0.0, 300.0),
    "free mass": (8.0, 0.0, 0.0),
    "tiny spring": (8.0, 64.0, 1e-5),
    "tinier spring": (8.0, 64.0, 1e-9),
    "tiny damper": (8.0, 1e-9, 0.0),
    "very stiff": (0.8, 50.0, 1e5),
    "fast decay": (0.1, 500.0, 10.0),
}


def run(integrator, m, d, k, force, dt, count, x=0.0, v=0.0):
    for _ in range(count):
        x, v = step(integrator, x, v, m, d, k, force, dt)
    return x, v


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dt", [0.001, 0.008])
def test_exact_integrator_agrees_with_scipy(name, dt):
    m, d, k = CASES[name]
    x0, v0, force, end = 0.03, -0.2, 7.0, 0.4
    oracle = solve_ivp(
        lambda t, y: [y[1], (force - d * y[1] - k * y[0]) / m],
        (0, end),
        [x0, v0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
    ).y[:, -1]
    x, v = run(EXACT, m, d, k, force, dt, round(end / dt), x0, v0)
    assert x == pytest.approx(oracle[0], abs=1e-9)
    assert v == pytest.approx(oracle[1], abs=1e-9)


@given(m=st.floats(0.1, 50), zeta=st.floats(0.05, 3.0), k=st.floats(0.1, 5000), force=st.floats(-50, 50))
def test_exact_integrator_follows_the_analytic_step_response(m, zeta, k, force):
    w0, t = np.sqrt(k / m), 0.5
    d = 2 * zeta * np.sqrt(k * m)
    s = np.sqrt(complex(zeta * zeta - 1.0)) * w0  # complex when underdamped
    shape = np.cosh(s * t) + zeta * w0 * (np.sinh(s * t) / s if abs(s) > 1e-9 else t)
    expected = force / k * (1.0 - (np.exp(-zeta * w0 * t) * shape).real)
    x, _ = run(EXACT, m, d, k, force, 0.002, 250)
    assert x == pytest.approx(expected, abs=1e-9 * max(1.0, abs(force / k)))


def measured_order(integrator):
    m, d, k, force, end = 2.0, 12.0, 300.0, 5.0, 0.32
    exact = run(EXACT, m, d, k, force, end, 1, 0.05, 0.3)[0]
    errors = [abs(run(integrator, m, d, k, force, end / n, n, 0.05, 0.3)[0] - exact) for n in (40, 80, 160)]
    return np.log2(np.array(errors[:-1]) / errors[1:])


def test_rk4_is_of_fourth_order():
    assert measured_order(RK4) == pytest.approx([4.0, 4.0], abs=0.15)


def test_semi_implicit_euler_is_of_first_order():
    assert measured_order(EULER) == pytest.approx([1.0, 1.0], abs=0.15)


@pytest.mark.parametrize("integrator", [EXACT, RK4, EULER])
def test_every_integrator_settles_at_force_over_stiffness(integrator):
    x, v = run(integrator, 8.0, 64.0, 200.0, 10.0, 0.002, 5000)
    assert x == pytest.approx(0.05, abs=1e-12)
    assert abs(v) < 1e-12


def test_exact_integrator_does_not_depend_on_the_step():
    fine = run(EXACT, 8.0, 30.0, 900.0, 4.0, 0.0005, 1000, 0.01, 0.1)
    coarse = run(EXACT, 8.0, 30.0, 900.0, 4.0, 0.1, 5, 0.01, 0.1)
    assert fine == pytest.approx(coarse, abs=1e-12)


@pytest.mark.parametrize("integrator", [EXACT, RK4, EULER])
@pytest.mark.parametrize("k", [0.0, 0.01, 2e3, 5e6])
@pytest.mark.parametrize(("m", "d"), [(0.5, 5e3), (8.0, 4e4), (0.05, 40.0), (1e-2, 1e5)])
def test_no_integrator_diverges_or_rattles_with_a_damping_that_is_large_for_mass_and_period(integrator, m, d, k):
    """D dt / M from 1.6 to 2e4: RK4 diverges above 2.8, Euler rattles above 1. Judged by SciPy's matrix exponential."""
    dt, steps, force = 0.002, 40, 20.0
    x, v = 0.0, 0.3
    linear = np.array([[0.0, 1.0, 0.0], [-k / m, -d / m, force / m], [0.0, 0.0, 0.0]])  # of (x, v, 1)
    x_end, v_end, _ = expm(steps * dt * linear) @ [x, v, 1.0]
    path = [x]
    for _ in range(steps):
        x, v = step(integrator, x, v, m, d, k, force, dt)
        path.append(x)
    assert x == pytest.approx(x_end, rel=1e-6, abs=1e-12)
    assert v == pytest.approx(v_end, rel=1e-5, abs=1e-9)
    assert np.all(np.diff(path) > -1e-12) or k > 1e6  # overdamped: it only ever moves on
