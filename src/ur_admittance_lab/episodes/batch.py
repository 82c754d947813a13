"""Many simulated episodes, fast: controller and physics in one compiled loop, as many at once as there are cores.

cases = [Case(script, parameters, environment=Environment.wall(k)) for k in (1e3, 1e4, 1e5)]
for trace in simulate(cases):
    print(trace.contact[:, 0].min())
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, overload

import numpy as np

from ur_admittance import given
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
from ur_admittance.errors import SimulationError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.robots.simulated.devices import FtSensor, Servo, Tool, need_whole
from ur_admittance.robots.simulated.environment import Environment
from ur_admittance.robots.simulated.simulated_robot import new_arm
from ur_admittance.robots.simulated.world import World
from ur_admittance_lab.episodes.kernels import compiled_play
from ur_admittance_lab.episodes.script import Script
from ur_admittance_lab.episodes.trace import Trace

T = TypeVar("T")
AHEAD = 4  # cases handed out for each thread: waiting for one of n costs time in proportion to n
Progress = Callable[[int, int], None]  # cases done, cases in all


@dataclass(frozen=True)
class Case:
    """One episode: everything that decides its bits. It can be pickled."""

    script: Script
    parameters: Parameters  # what the controller gets; tool and sensor: ``.changed(tool.parameters(sensor))``
    robot: str = "ur5e"
    tool: Tool = Tool()  # noqa: RUF009  (frozen)
    environment: Environment = Environment()  # noqa: RUF009
    servo: Servo = Servo()  # noqa: RUF009
    sensor: FtSensor = FtSensor()  # noqa: RUF009
    q: tuple[float, ...] | None = None  # [rad] start pose, None: home
    seed: int = 0  # of the sensor's noise
    changes: tuple[Parameters, ...] = ()  # later sets, put in force by ``script.parameters``

    def __post_init__(self) -> None:
        given.kind("case: script", self.script, Script, "a Script", SimulationError)
        given.kind("case: parameters", self.parameters, Parameters, "Parameters", SimulationError)

    def world(self) -> World:
        """The world at the start."""
        devices = (self.tool, self.environment, self.servo, self.sensor)
        world = World(robot_model(self.robot), *devices, self.seed, gravity=self.parameters.gravity)
        world.reset(self.q)
        return world


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@overload
def simulate(cases: Iterable[Case], *, threads: int | None = None, progress: Progress | None = None) -> list[Trace]: ...


@overload
def simulate(
    cases: Iterable[Case],
    measure: Callable[[Case, Trace], T],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[T]: ...


def simulate(
    cases: Iterable[Case],
    measure: Callable[[Case, Trace], Any] | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """What happened in each case, in their order, the same bits with any number of threads (default: all cores).

    measure(case, trace): called as soon as a case is done, in its thread; its answer takes the place of the trace (some
    2 kB for each cycle). The first exception ends everything; so does Ctrl-C, after the running episodes."""
    threads = cores() if threads is None else threads
    need_whole("simulate: threads", threads, 1)
    given.kind("simulate: cases", cases, Iterable, "a list of Case", SimulationError)
    cases = cases if isinstance(cases, Sequence) else list(cases)
    play = compiled_play()
    results: list[Any] = [None] * len(cases)
    stop = threading.Event()

    def run(index: int) -> int:
        if not stop.is_set():
            case = cases[index]  # once: a sequence may draw it only now
            given.kind(f"simulate: cases[{index}]", case, Case, "a Case", SimulationError)
            trace = run_case(case)
            results[index] = trace if measure is None else measure(case, trace)
        return index

    todo, done = iter(range(len(cases))), 0
    if cases and not getattr(play, "signatures", True):  # compiled here: two threads that do were seen to hang
        run(next(todo))
        done = 1
    with ThreadPoolExecutor(threads, "episode") as pool:
        waiting: set[Future[int]] = set()
        try:
            while True:
                waiting |= {pool.submit(run, index) for index in islice(todo, AHEAD * threads - len(waiting))}
                if not waiting:
                    break
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                done += len(finished)
                if progress is not None:
                    progress(done, len(cases))
        except BaseException:
            stop.set()
            raise
    return results


def run_case(case: Case) -> Trace:
    """One episode in compiled code: the bits of the control loop with a simulated arm (record_case does the same)."""
    sets, rows = parameter_sets(case)
    period = case.script.period
    world = case.world()
    params, states = sets[:1].copy(), new(STATE)
    arms = new_arm(world.model, period, "position")
    n = len(rows)
    trace = (new(SAMPLE, n), new(COMMAND, n), np.zeros((n, 6)), np.zeros((n, 6)))
    noise = world.noise(n)
    players = (params, states, arms, world.plants, world.engine(period))
    done = compiled_play()(rows, sets, players, trace, noise)
    samples, commands, contacts, hands = (part[:done] for part in trace)
    return Trace(samples, commands, contacts, hands, period, case.parameters, diverged=done < n)


def parameter_sets(case: Case) -> tuple[Any, Any]:
    """The case's parameters as records (m,) and its rows, after a check of what a batch cannot do."""
    model, rows = robot_model(case.robot), case.script.rows
    sets = new(PARAMS, 1 + len(case.changes))
    for record, parameters in zip(sets, (case.parameters, *case.changes), strict=True):
        if abs(parameters.control_rate * case.script.period - 1.0) > 1e-9:
            rate = f"{parameters.control_rate:g} Hz"
            raise SimulationError(f"case: control_rate = {rate}, but the script has periods of {case.script.period} s.")
        if parameters.second.source:
            raise SimulationError(f"case: second.source = {parameters.second.source}: must be empty in a batch.")
        if parameters.sensor.auto_zero:
            raise SimulationError("case: sensor.auto_zero = true: must be false in a batch.")
        fill(record, parameters, model)
        record["revision"] = 1
    lowest, highest = int(rows["parameters"].min()), int(rows["parameters"].max())
    if not 0 <= lowest <= highest < len(sets):
        raise SimulationError(f"case: the script asks for parameter sets {lowest} to {highest} of {len(sets)}.")
    every = [record.tobytes() for record in sets]
    if len(set(every)) < len(every):  # a change to an equal set is none
        rows = rows.copy()
        rows["parameters"] = np.array([every.index(one) for one in every])[rows["parameters"]]
    return sets, rows
