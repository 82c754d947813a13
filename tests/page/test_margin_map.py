"""The stability map of the page: judged by the eigenvalues of the laboratory, and by an arm that bounces."""

import numpy as np
import pytest

from ur_admittance.analysis.axis_loop import loop_of
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, new
from ur_admittance.page.margin_map import BOUNCES, RINGS, SAFE, MarginMap, doing, in_series, touch_of, zone_of
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Environment, Servo, SimulatedRobot, World
from ur_admittance.runtime.loop import run
from ur_admittance_lab.stability.eigenvalues import sufficient_damping

PRESSING = {
    "admittance.force_axes": [False, False, True, False, False, False],
    "admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
    "contact.stabilizer": False,
}
TAP = np.array([0.0, 0.0, -8.0, 0.0, 0.0, 0.0])  # [N]


def test_the_zones_are_those_of_the_eigenvalues():
    rng, seen = np.random.default_rng(33), []
    for _ in range(120):
        mass, damping, delay = rng.uniform(3.0, 15.0), np.exp(rng.uniform(3.0, 7.0)), rng.uniform(0.004, 0.03)
        parameters = Parameters().changed(
            {"admittance.mass": [mass] * 6, "admittance.damping": [damping] * 6, "robot.response_time": delay}
        )
        loop = loop_of(parameters)
        surface = np.exp(rng.uniform(np.log(2e2), np.log(2e5)))
        stiffness = in_series(surface, loop)
        zone = zone_of(loop, damping, stiffness)
        enough = sufficient_damping(loop, surface)
        if min(abs(enough / d - 1.0) for d in (damping, damping / 2.0)) < 0.03:
            continue  # at an edge
        assert zone == (SAFE if enough < damping / 2.0 else RINGS if enough < damping else BOUNCES)
        seen.append(zone)
    assert min(seen.count(zone) for zone in (SAFE, RINGS, BOUNCES)) > 5


def pressed(ratio):
    """An arm that presses a table of 8 kN/m with a damping that falls to this ratio, and is tapped: the zones it was in
    until then and after, and how its force swings at the end [N]."""
    arm = World("ur5e", environment=Environment("floor", stiffness=8e3), servo=Servo(delay=0.010))
    parameters = Parameters().changed(arm.parameters() | PRESSING)
    parameters = parameters.changed({"admittance.damping_ratio": [4.0] * 3 + [0.8] * 3})
    robot, controller = SimulatedRobot(arm), AdmittanceController(arm.model, parameters)
    controller.configure()
    zones, forces = [], []

    def on_tick(_):
        forces.append(arm.contact_wrench[2])
        if len(forces) == 300:
            controller.activate(accept_load=True)
        if len(forces) == 2000:
            controller.set_parameters({"admittance.damping_ratio": [ratio] * 3 + [0.8] * 3})
        arm.push(TAP if 2600 < len(forces) <= 2610 else 0.0 * TAP)
        if len(forces) > 1500 and len(forces) % 25 == 0:
            zones.append(touch_of(controller.parameters, controller.command).zone)

    with robot:
        run(controller, robot, robot.clock(), duration=7.0, on_tick=on_tick)
    return zones, np.ptp(forces[-500:])


@pytest.mark.parametrize(("ratio", "end"), [(3.6, SAFE), (0.8, BOUNCES)])
def test_the_point_changes_its_colour_before_the_arm_bounces(ratio, end):
    zones, swing = pressed(ratio)
    print(f"damping ratio {ratio}: {zones[-1]}, the force swings by {swing:.1f} N")  # noqa: T201
    assert zones[0] == SAFE
    assert zones[-1] == end
    assert (swing > 3.0) == (end == BOUNCES)
    if end == BOUNCES:
        assert RINGS in zones


class Gui:
    def add_html(self, content):
        self.content = content
        return self


def test_an_arm_that_touches_nothing_is_safe_whatever_it_could_not_hold():
    command, gui = new(COMMAND)[0], Gui()
    chart = MarginMap(gui)
    chart.update(command, Parameters(), 0.0)
    assert (chart.touch.zone, chart.warning) == (SAFE, "")
    assert doing(chart.touch) == "Nothing stiff is touched."
    command["contact_stiffness"][1], command["damping"][:] = 9e3, 64.0
    chart.update(command, Parameters(), 1.0)
    assert chart.touch.axis == 1
    assert "Along y the tool touches 9.0 kN/m, it bounces" in chart.warning
    assert 'data-zone="bounces"' in gui.content


def test_an_axis_that_a_lock_holds_is_not_on_the_map():
    command = new(COMMAND)[0]
    command["contact_stiffness"][:] = 0.0, 9e3, 0.0, 0.0, 0.0, 0.0
    command["damping"][:] = 64.0
    line = Parameters().changed({"guiding.lock": "line", "guiding.lock_frame": "base"})
    assert touch_of(line, command).axis == 2
