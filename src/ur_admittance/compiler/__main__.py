"""python -m ur_admittance.compiler FILE [--machine aarch64]    the shared library, with progress on stdout: 0.42;
                                                               beside it what a C program needs to be built with it

Numba compiles each exported kernel into LLVM's language, for any processor of the kind; LLVM links and translates them;
the computer's C compiler, or Zig's (pip install ziglang: any machine, any age of its C library), makes the library.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before Numba is loaded: the same code on every computer, with the bits of this one (no fastmath, no contraction),
# whatever a user has set for programs of his own.
for name in [name for name in os.environ if name.startswith("NUMBA_")]:
    del os.environ[name]
os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = "generic", ""
os.environ.pop("UR_ADMITTANCE_PLAIN", None)

import llvmlite.binding as llvm  # noqa: E402
from numba import cfunc  # noqa: E402
from numba.core import event  # noqa: E402

from ur_admittance import library  # noqa: E402
from ur_admittance.compiler import c_header, numba_form  # noqa: E402
from ur_admittance.core import kernel  # noqa: E402

GLIBC = "2.28"  # the oldest C library for which a wheel is made: manylinux_2_28
KERNELS = (  # modules whose kernels Python calls; those they call follow
    "ur_admittance.core.tick",
    "ur_admittance.core.limits.obstacles",
    "ur_admittance.core.motion.sending",
    "ur_admittance.control.kernels",
    "ur_admittance.runtime.kernels",
    "ur_admittance.robots.simulated.kernels.plant",
    "ur_admittance.robots.simulated.kernels.controller_box",
)
ERROR_PATH = re.compile(r"_?Py[A-Z_]|NRT_|numba_")  # what compiled code calls to raise and to allocate
FROM_C = ("NRT_decref",)  # in error_path.c: by now LLVM has made it for this computer's processor
HERE = Path(__file__).parent
TRANSLATING = 0.9  # share of the work that is done when LLVM has all kernels


def import_kernels() -> None:
    for module in KERNELS:
        __import__(module)


class Counter(event.Listener):
    """Prints the share that is done: every kernel is compiled about once."""

    def __init__(self, parts: int) -> None:
        self.done, self.parts = 0, parts

    def on_start(self, event: event.Event) -> None:
        pass

    def on_end(self, event: event.Event) -> None:
        self.done += 1
        say(TRANSLATING * min(1.0, self.done / self.parts))


def say(share: float) -> None:
    print(f"{share:.3f}", flush=True)  # noqa: T201


def translate(machine: str) -> tuple[bytes, list[str], list[str]]:
    """All exported kernels as one object file; functions and variables of Python's error path that it names."""
    import_kernels()
    numba_form.register()
    whole = None
    with event.install_listener("numba:compile", Counter(len(kernel.KERNELS))):
        for name, exported in sorted(kernel.EXPORTED.items()):
            to_c: Any = cfunc(numba_form.signature(exported), error_model="numpy")
            made = to_c(numba_form.wrapper(exported))
            module = llvm.parse_assembly(made.inspect_llvm())
            module.get_function(made._wrapper_name).name = inner(name)
            for one in (*module.functions, *module.global_variables):
                if one.name == inner(name):
                    one.visibility = "hidden"
                elif not one.is_declaration:
                    one.linkage = "available_externally" if one.name in FROM_C else "internal"
            if whole is None:
                whole = module
            else:
                whole.link_in(module)
    assert whole is not None
    if machine != platform.machine():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    else:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    whole.triple = f"{machine}-unknown-linux-gnu"
    kind = llvm.Target.from_triple(whole.triple)
    target = kind.create_target_machine(cpu="generic", opt=3, reloc="pic", codemodel="small")
    whole.data_layout = str(target.target_data)
    functions = [one.name for one in whole.functions if one.is_declaration and ERROR_PATH.match(one.name)]
    variables = [one.name for one in whole.global_variables if one.is_declaration and ERROR_PATH.match(one.name)]
    return bytes(target.emit_object(whole)), functions, variables


def inner(name: str) -> str:
    """Of the translated kernel, behind the function that C calls."""
    return f"compiled_{name}"


def link(code: bytes, error_path: tuple[list[str], list[str]], file: Path, machine: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        object_file, shim = Path(folder) / "kernels.o", Path(folder) / "calls.c"
        object_file.write_bytes(code)
        shim.write_text(c_header.calls(library.digest(), *error_path))
        for_c = c_header.write(Path(folder))
        made = Path(folder) / library.NAME
        sources = [str(shim), str(HERE / "error_path.c"), str(object_file)]
        flags = [f"-I{folder}", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-s"]
        linking = ["-Wl,--no-undefined", "-Wl,--gc-sections", f"-Wl,-soname,{library.NAME}"]
        run([*compiler(machine), *flags, *linking, *sources, "-lm", "-o", str(made)])
        for source, target in [*((one, file.with_name(one.name)) for one in for_c), (made, file)]:
            beside = target.with_suffix(f".{os.getpid()}")
            shutil.copy(source, beside)
            with beside.open("rb") as written:
                os.fsync(written.fileno())
            beside.replace(target)  # at once: nobody sees half of it


def compiler(machine: str) -> list[str]:
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
    found = next(filter(None, map(shutil.which, (os.environ.get("CC") or "cc", "gcc", "clang"))), None)
    if found is None or machine != platform.machine():
        raise SystemExit("no C compiler: install gcc (Debian: sudo apt-get install gcc), or: pip install ziglang")
    return [found]


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--machine", default=platform.machine(), help="x86_64 or aarch64; another one needs ziglang")
    chosen = parser.parse_args()
    compiler(chosen.machine)  # is there one? Before a minute of work
    code, *error_path = translate(chosen.machine)
    say(0.95)
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    link(code, (error_path[0], error_path[1]), chosen.file, chosen.machine)
    say(1.0)


if __name__ == "__main__":
    main()
