"""Same records in, same bits out: again, beside others, and in all three forms that kernels have."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import prange

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.kernel import record
from ur_admittance.core.records import COMMAND, Request, new
from ur_admittance.core.tick import tick

FORM = """
import sys, numpy as np
from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.kernel import record
from ur_admittance.core.records import *
from ur_admittance.core.tick import tick

def run(params, state, samples, commands):
    for k in range(samples.size):
        tick(record(params, 0), record(state, 0), record(samples, k), record(commands, k))

data = np.load(sys.argv[1])
params, samples = data["params"].view(PARAMS), data["samples"].view(SAMPLE)
state, commands = new(STATE), new(COMMAND, samples.size)
(compiled(run, cache=False) if sys.argv[2] == "numba" else run)(params, state, samples, commands)
sys.stdout.buffer.write(commands.tobytes() + state.tobytes())
"""


@compiled
def one_after_the_other(params, state, samples, commands):
    for k in range(samples.size):
        tick(record(params, 0), record(state, 0), record(samples, k), record(commands, k))


def beside_each_other(params, state, sample, command):
    for i in prange(state.size):
        tick(record(params, i), record(state, i), record(sample, i), record(command, i))


def pushes(count):
    return np.random.default_rng(4).normal(size=(count, 6)) * [20, 20, 20, 2, 2, 2]


def test_the_same_run_gives_the_same_bits(ideal_arm):
    logs = []
    for _ in range(2):
        arm = ideal_arm(**{"admittance.stiffness": [100, 0, 50, 10, 0, 5]})
        logs.append(arm.run(2.0, push=pushes(1000)))
    assert logs[0].tobytes() == logs[1].tobytes()


def test_a_batch_gives_the_same_bits_as_single_ticks(ideal_arm):
    count = 8
    tick_batch = compiled(beside_each_other, parallel=True, cache=False)
    arms = [ideal_arm(q=np.array([0.1 * i, -1.3, 1.5, -1.2, -1.4, 0.0])) for i in range(count)]
    params, state = (np.concatenate([getattr(a, n) for a in arms]) for n in ("params", "state"))
    batch = new(COMMAND, count)
    for k in range(50):
        sample = np.concatenate([a.samples(1) for a in arms])
        sample["wrench"] = pushes(count) * (k % 7)
        for i, arm in enumerate(arms):
            single = new(COMMAND)
            tick(arm.params, arm.state, sample[i : i + 1].copy(), single)
            arm.last = single
        tick_batch(params, state, sample, batch)
        assert batch.tobytes() == b"".join(a.last.tobytes() for a in arms)
    assert state.tobytes() == b"".join(a.state.tobytes() for a in arms)


@pytest.mark.timeout(300)  # Numba compiles the whole tick
def test_library_numba_and_plain_python_give_the_same_bits(ideal_arm, tmp_path):
    """A pushed arm, taken along its way once; then the same samples through each form."""
    arm = ideal_arm(active=False, **{"admittance.stiffness": [100, 0, 50, 10, 0, 5], "workspace.max": [9, 0.2, 9]})
    samples = arm.samples(300, request=Request.ACTIVATE)
    samples["wrench"][50:] = pushes(250) + [0, 25, 0, 0, 0, 2]
    on_the_way, last = arm.state.copy(), new(COMMAND)
    for k in range(300):
        tick(arm.params, on_the_way, samples[k : k + 1].copy(), last)
        samples["q"][k + 1 :], samples["qd"][k + 1 :] = last["q"], last["qd"]
    np.savez(tmp_path / "in.npz", params=arm.params.view(np.uint8), samples=samples.view(np.uint8))
    state, commands = arm.state.copy(), new(COMMAND, 300)
    one_after_the_other(arm.params, state, samples, commands)
    found = {"library": commands.tobytes() + state.tobytes()}
    for form in ("numba", "plain"):
        found[form] = subprocess.run(
            [sys.executable, "-c", FORM, str(tmp_path / "in.npz"), form],
            check=True, timeout=280, capture_output=True,
            env=os.environ | {"UR_ADMITTANCE_PLAIN": str(int(form == "plain"))},
        ).stdout  # fmt: skip
    assert np.abs(commands["twist"]).max() > 0.05
    assert np.unique(commands["limits"]).size > 1
    assert found["numba"] == found["library"]
    assert found["plain"] == found["library"]
