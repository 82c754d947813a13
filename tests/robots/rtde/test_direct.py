"""The direct client's script as the robot executes it, and what both clients do when commands stay away."""

import gc
import os
import re
import socket
import time
from pathlib import Path

import numpy as np
import pytest

from ur_admittance.core.records import COMMAND, SAMPLE, Status, new
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import direct_link, link
from ur_admittance.robots.rtde.direct_link import INPUTS, SPEED, DirectLink
from ur_admittance.robots.rtde.rtde_checks import SCRIPT_PORT
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.states import States
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

VERSION = (5, 12, 2)
FAST = (0.3,) * 6  # [rad/s]
RATE = 500.0  # [Hz]


@pytest.fixture(scope="module")
def started():
    with EmulatorProcess("--patience", "0.2") as emulator:
        yield emulator


@pytest.fixture
def emulator(started):
    started.tell("reset")
    yield started
    started.tell("remote control")


class Driven:
    """A robot that is driven at a constant speed, one command per robot cycle."""

    def __init__(self, emulator, **settings):
        chosen = RtdeSettings(**{"client": "direct", "state_patience": 0.5} | settings)
        self.robot = RtdeRobot(emulator.host, robot_model("ur5e"), chosen)
        self.sample, self.command = new(SAMPLE), new(COMMAND)
        self.command["qd"] = FAST

    def cycles(self, count):
        for _ in range(count):
            self.robot.beat.wait()
            self.robot.read(self.sample)
            self.robot.write(self.command)

    @property
    def speed(self):
        self.robot.read(self.sample)
        return float(np.abs(self.sample["qd"]).max())

    def reason(self):
        """When the robot has been asked for it."""
        end = time.monotonic() + 5.0
        while not self.robot.reason and time.monotonic() < end:
            self.cycles(5)
        return self.robot.reason

    def __enter__(self):
        self.robot.connect()
        self.cycles(80)
        assert self.speed == pytest.approx(FAST[0], rel=0.1)
        return self

    def __exit__(self, *_):
        self.robot.__exit__(None, None, None)


@pytest.mark.realtime
@pytest.mark.parametrize("client", ["ur_rtde", "direct"])
def test_without_commands_the_arm_is_slowed_down_and_the_next_one_goes_on(emulator, client):
    """Long before the watchdog, which is set to two seconds here: the program still runs."""
    with Driven(emulator, client=client, watchdog_hz=0.5) as arm:
        time.sleep(0.4)  # the emulator waits 0.2 s for us
        assert arm.speed < 0.01
        assert emulator.ask("state")["runtime_state"] == 2
        arm.cycles(80)
        assert arm.speed == pytest.approx(FAST[0], rel=0.1)
        assert arm.robot.reason == ""


AT_THE_PENDANT = {  # what somebody does there, and what the user reads
    "pause": link.WAS_PAUSED,
    "stop": link.WAS_STOPPED,
    "power off": link.UNPOWERED["POWER_OFF"],
    "emulator local control": link.WAS_LOCAL,
}


@pytest.mark.realtime  # a program that is late has a sentence of its own
@pytest.mark.parametrize("client", ["ur_rtde", "direct"])
def test_each_end_of_the_program_has_its_own_sentence_and_way_back(emulator, client):
    with Driven(emulator, client=client) as arm:
        for press, sentence in AT_THE_PENDANT.items():
            emulator.dashboard(press)
            assert arm.reason() == sentence
            assert arm.sample["external_status"] == Status.COMMAND_REJECTED
            if press in ("power off", "emulator local control"):
                with pytest.raises(RobotError, match=r"POWER_OFF|local control"):
                    arm.robot.recover()
                arm.cycles(5)
                assert arm.robot.reason == sentence  # a refused reset does not cost the connection
                for order in ("power on", "brake release", "emulator remote control"):
                    emulator.dashboard(order)
            arm.robot.recover()
            arm.cycles(80)
            assert arm.speed == pytest.approx(FAST[0], rel=0.1)


@pytest.mark.realtime
def test_commands_that_stay_away_are_not_blamed_on_the_robot(emulator):
    with Driven(emulator, watchdog_hz=10.0) as arm:
        time.sleep(0.6)  # the emulator waits 0.2 s for us
        arm.cycles(2)
        assert re.match(r"this program sent no command for [56]\d\d ms \(limit 100 ms\)", arm.robot.reason)


def test_every_rest_of_the_speed_slider_is_seen(emulator):
    with Driven(emulator) as arm:
        for fraction in (0.3, 0.01, 1.0):
            emulator.tell(f"slider {fraction}")
            end = time.monotonic() + 5.0
            seen = {arm.robot.slider}
            while arm.robot.slider != fraction and time.monotonic() < end:
                arm.cycles(5)
                seen.add(arm.robot.slider)
            assert arm.robot.slider == fraction
            assert len(seen) == 2  # the positions in between are not reported
            assert f"{100 * fraction:.0f} %" in arm.robot.slider_sentence
            arm.cycles(150)
            assert not arm.robot.in_trouble, arm.robot.reason  # a turn of the script takes 100 cycles at 1 %


def test_half_a_package_is_never_used(emulator):
    with Driven(emulator, command_patience=1.0) as arm:
        link = arm.robot._link
        for _ in range(20):  # its first and last number differ, as if only a part had come
            link.states.send(1, SPEED, link._request, *(2.0,) * 6, 2)
            arm.cycles(1)
        assert arm.speed == pytest.approx(FAST[0], rel=0.1)


def test_a_command_is_used_in_the_next_robot_cycle(emulator):
    with Driven(emulator) as arm:
        delays = []
        for _ in range(50):
            arm.cycles(1)
            delays.append(arm.robot._link.delay)
        assert np.median(delays) == 1


def test_speeds_that_an_earlier_client_left_behind_move_nothing(emulator):
    earlier = States(emulator.host, RATE, ["timestamp"], INPUTS)
    earlier.send(7, SPEED, 7, *FAST, 7)
    earlier.close()
    before = np.array(emulator.ask("state")["q"])
    link = DirectLink(emulator.host, VERSION, RtdeSettings(client="direct"))
    time.sleep(0.2)
    np.testing.assert_allclose(emulator.ask("state")["q"], before, atol=1e-4)
    link.close()
    assert emulator.ask("state")["runtime_state"] == 1


def test_a_program_that_is_paused_and_resumed_does_not_find_the_old_speeds(emulator):
    with Driven(emulator, watchdog_hz=0.1) as arm:  # so slow that only the client's own package can help
        emulator.dashboard("pause")
        arm.cycles(20)
        assert arm.robot.in_trouble
        assert arm.robot.reason == link.WAS_PAUSED
        while not emulator.ask("state")["standing"]:
            time.sleep(0.05)
        before = np.array(emulator.ask("state")["q"])
        emulator.dashboard("play")
        time.sleep(0.3)
        np.testing.assert_allclose(emulator.ask("state")["q"], before, atol=1e-3)


def test_a_second_client_is_told_who_has_the_registers(emulator):
    link = DirectLink(emulator.host, VERSION, RtdeSettings(client="direct"))
    with pytest.raises(RobotError, match=r"another program already commands .*input_int_register_24 is in use"):
        DirectLink(emulator.host, VERSION, RtdeSettings(client="direct"))
    link.close()


def test_a_program_that_does_not_start_is_explained(emulator, monkeypatch):
    monkeypatch.setattr(direct_link, "START_TIME", 1.0)
    emulator.tell("local control")
    with pytest.raises(RobotError, match="does not start the control program: it is in local control"):
        DirectLink(emulator.host, VERSION, RtdeSettings(client="direct"))
    emulator.tell("remote control")
    emulator.tell("protective stop")
    with pytest.raises(RobotError, match=r"it is stopped \(safety status bits 0x"):
        DirectLink(emulator.host, VERSION, RtdeSettings(client="direct"))


def test_another_program_on_the_robot_ends_ours(emulator):
    with Driven(emulator) as arm:
        with socket.create_connection((emulator.host, SCRIPT_PORT)) as port:
            port.sendall(b"def other():\n  sleep(1)\nend\n")
            arm.cycles(60)
        assert arm.reason() == link.ANOTHER
        assert arm.sample["external_status"] == Status.COMMAND_REJECTED


@pytest.mark.realtime
def test_states_are_taken_while_nobody_reads_and_not_in_a_loop(emulator):
    """The robot drops a client that does not read; a second thread would disturb the loop."""
    states = States(emulator.host, RATE, ["timestamp"])
    first = states.timestamp
    time.sleep(0.6)
    assert states.timestamp > first
    states.resting(False)
    time.sleep(0.3)
    first = states.timestamp
    time.sleep(0.4)
    assert states.timestamp == first
    assert states.wait(first, 0.1)
    assert states.timestamp - first > 0.3  # the newest of all that queued up


def test_a_robot_that_nobody_closed_frees_its_registers(emulator):
    States(emulator.host, RATE, ["timestamp"], INPUTS)
    gc.collect()
    time.sleep(0.5)
    States(emulator.host, RATE, ["timestamp"], INPUTS).close()


def scheduling(child):
    """(policy, priority) of the child's own thread, and of the library's."""
    tasks = [int(task.name) for task in Path(f"/proc/{child}/task").iterdir()]
    found = {task: (os.sched_getscheduler(task), os.sched_getparam(task).sched_priority) for task in tasks}
    return found.pop(child), set(found.values())


def test_who_waits_for_a_thread_of_the_library_does_not_run_above_it(emulator, missing):
    """Otherwise a busy computer lets the watchdog expire: 12 of 20 starts."""
    with Driven(emulator, client="ur_rtde", rt_priority=3) as arm:
        child = arm.robot._link.commander._process.pid
        own, library = scheduling(child)
        if own == (os.SCHED_OTHER, 0):
            missing("real-time priority is not allowed here")
        assert own == (os.SCHED_FIFO, 3)
        assert library == {(os.SCHED_OTHER, 0)}  # while commands are streamed it only costs time
        arm.robot.stop()
        assert scheduling(child) == ((os.SCHED_FIFO, 3), {(os.SCHED_FIFO, 4)})
        arm.cycles(20)
        assert scheduling(child)[1] == {(os.SCHED_OTHER, 0)}


@pytest.mark.realtime
def test_the_watchdog_of_an_arm_at_rest_has_its_final_rate_and_is_kept_quiet(emulator):
    robot = RtdeRobot(emulator.host, robot_model("ur5e"), RtdeSettings(client="ur_rtde"))
    robot.connect()
    time.sleep(0.5)  # this program does nothing
    state = emulator.ask("state")
    assert (state["runtime_state"], state["watchdog_hz"]) == (2, 20.0)
    robot._link.commander._process.kill()
    end = time.monotonic() + 2.0
    while emulator.ask("state")["runtime_state"] == 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    robot.close()
