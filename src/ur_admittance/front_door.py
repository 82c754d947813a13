"""The public names of a package: listed once, in its __init__.pyi, and loaded when they are first used."""

import ast
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module, resources
from typing import Any


def opened(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """__getattr__, __dir__ and __all__ of a package; each line of its stub is `from MODULE import NAME as NAME`."""
    stub = ast.parse(resources.files(package).joinpath("__init__.pyi").read_text(encoding="utf-8"))
    home = {line.names[0].name: line.module or "" for line in stub.body if isinstance(line, ast.ImportFrom)}
    names = sorted({*home, *(line.target.id for line in stub.body if isinstance(line, ast.AnnAssign))})  # type: ignore[union-attr]
    module = import_module(package)

    def get(name: str) -> Any:
        if name in home:
            inner = f"{package}.{name}"
            value = import_module(inner) if home[name] == package else getattr(import_module(home[name]), name)
            setattr(module, name, value)
            return value
        near = [known for known in names if name.lower() in known.lower()] or get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        # without `obj` Python adds no second hint of its own
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name)

    return get, lambda: sorted({*vars(module), *names}), names
