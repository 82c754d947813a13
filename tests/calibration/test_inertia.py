"""Inertial compensation of the tool: the hand no longer feels the mass beyond the sensor, and nothing rings."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.core.wrench.condition import compensated_inertia
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Servo, SimulatedRobot, Tool, World

from .conftest import SWEEP

MODEL = robot_model("ur5e")
Y = np.eye(6)[1]


class Arm:
    """Only the linear axes comply, without deadband; the law's mass is not corrected for anything."""

    def __init__(self, compensation, mass=8.0, damping=64.0, tool=1.5, delay=0.01):
        self.world = World(MODEL, tool=Tool(mass=tool), servo=Servo(delay=delay))
        changes = self.world.tool.parameters() | {
            "tool.inertia_compensation": compensation,
            "admittance.mass": [mass] * 3 + [0.8] * 3,
            "admittance.damping": [damping] * 3 + [6.4] * 3,
            "admittance.enabled_axes": [True] * 3 + [False] * 3,
            "admittance.min_motion_threshold": 0.0,
            "admittance.min_motion_threshold_torque": 0.0,
            "admittance.compensate_mass": False,
            "max_linear_acceleration": 50.0,
            "max_linear_velocity": 1.0,
        }
        self.controller = AdmittanceController(MODEL, Parameters().changed(changes))
        self.robot = SimulatedRobot(self.world)
        self.controller.configure()
        self.robot.connect()
        self.controller.activate()

    def run(self, seconds):
        """Time, hand force along y, position of the TCP along y, commanded speed along y: (n, 4)."""
        rows = []
        for _ in range(round(seconds * 500)):
            self.robot.read(self.controller.sample)
            self.controller.update()
            self.robot.write(self.controller.command)
            w, c = self.world, self.controller.command
            rows.append([w.time, w.external_wrench[1], w.pose()[1][1], c["twist"][1]])
        assert self.controller.mode == Mode.ACTIVE, self.controller.reason
        return np.array(rows)


def apparent_mass(compensation, hz=1.0):
    """Im Z / omega of Z = F / V at the TCP [kg], a hand that pushes with 10 N sin(omega t)."""
    arm, omega = Arm(compensation), 2 * np.pi * hz
    arm.run(0.1)
    arm.world.push(lambda t: 10.0 * np.sin(omega * t) * Y)
    arm.run(1.5)
    t, force, y, _ = arm.run(2.0 / hz).T

    def wave(t, offset, slope, a, b):
        return offset + slope * t + a * np.cos(omega * t) + b * np.sin(omega * t)

    phasors = [complex(k[2], -k[3]) for k in (curve_fit(wave, t, values)[0] for values in (force, y))]
    return (phasors[0] / (1j * omega * phasors[1])).imag / omega


def test_tool_mass_vanishes_from_what_the_hand_feels():
    """Without: M + m + D T; with: M + D T, T about 12 ms of delay beyond the servo's phase."""
    without, with_it = apparent_mass(False), apparent_mass(True)
    assert without - with_it == pytest.approx(1.5, abs=0.15)
    assert with_it == pytest.approx(8.8, abs=0.4)


CASES = [(1.5, 8.0, 0.01), (1.5, 2.0, 0.02), (5.0, 8.0, 0.02), (5.0, 4.0, 0.01)]
if SWEEP:
    CASES = [(m, M, T) for m in (0.5, 1.5, 3.0, 5.0) for M in (1.0, 2.0, 4.0, 6.0, 8.0) for T in (0.0, 0.01, 0.02)]


@pytest.mark.parametrize(("tool", "mass", "delay"), CASES)
def test_compensation_never_rings_where_the_arm_did_not_ring_without_it(tool, mass, delay):
    ringing = []
    for compensation in (False, True):
        arm = Arm(compensation, mass=mass, tool=tool, delay=delay)
        arm.run(0.1)
        arm.world.push(lambda t: (8.0 if t < 0.1 else 0.0) * Y)
        arm.run(2.0)
        ringing.append(np.ptp(arm.run(0.3)[:, 3]))
    assert ringing[1] <= ringing[0] + 1e-3  # [m/s]


def test_compensated_part_keeps_the_loop_gain_at_or_below_one():
    for tool in np.linspace(0.0, 10.0, 41):
        for virtual in np.linspace(0.1, 10.0, 41):
            part = compensated_inertia(tool, virtual)
            assert 0.0 <= part <= tool
            assert part == 0.0 or tool + part <= virtual + 1e-12
