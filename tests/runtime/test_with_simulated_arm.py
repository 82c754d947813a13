"""The whole runtime around the simulated arm: zeroed, activated and pushed by messages, recorded, replayed."""

import pickle
import time
import uuid

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LoopError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.recording.why import why
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Mailbox


@pytest.fixture
def arm():
    model = robot_model("ur5e")
    controller = AdmittanceController(model)
    controller.configure()
    with SimulatedRobot(World(model)) as robot:
        yield controller, robot


def scenario(mailbox, robot):
    """Half a second of rest, zero, activate, a push of 15 N along x for a second, stop."""

    def push(controller, force):
        profile = np.array(force, dtype=float)
        robot.world.push(lambda time: profile)

    mailbox.handlers["push"] = push
    orders = {
        300: b'{"request": "zero_free_tool"}',
        310: b'{"request": "activate"}',
        350: b'{"push": [15, 0, 0, 0, 0, 0]}',
        850: b'{"push": [0, 0, 0, 0, 0, 0]}',
        1200: b'{"request": "stop"}',
    }
    count = 0

    def on_tick(controller):
        nonlocal count
        count += 1
        if count in orders:
            answer = mailbox.answer(controller, orders[count])
            assert answer.accepted, answer.text
        return count > 1250

    return on_tick


def test_a_push_by_message_moves_the_simulated_arm_and_the_recording_replays_exactly(arm, name, tmp_path):
    controller, robot = arm
    path = tmp_path / "run.mcap"
    with Mailbox(name) as mailbox, Recorder(path, model="ur5e", rate=500.0) as recorder:
        report = run(
            controller,
            robot,
            LockstepClock(500.0),
            telemetry=recorder,
            mailbox=mailbox,
            on_tick=scenario(mailbox, robot),
        )
    assert report.status == Status.OK
    assert report.mode == Mode.INACTIVE
    log = read_log(path)
    moved = log.ticks["command"]["p_tcp"][-1] - log.ticks["command"]["p_tcp"][0]
    assert 0.05 < moved[0] < 0.4, "15 N against 64 Ns/m for one second"
    assert abs(moved[1]) < 0.02
    assert abs(moved[2]) < 0.02
    assert replay(log).exact
    assert "active: the arm obeys forces" in why(log)


def test_a_protective_stop_of_the_arm_is_told_by_its_recording(arm, tmp_path):
    controller, robot = arm
    count = 0

    def on_tick(controller):
        nonlocal count
        count += 1
        if count == 5:
            controller.activate_with_load()  # the tool's weight is not known
        elif count == 100:
            robot.protective_stop()
        return count == 200

    with Recorder(tmp_path / "run.mcap", model="ur5e") as recorder:
        report = run(controller, robot, LockstepClock(500.0), telemetry=recorder, on_tick=on_tick)
    assert report.status == Status.PROTECTIVE_STOP
    assert "the robot is in a protective stop" in why(read_log(tmp_path / "run.mcap"))


@pytest.mark.realtime
def test_the_simulated_arm_keeps_up_with_the_clock():
    world = World(robot_model("ur5e"))
    controller = AdmittanceController(world.model, Parameters().changed(world.parameters()))
    controller.configure()
    times = []
    with SimulatedRobot(world, realtime=True) as robot:
        note = lambda controller: times.append((time.monotonic(), robot.world.time))  # noqa: E731
        report = run(controller, robot, RealTimeClock(500.0), duration=0.5, on_tick=note)
    wall, simulated = (np.array(column) - column[0] for column in zip(*times, strict=True))
    late = wall - simulated
    assert wall[-1] > 0.4
    assert np.abs(late[-30:]).min() < 0.004  # two cycles; a pause of this process may come after any reading
    assert report.status == Status.OK
    assert report.bad_periods == 0


def test_the_loop_runs_at_one_kilohertz_and_the_arm_moves_as_at_half_of_it():
    model, ends = robot_model("ur5e"), []
    for rate in (500.0, 1000.0):
        world = World(model)
        controller = AdmittanceController(model, Parameters().changed({"control_rate": rate, **world.parameters()}))
        controller.configure()
        controller.activate()
        with SimulatedRobot(world, period=1.0 / rate) as robot:
            start = world.pose()[1]
            world.push([0, 12, 0, 0, 0, 0], seconds=1.0)
            report = run(controller, robot, robot.clock(), duration=2.5)
            assert report.ticks == pytest.approx(2.5 * rate, rel=0.02)
            assert report.status == Status.OK
            ends.append(world.pose()[1] - start)
    assert ends[0][1] > 0.1
    assert ends[1] == pytest.approx(ends[0], abs=0.002)


def sway(t):
    """A hand that holds the tool and sways by 10 cm, all the time."""
    return np.array([0.1 * np.sin(6.0 * t), 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture
def held():
    """An arm that a hand is going to hold: controller and world."""
    world = World(robot_model("ur5e"))
    return AdmittanceController(world.model, Parameters().changed(world.parameters())), world


def test_what_was_computed_and_recorded_survives_when_a_hand_does_not_let_the_arm_come_to_rest(held, tmp_path):
    (controller, world), path, speeds = held, tmp_path / "held.mcap", []

    def session():
        with SimulatedRobot(world) as robot:
            world.grab(sway)
            keep = lambda c: speeds.append(float(c.command["twist"][0]))  # noqa: E731
            ua.run(controller, robot, duration=2.0, activate=True, on_tick=keep, log=path)

    with pytest.raises(LoopError, match=r"2 s were over.*the simulated arm is still moving") as caught:
        session()
    report, log = caught.value.report, read_log(path)
    assert not caught.value.stopped
    assert report.ended_because == "2 s were over"
    assert report.ticks == len(speeds) == len(log.ticks) >= 1000
    assert log.complete
    assert replay(log).exact
    sent = pickle.loads(pickle.dumps(caught.value))  # to another process
    assert (str(sent), str(sent.report), sent.stopped) == (str(caught.value), str(report), False)


@pytest.mark.parametrize("realtime", [False, True])
def test_the_report_of_a_loop_that_failed_tells_of_its_recording_too(held, realtime):
    controller, world = held

    def fail(controller):
        raise ZeroDivisionError

    with SimulatedRobot(world, realtime=realtime) as robot, pytest.raises(LoopError) as caught:
        ua.run(controller, robot, on_tick=fail, log="/dev/full", name=f"test-{uuid.uuid4().hex[:12]}")
    assert "No space left on device" in caught.value.report.recording_problem


def test_the_failure_of_one_arm_to_stop_does_not_hide_that_of_another(held):
    controller, world = held
    other = World(robot_model("ur5e"))

    def session():
        with SimulatedRobot(other) as second, SimulatedRobot(world) as robot:
            other.grab(sway)
            world.grab(sway)
            for _ in range(100):
                second.read(controller.sample)
                second.write(controller.command)
            with pytest.raises(LoopError) as caught:
                ua.run(controller, robot, duration=2.0, activate=True)
            assert not caught.value.stopped
            raise caught.value

    with pytest.raises(RobotError, match="still moving"):
        session()


@pytest.mark.parametrize("stopped", [True, None])
def test_leaving_never_hides_that_the_arm_still_moves(held, stopped):
    """Another failure on the way out, or none: only one that says so already may go first."""
    controller, world = held
    error = stopped and LoopError("stage mine: failed; the arm was stopped", None, stopped=True)

    def session():
        with SimulatedRobot(world) as robot:
            world.grab(sway)
            for _ in range(100):
                robot.read(controller.sample)
                robot.write(controller.command)
            if error:
                raise error

    with pytest.raises(RobotError) as caught:
        session()
    assert caught.value.__context__ is error
