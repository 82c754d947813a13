"""A foreign judge: every function of ur_rtde's control interface, called once. What is accepted has an effect that the
robot's state shows; everything else ends the program with one line in the log."""

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

load = importlib.import_module if os.environ.get("UR_ADMITTANCE_CI") else pytest.importorskip
rtde_control, rtde_receive = load("rtde_control"), load("rtde_receive")

PLAYING = 2
NOTHING = [0.0] * 6
HOME = robot_model("ur5e").home
NEAR = (HOME + 0.05).tolist()
UP = np.array([0.0, 0.0, 0.02, 0.0, 0.0, 0.0])
FAR = [2.0, 0.0, 0.3, 0.0, 3.1, 0.0]


class Judge:
    def __init__(self, emulator: EmulatorProcess) -> None:
        self.emulator = emulator
        self.receive = rtde_receive.RTDEReceiveInterface(emulator.host)
        self.control = rtde_control.RTDEControlInterface(emulator.host)

    @property
    def state(self) -> Any:
        return self.emulator.ask("state")

    @property
    def pose(self) -> np.ndarray:
        return np.array(self.receive.getActualTCPPose())

    def begin(self) -> None:
        self.emulator.tell("reset")
        self.control.reuploadScript()
        assert until(lambda: self.control.isProgramRunning() and self.state["runtime_state"] == PLAYING)

    def at(self, q: Any) -> bool:
        return until(lambda: np.allclose(self.receive.getActualQ(), q, atol=2e-3))

    def moving(self) -> bool:
        return until(lambda: not self.state["standing"])

    def stands(self) -> bool:
        return until(lambda: self.state["standing"])


def until(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="module")
def shared() -> Any:
    with EmulatorProcess("--version", "5.26.0") as emulator:
        judge = Judge(emulator)
        yield judge
        judge.control.disconnect()
        judge.receive.disconnect()


@pytest.fixture
def judge(shared: Judge) -> Judge:
    shared.begin()
    return shared


# -- accepted: the call, and what it must have done -------------------------------------------------------------------


def _zeroed(j: Judge) -> bool:
    j.emulator.tell("push 10 0 0 0 0 0")
    assert until(lambda: abs(np.linalg.norm(j.receive.getActualTCPForce()[:3]) - 10.0) < 0.5)
    begin = j.state["time"]
    assert until(lambda: j.state["time"] > begin + 0.4)  # zeroing averages
    done = j.control.zeroFtSensor()
    return done and until(lambda: np.linalg.norm(j.receive.getActualTCPForce()[:3]) < 0.5)


def _stopped(j: Judge, stop: Callable[[], Any], start: Callable[[], Any]) -> bool:
    assert start()
    assert j.moving()
    assert stop() in (True, None)
    return j.stands() and not np.allclose(j.receive.getActualQ(), HOME + 1.0, atol=0.1)


def _asked(question: Callable[[], Any], answer: Any, tolerance: float = 1e-3) -> bool:
    """The second time: ur_rtde answers some questions with what was in the registers before."""
    question()
    time.sleep(0.02)
    return np.allclose(question(), answer, atol=tolerance)


def _moved_up(j: Judge, move: Callable[[list[float]], Any]) -> bool:
    goal = j.pose + UP
    return move(goal.tolist()) and until(lambda: np.linalg.norm(j.pose[:3] - goal[:3]) < 1e-3)


def _pose_at(q: Any) -> np.ndarray:
    _, p = robot_model("ur5e").forward(q)
    return np.array([-p[0], -p[1], p[2]])  # the base of the controller is turned by pi


TURN = [0.0, 0.0, 0.0, 0.0, 0.0, 0.3]
AWAY = (HOME + 1.0).tolist()

DONE: dict[str, Callable[[Judge], bool]] = {
    "moveJ": lambda j: j.control.moveJ(NEAR, 1.5, 3.0) and j.at(NEAR),
    "moveJ_IK": lambda j: _moved_up(j, j.control.moveJ_IK),
    "moveL": lambda j: _moved_up(j, j.control.moveL),
    "moveL_FK": lambda j: j.control.moveL_FK(NEAR, 0.3, 1.0) and j.at(NEAR),
    "speedJ": lambda j: j.control.speedJ(TURN, 10.0, 0.002) and j.moving(),
    "speedL": lambda j: j.control.speedL([0.0, 0.0, 0.05, 0.0, 0.0, 0.0], 1.0, 0.002) and j.moving(),
    "speedStop": lambda j: _stopped(j, j.control.speedStop, lambda: j.control.speedJ(TURN, 10.0, 0.002)),
    "servoJ": lambda j: j.control.servoJ(NEAR, 0.0, 0.0, 0.002, 0.1, 300.0) and j.at(NEAR),
    "servoL": lambda j: _moved_up(j, lambda pose: j.control.servoL(pose, 0.0, 0.0, 0.002, 0.1, 300.0)),
    "servoStop": lambda j: _stopped(
        j, j.control.servoStop, lambda: j.control.servoJ(NEAR, 0.0, 0.0, 0.002, 0.2, 300.0)
    ),
    "stopJ": lambda j: _stopped(j, j.control.stopJ, lambda: j.control.moveJ(AWAY, 0.5, 1.0, True)),
    "stopL": lambda j: _stopped(j, j.control.stopL, lambda: j.control.moveJ(AWAY, 0.5, 1.0, True)),
    "stopScript": lambda j: j.control.stopScript() is None and j.state["runtime_state"] != PLAYING,
    "reuploadScript": lambda j: j.control.reuploadScript() and until(j.control.isProgramRunning),
    "triggerProtectiveStop": lambda j: (
        j.control.triggerProtectiveStop() in (True, False) and until(j.receive.isProtectiveStopped)
    ),
    "setWatchdog": lambda j: j.control.setWatchdog(5.0) and until(lambda: abs(j.state["watchdog_hz"] - 5.0) < 1e-6),
    "zeroFtSensor": _zeroed,
    "setPayload": lambda j: (
        j.control.setPayload(1.5, [0.0, 0.0, 0.1])
        and until(lambda: j.receive.getPayload() == 1.5 and j.receive.getPayloadCog() == [0.0, 0.0, 0.1])
    ),
    "setTargetPayload": lambda j: (
        j.control.setTargetPayload(1.25, [0.0, 0.0, 0.1], [0.1] * 6) and until(lambda: j.receive.getPayload() == 1.25)
    ),
    "setTcp": lambda j: (
        j.control.setTcp([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
        and until(lambda: abs(j.pose[2] + 0.1 - _pose_at(HOME)[2]) < 2e-3)
        and j.control.setTcp(NOTHING)
    ),
    "getTCPOffset": lambda j: _asked(j.control.getTCPOffset, NOTHING),
    "getInverseKinematics": lambda j: _asked(
        lambda: j.control.getInverseKinematics(j.pose.tolist(), HOME.tolist()), HOME, 2e-3
    ),
    "getInverseKinematicsHasSolution": lambda j: (
        j.control.getInverseKinematicsHasSolution(j.pose.tolist())
        and not j.control.getInverseKinematicsHasSolution(FAR)
    ),
    "getForwardKinematics": lambda j: _asked(lambda: j.control.getForwardKinematics()[:3], _pose_at(HOME)),
    "getActualToolFlangePose": lambda j: _asked(lambda: j.control.getActualToolFlangePose()[:3], _pose_at(HOME)),
    "getStepTime": lambda j: _asked(j.control.getStepTime, 0.002, 1e-9),
    "poseTrans": lambda j: _asked(
        lambda: j.control.poseTrans([0.1, 0, 0, 0, 0, 0], [0, 0.2, 0, 0, 0, 0]), [0.1, 0.2, 0, 0, 0, 0], 1e-9
    ),
    "isSteady": lambda j: j.control.isSteady(),
    "isPoseWithinSafetyLimits": lambda j: (
        j.control.isPoseWithinSafetyLimits(j.pose.tolist()) and not j.control.isPoseWithinSafetyLimits(FAR)
    ),
    "isJointsWithinSafetyLimits": lambda j: (
        j.control.isJointsWithinSafetyLimits(NEAR) and not j.control.isJointsWithinSafetyLimits([9.0] * 6)
    ),
}

# -- refused: the call, and words of the log line ---------------------------------------------------------------------

SOLVED = "no inverse kinematics solution"
REFUSED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "moveL to nowhere": (SOLVED, lambda c: c.moveL(FAR)),
    "moveJ_IK to nowhere": (SOLVED, lambda c: c.moveJ_IK(FAR)),
    "moveJ beyond the joints": ("out of joint limits", lambda c: c.moveJ([0.0, 0.0, 7.0, 0.0, 0.0, 0.0])),
    "setPayload of 50 kg": ("must be 0 to 5 kg", lambda c: c.setPayload(50.0, [0.0, 0.0, 0.1])),
    "setTcp 20 m away": ("20 m from the flange", lambda c: c.setTcp([0.0, 0.0, 20.0, 0.0, 0.0, 0.0])),
    "directTorque": ("direct_torque", lambda c: c.directTorque(NOTHING)),
    "enableExternalFtSensor": ("ft_rtde_input_enable", lambda c: c.enableExternalFtSensor(True)),
    "endFreedriveMode": ("end_freedrive_mode", lambda c: c.endFreedriveMode()),
    "endTeachMode": ("end_teach_mode", lambda c: c.endTeachMode()),
    "forceMode": ("force_mode", lambda c: c.forceMode(NOTHING, [0, 0, 1, 0, 0, 0], NOTHING, 2, [0.1] * 6)),
    "forceModeSetDamping": ("force_mode_set_damping", lambda c: c.forceModeSetDamping(0.1)),
    "forceModeSetGainScaling": ("force_mode_set_gain_scaling", lambda c: c.forceModeSetGainScaling(1.0)),
    "forceModeStop": ("end_force_mode", lambda c: c.forceModeStop()),
    "freedriveMode": ("freedrive_mode", lambda c: c.freedriveMode()),
    "ftRtdeInputEnable": ("ft_rtde_input_enable", lambda c: c.ftRtdeInputEnable(True)),
    "getActualJointPositionsHistory": ("positions_history", lambda c: c.getActualJointPositionsHistory(1)),
    "getCoriolisAndCentrifugalTorques": ("get_coriolis", lambda c: c.getCoriolisAndCentrifugalTorques()),
    "getFreedriveStatus": ("get_freedrive_status", lambda c: c.getFreedriveStatus()),
    "getJacobian": ("get_jacobian", lambda c: c.getJacobian()),
    "getJacobianTimeDerivative": ("get_jacobian_time_derivative", lambda c: c.getJacobianTimeDerivative()),
    "getJointTorques": ("get_joint_torques", lambda c: c.getJointTorques()),
    "getMassMatrix": ("get_mass_matrix", lambda c: c.getMassMatrix()),
    "getTargetJointAccelerations": ("get_target_joint_accelerations", lambda c: c.getTargetJointAccelerations()),
    "getTargetWaypoint": ("get_target_waypoint", lambda c: c.getTargetWaypoint()),
    "jogStart": ("jog", lambda c: c.jogStart([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])),
    "jogStop": ("jog", lambda c: c.jogStop()),
    "movePath": ("a path of several moves", lambda c: c.moveJ([[*NEAR, 1.0, 1.0, 0.0], [*HOME, 1.0, 1.0, 0.0]])),
    "moveUntilContact": ("moving until contact", lambda c: c.moveUntilContact([0.0, 0.0, -0.02, 0.0, 0.0, 0.0])),
    "readContactDetection": ("contact detection", lambda c: c.readContactDetection()),
    "servoC": ("servoc", lambda c: c.servoC(FAR)),
    "setGravity": ("set_gravity", lambda c: c.setGravity([0.0, 0.0, 9.82])),
    "startContactDetection": ("contact detection", lambda c: c.startContactDetection()),
    "stopContactDetection": ("contact detection", lambda c: c.stopContactDetection()),
    "teachMode": ("teach_mode", lambda c: c.teachMode()),
    "toolContact": ("tool_contact", lambda c: c.toolContact(NOTHING)),
}

UNANSWERED = ("forceMode", "directTorque", "servoC")  # ur_rtde says True before the robot can answer

# never reach the control program: about the client itself, a script of its own, or (setExternalForceTorque) sent in a
# package of the wrong length
CLIENT = {
    "disconnect",
    "reconnect",
    "isConnected",
    "isProgramRunning",
    "getRobotStatus",
    "getAsyncOperationProgress",
    "kickWatchdog",
    "getAsyncOperationProgressEx",
    "initPeriod",
    "waitPeriod",
    "sendCustomScript",
    "sendCustomScriptFile",
    "sendCustomScriptFunction",
    "setCustomScriptFile",
    "setExternalForceTorque",
}


def test_every_function_is_judged() -> None:
    functions = {name for name in dir(rtde_control.RTDEControlInterface) if name[0].islower()}
    assert functions == {name for name in DONE.keys() | REFUSED.keys() if " " not in name} | CLIENT


@pytest.mark.parametrize("name", DONE)
def test_what_is_accepted_is_done(judge: Judge, name: str) -> None:
    assert DONE[name](judge)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_done_ends_the_program_with_one_line(judge: Judge, name: str) -> None:
    words, call = REFUSED[name]
    before = len(judge.emulator.lines)
    try:
        answer = call(judge.control)
    except RuntimeError:
        answer = None
    assert until(lambda: judge.state["runtime_state"] != PLAYING)
    assert answer is not True or name in UNANSWERED

    def said() -> list[str]:
        return [line for line in judge.emulator.lines[before:] if "runtime error" in line]

    assert until(lambda: len(said()) == 1)
    assert words in said()[0]
    assert judge.state["standing"]
    np.testing.assert_allclose(judge.state["q"], HOME, atol=1e-3)


def test_a_package_of_the_wrong_length_is_logged(judge: Judge) -> None:
    before = len(judge.emulator.lines)
    judge.control.setExternalForceTorque(NOTHING)
    assert until(lambda: any("bad message" in line for line in judge.emulator.lines[before:]))
