"""Every preset in contact: force presets press a floor of any stiffness, the guiding preset is pressed by a hand."""

import numpy as np
import pytest

from ur_admittance.params import PRESETS, preset
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.scenarios import Setup, Stage
from ur_admittance_lab.scenarios.in_contact import OVER_TABLE

GUIDING = ("hand_guiding", "hand_guiding_reduced", "light_guiding")
PRESSING = ("assembly", "polishing", "probe_contact", "surface_following")


def test_all_presets_are_covered() -> None:
    assert set(PRESETS) == {*PRESSING, *GUIDING}


@pytest.mark.parametrize("name", PRESSING)
@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
def test_presets_with_a_force_press_any_floor_without_bouncing(name: str, stiffness: float) -> None:
    parameters = preset(name)
    stage = Stage(Setup(preset=parameters), environment=Environment.floor(stiffness, gap=0.003), q=OVER_TABLE)
    stage.run(6.0)
    start = stage.time
    stage.run(3.0)
    trace = stage.finish()
    force = trace.since(start, start + 3.0).contact[:, 2]
    wanted = parameters.admittance.desired_wrench[2]
    assert np.ptp(force) < 0.4
    assert force.mean() == pytest.approx(wanted, abs=0.2)
    # until the arm has answered, 25 ms, it drives on into surface and arm in series
    in_series = stiffness * 31e3 / (stiffness + 31e3)
    assert trace.contact[:, 2].max() < 1.25 * wanted + in_series * parameters.contact.approach_speed[0] * 0.025 + 1.0
    assert np.all(trace.command["status"] == 0)


@pytest.mark.parametrize("name", GUIDING)
@pytest.mark.parametrize("stiffness", [1e4, 1e5])
def test_a_guiding_preset_can_be_pressed_on_a_table_by_hand(name: str, stiffness: float) -> None:
    stage = Stage(
        Setup(preset=preset(name).changed({"guiding.enable": "none"})),
        environment=Environment.floor(stiffness, gap=0.01),
        q=OVER_TABLE,
    )
    down = np.array([0.0, 0.0, -0.03, 0.0, 0.0, 0.0])
    stage.world.grab(lambda t: down * min(1.0, t / 1.0), stiffness=(1000.0, 30.0), damping=(30.0, 1.0))
    stage.run(4.0)
    start = stage.time
    stage.run(2.0)
    stage.world.let_go()
    trace = stage.finish()
    assert np.ptp(trace.since(start, start + 2.0).contact[:, 2]) < 1.0
    assert np.all(trace.command["status"] == 0)


def test_the_first_values_of_surface_following_did_bounce() -> None:
    """Why they were changed: spring of 100 N/m, 0.8 kg, coefficient 0.1, pressed on wood by its reference."""
    first = {
        "admittance.mass": [3.0, 3.0, 0.8, 0.3, 0.3, 0.3],
        "admittance.damping_ratio": [0.7, 0.7, 0.9, 0.8, 0.8, 0.8],
        "admittance.stiffness": [0.0, 0.0, 100.0, 0.0, 0.0, 0.0],
        "admittance.enabled_axes": [False, False, True, False, False, False],
        "admittance.min_motion_threshold": 0.8,
        "admittance.filter_coefficient": 0.1,
        "admittance.stiffness_engagement_time": 0.1,
        "contact.stabilizer": False,
    }
    stage = Stage(Setup(changes=first), environment=Environment.floor(1e4, gap=0.003), q=OVER_TABLE)
    stage.run(4.0, lambda s, t: s.controller.set_reference_twist([0, 0, -0.02 if t < 2.0 else 0.0, 0, 0, 0]))
    start = stage.time
    stage.run(2.0)
    force = stage.finish().since(start, start + 2.0).contact[:, 2]
    assert np.ptp(force) > 5.0
