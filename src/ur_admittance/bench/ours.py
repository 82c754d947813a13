"""This package: one tick called from Python, controller.update(), and many controllers in one call."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.bench.timing import measure
from ur_admittance.bench.workload import PERIOD, Array, Workload
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, SAMPLE, STATE, Mode, Request, new
from ur_admittance.core.tick import tick, tick_batch
from ur_admittance.errors import UrAdmittanceError

Records = tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void], NDArray[np.void]]


def started(workload: Workload, controllers: int = 1) -> Records:
    """Records of active controllers at rest, the arm at home."""
    params = np.repeat(workload.params, controllers)
    state, sample, command = new(STATE, controllers), new(SAMPLE, controllers), new(COMMAND, controllers)
    sample["dt"] = PERIOD
    sample["q"] = workload.home
    sample["wrench"] = workload.pushes[0]
    sample["request"] = Request.ACTIVATE
    tick(params, state, sample, command)
    sample["request"] = Request.NONE
    return params, state, sample, command


def must_be_active(command: NDArray[np.void]) -> None:
    """A controller that has stopped is fast and useless: its times must not be reported."""
    if (command["mode"] != Mode.ACTIVE).any():
        raise UrAdmittanceError(f"bench: the controller stopped with status {command['status'].max()}.")


def final_motion(workload: Workload, ticks: int) -> Array:
    """Twist and joint positions after this many ticks of a perfect servo (12,)."""
    records = started(workload)
    _, state, sample, command = records
    rows = len(workload.pushes)
    for i in range(1, ticks):  # the first tick was that of started()
        sample["q"], sample["qd"] = command["q"], command["qd"]
        sample["wrench"] = workload.pushes[i % rows]
        tick(*records)
    must_be_active(command)
    return np.concatenate([command["twist"][0], state["q_command"][0]])


class Tick:
    name = "tick"
    title = "tick, called from Python"

    def __init__(self, workload: Workload, calls_per_round: int) -> None:
        self._workload = workload
        self.calls_per_round = calls_per_round

    def round(self, count: int) -> Array:
        records = started(self._workload)
        sample, command = records[2][0], records[3][0]
        q, qd, wrench = sample["q"], sample["qd"], sample["wrench"]  # views into the records
        q_command, qd_command = command["q"], command["qd"]
        pushes, rows = self._workload.pushes, len(self._workload.pushes)

        def perfect_servo(i: int) -> None:
            q[:] = q_command
            qd[:] = qd_command
            wrench[:] = pushes[i % rows]

        durations = measure(tick, records, perfect_servo, count)
        must_be_active(records[3])
        return durations

    def close(self) -> None: ...


class Update:
    name = "update"
    title = "controller.update()"

    def __init__(self, workload: Workload, calls_per_round: int) -> None:
        self._workload = workload
        self.calls_per_round = calls_per_round

    def round(self, count: int) -> Array:
        controller = AdmittanceController(self._workload.model, self._workload.parameters)
        controller.configure()
        controller.activate()
        sample, command = controller.sample, controller.command
        sample["dt"] = PERIOD
        sample["q"] = self._workload.home
        sample["wrench"] = self._workload.pushes[0]
        controller.update()
        pushes, rows = self._workload.pushes, len(self._workload.pushes)

        def perfect_servo(i: int) -> None:
            sample["q"] = command["q"]
            sample["qd"] = command["qd"]
            sample["wrench"] = pushes[i % rows]

        durations = measure(controller.update, (), perfect_servo, count)
        must_be_active(np.atleast_1d(command))
        return durations

    def close(self) -> None: ...


class Batch:
    """All cores; each controller at another phase of the push, so that no two compute the same."""

    name = "batch_tick"
    title = "tick in a batch, per controller"
    controllers = 512  # a batch of half a millisecond: seldom interrupted by other programs

    def __init__(self, workload: Workload, calls_per_round: int) -> None:
        self._workload = workload
        self.calls_per_round = calls_per_round

    def round(self, count: int) -> Array:
        """Durations of whole batches [ns]."""
        records = started(self._workload, self.controllers)
        _, _, sample, command = records
        pushes, rows = self._workload.pushes, len(self._workload.pushes)
        phase = np.arange(self.controllers)

        def perfect_servo(i: int) -> None:
            sample["q"], sample["qd"] = command["q"], command["qd"]
            sample["wrench"] = pushes[(phase + i) % rows]

        durations = measure(tick_batch, records, perfect_servo, count)
        must_be_active(command)
        return durations

    def close(self) -> None: ...
