"""However the loop ends, the arm is slowed down and stopped."""

import json
import signal
import threading
import time

import numpy as np
import pytest

from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LoopError, RobotError
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot

RATE = 500.0


class Watched(NullRobot):
    """Remembers every commanded speed; `trouble` is called with the number of the read."""

    def __init__(self, trouble=lambda number: None):
        super().__init__()
        self.wrench[0] = 20.0
        self.speeds = []
        self.reads = 0
        self.trouble = trouble

    def read(self, sample):
        self.reads += 1
        self.trouble(self.reads)
        super().read(sample)

    def write(self, command):
        super().write(command)
        self.speeds.append(self.qd.copy())

    def braked_smoothly(self):
        """From motion to rest, and never a larger step of a joint's speed than 20 rad/s2 allow."""
        speeds = np.array(self.speeds)
        assert np.abs(speeds).max() > 0.05, "it never moved: nothing was tested"
        assert np.abs(speeds[-1]).max() <= 1e-9
        return np.abs(np.diff(speeds, axis=0)).max() <= 20.0 * 0.002 * 1.001


class Order:
    """Notes who is called in a cycle."""

    def __init__(self, robot, controller):
        self.calls = []
        self._note(robot, "read")
        self._note(controller, "update")
        self._note(robot, "write")

    def _note(self, thing, method):
        original = getattr(thing, method)
        setattr(thing, method, lambda *a: (self.calls.append(method), original(*a))[1])

    def publish(self, controller, loop):
        self.calls.append("publish")

    def poll(self, controller):
        self.calls.append("poll")


def test_a_cycle_reads_ticks_writes_then_tells_and_listens(controller, robot):
    order = Order(robot, controller)
    run(controller, robot, LockstepClock(RATE), duration=0.01, telemetry=order, mailbox=order)
    assert order.calls[:10] == ["read", "update", "write", "publish", "poll"] * 2


def test_at_the_end_of_its_time_the_arm_is_slowed_down_inside_the_limits_and_stopped(controller):
    robot = Watched()
    report = run(controller, robot, LockstepClock(RATE), duration=0.5)
    assert robot.braked_smoothly()
    assert robot.stopped
    assert report.mode == Mode.INACTIVE
    assert report.ticks > 250
    assert report.ended_because == "0.5 s were over"


def test_on_tick_can_end_the_run(controller, robot):
    seen = []
    report = run(controller, robot, LockstepClock(RATE), on_tick=lambda c: seen.append(1) or len(seen) == 7)
    assert report.ended_because == "the program was done"
    assert robot.stopped


@pytest.mark.parametrize("where", ["read", "write", "on_tick"])
def test_an_exception_is_a_fault_that_brakes_smoothly_and_is_told_in_a_sentence(controller, where):
    def trouble(number):
        if number == 200:
            raise ZeroDivisionError("division by zero")

    robot = Watched(trouble if where == "read" else lambda number: None)
    calls = []

    def failing(*_):
        calls.append(1)
        trouble(len(calls))

    if where == "write":
        original = robot.write
        robot.write = lambda command: (failing(), original(command))[1]
    with pytest.raises(LoopError, match="ZeroDivisionError: division by zero; the arm was stopped") as caught:
        run(controller, robot, LockstepClock(RATE), duration=5.0, on_tick=failing if where == "on_tick" else None)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert robot.stopped
    assert robot.braked_smoothly()
    assert controller.mode == Mode.FAULT
    assert controller.status == Status.INTERNAL_ERROR


def test_a_robot_that_cannot_be_read_any_more_is_still_braked(controller):
    def trouble(number):
        if number >= 200:
            raise RobotError("the connection to 192.168.0.1 was closed")

    robot = Watched(trouble)
    with pytest.raises(
        LoopError, match=r"while reading the robot in cycle 200: the connection to 192.168.0.1 was closed"
    ):
        run(controller, robot, LockstepClock(RATE), duration=5.0)
    assert robot.braked_smoothly()
    assert robot.stopped
    assert controller.status == Status.CONNECTION_LOST


def test_a_failing_controller_leads_to_the_robots_own_stop_at_once(controller, robot):
    def broken():
        raise RuntimeError("no tick")

    controller.update = broken
    with pytest.raises(LoopError, match="while computing the command in cycle 1: RuntimeError: no tick"):
        run(controller, robot, LockstepClock(RATE), duration=1.0)
    assert robot.stopped


def test_a_stop_that_the_robot_refuses_is_not_hidden(controller, robot):
    def refuse():
        raise RobotError("no answer")

    robot.stop = refuse
    with pytest.raises(LoopError, match=r"did not take the stop \(no answer\): use the emergency stop"):
        run(controller, robot, LockstepClock(RATE), duration=0.1)


def test_a_failing_publisher_is_dropped_and_the_loop_goes_on(controller, robot):
    class Broken:
        def publish(self, controller, loop):
            raise OSError("disk gone")

    report = run(controller, robot, LockstepClock(RATE), duration=0.1, telemetry=Broken())
    assert report.ticks >= 50
    assert report.publish_problem == "OSError: disk gone"
    assert report.status == Status.OK


@pytest.mark.realtime
def test_a_pause_longer_than_a_tenth_of_a_second_is_a_fault(controller):
    robot = Watched(lambda number: time.sleep(0.15) if number == 100 else None)
    report = run(controller, robot, RealTimeClock(RATE), duration=0.6)
    assert report.stalls >= 1
    assert report.status == Status.LOOP_OVERRUN
    assert report.mode == Mode.FAULT
    assert robot.braked_smoothly()


@pytest.mark.realtime
def test_cycles_longer_than_the_period_and_missed_deadlines_are_counted(controller):
    robot = Watched(lambda number: time.sleep(0.011) if number % 20 == 0 else None)
    report = run(controller, robot, RealTimeClock(RATE), duration=0.4)
    assert report.overruns >= 5
    assert report.missed >= 4 * report.overruns / 2
    assert report.latency.max >= 0.011
    assert report.period.max >= 0.010


def test_a_bad_period_from_the_robot_is_a_fault(controller):
    robot = Watched()
    original = robot.read

    def read(sample):
        original(sample)
        if robot.reads == 200:
            sample["dt"] = 0.0

    robot.read = read
    report = run(controller, robot, LockstepClock(RATE), duration=1.0)
    assert report.bad_periods == 1
    assert report.status == Status.BAD_PERIOD
    assert robot.braked_smoothly()


def test_a_status_that_nobody_knows_is_a_fault_with_a_sentence(controller, robot):
    robot.external_status = 4711
    report = run(controller, robot, LockstepClock(RATE), duration=0.1)
    assert report.status == Status.INTERNAL_ERROR
    assert report.reason


@pytest.mark.realtime
def test_the_percentiles_of_the_report_are_in_order(controller, robot):
    report = run(controller, robot, RealTimeClock(RATE), duration=0.3)
    for distribution in (report.period, report.latency, report.lateness):
        assert 0.0 <= distribution.p50 <= distribution.p99 <= distribution.p999 <= distribution.max
    assert report.period.p50 == pytest.approx(0.002, rel=0.5)
    assert "read to write p50" in str(report)


def test_without_the_main_thread_the_loop_runs_too(controller, robot):
    reports = []
    thread = threading.Thread(target=lambda: reports.append(run(controller, robot, LockstepClock(RATE), duration=0.1)))
    thread.start()
    thread.join(30)
    assert reports[0].ticks >= 50
    assert robot.stopped


PROGRAM = """
import json, sys, numpy as np
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot
speeds = []
class Robot(NullRobot):
    def write(self, command):
        super().write(command)
        speeds.append(self.qd.copy())
        if len(speeds) == 100:
            print("ready", flush=True)
controller = AdmittanceController(robot_model("ur5e"))
controller.configure()
controller.activate()
if sys.argv[1] == "slow":
    controller.set_parameters({"max_linear_acceleration": 0.05, "max_angular_acceleration": 0.05})
robot = Robot()
robot.wrench[0] = 20.0
report = run(controller, robot, RealTimeClock(500.0), duration=60.0)
steps = np.abs(np.diff(speeds, axis=0)).max()
print(json.dumps({"because": report.ended_because, "mode": report.mode.name, "stopped": robot.stopped,
                  "step": float(steps), "last": float(np.abs(speeds[-1]).max()), "ticks": report.ticks}))
"""


@pytest.mark.realtime
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_slows_the_arm_down_and_stops_it(child, number):
    process = child(PROGRAM, "fast")
    time.sleep(0.3)
    process.send_signal(number)
    result = json.loads(process.communicate(timeout=20)[0].splitlines()[-1])
    assert process.returncode == 0
    assert result["because"] == "interrupted"
    assert result["mode"] == "INACTIVE"
    assert result["stopped"]
    assert result["last"] <= 1e-9
    assert result["step"] <= 20.0 * 0.003, "joint accelerations stay near 20 rad/s2 although periods vary"


def test_an_interrupt_stops_an_arm_that_a_script_started_in_the_background(child):
    """A shell without job control starts what ends in & with SIGINT ignored."""
    process = child("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + PROGRAM, "fast")
    process.send_signal(signal.SIGINT)
    result = json.loads(process.communicate(timeout=20)[0].splitlines()[-1])
    assert (result["because"], result["mode"], result["stopped"]) == ("interrupted", "INACTIVE", True)


@pytest.mark.realtime
def test_a_second_signal_stops_at_once(child):
    """With 0.05 m/s2 the gentle stop would take seconds."""
    process = child(PROGRAM, "slow")
    time.sleep(0.8)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    result = json.loads(process.communicate(timeout=20)[0].splitlines()[-1])
    assert result["stopped"]
    assert result["last"] > 0.0, "the arm still moved when the robot's own stop was used"
    assert time.monotonic() - begin < 1.5
