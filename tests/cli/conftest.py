"""The command line inside this process: what `ur-admittance` does, without a second of imports for each call."""

import io
import signal
import sys
from types import SimpleNamespace

import pytest

from ur_admittance.cli import main


@pytest.fixture
def called(monkeypatch, capsys):
    """called(*arguments) -> returncode, stdout and stderr, as of subprocess.run; nobody answers a question."""
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe: as wide as a line is long
    handler = signal.getsignal(signal.SIGINT)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["ur-admittance", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        stdout, stderr = capsys.readouterr()
        return SimpleNamespace(returncode=end.value.code or 0, stdout=stdout, stderr=stderr)

    yield call
    signal.signal(signal.SIGINT, handler)
