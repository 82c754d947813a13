"""Switching a mechanism off: its source is changed in a process of its own, before anything is compiled.

The product has no switch for it. What the change reaches (the kernels that use it, and those that call them) is
compiled anew without a cache; everything else comes from the cache as ever.
"""

import importlib
import inspect
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import njit
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from ruamel.yaml import YAML

CORE = "ur_admittance.core."

# All kernels that there are: one that is imported later would come from the cache, as it is.
for _name in ("core.tick", "control.kernels", "runtime.kernels"):
    importlib.import_module(f"ur_admittance.{_name}")
importlib.import_module("ur_admittance_lab.episodes.kernels")


@dataclass(frozen=True)
class Mechanism:
    """An entry of mechanisms.yaml, which explains the fields."""

    without: str
    where: list[str]
    constants: dict[str, Any] = field(default_factory=dict)
    edits: dict[str, list[list[str]]] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)
    kept: str = ""


MECHANISMS = {
    name: Mechanism(**entry)
    for name, entry in YAML(typ="safe").load(Path(__file__).with_name("mechanisms.yaml")).items()
}


def find(path: str) -> tuple[ModuleType, str]:
    module, _, name = path.rpartition(".")
    return importlib.import_module(CORE + module), name


def edited(path: str, edits: list[list[str]]) -> Any:
    """The function with its text changed, not compiled."""
    module, name = find(path)
    kernel = getattr(module, name)
    text = textwrap.dedent(inspect.getsource(getattr(kernel, "py_func", kernel)))
    text = text[text.index("def ") :]
    for old, new in edits:
        if old not in text:
            raise LookupError(f"core.{path} has no {old!r}: the mechanism has changed")
        text = text.replace(old, new)
    found: dict[str, Any] = {}
    exec(compile(text, str(module.__file__), "exec"), module.__dict__, found)
    return found[name]


def switch_off(mechanism: Mechanism) -> set[str]:
    """Call before the first tick of the process. Returns the names of the kernels that are compiled anew."""
    touched: set[tuple[int, str]] = set()  # (globals of a module, name in it)
    for path, value in mechanism.constants.items():
        module, name = find(path)
        touched |= replace(getattr(module, name), tuple(value) if isinstance(value, list) else value, name)
    for path, edits in mechanism.edits.items():
        module, name = find(path)
        touched |= replace(getattr(module, name), njit(nogil=True, error_model="numpy")(edited(path, edits)))
    # Tests have kernels of their own around the tick: these are not cached either.
    setattr(Dispatcher, "enable_caching", lambda kernel: None)  # noqa: B010
    return compile_anew(touched)


def ours() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith("ur_admittance")]


def replace(old: Any, new: Any, only: str = "") -> set[tuple[int, str]]:
    """Wherever a module has imported it; a number may be the same object by chance, so its name counts, too."""
    touched = set()
    for module in ours():
        for name in [name for name, value in vars(module).items() if value is old and name == (only or name)]:
            setattr(module, name, new)
            touched.add((id(vars(module)), name))
    return touched


def compile_anew(touched: set[tuple[int, str]]) -> set[str]:
    """Takes the cache from every kernel that a touched name reaches."""
    every = {id(kernel): kernel for module in ours() for kernel in vars(module).values() if hasattr(kernel, "py_func")}
    anew: set[int] = set()
    before = -1
    while len(anew) > before:
        before = len(anew)
        for key, kernel in every.items():
            known = kernel.py_func.__globals__
            names = kernel.py_func.__code__.co_names
            if any((id(known), name) in touched or id(known.get(name)) in anew for name in names):
                anew.add(key)
    for key in anew:
        every[key]._cache = NullCache()
    return {every[key].py_func.__name__ for key in anew}
