"""A tool that shakes itself presses on a surface: what the page about polishing promises."""

import numpy as np
import pytest

from benchmarks.contact.vibration import press
from ur_admittance.robots.simulated import Servo, Tool, World


@pytest.mark.parametrize(("hz", "amplitude", "stiffness"), [(50.0, 20.0, 1e4), (30.0, 10.0, 1e4), (150.0, 5.0, 1e4)])
def test_with_the_notch_the_tool_presses_as_if_it_did_not_vibrate(hz, amplitude, stiffness):
    """Seed 7 is not one that constants were chosen with."""
    without, given, found = (press(hz, amplitude, stiffness, notch, seed=7) for notch in ("without", "given", "found"))
    quiet = press(0.0, 0.0, stiffness, "without", seed=7)
    searching = press(0.0, 0.0, stiffness, "found", seed=7)  # has to allow for the latest notch that may be found
    for cell, calm in ((given, quiet), (found, searching)):
        assert not cell.stopped
        assert abs(cell.error) < 0.05
        assert cell.swing < 0.3
        assert cell.damping < 1.2 * calm.damping
        assert cell.seen_hz == pytest.approx(hz, rel=0.01)
    assert without.swing > 3.0 or without.damping > 2.0 * quiet.damping


def test_a_simulated_tool_shakes_the_sensor_and_touches_nothing():
    world = World("ur5e", Tool(mass=1.0, vibration=(0.0, 0.0, 10.0), vibration_hz=200.0), servo=Servo())
    rest = np.array(world.model.home)
    log = []
    for _ in range(500):
        world.step(rest, None, 0.002)
        log.append((world.wrench[2], np.abs(world.contact_wrench).max(), np.abs(world.external_wrench).max()))
    reading, contact, external = np.array(log).T
    assert (
        0.5 < np.ptp(reading[100:]) / 20.0 < 1.0
    )  # the mean of 2 ms leaves 0.81 of 200 Hz; the tool's inertia takes part
    assert contact.max() < 1e-9
    assert external.max() < 1e-9
