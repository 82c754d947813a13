"""What the controller decides outside the tick stands in the records: a recording with it is recomputed to the bit."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Request, Status
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, SimulatedRobot, World
from ur_admittance.runtime.loop import run

NOISY = FtSensor(noise_force=0.1, noise_torque=0.005)
X_ONLY = [i == 0 for i in range(6)]
PRESSING = {
    "admittance.force_axes": X_ONLY,
    "admittance.enabled_axes": X_ONLY,
    "admittance.desired_wrench": [-130.0] + [0.0] * 5,
    "admittance.desired_wrench_rate": [100.0, 10.0],
    "safety.max_torque": 60.0,
}


def recorded(path, seconds, script, changes=None, **world):
    """The recording of a simulated arm. script: by cycle, functions of controller and robot."""
    arm = World("ur5e", **{"sensor": NOISY} | world)
    robot = SimulatedRobot(arm)
    controller = AdmittanceController(arm.model, Parameters().changed(arm.parameters() | (changes or {})))
    controller.configure()
    cycle = 0

    def on_tick(_):
        nonlocal cycle
        cycle += 1
        if cycle in script:
            script[cycle](controller, robot)

    with robot, Recorder(path, model="ur5e") as recorder:
        run(controller, robot, robot.clock(), duration=seconds, telemetry=recorder, on_tick=on_tick)
    log = read_log(path)
    result = replay(log)
    assert result.exact, str(result)
    assert int(result.recomputed.sum()) == len(log.ticks) - 1
    assert len(log.states) > seconds - 1.0  # once a second STATE is compared, to the bit as all else
    return log


def without(log, field, value):
    """Whether the replay notices that a field of all samples is another."""
    whole = log.ticks
    log.ticks = whole.copy()
    log.ticks["sample"][field] = value
    try:
        return not replay(log).exact
    finally:
        log.ticks = whole


def asked(log, request):
    return (log.ticks["sample"]["request"] & request) != 0


def test_an_activation_that_waits_for_a_sensor_is_recomputed(tmp_path):
    script = {
        300: lambda controller, robot: robot.drop_joints(),
        330: lambda controller, robot: controller.activate(),
        360: lambda controller, robot: robot.restore(),
    }
    log = recorded(tmp_path / "run.mcap", 2.5, script)
    mode = log.ticks["command"]["mode"]
    first = int(np.argmax(mode == Mode.ACTIVE))
    assert 355 < first < 400
    assert 20 < asked(log, Request.ACTIVATE).sum() <= first - 325  # again and again, until it is obeyed
    assert without(log, "request", Request.NONE)


def test_a_retreat_that_ends_by_its_time_is_recomputed(tmp_path):
    script = {
        10: lambda controller, robot: controller.activate(accept_load=True),
        3000: lambda controller, robot: controller.retreat(0.4),
    }
    wall, servo = Environment.wall(2e3, gap=0.005), Servo(delay=0.010)
    log = recorded(tmp_path / "run.mcap", 7.5, script, PRESSING, environment=wall, servo=servo, seed=3)
    status = log.ticks["command"]["status"]
    assert status[2999] == Status.OVER_FORCE
    assert (status == Status.RETREATING).sum() == pytest.approx(0.4 / 0.002, abs=2)
    assert (status == Status.RETREAT_ENDED).any()
    assert asked(log, Request.RETREAT).sum() == pytest.approx(0.4 / 0.002, abs=2)
    assert without(log, "request", log.ticks["sample"]["request"] & ~int(Request.RETREAT))


def test_a_force_that_is_steadier_than_a_hand_is_recomputed(tmp_path):
    script = {
        300: lambda controller, robot: controller.activate(),
        400: lambda controller, robot: robot.world.push([0.0, 6.0, 0.0, 0.0, 0.0, 0.0]),
    }
    log = recorded(tmp_path / "run.mcap", 5.0, script, {"safety.steady_force_time": 2.0})
    marked = log.ticks["sample"]["external_status"] == Status.STEADY_FORCE
    assert marked.sum() == 1
    assert (log.ticks["command"]["status"][int(np.argmax(marked)) :] == Status.STEADY_FORCE).any()
    assert without(log, "external_status", Status.OK)


def test_a_zero_that_follows_the_drift_is_recomputed(tmp_path):
    off = (0.5, -0.4, 0.3, 0.0, 0.0, 0.0)  # [N] within the deadband
    changes = {"sensor.bias": [0.0] * 6, "sensor.auto_zero": True, "sensor.auto_zero_time": 1.0}
    sensor = FtSensor(noise_force=0.1, noise_torque=0.005, bias=off)
    script = {300: lambda controller, robot: controller.activate()}
    log = recorded(tmp_path / "run.mcap", 12.0, script, changes, sensor=sensor)
    biases = [record["sensor_bias"] for record in log.params.values()]
    assert len(biases) > 2
    assert np.linalg.norm(biases[-1][:3] - off[:3]) < np.linalg.norm(off) - 0.05
    kept = dict(log.params)
    for i, record in kept.items():
        log.params[i] = record.copy()
        log.params[i]["sensor_bias"] = 0.0
    assert not replay(log).exact
    np.testing.assert_allclose(log.ticks["sample"]["wrench"][:, :2].mean(axis=0), off[:2], atol=0.05)  # as reported
