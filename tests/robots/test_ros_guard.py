"""The process that stops an arm driven by speeds when the program dies. No ROS is needed here."""

import numpy as np
import pytest

from ur_admittance.robots.ros.guard import (
    LAST_COMMANDS,
    LOOKS,
    NUMBERS,
    PERIOD_S,
    SILENCE_S,
    SPEEDS,
    Watch,
)
from ur_admittance.runtime.braking import BRAKING

QD = np.array([0.5, -0.4, 0.3, 0.0, 0.1, -0.2])


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_guard_is_silent_as_long_as_the_program_lives():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0] = 1.0
    for k in range(200):
        clock.now += PERIOD_S
        memory[1] += 1.0
        memory[SPEEDS] = QD
        assert watch.look() is None
        assert memory[LOOKS] == k + 1  # by which the program sees that the guard does not hang


def test_the_guard_brakes_from_the_last_speeds_to_zero_when_the_program_is_silent():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0], memory[1], memory[SPEEDS] = 1.0, 5.0, QD
    assert watch.look() is None
    sent = []
    cycles = 2 * LAST_COMMANDS
    for _ in range(cycles):
        clock.now += PERIOD_S
        speeds = watch.look()
        if speeds is not None:
            sent.append(speeds.copy())
    first = SILENCE_S / PERIOD_S
    assert len(sent) < cycles - first + 2
    steps = np.abs(np.diff(np.array([QD, *sent])[:, 0]))
    assert steps.max() == pytest.approx(BRAKING * PERIOD_S)
    assert not np.array(sent[-LAST_COMMANDS:]).any()
    assert watch.done


def test_the_guard_gives_way_when_the_program_is_back_and_when_it_is_disarmed():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0], memory[SPEEDS] = 1.0, QD
    watch.look()
    clock.now += 2.0 * SILENCE_S
    assert watch.look() is not None
    memory[1] += 1.0
    assert watch.look() is None
    clock.now += 2.0 * SILENCE_S
    assert watch.look() is not None
    memory[0] = 0.0
    assert watch.look() is None
