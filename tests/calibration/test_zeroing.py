"""Zeroing is a bias update, done only when the arm stands and nothing touches the tool; drift is watched meanwhile."""

import contextlib

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import CalibrationError, Unconfirmed
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import FtSensor, SimulatedRobot, Tool, World

MODEL = robot_model("ur5e")
BIAS = (3.0, -2.0, 4.0, 0.1, -0.2, 0.05)


class Cell:
    """A simulated arm with its controller, cycle by cycle."""

    def __init__(self, changes=None):
        sensor = FtSensor(noise_force=0.1, noise_torque=0.005, bias=BIAS)
        tool = Tool(mass=1.5)
        self.world = World(MODEL, tool=tool, sensor=sensor)
        self.controller = AdmittanceController(MODEL, Parameters().changed(tool.parameters() | (changes or {})))
        self.robot = SimulatedRobot(self.world)
        self.controller.configure()
        self.robot.connect()

    def run(self, seconds):
        for _ in range(round(seconds * 500)):
            self.robot.read(self.controller.sample)
            self.controller.update()
            self.robot.write(self.controller.command)

    def refused(self):
        with pytest.raises(CalibrationError) as error:
            self.controller.zero_ft_sensor()
        return str(error.value)


def test_zeroing_a_free_tool_takes_over_the_bias_to_the_noise_of_its_mean():
    cell = Cell()
    cell.run(1.0)
    assert "the tool has not been seen free" in cell.refused()  # 5.4 N might be a push
    assert np.allclose(cell.controller.zero_free_tool(), BIAS, atol=0.05)
    cell.run(0.1)
    assert np.linalg.norm(cell.controller.command["wrench_sensor"][:3]) < 0.5
    assert cell.controller.parameters.sensor.bias[2] == pytest.approx(4.0, abs=0.05)


def test_zeroing_is_refused_before_half_a_second_and_while_the_arm_moves():
    cell = Cell()
    cell.run(0.2)
    assert "wait half a second" in cell.refused()
    cell.controller.activate_with_load()
    cell.run(0.4)
    cell.world.push([20, 0, 0, 0, 0, 0])
    cell.run(0.6)
    assert "the arm is moving" in cell.refused()


def test_zeroing_is_refused_while_a_hand_trembles():
    cell = Cell()
    cell.world.push(lambda t: [2 * np.sin(20 * t), 0, 0, 0, 0, 0])
    cell.run(0.6)
    assert "the reading varies" in cell.refused()


@pytest.mark.parametrize("force", [3.0, 10.0])
def test_steady_push_after_a_free_time_is_suspected_as_contact_until_it_ends(force):
    cell = Cell({"sensor.bias": list(BIAS)})
    cell.run(3.0)
    cell.world.push([0, force, 0, 0, 0, 0])
    cell.run(2.0)
    reason = cell.refused()
    assert "since the tool was last free" in reason
    assert f"{force:.1f} N" in reason or f"{force + 0.1:.1f} N" in reason or f"{force - 0.1:.1f} N" in reason
    cell.world.let_go()
    cell.run(1.0)
    assert np.abs(cell.controller.zero_ft_sensor()).max() < 0.05


def test_tool_of_unknown_weight_can_be_zeroed_again_after_a_turn():
    """Without a calibration the turned weight looks like a push; the level of before is then worth nothing."""
    c = AdmittanceController(MODEL, Parameters())
    c.configure()
    c.sample["dt"] = 0.002
    changes = []
    for q in (MODEL.home, MODEL.home + [0, 0, 0, 0.7, 0, 0]):
        c.sample["q"] = q
        c.sample["wrench"][:3] = MODEL.forward(q)[0].T @ [0, 0, -1.5 * 9.80665]
        for _ in range(2000):
            c.update()
        changes.append(c.zero_free_tool())
    assert np.linalg.norm(changes[1][:3]) == pytest.approx(2 * 1.5 * 9.80665 * np.sin(0.35), rel=1e-6)


def test_new_tool_calibration_forgets_the_level_of_the_old_one():
    cell = Cell({"tool.mass": 0.5})
    cell.run(3.0)
    cell.controller.set_parameters({"tool.mass": 1.5})
    cell.run(1.0)
    assert np.allclose(cell.controller.zero_free_tool(), BIAS, atol=0.05)


def test_no_level_is_founded_under_a_push_so_that_after_it_zeroing_is_not_refused():
    cell = Cell({"sensor.bias": list(BIAS)})
    cell.world.push([0, 8, 0, 0, 0, 0])
    cell.run(4.0)
    cell.world.let_go()
    cell.run(0.7)
    assert np.abs(cell.controller.zero_ft_sensor()).max() < 0.05


def pressed_at_a_wall(force=20.0):
    """Active, at rest, pushed steadily against the wall of the workspace."""
    cell = Cell({"sensor.bias": list(BIAS)})
    wall = float(cell.controller.model.forward(MODEL.home)[1][1]) + 0.02
    cell.controller.set_parameters({"workspace.max": [2.0, wall, 2.0]})
    cell.run(0.6)
    cell.controller.activate()
    cell.world.push([0, force, 0, 0, 0, 0])
    cell.run(8.0)
    return cell


def test_a_push_against_a_limit_cannot_be_zeroed_while_active_unless_the_tool_is_said_to_be_free():
    cell = pressed_at_a_wall()
    with pytest.raises(Unconfirmed) as error:
        cell.controller.zero_ft_sensor()
    assert "20." in str(error.value) or "19." in str(error.value)
    cell.world.let_go()
    before = cell.world.q.copy()
    cell.run(2.0)
    assert np.abs(cell.world.q - before).max() < 2e-3  # nobody was led astray: the released arm stays
    cell.run(1.0)
    assert np.abs(cell.controller.zero_ft_sensor()).max() < 0.1


def test_a_zero_in_small_steps_under_a_growing_push_is_refused_as_one_large_step():
    cell = pressed_at_a_wall(force=0.0)
    accepted = 0
    for step in range(1, 9):
        cell.world.push([0, 0.6 * step, 0, 0, 0, 0])
        cell.run(3.0)
        with contextlib.suppress(Unconfirmed):
            cell.controller.zero_ft_sensor()
            accepted += 1
    bias = np.array(cell.controller.parameters.sensor.bias)
    assert accepted >= 1
    assert np.linalg.norm(bias[:3] - BIAS[:3]) <= 1.05  # [N]


def test_who_confirms_that_the_tool_is_free_may_zero_any_steady_reading():
    cell = Cell({"sensor.bias": list(BIAS)})
    cell.run(0.6)
    cell.controller.activate()
    cell.run(3.0)
    wrong = np.array(BIAS) + [1.4, 0, 0, 0, 0, 0]  # drifted, within the deadband: the arm stands
    cell.world._plant["bias"] = wrong
    cell.run(1.0)
    with pytest.raises(Unconfirmed):
        cell.controller.zero_ft_sensor()
    assert cell.controller.zero_free_tool()[0] == pytest.approx(1.4, abs=0.1)


# -- drift: five minutes in a few ticks per second, without physics ----------------------------------------------------


def drifting(controller, minutes, newton_per_minute, push=lambda t: 0.0):
    """Feed a controller at 125 Hz with a standing arm whose sensor drifts along x; returns what it warned."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((round(minutes * 60 * 125), 6)) * np.repeat([0.1, 0.005], 3)
    warnings = []
    controller.configure()
    sample = controller.sample
    sample["q"], sample["dt"] = MODEL.home, 0.008
    for k in range(len(noise)):
        t = k * 0.008
        sample["wrench"] = noise[k]
        sample["wrench"][0] += newton_per_minute * t / 60.0 + push(t)
        controller.update()
        if k % 125 == 0:
            warnings.append(controller.warning)
    return warnings


def controller(**sensor):
    changes = {"control_rate": 125, "sensor.bias": [1e-6, 0, 0, 0, 0, 0]}
    return AdmittanceController(MODEL, Parameters().changed(changes | {f"sensor.{k}": v for k, v in sensor.items()}))


def test_drift_as_seen_on_real_sensors_is_warned_of_before_the_arm_creeps():
    c = controller()
    warnings = drifting(c, 3.0, 0.8)
    first = next(i for i, text in enumerate(warnings) if text)
    assert 60 < first < 112  # [s] 0.8 N/min passes 1 N after 75 s and the deadband after 112 s
    assert "the sensor has drifted by" in warnings[-1]
    assert c.drift[0] == pytest.approx(2.4, abs=0.3)
    assert "0.8 N per minute" in warnings[-1]
    assert c.parameters.sensor.bias[0] == 1e-6  # auto-zero is off by default


def test_auto_zero_follows_a_slow_drift():
    c = controller(auto_zero=True, auto_zero_time=20.0)
    warnings = drifting(c, 3.0, 0.8)
    assert not any(warnings)
    assert c.parameters.sensor.bias[0] == pytest.approx(2.4 - 0.8 * 30 / 60, abs=0.25)
    assert c.params["sensor_bias"][0] == pytest.approx(c.parameters.sensor.bias[0], abs=0.1)


def test_auto_zero_does_not_swallow_a_push():
    c = controller(auto_zero=True, auto_zero_time=20.0)
    drifting(c, 1.5, 0.0, push=lambda t: 5.0 if t > 20.0 else 0.0)
    assert abs(c.parameters.sensor.bias[0]) < 0.1


def test_no_drift_no_warning():
    c = controller()
    assert not any(drifting(c, 1.0, 0.0))
    assert np.linalg.norm(c.drift[:3]) < 0.1


def test_raw_compensated_and_tcp_wrench_are_all_in_the_records():
    """Telemetry and logs are copies of these records."""
    cell = Cell({"sensor.bias": list(BIAS)})
    cell.world.push([0, 0, 12, 0, 0, 0])
    cell.run(0.5)
    sample, command = cell.controller.sample, cell.controller.command
    weight_in_sensor = 1.5 * 9.80665  # the tool points down: weight along +z of the sensor
    assert sample["wrench"][2] == pytest.approx(BIAS[2] + weight_in_sensor - 12, abs=0.6)
    assert command["wrench_sensor"][2] == pytest.approx(-12, abs=0.5)
    assert command["wrench_tcp"][2] == pytest.approx(12, abs=0.5)
