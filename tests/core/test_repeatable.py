"""Same records in, same bits out."""

import os
import subprocess
import sys

import numpy as np

from ur_admittance.core.records import COMMAND, Request, new
from ur_admittance.core.tick import tick, tick_batch

SCRIPT = """
import sys, numpy as np
from ur_admittance.core.records import *
from ur_admittance.core.tick import tick
data = np.load(sys.argv[1])
params, samples = data["params"].view(PARAMS), data["samples"].view(SAMPLE)
state, command, log = new(STATE), new(COMMAND), []
for k in range(samples.size):
    tick(params, state, samples[k:k + 1], command)
    log.append(np.concatenate([command[0][n] for n in ("q", "qd", "twist", "offset", "rate", "pose_error")]))
np.save(sys.argv[2], log)
"""


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


def test_without_the_compiler_the_numbers_are_the_same(ideal_arm, tmp_path):
    arm = ideal_arm(active=False, **{"admittance.stiffness": [100, 0, 50, 10, 0, 5]})
    samples = arm.samples(200, request=Request.ACTIVATE)
    samples["wrench"] = pushes(200)
    np.savez(tmp_path / "in.npz", params=arm.params.view(np.uint8), samples=samples.view(np.uint8))
    results = []
    for off in ("0", "1"):
        out = tmp_path / f"out{off}.npy"
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "in.npz"), str(out)],
            check=True, timeout=110, env=os.environ | {"NUMBA_DISABLE_JIT": off},
        )  # fmt: skip
        results.append(np.load(out))
    assert np.abs(results[0]).max() > 0.1
    assert np.abs(results[0] - results[1]).max() < 1e-12
