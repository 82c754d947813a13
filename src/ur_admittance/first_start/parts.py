"""The parts of the compiled controller: each kernel, the arguments it is compiled for, and how long that takes.

parts.txt was measured (python -m benchmarks.parts --write), one kernel per line: name, seconds, then for each way in
which it is called the types of its arguments,
    f i b  a number or a truth value      =3   that very integer     a2   an array with two dimensions
    3x3    an array inside a record       STATE   a record           STATE[]   an array of records
    Pose(a2,a1)   a tuple, with its name if it has one
A list that is not current costs time and nothing else: what is not in it is compiled where it is needed.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import from_dtype, types

from ur_admittance.core import known_record, records
from ur_admittance.core.checks import Finding
from ur_admittance.core.contact import contact_record
from ur_admittance.core.law import led_record
from ur_admittance.core.law.twist import LawStep
from ur_admittance.core.limits import shapes_record
from ur_admittance.core.limits.choose import Middle
from ur_admittance.core.motion import drive_record
from ur_admittance.core.spatial import Pose
from ur_admittance.core.wrench import fusion_record

ROOT = "ur_admittance."
FILE = Path(__file__).with_name("parts.txt")
CALLED_FROM_PYTHON = {"core.motion.sending.plan_to_rest"}  # in each cycle: by the trajectories over ROS
FAILED = "!"  # before the name of a part that could not be compiled
TUPLES = {kind.__name__: kind for kind in (Finding, LawStep, Middle, Pose)}
SCALARS = {"f": types.float64, "i": types.int64, "b": types.boolean}


@dataclass(frozen=True)
class Part:
    name: str  # of the kernel, from the package on
    seconds: float  # of one core, without what it calls
    signatures: tuple[tuple[str, ...], ...]

    @property
    def kernel(self) -> Any:
        module, _, function = self.name.rpartition(".")
        return getattr(import_module(ROOT + module), function)

    @property
    def exists(self) -> bool:
        """Not a name from a list that is older than the kernels."""
        try:
            return hasattr(self.kernel, "py_func")
        except (ImportError, AttributeError):
            return False

    def compile(self) -> None:
        for signature in self.signatures:
            self.kernel.compile(tuple(argument(code) for code in signature))

    @property
    def inner(self) -> bool:
        """Only other kernels call it in a loop: one of the core, which is not given the loop's records."""
        of_core = self.name.startswith("core.") and self.name not in CALLED_FROM_PYTHON
        return of_core and not any(code.endswith("[]") for signature in self.signatures for code in signature)

    def calls(self) -> set[str]:
        """Names of the kernels that it calls itself."""
        function = self.kernel.py_func
        called = (function.__globals__.get(name) for name in function.__code__.co_names)
        return {name_of(kernel) for kernel in called if hasattr(kernel, "py_func")}


def name_of(kernel: Any) -> str:
    return f"{kernel.py_func.__module__.removeprefix(ROOT)}.{kernel.py_func.__name__}"


@cache
def all_parts() -> dict[str, Part]:
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        head, *ways = line.split(" | ")
        name, seconds = head.split()
        found[name] = Part(name, float(seconds), tuple(tuple(way.split()) for way in ways))
    return found


@cache
def record_types() -> dict[str, Any]:
    dtypes = {
        name: value
        for module in (contact_record, drive_record, fusion_record, known_record, led_record, shapes_record, records)
        for name, value in vars(module).items()
        if getattr(value, "names", None)
    }
    return {name: from_dtype(dtype) for name, dtype in dtypes.items()}


def argument(code: str) -> Any:
    """The type of an argument."""
    if code in SCALARS:
        return SCALARS[code]
    if code.startswith("="):
        return types.IntegerLiteral(int(code[1:]))
    if code.startswith("a"):
        return types.Array(types.float64, int(code[1:]), "C")
    if code[0].isdigit():
        return types.NestedArray(types.float64, tuple(int(size) for size in code.split("x")))
    if code.endswith(")"):
        name, _, inside = code[:-1].partition("(")
        inner = [argument(part) for part in inside.split(",")]
        return types.BaseTuple.from_types(inner, TUPLES.get(name))  # type: ignore[no-untyped-call]
    record = record_types()[code.removesuffix("[]")]
    return types.Array(record, 1, "C") if code.endswith("[]") else record


def code_of(kind: Any) -> str:
    """The opposite of ``argument``."""
    for code, scalar in SCALARS.items():
        if kind == scalar:
            return code
    if isinstance(kind, types.IntegerLiteral):
        return f"={kind.literal_value}"
    if isinstance(kind, types.NestedArray):
        return "x".join(str(size) for size in kind.shape)
    if isinstance(kind, types.Tuple | types.UniTuple | types.NamedTuple):
        name = kind.instance_class.__name__ if hasattr(kind, "instance_class") else ""
        return f"{name}({','.join(code_of(inner) for inner in kind.types)})"
    of_records = isinstance(kind, types.Array) and isinstance(kind.dtype, types.Record)
    for name, record in record_types().items():
        if record == (kind.dtype if of_records else kind):
            return f"{name}[]" if of_records else name
    return f"a{kind.ndim}"
