"""The admittance law through RTDE: what a hand and a surface feel, with the whole chain between."""

import math

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde.rtde_clock import RobotClock
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.runtime.loop import run
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

TCP = [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]
PATIENT = ("--patience", "0.4")


class Arm:
    """Emulator, robot and controller together."""

    def __init__(self, emulator: EmulatorProcess, changes: dict[str, object], **settings: object) -> None:
        self.emulator = emulator
        emulator.tell("reset")
        model = robot_model("ur5e")
        settings = {"state_patience": 0.5, "command_patience": 0.4} | settings
        self.robot = RtdeRobot(emulator.host, model, RtdeSettings(**settings))  # type: ignore[arg-type]
        self.controller = AdmittanceController(model, Parameters().changed({"tool.tcp": TCP} | changes))
        self.controller.configure()
        self.y: list[float] = []

    def cycles(self, count: int) -> None:
        for _ in range(count):
            self.robot.beat.wait()
            self.robot.read(self.controller.sample)
            self.controller.update()
            self.robot.write(self.controller.command)
            self.y.append(float(self.controller.command["p_tcp"][1]))

    def __enter__(self) -> "Arm":
        self.robot.connect()
        self.cycles(5)
        self.controller.activate()
        self.cycles(5)
        return self

    def __exit__(self, *_: object) -> None:
        self.robot.__exit__(None, None, None)


@pytest.fixture(scope="module")
def free():
    with EmulatorProcess(*PATIENT) as emulator:
        yield emulator


def test_waiting_for_the_next_state_is_left_to_the_clock(free) -> None:
    """A second read in the same robot cycle finds the same state, at once."""
    with Arm(free, {}) as arm:
        same = 0
        for _ in range(100):
            arm.cycles(1)
            stamp = int(arm.controller.sample["stamp_ns"])
            arm.robot.read(arm.controller.sample)
            same += int(arm.controller.sample["stamp_ns"]) == stamp
    assert same > 50


@pytest.mark.parametrize(
    ("sensor", "client", "extra"),
    [
        ("builtin", "direct", {}),
        ("raw", "ur_rtde", {"tool.mass": 1.0, "tool.center_of_mass": [0, 0, 0.05]}),
    ],
)
def test_a_push_gives_force_minus_deadband_over_damping(free, sensor, client, extra) -> None:
    with Arm(free, extra, sensor=sensor, client=client) as arm:
        free.tell("push 0 10 0 0 0 0")
        arm.cycles(500)
        assert arm.controller.mode == Mode.ACTIVE, arm.controller.reason
        speed = (arm.y[-1] - arm.y[-101]) / 0.2
        damping = arm.controller.parameters.admittance.effective_damping[1]
        assert speed == pytest.approx((10.0 - 1.5) / damping, rel=0.03)
        free.tell("let go")
        arm.cycles(400)
        assert abs(arm.y[-1] - arm.y[-51]) < 1e-4


def test_a_spring_returns_and_a_push_settles_at_force_over_stiffness(free) -> None:
    with Arm(
        free, {"admittance.stiffness": [300.0] * 3 + [30.0] * 3, "admittance.stiffness_engagement_time": 0.1}
    ) as arm:
        arm.cycles(100)
        start = arm.y[-1]
        free.tell("push 0 10 0 0 0 0")
        arm.cycles(1000)
        assert arm.y[-1] - start == pytest.approx((10.0 - 1.5) / 300.0, rel=0.05)
        free.tell("let go")
        arm.cycles(1000)
        assert abs(arm.y[-1] - start) < 1.5e-3


@pytest.mark.timeout(180)
def test_a_surface_is_held_with_ten_newtons() -> None:
    """Approach, contact at 2e4 N/m and 10 N held within 0.5 N."""
    changes = {
        "admittance.damping": [250.0] * 3 + [10.0] * 3,
        "admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
        "admittance.force_axes": [False, False, True, False, False, False],
        "admittance.enabled_axes": [False, False, True, False, False, False],
    }
    emulator = EmulatorProcess("--environment", "floor", "--stiffness", "2e4", "--gap", "0.005", *PATIENT)
    with emulator, Arm(emulator, changes) as arm:
        forces = []
        for _ in range(16):
            arm.cycles(100)
            forces.append(emulator.ask("state")["contact_force"][2])
        assert arm.controller.mode == Mode.ACTIVE, arm.controller.reason
        np.testing.assert_allclose(forces[-6:], 10.0, atol=0.5)


def test_a_wall_is_pressed_without_a_bounce() -> None:
    """From D = 80 Ns/m, far too little for 2e4 N/m: the stabiliser sees the stiffness through the whole chain."""
    changes = {
        "admittance.damping": [80.0] * 3 + [10.0] * 3,
        "admittance.desired_wrench": [-10.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        "admittance.force_axes": [True, False, False, False, False, False],
        "admittance.enabled_axes": [True, False, False, False, False, False],
        "contact.approach_speed": [0.02, 0.2],
    }
    emulator = EmulatorProcess("--environment", "wall", "--stiffness", "2e4", "--gap", "0.005", *PATIENT)
    with emulator, Arm(emulator, changes) as arm:
        forces = []
        for _ in range(60):
            arm.cycles(25)
            forces.append(-emulator.ask("state")["contact_force"][0])
        assert arm.controller.mode == Mode.ACTIVE, arm.controller.reason
        assert max(forces) < 13.0
        np.testing.assert_allclose(forces[-20:], 10.0, atol=0.5)


@pytest.mark.realtime  # a loop that is late is a fault
def test_an_incline_is_followed_with_constant_normal_force() -> None:
    """10 N along the estimated normal, sliding 40 mm at 20 mm/s up a slope of 10 degrees."""
    changes = {
        "control_frame": "normal",
        "admittance.damping": [250.0] * 3 + [10.0] * 3,
        "admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
        "admittance.force_axes": [False, False, True, False, False, False],
        "admittance.enabled_axes": [False, False, True, False, False, False],
        "admittance.bias_time": 0.3,
        "contact.approach_speed": [0.02, 0.2],
    }
    angle = math.radians(10.0)
    normal = np.array([-math.sin(angle), 0.0, math.cos(angle)])
    slope = ("--environment", "incline", "--angle", str(angle), "--stiffness", "1e4", "--gap", "0.005")
    with EmulatorProcess(*slope, *PATIENT) as emulator, Arm(emulator, changes, client="direct") as arm:
        arm.cycles(1000)
        forces = []
        for _ in range(40):
            for _ in range(25):
                arm.controller.set_reference_twist([0.02, 0.0, 0.0, 0.0, 0.0, 0.0])
                arm.cycles(1)
            forces.append(float(normal @ emulator.ask("state")["contact_force"]))
        assert arm.controller.mode == Mode.ACTIVE, arm.controller.reason
        assert np.sqrt(np.mean(np.square(np.array(forces[12:]) - 10.0))) < 0.5


@pytest.mark.realtime  # a loop that is late is a fault
def test_the_runtime_loop_runs_on_the_robots_clock(free) -> None:
    arm = Arm(free, {})
    with arm.robot:
        arm.controller.activate()
        report = run(arm.controller, arm.robot, RobotClock(arm.robot), duration=1.0)
    assert report.mode == Mode.INACTIVE
    assert report.ticks > 100
    assert free.ask("state")["standing"]
