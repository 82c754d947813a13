"""A NetFT beside the robot's own wrench, through RTDE: one falls silent, the arm goes on with the other."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.connect import open_rtde
from ur_admittance.robots.external_sensors import NetFt
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.tool import check_parameters
from ur_admittance.runtime.interfaces import NO_OWN_ZERO
from ur_admittance.runtime.loop import Loop
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

from .netft_server import COUNTS, NetFtServer

MODEL = robot_model("ur5e")
NOISE = 0.01  # [N]
OFFSET = np.array([1.0, -0.5, 0.5, 0.05, 0.0, 0.02])  # [N, Nm] within the tolerance


class Arm:
    """Emulator, NetFT and controller. The NetFT says what the robot's own sensor feels, with a noise of its own."""

    def __init__(self, emulator: EmulatorProcess, server: NetFtServer) -> None:
        self.server, self.rng, self.offset = server, np.random.default_rng(0), np.zeros(6)
        sensor = NetFt(server.host, COUNTS, COUNTS, server.port)
        settings = RtdeSettings(sensor="external", second="builtin", state_patience=0.5, command_patience=0.4)
        self.robot = RtdeRobot(emulator.host, MODEL, settings, sensor)
        names = {"sensor.source": sensor.source, "second.source": "builtin", "safety.wrench_timeout": 0.3}
        self.parameters = Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]} | names)
        self.controller = AdmittanceController(MODEL, self.parameters)
        self.controller.configure()
        self.robot.connect()
        self.loop = Loop(self.controller, self.robot, self.robot.clock())
        self.loop.clock.start()

    def run(self, seconds: float) -> np.ndarray:
        y = []
        for _ in range(round(seconds / 0.002)):
            noise = self.rng.normal(0.0, NOISE, 6) * np.repeat([1.0, 0.1], 3)
            self.server.wrench = (self.controller.sample["second_wrench"] + self.offset + noise).tolist()
            self.loop.cycle()
            y.append(float(self.controller.command["p_tcp"][1]))
        return np.array(y)


@pytest.fixture
def arm():
    with EmulatorProcess("--patience", "0.4") as emulator, NetFtServer() as server:
        one = Arm(emulator, server)
        yield one, emulator, server
        one.robot.stop()
        one.robot.close()


def test_a_netft_falls_silent_under_a_push_and_the_arm_goes_on_with_its_own_sensor(arm) -> None:
    one, emulator, server = arm
    controller = one.controller
    one.run(0.3)
    controller.activate()
    one.run(0.2)
    emulator.tell("push 0 10 0 0 0 0")
    before = one.run(0.8)
    assert controller.mode == Mode.ACTIVE
    assert controller.remark == ""
    server.silent = True
    after = one.run(0.8)
    assert controller.mode == Mode.ACTIVE
    assert controller.reason == f"active; the first force sensor ({one.robot.source}) is silent: only the second " + (
        "force sensor (builtin) is used"
    )
    assert after[-1] - after[-101] == pytest.approx(before[-1] - before[-101], rel=0.05)  # as fast as before
    server.silent = False
    emulator.tell("let go")
    one.run(2.5)  # asked again for its stream, it agrees for a second
    assert "used again" in controller.remark
    with pytest.raises(LifecycleError, match="deactivate"):
        controller.zero_ft_sensor()
    controller.deactivate()
    one.offset = OFFSET
    one.run(1.5)
    one.robot.stop()
    with pytest.raises(RobotError) as refused:  # of two, neither is left to the robot
        one.robot.zero_ft_sensor()
    assert str(refused.value) == NO_OWN_ZERO
    controller.zero_free_tool()
    one.run(0.1)
    bias = np.array(controller.parameters.sensor.bias) - controller.parameters.second.bias
    np.testing.assert_allclose(bias, OFFSET, atol=0.05)
    np.testing.assert_allclose(controller.sample["wrench"] - controller.sample["second_wrench"], OFFSET, atol=0.1)
    assert np.abs(controller.command["wrench_sensor"]).max() < 0.1  # taken off by the tick, not from the sample


@pytest.mark.parametrize(
    ("sensor", "second", "itself"),
    [
        ("builtin", "", True),
        ("raw", "", False),
        ("netft:192.168.1.1", "", False),
        ("builtin", "netft:192.168.1.1", False),
        ("netft:192.168.1.1", "builtin", False),
    ],
)
def test_a_robot_zeroes_its_own_sensor_only_and_only_alone(sensor: str, second: str, itself: bool) -> None:
    assert open_rtde("127.0.0.1", MODEL, sensor, second).zeroes_itself is itself


def test_two_names_of_one_sensor_and_unnamed_seconds_are_refused() -> None:
    for second, sentence in (("raw", "the same one in the wrist"), ("nonsense", "second = 'nonsense'")):
        with pytest.raises(RobotError, match=sentence):
            open_rtde("127.0.0.1", MODEL, "builtin", second)
    robot = open_rtde("127.0.0.1", MODEL, "builtin", "netft:192.168.1.1")
    assert (robot.source, robot.second_source) == ("builtin", "netft:192.168.1.1")
    with pytest.raises(RobotError, match=r"second.source = \(empty\)"):
        check_parameters(Parameters(), robot.source, robot.second_source)
    asked = Parameters().changed({"second.source": "netft:192.168.1.1"})
    check_parameters(asked, robot.source, robot.second_source)
    with pytest.raises(RobotError, match="no second force sensor"):
        Loop(AdmittanceController(MODEL, asked), open_rtde("127.0.0.1", MODEL), None)  # type: ignore[arg-type]
