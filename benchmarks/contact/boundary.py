"""The least damping with which contact dies down: found in simulation by bisection, and predicted by the linear model.

The real controller presses 10 N on a floor (M = 8 kg, no spring, no stabiliser, a light tool), is poked, and the force
is watched: does what is left of the poke grow or shrink?
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.analysis.axis_loop import Loop
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.scenarios.stage import Setup, Stage
from ur_admittance_lab.stability import minimum_damping

MASS, FORCE, TOOL_MASS = 8.0, 10.0, 0.1  # [kg], [N], [kg]
SURFACE_DAMPING = 2.0  # [Ns/m]
ARM = 31e3  # [N/m] only to choose where the search begins
STIFFNESSES = (1e3, 1e4, 1e5)  # [N/m]
# delay [s], weight of the old sample in the wrench filter, servo [Hz], and the reference values of other simulations
CASES = (
    ((0.0, 0.2, 25.0), (7.0, 54.0, 88.0)),
    ((0.0, 0.8, 25.0), (14.0, 105.0, 254.0)),
    ((0.010, 0.2, 25.0), (16.0, 132.0, 432.0)),
    ((0.010, 0.8, 25.0), (23.0, 176.0, 486.0)),
    ((0.020, 0.8, 25.0), (32.0, 235.0, 649.0)),
)
PHYSICS_STEP = 0.001  # [s]
TOLERANCE = 1.02  # of the bisection


@dataclass(frozen=True)
class Robot:
    """What surrounds the law in one case."""

    delay: float  # [s]
    old: float  # weight of the old sample at 500 Hz
    servo_hz: float
    mass: float = MASS
    vibration_hz: float = 0.0  # sensor.vibration_hz: of a notch

    def loop(self, damping: float = 80.0) -> Loop:
        """The sensor of the simulation averages readings from the start of its steps: half a step older."""
        return Loop(
            mass=self.mass,
            damping=damping,
            cutoff_hz=-math.log(self.old) * 500.0 / (2.0 * math.pi),
            delay=self.delay + 0.5 * PHYSICS_STEP,
            lag=1.0 / (2.0 * math.pi * self.servo_hz),
            tool_mass=TOOL_MASS,
            notch_hz=self.vibration_hz,
        )


def predicted(robot: Robot, stiffness: float) -> float:
    """Least damping [Ns/m] from the eigenvalues."""
    return minimum_damping(robot.loop(), stiffness, SURFACE_DAMPING)


def simulated(robot: Robot, stiffness: float, tolerance: float = TOLERANCE) -> float:
    """Least damping [Ns/m] with which the poked force dies down."""
    in_series = stiffness * ARM / (stiffness + ARM)
    rule = in_series * robot.loop().loop_delay
    stage = _pressing(robot, stiffness, damping=max(60.0, 3.0 * rule))
    low, high = rule / 8.0, 3.0 * rule
    while high > tolerance * low:
        damping = math.sqrt(low * high)
        settle(stage, max(60.0, 3.0 * rule), in_series)
        low, high = (damping, high) if growth(stage, damping, stiffness) > 0.0 else (low, damping)
    return math.sqrt(low * high)


def plain_press(mass: float, damping: float, force: float) -> dict[str, Any]:
    """Plain admittance that presses along z: nothing that would help it."""
    only_z = [i == 2 for i in range(6)]
    return {
        "admittance.mass": [mass] * 3 + [0.8] * 3,
        "admittance.damping": [damping] * 3 + [6.4] * 3,
        "admittance.force_axes": only_z,
        "admittance.enabled_axes": only_z,
        "admittance.desired_wrench": [force if z else 0.0 for z in only_z],
        "admittance.desired_wrench_rate": [1e3, 10.0],
        "admittance.compensate_mass": False,
        "admittance.stiffness_engagement_time": 0.0,
        "tool.inertia_compensation": False,
        "contact.stabilizer": False,
        "contact.approach_speed": [1.0, 1.0],
        "tracking.velocity_gain": [0.0] * 6,
        "max_linear_acceleration": 1e3,
    }


def _pressing(robot: Robot, stiffness: float, damping: float) -> Stage:
    changes = plain_press(robot.mass, damping, FORCE) | {"admittance.filter_coefficient": 1.0 - robot.old}
    changes |= {"sensor.vibration_hz": robot.vibration_hz}
    return Stage(
        Setup(changes=changes),
        environment=Environment.floor(stiffness, gap=0.0, damping=SURFACE_DAMPING),
        tool=Tool(mass=TOOL_MASS),
        servo=Servo(delay=robot.delay, lag_hz=robot.servo_hz),
        sensor=FtSensor(),
    )


def settle(stage: Stage, damping: float, in_series: float) -> None:
    stage.controller.set_parameters({"admittance.damping": [damping] * 3 + [6.4] * 3})
    stage.run(max(1.0, 6.0 * damping / in_series))


def growth(stage: Stage, damping: float, stiffness: float) -> float:
    """Rate [1/s] at which the oscillation after a poke grows; negative: it dies down."""
    stage.controller.set_parameters({"admittance.damping": [damping] * 3 + [6.4] * 3})
    stage.push(0.01, [0.0, 0.0, -0.5, 0.0, 0.0, 0.0])
    stage.run(0.25)
    window, sizes = (0.15 if stiffness > 5e3 else 0.6), []
    for _ in range(8):
        forces: list[float] = []
        stage.run(window, until=lambda s, f=forces: f.append(s.world.contact_wrench[2] - FORCE))  # type: ignore[misc]
        sizes.append(float(np.sqrt(np.mean(np.square(forces)))))
        if not 1e-4 < sizes[-1] < 0.4 * FORCE:
            break
    if len(sizes) == 1:
        return math.inf if sizes[0] > 1.0 else -math.inf
    return float(np.polyfit(window * np.arange(len(sizes)), np.log(np.array(sizes) + 1e-9), 1)[0])


@dataclass(frozen=True)
class Cell:
    delay: float
    old: float
    servo_hz: float
    stiffness: float
    simulated: float  # [Ns/m]
    predicted: float
    reference: float

    @property
    def error(self) -> float:
        """Of the prediction [%]."""
        return 100.0 * (self.predicted / self.simulated - 1.0)


def table(say: Callable[[str], None] = lambda text: None) -> list[Cell]:
    """All cases on all surfaces; under a minute."""
    cells = []
    for (delay, old, servo_hz), references in CASES:
        robot = Robot(delay, old, servo_hz)
        for stiffness, reference in zip(STIFFNESSES, references, strict=True):
            say(f"least damping: {1e3 * delay:g} ms, {old:g}, {stiffness:g} N/m")
            least = simulated(robot, stiffness), predicted(robot, stiffness)
            cells.append(Cell(delay, old, servo_hz, stiffness, *least, reference))
    return cells
