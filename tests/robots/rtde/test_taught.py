"""A taught path on the emulator over RTDE, with outputs, and recorded to the bit."""

import time

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.errors import RobotError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.robots.rtde.digital_outputs import OutputPins
from ur_admittance.robots.rtde.states import States
from ur_admittance.teaching import curve
from ur_admittance.teaching.taught import Step, Taught
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

SETTINGS = ua.RtdeSettings(state_patience=0.5, command_patience=0.4)
WAY = np.array([[0.0, 0.0, 0.0], [0.03, 0.02, 0.0], [0.05, 0.06, 0.02]])  # [m] from home


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--patience", "0.4") as started:
        yield started


@pytest.fixture
def outputs(emulator):
    """outputs(bits) waits until the robot says that these are on."""
    states = States(emulator.host, 100.0, ["timestamp", "actual_digital_output_bits"])

    def wait_for(bits):
        end = time.monotonic() + 5.0
        while states["actual_digital_output_bits"] != bits:
            assert time.monotonic() < end, bin(states["actual_digital_output_bits"])
            states.wait(states.timestamp, 0.1)

    yield wait_for
    states.close()


def test_each_output_is_set_alone(emulator, outputs):
    pins, bits = OutputPins(emulator.host), 0
    for name, bit in (("digital:0", 0), ("tool:1", 17), ("configurable:7", 15), ("digital:7", 7)):
        pins(name, True)
        bits |= 1 << bit
        outputs(bits)
    pins("tool:1", False)
    outputs(bits & ~(1 << 17))
    with pytest.raises(RobotError, match="another program already commands"):
        OutputPins(emulator.host)
    pins.close()
    with pytest.raises(RobotError, match=r"took no output tool:0: its connection for outputs is gone"):
        pins("tool:0", True)
    other = OutputPins(emulator.host)
    for name in ("digital:0", "configurable:7", "digital:7"):
        other(name, False)
    outputs(0)
    other.close()


def test_a_taught_path_is_replayed_with_its_gripper_and_recomputed_to_the_bit(emulator, outputs, tmp_path):
    model = ua.robot_model("ur5e")
    R, p = model.forward(model.home)
    tool = curve.to_vectors(curve.from_matrix(p, R)[None])[0]  # without tool.tcp the TCP is the flange
    path = np.array([tool + np.concatenate([place, np.zeros(3)]) for place in WAY])
    taught = Taught(
        "ur5e", (0.0,) * 6, tuple(model.home), (Step("path", path), Step("gripper", "close")), gripper="tool:0"
    )
    patient = {"safety.joint_state_timeout": 0.5, "safety.wrench_timeout": 0.5, "guiding.enable": "none"}
    controller = ua.AdmittanceController(model, ua.preset("hand_guiding").changed(patient))
    stage = ua.TaughtPath(taught, 0.05, ends=True)
    with ua.RtdeRobot(emulator.host, model, SETTINGS) as robot:
        report = ua.run(
            controller, robot, duration=30.0, activate=True, stages=[stage], log=tmp_path / "a.mcap", name="taught-rtde"
        )
        assert stage.done, report
        outputs(1 << 16)
    log = read_log(tmp_path / "a.mcap")
    places = log.ticks["command"]["p_tcp"]
    assert places[-1] - places[0] == pytest.approx(WAY[-1], abs=1e-3)
    way = curve.bent(curve.from_vectors(path)).poses[::10, :3]
    assert np.linalg.norm(places[::20, None] - way[None], axis=2).min(axis=1).max() < 3e-3
    again = replay(log)
    assert max(again.differences.values()) == 0.0
