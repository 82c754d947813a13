"""The forms of the kernels give the same bits: the library, Numba for any and for this processor, plain Python.

python -m benchmarks.forms                     100 random episodes of every campaign family; plain Python: 1, 500 cycles
python -m benchmarks.forms --episodes 5        a minute, once the forms are compiled (a minute each)

Each form is a process of its own. An episode is simulated with the library; its samples are recomputed.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
from numba import njit

from ur_admittance import library
from ur_admittance.compiler import numba_form
from ur_admittance.core.records import COMMAND, STATE, new
from ur_admittance.core.tick import tick
from ur_admittance_lab.campaign.families import FAMILIES, episode
from ur_admittance_lab.episodes.batch import Case, parameter_sets, run_case

FIRST = 900_000  # number of the first episode: used for nothing else
FORMS = {
    "library": {},
    "Numba, any processor": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "Numba, this processor": {},
    "plain Python": {},
}
FEW = 500  # cycles, for plain Python


def recomputed(form: str) -> Any:
    """The function that goes through samples with the tick of this form."""
    numba_form.register()
    one = njit(**numba_form.OPTIONS)(tick.py_func) if form.startswith("Numba") else tick
    if form == "library":
        numba_form.through_library(tick)

    def recompute(params: Any, sets: Any, which: Any, state: Any, samples: Any, commands: Any) -> None:
        in_force = 0
        for k in range(samples.size):
            if which[k] != in_force:
                in_force = which[k]
                revision = params[0].revision + 1
                params[0] = sets[in_force]
                params[0].revision = revision
            one(params[0], state[0], samples[k], commands[k])

    if form != "plain Python":
        return numba_form.compiled(recompute, cache=False)

    def plainly(*records: Any) -> None:
        library.PLAIN = True  # from here on: the simulation before it was compiled
        recompute(*(record.view(np.recarray) if record.dtype.names else record for record in records))
        library.PLAIN = False

    return plainly


def digests(case: Case, recompute: Any, most: int) -> list[str]:
    """Of COMMAND and STATE: after the first cycles, and of all if they are not more than `most`."""
    trace, (sets, rows) = run_case(case), parameter_sets(case)
    params, state, count, found = sets[:1].copy(), new(STATE), len(trace.sample), []
    for part in (slice(0, min(FEW, count)), slice(0, count)):
        if part.stop > most:
            break
        params[:], state[:] = sets[:1], new(STATE)
        commands = new(COMMAND, part.stop)
        recompute(params, sets, rows["parameters"][part].copy(), state, trace.sample[part].copy(), commands)
        found.append(hashlib.sha256(commands.tobytes() + state.tobytes()).hexdigest())
    return [*found, hashlib.sha256(trace.command.tobytes()).hexdigest()]


def child(form: str, episodes: int) -> None:
    recompute = recomputed(form)
    count, most = (1, FEW) if form == "plain Python" else (episodes, 10**9)
    for family in FAMILIES:
        found = [digests(episode(family, FIRST + number).case, recompute, most) for number in range(count)]
        print(json.dumps({family: found}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Bits of every form of the kernels.")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.form:
        child(chosen.form, chosen.episodes)
        return 0
    options = ["--episodes", str(chosen.episodes), "--form"]
    processes = {
        form: subprocess.Popen(
            [sys.executable, "-m", "benchmarks.forms", *options, form],
            env=os.environ | changes,
            stdout=subprocess.PIPE,
            text=True,
        )
        for form, changes in FORMS.items()
    }
    different = 0
    for family in FAMILIES:
        found = {form: json.loads(process.stdout.readline())[family] for form, process in processes.items()}
        words = []
        for form, theirs in found.items():
            same = sum(set(one) <= set(ours) for one, ours in zip(theirs, found["library"], strict=False))
            different += len(theirs) - same
            words.append(f"{form}: {same} of {len(theirs)} equal")
        print(f"{family:12}{'   '.join(words)}", flush=True)
    print("bits", "DIFFERENT" if different else "equal")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
