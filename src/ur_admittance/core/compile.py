"""How the kernels are compiled, and arrays that live on the stack.

``NUMBA_DISABLE_JIT=1`` turns every kernel into the plain Python it is written in: slow, but it can be stepped
through in a debugger.
"""

import hashlib
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numba import carray, config, njit, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import populate_array


def _cache_directory():
    """Numba checks only the file of the outermost kernel: after a change in inverse.py it would load the old tick.
    So compiled code is cached under a digest of all kernels."""
    folder = Path(__file__).parent
    patterns = ("core/*.py", "**/kernels.py", "**/kernels/*.py", "**/records.py")
    files = {file for pattern in patterns for file in folder.parent.glob(pattern)}
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]
    writable = os.access(folder, os.W_OK)
    root = folder / "__pycache__" if writable else Path(tempfile.gettempdir()) / f"ur_admittance_{os.getuid()}"
    return str(root / f"kernels_{digest}")


if not config.CACHE_DIR:
    config.CACHE_DIR = _cache_directory()

# NumPy division (1/0 = inf) because a tick must not raise; no fastmath, so that a replay agrees to the last bit.
# Nobody takes a kernel for a C function: without a wrapper for that, compiling is quicker.
kernel = njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)


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


def _stack_array(*shape):
    """A function for kernels: an uninitialised array on the stack, no heap, gone when the kernel returns. Never return
    it. An intrinsic, because Numba compiles a function that is inlined anew at every call."""
    if config.DISABLE_JIT:
        return lambda: np.empty(shape)
    array_type = types.Array(types.float64, len(shape), "C")
    strides = [8 * math.prod(shape[i + 1 :]) for i in range(len(shape))]

    def codegen(context, builder, signature, arguments):
        def constants(numbers):
            return [context.get_constant(types.intp, number) for number in numbers]

        data = cgutils.alloca_once(builder, context.get_value_type(types.float64), size=math.prod(shape))
        array = context.make_array(array_type)(context, builder)
        [size] = constants([8])
        populate_array(array, data, constants(shape), constants(strides), size, None)
        return array._getvalue()

    @intrinsic
    def allocate(typing_context):
        return array_type(), codegen

    return allocate


vec3, vec6, vec7 = _stack_array(3), _stack_array(6), _stack_array(7)
mat3, mat6, mat7 = _stack_array(3, 3), _stack_array(6, 6), _stack_array(7, 7)
rows7, per_row = _stack_array(ROWS, 7), _stack_array(ROWS)
ends, per_near = _stack_array(8, 2, 3), _stack_array(NEAR)  # ends: both of the segments of all capsules


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

else:

    @register_jitable(inline="always")
    def record(records, i):
        """One record, to be handed to another kernel: what the same function writes into its arrays would be lost."""
        return records[i]

    @register_jitable(inline="always")
    def from_here(field, count):
        """The ``count`` doubles of a record that begin with this field, as one array."""
        return carray(_address(field), (count,))
