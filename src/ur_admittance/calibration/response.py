"""How late a robot responds: the time from a command to the motion it asks for, delay and servo lag together.

    response = measure_response(arm)        a gentle sine of 1.5 mm, two and a half seconds

The result belongs in robot.response_time: margin, stabiliser and the felt mass are computed from it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.errors import RobotError

Array = NDArray[np.float64]

AMPLITUDE = 0.0015  # [m] of the tool to either side
LARGEST_SWING = 0.01  # [rad] of the joint, for a tool close to its axis
FREQUENCY_HZ = 2.0  # slow against any servo, so that its lag is felt as a time
SWINGS = 4  # that count, after one to get going
LONGEST = 0.15  # [s] that is believed
FAITHFUL = (0.8, 1.25)  # measured over commanded swing of an arm that follows
EXPLAINED = 0.95  # share of the measured motion that is the late command


@dataclass(frozen=True)
class Response:
    time: float  # [s]
    gain: float  # measured over commanded motion
    explained: float  # share of the measured motion that this command explains, 0..1

    def __str__(self) -> str:
        return f"the arm responds after {1e3 * self.time:.1f} ms"


def measure_response(arm: CalmArm, joint: int = 0) -> Response:
    """Swing one joint by a few milliradians and compare: q(t) = command(t - response). The arm returns to where it was.
    RobotError when it does not follow."""
    start = arm.q
    swing = _swing(arm, start, joint)
    omega = 2.0 * math.pi * FREQUENCY_HZ
    times, speeds = [], []
    t, end = 0.0, (SWINGS + 2) / FREQUENCY_HZ
    while t < end:
        following = t + arm.period
        offset, _ = _sine(following, omega, swing, end)
        _, speed = _sine(t + 0.5 * arm.period, omega, swing, end)
        q, qd = start.copy(), np.zeros(6)
        q[joint], qd[joint] = start[joint] + offset, speed
        sample = arm.cycle(q, qd)
        times.append(t)
        speeds.append(float(sample["qd"][joint]))
        t = following
    for _ in range(round(0.2 / arm.period)):
        arm.cycle(start)
    t_all, v = np.array(times), np.array(speeds)
    counted = (t_all >= 1.0 / FREQUENCY_HZ) & (t_all < (SWINGS + 1.0) / FREQUENCY_HZ)
    return _from_phase(t_all[counted], v[counted], omega, swing * omega)


def _swing(arm: CalmArm, q: Array, joint: int) -> float:
    """Amplitude of the joint [rad] that moves the flange by AMPLITUDE."""
    lever = float(np.linalg.norm(arm.model.jacobian(q)[:3, joint]))
    return min(LARGEST_SWING, AMPLITUDE / max(lever, 1e-3))


def _sine(t: float, omega: float, swing: float, end: float) -> tuple[float, float]:
    """Angle and speed of a sine that grows over its first swing and fades over its last one."""
    turn = 2.0 * math.pi / omega
    edge = min(1.0, max(0.0, t / turn), max(0.0, (end - t) / turn))
    size = edge**2 * (3.0 - 2.0 * edge)
    rate = 0.0 if edge in (0.0, 1.0) else 6.0 * edge * (1.0 - edge) / turn * (1.0 if t < 0.5 * end else -1.0)
    wave, slope = swing * math.sin(omega * t), swing * omega * math.cos(omega * t)
    return size * wave, size * slope + rate * wave


def _from_phase(t: Array, speed: Array, omega: float, commanded: float) -> Response:
    """speed = gain commanded cos(omega (t - response))"""
    basis = np.column_stack([np.cos(omega * t), np.sin(omega * t), np.ones_like(t)])
    (c, s, _), *_ = np.linalg.lstsq(basis, speed, rcond=None)
    late = float(np.arctan2(s, c)) / omega
    gain = float(np.hypot(c, s)) / commanded
    left = speed - basis @ np.linalg.lstsq(basis, speed, rcond=None)[0]
    explained = 1.0 - float(np.var(left) / max(np.var(speed), 1e-30))
    if not FAITHFUL[0] < gain < FAITHFUL[1]:
        raise RobotError(
            f"response: the arm moved {gain:.2f} times as far as commanded (expected {FAITHFUL[0]} to "
            f"{FAITHFUL[1]}); is its speed slider at 100 %?"
        )
    if not 0.0 <= late < LONGEST or explained < EXPLAINED:
        raise RobotError(
            f"response: measured {1e3 * late:.0f} ms with {100 * explained:.0f} % of the motion explained; "
            f"expected 0 to {1e3 * LONGEST:.0f} ms and {100 * EXPLAINED:.0f} %. Did something touch the arm?"
        )
    return Response(late, gain, explained)
