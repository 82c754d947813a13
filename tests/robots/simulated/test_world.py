"""The arm in the world: kinematics, weight, pushes, servo, determinism; oracles are analytic."""

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.errors import SimulationError
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.robots.simulated import GRAVITY, FtSensor, Servo, Tool, World
from ur_admittance_lab.urdf_writer import generate

PERIOD = 0.002
TILTED = ((0.0, -0.6, 0.8), (1.0, 0.0, 0.0), (0.0, 0.8, 0.6))  # a sensor mounted askew
ORIENTATIONS = ([0, -1.6, 1.6, -1.6, -1.6, 0], [0.4, -1.2, 1.0, 0.3, 0.9, 2.0], [-1.0, -0.7, -1.4, 2.0, -0.3, -2.5])


def hold(world: World, seconds: float, q: np.ndarray | None = None) -> None:
    target = world.setpoint.copy() if q is None else np.asarray(q, dtype=float)
    for _ in range(round(seconds / PERIOD)):
        world.step(target, None, PERIOD)


def skew_tool() -> Tool:
    return Tool(mass=1.7, com=(0.02, -0.01, 0.07), tcp=(0.03, 0.01, 0.18))


def static_reading(world: World, q: np.ndarray, push: np.ndarray | None = None) -> np.ndarray:
    """[f; t] about the sensor, sensor axes: weight at the centre of mass, and a push (base axes) at the TCP."""
    R_base_flange, _ = world.model.forward(q)
    R = R_base_flange @ np.array(world.sensor.rotation)
    to_sensor = np.array(world.sensor.rotation).T
    weight = R.T @ (world.tool.mass * np.array(GRAVITY))
    com = to_sensor @ (np.array(world.tool.com) - np.array(world.sensor.position))
    wrench = np.concatenate([weight, np.cross(com, weight)])
    if push is not None:
        force, torque = R.T @ push[:3], R.T @ push[3:]
        tcp = to_sensor @ (np.array(world.tool.tcp) - np.array(world.sensor.position))
        wrench += np.concatenate([force, torque + np.cross(tcp, force)])
    return wrench


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_tcp_is_where_the_kinematics_of_every_model_puts_it(name: str) -> None:
    model, rng = robot_model(name), np.random.default_rng(1)
    tool = Tool(tcp=(0.01, 0.02, 0.2), tcp_rotation=TILTED)
    world = World(model, tool=tool)
    for _ in range(5):
        q = rng.uniform(-3.0, 3.0, 6)
        world.reset(q)
        R, p = world.pose()
        R_flange, p_flange = model.forward(q)
        np.testing.assert_allclose(p, p_flange + R_flange @ np.array(tool.tcp), atol=1e-12)
        np.testing.assert_allclose(R, R_flange @ np.array(TILTED), atol=1e-12)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_every_model_stands_still_under_its_own_weight(name: str) -> None:
    world = World(robot_model(name))
    start = world.q.copy()
    hold(world, 0.4)
    assert np.abs(world.q - start).max() < 1e-6
    assert 10e3 < world.tcp_stiffness().min() <= world.tcp_stiffness().max() < 120e3


def test_arm_gives_way_by_its_servo_stiffness_about_35_kN_per_m() -> None:
    world = World(robot_model("ur5e"))
    assert np.mean(world.tcp_stiffness()) == pytest.approx(35e3, rel=0.1)
    for axis in range(3):
        world.reset()
        _, before = world.pose()
        push = np.zeros(6)
        push[axis] = 20.0
        world.push(push)
        hold(world, 0.8)
        _, after = world.pose()
        assert 20.0 / (after - before)[axis] == pytest.approx(world.tcp_stiffness()[axis], rel=0.01)


@pytest.mark.parametrize("q", ORIENTATIONS)
def test_sensor_reads_the_weight_of_the_tool_in_every_orientation(q: list[float]) -> None:
    sensor = FtSensor(position=(0.0, 0.01, 0.03), rotation=TILTED)
    world = World(robot_model("ur5e"), tool=skew_tool(), sensor=sensor)
    world.reset(q)
    expected = static_reading(world, np.array(q))
    np.testing.assert_allclose(world.wrench, expected, atol=1e-9)  # already at the reset
    hold(world, 0.1)
    np.testing.assert_allclose(world.wrench, expected, atol=1e-6)


@pytest.mark.parametrize("q", ORIENTATIONS)
def test_a_push_is_read_back_by_the_sensor_and_as_external_wrench(q: list[float]) -> None:
    world = World(robot_model("ur5e"), tool=skew_tool(), sensor=FtSensor(position=(0, 0.01, 0.03), rotation=TILTED))
    world.reset(q)
    push = np.array([12.0, -7.0, 9.0, 0.8, -0.4, 0.6])
    world.push(push)
    hold(world, 1.0)
    np.testing.assert_allclose(world.external_wrench, push, atol=1e-6)
    np.testing.assert_allclose(world.contact_wrench, 0.0, atol=1e-9)
    np.testing.assert_allclose(world.wrench, static_reading(world, world.q, push), atol=0.01)


def test_a_push_beside_the_tcp_has_the_torque_of_its_lever() -> None:
    world = World(robot_model("ur5e"))
    world.push([0.0, 0.0, 10.0, 0.0, 0.0, 0.0], grip=(0.1, 0.0, 0.0))  # tool points down: grip at +x of the TCP axes
    hold(world, 0.8)
    R, _ = world.pose()
    lever = R @ np.array([0.1, 0.0, 0.0])
    np.testing.assert_allclose(world.external_wrench[3:], np.cross(lever, [0.0, 0.0, 10.0]), atol=1e-3)


def test_sensor_feels_the_inertia_of_the_tool() -> None:
    """Base joint accelerating at a: the tool's centre of mass at radius r needs m a r across."""
    world = World(robot_model("ur5e"), tool=Tool(mass=2.0), servo=Servo(lag_hz=np.inf))
    a, t = 1.0, 0.0
    q0, accelerations, readings = world.q.copy(), [], []
    while t < 0.6:
        t += PERIOD
        q, before = q0.copy(), world.qd.copy()
        q[0] += 0.5 * a * t**2
        world.step(q, None, PERIOD)
        R, p = world.pose()
        if t > 0.4:
            accelerations.append((world.qd[0] - before[0]) / PERIOD)
            com = p - R @ np.array([0.0, 0.0, 0.1])
            tangent = np.cross([0.0, 0.0, 1.0], com)
            sideways = R @ world.wrench[:3] @ tangent / np.linalg.norm(tangent)
            readings.append(-sideways / (2.0 * np.linalg.norm(com[:2])))
    assert np.mean(accelerations) == pytest.approx(a, rel=0.01)
    assert np.mean(readings) == pytest.approx(a, rel=0.02)


@pytest.mark.parametrize("delay", [0.0, 0.010, 0.025])
@pytest.mark.parametrize("lag_hz", [10.0, 25.0, np.inf])
def test_a_steady_motion_lags_by_delay_plus_lag_constant(delay: float, lag_hz: float) -> None:
    world = World(robot_model("ur5e"), servo=Servo(delay=delay, lag_hz=lag_hz))
    q, rate = world.q.copy(), np.array([0.2, 0.1, -0.1, 0.2, 0.1, -0.2])
    for _ in range(500):
        q += rate * PERIOD
        world.step(q, None, PERIOD)
    expected = delay + 1.0 / (2.0 * np.pi * lag_hz)
    np.testing.assert_allclose((q - world.q) / rate, expected, atol=3e-4)


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.020])
def test_nothing_moves_before_the_delay_is_over(delay: float) -> None:
    world = World(robot_model("ur5e"), servo=Servo(delay=delay))
    start = world.q.copy()
    for tick in range(40):
        world.step(start + 0.01, None, PERIOD)
        moved = np.abs(world.q - start).max() > 1e-12
        if (tick + 1) * PERIOD <= delay:
            assert not moved
        if tick * PERIOD >= delay + PERIOD:
            assert moved


def test_lag_has_the_step_response_of_a_first_order_filter() -> None:
    """y(t) = 1 - exp(-w t) for a command that jumps; here the jump is a line over one period, centred at T/2."""
    world = World(robot_model("ur5e"), servo=Servo(lag_hz=25.0))
    start, w = world.q.copy(), 2.0 * np.pi * 25.0
    for tick in range(1, 30):
        world.step(start + 0.001, None, PERIOD)
        t = tick * PERIOD
        exact = 1.0 - np.exp(-w * t) * (np.exp(w * PERIOD) - 1.0) / (w * PERIOD)
        np.testing.assert_allclose((world._plant["y"] - start) / 0.001, exact, atol=1e-9)


def test_speed_commands_are_integrated_by_the_arm() -> None:
    world = World(robot_model("ur5e"))
    start, speed = world.q.copy(), np.array([0.3, -0.2, 0.1, 0.2, -0.3, 0.4])
    for _ in range(250):
        world.step(None, speed, PERIOD)
    np.testing.assert_allclose(world.qd, speed, atol=2e-3)
    for _ in range(250):
        world.step(None, np.zeros(6), PERIOD)
    np.testing.assert_allclose(world.q, start + 0.5 * speed, atol=1e-5)


def test_a_forgotten_payload_lets_the_arm_sink_by_weight_over_stiffness() -> None:
    world = World(robot_model("ur5e"), tool=Tool(mass=3.0), servo=Servo(payload=0.0))
    _, before = world.pose()
    hold(world, 1.5)
    _, after = world.pose()
    sag = 3.0 * 9.80665 / world.tcp_stiffness()[2]
    assert before[2] - after[2] == pytest.approx(sag, rel=0.05)


def test_gravity_turns_with_the_mounting() -> None:
    world = World(robot_model("ur5e"), tool=Tool(mass=2.0), gravity=(9.80665, 0.0, 0.0))
    hold(world, 0.1)
    R, _ = world.pose()
    np.testing.assert_allclose(R @ world.wrench[:3], [2.0 * 9.80665, 0.0, 0.0], atol=1e-6)


def noisy_run(seed: int) -> bytes:
    sensor = FtSensor(noise_force=0.1, noise_torque=0.01, drift=(0.1,) * 6, delay=0.004)
    world = World(robot_model("ur5e"), sensor=sensor, servo=Servo(delay=0.01), seed=seed)
    log, q = [], world.q.copy()
    for tick in range(700):
        q[2] += 1e-4 * np.sin(0.01 * tick)
        world.step(q, None, PERIOD)
        log.append(np.concatenate([world.q, world.qd, world.wrench, world.external_wrench]))
    return np.array(log).tobytes()


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert noisy_run(3) == noisy_run(3)
    assert noisy_run(3) != noisy_run(4)


def test_reset_is_a_fresh_world() -> None:
    world = World(robot_model("ur5e"), sensor=FtSensor(noise_force=0.1, drift=(0.1,) * 6), servo=Servo(delay=0.01))
    runs = []
    for _ in range(2):
        world.reset()
        world.push([5.0, 0, 0, 0, 0, 0])
        hold(world, 0.2)
        runs.append(np.concatenate([world.q, world.wrench, [world.hand.work]]).tobytes())
        world.zero_sensor()
    assert runs[0] == runs[1]


def test_physics_step_hardly_matters() -> None:
    """Peak of a push response with 0.5 and 1 ms steps."""
    peaks = []
    for dt in (0.0005, 0.001):
        world = World(robot_model("ur5e"), physics_dt=dt)
        _, before = world.pose()
        world.push([0.0, 0.0, 30.0, 0, 0, 0])
        heights = []
        for _ in range(100):
            world.step(world.setpoint.copy(), None, PERIOD)
            heights.append(world.pose()[1][2] - before[2])
        peaks.append(max(heights))
    assert peaks[0] == pytest.approx(peaks[1], rel=0.02)


@pytest.mark.parametrize("period", [0.0, 0.0015, -0.002])
def test_a_period_that_is_no_multiple_of_the_step_is_refused(period: float) -> None:
    with pytest.raises(SimulationError, match="multiple of the physics step"):
        World(robot_model("ur5e")).step(np.zeros(6), None, period)


def test_a_diverged_simulation_says_so() -> None:
    world = World(robot_model("ur5e"))
    with pytest.raises(SimulationError, match="diverged"):
        hold(world, 0.02, np.full(6, np.nan))


def test_a_simulated_arm_from_a_file_complies(tmp_path):
    """10 N for a second on the default law: D = 64 Ns/m and a threshold of 1.5 N ask for 0.13 m/s."""
    file = tmp_path / "my & <arm>.urdf"  # a name that MuJoCo's XML must not take for its own
    file.write_text(generate(robot_model("ur10e")))
    world = ua.World(ua.robot_model(str(file)))
    controller = ua.AdmittanceController(world.model, ua.Parameters().changed(world.parameters()))
    start = world.pose()[1]
    with ua.SimulatedRobot(world) as robot:
        world.push([0, 10, 0, 0, 0, 0], seconds=1.0)
        ua.run(controller, robot, duration=3.0, activate=True)
    moved = world.pose()[1] - start
    assert 0.10 < moved[1] < 0.15
    assert abs(moved[[0, 2]]).max() < 0.005
