"""Mistakes 2, 5, 6, 7, 10 and 12: the law itself, its integrator, its deadband, its damping, its filter."""

import math

import numpy as np
from figures.look import FAULTY, IDEAL, NEUTRAL, OURS, panels
from matplotlib.figure import Figure

from mistakes.ours import DAMPING, DT, IDEAL_ARM, MASS, comply, times
from ur_admittance.core.law.admittance import rk4_step, spring_step
from ur_admittance.params import Parameters

Result = tuple[dict[str, float], Figure]


def spring_pushes_away() -> Result:
    """2. x = desired - current with the force -K x: a nudge of 5 N for 0.2 s on a spring of 100 N/m."""
    K, zeta = 100.0, 0.8
    D = 2 * zeta * math.sqrt(MASS * K)
    force = lambda t: 5.0 if t < 0.2 else 0.0  # noqa: E731
    p = v = 0.0  # position relative to the desired pose
    naive = []
    for i in range(round(2.0 / DT)):
        error = 0.0 - p  # desired - current
        v += DT * (force(i * DT) - D * v - K * error) / MASS
        p += DT * v
        naive.append(p)
    changes = IDEAL_ARM | {"admittance.stiffness": [K] * 3 + [0.0] * 3, "admittance.damping": [D] * 3 + [math.nan] * 3}
    trace = comply(lambda t: [0, force(t), 0, 0, 0, 0], 2.0, changes)
    ours = trace["p_tcp"][:, 1] - trace["p_tcp"][0, 1]
    growth = (-D + math.sqrt(D * D + 4 * MASS * K)) / (2 * MASS)
    figure, axes = panels()
    axes.plot(times(trace), 1e3 * np.array(naive), color=FAULTY, label="x = desired - current")
    axes.plot(times(trace), 1e3 * ours, color=OURS, label="ours: x = offset from the reference")
    axes.axvspan(0.0, 0.2, color=NEUTRAL, alpha=0.2, label="5 N push")
    axes.set(xlabel="time [s]", ylabel="offset [mm]", title="a spring of 100 N/m after a nudge")
    axes.legend()
    return {"growth_per_s": growth, "after_2s_mm": 1e3 * naive[-1], "ours_after_2s_mm": 1e3 * float(ours[-1])}, figure


def never_starts() -> Result:
    """5. Drift reset whenever |v| < 0.001 m/s: with 8 kg and 2 ms a steady 3.99 N never moves anything."""

    def naive(force: float) -> np.ndarray:
        v, out = 0.0, []
        for _ in range(round(1.0 / DT)):
            v += DT * (force - DAMPING * v) / MASS
            if abs(v) < 0.001:  # one tick from rest gives F dt / M
                v = 0.0
            out.append(v)
        return np.array(out)

    figure, (left, right) = panels(1, 2, sharey=True)
    numbers = {}
    for axes, force in ((left, 3.99), (right, 4.01)):
        trace = comply(lambda t, f=force: [0, f, 0, 0, 0, 0], 1.0, IDEAL_ARM)
        speed = naive(force)
        axes.plot(times(trace), 1e3 * speed, color=FAULTY, label="drift reset by speed alone")
        axes.plot(times(trace), 1e3 * trace["twist"][:, 1], "--", color=OURS, label="ours")
        axes.set(xlabel="time [s]", title=f"a steady push of {force} N")
        key = f"{force:.2f}".replace(".", "_")
        numbers[f"speed_mm_per_s_{key}"] = 1e3 * float(speed[-1])
        numbers[f"ours_mm_per_s_{key}"] = 1e3 * float(trace["twist"][-1, 1])
    left.set_ylabel("speed [mm/s]")
    left.legend()
    return numbers, figure


def hard_deadband() -> Result:
    """6. Below the threshold the velocity is set to zero: a jump at release, chatter when the hand hovers there."""
    threshold, rng = 1.5, np.random.default_rng(0)
    release = lambda t: 8.5 if t < 0.5 else 0.0  # noqa: E731
    n = round(1.0 / DT)
    hover = threshold + 0.1 * rng.standard_normal(n)  # a steady hand at the threshold, sensor noise 0.1 N

    def naive(force: np.ndarray) -> np.ndarray:
        v, out = 0.0, []
        for f in force:
            v = v + DT * (f - DAMPING * v) / MASS if abs(f) >= threshold else 0.0
            out.append(v)
        return np.array(out)

    changes = {"admittance.filter_coefficient": 1.0}  # both sides without a filter
    released = comply(lambda t: [0, release(t), 0, 0, 0, 0], 1.0, changes)
    hovered = comply(lambda t: [0, hover[min(int(t / DT), n - 1)], 0, 0, 0, 0], 1.0, changes)
    t = times(released)
    v_release, v_hover = naive(np.array([release(x) for x in t])), naive(hover)
    jump = float(np.abs(np.diff(v_release)).max() / DT)
    ours = float(np.abs(np.diff(released["twist"][:, 1])).max() / DT)
    figure, (left, right) = panels(1, 2)
    left.plot(t, 1e3 * v_release, color=FAULTY, label="hard deadband")
    left.plot(t, 1e3 * released["twist"][:, 1], color=OURS, label="ours: soft")
    left.set(xlabel="time [s]", ylabel="speed [mm/s]", title="8.5 N, let go at 0.5 s")
    left.legend()
    right.plot(t, 1e3 * v_hover, color=FAULTY, linewidth=0.8)
    right.plot(t, 1e3 * hovered["twist"][:, 1], color=OURS)
    right.set(xlabel="time [s]", ylabel="speed [mm/s]", title="a force that hovers at 1.5 N")
    stops = int(np.count_nonzero((v_hover[1:] == 0.0) & (v_hover[:-1] > 0.0)))
    return {"jump_m_per_s2": jump, "ours_m_per_s2": ours, "stops_per_s": stops}, figure


def frozen_spring() -> Result:
    """7. RK4 whose stages all use the spring force of the start of the step: error after 1 s against the step size."""
    K, D, f = 400.0, 2 * 0.3 * math.sqrt(MASS * 400.0), 10.0
    exact = spring_step(0.0, 0.0, MASS, D, K, f, 1.0)[0]

    def frozen(x: float, v: float, dt: float) -> tuple[float, float]:
        spring = K * x
        k1 = (f - D * v - spring) / MASS
        k2 = (f - D * (v + k1 * dt / 2) - spring) / MASS
        k3 = (f - D * (v + k2 * dt / 2) - spring) / MASS
        k4 = (f - D * (v + k3 * dt) - spring) / MASS
        v += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x + dt * v, v

    def euler(x: float, v: float, dt: float) -> tuple[float, float]:
        v += dt * (f - D * v - K * x) / MASS
        return x + dt * v, v

    def error(step: object, dt: float) -> float:
        x = v = 0.0
        for _ in range(round(1.0 / dt)):
            x, v = step(x, v, dt)  # type: ignore[operator]
        return max(abs(x - exact), 1e-16)

    steps = np.array([0.0005, 0.001, 0.002, 0.004, 0.01, 0.02])
    integrators = {
        "semi-implicit Euler": (euler, NEUTRAL, "s-"),
        "RK4, spring frozen": (frozen, FAULTY, "o-"),
        "ours: RK4, full stages": (lambda x, v, dt: rk4_step(x, v, MASS, D, K, f, dt), IDEAL, "^-"),
        "ours: exact": (lambda x, v, dt: spring_step(x, v, MASS, D, K, f, dt), OURS, "d-"),
    }
    figure, axes = panels(height=3.4)
    numbers = {}
    for (name, (step, colour, style)), key in zip(
        integrators.items(), ("euler", "frozen", "rk4", "exact"), strict=True
    ):
        axes.loglog(1e3 * steps, [1e3 * error(step, dt) for dt in steps], style, color=colour, label=name)
        numbers[f"{key}_error_mm"] = 1e3 * error(step, DT)
    axes.set(xlabel="step [ms]", ylabel="error after 1 s [mm]", title="spring 400 N/m, damping ratio 0.3, 10 N")
    axes.set_ylim(1e-14, 1e2)
    axes.legend(ncols=2, loc="upper left")
    return numbers, figure


def blended_damping() -> Result:
    """10. Damping blended between K < 1 and K >= 1 N/m, with a virtual stiffness of 10 N/m for K = 0."""
    zeta, virtual = 0.8, 10.0

    def naive(k: float) -> float:
        soft, stiff = 2 * zeta * math.sqrt(MASS * virtual), 2 * zeta * math.sqrt(MASS * k)
        return stiff if k >= 1.0 else (1 - k) * soft + k * stiff

    def ours(k: float) -> float:
        parameters = Parameters().changed({"admittance.stiffness": [k] * 3 + [0.0] * 3})
        return parameters.admittance.effective_damping[0]

    k = np.concatenate([np.linspace(0.0, 2.0, 41), np.geomspace(2.1, 600.0, 30)])
    figure, (left, right) = panels(1, 2)
    for axes, most in ((left, 3.0), (right, 600.0)):
        shown = k[k <= most]
        axes.plot(shown, [naive(x) for x in shown], color=FAULTY, label="blended")
        axes.plot(shown, [ours(x) for x in shown], color=OURS, label="ours: max(K, K_virtual)")
        axes.set(xlabel="stiffness K [N/m]", ylabel="damping D [Ns/m]")
    left.set_title("very soft springs")
    right.set_title("the whole range")
    right.legend()
    return {"at_0": naive(0.0), "at_1": naive(1.0), "ours_at_0": ours(0.0), "ours_at_1": ours(1.0)}, figure


def filter_coefficient() -> Result:
    """12. The same coefficient 0.8 at three loop rates: a step of 1 N and the cutoff that it means."""
    rates, c = (100.0, 500.0, 1000.0), 0.8
    cutoff = {rate: -math.log1p(-c) * rate / (2 * math.pi) for rate in rates}
    ours = Parameters().admittance.cutoff_hz
    figure, (left, right) = panels(1, 2)
    for rate, colour in zip(rates, (FAULTY, OURS, IDEAL), strict=True):
        n = round(0.06 * rate)
        left.step(
            1e3 * np.arange(n) / rate, 1 - (1 - c) ** np.arange(n), where="post", color=colour, label=f"{rate:g} Hz"
        )
    left.set(xlabel="time [ms]", ylabel="filtered step", title="coefficient 0.8", xlim=(0, 60))
    left.legend(title="loop rate")
    grid = np.linspace(100, 1000, 50)
    right.plot(grid, [-math.log1p(-c) * rate / (2 * math.pi) for rate in grid], color=FAULTY, label="coefficient 0.8")
    right.axhline(ours, color=OURS, label="ours: stored as a cutoff")
    right.set(xlabel="loop rate [Hz]", ylabel="cutoff [Hz]", title="bandwidth of the filter")
    right.legend()
    return {
        "cutoff_100_hz": cutoff[100.0],
        "cutoff_500_hz": cutoff[500.0],
        "cutoff_1000_hz": cutoff[1000.0],
        "ours_hz": ours,
    }, figure
