"""One emulator for all tests of this folder, and a client for it."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

_spec = importlib.util.spec_from_file_location("rtde_client", Path(__file__).with_name("rtde_client.py"))
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)


@pytest.fixture(scope="session")
def shared_emulator() -> Iterator[EmulatorProcess]:
    with EmulatorProcess("--patience", "0.4") as emulator:
        yield emulator


@pytest.fixture
def emulator(shared_emulator: EmulatorProcess) -> EmulatorProcess:
    assert shared_emulator.tell("reset") == "ok"
    return shared_emulator


@pytest.fixture
def connect(emulator: EmulatorProcess) -> Iterator[Callable[..., Any]]:
    """connect() -> an RTDE client that follows the published protocol."""
    clients = []

    def make(host: str = emulator.host) -> Any:
        clients.append(_module.Client(host))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
