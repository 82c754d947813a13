"""How to talk to a real UR: everything that can be chosen about the connection."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from ur_admittance import given
from ur_admittance.errors import RobotError

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]

# UR's own driver streams speedj(qd, 40, one cycle): a small acceleration would only add lag, since the controller has
# already limited its own.
SPEEDJ_ACCELERATION = 40.0  # [rad/s2], the largest that ur_rtde accepts
# The fastest servoj that the controller offers: about 34 ms of delay were measured on a UR10e with 0.03 s.
SERVOJ_LOOKAHEAD = 0.03  # [s], allowed 0.03 to 0.2
SERVOJ_GAIN = 1000.0  # allowed 100 to 2000


class WrenchSource(Protocol):
    """An external force/torque sensor: ``robots.external_sensors`` has readers."""

    source: str  # its name in calibrations, as sensor.source has it

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def latest(self) -> tuple[tuple[float, ...], float]:
        """The newest reading (6,) [N, Nm], sensor axes, and its age [s]."""
        ...


@dataclass(frozen=True)
class RtdeSettings:
    command: Literal["speed", "servo"] = "speed"  # speedJ streaming, or servoJ (positions, about 30 ms slower)
    sensor: Literal["builtin", "raw", "external"] = "builtin"
    second: Literal["", "builtin", "raw", "external"] = ""  # another force sensor beside it; empty: none
    payload_kg: float | None = None  # None: leave what the robot has
    payload_cog: Three = (0.0, 0.0, 0.0)  # [m] flange frame
    tcp: Six | None = None  # [m], rotation vector [rad], flange frame; None: leave what the robot has
    watchdog_hz: float = 20.0  # without a command for 1 / watchdog_hz the robot stops its program and the arm
    stop_deceleration: float = 10.0  # [rad/s2] of stop()
    lookahead: float = SERVOJ_LOOKAHEAD
    gain: float = SERVOJ_GAIN
    power_on: bool = False  # switch power on and release the brakes at connect
    take_over: bool = False  # stop a program that is running on the robot
    rt_priority: int = -1  # SCHED_FIFO priority of the process that carries the commands of ur_rtde; -1: ordinary
    connect_timeout: float = 3.0  # [s]
    state_patience: float = 0.016  # [s] to wait for a state that is late; after it the cycle runs without
    command_patience: float = 0.02  # [s] without a new speed before the arm is slowed down; the next one goes on
    client: Literal["direct", "ur_rtde"] = "direct"  # who carries the commands: a script of our own, or that library

    def __post_init__(self) -> None:
        _need(self.command in ("speed", "servo"), f"command = {self.command!r}", "'speed' or 'servo'")
        _need(self.sensor in ("builtin", "raw", "external"), f"sensor = {self.sensor!r}", "builtin, raw or external")
        one = self.second and "external" not in (self.sensor, self.second)
        _need(not one, f"second = {self.second!r}", f"an external sensor: {self.sensor} is the same one in the wrist")
        numbers = ("watchdog_hz", "stop_deceleration", "lookahead", "gain", "connect_timeout", "state_patience")
        for name in (*numbers, "command_patience", *(() if self.payload_kg is None else ("payload_kg",))):
            given.number(f"robot setting {name}", getattr(self, name), low=-math.inf, error=RobotError)
        given.vector("robot setting payload_cog", self.payload_cog, 3, "m", RobotError)
        if self.tcp is not None:
            given.vector("robot setting tcp", self.tcp, 6, "m, rad", RobotError)
        _need(self.payload_kg is None or 0.0 <= self.payload_kg <= 100.0, f"payload = {self.payload_kg} kg", "0 to 100")
        _need(0.1 <= self.watchdog_hz <= 125.0, f"watchdog = {self.watchdog_hz} Hz", "0.1 to 125")
        patience = f"command_patience = {self.command_patience} s"
        _need(0.004 <= self.command_patience <= 1.0, patience, "0.004 to 1")
        _need(self.client in ("ur_rtde", "direct"), f"client = {self.client!r}", "direct or ur_rtde")
        _need(0.5 <= self.stop_deceleration <= 40.0, f"stop = {self.stop_deceleration} rad/s2", "0.5 to 40")
        _need(0.03 <= self.lookahead <= 0.2, f"lookahead = {self.lookahead} s", "0.03 to 0.2")
        _need(100.0 <= self.gain <= 2000.0, f"gain = {self.gain}", "100 to 2000")

    @property
    def own(self) -> Literal["builtin", "raw", "external"]:
        """Which wrench the robot itself sends; external: none."""
        return self.sensor if self.sensor != "external" else self.second or "external"


def _need(condition: bool, what: str, allowed: str) -> None:
    if not condition:
        raise RobotError(f"robot setting {what}: must be {allowed}.")
