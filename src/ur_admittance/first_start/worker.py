"""One of the processes that compile: reads the name of a part, compiles it into the cache, answers; until told no more.

Run by prepare.py. A part is a kernel of parts.txt, or a function "module:function" that compiles what it needs.
"""

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

from ur_admittance.first_start.parts import FAILED, all_parts

SELDOM = (50_000, 20, 100)  # Python's garbage collector: with its own thresholds a ninth of the time, for 20 MB


@contextmanager
def as_bitcode() -> Iterator[None]:
    """A kernel that only other kernels call becomes part of theirs: its own machine code, a sixth of the work, would
    never run. It is cached as LLVM's bitcode, one of Numba's two formats; a process that does call it finishes it."""
    rtsys.initialize(cpu_target.target_context)  # Numba's own functions do run

    changed = {
        (JITCPUCodegen, "_add_module"): _nothing,
        (JITCPUCodegen, "set_env"): _nothing,
        (JITCodeLibrary, "_finalize_specific"): _nothing,
        (JITCodeLibrary, "serialize_using_object_code"): JITCodeLibrary.serialize_using_bitcode,
    }
    own = {(owner, name): getattr(owner, name) for owner, name in changed}
    try:
        for (owner, name), function in changed.items():
            setattr(owner, name, function)
        yield
    finally:
        for (owner, name), function in own.items():
            setattr(owner, name, function)


def _nothing(*arguments: Any) -> None:
    pass


def compile_part(name: str) -> None:
    module, _, function = name.partition(":")
    if function:
        call = f"from {module} import {function}; {function}()"
        subprocess.run([sys.executable, "-c", call], check=True)  # it may call kernels, and those here cannot run
    elif (part := all_parts()[name]).inner:
        with as_bitcode():
            part.compile()
    else:
        part.compile()


def main() -> None:
    gc.freeze()
    gc.set_threshold(*SELDOM)
    for line in sys.stdin:
        name = line.strip()
        try:
            compile_part(name)
            mark = ""
        except Exception as error:  # compiled again where it is needed, which tells what is wrong
            sys.stderr.write(f"{name}: {error}\n")
            mark = FAILED
        sys.stdout.write(f"{mark}{name}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
