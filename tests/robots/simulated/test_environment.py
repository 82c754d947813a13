"""Surfaces: stiffness, damping and friction as measured from outside (sensor force, geometry of the pose)."""

import numpy as np
import pytest

from ur_admittance.errors import SimulationError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Environment, Servo, Tool, World
from ur_admittance_lab.true_contact import contact_of

PERIOD = 0.002
WEIGHT = 9.80665  # of the default tool, 1 kg


def make(environment: Environment, tool: Tool | None = None) -> World:
    return World(robot_model("ur5e"), environment=environment, tool=tool)


def move(world: World, displacement: np.ndarray, seconds: float) -> None:
    """Straight line of the TCP with constant orientation, by resolved rates (numerical Jacobian of the model)."""
    count = round(seconds / PERIOD)
    q = world.setpoint.copy()
    tcp = np.array(world.tool.tcp)
    for _ in range(count):
        R, _ = world.model.forward(q)
        J = world.model.jacobian(q)
        lever = R @ tcp
        J[:3] += np.cross(J[3:].T, lever).T
        q = q + np.linalg.solve(J, np.concatenate([displacement / count, np.zeros(3)]))
        world.step(q, None, PERIOD)


def sensed_force(world: World) -> np.ndarray:
    """Force on the tool, base axes, from the sensor and the known weight only."""
    R_flange, _ = world.model.forward(world.q)
    return R_flange @ world.wrench[:3] - np.array([0.0, 0.0, -WEIGHT * world.tool.mass])


def tip(world: World) -> np.ndarray:
    R, p = world.pose()
    return p - world.tool.radius * R[:, 2]


def settle(world: World, seconds: float = 0.5) -> None:
    move(world, np.zeros(3), seconds)


STIFFNESSES = (1e3, 1e4, 1e5)


@pytest.mark.parametrize("stiffness", STIFFNESSES)
@pytest.mark.parametrize(
    "environment",
    [
        Environment.floor(gap=0.005),
        Environment.wall(gap=0.005),
        Environment.incline(np.radians(20.0), gap=0.005),
        Environment.incline(np.radians(-10.0), gap=0.005),
    ],
    ids=["floor", "wall", "incline 20", "incline -10"],
)
def test_planes_give_way_by_force_over_stiffness(environment: Environment, stiffness: float) -> None:
    world = make(Environment(**{**vars(environment), "stiffness": stiffness}))
    surface = tip(world) - (world.tool.radius + 0.005) * environment.normal
    move(world, -environment.normal * (0.005 + 0.001 + 5.0 / stiffness), 0.5)
    settle(world)
    penetration = world.tool.radius - (tip(world) - surface) @ environment.normal
    force = sensed_force(world) @ environment.normal
    assert force > 4.0
    assert force / penetration == pytest.approx(stiffness, rel=0.02)
    contact = contact_of(world)
    np.testing.assert_allclose(contact.normal, environment.normal, atol=1e-6)
    assert contact.penetration == pytest.approx(penetration, rel=0.01)
    np.testing.assert_allclose(contact.force, sensed_force(world), atol=0.05)
    np.testing.assert_allclose(world.contact_wrench[:3], sensed_force(world), atol=0.05)


@pytest.mark.parametrize("offset", [0.0, 0.08])
@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_cylinder_gives_way_along_its_radius(stiffness: float, offset: float) -> None:
    radius = 0.3
    world = make(Environment.cylinder(radius, stiffness, gap=0.01, friction=0.0))
    axis = tip(world) - np.array([0.0, 0.0, world.tool.radius + 0.01 + radius])
    drop = radius - np.sqrt(radius**2 - offset**2)
    move(world, np.array([offset, 0.0, -drop]), 0.5)
    move(world, np.array([0.0, 0.0, -0.0115 - 5.0 / stiffness]), 0.5)
    settle(world)
    radial = (tip(world) - axis) * [1.0, 0.0, 1.0]
    distance = np.linalg.norm(radial)
    penetration = radius + world.tool.radius - distance
    force = sensed_force(world) @ radial / distance
    assert force > 3.0
    assert force / penetration == pytest.approx(stiffness, rel=0.05)
    np.testing.assert_allclose(contact_of(world).normal, radial / distance, atol=1e-3)


PEG = Tool(shape="peg", radius=0.01, peg_length=0.06)


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_top_of_the_block_beside_the_hole_is_as_stiff_as_asked(stiffness: float) -> None:
    world = make(Environment.hole(stiffness=stiffness, gap=0.01), PEG)
    top = tip(world)[2] - world.tool.radius - 0.01
    move(world, np.array([0.035, 0.0, 0.0]), 0.3)
    move(world, np.array([0.0, 0.0, -0.011 - 5.0 / stiffness]), 0.5)
    settle(world)
    penetration = top - (tip(world)[2] - world.tool.radius)
    assert sensed_force(world)[2] / penetration == pytest.approx(stiffness, rel=0.05)


def test_a_centred_peg_slides_to_the_bottom_of_the_hole_without_touching() -> None:
    environment = Environment.hole(clearance=0.001, gap=0.01, depth=0.04)
    world = make(environment, PEG)
    move(world, np.array([0.0, 0.0, -0.01 - 0.035]), 1.0)
    settle(world)
    assert np.linalg.norm(sensed_force(world)) < 0.01
    move(world, np.array([0.0, 0.0, -0.006]), 0.5)  # 1 mm into the bottom
    settle(world)
    assert sensed_force(world)[2] > 3.0


def test_the_chamfer_pushes_an_offset_peg_towards_the_hole() -> None:
    world = make(Environment.hole(clearance=0.0005, chamfer=0.004, gap=0.01, friction=0.0), PEG)
    move(world, np.array([0.003, 0.0, 0.0]), 0.3)
    move(world, np.array([0.0, 0.0, -0.0185]), 0.5)
    settle(world)
    assert sensed_force(world)[0] < -1.0  # back to the centre
    assert sensed_force(world)[2] > 1.0


def test_an_inserted_peg_is_held_sideways_by_the_walls() -> None:
    clearance, stiffness = 0.0005, 1e4
    world = make(Environment.hole(clearance=clearance, stiffness=stiffness, gap=0.01), PEG)
    move(world, np.array([0.0, 0.0, -0.04]), 1.0)
    start = tip(world)
    move(world, np.array([0.002, 0.0, 0.0]), 0.5)
    settle(world)
    moved = (tip(world) - start)[0]
    assert clearance < moved < 0.002
    points = [world.mj_data.contact[i] for i in range(world.mj_data.ncon)]
    assert len(points) >= 2  # along the wall
    spring = sum(-point.dist * stiffness * abs(point.frame[0]) for point in points)
    assert -sensed_force(world)[0] == pytest.approx(spring, rel=0.02)  # each point has the stiffness asked for


@pytest.mark.parametrize("friction", [0.1, 0.2, 0.5])
def test_sliding_force_over_normal_force_is_the_friction_coefficient(friction: float) -> None:
    world = make(Environment.floor(1e4, gap=0.005, friction=friction))
    move(world, np.array([0.0, 0.0, -0.0065]), 0.5)
    settle(world)
    move(world, np.array([0.0, 0.02, 0.0]), 1.0)
    force = sensed_force(world)
    assert force[2] > 5.0
    assert -force[1] / force[2] == pytest.approx(friction, rel=0.03)


def test_without_friction_nothing_drags() -> None:
    world = make(Environment.floor(1e4, gap=0.005, friction=0.0))
    move(world, np.array([0.0, 0.0, -0.0065]), 0.5)
    move(world, np.array([0.0, 0.02, 0.0]), 1.0)
    force = sensed_force(world)
    assert np.hypot(force[0], force[1]) < 0.005 * force[2]


def test_a_tool_that_sticks_does_not_creep() -> None:
    world = make(Environment.floor(1e4, gap=0.005, friction=0.5))
    move(world, np.array([0.0, 0.0, -0.0065]), 0.5)
    settle(world)
    world.push([2.0, 0, 0, 0, 0, 0])
    settle(world, 0.5)
    before = tip(world)[0]
    settle(world, 1.0)
    assert abs(tip(world)[0] - before) < 2e-5


def test_damping_adds_force_in_proportion_to_the_speed() -> None:
    """Pressing in at v: F = K r + B v."""
    dampings = []
    for damping in (20.0, 520.0):
        world = World(
            robot_model("ur5e"),
            environment=Environment.floor(2e3, gap=0.0, friction=0.0, damping=damping),
            servo=Servo(lag_hz=np.inf),
        )
        before = tip(world)[2]
        move(world, np.array([0.0, 0.0, -0.01]), 0.5)  # 20 mm/s
        after = tip(world)[2]
        J = world.model.jacobian(world.q)
        R, _ = world.model.forward(world.q)
        speed = -((J[:3] + np.cross(J[3:].T, R @ np.array(world.tool.tcp)).T) @ world.qd)[2]  # the arm gives way too
        penetration = before - after - 0.0015 * speed  # the reading is the mean of 2 ms and 1 ms ago
        dampings.append((sensed_force(world)[2] - 2e3 * penetration) / speed)
    np.testing.assert_allclose(dampings, [20.0, 520.0], rtol=0.05)


def test_environment_can_stand_at_a_point_of_the_base_frame() -> None:
    world = make(Environment.floor(1e4, at=(0.0, 0.0, 0.2)))
    move(world, np.array([0.0, 0.0, -(tip(world)[2] - world.tool.radius - 0.2) - 0.001]), 1.0)
    settle(world)
    assert contact_of(world).count == 1
    assert sensed_force(world)[2] > 3.0


def test_reset_places_the_surface_before_the_new_start() -> None:
    world = make(Environment.floor(1e4, gap=0.005))
    q = world.model.home + np.array([0.3, 0.1, 0.1, -0.2, 0.0, 0.0])
    world.reset(q)
    assert contact_of(world).count == 0
    move(world, np.array([0.0, 0.0, -0.006]), 0.5)
    settle(world)
    assert sensed_force(world)[2] > 3.0


@pytest.mark.parametrize(
    ("make_it", "sentence"),
    [
        (lambda: Environment.floor(-1.0), r"environment.stiffness = -1.0 N/m: must be > 0"),
        (lambda: Environment.incline(2.0), "environment.angle = 2.0 rad: must be between"),
        (lambda: Environment.floor(friction=-0.1), "environment.friction = -0.1"),
        (lambda: Environment.floor(damping=-2.0), "environment.damping = -2.0 Ns/m: must be >= 0"),
    ],
)
def test_impossible_environments_are_refused(make_it: object, sentence: str) -> None:
    with pytest.raises(SimulationError, match=sentence):
        make_it()  # type: ignore[operator]
