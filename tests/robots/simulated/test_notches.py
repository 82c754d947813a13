"""Notches and the soft box on a simulated arm: what a hand feels, and that nothing moves without one."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Servo, SimulatedRobot, World
from ur_admittance.runtime.loop import run

DT = 0.002  # [s]
ACTIVATED = 0.6  # [s]
HOME = World("ur5e").pose()[1]


def felt(changes, push, seconds=3.0, live=None):
    """push: t -> force [N], from ACTIVATED + 0.1 s on; live: (t, changes). Places of the tool [m], forces of the shapes
    and damping in force."""
    arm = World("ur5e", servo=Servo(delay=0.010))
    robot = SimulatedRobot(arm)
    controller = AdmittanceController(arm.model, Parameters().changed(arm.parameters() | changes))
    controller.configure()
    places, wells, speeds = [], [], []

    def on_tick(_):
        places.append(arm.pose()[1].copy())
        wells.append(controller.state["well"].copy())
        speeds.append(controller.command["twist"][:3].copy())
        t = len(places) * DT
        if len(places) == round(ACTIVATED / DT):
            controller.activate(accept_load=True)
        force = np.array(push(t - ACTIVATED - 0.1), float) if t > ACTIVATED + 0.1 else np.zeros(3)
        arm.push(np.concatenate([force, np.zeros(3)]))
        if live and len(places) == round(live[0] / DT):
            controller.set_parameters(live[1])

    with robot:
        run(controller, robot, robot.clock(), duration=seconds, on_tick=on_tick)
    return np.array(places), np.array(wells), np.array(speeds)


def notch(y, **more):
    return {"guiding.notch_1": (HOME + [0.0, y, 0.0]).tolist()} | {f"guiding.{k}": v for k, v in more.items()}


def test_let_go_near_a_notch_the_tool_snaps_to_it():
    places, wells, speeds = felt(notch(0.05), lambda t: [0.0, 4.0 if t < 1.1 else 0.0, 0.0])
    let_go = round((ACTIVATED + 1.2) / DT)
    away = places[let_go, 1] - HOME[1] - 0.05
    left = np.linalg.norm(places[-1] - HOME - [0.0, 0.05, 0.0])
    size = np.linalg.norm(wells, axis=1)
    energy = np.sum((wells[1:] * speeds[1:]).sum(axis=1)) * DT
    fastest = np.linalg.norm(speeds[let_go:], axis=1).max()
    print(f"let go {1e3 * away:.1f} mm from it, at rest {1e3 * left:.2f} mm from it; at most {size.max():.2f} N, "  # noqa: T201
          f"{1e3 * fastest:.0f} mm/s; energy {1e3 * energy:.1f} mJ of {1e3 * 12.0 * 0.015 / np.pi:.1f} mJ")  # fmt: skip
    assert 0.002 < abs(away) < 0.015
    assert left < 4e-4
    assert size.max() <= 6.0 + 1e-9
    assert abs(energy) < 1.01 * 2.0 * 6.0 * 0.015 / np.pi
    np.testing.assert_allclose(speeds[-100:], 0.0, atol=1e-9)


def test_a_hand_that_goes_on_passes_a_notch():
    places, wells, _ = felt(notch(0.05), lambda t: [0.0, 12.0, 0.0], seconds=1.9)
    assert np.abs(wells).max() > 4.0
    assert places[-1, 1] - HOME[1] > 0.08


def test_a_notch_beside_a_tool_at_rest_does_not_move_it():
    for live in (None, (1.5, notch(0.006))):
        places, _, speeds = felt({} if live else notch(0.006), lambda t: [0.0] * 3, seconds=2.5, live=live)
        assert np.abs(speeds).max() < 1e-12
        assert np.linalg.norm(places[-1] - places[300]) < 1e-4


def test_a_soft_box_pushes_a_hand_back_and_lets_it_through():
    box = {"guiding.box_max": [None, float(HOME[1] + 0.03), None]}
    # 15 N of the wall and a deadband of 1.5 N: 10 N stretch it by 8.5 / 400 m, 25 N go on
    places, wells, _ = felt(box, lambda t: [0.0, 10.0 if t < 2.0 else 0.0, 0.0], seconds=4.0)
    held, back = places[round((ACTIVATED + 2.0) / DT), 1], places[-1, 1]
    held, back = held - HOME[1] - 0.03, back - HOME[1] - 0.03
    print(f"10 N: {1e3 * held:.1f} mm into the wall, then back to {1e3 * back:.1f} mm")  # noqa: T201
    assert held == pytest.approx(8.5 / 400.0, abs=2e-3)
    assert back < 1.5e-3
    places, wells, _ = felt(box, lambda t: [0.0, 25.0, 0.0], seconds=2.4)
    assert np.linalg.norm(wells, axis=1).max() <= 15.0 + 1e-9
    assert places[-1, 1] - HOME[1] > 0.1


def test_a_shape_comes_and_goes_under_a_push_without_a_jump():
    def push(t):
        return [0.0, 6.0, 0.0]

    changed = 1.3  # [s]
    place = felt({}, push, seconds=1.4)[0][round(changed / DT)] - [0.0, 0.007, 0.0]
    shape, none = {"guiding.notch_1": place.tolist()}, {"guiding.notch_1": None}
    for before, after in ((none, shape), (shape, none)):
        _, wells, speeds = felt(before, push, 2.0, (changed, after))
        at = round(changed / DT)
        assert np.abs(wells[at - 5 : at + 6]).max() > 4.0
        jump = np.abs(np.diff(np.diff(speeds[:, 1]) / DT))[at - 4 : at + 6].max()
        print(f"the acceleration changes by {jump:.3f} m/s2 in a cycle")  # noqa: T201
        assert jump < 0.1  # 5 N at once would be 0.6 m/s2


def test_notches_that_would_pull_together_are_refused():
    with pytest.raises(ParameterError, match=r"guiding\.notch_2 = .*: must be at least 0\.03 m from guiding\.notch_1"):
        Parameters().changed({"guiding.notch_1": [0.4, 0.0, 0.3], "guiding.notch_2": [0.42, 0.0, 0.3]})
