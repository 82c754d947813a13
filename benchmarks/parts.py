"""How long each part of the controller takes to compile, with nothing in the cache: what a first start is planned by.

python -m benchmarks.parts --write     -> src/ur_admittance/first_start/parts.txt
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from ur_admittance.first_start.parts import FILE, ROOT, argument, code_of, name_of

FOLDER = "NUMBA_CACHE_DIR"


def measure() -> str:
    """The lines of parts.txt. In a process that has compiled nothing."""
    from numba.core import event

    from ur_admittance.control import zeroing
    from ur_admittance.core.compile import load
    from ur_admittance.core.motion.sending import plan_to_rest
    from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
    from ur_admittance.core.tick import tick
    from ur_admittance.runtime.own_commands import OwnCommands

    began: list[list[float]] = []  # of the compilations under way: CPU time at the start, and of the parts inside
    seconds: dict[str, float] = {}
    ways: dict[str, list[str]] = {}

    class Stopwatch(event.Listener):
        def on_start(self, event: Any) -> None:
            began.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inside = began.pop()
            whole = time.thread_time() - start
            kernel, arguments = event.data["dispatcher"], event.data["args"]
            if is_part(kernel):
                codes = [code_of(kind) for kind in arguments]
                assert tuple(argument(code) for code in codes) == tuple(arguments), (kernel, codes)
                name = name_of(kernel)
                seconds[name] = seconds.get(name, 0.0) + whole - inside
                ways.setdefault(name, []).append(" ".join(codes))
            else:  # NumPy's and Numba's own: part of who called it
                whole = inside
            if began:
                began[-1][1] += whole

    with event.install_listener("numba:compile", Stopwatch()):
        load(tick, new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND))
        zeroing.warm_up()
        OwnCommands(np.ones(6))
        load(plan_to_rest, np.zeros(6), np.zeros(6), 0.0, 0.0, np.zeros((2, 6)))
    return "".join(f"{name} {seconds[name]:.2f} | {' | '.join(ways[name])}\n" for name in sorted(ways))


def is_part(kernel: Any) -> bool:
    """A kernel of this package, and none that only Numba knows."""
    function = kernel.py_func
    ours = function.__module__.startswith(ROOT)
    return ours and getattr(sys.modules[function.__module__], function.__name__, None) is kernel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {FILE.name}")
    write = parser.parse_args().write
    if FOLDER not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {FOLDER: folder}
            raise SystemExit(
                subprocess.call([sys.executable, "-m", "benchmarks.parts", *sys.argv[1:]], env=environment)
            )
    lines = measure()
    print(lines, end="")
    if write:
        FILE.write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
