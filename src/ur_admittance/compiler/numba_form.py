"""Kernels for Numba: the one place that knows how it compiles them. For the library, and for the laboratory's batches.

A kernel stays the Python function that it is. Here it gets, as ``_numba_type_``, what Numba takes it for where another
kernel calls it; the small functions of core/kernel.py get what they are in compiled code.
"""

import ctypes
import math
import threading
from typing import Any

import numpy as np

from ur_admittance.errors import LibraryError

try:
    import numba
except ImportError:
    raise LibraryError("this part of the laboratory needs Numba: pip install 'ur-admittance[compiler]'") from None
import llvmlite.binding as llvm
import llvmlite.ir as ir
from numba import carray, from_dtype, njit, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, overload, type_callable
from numba.np.arrayobj import populate_array

from ur_admittance import library
from ur_admittance.core import kernel as plain

# NumPy division (1/0 = inf) because a tick must not raise; no fastmath, so that a replay agrees to the last bit.
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
LOCK = threading.RLock()  # two threads may want their first kernel at once
DISPATCHERS: list[Any] = []  # of plain.KERNELS, in their order; Numba keeps only weak references
BUILTIN = {float: types.float64, int: types.int64, bool: types.int64}


def _register_scratch(function: Any) -> None:
    shape = function.shape
    array_type = types.Array(types.float64, len(shape), "C")
    strides = [8 * math.prod(shape[i + 1 :]) for i in range(len(shape))]

    @type_callable(function)
    def typed(context):
        return lambda: array_type

    @lower_builtin(function)
    def allocate(context, builder, signature, arguments):
        def constants(numbers):
            return [context.get_constant(types.intp, number) for number in numbers]

        data = cgutils.alloca_once(builder, context.get_value_type(types.float64), size=math.prod(shape))
        array = context.make_array(array_type)(context, builder)
        [size] = constants([8])
        populate_array(array, data, constants(shape), constants(strides), size, None)
        return array._getvalue()


@intrinsic
def _address(typing_context, field):
    def codegen(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(types.float64)(field), codegen


@intrinsic
def _pointer(typing_context, address):
    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float64)(address), codegen


@intrinsic
def _call(typing_context, address, first, second):
    def codegen(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        function = builder.inttoptr(arguments[0], ir.FunctionType(ir.VoidType(), [pointer, pointer]).as_pointer())
        builder.call(function, [builder.inttoptr(argument, pointer) for argument in arguments[1:]])
        return context.get_dummy_value()

    return types.void(address, first, second), codegen


@overload(plain.record, inline="always")
def _record(records, i):
    return lambda records, i: records[i]


@overload(plain.from_here, inline="always")
def _from_here(field, count):
    return lambda field, count: carray(_address(field), (count,))


@overload(plain.doubles_at, inline="always")
def _doubles_at(address, shape):
    return lambda address, shape: carray(_pointer(address), shape)


@overload(plain.call_at, inline="always")
def _call_at(address, first, second):
    return lambda address, first, second: _call(address, first, second)


def type_of(kind: Any) -> Any:
    """How C hands over an argument of this kind."""
    if isinstance(kind, np.dtype):
        return types.CPointer(from_dtype(kind))
    return types.CPointer(types.float64) if isinstance(kind, tuple) else BUILTIN[kind]


def wrapper(exported: plain.Exported) -> Any:
    """A function of addresses and numbers that calls the kernel with records and arrays."""
    names = [f"a{i}" for i in range(len(exported.kinds))]
    handed = []
    for name, kind in zip(names, exported.kinds, strict=True):
        if isinstance(kind, np.dtype):
            handed.append(f"carray({name}, 1)[0]")
        else:
            handed.append(f"carray({name}, {kind!r})" if isinstance(kind, tuple) else name)
    call = f"kernel({', '.join(handed)})"
    text = f"def call({', '.join(names)}):\n    {'return ' if exported.returns else ''}{call}\n"
    found: dict[str, Any] = {}
    exec(text, {"carray": carray, "kernel": exported}, found)
    return found["call"]


def signature(exported: plain.Exported) -> Any:
    return BUILTIN.get(exported.returns, types.void)(*map(type_of, exported.kinds))


def compiled(function: Any, **options: Any) -> Any:
    """A kernel, or any function that calls kernels, compiled by Numba: for batches and tests. Cached with the library,
    because Numba looks only at the file of the outermost function. As it is where kernels run as plain Python."""
    if library.PLAIN:
        return getattr(function, "py_func", function)
    register()
    numba.config.CACHE_DIR = str(library.folder() / "numba")
    kept = {"cache": True} | OPTIONS | options
    return njit(**kept)(getattr(function, "py_func", function))


def through_library(*exported: plain.Exported) -> None:
    """Kernels that Numba calls in the library instead of compiling them: all their arguments are records."""
    if library.PLAIN:
        return
    register()
    for one in exported:
        address = ctypes.cast(library.load()[one.name], ctypes.c_void_p).value
        llvm.add_symbol(one.name, address)
        arguments = [from_dtype(kind) if isinstance(kind, np.dtype) else type_of(kind) for kind in one.kinds]
        one._numba_type_ = types.ExternalFunction(one.name, BUILTIN.get(one.returns, types.void)(*arguments))


def register() -> None:
    """Make all kernels that were imported known to Numba."""
    with LOCK:
        if not DISPATCHERS:
            for function in plain.SCRATCH:
                _register_scratch(function)
        for function in plain.KERNELS[len(DISPATCHERS) :]:
            inner = njit(no_cpython_wrapper=True, **OPTIONS)  # Python never calls them
            DISPATCHERS.append(inner(getattr(function, "py_func", function)))
            function._numba_type_ = DISPATCHERS[-1]._numba_type_
