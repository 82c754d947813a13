"""The direct client's script on the emulated control box, cycle by cycle, without sockets and clocks."""

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.rtde.direct_link import SERVO, SPEED, script
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.running_program import PLAYING, STOPPED

TOKEN = 77
FAST = (0.3,) * 6  # [rad/s]


class Box(Controller):
    """The script runs; packages are numbered."""

    def __init__(self, world: World, **settings: float) -> None:
        world.reset()
        super().__init__(world)
        self.program.upload(script(RtdeSettings(**settings), self.rate, TOKEN))  # type: ignore[arg-type]
        for _ in range(200):
            self.cycle()
        assert self.outputs.integers[24] == TOKEN
        self.number = 0

    def drive(self, cycles: int, mode: int = SPEED, six: tuple[float, ...] = FAST) -> None:
        """One package in each cycle."""
        for _ in range(cycles):
            self.number += 1
            values = {f"input_double_register_{24 + i}": x for i, x in enumerate(six)}
            self.receive(values | {f"input_int_register_{24 + i}": x for i, x in enumerate((self.number, mode, 0))})
            self.receive({"input_int_register_27": self.number})
            self.cycle()

    def silence(self) -> tuple[int, int, float]:
        """No more packages: cycles until the arm stands, cycles until the program has ended, distance [rad]."""
        start, stands, ends = self.arm.q_set.copy(), 0, 0
        for cycle in range(1, 5001):
            self.cycle()
            stands = stands or (cycle if not self.arm.target_speed.any() else 0)
            ends = ends or (cycle if self.program.runtime_state == STOPPED else 0)
            if stands and ends:
                break
        return stands, ends, float(np.abs(self.arm.q_set - start).max())


@pytest.fixture(scope="module")
def world() -> World:
    return World(robot_model("ur5e"))


@pytest.mark.parametrize("strict", [False, True])
def test_without_packages_the_arm_brakes_after_20_ms_and_the_program_ends_after_50(world: World, strict: bool) -> None:
    box = Box(world)
    box.program.keeps_first_watchdog = strict
    box.drive(100)
    np.testing.assert_allclose(box.arm.target_speed, FAST)
    stands, ends, distance = box.silence()
    assert 24 <= stands <= 28  # 10 cycles of patience, 15 to brake 0.3 rad/s at 10 rad/s2
    assert 25 <= ends <= 30
    assert distance == pytest.approx(0.3 * 0.02 + 0.3**2 / 20.0, abs=0.001)
    assert box.outputs.integers[24] == 0


def test_a_low_speed_slider_costs_time_but_no_distance(world: World) -> None:
    ways = []
    for slider in (1.0, 0.3, 0.05):
        box = Box(world)
        box.set_slider(slider)
        box.drive(1000)
        assert box.arm.target_speed == pytest.approx(slider * np.array(FAST), rel=0.05)
        stands, ends, distance = box.silence()
        assert stands
        assert ends
        ways.append(distance)
    assert max(ways) < 1.2 * ways[0]


def test_a_position_that_is_not_renewed_is_a_stop_and_the_program_ends(world: World) -> None:
    box = Box(world)
    target = tuple(float(x) for x in box.arm.q_set + 0.02)
    box.drive(300, SERVO, target)
    _, ends, distance = box.silence()
    assert 25 <= ends <= 30
    assert distance < 1e-3


def test_a_slow_watchdog_leaves_the_program_to_the_next_command(world: World) -> None:
    box = Box(world, watchdog_hz=0.5)
    box.drive(100)
    for _ in range(200):
        box.cycle()
    assert box.program.runtime_state == PLAYING
    assert not box.arm.target_speed.any()
    box.drive(100)
    np.testing.assert_allclose(box.arm.target_speed, FAST)
