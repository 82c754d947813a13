"""A simulated arm of which nothing is known: what a calibration has to find out, drawn at random from a seed."""

import numpy as np

from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.simulation import GRAVITY, FtSensor, Tool, World
from ur_admittance.simulation.devices import Matrix

NOISE_FORCE, NOISE_TORQUE = 0.1, 0.005  # [N], [Nm] standard deviation of one reading
LARGEST_BIAS = (20.0, 1.0)  # [N], [Nm]
LARGEST_TILT_DEG = 10.0


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
