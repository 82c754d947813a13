"""This package: one tick called from Python, controller.update(), and many controllers in one call."""

from collections.abc import Callable
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.tick.kernels import batch, compiled
from benchmarks.tick.workload import PERIOD, Array, Samples, Workload
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, SAMPLE, STATE, Mode, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.errors import UrAdmittanceError
from ur_admittance_lab.speed import timed, updates

Records = tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void], NDArray[np.void]]


def at_rest(params: NDArray[np.void], controllers: int = 1) -> Records:
    """Records of controllers that the first tick activates, whatever the load; it must clear the request."""
    state, sample, command = (new(kind, controllers) for kind in (STATE, SAMPLE, COMMAND))
    sample["dt"], sample["request"] = PERIOD, Request.ACTIVATE | Request.ACCEPT_LOAD
    return np.repeat(params, controllers), state, sample, command


def must_be_active(command: NDArray[np.void]) -> None:
    """A controller that has stopped is fast and useless: its times must not be reported."""
    if (command["mode"] != Mode.ACTIVE).any():
        raise UrAdmittanceError(f"bench: the controller stopped with status {command['status'].max()}.")


def time_ticks(workload: Workload, count: int) -> Array:
    """Durations of single ticks, called as the controller does it [ns]."""
    return _timed(lambda records: tick.on(*records), workload, count, 1)


def time_updates(workload: Workload, count: int) -> Array:
    """Durations of controller.update() [ns]."""
    return updates(AdmittanceController(workload.model, workload.parameters), workload.pushes, count)


def time_batches(workload: Workload, count: int, controllers: int, threads: int) -> Array:
    """Durations of ticks of all controllers [ns]."""
    all_ticks, before = compiled(batch, parallel=True), numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        return _timed(lambda records: partial(all_ticks, *records), workload, count, controllers)
    finally:
        numba.set_num_threads(before)


def _timed(bind: Callable[[Records], Callable[[], None]], workload: Workload, count: int, controllers: int) -> Array:
    """Each controller at another phase of the push, so that no two compute the same."""
    pushes = workload.pushes
    records = at_rest(workload.params, controllers)
    _, _, sample, command = records
    sample["q"], sample["wrench"] = workload.home, pushes[0]
    call = bind(records)
    call()
    sample["request"] = Request.NONE
    phase = np.arange(controllers)

    def perfect_servo(i: int) -> None:
        sample["q"], sample["qd"] = command["q"], command["qd"]
        sample["wrench"] = pushes[(phase + i) % len(pushes)]

    durations = timed(call, (), perfect_servo, count)
    must_be_active(command)
    return durations


def replay(samples: Samples) -> Array:
    """Commands for all samples (n, 18): q, qd, twist."""
    records = at_rest(samples.params)
    _, _, sample, command = records
    cycle, found = tick.on(*records), []
    for q, qd, wrench, twist in zip(samples.q, samples.qd, samples.wrench, samples.reference_twist, strict=True):
        sample["q"], sample["qd"], sample["wrench"], sample["reference_twist"] = q, qd, wrench, twist
        cycle()
        sample["request"] = Request.NONE
        must_be_active(command)
        found.append(np.concatenate([command["q"][0], command["qd"][0], command["twist"][0]]))
    return np.array(found)
