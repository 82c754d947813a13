"""Contact does not bounce: walls, surfaces, holes. 10 ms delay, 25 Hz servo, 0.1 N noise; more: benchmarks/contact."""

import math
import os

import numpy as np
import pytest

from benchmarks.contact.cases import HEAVY_FILTER, PLAIN, outcome, values
from ur_admittance.core.records import Mode
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.scenarios import Setup, Stage
from ur_admittance_lab.scenarios.in_contact import pressing

SEEDS = range(5 if os.environ.get("SWEEP") else 1)
HOLD = 20.0 if os.environ.get("SWEEP") else 5.0  # [s]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("filtered", [{}, HEAVY_FILTER])
@pytest.mark.parametrize(("stiffness", "overshoot"), [(1e3, 10.0), (1e4, 10.0), (1e5, 50.0)])
def test_a_wall_is_pressed_without_bouncing(stiffness: float, overshoot: float, filtered: dict, seed: int) -> None:
    result = outcome("wall", seed, filtered, stiffness=stiffness, hold=HOLD)
    figures = values(result)
    assert figures["residual"] <= 0.4
    assert figures["overshoot"] <= overshoot
    assert figures["mean_force"] == pytest.approx(10.0, abs=0.1)
    assert result.stops == []


def test_plain_admittance_bounces_on_the_same_wall() -> None:
    assert values(outcome("wall", 0, PLAIN | HEAVY_FILTER, stiffness=1e4, hold=5.0))["residual"] > 5.0


def test_damping_is_only_raised_stays_bounded_and_returns_when_contact_is_lost() -> None:
    changes = {"admittance.damping": [80.0] * 3 + [math.nan] * 3, "contact.max_damping": [1500.0, 50.0]}
    stage = Stage(Setup(), pressing(0, -10.0) | changes, environment=Environment.wall(1e5, gap=0.005))
    stage.run(3.0)
    stage.controller.set_parameters({"admittance.desired_wrench": [5.0, 0.0, 0.0, 0.0, 0.0, 0.0]})  # draw back
    start = stage.time
    stage.run(3.0)
    trace = stage.finish()
    pressed, part = trace.since(0.0, start), trace.since(start, start + 3.0)
    damping = pressed.command["damping"][:, 0]
    assert damping.max() == pytest.approx(1500.0)
    assert damping[-1] == pytest.approx(1500.0)
    assert damping[pressed.command["mode"] == Mode.ACTIVE].min() >= 80.0
    assert part.command["damping"][-1, 0] == pytest.approx(80.0)
    assert np.abs(np.diff(part.command["damping"][:, 0])).max() < 0.02 * 1500.0
    acceleration = np.diff(part.command["twist"][:, 0]) / stage.period
    assert np.abs(acceleration).max() < 5.0 + 1e-6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", ["flat", "incline", "cylinder"])
@pytest.mark.parametrize(("speed", "limit"), [(0.02, 0.3), (0.05, 0.5)])
def test_ten_newtons_are_kept_along_the_normal(shape: str, speed: float, limit: float, seed: int) -> None:
    figures = values(outcome("surface", seed, shape=shape, speed=speed))
    assert figures["rms_error"] <= limit
    assert figures["least_force"] > 5.0


def test_plain_admittance_errs_by_damping_times_climbing_speed() -> None:
    figures = values(outcome("surface", 0, PLAIN, shape="incline", speed=0.05))
    assert figures["rms_error"] == pytest.approx(250.0 * 0.05 * math.tan(math.radians(10.0)), rel=0.4)


@pytest.mark.parametrize("seed", range(100 if os.environ.get("SWEEP") else 3))
def test_a_peg_finds_its_hole(seed: int) -> None:
    figures = values(outcome("peg_in_hole", seed))
    assert figures["inserted"] == 1.0
    assert figures["peak_force"] < 40.0


def test_losing_the_surface_does_not_make_the_tool_race() -> None:
    """The floor ends: the force axis goes on at no more than its approach speed."""
    changes = {
        "admittance.damping": [250.0] * 3 + [math.nan] * 3,
        "admittance.bias_time": 0.3,
        "contact.approach_speed": [0.02, 0.2],
    }
    stage = Stage(Setup(), pressing(2, 10.0) | changes, environment=Environment.floor(1e4, gap=0.005))
    stage.run(3.0)
    assert stage.controller.command["contact"][2] == 1
    stage.world.mj_model.body("environment").pos[2] -= 1.0  # taken away
    start = stage.time
    stage.run(1.5)
    part = stage.finish().since(start, start + 1.5)
    assert part.command["contact"][-1, 2] == 0
    speed = np.linalg.norm(part.command["twist"][:, :3], axis=1)
    assert 0.015 < speed.max() < 0.025
