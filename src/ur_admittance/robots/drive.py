"""A controller drives an arm of any kind: what `ur_admittance.run` does."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from ur_admittance import given
from ur_admittance.control import AdmittanceController
from ur_admittance.control.go_to import Goal, Trip
from ur_admittance.errors import LogError, LoopError
from ur_admittance.recording.recorder import Recorder
from ur_admittance.robots.connect import check_accept
from ur_admittance.robots.operate import Operation, operate
from ur_admittance.robots.rtde.real_arm import drive_rtde
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.runtime import loop, registry
from ur_admittance.runtime.clock import LockstepClock
from ur_admittance.runtime.interfaces import Robot, Stage
from ur_admittance.runtime.report import LoopReport


def run(
    controller: AdmittanceController,
    robot: Robot,
    *,
    duration: float | None = None,
    activate: bool = False,
    accept: Collection[str] = (),
    on_tick: Callable[[AdmittanceController], bool | None] | None = None,
    stages: Sequence[Stage] = (),
    log: str | Path | None = None,
    name: str = registry.DEFAULT_NAME,
    say: Callable[[str], None] = lambda text: None,
) -> LoopReport:
    """Drive a connected arm until `duration` [s] is over, on_tick returns True or Ctrl-C comes; then slow it down and
    stop it. The report says why it ended and how punctual it was.

    activate: comply, a UR once it was seen at rest for half a second; otherwise the arm holds still until somebody
    calls controller.activate(). While a force at rest is unexplained, or the geometry is wrong, it holds still as well;
    `say` and the report's reason say why. accept: what somebody has looked at: "load", "geometry".
    on_tick: called after every cycle. stages: run inside every cycle, in front of the law or behind it (CartesianPath,
    JointFollower, your own). log: record to this new file (.mcap). say: receives what is being loaded and which
    real-time privileges were obtained; try print.

    A simulated arm runs in lock-step, as fast as the computer can, unless it was made with realtime=True; a UR sets
    the pace itself. In real time other programs on this machine see the controller under `name`: the page, a client.
    """
    given.kind("controller", controller, AdmittanceController, "an AdmittanceController")
    given.methods("robot", robot, ("clock", "read", "write", "stop"), "SimulatedRobot(World('ur5e'))")
    check_accept(accept)
    if duration is not None:
        given.number("duration", duration, "s")
    path = None if log is None else given.file("log", log, LogError)
    if not controller.configured:
        controller.configure(say)
    in_loop: dict[str, Any] = {"duration": duration, "on_tick": on_tick, "stages": stages}
    options: dict[str, Any] = in_loop | {"log": path, "name": name, "say": say}
    if isinstance(robot, RtdeRobot):
        return drive_rtde(controller, robot, activate=activate, accept=accept, **options)
    controller.forget_rest()
    if activate:
        controller.activate(accept_load="load" in accept)
    clock, model = robot.clock(), controller.model.name
    if not isinstance(clock, LockstepClock):
        return operate(controller, robot, clock, Operation(model, **options))
    recorder = None if path is None else Recorder(path, model=model, rate=1.0 / clock.period)
    try:
        with nullcontext() if recorder is None else closing(recorder):
            report = loop.run(controller, robot, clock, telemetry=recorder or (), **in_loop)
    except LoopError as error:
        error.report = _told(error.report, recorder, say)
        raise
    return _told(report, recorder, say)


def go_to(controller: AdmittanceController, robot: Robot, goal: Goal, **options: Any) -> Trip:
    """Take a connected arm to a pose, and end: slowly, yielding to hands, stopped by a force, only where the whole way
    is free. The outcome and the sentence of what is returned say how it went. options: as run."""
    trip = Trip(goal)
    trip.report = run(controller, robot, activate=True, on_tick=trip, **options)
    return trip


def _told(report: LoopReport, recorder: Recorder | None, say: Callable[[str], None]) -> LoopReport:
    """With what became of the recording."""
    if recorder is None or not recorder.problem:
        return report
    say(recorder.problem)
    return replace(report, recording_problem=recorder.problem)
