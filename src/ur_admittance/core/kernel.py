"""Kernels: what a loop calls 500 times a second, written in the part of Python that Numba compiles.

The Python text is the only source. It runs in three forms, which give the same bits:

    the library    one shared library without Python, made of it once (library.py); C programs call it too
    Numba          for the laboratory's batches (ur_admittance.compiler.numba_form)
    plain Python   UR_ADMITTANCE_PLAIN=1: slow, but it can be stepped through in a debugger

    @kernel                         for other kernels; called from Python it is plain Python
    @kernel(PARAMS, (6,), float)    in the library too, as ur_<name>: for Python and C, with such arguments
"""

import ctypes
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance import library

Record = np.void | NDArray[np.void]  # one record: array[0], or the array of length 1 that holds it


def whole(record: Record) -> NDArray[Any]:
    """A record as the array of length 1 that holds it: a view, whichever form is given."""
    base = record if isinstance(record, np.ndarray) else record.base
    if not isinstance(base, np.ndarray) or base.shape != (1,) or base.dtype != record.dtype:
        raise TypeError("a record of the loop must come from core.records.new()")
    return base


KERNELS: list[Any] = []  # all that were imported
EXPORTED: dict[str, "Exported"] = {}  # those in the library, by the name that C knows
SCRATCH: list[Any] = []  # functions that make arrays on the stack

SCALARS = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_int64}


def kernel(*kinds, name="", returns=None):
    """kinds of its arguments: the dtype of a record, the shape of an array of doubles, float, int or bool.
    name: for C, without ur_; its own if none is given."""
    if len(kinds) == 1 and callable(kinds[0]) and kinds[0] not in SCALARS:
        KERNELS.append(kinds[0])
        return kinds[0]
    return lambda function: Exported(function, kinds, name or function.__name__, returns)


class Exported:
    """A kernel that Python calls. A record is given as the array of length 1 that holds it, or as that array's [0]."""

    def __init__(self, function, kinds, name, returns):
        update_wrapper(self, function)
        self.py_func, self.kinds, self.name, self.returns = function, kinds, f"ur_{name}", returns
        if EXPORTED.setdefault(self.name, self) is not self:
            raise TypeError(f"two kernels are called {self.name}")
        KERNELS.append(self)

    def __call__(self, *arguments):
        """With a look at every argument, some microseconds; a loop binds them once with ``on``."""
        arrays = sum(kind not in SCALARS for kind in self.kinds)
        return self.on(*arguments[:arrays])(*arguments[arrays:])

    def on(self, *arrays) -> Callable[..., Any]:
        """The call with these records and arrays, for a loop: in C, their addresses; only the numbers behind them are
        given each time."""
        if len(arrays) > len(self.kinds):
            raise TypeError(f"{self.name}: takes {len(self.kinds)} arguments")
        kinds = self.kinds[: len(arrays)]
        if library.PLAIN:
            return partial(self.py_func, *map(_plain, kinds, arrays))
        pointers = [_address(self.name, kind, array) for kind, array in zip(kinds, arrays, strict=True)]
        call: Any = partial(self._function, *pointers)
        call.arrays = arrays  # alive as long as the call
        return call

    @cached_property
    def _function(self):
        function = library.load()[self.name]
        function.argtypes = [SCALARS.get(kind, ctypes.c_void_p) for kind in self.kinds]
        function.restype = SCALARS.get(self.returns)
        return function


def _plain(kind, argument):
    """A record whose fields are attributes, as in compiled code."""
    if not isinstance(kind, np.dtype) or isinstance(argument, np.record):  # given by another kernel
        return argument
    return whole(argument).view(np.recarray)[0]


def _address(name, kind, argument):
    """Checked: a wrong one would be written to."""
    dtype, shape = (kind, (1,)) if isinstance(kind, np.dtype) else (np.dtype(np.float64), kind)
    array = whole(argument) if isinstance(kind, np.dtype) else argument
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        given = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name}: got {given}, must be {dtype} {shape}")
    if not array.flags.c_contiguous or (isinstance(kind, np.dtype) and not array.flags.writeable):
        raise TypeError(f"{name}: got an array with gaps, or a record that must not be written to")
    return ctypes.c_void_p(array.ctypes.data)


ROWS = 56  # inequalities of the constrained solve
NEAR = 12  # of them for pairs of bodies that are near


def _stack_array(*shape):
    """A function for kernels: an uninitialised array on the stack, gone when the kernel returns. Never return it."""

    def array():
        return np.empty(shape)

    array.shape = shape
    SCRATCH.append(array)
    return array


vec3, vec6, vec7 = _stack_array(3), _stack_array(6), _stack_array(7)
mat3, mat6, mat7 = _stack_array(3, 3), _stack_array(6, 6), _stack_array(7, 7)
row_table, two_places = _stack_array(ROWS, 9), _stack_array(2, 3)
ends, per_near = _stack_array(8, 2, 3), _stack_array(NEAR)  # ends: both of the segments of all capsules


def record(records, i):
    """One record, to be handed to another kernel: what the same function writes into its arrays would be lost."""
    return records.view(np.recarray)[i]


def from_here(field, count):
    """The ``count`` doubles of a record that begin with this field, as one array."""
    return np.lib.stride_tricks.as_strided(field, (count,), (8,))


def doubles_at(address, shape):
    """The array of doubles at an address, in memory that is not ours."""
    return np.ctypeslib.as_array(ctypes.cast(int(address), ctypes.POINTER(ctypes.c_double)), shape)


def call_at(address, first, second):
    """Call the C function void f(void *, void *) at an address."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(int(address))(int(first), int(second))
