"""How the kernels are compiled, and arrays that live on the stack.

``NUMBA_DISABLE_JIT=1`` turns every kernel into the plain Python it is written in: slow, but it can be stepped
through in a debugger.
"""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numba import carray, config, njit, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable


def _cache_directory():
    """Numba checks only the file of the outermost kernel: after a change in inverse.py it would load the old tick.
    So compiled code is cached under a digest of all kernels."""
    folder = Path(__file__).parent
    files = [
        file for pattern in ("core/*.py", "*/kernels.py", "*/kernels/*.py") for file in folder.parent.glob(pattern)
    ]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]
    writable = os.access(folder, os.W_OK)
    root = folder / "__pycache__" if writable else Path(tempfile.gettempdir()) / f"ur_admittance_{os.getuid()}"
    return str(root / f"kernels_{digest}")


if not config.CACHE_DIR:
    config.CACHE_DIR = _cache_directory()

# NumPy division (1/0 = inf) because a tick must not raise; no fastmath, so that a replay agrees to the last bit.
kernel = njit(nogil=True, cache=True, error_model="numpy")


ROWS = 56  # inequalities of the constrained solve
NEAR = 12  # of them for pairs of bodies that are near
_loaded: set[Any] = set()


def load(function: Any, *arguments: Any) -> None:
    """Compile a kernel for such arguments, or load it from the cache, without calling it: never in a running loop.
    Once for each kernel: looking at the arguments costs a millisecond."""
    if config.DISABLE_JIT or function in _loaded:
        return
    function.compile(tuple(typeof(argument) for argument in arguments))
    _loaded.add(function)


@intrinsic(prefer_literal=True)
def _stack_doubles(typing_context, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def codegen(context, builder, signature, arguments):
        return cgutils.alloca_once(builder, context.get_value_type(types.float64), size=size)

    return types.CPointer(types.float64)(count), codegen


@intrinsic
def _address(typing_context, field):
    def codegen(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(types.float64)(field), codegen


if config.DISABLE_JIT:

    def record(records, i):
        return records.view(np.recarray)[i]  # its fields can be read as attributes, as in compiled code

    def from_here(field, count):
        return np.lib.stride_tricks.as_strided(field, (count,), (8,))

    def vec3():
        return np.empty(3)

    def vec6():
        return np.empty(6)

    def mat3():
        return np.empty((3, 3))

    def mat6():
        return np.empty((6, 6))

    def vec7():
        return np.empty(7)

    def mat7():
        return np.empty((7, 7))

    def rows7():
        return np.empty((ROWS, 7))

    def per_row():
        return np.empty(ROWS)

    def ends():
        return np.empty((8, 2, 3))

    def per_near():
        return np.empty(NEAR)

else:

    @register_jitable(inline="always")
    def record(records, i):
        """One record, to be handed to another kernel: what the same function writes into its arrays would be lost."""
        return records[i]

    @register_jitable(inline="always")
    def from_here(field, count):
        """The ``count`` doubles of a record that begin with this field, as one array."""
        return carray(_address(field), (count,))

    @register_jitable(inline="always")
    def vec3():
        """Uninitialised (3,) array on the stack: no heap, gone when the kernel returns. Never return it."""
        return carray(_stack_doubles(3), (3,))

    @register_jitable(inline="always")
    def vec6():
        return carray(_stack_doubles(6), (6,))

    @register_jitable(inline="always")
    def mat3():
        return carray(_stack_doubles(9), (3, 3))

    @register_jitable(inline="always")
    def mat6():
        return carray(_stack_doubles(36), (6, 6))

    @register_jitable(inline="always")
    def vec7():
        return carray(_stack_doubles(7), (7,))

    @register_jitable(inline="always")
    def mat7():
        return carray(_stack_doubles(49), (7, 7))

    @register_jitable(inline="always")
    def rows7():
        return carray(_stack_doubles(392), (56, 7))

    @register_jitable(inline="always")
    def per_row():
        return carray(_stack_doubles(56), (56,))

    @register_jitable(inline="always")
    def ends():
        """Both ends of the segments of all capsules."""
        return carray(_stack_doubles(48), (8, 2, 3))

    @register_jitable(inline="always")
    def per_near():
        return carray(_stack_doubles(12), (12,))
