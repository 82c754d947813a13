"""Wrong kinds, lengths and values at the front door: each is refused in one sentence of the package's own errors."""

import math
import os
from functools import cache

import numpy as np
import pytest

import ur_admittance as ua
import ur_admittance_lab as lab

NAN = math.nan


@cache
def world():
    return ua.World("ur5e")


def controller():
    return ua.AdmittanceController("ur5e")


def run(**options):
    return ua.run(controller(), ua.SimulatedRobot(world()), **options)


REFUSED = {
    "robot model = 5: must be a name such as 'ur5e'": lambda: ua.robot_model(5),
    "robot model = ['ur5e']: must be a name": lambda: ua.robot_model(["ur5e"]),
    "robot model 'ur99' is unknown": lambda: ua.World("ur99"),
    "robot model = None: must be a name": lambda: ua.World(None),
    "tool = 1.0: must be a Tool": lambda: ua.World("ur5e", 1.0),
    "environment = 'wall': must be an Environment": lambda: ua.World("ur5e", environment="wall"),
    "servo = 0.01: must be a Servo": lambda: ua.World("ur5e", servo=0.01),
    "sensor = 'netft': must be an FtSensor": lambda: ua.World("ur5e", sensor="netft"),
    "second = 'x': must be a SecondSensor": lambda: ua.World("ur5e", second="x"),
    "gravity = 9.81: must be 3 finite numbers [m/s2]": lambda: ua.World("ur5e", gravity=9.81),
    "gravity = 'down': must be numbers": lambda: ua.World("ur5e", gravity="down"),
    "gravity = [0.0, 0.0, nan]: must be 3 finite": lambda: ua.World("ur5e", gravity=(0, 0, NAN)),
    "physics_dt = '1ms': must be a number, > 0 and finite [s]": lambda: ua.World("ur5e", physics_dt="1ms"),
    "physics_dt = nan s: must be > 0": lambda: ua.World("ur5e", physics_dt=NAN),
    "physics_dt = 0 s: must be > 0": lambda: ua.World("ur5e", physics_dt=0),
    "physics_dt = -0.001 s: must be > 0": lambda: ua.World("ur5e", physics_dt=-0.001),
    "seed = -1: must be a whole number >= 0": lambda: ua.World("ur5e", seed=-1),
    "seed = 'x': must be a whole number >= 0": lambda: ua.World("ur5e", seed="x"),
    "tool.mass = inf kg: must be >= 0 and": lambda: ua.Tool(mass=10**400),
    "tool.mass = -1 kg: must be >= 0": lambda: ua.Tool(mass=-1),
    "tool.mass = nan kg: must be >= 0": lambda: ua.Tool(mass=NAN),
    "tool.mass = inf kg: must be >= 0 and finite": lambda: ua.Tool(mass=math.inf),
    "tool.mass = '1kg': must be a number, >= 0 and finite [kg]": lambda: ua.Tool(mass="1kg"),
    "tool.mass = [1.0]: must be a number": lambda: ua.Tool(mass=[1.0]),
    "tool.com = [0.0, 0.0]: must be 3 finite numbers [m]": lambda: ua.Tool(com=(0, 0)),
    "tool.tcp = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]: must be 3": lambda: ua.Tool(tcp=(0, 0, 0.1, 0, 0, 0)),
    "tool.tcp = '0,0,1': must be numbers": lambda: ua.Tool(tcp="0,0,1"),
    "tool.tcp_rotation = 'down': must be a 3 x 3 rotation": lambda: ua.Tool(tcp_rotation="down"),
    "sensor.bias = [1.0, 2.0, 3.0]: must be 6 finite": lambda: ua.FtSensor(bias=(1, 2, 3)),
    "sensor.sign = array([1, 1]): must be a number": lambda: ua.FtSensor(sign=np.array([1, 1])),
    "sensor.noise_force = 'low': must be a number": lambda: ua.FtSensor(noise_force="low"),
    "sensor.position = 0.1: must be 3 finite numbers [m]": lambda: ua.FtSensor(position=0.1),
    "servo.delay = '10ms': must be a number, >= 0 and finite [s]": lambda: ua.Servo(delay="10ms"),
    "servo.friction = [1.0, 2.0]: must be 6 finite": lambda: ua.Servo(friction=(1, 2)),
    "second: sensor = 'x': must be an FtSensor": lambda: ua.SecondSensor("x"),
    "environment.kind = ceiling: must be one of none, floor": lambda: ua.Environment("ceiling"),
    "environment.stiffness = 'hard': must be a number": lambda: ua.Environment.wall("hard"),
    "world = 'ur5e': must be a World": lambda: ua.SimulatedRobot("ur5e"),
    "period = '2ms': must be a number": lambda: ua.SimulatedRobot(world(), period="2ms"),
    "push: wrench = [1.0, 2.0, 3.0]: must be 6 finite numbers [N, Nm]": lambda: world().push([1, 2, 3]),
    "push: wrench = 'left': must be numbers": lambda: world().push("left"),
    "push: seconds = '1s': must be a number": lambda: world().push([0] * 6, seconds="1s"),
    "push: seconds = -1 s: must be >= 0": lambda: world().push([0] * 6, seconds=-1),
    "push: wrench = ['0', '0', '1', '0', '0', '0']: must be numbers": lambda: world().push(list("001000")),
    "push: wrench = [1j, 0, 0, 0, 0, 0]: must be numbers": lambda: world().push([1j, 0, 0, 0, 0, 0]),
    "push: seconds = -inf s: must be >= 0": lambda: world().push([0] * 6, seconds=-(10**400)),
    "hand: grip = 'x': must be numbers": lambda: world().push([0] * 6, grip="x"),
    "hand: grip = [1.0, 2.0]: must be 3 finite numbers [m]": lambda: world().push([0] * 6, grip=[1, 2]),
    "grab: path = 'left': must be a function of the time [s]": lambda: world().grab("left"),
    "grab: mass = 'x': must be a number": lambda: world().grab(lambda t: [0] * 6, mass="x"),
    "grab: damping = [1.0]: must be 2 finite": lambda: world().grab(lambda t: [0] * 6, damping=[1.0]),
    "reset: q = 'home': must be numbers": lambda: world().reset("home"),
    "parameters = 'hand_guiding': must be Parameters": lambda: ua.AdmittanceController("ur5e", "hand_guiding"),
    "parameters = {'mass': 4}: must be Parameters": lambda: ua.AdmittanceController("ur5e", {"mass": 4}),
    "3 is not a preset; there are": lambda: ua.preset(3),
    "changes = 'admittance.mass=4': must be names with": lambda: ua.Parameters().changed("admittance.mass=4"),
    "admittance.mass = '4kg' kg, kg m2: must be 6": lambda: ua.Parameters().changed({"admittance.mass": "4kg"}),
    "/nowhere.yaml: there is no such file": lambda: ua.load_parameters("/nowhere.yaml"),
    "parameters = 3: must be the path of a file": lambda: ua.load_parameters(3),
    "/nowhere.mcap: there is no such file": lambda: ua.read_log("/nowhere.mcap"),
    "recording = None: must be the path of a file": lambda: ua.read_log(None),
    "twin = None: must be the path of a file": lambda: lab.Twin.load(None),
    "robot address = 5: must be a text such as '192.168.0.10'": lambda: ua.RtdeRobot(5, "ur5e"),
    "settings = 'servo': must be RtdeSettings": lambda: ua.RtdeRobot("192.0.2.1", "ur5e", "servo"),
    "robot setting payload_kg = 'heavy': must be a number": lambda: ua.RtdeSettings(payload_kg="heavy"),
    "robot setting tcp = [0.0, 0.0, 0.1]: must be 6 finite": lambda: ua.RtdeSettings(tcp=(0, 0, 0.1)),
    "NetFt address = '': must be a text": lambda: ua.NetFt(""),
    "NetFt port = 'x': must be a whole number from 1 to 65535": lambda: ua.NetFt("192.0.2.1", port="x"),
    "RobotiqFt device = None: must be a text": lambda: ua.RobotiqFt(None),
    "path points = 'x.csv': must be numbers": lambda: ua.CartesianPath("x.csv", 0.1),
    "path speed = '50mm/s': must be a number": lambda: ua.CartesianPath([[0, 0, 0]], "50mm/s"),
    "smoother time = 'x': must be a number": lambda: ua.Smoother("x"),
    "follower acceleration = None: must be a number": lambda: ua.JointFollower(None),
    "script: seconds = '4s': must be a number": lambda: lab.Script("4s"),
    "script: seconds = -1 s: must be >= 0": lambda: lab.Script(1.0).push(0.0, -1, [0] * 6),
    "script: at = 'now': must be a number": lambda: lab.Script(1.0).activate("now"),
    "script: grab: mass = 'x': must be a number": lambda: lab.Script(1.0).grab(0.0, [[0] * 6], mass="x"),
    "case: script = 'push': must be a Script": lambda: lab.Case("push", ua.Parameters()),
    "case: parameters = {}: must be Parameters": lambda: lab.Case(lab.Script(1.0), {}),
    "simulate: cases = None: must be a list of Case": lambda: lab.simulate(None),
    "simulate: cases[0] = 'push': must be a Case": lambda: lab.simulate(["push"]),
    "simulate: threads = '2': must be a whole number >= 1": lambda: lab.simulate([], threads="2"),
    "controller = None: must be an AdmittanceController": lambda: ua.run(None, None),
    "robot = a World: has no clock(); must be an object such as Sim": lambda: ua.run(controller(), world()),
    "duration = '2s': must be a number": lambda: run(duration="2s"),
    "duration = -1 s: must be >= 0": lambda: run(duration=-1),
    "duration = nan s: must be >= 0": lambda: run(duration=NAN),
    "log = 5: must be the path of a file": lambda: run(log=5),
    "reference twist: shape is (3,), must be (6,)": lambda: controller().set_reference_twist([1, 2, 3]),
    "reference wrench = 'left': must be numbers": lambda: controller().set_reference_wrench("left"),
    "valid_for = 'long': must be a number": lambda: controller().set_reference_twist([0] * 6, valid_for="long"),
    "target position = 'home': must be numbers": lambda: controller().set_target_pose("home", np.eye(3)),
}  # fmt: skip


def test_an_arm_of_ones_own_needs_only_the_documented_methods():
    arm = ua.SimulatedRobot(world())
    arm.connect()
    names = ("connect", "clock", "read", "write", "stop", "zero_ft_sensor", "close")
    own = type("Own", (), {name: staticmethod(getattr(arm, name)) for name in names})()
    assert ua.run(controller(), own, duration=0.01).ticks == 5


def test_what_numpy_and_the_system_give_is_accepted(tmp_path):
    assert ua.CartesianPath([[0.0, 0.0, 0.1]], np.array(0.05)).speed == 0.05
    (tmp_path / "p.yaml").write_text("/**:\n  ros__parameters:\n    control_rate: 250.0\n")
    [entry] = os.scandir(tmp_path)
    assert ua.load_parameters(entry).control_rate == 250.0


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_wrong_value_is_refused_in_one_sentence(sentence):
    with pytest.raises(ua.errors.UrAdmittanceError) as refusal:
        REFUSED[sentence]()
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_robot_may_be_given_by_its_name():
    assert world().model is ua.robot_model("ur5e")
    assert controller().model is world().model
    assert ua.RtdeRobot("192.0.2.1", "ur5e").model is world().model
