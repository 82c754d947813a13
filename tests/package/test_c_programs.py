"""Programs in C and C++ that call the library: as the guide says, built and run, and judged by Python, valgrind and
AddressSanitizer."""

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance import library
from ur_admittance.compiler import c_header
from ur_admittance.compiler.__main__ import import_kernels
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.params.record import fill
from ur_admittance.recording.log import read_log

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, PROGRAMS = ROOT / "examples/c", Path(__file__).parent / "programs"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2")
NEEDS_OF_C = {"memcpy", "memset", "fprintf", "stderr"}
MATHS = {"atan", "atan2", "exp", "expm1", "floor", "fmax", "fmin", "hypot", "log10", "sin", "cos", "sincos", "tan"}


def run(*command, code=0, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=100, **options)
    assert done.returncode == code, f"{command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def ur_admittance(*words):
    return run(sys.executable, "-m", "ur_admittance", *words).stdout.strip()


@pytest.fixture(scope="module")
def flags():
    return ur_admittance("library", "--cflags", "--libs").split()


@pytest.fixture(scope="module")
def params(tmp_path_factory):
    file = tmp_path_factory.mktemp("params") / "hand_guiding.bin"
    ur_admittance("params", "record", "hand_guiding", "--out", file)
    return file


@pytest.fixture
def tool(missing):
    """tool("gcc"): skipped on a desk without it."""
    return lambda name: shutil.which(name) or missing(f"{name} is not installed")


@pytest.fixture
def build(tool, flags, tmp_path):
    """build(source, *more): the program."""

    def compiled(source, *more, compiler="gcc"):
        program = tmp_path / Path(source).stem
        run(tool(compiler), *STRICT, source, "-o", program, *more, *flags, "-lm")
        return program

    return compiled


def lines_of_python():
    """What examples/c/loop.c does, in Python."""
    p, s, u, c = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
    fill(p[0], ua.preset("hand_guiding"), ua.robot_model("ur5e"))
    u["q"] = [0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0]
    u["request"], u["simulated"] = Request.ACTIVATE, 1
    lines = []
    for cycle in range(1000):
        u["dt"] = 0.002
        u["stamp_ns"] += 2_000_000
        u["wrench"][0, 1] = 10.0 * math.sin(0.01 * cycle)
        tick(p, s, u, c)
        u["request"] = Request.NONE
        u["q"], u["qd"] = c["q"], c["qd"]
        if cycle % 100 == 99:
            x, z, speed = c["p_tcp"][0, 0], c["p_tcp"][0, 2], c["twist"][0, 0]
            lines.append(f"{x:.17g} m  {z:.17g} m  {speed:.17g} m/s")
    return lines


@pytest.mark.parametrize(("name", "compiler"), [("loop.c", "gcc"), ("loop.cpp", "g++")])
def test_a_loop_in_c_moves_the_arm_as_the_same_loop_in_python_to_the_last_digit(build, params, name, compiler):
    source = EXAMPLES / name
    assert source.read_text().count("\n") <= 40
    said = run(build(source, compiler=compiler), params).stdout.splitlines()
    assert said == lines_of_python()
    assert max(abs(float(line.split()[4])) for line in said) > 0.05


def test_cmake_finds_the_library_wherever_it_was_moved(tool, params, tmp_path):
    shutil.copytree(library.place(), tmp_path / "elsewhere", ignore=shutil.ignore_patterns("numba", "*.lock"))
    cmake = tool("cmake")
    run(cmake, "-S", EXAMPLES, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'elsewhere'}")
    run(cmake, "--build", tmp_path / "build")
    linked = run("ldd", tmp_path / "build/loop").stdout
    assert f"{tmp_path / 'elsewhere'}/libur_admittance.so" in linked
    for program in ("loop", "loop_cpp"):
        assert run(tmp_path / "build" / program, params).stdout.splitlines() == lines_of_python()


def test_parameters_of_another_size_or_version_are_refused(build, params, tmp_path):
    program = build(EXAMPLES / "loop.c")
    whole = params.read_bytes()
    other = whole[:-16] + b"0123456789abcdef"  # digest
    for name, content in (("short", whole[:-1]), ("long", whole + b"\0"), ("empty", b""), ("other", other)):
        (tmp_path / name).write_bytes(content)
        assert "of another version" in run(program, tmp_path / name, code=1).stderr
    assert "cannot be opened" in run(program, tmp_path / "none", code=1).stderr


def changed_header(folder, old, new):
    text = (library.place() / c_header.HEADER).read_text()
    assert old in text
    (folder / c_header.HEADER).write_text(text.replace(old, new, 1))
    return f"-I{folder}"


def test_a_program_with_the_header_of_another_version_is_refused(build, params, tmp_path):
    other = changed_header(tmp_path, library.digest(), "0123456789abcdef")
    assert "compile it anew" in run(build(EXAMPLES / "loop.c", other), params, code=1).stderr


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_a_header_whose_records_are_laid_out_otherwise_does_not_compile(tool, tmp_path, compiler):
    other = changed_header(tmp_path, "double mass[6];", "double mass[7];")
    source = EXAMPLES / ("loop.c" if compiler == "gcc" else "loop.cpp")
    done = subprocess.run([tool(compiler), other, "-c", source, "-o", tmp_path / "x.o"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "assert" in done.stderr
    assert "ur_params" in done.stderr


def test_the_library_needs_nothing_but_libm_and_cannot_allocate_or_lock(tool):
    said = run(tool("nm"), "-D", "--undefined-only", library.place() / library.NAME).stdout
    strong = {line.split()[-1].partition("@")[0] for line in said.splitlines() if line.split()[0] == "U"}
    assert "atan2" in strong
    assert strong <= NEEDS_OF_C | MATHS
    said = run(tool("nm"), "-D", "--defined-only", library.place() / library.NAME).stdout
    assert {name for name in re.findall(r" \w (\w+)", said) if not name.startswith("ur_")} == set()


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """PARAMS, every SAMPLE from the first cycle on, and every COMMAND of a push, as the loop had them."""
    world = ua.World(ua.robot_model("ur5e"))
    controller = ua.AdmittanceController(world.model, ua.preset("hand_guiding").changed(world.parameters()))
    file = tmp_path_factory.mktemp("recording") / "push.mcap"
    with ua.SimulatedRobot(world) as robot:
        world.push([5, 10, 0, 0, 0, 0.5], seconds=1.0)
        ua.run(controller, robot, duration=3.0, activate=True, log=file)
    log = read_log(file)
    [params] = log.params.values()
    return params, log.ticks["sample"].copy(), log.ticks["command"].copy()


def recomputed(params, samples):
    p, s, u, c = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
    p[0], commands = params, np.zeros(len(samples), COMMAND)
    for i, sample in enumerate(samples):
        u[0] = sample
        tick(p, s, u, c)
        commands[i] = c[0]
    return commands


@pytest.fixture
def files(recording, tmp_path):
    params, samples, _ = recording
    (tmp_path / "params").write_bytes(params.tobytes() + library.digest().encode())
    (tmp_path / "samples").write_bytes(samples.tobytes())
    return tmp_path / "params", tmp_path / "samples", tmp_path / "commands"


def test_c_recomputes_every_bit_of_a_recording(build, recording, files):
    params, samples, commands = recording
    assert len(samples) > 1000
    assert np.linalg.norm(commands["twist"][:, :3], axis=1).max() > 0.05
    run(build(PROGRAMS / "replay.c"), *files)
    assert files[2].read_bytes() == recomputed(params, samples).tobytes()
    ours = np.frombuffer(files[2].read_bytes(), COMMAND)
    assert ours.tobytes() == commands.tobytes(), "and those of the loop that was recorded"


def test_valgrind_finds_nothing_in_a_replayed_recording(tool, build, recording, files):
    params, samples, _ = recording
    program = build(PROGRAMS / "replay.c", "-g")
    done = run(tool("valgrind"), "--error-exitcode=9", "--leak-check=full", program, *files)
    assert "ERROR SUMMARY: 0 errors" in done.stderr
    assert files[2].read_bytes() == recomputed(params, samples).tobytes()


def test_address_sanitizer_finds_nothing(build, params, files):
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    assert run(build(EXAMPLES / "loop.c", *sanitize), params).stdout.splitlines() == lines_of_python()
    run(build(PROGRAMS / "replay.c", *sanitize), *files)


@pytest.fixture
def failing(tool, tmp_path):
    """failing(cycle): modes, status, angles, speeds of joints 0 and 1 in 100 cycles, and what was said."""
    import_kernels()
    c_header.write(tmp_path)
    (tmp_path / "calls.c").write_text(c_header.calls("0123456789abcdef", ["PyErr_SetString"], []))
    sources = (PROGRAMS / "failing.c", tmp_path / "calls.c", Path(c_header.__file__).with_name("error_path.c"))
    only_tick = ("-Wl,--unresolved-symbols=ignore-all", "-no-pie")  # the other kernels are not there
    program = tmp_path / "failing"
    run(tool("gcc"), "-Wall", "-Werror", "-O2", f"-I{tmp_path}", *sources, *only_tick, "-lm", "-o", program)

    def after(cycle):
        done = run(program, cycle)
        rows = np.loadtxt(done.stdout.splitlines())
        assert np.isfinite(rows).all()
        return rows[:, 0], rows[:, 1], rows[:, 2::2], rows[:, 3::2], done.stderr

    return after


def test_a_failure_inside_is_loud_and_for_ever_and_brakes(failing):
    mode, status, q, qd, said = failing(3)
    assert said.count("\n") == 1
    assert "has failed inside (PyErr_SetString)" in said
    assert list(mode) == [Mode.ACTIVE] * 2 + [Mode.FAULT] * 98
    assert set(status[2:]) == {Status.INTERNAL_ERROR}
    np.testing.assert_allclose(
        np.diff(qd[1:25, 0]), -10.0 * 0.002, rtol=1e-9
    )  # each with what its limits are planned for
    np.testing.assert_allclose(np.diff(qd[1:12, 1]), -10.0 * 0.002, rtol=1e-9)
    assert not qd[14:, 1].any()
    np.testing.assert_allclose(np.diff(q, axis=0), qd[1:] * 0.002, atol=1e-12)  # angles are those of the speeds
    assert not qd[28:].any()
    assert (q[28:] == q[28]).all()


def test_a_failure_in_the_first_cycle_leaves_the_arm_where_it_is(failing):
    mode, _, q, qd, _ = failing(1)
    assert set(mode) == {Mode.FAULT}
    assert (q == [1.0, 2.0]).all()
    assert not qd.any()


def test_a_shipped_file_that_is_another_library_or_none_is_not_taken(tool, monkeypatch, tmp_path):
    (tmp_path / "text.so").write_text("a download that failed")
    (tmp_path / "other.c").write_text("int ur_something;")
    run(tool("gcc"), "-shared", tmp_path / "other.c", "-o", tmp_path / "other.so")
    for name in ("text.so", "other.so", "missing.so"):
        monkeypatch.setattr(library, "SHIPPED", tmp_path / name)
        assert library._shipped.__wrapped__() is None, name


def test_without_a_c_compiler_the_compiler_says_so_before_its_minute_of_work(tmp_path):
    command = (sys.executable, "-m", "ur_admittance.compiler", tmp_path / "x.so", "--machine", "another")
    environment = os.environ | {"PATH": str(tmp_path), "CC": ""}
    done = run(*command, code=1, env=environment)
    assert "no C compiler: install gcc" in done.stderr
    assert done.stdout == ""
