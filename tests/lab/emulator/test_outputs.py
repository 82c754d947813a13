"""Every RTDE output has a value of its type, and what the simulation knows is true."""

import mujoco
import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import wire
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.protocol import Recipe
from ur_admittance_lab.emulator.variables import OUTPUTS, known

S = np.array([-1.0, -1.0, 1.0])  # base_link to UR base axes


@pytest.fixture(scope="module")
def world() -> World:
    return World(robot_model("ur5e"))


@pytest.mark.parametrize("version", [(3, 15, 0), (5, 12, 2), (5, 26, 0)])
def test_all_outputs_of_a_version_fit_into_one_package(world: World, version: tuple[int, int, int]) -> None:
    box = Controller(world, version)
    box.cycle()
    types = {name: kind for name in OUTPUTS if (kind := known(OUTPUTS, name, version)) is not None}
    recipe = 1, list(types), list(types.values())
    values = wire.Recipe(*recipe).read(Recipe(*recipe).package(box.values)[4:])
    assert len(values) == 406 or version < (5, 26, 0)  # as many as UR's client library knows
    for name, value in values.items():
        assert np.all(np.isfinite(value)), name


def test_elbow_momentum_and_accelerometer_are_those_of_the_arm(world: World) -> None:
    box = Controller(world)
    rng = np.random.default_rng(0)
    q, qd, dt = box.arm.model.home + rng.uniform(-0.5, 0.5, 6), rng.uniform(-1.0, 1.0, 6), 1e-6
    mj, data = world.mj_model, world.mj_data
    masses = []
    for x in (q - dt * qd, q + dt * qd):
        world.reset(x)
        mujoco.mj_forward(mj, data)
        masses.append(mj.body_subtreemass[0] * data.subtree_com[0])
    world.reset(q)
    data.qvel[:] = qd
    mujoco.mj_forward(mj, data)
    box.arm.actual.update(q)
    before, after = (S * box.arm.model.frames(x)[1][2] for x in (q - dt * qd, q + dt * qd))
    np.testing.assert_allclose(box.values["elbow_position"], (before + after) / 2, atol=1e-9)
    np.testing.assert_allclose(box.values["elbow_velocity"], (after - before) / (2 * dt), atol=1e-6)
    assert box.values["actual_momentum"] == pytest.approx(np.linalg.norm(masses[1] - masses[0]) / (2 * dt), rel=1e-5)
    assert np.linalg.norm(box.values["actual_tool_accelerometer"]) == pytest.approx(9.81, abs=0.02)
    assert box.values["actual_tool_accelerometer"] == pytest.approx(-box.arm.actual.R.T @ box.arm.world.gravity)


def test_what_a_client_writes_can_be_read_back(world: World) -> None:
    box = Controller(world)
    box.receive({"input_int_register_30": -7, "input_double_register_3": 0.25, "input_bit_registers0_to_31": 5})
    assert box.values["input_int_register_30"] == -7
    assert box.values["input_double_register_3"] == 0.25
    assert box.values["input_bit_registers0_to_31"] == 5
    box.outputs.booleans[0] = box.outputs.booleans[5] = box.outputs.booleans[64] = True
    assert box.values["output_bit_registers0_to_31"] == 1 << 0 | 1 << 5
    assert box.values["output_bit_register_64"]
