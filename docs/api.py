"""The Python reference as Markdown: signatures and comments as they stand in the source, docstrings below them."""

import ast
import importlib
import inspect
import re
import sys
from dataclasses import is_dataclass
from textwrap import dedent
from types import ModuleType
from typing import Any

FRONT = {"ur_admittance.": "ua", "ur_admittance_lab.": "lab"}
CONSTANT = re.compile(r"(?<== )(?:\w+\.)?[A-Z][A-Z_]+[A-Z](?=[,)\s]|$)")
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def reference(argument: str) -> str:
    """`ur_admittance.World push reset`: a class with these members; without names: with all public ones."""
    path, *only = argument.split()
    thing = find(path)
    if not isinstance(thing, ModuleType):
        return entry(thing, title(path), only)
    own = [thing for name, thing in vars(thing).items() if not name.startswith("_")]
    own = [member for member in own if getattr(member, "__module__", "") == path and hasattr(member, "__qualname__")]
    sections = [entry(member, f"{title(path)}.{member.__name__}", only) for member in own]
    return "\n\n".join([f"`{title(path)}`: {inspect.getdoc(thing)}", *sections])


def find(path: str) -> Any:
    parts, thing = path.split("."), None
    for count in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            thing = getattr(thing, name)
        return thing
    raise LookupError(f"{path}: there is no such module.")


def title(path: str) -> str:
    """Names of the front door are told as one writes them."""
    for front, short in FRONT.items():
        name = path.removeprefix(front)
        if name != path and "." not in name:
            return f"{short}.{name}"
    return path


def entry(thing: Any, name: str, only: list[str]) -> str:
    parts = [f"### `{name}`"]
    if not inspect.isclass(thing):
        return "\n\n".join([*parts, code(signature(*node_of(thing), name, thing)), inspect.getdoc(thing) or ""])
    if made := constructor(thing, name):
        parts.append(code(made))
    parts.append(ast.get_docstring(node_of(thing)[0]) or "")  # a dataclass without one would tell its fields again
    if "__init__" in vars(thing):
        parts.append(inspect.cleandoc(thing.__init__.__doc__ or ""))
    members = [member(thing, each) for each in only or public(thing)]
    return "\n\n".join(part for part in [*parts, *members] if part)


def constructor(kind: type, name: str) -> str:
    """With every argument; of a protocol the attributes."""
    maker = next((base for base in ours(kind) if "__init__" in vars(base)), None)
    if is_dataclass(kind):
        fields = [field for base in reversed(ours(kind)) for field in annotated(base)]
        return "\n".join([f"{name}(", *(f"    {text},{comment}" for text, comment in fields), ")"])
    if getattr(kind, "_is_protocol", False):
        return "\n".join(text + comment for text, comment in annotated(kind))
    if maker is None or issubclass(kind, Exception):
        return ""
    tree, source = node_of(maker)
    made = next(node for node in tree.body if isinstance(node, FUNCTION) and node.name == "__init__")
    return signature(made, source, name, maker).removesuffix(" -> None")


def ours(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__module__.startswith(tuple(FRONT))]


def public(kind: type) -> list[str]:
    tree, _ = node_of(kind)
    names = [node.name for node in tree.body if isinstance(node, FUNCTION) and not node.name.startswith("_")]
    return list(dict.fromkeys(names))


def member(kind: type, name: str) -> str:
    owner = next((base for base in ours(kind) if name in vars(base)), None)
    if owner is None:
        raise LookupError(f"{kind.__name__} has no member {name}.")
    tree, source = node_of(owner)
    node = next(node for node in tree.body if isinstance(node, FUNCTION) and node.name == name)
    text = signature(node, source, name, owner)
    if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
        text = text.replace("() ->", ":")
    doc = ast.get_docstring(node) or inspect.getdoc(getattr(kind, name)) or ""
    return "\n\n".join(part for part in (f"#### `{kind.__name__}.{name}`", code(text), doc) if part)


def node_of(thing: Any) -> tuple[Any, str]:
    source = dedent(inspect.getsource(thing))
    return ast.parse(source).body[0], source


def signature(node: Any, source: str, name: str, owner: Any) -> str:
    """As in the source, without self, with the values of named constants."""
    lines = source.splitlines()
    first = node.body[0]
    head = [*lines[node.lineno - 1 : first.lineno - 1], lines[first.lineno - 1][: first.col_offset]]
    text = dedent("\n".join(head)).strip().removesuffix(":")
    text = re.sub(r"\((\s*)(?:self|cls)\b(?:,\s*)?", r"(\1", text, count=1)
    text = re.sub(r'-> "([^"]+)"', r"-> \1", text)
    return constants(name + text.removeprefix("def ").removeprefix(node.name), sys.modules[owner.__module__])


def annotated(kind: type) -> list[tuple[str, str]]:
    """Public annotated names of the class body, with their defaults, and their comments."""
    tree, source = node_of(kind)
    found = []
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            line = source.splitlines()[node.end_lineno - 1 if node.end_lineno else 0]
            comment = line[line.index("#") :] if "  # " in line else ""
            comment = re.sub(r"# noqa: \w+(?: +\(\w+\))?", "", comment).strip()
            text = constants(ast.get_source_segment(source, node) or "", sys.modules[kind.__module__])
            found.append((text, f"  {comment}" if comment else ""))
    return found


def constants(text: str, module: ModuleType) -> str:
    def value(match: re.Match[str]) -> str:
        found: Any = module
        for name in match[0].split("."):
            found = getattr(found, name, None)
        return repr(found) if isinstance(found, (int, float, str, tuple)) else match[0]

    return CONSTANT.sub(value, text)


def code(text: str) -> str:
    return f"```python\n{text}\n```"
