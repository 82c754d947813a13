"""How the kernels are compiled, and arrays that live on the stack.

``NUMBA_DISABLE_JIT=1`` turns every kernel into the plain Python it is written in: slow, but it can be stepped
through in a debugger.
"""

from numba import carray, config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
import numpy as np

# numpy division (1/0 = inf) because a tick may not raise; no fastmath, so that a replay agrees to the last bit.
kernel = njit(nogil=True, cache=True, error_model="numpy")


@intrinsic(prefer_literal=True)
def _stack_doubles(typing_context, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def codegen(context, builder, signature, arguments):
        return cgutils.alloca_once(builder, context.get_value_type(types.float64), size=size)

    return types.CPointer(types.float64)(count), codegen


if config.DISABLE_JIT:

    def vec3():
        return np.empty(3)

    def vec6():
        return np.empty(6)

    def mat3():
        return np.empty((3, 3))

    def mat6():
        return np.empty((6, 6))

else:

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
