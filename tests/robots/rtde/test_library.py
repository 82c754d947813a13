"""The unmodified ur_rtde classes work with the emulator: receive, control, IO, dashboard; e-Series and CB3."""

import importlib
import os
import time

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

load = importlib.import_module if os.environ.get("UR_ADMITTANCE_CI") else pytest.importorskip
rtde_control, rtde_receive = load("rtde_control"), load("rtde_receive")
rtde_io, dashboard_client = load("rtde_io"), load("dashboard_client")


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--version", "5.12.2") as emulator:
        yield emulator


@pytest.mark.parametrize(("version", "rate"), [("5.26.0", 500.0), ("3.15.8", 125.0)])
def test_other_versions_connect_and_move(version: str, rate: float) -> None:
    with EmulatorProcess("--version", version) as emulator:
        receive = rtde_receive.RTDEReceiveInterface(emulator.host)
        control = rtde_control.RTDEControlInterface(emulator.host)
        goal = np.array(robot_model("ur5e").home) + 0.1
        assert control.moveJ(goal.tolist(), 1.5, 3.0)
        assert wait_until(lambda: np.allclose(receive.getActualQ(), goal, atol=2e-3))
        assert control.setWatchdog(10.0)
        state = emulator.ask("state")
        assert state["time"] == pytest.approx(state["cycle"] / rate)
        control.disconnect()
        receive.disconnect()


@pytest.fixture
def receive(emulator):
    emulator.tell("reset")
    receive = rtde_receive.RTDEReceiveInterface(emulator.host)
    yield receive
    receive.disconnect()


@pytest.fixture
def control(emulator, receive):
    control = rtde_control.RTDEControlInterface(emulator.host)
    yield control
    control.disconnect()


def wait_until(condition, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_the_default_recipe_is_understood(emulator, receive) -> None:
    np.testing.assert_allclose(receive.getActualQ(), robot_model("ur5e").home, atol=1e-3)
    assert receive.getRobotMode() == 7
    assert receive.getSafetyMode() == 1
    assert receive.getSpeedScaling() == 1.0
    first = receive.getTimestamp()
    assert wait_until(lambda: receive.getTimestamp() > first + 0.1)


def test_motion_commands_arrive(emulator, receive, control) -> None:
    goal = np.array(robot_model("ur5e").home) + 0.1
    assert control.moveJ(goal.tolist(), 1.5, 3.0)
    assert wait_until(lambda: np.allclose(receive.getActualQ(), goal, atol=2e-3))
    pose = np.array(receive.getActualTCPPose())
    assert control.moveL((pose + [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]).tolist(), 0.3, 1.0)
    assert wait_until(lambda: abs(receive.getActualTCPPose()[2] - pose[2] - 0.05) < 1e-3)
    assert control.speedJ([0.0, 0.0, 0.0, 0.0, 0.0, 0.3], 10.0, 0.002)
    assert wait_until(lambda: abs(receive.getActualQd()[5] - 0.3) < 0.01)
    assert control.speedStop(10.0)
    assert wait_until(lambda: abs(receive.getActualQd()[5]) < 1e-3)


def test_settings_and_questions(emulator, receive, control) -> None:
    assert control.setTcp([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(control.getTCPOffset(), [0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    assert control.setPayload(1.0, [0.0, 0.0, 0.05])
    assert control.isSteady()
    assert control.isJointsWithinSafetyLimits([0.0] * 6)
    assert not control.isJointsWithinSafetyLimits([9.0] * 6)
    q = control.getInverseKinematics(receive.getActualTCPPose(), receive.getActualQ())
    np.testing.assert_allclose(q, receive.getActualQ(), atol=1e-4)
    a, b = [0.1, 0.2, 0.3, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 0.0, 0.0, 0.5]
    np.testing.assert_allclose(
        control.poseTrans(a, b), [0.1 + 0.1 * np.cos(1.0), 0.2 + 0.1 * np.sin(1.0), 0.3, 0, 0, 1.5]
    )
    assert control.zeroFtSensor()
    assert control.setTcp([0.0] * 6)


def test_io_moves_the_slider_and_outputs(emulator, receive) -> None:
    io = rtde_io.RTDEIOInterface(emulator.host)
    assert io.setSpeedSlider(0.5)
    assert wait_until(lambda: abs(receive.getTargetSpeedFraction() - 0.5) < 1e-6)
    assert io.setStandardDigitalOut(3, True)
    assert wait_until(lambda: receive.getDigitalOutState(3))
    io.disconnect()


def test_the_dashboard_class_is_answered(emulator) -> None:
    dashboard = dashboard_client.DashboardClient(emulator.host)
    dashboard.connect()
    assert dashboard.isInRemoteControl()
    assert "RUNNING" in dashboard.robotmode()
    assert "5.12.2" in dashboard.polyscopeVersion()
    assert not dashboard.running()
    dashboard.disconnect()


def test_a_second_commander_is_refused(emulator, control) -> None:
    with pytest.raises(RuntimeError):
        rtde_control.RTDEControlInterface(emulator.host)


def test_a_protective_stop_refuses_commands_until_unlocked_and_uploaded_again(emulator, receive, control) -> None:
    emulator.tell("unlock delay 2.0")
    control.speedJ([0.0, 0.0, 0.0, 0.0, 0.0, 0.3], 10.0, 0.002)
    time.sleep(0.1)
    emulator.tell("protective stop")
    assert wait_until(receive.isProtectiveStopped)
    assert wait_until(
        lambda: not control.speedJ([0.0, 0.0, 0.0, 0.0, 0.0, 0.3], 10.0, 0.002)
    )  # it has a stream of its own
    assert emulator.dashboard("unlock protective stop").startswith("Cannot unlock")
    assert wait_until(lambda: emulator.dashboard("unlock protective stop") == "Protective stop releasing")
    control.reuploadScript()
    assert wait_until(control.isProgramRunning)
    assert control.speedJ([0.0] * 6, 10.0, 0.002)
    control.speedStop()
