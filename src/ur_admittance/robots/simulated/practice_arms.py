"""Arms with something to find out: a simulated tool, bias, mounting and tilt that nobody told the controller, or a
force sensor that is wired wrongly. For practising calibration and push test without a robot, and for testing them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.calibration.push_test import Action
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.robots.simulated import GRAVITY, FtSensor, Tool, World
from ur_admittance.robots.simulated.devices import Matrix
from ur_admittance.runtime.interfaces import Robot

NOISE_FORCE, NOISE_TORQUE = 0.1, 0.005  # [N], [Nm] standard deviation of one reading
LARGEST_BIAS = (20.0, 1.0)  # [N], [Nm]
LARGEST_TILT_DEG = 10.0
RAMP = 0.3  # [s] of a push
FORCE, TORQUE = 15.0, 1.5  # [N], [Nm] of the hand
FAULTS = "reaction, swap-xy, swap-yz, swap-zx, flip-x, flip-y, flip-z, or one of these with force- or torque- in front"


def unknown_tool(model: RobotModel, seed: int = 0, mass: float = 1.5, sign: float = 1.0) -> World:
    """A tool of ``mass`` [kg] with an eccentric centre of mass, a sensor in any orientation with a bias of up to 20 N
    and 1 Nm per axis, noise of 0.1 N and 0.005 Nm, and a base tilted by up to 10 degrees in any direction."""
    rng = np.random.default_rng(seed)
    com = np.append(rng.uniform(-0.03, 0.03, 2), rng.uniform(0.02, 0.1))
    bias = np.concatenate([limit * rng.uniform(-1.0, 1.0, 3) for limit in LARGEST_BIAS])
    tool = Tool(mass=mass, com=(float(com[0]), float(com[1]), float(com[2])))
    sensor = FtSensor(
        rotation=_rows(any_rotation(rng)),
        sign=sign,
        bias=tuple(bias.tolist()),
        noise_force=NOISE_FORCE,
        noise_torque=NOISE_TORQUE,
    )
    heading, tilt = rng.uniform(0.0, 2.0 * np.pi), np.radians(rng.uniform(0.0, LARGEST_TILT_DEG))
    gravity = rotation_from_rpy([0.0, tilt, heading]) @ np.array(GRAVITY)
    return World(model, tool=tool, sensor=sensor, gravity=gravity, seed=seed)


def truth(world: World) -> dict[str, float | list[float]]:
    """The dotted parameters that a perfect calibration of this world would find, without the mounting's angles."""
    known = world.parameters()
    return {name: known[name] for name in ("tool.mass", "tool.center_of_mass", "sensor.bias", "gravity")}


def any_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniform over all rotations: orthogonalised Gaussian columns."""
    Q, upper = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(upper))
    return np.asarray(Q if np.linalg.det(Q) > 0.0 else -Q)


def _rows(R: np.ndarray) -> Matrix:
    first, second, third = ((float(a), float(b), float(c)) for a, b, c in R)
    return first, second, third


def with_fault(robot: Robot, fault: str) -> Robot:
    """The robot with wrongly wired force and torque channels, by name: `reaction`, `swap-xy`, `torque-flip-x` ..."""
    part, _, rest = fault.partition("-")
    name = rest if part in ("force", "torque") else fault
    matrix = _matrix(name)
    if matrix is None:
        raise RobotError(f"fault = {fault!r}: must be {FAULTS}.")
    force, torque = np.eye(3) if part == "torque" else matrix, np.eye(3) if part == "force" else matrix
    read = robot.read

    def miswired(sample: Any) -> None:
        read(sample)
        wrench = np.array(sample["wrench"]).reshape(6)
        sample["wrench"] = np.concatenate([force @ wrench[:3], torque @ wrench[3:]])

    robot.read = miswired  # type: ignore[method-assign]
    return robot


def _matrix(name: str) -> NDArray[np.float64] | None:
    if name == "reaction":
        return -np.eye(3)
    kind, _, axes = name.partition("-")
    if kind == "swap" and len(axes) == len(set(axes)) == 2 and set(axes) < set("xyz"):
        order = list(range(3))
        i, k = ("xyz".index(axis) for axis in axes)
        order[i], order[k] = order[k], order[i]
        return np.eye(3)[order]
    if kind == "flip" and axes and set(axes) <= set("xyz"):
        return np.diag([-1.0 if axis in axes else 1.0 for axis in "xyz"])
    return None


def pushing_hand(world: World) -> tuple[Callable[[Action], None], Callable[[Action], None]]:
    """For `push_test`: a hand that pushes at the TCP with 15 N and twists with 1.5 Nm when asked, then lets go."""

    def ask(action: Action) -> None:
        full = np.zeros(6)
        part = slice(3, 6) if action.is_twist else slice(0, 3)
        full[part] = (TORQUE if action.is_twist else FORCE) * action.direction
        world.push(lambda t: min(1.0, t / RAMP) * full)

    return ask, lambda action: world.let_go()
