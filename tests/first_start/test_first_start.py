"""The first start on a computer: compiled once, in parallel, interruptible; and what a loop then has in memory."""

import fcntl
import heapq
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ur_admittance.core import compile as compiling
from ur_admittance.first_start.parts import FILE, all_parts, argument, code_of
from ur_admittance.first_start.prepare import WAITING, Plan

PREPARE = """
import sys
from pathlib import Path
from ur_admittance.first_start import parts, prepare
parts.FILE = Path(sys.argv[1])
prepare(lambda progress: print(progress, flush=True))
"""
LOAD = """
from ur_admittance.first_start.parts import all_parts
part = all_parts()["core.law.twist.pose_error"]
part.compile()
found = part.kernel.stats
print(sum(found.cache_hits.values()), len(part.signatures), sum(found.cache_misses.values()))
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
print(*sys.modules)
"""
NOT_IN_A_LOOP = {
    *("matplotlib", "mujoco", "viser", "optuna", "dask", "typer", "rich", "scipy.linalg", "scipy.optimize"),
    *("numba.np.linalg", "numba.np.random", "numba.typed.typeddict"),  # Numba's, to compile with
}


@pytest.fixture
def short_list(tmp_path):
    """A list with the parts that pose_error needs: seconds instead of a minute."""
    names, todo = set(), ["core.law.twist.pose_error"]
    while todo:
        names.add(name := todo.pop())
        todo += all_parts()[name].calls()
    lines = FILE.read_text().splitlines(keepends=True)
    file = tmp_path / "parts.txt"
    file.write_text("".join(line for line in lines if line.split()[0] in names))
    return file


def start(code, folder, *arguments, **options):
    options["env"] = os.environ | {"NUMBA_CACHE_DIR": str(folder)} | options.get("env", {})
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, **options)


def workers_of(process):
    assert "0 of" in process.stdout.readline()
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert workers
    return workers


def finished(process):
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    return output


def test_the_list_names_every_kernel_that_the_tick_calls():
    parts = all_parts()
    todo, called = ["core.tick.tick", "core.motion.sending.send_shaped", "core.motion.sending.plan_to_rest"], set()
    while todo:
        called.add(name := todo.pop())
        todo += parts[name].calls() - called  # KeyError: python -m benchmarks.parts --write
    assert {name for name in parts if name.startswith("core.")} == called


def test_the_list_fits_the_kernels():
    for part in all_parts().values():
        count = len(inspect.signature(part.kernel.py_func).parameters)
        for signature in part.signatures:
            assert len(signature) == count, part.name
            assert tuple(code_of(argument(code)) for code in signature) == signature


def test_kernels_that_a_loop_calls_by_itself_are_in_the_list_and_compiled_to_the_end():
    """One that only other kernels call is left half compiled: finishing it takes the compiler."""
    called = ["core.motion.sending.plan_to_rest", "core.motion.sending.send_shaped", "control.kernels.statistics"]
    called.append("core.tick.tick")
    assert not [name for name in called if all_parts()[name].inner]  # KeyError: python -m benchmarks.parts --write
    assert all_parts()["core.law.twist.pose_error"].inner


def test_a_part_is_compiled_after_all_that_it_calls_and_two_workers_need_little_more_than_half_the_time():
    plan = Plan(list(all_parts()))
    now, done, running = 0.0, set(), []
    while plan.todo or running:
        while len(running) < 2 and (name := plan.next()):
            assert plan.calls[name] <= done
            heapq.heappush(running, (now + plan.seconds[name], name))
        now, name = heapq.heappop(running)
        plan.finish(name)
        done.add(name)
    assert done == set(all_parts())
    assert now < 0.6 * sum(plan.seconds.values())
    assert plan.progress(now, 2).left == pytest.approx(0.0, abs=1e-9)


def test_kernels_that_call_each_other_keep_nobody_waiting():
    plan = Plan(["one:a", "two:b"])
    plan.calls = {"one:a": {"two:b"}, "two:b": {"one:a"}}
    first = plan.next()
    assert not plan.next()
    plan.finish(first)
    assert {first, plan.next()} == {"one:a", "two:b"}


def test_of_two_processes_one_compiles_and_all_find_the_result(short_list, tmp_path):
    folder = tmp_path / "c"
    folder.mkdir()
    with (folder / "compiling.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes = [start(PREPARE, folder, str(short_list)) for _ in range(2)]
        assert [process.stdout.readline().strip() for process in processes] == [WAITING, WAITING]
    busy, idle = sorted(map(finished, processes), key=len, reverse=True)
    count = len(short_list.read_text().splitlines())
    assert f"{count} of {count} parts, about 0 s left" in busy
    assert idle == ""
    hits, ways, misses = finished(start(LOAD, folder)).split()
    assert hits == ways
    assert misses == "0"


def test_what_could_not_be_compiled_is_told_and_tried_again(short_list, tmp_path):
    code = PREPARE.replace("flush=True))", "flush=True), ['ur_admittance.errors:nothing'])")
    for _ in range(2):
        output = finished(start(code, tmp_path / "c", str(short_list)))
        assert output.endswith("some parts could not be compiled: that goes on in this process, for up to a minute\n")
    [mark] = (tmp_path / "c").glob("*.compiled")
    assert mark.name.startswith("controller.")


def test_ctrl_c_ends_the_compiling_processes_too(short_list, tmp_path):
    process = start(PREPARE, tmp_path / "c", str(short_list))
    workers = workers_of(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert not list((tmp_path / "c").glob("*.compiled"))


def test_when_a_compiling_process_dies_all_end_and_it_is_told_who_goes_on(short_list, tmp_path):
    process = start(PREPARE, tmp_path / "c", str(short_list))
    workers = workers_of(process)
    os.kill(int(workers[0]), signal.SIGKILL)
    assert "goes on in this process, for about a minute" in finished(process)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert not list((tmp_path / "c").glob("*.compiled"))


def test_an_old_list_a_chatty_python_and_files_of_the_user_do_no_harm(short_list, tmp_path):
    count = len(short_list.read_text().splitlines())
    short_list.write_text(short_list.read_text() + "core.law.gone 0.1 | f\ncore.gone.gone 0.1 | f\n")
    site, here = tmp_path / "site", tmp_path / "here"
    site.mkdir()
    here.mkdir()
    (site / "sitecustomize.py").write_text("print('hello')")
    (here / "random.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    without_here = f"import sys; sys.path.remove(''); {PREPARE}"  # as an installed program starts
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    process = start(without_here, "../c", str(short_list), cwd=here, env={"PYTHONPATH": path})
    assert f"{count} of {count} parts" in finished(process)
    assert not (tmp_path / "executed").exists()
    assert list((tmp_path / "c").glob("*.compiled"))


def test_a_loop_has_not_loaded_what_only_others_need():
    modules = set(finished(subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE, text=True)).split())
    assert not modules & NOT_IN_A_LOOP


@pytest.fixture
def read_only_package(monkeypatch, tmp_path):
    """Root may write everywhere: asked for the package, the computer says no."""
    allowed = os.access
    inside = lambda path, mode: Path(path).is_relative_to(tmp_path) and allowed(path, mode)  # noqa: E731
    monkeypatch.setattr(compiling.os, "access", inside)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_package_that_cannot_be_written_to_is_cached_in_the_users_folder(read_only_package, tmp_path):
    folder = Path(compiling._cache_directory())
    assert folder.parent == tmp_path / "ur_admittance"
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("spoil", ["others can write", "another user's"])
def test_code_is_not_loaded_from_a_folder_that_others_can_fill(read_only_package, monkeypatch, tmp_path, spoil):
    folder = Path(compiling._cache_directory())
    if spoil == "others can write":
        folder.chmod(0o777)
    else:
        monkeypatch.setattr(compiling.os, "geteuid", lambda: folder.stat().st_uid + 1)
    instead = Path(compiling._cache_directory())
    assert not instead.is_relative_to(tmp_path / "ur_admittance")
    assert instead.stat().st_mode & 0o077 == 0
