"""Uses an installed package as its user does: from an empty folder, with no checkout, no ROS, no Numba, and without the
right to write where it is installed. Nothing is compiled.

    python scripts/check_wheel.py VENV
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "01_push.py"
EMULATOR = "127.0.83.19"  # a loopback address that nobody else uses
DATA = """\
import ur_admittance as ua
from ur_admittance.model import MODEL_NAMES
from ur_admittance.params import PRESETS
[ua.robot_model(name) for name in MODEL_NAMES], [ua.preset(name) for name in PRESETS]
print(len(MODEL_NAMES), "models and", len(PRESETS), "presets of", ua.__file__)
"""


class User:
    """Somebody with a home and an empty folder."""

    def __init__(self, folder: Path, venv: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        for path in (self.home, self.work):
            path.mkdir()
        self.environment = {"PATH": f"{venv / 'bin'}:/usr/bin:/bin", "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        self.rights = ["setpriv", "--bounding-set", "-all"] if os.geteuid() == 0 else []  # root may write everywhere

    def start(self, *command: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = (*self.rights, *command)
        return subprocess.Popen(command, cwd=self.work, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *command: str, says: str = "", codes: tuple[int, ...] = (0,)) -> str:
        begin, process = time.monotonic(), self.start(*command)
        said, errors = process.communicate(timeout=900)
        name = " ".join(command).strip().splitlines()[0]
        if process.returncode not in codes or says not in said:
            sys.exit(f"{name}: exit code {process.returncode}, expected {says!r} in:\n{said}{errors}")
        sys.stdout.write(f"{time.monotonic() - begin:6.1f} s  {name}\n")
        sys.stdout.flush()
        return said

    def compiled(self) -> list[Path]:
        return [*self.home.rglob("kernels_*")]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be written below the folder."""
    folders = [path for path in (folder, *folder.rglob("*")) if path.is_dir()]
    modes = [path.stat().st_mode for path in folders]
    try:
        for path in folders:
            path.chmod(0o555)
        yield
    finally:
        for path, mode in zip(folders, modes, strict=True):
            path.chmod(mode)


def check(user: User, package: Path) -> None:
    user.run("ur-admittance", "--version")
    user.run("python", "-c", DATA, says=f"presets of {package}")
    user.run("ur-admittance", "params", says="admittance.mass")
    result = json.loads(user.run("ur-admittance", "sim", "push", "--json"))
    if result["stops"] or user.compiled():
        sys.exit(f"sim push: stops {result['stops']}, compiled {user.compiled()}")
    user.run("ur-admittance", "library", says=f"{package}/native/libur_admittance.so")
    shutil.copy(EXAMPLE, user.work)
    user.run("python", EXAMPLE.name, says="mm")
    with_emulator(user)
    open_the_page(user)


def with_emulator(user: User) -> None:
    emulator = user.start("ur-emulator", "--host", EMULATOR)
    try:
        line = first_line(emulator.stderr)
        if "listens" not in line:
            sys.exit(f"ur-emulator: it does not listen\n{line}")
        options = ("--robot", EMULATOR, "--client", "direct", "--seconds", "1")
        user.run("ur-admittance", "check", *options, says=f"ur5e at {EMULATOR}", codes=(0, 2))  # 2: a busy computer
    finally:
        emulator.terminate()
        emulator.communicate(timeout=20)


def open_the_page(user: User) -> None:
    options = ("--no-browser", "--port", "0", "--name", f"wheel-{os.getpid()}", "--duration", "60")
    demo = user.start("ur-admittance", "demo", *options)
    try:
        line = first_line(demo.stdout)
        url = next((word for word in line.split() if word.startswith("http")), None)
        if url is None or b"</html>" not in urllib.request.urlopen(url, timeout=20).read():
            sys.exit(f"demo: no page\n{line}")
        sys.stdout.write("          ur-admittance demo: the page opens\n")
    finally:
        demo.terminate()
        demo.communicate(timeout=30)


def first_line(stream: IO[str] | None) -> str:
    return stream.readline() if stream else ""


def main(venv: Path) -> None:
    [package] = venv.glob("lib/python3*/site-packages/ur_admittance")
    if [*package.parent.glob("numba*")]:
        sys.exit("the wheel asks for Numba")
    with tempfile.TemporaryDirectory() as folder, read_only(package):
        check(User(Path(folder), venv), package)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
