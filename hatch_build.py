"""The readme for the package index, which has no files beside it: links become absolute, to the tag of the version. And
wheels for one kind of computer, with the compiled controller in them."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TARGET = re.compile(r'(\]\(|\b(?:href|src|srcset)=")(?!\w+:)([^)"\s]+)')  # of a link or a picture
PICTURES = {".gif", ".jpg", ".png", ".svg", ".webp"}


class AbsoluteLinks(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        root, home = Path(self.root), metadata["urls"]["Homepage"]
        version = re.search(r'^__version__ = "(.+)"', (root / "src/ur_admittance/__init__.py").read_text(), re.M)
        assert version

        def absolute(match: re.Match[str]) -> str:
            name = match[2] if match[2][0] != "#" else f"README.md{match[2]}"
            path = root / name.partition("#")[0]
            kind = "tree" if path.is_dir() else "raw" if path.suffix in PICTURES else "blob"
            return f"{match[1]}{home}/{kind}/v{version[1]}/{name}"

        text = TARGET.sub(absolute, (root / "README.md").read_text())
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


MACHINE = os.environ.get("UR_ADMITTANCE_MACHINE", "")  # x86_64 or aarch64: a wheel for others too
IMPORTED = ("numba", "numpy", "pydantic", "ruamel.yaml", "mujoco", "ruckig")  # with the kernels
OLDEST_GLIBC = 28  # 2.28, that of the other packages' wheels


class CompiledController(BuildHookInterface[Any]):
    """An editable install has none: it is made when it is first needed, after each change of the kernels."""

    def dependencies(self) -> list[str]:
        can_compile = not MACHINE and any(map(shutil.which, ("cc", "gcc", "clang")))
        return [*IMPORTED] if can_compile else [*IMPORTED, "ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from ur_admittance import library
        from ur_admittance.compiler import c_header

        made = library.folder() / MACHINE
        if not MACHINE:
            library.prepare()
        elif not (made / library.NAME).exists():  # pip builds twice: for the metadata, too
            subprocess.run(library.command(made / library.NAME, "--machine", MACHINE), check=True)
        for name in (library.NAME, c_header.HEADER, c_header.CMAKE):
            build_data["force_include"][str(made / name)] = f"ur_admittance/native/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system_of(made / library.NAME)}_{MACHINE or platform.machine()}"


def system_of(library: Path) -> str:
    """The oldest Linux on which it loads, by the versions of the C library's symbols in it; none in musl's."""
    minors = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", library.read_bytes())]
    return f"manylinux_2_{max(OLDEST_GLIBC, *minors)}" if minors else "linux"
