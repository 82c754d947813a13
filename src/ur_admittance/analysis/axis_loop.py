"""One axis of the whole loop as numbers: law, wrench filter, delay, servo lag, the arm's compliance, the tool.

surface or hand --F--> sensor (mean of a period) -> notch -> filter -> law -> command -> delay -> lag -> arm --> surface
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.core.wrench.condition import compensated_inertia
from ur_admittance.core.wrench.vibration import notch_delay
from ur_admittance.params import Parameters
from ur_admittance.params.record import TYPICAL_RESPONSE, counted_vibration, internal_mass, vibration

GRAVITY = 9.80665  # [m/s2]
SERVO_LAG = 1.0 / (2.0 * math.pi * 25.0)  # [s] share of a response time that is a lag of first order; the rest is delay


@dataclass(frozen=True)
class Arm:
    """The servoed arm seen from its TCP along one direction: M x'' = K (y - x) + C (y' - x') - F.

    The defaults were fitted to the edge of stability of a simulated UR5e that presses down in its home position
    (15 cases, 1 to 100 kN/m). They lie between that arm with a tool that slides (29 kN/m, 5 kg) and with one that
    sticks (35 kN/m, 7 kg); other poses, directions and arms differ."""

    stiffness: float = 31e3  # [N/m]
    mass: float = 5.5  # [kg]
    damping_ratio: float = 0.9

    @property
    def damping(self) -> float:
        """[Ns/m]"""
        return 2.0 * self.damping_ratio * math.sqrt(self.stiffness * self.mass)


@dataclass(frozen=True)
class Loop:
    """One translation axis. Contact makes the loop unstable when it is too slow for its damping."""

    mass: float  # of the law [kg]
    damping: float  # [Ns/m]
    stiffness: float = 0.0  # of the law's spring [N/m]
    cutoff_hz: float = math.inf  # wrench filter
    period: float = 0.002  # [s]
    delay: float = 0.010  # pure delay of the robot [s]
    lag: float = SERVO_LAG  # time constant of its servo [s]
    sensor_delay: float = 0.0  # from a force to its reading [s]
    notch_hz: float = 0.0  # against a vibrating tool, 0: none
    tool_mass: float = 0.0  # beyond the sensor [kg]
    compensated_mass: float = 0.0  # of it, what the controller takes off the wrench [kg]
    tracking_gain: float = 0.0  # [1/s]
    assumed_response: float = 0.0  # robot.response_time [s]
    arm: Arm = Arm()

    @property
    def removed_mass(self) -> float:
        """What is really taken off: no more than leaves the law heavier than the tool [kg]."""
        return float(compensated_inertia(self.compensated_mass, self.mass))

    @property
    def filter_time(self) -> float:
        """Time constant of the wrench filter [s]."""
        return 0.0 if math.isinf(self.cutoff_hz) else 1.0 / (2.0 * math.pi * self.cutoff_hz)

    @property
    def loop_delay(self) -> float:
        """T_eq = sensor + notch + filter + one tick + delay + servo lag [s]."""
        notch = float(notch_delay(self.notch_hz, self.period))
        return self.sensor_delay + notch + self.delay + self.lag + self.filter_time + self.period

    def with_damping(self, damping: float) -> "Loop":
        return replace(self, damping=damping)


def split_response(response_time: float) -> tuple[float, float]:
    """Delay and lag [s] of a robot of which only the sum is known: a servo of 25 Hz, the rest is delay."""
    lag = min(SERVO_LAG, response_time)
    return response_time - lag, lag


def loop_of(
    parameters: Parameters, axis: int = 2, arm: Arm | None = None, delay: float | None = None, lag: float | None = None
) -> Loop:
    """The loop of one translation axis (0 to 2). Unless given, delay and lag [s] follow from robot.response_time, or,
    while that is unknown, from the 20 ms that is typical of a UR that follows joint speeds."""
    law, tool = parameters.admittance, parameters.tool
    usual_delay, usual_lag = split_response(parameters.robot.response_time or TYPICAL_RESPONSE)
    return Loop(
        mass=float(internal_mass(parameters)[axis]),
        damping=law.effective_damping[axis],
        stiffness=law.stiffness[axis],
        cutoff_hz=law.cutoff_hz,
        period=1.0 / parameters.control_rate,
        delay=usual_delay if delay is None else delay,
        lag=usual_lag if lag is None else lag,
        sensor_delay=parameters.sensor.delay,
        notch_hz=counted_vibration(vibration(parameters), parameters.sensor.find_vibration),
        tool_mass=tool.mass,
        compensated_mass=tool.mass if tool.inertia_compensation else 0.0,
        tracking_gain=parameters.tracking.velocity_gain[axis],
        assumed_response=parameters.robot.response_time,
        arm=arm or Arm(),
    )


def loop_of_record(params: np.void, axis: int = 2) -> Loop:
    """The same from a PARAMS record: what telemetry and logs carry."""
    response = float(params["response_time"])
    delay, lag = split_response(response or TYPICAL_RESPONSE)
    period = float(params["period"])
    notch_hz = counted_vibration(float(params["vibration_hz"]), bool(params["find_vibration"]))
    return Loop(
        mass=float(params["mass"][axis]),
        damping=float(params["damping"][axis]),
        stiffness=float(params["stiffness"][axis]),
        cutoff_hz=float(params["filter_cutoff_hz"]),
        period=period,
        delay=delay,
        lag=lag,
        sensor_delay=float(params["sensor_delay"] - notch_delay(notch_hz, period)),
        notch_hz=notch_hz,
        tool_mass=float(np.linalg.norm(params["tool_weight_base"])) / GRAVITY,
        compensated_mass=float(params["tool_inertia_mass"]),
        tracking_gain=float(params["tracking_gain"][axis]),
        assumed_response=response,
    )
