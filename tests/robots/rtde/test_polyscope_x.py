"""PolyScope X: no dashboard, no script port. Checked, driven and unlocked through RTDE, primary port and Robot API."""

import socket
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import pendant as panel
from ur_admittance.robots.rtde import primary_port
from ur_admittance.robots.rtde.doctor import examine
from ur_admittance.robots.rtde.library_link import NOT_ON_X
from ur_admittance.robots.rtde.rtde_checks import check_ready, identity
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.versions import check_version
from ur_admittance.runtime.mailbox import send
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

from .test_direct import Driven
from .test_run import active, until

API_PORT = 8080  # below 1024 only root may listen
ENOUGH = ("--patience", "0.4", "--api-port", str(API_PORT))
UR5E = robot_model("ur5e")


@pytest.fixture(scope="module")
def started():
    with EmulatorProcess("--version", "10.12.0", *ENOUGH) as emulator:
        yield emulator


@pytest.fixture
def x(started, monkeypatch):
    monkeypatch.setattr(panel, "API_PORT", API_PORT)
    started.tell("reset")
    return started


def ready(emulator, model="ur5e", **wishes):
    return check_ready(emulator.host, robot_model(model), 3.0, **{"power_on": False, "take_over": False} | wishes)


def test_it_is_recognised_without_a_dashboard(x) -> None:
    for port in (29999, 30003):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((x.host, port))
    who = identity(x.host)
    assert (who.model, who.software, who.emulated) == ("ur5e", "PolyScope X 10.12.0", True)
    assert who.serial.startswith("unknown, calibration ")  # of this very unit


def test_check_is_content_with_the_direct_client_and_refuses_ur_rtde_with_the_reason(x) -> None:
    bad = {
        client: [found.text for found in examine(x.host, "ur5e", 0.5, "here", client=client) if found.level == "bad"]
        for client in ("direct", "ur_rtde")
    }
    assert bad == {"direct": [], "ur_rtde": [NOT_ON_X]}
    with pytest.raises(RobotError, match="port 30003"):
        RtdeRobot(x.host, UR5E, RtdeSettings(client="ur_rtde")).connect()


@pytest.mark.parametrize(
    ("orders", "sentence"),
    [
        (["protective stop"], "protective stop: look for the cause"),
        (["emergency stop"], "emergency stop is pressed"),
        (["safeguard stop"], "safeguard stop is active"),
        (["emergency stop", "emergency release"], "robot mode POWER_OFF"),
        (["local control"], "choose Automatic, then Remote"),
    ],
)
def test_what_is_in_the_way_is_said_as_for_other_arms(x, orders, sentence) -> None:
    for order in orders:
        x.tell(order)
    with pytest.raises(RobotError, match=sentence):
        ready(x)


def test_power_and_programs_go_through_the_primary_port(x) -> None:
    x.tell("emergency stop")
    x.tell("emergency release")
    ready(x, power_on=True)
    assert panel.ask_api(x.host, "/robotstate/v1/robotmode") == {"mode": "RUNNING"}
    with primary_port.Primary(x.host) as port:
        port.send("def other():\n  sleep(60)\nend\n")
        until(lambda: x.ask("state")["runtime_state"] == 2)
    with pytest.raises(RobotError, match=r"a program is running on the robot \(PLAYING\)"):
        ready(x)
    ready(x, take_over=True)
    assert x.ask("state")["runtime_state"] == 1


def test_types_that_the_controller_cannot_distinguish_are_accepted_and_said(x) -> None:
    for model in ("ur5e", "ur7e"):
        assert any("ur5e and ur7e alike" in sentence for sentence in ready(x, model).sentences)
    with pytest.raises(RobotError, match="the robot is a UR5, but the model is ur12e"):
        ready(x, "ur12e")


@pytest.mark.parametrize(
    ("version", "model", "needed"),
    [
        ((10, 6, 0), "ur5e", "10.7.0"),
        ((10, 8, 0), "ur7e", "10.9.0"),
        ((5, 21, 0), "ur12e", "5.22.0"),
        ((10, 7, 0), "ur15", "10.8.0"),
        ((10, 10, 0), "ur18", "10.11.0"),
        ((5, 22, 0), "ur8long", "5.23.0"),
        ((5, 13, 0), "ur20", "5.14.0"),
        ((5, 3, 0), "ur16e", "5.4.0"),
    ],
)
def test_software_older_than_the_type_of_arm_is_refused(version, model, needed) -> None:
    with pytest.raises(RobotError, match=f"{model} needs {needed} or newer"):
        check_version(version, model)
    check_version(tuple(int(part) for part in needed.split(".")), model)
    check_version((10, 13, 0), model)


def test_an_unknown_safety_number_counts_as_a_stop(x, monkeypatch) -> None:
    monkeypatch.setattr(panel.PolyscopeX, "_state", lambda self, name: {"robot_mode": 7}.get(name, 23))
    with pytest.raises(RobotError, match="safety system says state 23"):
        ready(x)


def test_a_protective_stop_is_unlocked_on_request_and_the_arm_goes_on_after_a_reset(x) -> None:
    with Driven(x) as arm:
        x.tell("protective stop")
        until(lambda: (arm.cycles(1), arm.robot.in_trouble)[1])
        assert arm.sample["external_status"] == Status.PROTECTIVE_STOP
        with pytest.raises(RobotError, match="could not be unlocked: it is still stopped"):
            arm.robot.unlock()  # in the first five seconds
        with pytest.raises(RobotError, match="protective stop"):
            arm.robot.recover()
        x.tell("unlock delay 0")  # now it obeys: the primary port keeps the wish
        until(lambda: x.ask("state")["stop"] == "NONE")
        with pytest.raises(RobotError, match="not in a protective stop"):
            arm.robot.unlock()
        arm.cycles(20)
        assert arm.robot.in_trouble  # nothing comes back by itself
        arm.robot.recover()
        arm.cycles(80)
        assert arm.speed == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize(("version", "api"), [("10.7.0", ()), ("10.11.0", (3, 0, 0))])
def test_older_ones_show_local_control_when_the_program_starts(version, api, monkeypatch) -> None:
    """10.7 has no Robot API, that of 10.11 does not say."""
    monkeypatch.setattr(panel, "API_PORT", API_PORT)
    with EmulatorProcess("--version", version, *ENOUGH) as emulator:
        assert panel.api_version(emulator.host) == api
        with Driven(emulator) as arm:
            assert any("can be read from 10.12 on" in sentence for sentence in arm.robot.info.sentences)
        emulator.tell("local control")
        begin = time.monotonic()
        with pytest.raises(RobotError, match="choose Automatic, then Remote"):
            Driven(emulator).robot.connect()
        assert time.monotonic() - begin < 4.0  # by error C210, not by waiting for a start
        emulator.tell("remote control")
        with Driven(emulator):
            pass


def test_redirections_are_followed_and_a_dead_port_is_not_waited_for(x, monkeypatch) -> None:
    programs = panel.ask_api(x.host, "/programs/v1/")
    assert programs is not None
    assert panel.ask_api(x.host, "/programs/v1") == programs
    assert panel.ask_api(x.host, "/nothing") is None
    monkeypatch.setattr(panel, "API_PORT", 8081)
    assert panel.PolyscopeX(x.host, (10, 12, 0), 3.0).remote_control() is None


def test_run_yields_to_a_push_is_stopped_unlocked_reset_and_yields_again(x) -> None:
    """The program of a user; in its process port 80 is closed, as on a robot whose web page is blocked."""
    name = f"x_{uuid.uuid4().hex[:8]}"
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", x.host, "--client", "direct", "--name", name]
    command += ["--set", "guiding.enable=none"]
    command += ["--yes", "--set", "safety.joint_state_timeout=0.3", "--set", "safety.wrench_timeout=0.3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        with active(name) as (_, newest):
            for stopped in (False, True):
                if stopped:
                    x.tell("unlock delay 0")
                    x.tell("protective stop")
                    until(lambda: newest()["mode"] == Mode.FAULT)
                    for request, mode in (
                        ("unlock", Mode.FAULT),
                        ("reset_fault", Mode.INACTIVE),
                        ("activate", Mode.ACTIVE),
                    ):
                        answer = send({"request": request}, name, timeout=10.0)
                        assert answer.accepted, answer.text
                        until(lambda mode=mode: newest()["mode"] == mode)
                start = np.array(newest()["p_tcp"])
                x.tell("push 0 20 0 0 0 0")
                until(lambda start=start: newest()["p_tcp"][1] - start[1] > 0.03)
                x.tell("let go")
                until(lambda: np.abs(newest()["wrench_tcp"][:3]).max() < 0.5 and np.abs(newest()["qd"]).max() < 1e-3)
        process.terminate()
        output, _ = process.communicate(timeout=20)
        assert process.returncode == 0, output
        assert "software PolyScope X 10.12.0" in output
    finally:
        process.kill()
        process.wait(timeout=10)
