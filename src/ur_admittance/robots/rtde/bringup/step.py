"""A step of the bring-up: what is said before it, what it does, and what it has found."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.connect import CALM_WATCHDOG_HZ, connected_arm, open_rtde
from ur_admittance.robots.rtde.bringup.bringup_report import Report
from ur_admittance.runtime.robot import Robot


@dataclass(frozen=True)
class Bench:
    """The arm at hand, the person in front of it, and what is known so far."""

    report: Report
    say: Callable[[str], None]
    ask: Callable[[str], str]
    poses: int = 12  # of the calibration
    seconds: float = 20.0  # of the first motion

    @property
    def host(self) -> str:
        return self.report.about["robot"]

    @property
    def model(self) -> RobotModel:
        return robot_model(self.report.about["model"])

    @property
    def sensor(self) -> str:
        return self.report.about["sensor"]

    @property
    def client(self) -> str:
        return self.report.about["client"]

    @property
    def parameters(self) -> Parameters:
        return self.report.parameters

    @contextmanager
    def arm(self, commanding: bool = True) -> Iterator[tuple[CalmArm, Robot]]:
        """Connected for one step only: nobody holds an arm while a person reads."""
        device = open_rtde(self.host, self.model, self.sensor, watchdog_hz=CALM_WATCHDOG_HZ, client=self.client)
        with connected_arm(device, commanding) as (arm, _):
            yield arm, device


@dataclass(frozen=True)
class Found:
    """What a step has found."""

    good: bool
    lines: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)  # of parameters
    cause: str = ""  # the earlier step to do again, where that is known


@dataclass(frozen=True)
class Step:
    name: str
    title: str
    words: str  # what it does, and why
    work: Callable[[Bench], Found]
    question: str  # that a person answers with yes when the step is done
    moves: str = ""  # what the arm will do; empty: nothing moves
