"""The header for C, made from the types of the records, and the functions that C calls."""

import json
import shutil
from enum import IntEnum
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from ur_admittance import library
from ur_admittance.core import faults, kernel, known_record, records
from ur_admittance.core.contact import contact_record
from ur_admittance.core.law import led_record
from ur_admittance.core.limits import shapes_record
from ur_admittance.core.limits.shapes_record import BODIES
from ur_admittance.core.motion import drive_record, response_record
from ur_admittance.core.wrench import fusion_record, vibration_record

RECORD_MODULES = (
    contact_record, drive_record, fusion_record, known_record, led_record, response_record, shapes_record,
    vibration_record, records,
)  # fmt: skip
ENUMS: Any = (
    records.Mode, records.Request, records.Status, records.Limit, records.Frame, records.Integrator, records.Enable
)  # fmt: skip
NUMBERS = {np.dtype(np.float64): "double", np.dtype(np.int64): "int64_t"}
FOR_C = ("ur_tick", "ur_send", "ur_forward", "ur_nearest", "ur_plan_to_rest")  # the others belong to this package
HEADER = "ur_admittance.h"
CMAKE = "ur_admittance-config.cmake"  # what CMake's find_package(ur_admittance) reads
HERE = Path(__file__).parent


def write(folder: Path) -> list[Path]:
    """What a C program needs beside the library."""
    (folder / HEADER).write_text(header())
    shutil.copyfile(HERE / CMAKE, folder / CMAKE)
    return [folder / HEADER, folder / CMAKE]


def names() -> dict[Any, str]:
    """The records' names in C, those that are part of others first."""
    found: dict[Any, str] = {}
    for module in RECORD_MODULES:
        for name, value in vars(module).items():
            if isinstance(value, np.dtype) and value.names and value not in found:
                found[value] = f"ur_{name.lower()}"
    return found


def header() -> str:
    types = names()
    parts = [
        "/* ur_admittance: one cycle of the controller. Made from its records: do not edit.",
        "   SI units, radians; six-vectors are linear first. What the fields mean: ur_admittance/core/records.py */",
        "#ifndef UR_ADMITTANCE_H\n#define UR_ADMITTANCE_H",
        "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>",
        '#ifdef __cplusplus\n#define UR_ASSERT static_assert\nextern "C" {',
        "#else\n#define UR_ASSERT _Static_assert\n#endif",
        *map(enum, ENUMS),
        *(struct(dtype, name, types) for dtype, name in types.items()),
        "/* Never blocks, allocates or raises. state: zeroed before the first call; the others as ur-admittance\n"
        "   params record writes them, and as the robot reports. A failure inside is for ever: the arm brakes and\n"
        "   command.status is UR_STATUS_INTERNAL_ERROR. */",
        *(f"{prototype(kernel.EXPORTED[name], types)};" for name in FOR_C),
        f'#define UR_DIGEST "{library.digest()}" /* of the Python text that this header was made from */',
        "extern const char ur_digest[]; /* and the library */",
        (HERE / "read_params.h").read_text().strip(),
        sentences(),
        "#ifdef __cplusplus\n}\n#endif\n#endif\n",
    ]
    return "\n\n".join(parts)


def enum(kind: type[IntEnum]) -> str:
    prefix = f"UR_{kind.__name__.upper()}_"
    members = ", ".join(f"{prefix}{name} = {int(value)}" for name, value in kind.__members__.items())
    return f"enum ur_{kind.__name__.lower()}_code {{ {members} }};"


def struct(dtype: Any, name: str, types: dict[Any, str]) -> str:
    fields, checks = [], []
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        base, shape = kind.subdtype or (kind, ())
        place = f"{c_name(field)}{''.join(f'[{size}]' for size in shape)}"
        fields.append(f"    {NUMBERS.get(base) or types[base]} {place};")
        checks.append(f'UR_ASSERT(offsetof({name}, {c_name(field)}) == {offset}, "{name}.{field}");')
    checks.append(f'UR_ASSERT(sizeof({name}) == {dtype.itemsize}, "{name}");')
    return "\n".join([f"typedef struct {name} {{", *fields, f"}} {name};", *checks])


NUMBER_IN_C = {
    "0": "e[0]",
    "1": "e[1]",
    "0ms": "1e3 * e[0]",
    "1ms": "1e3 * e[1]",
    "0mm": "1e3 * e[0]",
    "1mm": "1e3 * e[1]",
}
WORD_IN_C = {
    "input": "ur_word(ur_inputs, UR_INPUTS, e[0])",
    "first": "ur_word(ur_bodies, UR_BODIES, fmod(e[0], 16.0))",
    "second": "ur_word(ur_bodies, UR_BODIES, floor(e[0] / 16.0))",
    "closed": '"something is in its way"',
}


def sentences() -> str:
    """core/faults.py in C, without what made a hit unavoidable and what closes the way of a retreat."""
    tables = [
        f"enum {{ UR_{name.upper()} = {len(words)} }};\n"
        f"static const char *const ur_{name}[] = {{{', '.join(map(json.dumps, words))}}};"
        for name, words in (("inputs", faults.INPUTS), ("bodies", BODIES))
    ]
    cases = [
        f"    case UR_STATUS_{status.name}: return snprintf(text, size, {in_c(words)});"
        for status, words in faults.SENTENCES.items()
    ]
    return "\n".join(
        [
            "/* A status with its evidence (of STATE or COMMAND) in one sentence; like snprintf. */",
            *tables,
            "static inline const char *ur_word(const char *const *words, int count, double which) {",
            '    return which >= 0.0 && which < count ? words[(int)which] : "something";',
            "}",
            "static inline int ur_sentence(char *text, size_t size, int64_t status, const double *e) {",
            "    switch (status) {",
            *cases,
            '    default: return snprintf(text, size, "unknown status %d", (int)status);',
            "    }",
            "}",
        ]
    )


def in_c(words: str) -> str:
    """A sentence with {fields} as the arguments of printf."""
    text = ""
    values: list[str] = []
    for literal, field, kind, _ in Formatter().parse(words):
        text += literal.replace("%", "%%")
        if field in WORD_IN_C:
            text, values = f"{text}%s", [*values, WORD_IN_C[field]]
        elif field is not None and kind is not None:
            percent = kind.endswith("%")
            text += f"%{kind[:-1]}f%%" if percent else f"%{kind}"
            values.append(f"1e2 * {NUMBER_IN_C[field]}" if percent else NUMBER_IN_C[field])
    return ", ".join([json.dumps(text), *values])


def c_name(field: str) -> str:
    """As it is, but for words that C++ keeps for itself."""
    return f"{field}_" if field in ("new", "class", "template", "this", "operator") else field


def prototype(exported: kernel.Exported, types: dict[Any, str], name: str = "") -> str:
    given = exported.py_func.__code__.co_varnames[: len(exported.kinds)]
    arguments = ", ".join(argument(kind, c_name(word), types) for kind, word in zip(exported.kinds, given, strict=True))
    result = {None: "void", float: "double"}.get(exported.returns, "int64_t")
    return f"{result} {name or exported.name}({arguments})"


def argument(kind: Any, word: str, types: dict[Any, str]) -> str:
    if isinstance(kind, np.dtype):
        return f"{types.get(kind, 'void')} *{word}"
    if isinstance(kind, tuple):
        return f"double *{word}" if len(kind) == 1 else f"double {word}[{']['.join(map(str, kind))}]"
    return f"{'double' if kind is float else 'int64_t'} {word}"


def calls(digest: str, functions: list[str], variables: list[str]) -> str:
    """The functions of the library: each calls its kernel; the tick looks whether one has failed. functions, variables:
    those of Python's error path, here a loud end."""
    types = names()
    lines = [
        '#include "ur_admittance.h"',
        '#define VISIBLE __attribute__((visibility("default")))',
        f'VISIBLE const char ur_digest[] = "{digest}";',
        "int ur_failed(void);\nvoid *ur_fail(const char *);",
        "void ur_brake(ur_params *, ur_state *, ur_sample *, ur_command *);",
        *(f'void *{name}(void) {{ return ur_fail("{name}"); }}' for name in functions),
        *(f"void *{name};" for name in variables),
    ]
    for name, exported in sorted(kernel.EXPORTED.items()):
        given = ", ".join(map(c_name, exported.py_func.__code__.co_varnames[: len(exported.kinds)]))
        lines.append(f"{prototype(exported, types, f'compiled_{name}')};")
        call = f"compiled_{name}({given});"
        body = f"return {call}" if exported.returns else call
        if name == "ur_tick":
            brake = "if (ur_failed()) { *c = last; ur_brake(p, s, u, c); }"
            body = f"ur_command last = *c; if (!ur_failed()) {call} {brake}"
        lines.append(f"VISIBLE {prototype(exported, types)} {{ {body} }}")
    return "\n".join(lines) + "\n"
