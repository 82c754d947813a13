"""Success means done: what the emulated robot cannot or must not do stops it or ends its program, with one log line."""

import struct

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Environment, World
from ur_admittance_lab.emulator import primary
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.emulated_kinematics import Kinematics
from ur_admittance_lab.emulator.safety import StopKind

PROGRAM = "def rtde_control():\n  rtde_cmd()\n  signal_ready\nend\n"
PLAYING, STOPPED = 2, 1
MOVE_J, MOVE_J_IK, MOVE_L, FORCE_MODE, SPEED_J, SPEED_L, SERVO_J = 1, 2, 3, 6, 9, 10, 11
SET_PAYLOAD, TEACH_MODE, SET_TCP, INVERSE = 17, 18, 29, 46
FAR = [2.0, 0.0, 0.3, 0.0, 3.1, 0.0]  # [m, rad] out of reach
HOME = robot_model("ur5e").home


class Box(Controller):
    """A control box on which a control program runs; no network, no real time."""

    def __init__(self, force_limit: float = 250.0, stiffness: float = 2e4) -> None:
        self.said: list[str] = []
        world = World(robot_model("ur5e"), environment=Environment("wall", stiffness, 50.0, 0.2, 0.02))
        super().__init__(world, force_limit=force_limit, say=self.said.append)
        self.errors: list[tuple[int, int]] = []  # codes and arguments that went to the primary port
        self.readers.append(self._note)
        self.program.upload(PROGRAM)
        self.cycles(30)
        assert self.program.runtime_state == PLAYING
        self.said.clear()

    def cycles(self, count: int) -> None:
        for _ in range(count):
            self.cycle()

    def _note(self, message: bytes) -> None:
        if message[4] == primary.MESSAGE and message[14] == primary.ERROR:
            self.errors.append(struct.unpack_from(">ii", message, 15))

    def command(self, number: int, numbers: list[float] | None = None) -> None:
        registers = {f"input_double_register_{i}": x for i, x in enumerate(numbers or [])}
        self.receive({"input_int_register_0": number, "input_int_register_1": 0} | registers)

    def press_on_the_wall(self) -> None:
        self.command(SPEED_L, [-0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0])  # UR base: forward is -x
        for _ in range(2000):
            self.cycle()
            if self.safety.stop is StopKind.PROTECTIVE:
                return
        pytest.fail("the wall did not stop the arm")


@pytest.mark.parametrize(
    ("force_limit", "stiffness", "words", "code"),
    [(60.0, 2e4, "force 6", 157), (60.0, 2e3, "force 6", 157), (1e9, 2e4, "position deviates from path", 153)],
)
def test_an_arm_stopped_by_contact_stays_where_it_stands_when_unlocked(force_limit, stiffness, words, code):
    box = Box(force_limit, stiffness)
    box.press_on_the_wall()
    assert words in box.safety.reason
    joint = int(np.argmax(np.abs(box.arm.q_set - box.arm.world.q)))
    assert box.errors == [(code, joint)]
    box.cycles(2500)
    assert box.safety.unlock_protective_stop() == "Protective stop releasing"
    there = box.arm.world.q.copy()
    box.cycles(500)
    assert box.safety.stop is StopKind.NONE
    np.testing.assert_allclose(box.arm.world.q, there, atol=1e-4)
    np.testing.assert_allclose(box.arm.q_set, there, atol=0.01)


def test_each_protective_stop_has_the_code_of_its_reason_and_a_button_has_none():
    box = Box()
    box.safety.trip(StopKind.PROTECTIVE, "asked for")
    box.cycles(2600)
    box.safety.unlock_protective_stop()
    box.safety.trip(StopKind.SAFEGUARD, "fence opened")
    box.cycles(10)
    box.safety.trip(StopKind.EMERGENCY, "button pressed")
    box.cycles(10)
    assert box.errors == [(209, 0)]
    box = Box()
    box.arm.q_set[5] = box.arm.world.q[5] = box.arm.model.upper[5] - 0.02
    box.command(SPEED_J, [0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 20.0, 0.0])
    box.cycles(200)
    assert box.errors == [(150, 0)]


def test_a_stop_ends_at_its_place_also_when_the_arm_was_free():
    box = Box()
    box.command(SPEED_J, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 20.0, 0.0])
    box.cycles(100)
    box.safety.trip(StopKind.PROTECTIVE, "a test")
    box.cycles(500)
    assert box.arm.standing
    np.testing.assert_allclose(box.arm.q_set, box.arm.world.q, atol=1e-3)


@pytest.mark.parametrize(
    ("number", "numbers", "words", "code"),
    [
        (SPEED_L, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0], "TCP speed", (191, 3)),
        (SPEED_J, [0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 20.0, 0.0], "speed of joint 5", (191, 37)),
        (SPEED_J, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e4, 0.0], "sudden change in target speed: joint 5", (204, 5)),
        (
            SERVO_J,
            [*(HOME + [1.0, 0, 0, 0, 0, 0]), 0.0, 0.0, 0.002, 0.1, 300.0],
            "sudden change in target position",
            (204, 1),
        ),
        (MOVE_L, [0.5, -0.133, 0.488, 0.0, 3.1416, 0.0, 0.5, 1.0], "sudden change", (204, 5)),
    ],
)
def test_a_set_point_that_no_robot_follows_stops_the_arm(number, numbers, words, code):
    box = Box()
    box.command(number, numbers)
    box.cycles(1500)
    assert box.safety.stop is StopKind.PROTECTIVE
    assert words in box.safety.reason
    assert box.errors == [code]
    assert box.arm.standing
    assert np.abs(box.arm.world.q - HOME).max() < 1.3
    assert box.program.runtime_state != PLAYING


def test_a_jump_of_a_servo_target_is_refused_before_the_arm_moves():
    box = Box()
    box.command(SERVO_J, [*(HOME + [0.0, 0, 0, 0, 0, 1.0]), 0.0, 0.0, 0.002, 0.1, 300.0])
    box.cycles(500)
    np.testing.assert_allclose(box.arm.world.q, HOME, atol=1e-3)


@pytest.mark.parametrize(
    ("number", "numbers", "words"),
    [
        (MOVE_L, [*FAR, 0.2, 1.0], "no inverse kinematics solution for p[2.000"),
        (MOVE_J_IK, [*FAR, 0.2, 1.0], "no inverse kinematics solution"),
        (INVERSE, FAR, "no inverse kinematics solution"),
        (MOVE_J, [0.0, -1.6, 7.0, 0.0, 0.0, 0.0, 1.0, 1.0], "target out of joint limits: joint 2 at 7.000 rad"),
        (MOVE_J, [*HOME, -1.0, 1.0], "speed -1"),
        (SET_PAYLOAD, [50.0, 0.0, 0.0, 0.1], "mass 50 kg: must be 0 to 5 kg"),
        (SET_PAYLOAD, [1.0, 0.0, 0.0, 9.0], "centre of mass 9 m"),
        (SET_TCP, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0], "20 m from the flange"),
        (FORCE_MODE, [], "force_mode is not emulated"),
        (TEACH_MODE, [], "teach_mode is not emulated"),
        (77, [], "command 77 is not emulated"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled_ends_the_program_with_one_line(number, numbers, words):
    box = Box()
    payload, tcp = box.arm.payload, box.arm.actual.tcp.copy()
    box.command(number, numbers)
    box.cycles(50)
    assert box.program.runtime_state == STOPPED
    assert len(box.said) == 1
    assert "runtime error: " in box.said[0]
    assert words in box.said[0]
    np.testing.assert_allclose(box.arm.world.q, HOME, atol=1e-3)
    assert (box.arm.payload, box.arm.actual.tcp.tolist()) == (payload, tcp.tolist())


def test_local_control_ends_what_came_over_the_network():
    box = Box()
    box.command(SPEED_J, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 20.0, 0.0])
    box.cycles(50)
    box.take_local_control()
    box.cycles(200)
    assert box.program.runtime_state == STOPPED
    assert box.arm.standing


def test_every_pose_that_the_arm_can_take_is_within_its_reach():
    rng, arm = np.random.default_rng(3), Kinematics(robot_model("ur5e"))
    for _ in range(60):
        pose = arm.tcp_pose_at(HOME + rng.uniform(-3.0, 3.0, 6))
        q = arm.reach(pose, HOME)
        assert q is not None
        np.testing.assert_allclose(arm.tcp_pose_at(q)[:3], pose[:3], atol=1e-6)
    assert arm.reach(FAR, HOME) is None


def test_a_digital_input_can_be_wired(connect, emulator):
    client = connect()
    client.outputs(["actual_digital_input_bits"])
    client.start()
    assert emulator.tell("digital input 3 on") == "ok"
    assert emulator.tell("digital input 17 on") == "ok"
    while client.state()["actual_digital_input_bits"] != 1 << 3 | 1 << 17:
        pass
    assert emulator.tell("digital input 3 off") == "ok"
    while client.state()["actual_digital_input_bits"] != 1 << 17:
        pass
    assert emulator.tell("digital input 18 on").startswith("error")
