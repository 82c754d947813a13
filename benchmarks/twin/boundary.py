"""The least damping with which contact dies down: from the twin, and with the hidden arm itself.

Two predictions: the eigenvalues of the loop with the twin's numbers, which know no friction, and the same search that
finds the truth, in a simulation of the twin. The floor has no friction, so that the tool slides on it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contact.boundary import MASS, SURFACE_DAMPING, plain_press
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.scenarios.stage import Setup, Stage
from ur_admittance_lab.stability import minimum_damping
from ur_admittance_lab.twin import Twin

STIFFNESSES = (3e3, 1e4, 5e4)  # [N/m]
FORCE, POKE = 20.0, 6.0  # [N] a poke that overcomes the friction of the joints
SEEN = (0.5, 8.0)  # [N] size of an oscillation that counts: larger than friction, and the tool stays on the floor
TOLERANCE = 1.01  # of the bisection


@dataclass(frozen=True)
class Devices:
    robot: str
    tool: Tool
    servo: Servo
    sensor: FtSensor


def plain(damping: float) -> dict[str, Any]:
    """With room for a bounce before the force limit ends it."""
    return plain_press(MASS, damping, FORCE) | {"safety.max_force": 500.0}


def predicted(twin: Twin, stiffness: float) -> float:
    """Least damping [Ns/m] from the eigenvalues of the loop with the twin's arm in its home position."""
    parameters = Parameters().changed(twin.parameters()).changed(plain(80.0))
    arm = twin.arm((0.0, 0.0, 1.0), twin.model.home, sliding=True)
    return minimum_damping(twin.loop(parameters, 2, arm), stiffness, SURFACE_DAMPING)


def simulated(devices: Devices, stiffness: float, start: float) -> float:
    """Least damping [Ns/m] with which a poke dies down; the search begins around ``start``. The sensor is quiet."""
    calm = 4.0 * start
    stage = Stage(
        Setup(devices.robot, changes=plain(calm)),
        environment=Environment.floor(stiffness, gap=0.0, damping=SURFACE_DAMPING, friction=0.0),
        tool=devices.tool,
        servo=devices.servo,
        sensor=FtSensor(delay=devices.sensor.delay),
    )
    low, high = 0.3 * start, 4.0 * start
    while high > TOLERANCE * low:
        damping = math.sqrt(low * high)
        _change(stage, calm)
        stage.run(max(1.0, 8.0 * calm / stiffness))
        low, high = (damping, high) if grows(stage, damping) else (low, damping)
    return math.sqrt(low * high)


def grows(stage: Stage, damping: float) -> bool:
    """Whether the oscillation after a poke grows, from its size in half-second windows."""
    _change(stage, damping)
    stage.push(0.03, [0.0, 0.0, -POKE, 0.0, 0.0, 0.0])
    stage.run(0.1)
    force: list[float] = []
    stage.run(4.0, until=lambda s: _watch(s, force))
    sizes = np.array([np.ptp(part) / 2.0 for part in np.array_split(np.array(force), max(2, len(force) // 250))])
    counted = (sizes > SEEN[0]) & (sizes < SEEN[1])
    if counted.sum() < 2 or sizes[-1] >= SEEN[1]:
        return bool(sizes[-1] >= SEEN[1])
    return float(np.polyfit(np.flatnonzero(counted), np.log(sizes[counted]), 1)[0]) > 0.0


def _watch(stage: Stage, force: list[float]) -> bool:
    """Until the oscillation is out of the range that counts for half a second."""
    force.append(float(stage.world.contact_wrench[2]) - FORCE)
    recent = np.ptp(force[-250:]) / 2.0 if len(force) >= 500 and len(force) % 50 == 0 else SEEN[0]
    return not SEEN[0] <= recent < 1.5 * SEEN[1]


def _change(stage: Stage, damping: float) -> None:
    stage.controller.set_parameters({"admittance.damping": [damping] * 3 + [6.4] * 3})
