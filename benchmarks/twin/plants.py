"""Arms whose numbers nobody tells the fit: drawn at random, different from every default, and recorded at work."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.scenarios.in_contact import pressing
from ur_admittance_lab.scenarios.stage import Setup, Stage, waypoints

Array = NDArray[np.float64]

TYPES = ("ur3e", "ur5e", "ur7e", "ur10e", "ur16e", "ur20")
ENCODER_NOISE = 2e-5  # [rad] 0.02 mm at a reach of 1 m
FRICTION = 0.003  # of the largest torque of a joint: 2 to 4 N at the tool
GAP = 0.04  # [m] above the table
TWIST = np.array([0.08, 0.06, 0.05])  # [m/s] of the motion without hands


@dataclass(frozen=True)
class Plant:
    seed: int
    robot: str
    servo: Servo
    sensor: FtSensor
    tool: Tool


def draw(seed: int, friction: bool | None = None) -> Plant:
    """One hidden plant. friction: of the joints; None: half of the plants have some."""
    rng = np.random.default_rng((15, seed))
    robot = str(rng.choice(TYPES))
    model = robot_model(robot)
    usual = Servo()
    kp = usual.stiffness_of(model) * rng.uniform(0.6, 1.6) * rng.uniform(0.85, 1.15, 6)
    rubs = bool(rng.random() < 0.5) if friction is None else friction
    torque = FRICTION * model.effort * rng.uniform(0.5, 1.5, 6) if rubs else np.zeros(6)
    servo = Servo(
        delay=1e-3 * int(rng.integers(3, 25)),
        lag_hz=float(rng.uniform(12.0, 45.0)),
        stiffness=_six(kp),
        damping_ratio=float(rng.uniform(0.6, 1.2)),
        armature=_six(usual.armature_of(model) * rng.uniform(0.7, 1.5)),
        friction=_six(torque),
    )
    sensor = FtSensor(
        noise_force=float(rng.uniform(0.03, 0.3)),
        noise_torque=float(rng.uniform(0.001, 0.01)),
        delay=1e-3 * int(rng.integers(0, 7)),
    )
    tool = Tool(mass=float(rng.uniform(0.4, 2.5)), com=(0.0, 0.0, 0.05))
    return Plant(seed, robot, servo, sensor, tool)


def _six(values: Array) -> tuple[float, float, float, float, float, float]:
    a, b, c, d, e, f = values.tolist()
    return a, b, c, d, e, f


def record(plant: Plant, path: Path, seed: int = 0) -> None:
    """Twenty seconds of normal work: led by hand, pushed, pressed onto a table, and moved by a program."""
    rng = np.random.default_rng((16, plant.seed, seed))
    unknown = {"robot.response_time": 0.0}
    stage = Stage(
        Setup(plant.robot, changes=unknown, seed=seed, log=path),
        environment=Environment.floor(1e4, gap=GAP),
        tool=plant.tool,
        servo=plant.servo,
        sensor=plant.sensor,
    )
    _blur(stage, rng)
    _move(stage, rng)
    _lead(stage, rng)
    _push(stage, rng)
    _press(stage, rng)
    stage.finish()


def _blur(stage: Stage, rng: np.random.Generator) -> None:
    """From now on the encoders are not perfect."""
    exact = stage.robot.read

    def read(sample: Any) -> None:
        exact(sample)
        sample["q"] += ENCODER_NOISE * rng.standard_normal(6)

    stage.robot.read = read  # type: ignore[method-assign]


def _move(stage: Stage, rng: np.random.Generator) -> None:
    """A reference that swings: no hand is near."""
    frequency = rng.uniform(0.8, 1.2, 3)

    def swing(s: Stage, t: float) -> None:
        v = TWIST * np.sin(2.0 * np.pi * frequency * t) * min(1.0, 2.0 * t)
        s.controller.set_reference_twist([*v, 0.0, 0.0, 0.3 * np.sin(6.0 * t)])

    stage.run(3.0, swing)
    stage.controller.set_reference_twist([0.0] * 6)
    stage.run(0.5)


def _lead(stage: Stage, rng: np.random.Generator) -> None:
    """The hand takes the tool through a few points, turning it on the way."""
    steps = np.cumsum(rng.uniform(-0.05, 0.05, (5, 3)), axis=0)
    turns = rng.uniform(-0.25, 0.25, (5, 3))
    steps[:, 2] = np.abs(steps[:, 2])
    points = np.vstack([np.zeros(6), np.hstack([steps, turns]), np.zeros(6)])
    times = 0.9 * np.arange(len(points))
    stage.world.grab(waypoints(times.tolist(), points))
    stage.run(float(times[-1]) + 0.3)
    stage.world.let_go()
    stage.run(0.5)


def _push(stage: Stage, rng: np.random.Generator) -> None:
    for axis in (0, 1, 0, 1):
        wrench = np.zeros(6)
        wrench[axis] = rng.choice((-1.0, 1.0)) * rng.uniform(10.0, 20.0)
        wrench[3:] = rng.uniform(-1.0, 1.0, 3)
        stage.push(0.25, wrench)
        stage.push(0.25, -wrench)
        stage.run(0.3)


def _press(stage: Stage, rng: np.random.Generator) -> None:
    """Down onto the table by force control, while a hand rests on the tool and is not quite steady."""
    force, phase = rng.uniform(15.0, 25.0), rng.uniform(0.0, 6.0, 3)
    stage.controller.set_parameters(pressing(2, -force) | {"admittance.damping": [500.0] * 3 + [20.0] * 3})

    def hand(t: float) -> Array:
        swings = np.sin(np.array([4.0, 5.0, 9.0]) * t + phase)
        return np.asarray(np.array([3.0, 3.0, 6.0, 0.5, 0.5, 0.3]) * np.concatenate([swings, swings]) * min(1.0, t))

    stage.run(2.5)
    stage.world.push(hand)
    stage.run(3.0)
    stage.world.let_go()
    stage.run(0.5)
