"""Shared by all tests."""

import io
import os
import signal
import sys
from types import SimpleNamespace

import pytest
from hypothesis import settings

# A shared build machine has pauses that say nothing about the code; the time-out of pytest guards against hanging.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


# A script starts its background jobs with SIGINT ignored, nohup with SIGHUP, and their children inherit that. Tests of
# Ctrl-C and of a closed terminal need them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def skip_or_fail(sentence: str) -> None:
    """Skips on a desk, fails in CI, where nothing may be missing."""
    if os.environ.get("UR_ADMITTANCE_CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def missing():
    """missing("chromium is not installed"): call when an optional component is not there."""
    return skip_or_fail


@pytest.fixture(scope="session")
def optional():
    """optional("rclpy") imports a module or handles its absence as `missing` does."""

    def load(module):
        try:
            return __import__(module, fromlist=["_"])
        except ImportError:
            return skip_or_fail(f"{module} is not installed")

    return load


@pytest.fixture
def called(monkeypatch, capsys):
    """called(*arguments) -> returncode, stdout and stderr of `ur-admittance` inside this process, without a second of
    imports; nobody answers a question."""
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe: as wide as a line is long
    from ur_admittance.cli import main

    handler = signal.getsignal(signal.SIGINT)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["ur-admittance", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        stdout, stderr = capsys.readouterr()
        return SimpleNamespace(returncode=end.value.code or 0, stdout=stdout, stderr=stderr)

    yield call
    signal.signal(signal.SIGINT, handler)
