"""Light tools on steel with every integrator: they hold like the exact one, and SciPy judges each of their steps."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ur_admittance.core.records import PARAMS, Mode, new
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.robots.simulated import Environment, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, simulate

STEEL = 1e5  # [N/m]
PRESSED = 10.0  # [N]
TOOL = Tool(mass=0.5)
ONLY_Z = [False, False, True, False, False, False]
# Largest error of one step over the change of the rate in it. Up to D dt / M = 0.5 RK4 is off by 3e-4, Euler takes
# z instead of 1 - exp(-z): 27 % too much; beyond, all are exact.
JUDGED = {"exact": 1e-6, "rk4": 4e-4, "semi_implicit_euler": 0.28}


def pressed(integrator: str, mass: float, delay: float, compensate: bool) -> Case:
    servo = Servo(delay=delay)
    parameters = Parameters().changed(
        {
            **TOOL.parameters(),
            "robot.response_time": servo.response_time,
            "admittance.mass": [mass] * 3 + [0.1 * mass] * 3,
            "admittance.compensate_mass": compensate,
            "admittance.force_axes": ONLY_Z,
            "admittance.desired_wrench": [0.0, 0.0, PRESSED, 0.0, 0.0, 0.0],
            "admittance.integrator": integrator,
            "contact.approach_speed": [0.02, 0.2],
        }
    )
    script = Script(4.0)
    script.activate(0.02)
    return Case(script, parameters, tool=TOOL, environment=Environment.floor(STEEL, gap=0.005), servo=servo)


CASES = [(mass, delay, compensate) for mass in (2.0, 2.5, 3.0) for delay in (0.0, 0.01) for compensate in (True, False)]


@pytest.mark.parametrize("integrator", JUDGED)
def test_two_to_three_kilograms_hold_ten_newtons_on_steel_with_every_integrator(integrator):
    exact = simulate([pressed("exact", *case) for case in CASES])
    for case, judge, trace in zip(CASES, exact, simulate([pressed(integrator, *case) for case in CASES]), strict=True):
        force, settled = trace.contact[:, 2], trace.contact[-500:, 2]
        assert trace.command["mode"][-1] == Mode.ACTIVE, case
        assert settled.mean() == pytest.approx(PRESSED, abs=0.05), case
        assert np.ptp(settled) < 0.2, case
        assert force.max() < 1.1 * judge.contact[:, 2].max(), case


@pytest.mark.parametrize("integrator", JUDGED)
def test_each_step_in_contact_agrees_with_scipy(integrator):
    case = pressed(integrator, 2.0, 0.01, True)
    [trace] = simulate([case])
    record = new(PARAMS)[0]
    fill(record, case.parameters, robot_model(case.robot))
    c, first = trace.command, int(np.argmax(trace.contact[:, 2] > 0.0))
    ticks = first + np.flatnonzero(c["limits"][first : first + 500] == 0)
    before, after, damping = c["rate"][ticks - 1, 2], c["rate"][ticks, 2], c["damping"][ticks, 2]
    force, mass = c["wrench_control"][ticks, 2] - PRESSED, record["mass"][2]
    true = solve_ivp(
        lambda t, v: (force - damping * v) / mass, (0.0, trace.period), before, "DOP853", rtol=1e-10, atol=1e-14
    ).y[:, -1]
    free = np.abs(after) < 0.999 * record["approach_speed"][0]  # the approach speed is a limit of its own
    changed = np.abs(true - before)
    assert free.sum() > 300
    assert (damping * trace.period / mass)[free].max() > 3.0  # where RK4 by itself would diverge
    assert (np.abs(after - true) <= JUDGED[integrator] * changed + 1e-9)[free].all()
