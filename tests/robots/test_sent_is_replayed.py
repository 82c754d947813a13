"""A recording gives every bit of what was sent again: two force sensors of a simulated arm, and an arm through RTDE."""

import numpy as np
import pytest
from tests.robots.rtde.netft_server import COUNTS, NetFtServer

from ur_admittance.control import AdmittanceController
from ur_admittance.core import tick as tick_module
from ur_admittance.core.records import Mode
from ur_admittance.core.wrench.fusion_record import BOTH, ONLY_SECOND
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.recording import replay as replay_module
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.robots.external_sensors import NetFt
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.simulated import FtSensor, SecondSensor, SimulatedRobot, World
from ur_admittance.runtime.loop import run
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

NOISY = FtSensor(noise_force=0.1, noise_torque=0.005)


@pytest.fixture(scope="module")
def two_sensors(tmp_path_factory):
    """The first of two sensors falls silent under a push and comes back; references are streamed, and end."""
    path, taken = tmp_path_factory.mktemp("sent") / "two.mcap", []
    world = World("ur5e", sensor=NOISY, second=SecondSensor(FtSensor(noise_force=0.3, noise_torque=0.015), lag=0.02))
    robot = SimulatedRobot(world)
    controller = AdmittanceController(world.model, Parameters().changed(world.parameters()))
    controller.configure()
    controller.activate()
    write, cycle = robot.write, 0

    def noted(command):
        sent = write(command)
        taken.append(np.array(sent))
        return sent

    def on_tick(_):
        nonlocal cycle
        cycle += 1
        if cycle == 200:
            world.push(lambda t: np.array([0.0, 12.0 if t < 2.0 else 0.0, 0.0, 0.0, 0.0, 0.0]))
        elif cycle == 600:
            robot.faults.begin("silent", 0.0)
        elif cycle == 900:
            robot.faults.end()
        elif cycle == 1300:
            controller.set_reference_twist([0.02, 0.0, 0.0, 0.0, 0.0, 0.0])
            controller.set_reference_wrench([0.0, 0.0, -2.0, 0.0, 0.0, 0.0], valid_for=0.2)

    robot.write = noted
    with robot, Recorder(path, model="ur5e") as recorder:
        run(controller, robot, robot.clock(), duration=4.0, telemetry=recorder, on_tick=on_tick)
    return read_log(path), np.array(taken)


def test_a_run_with_two_sensors_is_recomputed_from_both_raw_readings(two_sensors):
    log, taken = two_sensors
    result = replay(log)
    assert result.exact, str(result)
    assert int(result.recomputed.sum()) == len(log.ticks) - 1
    assert (result.sent[1:, :6] == taken[1 : len(log.ticks)]).all()  # what the simulated servo was given
    rules = {int(state["fusion"]["rule"]) for state in log.states.values()}
    assert rules >= {BOTH, ONLY_SECOND}
    sample = log.ticks["sample"]
    assert sample["second_read"].all()
    assert sample["wrench_age"].max() > 0.5  # raw: as the sensor was, not as it was made up for
    assert (log.ticks["command"]["mode"][100:] == Mode.ACTIVE)[:-200].all()
    assert np.abs(taken[-1] - taken[0]).max() > 0.05


def test_references_end_inside_the_tick(two_sensors):
    log, _ = two_sensors
    led = {i: state["led"] for i, state in log.states.items()}
    assert not any(one["twist"].any() for one in led.values())  # 0.1 s of 4
    given = log.ticks["sample"]["reference_twist"].any(axis=1)
    assert 49 <= given.sum() <= 51
    assert np.linalg.norm(log.ticks["command"]["p_ref"][-1] - log.ticks["command"]["p_ref"][1299]) > 1e-3


@pytest.mark.parametrize(
    ("field", "by"),
    [("second_wrench", 1e-9), ("second_age", 1.0), ("twist_valid_for", -0.05), ("reference_twist", 1e-9)],
)
def test_every_input_of_the_funnel_counts(two_sensors, field, by):
    """One that the tick did not use would be recorded in vain."""
    log, _ = two_sensors
    whole = log.ticks
    ticks = whole.copy()
    ticks["sample"][field][400:] += by
    log.ticks = ticks
    try:
        result = replay(log)
    finally:
        log.ticks = whole
    assert result.differences["sent.q"] > 0.0


def test_a_kernel_that_computes_something_else_is_noticed(two_sensors, monkeypatch):
    class Broken:
        def on(self, params, state, sample, command):
            def broken():
                tick_module.tick(params, state, sample, command)
                command["q"][0, 2] += 1e-15

            return broken

    log, _ = two_sensors
    monkeypatch.setattr(replay_module, "tick", Broken())
    result = replay(log)
    assert not result.exact
    assert 0.0 < result.differences["sent.q"] < 1e-12


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--patience", "0.4") as started:
        yield started


@pytest.mark.parametrize(("command", "sensors"), [("speed", 1), ("servo", 1), ("speed", 2)])
def test_what_an_arm_got_through_rtde_is_recomputed(emulator, tmp_path, command, sensors):
    emulator.tell("reset")
    model = robot_model("ur5e")
    patient = {"command": command, "state_patience": 0.5, "command_patience": 0.4}
    changes = {"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]}
    rng, cycle = np.random.default_rng(0), 0
    with NetFtServer() as server:
        settings, netft = RtdeSettings(**patient), None
        if sensors == 2:
            settings = RtdeSettings(sensor="external", second="builtin", **patient)
            netft = NetFt(server.host, COUNTS, COUNTS, server.port)
            changes |= {"sensor.source": netft.source, "second.source": "builtin", "safety.wrench_timeout": 0.3}
        controller = AdmittanceController(model, Parameters().changed(changes))
        controller.configure()

        def on_tick(_):
            nonlocal cycle
            cycle += 1
            noise = rng.normal(0.0, 0.01, 6) * np.repeat([1.0, 0.1], 3)
            server.wrench = (controller.sample["second_wrench"] + noise).tolist()
            server.silent = cycle > 500
            if cycle == 300:
                controller.activate()
            elif cycle == 400:
                emulator.tell("push 0 10 0 0 0 0")

        robot = RtdeRobot(emulator.host, model, settings, netft)
        with robot, Recorder(tmp_path / "run.mcap", model="ur5e", realtime=True) as recorder:
            run(controller, robot, robot.clock(), duration=2.0, telemetry=recorder, on_tick=on_tick)
        got = np.array([values[-6:] for values in emulator.ask("trace")["values"]])
    log = read_log(tmp_path / "run.mcap")
    result = replay(log)
    assert result.exact, str(result)
    sent = result.sent[1:, 6:] if command == "speed" else result.sent[1:, :6]
    assert np.abs(sent - sent[0]).max() > 0.01
    assert in_order(got, sent) > 0.95 * len(sent)
    if sensors == 2:
        assert log.ticks["sample"]["second_read"].all()
        assert controller.state["fusion"]["rule"] == ONLY_SECOND


def in_order(got, sent):
    """How many of the commands that a robot got are those that were sent, in this order; all must be."""
    rows = iter(enumerate(map(bytes, np.ascontiguousarray(sent))))
    found = 0
    for one in map(bytes, np.ascontiguousarray(got)):
        found += any(row == one for _, row in rows)
    assert found >= len(got) - 25, f"{len(got) - found} of {len(got)} commands were not sent by the tick"
    return found
