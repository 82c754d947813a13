"""An episode while it is being drawn: who and where first, then what happens, one line of the story each."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.limits.obstacles import nearest
from ur_admittance.core.records import PARAMS, new
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.campaign import draw
from ur_admittance_lab.campaign.campaign_episode import REST_WINDOW, Episode, Fault
from ur_admittance_lab.episodes import Case, Script

Array = NDArray[np.float64]

ACTIVATED = 0.1  # [s]
NOT_APART = -0.005  # [m] of the clearance is used up at the start, or more
NO_SHAPES = {"collision.enabled": False}
QUIETEST = 0.1  # [N] noise of the sensor in contact


def generator(family: str, number: int) -> np.random.Generator:
    """All chance of an episode comes from its family and number."""
    return np.random.default_rng(np.random.SeedSequence((zlib.crc32(family.encode()), number)))


def rising(seconds: float, ramp: float, period: float) -> Array:
    """0 to 1 to 0 with minimum jerk, the ramps at both ends, one row per period (n, 1)."""
    rows = round(seconds / period)
    s = np.minimum(np.arange(1, rows + 1), np.arange(rows, 0, -1)) * period
    s = np.clip(s / ramp, 0.0, 1.0) if ramp > 0.0 else np.ones(rows)
    return blend(s)[:, None]


def blend(s: Array) -> Array:
    """From 0 to 1 with minimum jerk."""
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s**2))


def room(parameters: Parameters, model: RobotModel, q: Array) -> float:
    """Smallest distance of the arm to itself, boxes and table at q, beyond the clearance [m]."""
    params = new(PARAMS)
    fill(params[0], parameters, model)
    return float(nearest(params, q)) - parameters.collision.clearance


class Draft:
    """Collects the actions; ``finish`` makes the episode."""

    def __init__(self, family: str, number: int, singular: float = 0.2) -> None:
        self.family, self.number = family, number
        self.rng = rng = generator(family, number)
        self.robot = draw.robot(rng)
        self.model: RobotModel = robot_model(self.robot)
        self.gravity = draw.gravity(rng)
        while True:
            self.tool: Tool = draw.tool(rng, self.model)
            self.q = draw.pose(rng, self.model, singular)
            if self.is_strong_enough():
                break
        self.servo: Servo = draw.servo(rng)
        self.sensor: FtSensor = draw.sensor(rng)
        self.environment = Environment.none()
        self.rate = float(draw.pick(rng, draw.RATES))
        self.parameters = self.with_devices(Parameters())
        self.sets: list[Parameters] = []
        self.faults: list[Fault] = []
        self.story: list[str] = []
        self.time = ACTIVATED + 0.4  # [s] of the next action
        self.load, self.ramp = 0.0, np.inf
        self._actions: list[Callable[[Script], Any]] = []
        self.act("activate", ACTIVATED, lambda script, at: script.activate(at, accept_load=True))

    def is_strong_enough(self) -> bool:
        """Do the motors carry arm and tool in this pose?"""
        return bool(np.min(draw.headroom(self.model, self.q, self.tool, self.gravity)) > 0.0)

    @property
    def period(self) -> float:
        return 1.0 / self.rate

    def with_devices(self, parameters: Parameters) -> Parameters:
        known = draw.devices(self.rng, self.tool, self.sensor, self.servo)
        return parameters.changed({"control_rate": self.rate, "gravity": self.gravity.tolist()} | known)

    def quieter(self) -> None:
        """A sensor no noisier than the one of the scenarios: force axes have no deadband and follow its noise."""
        noise = min(self.sensor.noise_force, QUIETEST)
        self.sensor = replace(self.sensor, noise_force=noise, noise_torque=draw.TORQUE_NOISE * noise)

    def choose(self, *changes: dict[str, Any]) -> None:
        """Change the parameters at the start."""
        for some in changes:
            self.parameters = self.parameters.changed(some)

    def choose_law(self) -> None:
        """A law that settles within an episode, and with it the caps."""
        while True:
            law = draw.law(self.rng, self.tool, self.sensor)
            chosen = self.parameters.changed(law)
            if draw.settling(chosen) <= draw.LONGEST_SETTLING:
                self.parameters = chosen.changed(draw.caps(self.rng))
                return

    # what happens

    def act(self, words: str, at: float, action: Callable[[Script, float], Any]) -> None:
        at = round(at / self.period) * self.period
        self.story.append(f"{at:6.3f} s  {words}")
        self._actions.append(lambda script: action(script, at))

    def push(self, seconds: float, wrench: ArrayLike | None = None, ramp: float | None = None) -> None:
        """The hand pushes from ``time`` on, rising and falling within ``ramp`` [s] (None: at random, or at once)."""
        w = (
            draw.hand_wrench(self.rng, self.model, self.q, self.tool, self.gravity)
            if wrench is None
            else np.asarray(wrench, dtype=float)
        )
        rise = draw.pick(self.rng, (0.0, *self.rng.uniform(draw.RAMP, 0.5, 3))) if ramp is None else ramp
        shape = rising(seconds, rise, self.period)
        seconds = len(shape) * self.period
        self.load = max(self.load, float(np.linalg.norm(w[:3])))
        self.ramp = min(self.ramp, float(rise))
        words = f"push {np.round(w, 2).tolist()} N, Nm for {seconds:.2f} s, rising in {rise:.2f} s"
        self.act(words, self.time, lambda script, at: script.push(at, seconds, shape * w))
        self.time += seconds

    def lead(
        self, times: ArrayLike, places: Array, stiffness: tuple[float, float], damping: tuple[float, float]
    ) -> None:
        """The hand takes the tool through displacements (n, 6) at times [s] since the grab, then lets go."""
        t = np.asarray(times, dtype=float)
        now = np.arange(1, round(t[-1] / self.period) + 1) * self.period
        i = np.clip(np.searchsorted(t, now) - 1, 0, len(t) - 2)
        s = np.clip((now - t[i]) / (t[i + 1] - t[i]), 0.0, 1.0)[:, None]
        rows = places[i] + blend(s) * (places[i + 1] - places[i])
        self.ramp = 0.0
        stops = "; ".join(f"{at:.2f} s {np.round(1e3 * x[:3]).tolist()} mm" for at, x in zip(t, places, strict=True))
        words = f"a hand of {stiffness[0]:.0f} N/m and {damping[0]:.0f} Ns/m leads through {stops}"
        self.act(words, self.time, lambda script, at: script.grab(at, rows, stiffness=stiffness, damping=damping))
        self.time += float(t[-1])

    def twist(self, seconds: float, twist: ArrayLike, ramp: float = 0.0) -> None:
        """The reference moves, at once or rising and falling within ``ramp`` [s]."""
        v = np.asarray(twist, dtype=float)
        shape = rising(seconds, ramp, self.period)
        seconds = len(shape) * self.period
        words = f"reference moves {np.round(v, 4).tolist()} m/s, rad/s for {seconds:.2f} s"
        self.act(words, self.time, lambda script, at: script.twist(at, seconds, shape * v))
        self.time += seconds

    def wrench(self, seconds: float, wrench: ArrayLike) -> None:
        """Desired wrench beside that of the parameters."""
        words = f"desired wrench {np.round(np.asarray(wrench, dtype=float), 2).tolist()} N, Nm for {seconds:.2f} s"
        self.act(words, self.time, lambda script, at: script.wrench(at, seconds, wrench))

    def change(self, at: float, parameters: Parameters, words: str) -> None:
        """Parameters changed live."""
        self.sets.append(parameters)
        index = len(self.sets)
        self.act(f"change {words}", at, lambda script, at: script.parameters(at, index))

    def fault(self, kind: str, at: float, seconds: float) -> None:
        self.faults.append(Fault(kind, at, at + seconds))
        self.act(f"{kind} for {seconds:.3f} s", at, lambda script, at: script.fault(at, seconds, kind))

    def wait(self, low: float, high: float) -> None:
        self.time += float(self.rng.uniform(low, high))

    def settled(self, spring_return: float = 0.0) -> float:
        """End of an episode whose last action is over: the law comes to rest [s]. A spring also brings back what was
        moved, in ``spring_return`` [s] at worst."""
        sprung = any(self.parameters.admittance.stiffness)
        return self.time + draw.settling(self.parameters) + (spring_return if sprung else 0.0) + 0.5 + REST_WINDOW

    def finish(self, seconds: float, **promises: Any) -> Episode:
        """The episode, ``seconds`` long; promises: fields of Episode."""
        script = Script(round(seconds / self.period) * self.period, self.period)
        for action in self._actions:
            action(script)
        if room(self.parameters, self.model, self.q) < NOT_APART:  # in such a pose the controller does not start
            self.choose(NO_SHAPES)
            self.sets = [parameters.changed(NO_SHAPES) for parameters in self.sets]
        case = Case(
            script=script,
            parameters=self.parameters,
            robot=self.robot,
            tool=self.tool,
            environment=self.environment,
            servo=self.servo,
            sensor=self.sensor,
            q=tuple(float(angle) for angle in self.q),
            seed=self.number,
            changes=tuple(self.sets),
        )
        episode = Episode(
            self.family,
            self.number,
            case,
            (*self.story, f"{seconds:6.3f} s  end"),
            tuple(self.faults),
            self.load,
        )
        return replace(episode, **promises)
