"""How the kernels are compiled, and arrays that live on the stack.

``NUMBA_DISABLE_JIT=1`` turns every kernel into the plain Python it is written in: slow, but it can be stepped
through in a debugger.
"""

import atexit
import hashlib
import math
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba import __version__ as numba_version
from numba import carray, config, njit, typeof, types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import populate_array


def _sources():
    """The files of all kernels."""
    package = Path(__file__).parents[1]
    patterns = ("core/**/*.py", "**/kernels.py", "**/kernels/*.py", "**/records.py")
    return sorted({file for pattern in patterns for file in package.glob(pattern)})


def _cache_directory():
    """Numba checks only the file of the outermost kernel: after a change in singular.py it would load the old tick.
    So compiled code is cached under a digest of all kernels. It is kept beside the kernels, or in the user's own
    cache if they are installed where the user cannot write, or until the process ends if there is no home either. Code
    is loaded from it: outside the package never from a folder that is another user's or that others can write to."""
    package = Path(__file__).parent
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in _sources())).hexdigest()[:16]
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "ur_admittance"  # noqa: PTH111
    beside = package / "__pycache__"
    for root in filter(Path.is_absolute, (beside, users)):
        folder = root / f"kernels_{digest}"
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
            ours = found.st_uid == os.geteuid() and not found.st_mode & 0o022
            of_package = root == beside and found.st_uid in (os.geteuid(), package.stat().st_uid)
            if (ours or of_package) and os.access(folder, os.W_OK | os.X_OK):
                return str(folder)
    temporary = tempfile.mkdtemp(prefix="ur_admittance_")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary


def stamp() -> str:
    """What compiled code in the cache was made from and for: Numba compiles anew when one of these has changed."""
    files = [(file.name, file.stat().st_mtime, file.stat().st_size) for file in _sources()]
    made_by = (sys.version, numba_version, get_host_cpu_name(), get_host_cpu_features().flatten())
    return hashlib.sha256(repr((files, made_by)).encode()).hexdigest()[:16]


if not config.CACHE_DIR:
    config.CACHE_DIR = _cache_directory()
cache_folder = Path(config.CACHE_DIR)

# NumPy division (1/0 = inf) because a tick must not raise; no fastmath, so that a replay agrees to the last bit.
# Nobody takes a kernel for a C function: without a wrapper for that, compiling is quicker.
_compiled = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)


class _Cache(FunctionCache):
    """Numba's own, but what only compiling needs is not loaded with compiled code: 50 MB that a loop never uses."""

    def load_overload(self, sig, target_context):
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def kernel(function):
    compiled = _compiled(function)
    if not config.DISABLE_JIT:
        compiled._cache = _Cache(function)
    return compiled


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
row_table, two_places = _stack_array(ROWS, 9), _stack_array(2, 3)
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
