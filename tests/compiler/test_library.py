"""The library: made once on a computer, interruptibly, kept where nobody else can write, and all that a loop loads."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ur_admittance import library
from ur_admittance.core.kernel import EXPORTED
from ur_admittance.errors import LibraryError
from ur_admittance.library import WAITING

PREPARE = """
from ur_admittance import library
library.prepare(lambda progress: print(progress, flush=True))
"""
MADE_IN_NO_TIME = f"""
import shutil
from ur_admittance import library
library._make = lambda file, report: (report("made"), shutil.copy({library.load()._name!r}, file))
"""
LOOP = """
import sys
import ur_admittance as ua
from ur_admittance.robots.rtde.real_arm import run_real  # what a real arm needs
controller = ua.AdmittanceController(ua.robot_model("ur5e"), ua.preset("hand_guiding"))
controller.configure()
controller.activate()
controller.sample["dt"], controller.sample["q"] = 0.002, controller.model.home
for _ in range(10):
    controller.update()
assert controller.mode.name == "ACTIVE"
print(open("/proc/self/maps").read())
print(*sys.modules)
"""
NOT_IN_A_LOOP = {
    *(
        "numba",
        "llvmlite",
        "ur_admittance.compiler",
        "matplotlib",
        "mujoco",
        "viser",
        "optuna",
        "dask",
        "typer",
        "rich",
    ),
    *("typer", "rich", "scipy.linalg", "scipy.optimize"),
}


def start(code, folder, **options):
    options["env"] = os.environ | {"UR_ADMITTANCE_CACHE": str(folder)} | options.get("env", {})
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, **options)


def finished(process, code=0):
    output, _ = process.communicate(timeout=100)
    assert process.returncode == code
    return output


def compiler_of(process):
    """The process that compiles, once it does."""
    for _ in range(2):  # 0 %, and the first that it says itself
        assert "%" in process.stdout.readline()
    [found] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(found)


def made(folder):
    return list(folder.rglob(library.NAME))


def test_of_two_processes_one_compiles_and_the_other_waits_for_it(tmp_path):
    finished(start("from ur_admittance import library; library.folder()", tmp_path))
    [folder] = tmp_path.iterdir()
    with (folder / "compiling.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes = [start(MADE_IN_NO_TIME + PREPARE, tmp_path) for _ in range(2)]
        assert [process.stdout.readline().strip() for process in processes] == [WAITING, WAITING]
    assert sorted(map(finished, processes)) == ["", "made\n"]


def test_ctrl_c_ends_the_process_that_compiles_too(tmp_path):
    process = start(PREPARE, tmp_path)
    compiler = compiler_of(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    assert not Path(f"/proc/{compiler}").exists()
    assert not made(tmp_path)


def test_when_the_process_that_compiles_dies_that_is_said(tmp_path):
    code = PREPARE.replace("library.prepare", "try: library.prepare") + "\nexcept Exception as error: print(error)"
    code = code.replace("\n\nexcept", "\nexcept")
    process = start(code, tmp_path)
    os.kill(compiler_of(process), signal.SIGKILL)
    assert "the controller could not be compiled: it ended with exit code -9" in finished(process)
    assert not made(tmp_path)


def test_files_of_the_user_in_the_folder_where_a_program_starts_do_no_harm(tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "random.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    without_here = f"import sys; sys.path.remove(''); {PREPARE}"  # as an installed program starts
    process = start(without_here, tmp_path / "c", cwd=here)
    compiler_of(process)
    process.send_signal(signal.SIGINT)
    process.wait(20)
    assert not (tmp_path / "executed").exists()


def test_without_library_and_compiler_the_sentence_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    monkeypatch.setattr(library, "_shipped", lambda: None)
    monkeypatch.setattr(library, "folder", lambda: tmp_path)
    with pytest.raises(LibraryError, match="pip install numba"):
        library.prepare()


def test_a_shipped_library_of_other_kernels_is_not_taken(monkeypatch):
    """Its text says what it was made of; a package that was changed since then makes its own."""
    monkeypatch.setattr(library, "SHIPPED", Path(library.load()._name))
    assert library._shipped.__wrapped__() is not None
    monkeypatch.setattr(library, "digest", lambda: "another")
    assert library._shipped.__wrapped__() is None


def test_a_library_that_was_cut_is_not_loaded(tmp_path):
    """A computer was switched off after its first start. The loader of Linux would die of such a file."""
    content, file = Path(library.load()._name).read_bytes(), tmp_path / library.NAME
    for size in (0, 100, 4096, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:size])
        assert library._opened(file) is None, size
    file.write_bytes(content)
    assert library._opened(file) is not None


def test_what_a_user_has_set_for_numba_does_not_change_the_library():
    code = (
        "import ur_admittance.compiler.__main__; from numba import config; print(int(config.OPT), config.BOUNDSCHECK)"
    )
    users = os.environ | {"NUMBA_OPT": "0", "NUMBA_BOUNDSCHECK": "1", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=users, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "None"]


def test_a_loop_has_loaded_neither_compiler_nor_what_only_others_need():
    maps, modules = finished(subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE, text=True)).rsplit(
        "\n", 2
    )[:2]
    assert not set(modules.split()) & NOT_IN_A_LOOP
    assert library.NAME in maps
    assert "llvmlite" not in maps


def test_a_call_with_records_of_the_wrong_kind_is_refused():
    import numpy as np

    from ur_admittance.core.records import PARAMS, STATE, new
    from ur_admittance.core.tick import tick

    with pytest.raises(TypeError, match="ur_tick: got"):
        tick.on(new(STATE))
    with pytest.raises(TypeError, match="must come from"):
        tick.on(new(PARAMS, 2))
    with pytest.raises(TypeError, match=r"ur_cross: got float32 \(3,\), must be float64 \(3,\)"):
        EXPORTED["ur_cross"].on(np.zeros(3, np.float32))


@pytest.fixture
def read_only_package(monkeypatch, tmp_path):
    """Root may write everywhere: asked for the package, the computer says no."""
    allowed = os.access
    inside = lambda path, mode: Path(path).is_relative_to(tmp_path) and allowed(path, mode)  # noqa: E731
    monkeypatch.setattr(library.os, "access", inside)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("UR_ADMITTANCE_CACHE", raising=False)


def test_a_package_that_cannot_be_written_to_is_cached_in_the_users_folder(read_only_package, tmp_path):
    folder = library.folder.__wrapped__()
    assert folder.parent == tmp_path / "ur_admittance"
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("spoil", ["others can write", "another user's"])
def test_code_is_not_loaded_from_a_folder_that_others_can_fill(read_only_package, monkeypatch, tmp_path, spoil):
    folder = library.folder.__wrapped__()
    if spoil == "others can write":
        folder.chmod(0o777)
    else:
        monkeypatch.setattr(library.os, "geteuid", lambda: folder.stat().st_uid + 1)
    instead = library.folder.__wrapped__()
    assert not instead.is_relative_to(tmp_path / "ur_admittance")
    assert instead.stat().st_mode & 0o077 == 0
