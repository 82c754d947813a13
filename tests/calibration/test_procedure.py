"""The whole procedure on simulated arms: motion, readings, identification, files, and the arm that no longer drifts."""

from dataclasses import replace

import numpy as np
import pytest

from ur_admittance.calibration import session
from ur_admittance.calibration.calm_arm import CALM_ACCELERATION, CALM_SPEED, CalmArm
from ur_admittance.calibration.fit import Reading
from ur_admittance.calibration.poses import choose, excitation
from ur_admittance.calibration.tool_calibration import expected_reading, save_calibration, with_calibration
from ur_admittance.errors import CalibrationError, ParameterError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters, load_parameters
from ur_admittance.robots.simulated import SimulatedRobot
from ur_admittance.robots.simulated.practice_arms import truth, unknown_tool

from .conftest import SWEEP, rotation_error_deg

MODELS = ("ur3e", "ur5e", "ur10e", "ur20")
CASES = [(name, seed) for name in MODELS for seed in range(SWEEP)] or [
    ("ur3e", 1),
    ("ur5e", 8),
    ("ur10e", 9),
    ("ur20", 2),
]
PERIOD = 0.002


def calibrated(name, seed, parameters, speed=None):
    world = unknown_tool(robot_model(name), seed)
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, PERIOD)
        if speed is not None:
            arm.speed[:] = speed  # not calm, but this is no real arm
        return world, session.calibrate(arm, parameters)


def residuals(world, parameters, count, seed=0):
    """Compensated wrench of the free tool in new orientations (count, 6): mean of 0.2 s at rest."""
    rng = np.random.default_rng(seed)
    left = []
    for _ in range(count):
        q = world.model.home + np.concatenate([np.zeros(3), rng.uniform(-1, 1, 3) * [1.3, 1.3, 3.0]])
        world.reset(q)
        wrench = np.zeros(6)
        for _ in range(100):
            world.step(q, None, PERIOD)
            wrench += world.wrench / 100
        R, _ = world.model.forward(np.array(world.q))
        left.append(parameters.sensor.sign * wrench - expected_reading(parameters, R))
    return np.array(left)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_unknown_tool_and_sensor_are_found_and_compensated_in_new_orientations(name, seed, parameters):
    world, found = calibrated(name, seed, parameters)
    true = truth(world)
    assert found.mass == pytest.approx(true["tool.mass"], rel=0.005)
    assert np.abs(found.center_of_mass - true["tool.center_of_mass"]).max() < 0.002
    assert rotation_error_deg(np.array(world.sensor.rotation), found.R_flange_sensor) < 0.3
    assert np.abs(found.bias - true["sensor.bias"])[:3].max() < 0.1
    assert np.abs(found.bias - true["sensor.bias"])[3:].max() < 0.01
    left = residuals(world, found.applied_to(parameters), 20)
    assert np.sqrt((left[:, :3] ** 2).sum(axis=1).mean()) < 0.3
    assert np.sqrt((left[:, 3:] ** 2).sum(axis=1).mean()) < 0.03


def test_calibration_file_is_included_by_a_parameter_file(tmp_path, parameters):
    _, found = calibrated("ur5e", 3, parameters, speed=1.5)
    save_calibration(found, tmp_path / "calibration.yaml")
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "/**:\n  ros__parameters:\n    include: calibration.yaml\n    admittance.mass: [5, 5, 5, 0.5, 0.5, 0.5]\n"
    )
    loaded = load_parameters(mine)
    assert loaded.tool.mass == pytest.approx(found.mass, abs=1e-8)
    assert loaded.admittance.mass[0] == 5.0
    assert np.allclose(loaded.sensor.bias, found.bias, atol=1e-7)
    assert with_calibration(Parameters(), tmp_path / "calibration.yaml").tool == loaded.tool
    save_calibration(replace(found, source="builtin"), tmp_path / "second.yaml", second=True)
    mine.write_text("/**:\n  ros__parameters:\n    include: [calibration.yaml, second.yaml]\n")
    both = load_parameters(mine)
    assert both.tool == loaded.tool
    assert both.second.source == "builtin"
    assert both.second.mass == both.tool.mass
    assert both.second.bias == both.sensor.bias
    text = str(found)
    assert "tool mass" in text
    assert "excitation" in text
    found.save_figure(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("bias: [1000000.0, 0, 0, 0, 0, 0]", r"sensor.bias\[0\] = 1000000 N: must be -1000 to 1000"),
        ("rotation: [0, 0, 100.0]", r"sensor.rotation\[2\] = 100 rad: must be <= 6.2832"),
    ],
)
def test_a_calibration_that_no_sensor_gives_is_refused_with_its_place(tmp_path, line, refusal):
    file = tmp_path / "calibration.yaml"
    bias = "" if line.startswith("bias") else "      bias: [0, 0, 0, 0, 0, 0]\n"
    file.write_text(f"/**:\n  ros__parameters:\n    sensor:\n      {line}\n{bias}    tool:\n      mass: 1.0\n")
    for load in (load_parameters, lambda path: with_calibration(Parameters(), path)):
        with pytest.raises(ParameterError, match=rf"calibration.yaml:4: {refusal}"):
            load(file)


def test_included_files_are_refused_with_the_place_of_the_mistake(tmp_path):
    mine, other = tmp_path / "mine.yaml", tmp_path / "other.yaml"
    mine.write_text("/**:\n  ros__parameters:\n    include: other.yaml\n")
    with pytest.raises(ParameterError, match=r"mine.yaml:3: include: .*other.yaml: there is no such file"):
        load_parameters(mine)
    other.write_text("/**:\n  ros__parameters:\n    tool.mass: -1\n")
    with pytest.raises(ParameterError, match=r"other.yaml:3: tool.mass = -1 kg"):
        load_parameters(mine)
    other.write_text("/**:\n  ros__parameters:\n    include: mine.yaml\n")
    with pytest.raises(ParameterError, match="must not include another"):
        load_parameters(mine)
    other.write_text("/**:\n  ros__parameters:\n    admittance.mass: [1, 1, 1, 1, 1, 1]\n    tool.mass: 1\n")
    with pytest.raises(CalibrationError, match="does not belong in a calibration file"):
        with_calibration(Parameters(), other)


def test_check_tells_a_good_calibration_from_drift_and_from_another_tool(parameters):
    world, found = calibrated("ur5e", 4, parameters, speed=1.5)
    good = found.applied_to(parameters)
    bias = (np.array(good.sensor.bias) + [0, 2, 0, 0, 0, 0]).tolist()
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, PERIOD)
        arm.speed[:] = 1.5
        assert session.check(arm, good).good
        drifted = session.check(arm, good.changed({"sensor.bias": bias}))
        assert "drifted" in str(drifted)
        heavier = session.check(arm, good.changed({"tool.mass": 1.7}))
        assert "calibrate again" in str(heavier)


# -- poses and motion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_chosen_poses_excite_all_unknowns_inside_the_limits(name, parameters):
    model = robot_model(name)
    poses = choose(model, parameters, model.home, 12)
    R = np.array([model.forward(q)[0].T for q in poses])
    assert excitation(R) > 0.3
    assert (poses > model.lower + 0.05).all()
    assert (poses < model.upper - 0.05).all()
    random = np.random.default_rng(0).uniform(-1, 1, (12, 3)) * [1.3, 1.3, 2.6]
    by_chance = np.array([model.forward(model.home + np.concatenate([np.zeros(3), x]))[0].T for x in random])
    assert excitation(R) > 1.5 * excitation(by_chance)
    assert all(model.forward(q)[1][2] > 0.05 for q in poses)


def test_poses_respect_a_workspace_box_or_are_refused(parameters):
    model = robot_model("ur5e")
    R, p = model.forward(model.home)
    tcp = p + R @ [0, 0, 0.15]
    tight = parameters.changed({"workspace.min": (tcp - 0.01).tolist(), "workspace.max": (tcp + 0.01).tolist()})
    with pytest.raises(CalibrationError, match="move the tool up"):
        choose(model, tight, model.home, 12)
    low = (tcp - [0.2, 0.2, 0.05]).tolist()
    roomy = parameters.changed({"workspace.min": low, "workspace.max": (tcp + 0.5).tolist()})
    for q in choose(model, roomy, model.home, 8):
        R, p = model.forward(q)
        assert ((p + R @ [0, 0, 0.15]) >= np.array(low) - 1e-9).all()


def test_moves_stay_calm_and_arrive():
    world = unknown_tool(robot_model("ur5e"))
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, PERIOD)
        start, goal = arm.q, arm.q + [0, 0, 0, 0.8, -0.5, 1.5]
        sent, write = [], robot.write
        robot.write = lambda command: (sent.append(np.array(command["q"])), write(command))[1]
        arm.move(goal)
        arm.record(0.2)
        speed = np.diff([start, *sent], axis=0) / PERIOD
        assert np.abs(speed).max() <= CALM_SPEED * 1.001
        assert np.abs(np.diff(speed, axis=0)).max() / PERIOD <= CALM_ACCELERATION * 1.01
        assert np.abs(world.q - goal).max() < 1e-3


def test_blocked_or_stopped_arm_ends_the_move_with_a_sentence():
    world = unknown_tool(robot_model("ur5e"))
    robot = SimulatedRobot(world)
    robot.connect()
    arm = CalmArm(robot, world.model, PERIOD)
    goal = arm.q + [0, 0, 0, 1.0, 0, 0]
    robot.protective_stop()
    with pytest.raises(RobotError, match="protective stop"):
        arm.move(goal)
    robot.restore()
    world.push([0, 0, 150.0, 0, 0, 0])
    with pytest.raises(RobotError, match="did the tool hit something"):
        arm.move(goal)


# -- readings that are refused ----------------------------------------------------------------------------------------


@pytest.fixture
def arm():
    world = unknown_tool(robot_model("ur5e"))
    robot = SimulatedRobot(world)
    robot.connect()
    arm = CalmArm(robot, world.model, PERIOD)
    arm.world = world
    return arm


def test_reading_at_rest_is_the_mean_of_still_samples(arm):
    reading = arm.read_at_rest(0.2)
    assert isinstance(reading, Reading)
    assert reading.count == 100
    assert np.allclose(reading.spread, np.repeat([0.1, 0.005], 3), rtol=0.4)


def test_moving_hand_on_the_tool_is_refused_while_sampling(arm):
    arm.world.push(lambda t: [3 * np.sin(5 * t), 0, 0, 0, 0, 0])
    with pytest.raises(CalibrationError, match="is something touching the tool"):
        arm.read_at_rest(0.5, patience=1.0)


def test_growing_contact_is_refused_while_sampling(arm):
    arm.world.push(lambda t: [0, 0, 1.2 * t, 0, 0, 0])
    with pytest.raises(CalibrationError, match="drifts"):
        arm.read_at_rest(0.5, patience=1.0)


def test_moving_arm_is_refused_while_sampling(arm):
    class Restless:
        def __init__(self, robot):
            self.robot, self.t = robot, 0.0

        def read(self, sample):
            self.robot.read(sample)

        def write(self, command):
            self.t += PERIOD
            command["q"] += [0, 0, 0, 0.03 * np.sin(2 * self.t), 0, 0]
            return self.robot.write(command)

    arm.robot = Restless(arm.robot)
    with pytest.raises(CalibrationError, match="the arm is moving"):
        arm.read_at_rest(0.5, patience=1.0)


def test_steady_push_in_one_pose_is_found_by_the_others(parameters):
    """A push that is perfectly steady looks like a reading at rest; only the other poses give it away."""
    world = unknown_tool(robot_model("ur5e"), 5)
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, PERIOD)
        arm.speed[:] = 1.5
        read = arm.read_at_rest

        def disturbed(*args):
            disturbed.count += 1
            if disturbed.count == 4:
                world.push([2.0, 1.0, 0, 0, 0, 0])
            reading = read(0.3)
            world.let_go()
            return reading

        disturbed.count = 0
        arm.read_at_rest = disturbed
        found = session.calibrate(arm, parameters)
    assert np.flatnonzero(~found.used).tolist() == [3]
    assert found.mass == pytest.approx(1.5, rel=0.005)


def test_poses_set_by_hand_are_collected_until_the_user_has_enough(parameters):
    world = unknown_tool(robot_model("ur5e"), 6)
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, PERIOD)
        arm.speed[:] = 1.5
        poses = choose(world.model, parameters, arm.q, 7)

        def guide(number):
            if number <= 7:
                arm.move(poses[number - 1])
            return number <= 7

        said = []
        found = session.calibrate_by_hand(arm, parameters, guide, said.append)
    assert found.mass == pytest.approx(1.5, rel=0.005)
    assert len(said) == 7
    assert "at least 6 needed" in said[0]


@pytest.mark.parametrize("name", MODELS)
def test_clearance_uses_the_kinematics_of_the_model(name):
    from ur_admittance.calibration.poses import _frames

    model, rng = robot_model(name), np.random.default_rng(0)
    q = rng.uniform(-3, 3, (20, 6))
    rotations, positions = _frames(model, q)
    for k in range(20):
        R, p = model.frames(q[k])
        assert np.allclose(rotations[k], R, atol=1e-12)
        assert np.allclose(positions[k], p, atol=1e-12)


def test_simulated_reaction_sensor_is_refused_and_a_weightless_tool_keeps_its_centre_of_mass_to_itself(parameters):
    for options, reason in (({"sign": -1.0}, "set sensor.sign to -1"), ({"mass": 0.02}, "")):
        world = unknown_tool(robot_model("ur5e"), 9, **options)
        with SimulatedRobot(world) as robot:
            arm = CalmArm(robot, world.model, PERIOD)
            arm.speed[:] = 1.5
            if reason:
                with pytest.raises(CalibrationError, match=reason):
                    session.calibrate(arm, parameters)
            else:
                found = session.calibrate(arm, parameters)
                assert found.mass == pytest.approx(0.02, abs=0.002)
                assert found.center_of_mass is None
