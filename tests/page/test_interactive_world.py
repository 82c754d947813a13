"""What the page's messages do to the simulated arm, in lock-step."""

import json

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.errors import SimulationError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import SimulatedRobot, World
from ur_admittance.robots.simulated.devices import SERVO
from ur_admittance.robots.simulated.interactive_world import (
    DAMPING,
    FASTEST,
    HAND_TIMEOUT_S,
    STRENGTH,
    InteractiveWorld,
    simulated_parameters,
)
from ur_admittance.robots.simulated.second import SECOND
from ur_admittance.runtime.mailbox import Mailbox
from ur_admittance_lab.scenarios.stage import TOOL

PERIOD = 0.002


class Rig:
    """The loop by hand: as many cycles as a test needs."""

    def __init__(self, name):
        model = robot_model("ur5e")
        self.robot = SimulatedRobot(World(model, TOOL, None, SERVO), PERIOD)
        self.live = InteractiveWorld(self.robot)
        self.controller = AdmittanceController(model, simulated_parameters())
        self.controller.configure()
        self.controller.activate()
        self.mailbox = Mailbox(name, handlers=self.live.handlers)
        self.robot.connect()
        self.peak_force = 0.0
        self.run(0.1)

    def run(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            self.robot.read(self.controller.sample)
            self.controller.update()
            self.robot.write(self.controller.command)
            self.live.on_tick(self.controller)
            self.peak_force = max(self.peak_force, float(np.linalg.norm(self.robot.world.external_wrench[:3])))

    def answer(self, message):
        return self.mailbox.answer(self.controller, json.dumps(message).encode())

    def say(self, message):
        answer = self.answer(message)
        assert answer.accepted, answer.text
        return answer.text

    @property
    def tcp(self):
        return np.array(self.controller.command["p_tcp"])

    @property
    def scene(self):
        return json.loads(self.say({"scene": {}}))


@pytest.fixture
def rig():
    import uuid

    rig = Rig("live-" + uuid.uuid4().hex[:10])
    yield rig
    rig.mailbox.close()


def test_the_hand_brings_the_tool_where_the_pointer_is(rig):
    wanted = rig.tcp + [0.05, -0.12, 0.06]
    for _ in range(60):
        rig.say({"hand": {"to": wanted.tolist()}})
        rig.run(0.05)
    assert np.linalg.norm(rig.tcp - wanted) < 0.01
    rig.say({"hand": "let_go"})
    rig.run(0.5)
    assert np.linalg.norm(rig.tcp - wanted) < 0.01, "without a spring it stays"


def test_the_hand_turns_the_tool(rig):
    p, before = rig.tcp, np.array(rig.controller.command["R_tcp"])
    for _ in range(60):
        rig.say({"hand": {"to": p.tolist(), "turn": [0.0, 0.0, 0.4]}})
        rig.run(0.05)
    R = np.array(rig.controller.command["R_tcp"]) @ before.T
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.4, abs=0.1)


def test_a_pointer_that_jumps_a_metre_never_pulls_harder_than_a_person(rig):
    for sign in (1.0, -1.0, 1.0):
        wanted = rig.tcp + [0.0, sign, 0.0]
        for _ in range(8):
            rig.say({"hand": {"to": wanted.tolist()}})
            rig.run(0.05)
    assert rig.peak_force < STRENGTH[0] + DAMPING[0] * FASTEST[0] + 5.0
    assert rig.controller.mode == Mode.ACTIVE


def test_a_hand_whose_page_has_died_lets_go(rig):
    rig.say({"hand": {"to": (rig.tcp + [0.0, 0.3, 0.0]).tolist()}})
    rig.run(HAND_TIMEOUT_S - 0.05)
    assert rig.robot.world.hand.active
    rig.run(0.1)
    assert not rig.robot.world.hand.active


def test_a_push_lasts_as_long_as_it_was_asked_for(rig):
    rig.say({"push": {"wrench": [0, 10, 0, 0, 0, 0], "seconds": 0.5}})
    rig.run(0.4)
    assert rig.robot.world.external_wrench[1] == pytest.approx(10.0, abs=0.2)
    rig.run(0.2)
    assert np.linalg.norm(rig.robot.world.external_wrench) < 0.2


def test_a_new_environment_appears_before_the_tool_without_disturbing_the_arm(rig):
    rig.say({"push": {"wrench": [10, 0, 0, 0, 0, 0], "seconds": 1.0}})
    rig.run(1.5)
    before, time = rig.tcp, rig.robot.world.time
    rig.say({"environment": {"kind": "floor", "stiffness": 2000}})
    assert rig.scene["revision"] == 2
    rig.run(0.2)
    assert np.linalg.norm(rig.tcp - before) < 1e-3
    assert rig.robot.world.time > time
    [(kind, _, position, _)] = rig.scene["shapes"]
    assert kind == "plane"
    assert position[2] == pytest.approx(before[2] - 0.02, abs=2e-3)
    rig.say({"push": {"wrench": [0, 0, -20, 0, 0, 0], "seconds": 5.0}})
    rig.run(4.9)
    depth = position[2] - rig.tcp[2]
    assert depth == pytest.approx(20.0 / 2000.0, rel=0.15), "force over stiffness, less the deadband"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"hand": {"to": [0, 0]}}, "hand.to = [0, 0]: must be 3 finite numbers."),
        ({"hand": {"to": [0, 0, 1e999]}}, "hand.to = [0, 0, inf]: must be 3 finite numbers."),
        ({"hand": 1}, 'hand: must be "let_go"'),
        ({"push": {"wrench": [500, 0, 0, 0, 0, 0], "seconds": 1}}, "push: force = 500 N: must be at most 80 N."),
        ({"push": {"wrench": [5, 0, 0, 0, 0, 0], "seconds": 1e9}}, "must be above 0, at most 10 s."),
        ({"push": {"wrench": [5, 0, 0, 0, 0, 0], "seconds": True}}, "must be above 0, at most 10 s."),
        ({"environment": {"kind": "lava"}}, "must be one of none, floor, wall, incline, cylinder, hole."),
        ({"environment": {"kind": "floor", "stiffness": 1}}, "must be 100 to 200000 N/m."),
        ({"environment": {"kind": "floor", "at": [0, 0, 0]}}, "environment: must be an object such as"),
        ({"environment": {"kind": "floor", "friction": "much"}}, "environment.friction = much: must be a number."),
    ],
)
def test_a_bad_message_is_refused_and_changes_nothing(rig, message, sentence):
    answer = rig.answer(message)
    assert not answer.accepted
    assert sentence in answer.text or "Infinity is not a number" in answer.text
    rig.run(0.01)
    assert not rig.robot.world.hand.active
    assert rig.scene["revision"] == 1


def test_the_largest_scene_fits_into_an_answer(rig):
    rig.say({"environment": {"kind": "hole"}})
    assert rig.scene["revision"] == 2
    assert len(json.dumps(rig.say({"scene": {}}))) < 4000


def test_another_arm_ends_the_loop_with_what_is_wanted(rig):
    assert not rig.answer({"arm": {"model": "ur10e", "tool": "gripper"}}).accepted, "not offered here"
    live = InteractiveWorld(rig.robot, choice=True)
    handler = live.handlers["arm"]
    for bad in ({"model": "ur99", "tool": "probe"}, {"model": "ur5e", "tool": "axe"}, {"model": "ur5e"}, "ur5e",
                {"model": "ur5e", "tool": "probe", "tcp": [0, 0, 3]}):  # fmt: skip
        with pytest.raises(SimulationError, match=r"arm.*must be"):
            handler(rig.controller, bad)
    assert not live.on_tick(rig.controller)
    handler(rig.controller, {"model": "ur10e", "tool": "spindle", "tcp": [0.1, 0.0, 0.2]})
    assert live.on_tick(rig.controller)
    model, tool = live.wanted
    assert (model, tool.tool.tcp, tool.tool.mass) == ("ur10e", (0.1, 0.0, 0.2), 2.2)


def test_another_environment_keeps_both_force_sensors():
    model = robot_model("ur5e")
    robot = SimulatedRobot(World(model, TOOL, None, SERVO, second=SECOND), PERIOD)
    live = InteractiveWorld(robot)
    controller = AdmittanceController(model, simulated_parameters().changed({"second.source": "simulation"}))
    push = {"wrench": [0, 15, 0, 0, 0, 0], "seconds": 0.5}

    def read_for(seconds):
        for _ in range(round(seconds / PERIOD)):
            robot.read(controller.sample)
            controller.update()
            robot.write(controller.command)
            live.on_tick(controller)
        return np.array(controller.sample["second_wrench"])

    with robot:
        controller.configure()
        live.handlers["environment"](controller, {"kind": "none"})
        before = read_for(0.2)
        live.handlers["push"](controller, push)
        assert np.linalg.norm((read_for(0.3) - before)[:3]) == pytest.approx(15.0, abs=2.0)
