"""Any arguments at all: never a traceback, exit code 0 or 2, and a refusal is a sentence on stderr and nothing else.

The commands and their options are read off the program itself, so a new one is tried without a word here. SWEEP=2000
tries more, SEED=7 others."""

import json
import os
import re

import numpy as np
import pytest
import typer

from ur_admittance.cli import app
from ur_admittance.params.table import rows

CASES, SEED = int(os.environ.get("SWEEP", "160")), int(os.environ.get("SEED", "0"))
JUNK = (
    "", " ", "0", "-1", "-0.0", "1", "3", "0.5", "nan", "inf", "-inf", "1e999", "1e-320", "1e9", "99999999999999999999",
    "abc", "\u0663", "\N{PILE OF POO}", "x" * 300, "a b", "=", "x=", "=1", "a.b=[1", "--", "-x", "--help", "true",
    "null", "[1, 2]", "{a: 1}", "!!python/name:os.system", "1..2", "2..1", "5ms", "-5ms", "1,2,3", "sim", "x",
    "hand_guiding", "push", "../up", "/", "/dev/null", "/proc/x.mcap", "/nowhere/x.yaml", "folder", "folder/x.mcap",
    "folder/x.png", "text.yaml", "noise.mcap", "half.mcap", "good.mcap", "good.yaml", "picture.png", "picture.gif",
)  # fmt: skip
REFUSED = {  # one of these goes to each command that would otherwise drive, search or serve
    "run": (("--duration", "-1"), ("--preset", "none_such"), ("--log", "/nowhere/x.mcap"), ("--log", "x.txt")),
    "go": (("--joints", "1 2"), ("--speed", "nan"), ("--force", "0"), ("--duration", "-1"), ("--log", "x.txt")),
    "teach": (("--tolerance-mm", "0"), ("--tolerance-deg", "nan"), ("--button", "tool:2"), ("--preset", "none_such")),
    "play": (("--speed", "0"), ("--loop", "-1"), ("--duration", "nan"), ("--preset", "none_such")),
    "show": (("--port", "-1"), ("--port", "x"), ("--host", "not a host"), ("--host", "")),
    "demo": (("--duration", "nan"), ("--preset", "none_such"), ("--port", "-1")),
    "bench": (("--seconds", "nan"), ("--rate", "inf")),
    "campaign": (
        ("--episodes", "0"),
        ("--cycles", "nan"),
        ("--minutes", "-1"),
        ("--threads", "0"),
        ("--family", "foo"),
    ),
    "tune": (("--cases", "0"), ("--minutes", "nan"), ("--reserve", "0"), ("--out", "x.txt"), ("--threads", "0")),
    "bringup": (("--poses", "0"), ("--seconds", "nan"), ("--from", "nothing"), ("--out", "x.txt")),
    "check": (("--seconds", "0"), ("--seconds", "nan")),
    "identify": (("--out", "x.png"), ("--figure", "x.yaml"), ("--out", "/nowhere/x.yaml")),
    "calibrate": (("--poses", "0"), ("--seed", "-1"), ("--tool-mass", "nan"), ("--reach", "-1"), ("--out", "folder")),
    "calibrate check": (("--seed", "-1"), ("--tool-mass", "inf"), ("--reach", "4")),
    "calibrate zero": (("--seed", "-1"), ("--tool-mass", "60"), ("--params", "/nowhere/x.yaml")),
    "measure-response": (("--delay", "nan"), ("--log", "/proc/x.mcap"), ("--log", "good.mcap"), ("--model", "ur99")),
    "check-frames": (("--fault", "foo"), ("--params", "noise.mcap"), ("--model", "ur99")),
}
BAD_RUNS = ("stopped: ", '"stops": [\n', "are missing", "was cut off", "different: ")
GOOD = {  # * is a number
    "--model": ("ur3", "ur16e", "ur20"), "--preset": ("hand_guiding", "polishing", "good.yaml"),
    "--params": ("good.yaml",), "--figure": ("*.png", "*.svg"), "--log": ("*.mcap",),
    "--out": ("*.png", "*.yaml", "*.csv"),
    "--delay": ("10ms", "0", "0.05s"), "--axis": ("x", "z"), "file": ("good.mcap", "half.mcap", "good.yaml"),
    "name": ("hand_guiding", "push", "spring"), "logs": ("good.mcap",),
    "files": ("good.mcap", "half.mcap"), "--signals": ("force", "q,qd"),
}  # fmt: skip
SCENARIO_OPTIONS = ("stiffness", "speed", "hold", "length", "shape", "fault", "sensor")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with good and bad files in it."""
    from ur_admittance_lab.scenarios import Setup, run_scenario

    path = tmp_path_factory.mktemp("any")
    run_scenario("push", Setup(log=path / "good.mcap"))
    data = (path / "good.mcap").read_bytes()
    (path / "half.mcap").write_bytes(data[: len(data) // 2])
    (path / "noise.mcap").write_bytes(np.random.default_rng(0).bytes(5000))
    (path / "text.yaml").write_text("this: [is, not: parameters\n")
    (path / "good.yaml").write_text("/**:\n  ros__parameters:\n    admittance:\n      damping_ratio: [1.0]\n")
    (path / "picture.png").touch()
    (path / "folder").mkdir()
    return path


@pytest.fixture
def call(folder, monkeypatch, called):
    monkeypatch.chdir(folder)
    return called


def commands(group=None, name=""):
    """Every command by its words, with its parameters."""
    group = group or typer.main.get_command(app)
    yield name, group.params
    for word, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{name} {word}".strip())


ALL = {name: options for name, options in commands() if name}


def value_for(option, rng):
    """Good in half of the cases, as far as the program says what is good."""
    name, bounds = option.opts[0], re.match(r"(\S+)\.\.(\S+)", str(option.metavar))
    if name == "--robot":
        return str(rng.choice(["sim", "", "-x", "a b", "ur3e", "ur99"]))  # nothing is connected to
    if name == "--option":
        return f"{rng.choice(SCENARIO_OPTIONS)}={rng.choice([word for word in JUNK if word not in ('1', '3', '0.5')])}"
    if name in ("--set", "request") or (name == "--params" and option.multiple):
        return f"{rng.choice(sorted(rows()))}={rng.choice(JUNK)}"
    if bounds and rng.random() < 0.7:
        low, high = float(bounds[1]), float(bounds[2])
        value = rng.choice([low, high, 0.5 * (low + high), np.sqrt(max(low, 1e-9) * high), low - 1e-3, 1.001 * high])
        return f"{value:.0f}" if low.is_integer() and high.is_integer() else f"{value:.9g}"
    if name in GOOD and rng.random() < 0.6:
        return str(rng.choice(GOOD[name])).replace("*", str(rng.integers(10**6)))
    return str(rng.choice(JUNK))


def arguments_of(command, rng):
    arguments, options = command.split(), []
    for option in ALL[command]:
        if option.param_type_name == "argument":
            if rng.random() < 0.95:
                options += [[value_for(option, rng)]]
        elif rng.random() < (0.15 if option.name != "json" else 0.3):
            flag = str(rng.choice([*option.opts, *option.secondary_opts]))
            options += [[flag] if option.is_flag else [flag, value_for(option, rng)]]
    if command in REFUSED:
        bad = list(REFUSED[command][rng.integers(len(REFUSED[command]))])
        options = [words for words in options if words[0] != bad[0]] + [bad]  # the last of two counts
    rng.shuffle(options)
    return arguments + [word for words in options for word in words]


def test_every_heavy_command_is_known():
    light = {"params", "params check", "params show", "params record", "library", "stability", "sim", "why", "replay"}
    light |= {"plot", "export", "ask"}
    assert set(ALL) == light | set(REFUSED), "a command that ends at once, or one with something to refuse?"


def problem(arguments, call):
    """What is wrong with how the program took them; empty: nothing."""
    try:
        done = call(*arguments)
    except BaseException as error:
        return f"ended in {type(error).__name__}: {error}"
    code, out, err = done.returncode, done.stdout, done.stderr
    if code == 1:  # a run that was bad, and says so; a question that nobody answered
        return "" if any(words in out for words in BAD_RUNS) or "Aborted" in err else f"exit 1: {out}{err}"
    if code == 2 and (out or not err.strip()):
        return f"exit 2 with {out[-200:]!r} on stdout and {err!r} on stderr"
    if code == 0 and "--json" in arguments and out.startswith("{"):
        try:
            json.loads(out, parse_constant=float.fromhex)  # NaN is not JSON
        except ValueError as error:
            return f"not JSON ({error}): {out}"
    return f"exit {code}: {out}{err}" if code not in (0, 2) or "Traceback" in out + err else ""


def test_no_arguments_whatever_end_in_a_traceback(call):
    rng = np.random.default_rng(SEED)
    found = {}
    for _ in range(CASES):
        arguments = arguments_of(str(rng.choice(sorted(ALL))), rng)
        if words := problem(arguments, call):
            found[" ".join(map(repr, arguments))] = words
    assert not found, "\n".join(f"{arguments}: {words}" for arguments, words in found.items())
