"""The private parts of viser and websockets: what is taken away stays away, and a changed part is named."""

import importlib.metadata
import os
import re
import types
from pathlib import Path

import pytest
import viser
import websockets.asyncio.server
from viser import _messages
from viser.infra import WebsockMessageHandler
from websockets.sync.client import connect

from ur_admittance import page as dashboard
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page import viser_internals
from ur_admittance.page.gate import listen
from ur_admittance.page.viser_internals import (
    NOT_OFFERED,
    SOURCES,
    WORKS_WITH,
    check,
    document,
    guarded_server,
)

VISER = f"viser {importlib.metadata.version('viser')}".replace(".", r"\.")


@pytest.fixture(autouse=True)
def _viser_as_it_was(monkeypatch):
    monkeypatch.setattr(WebsockMessageHandler, "register_handler", WebsockMessageHandler.register_handler)


@pytest.fixture
def own():
    with listen("127.0.0.1", 0) as own:
        yield own


def test_the_versions_are_those_of_the_package():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    for name, versions in WORKS_WITH.items():
        assert f'"{name}{versions}"' in text


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (_messages, "FileTransferPart"),
        (WebsockMessageHandler, "register_handler"),
        (websockets.asyncio.server, "serve"),
        (viser.GuiApi, "main_panel"),
    ],
)
def test_a_missing_part_is_named_with_the_versions_that_work(monkeypatch, place, name):
    check()
    monkeypatch.delattr(place, name)
    with pytest.raises(UrAdmittanceError, match=name + r" is missing .* works with viser >=1\.1,<1\.2 and websockets"):
        check()


@pytest.mark.parametrize(("name", "part"), SOURCES)
def test_a_part_of_the_client_that_the_page_builds_on_is_named(monkeypatch, tmp_path, name, part):
    """Another viser, whose source lacks this part."""
    client = Path(viser.__file__).parent / "client" / "src"
    for needed, _ in SOURCES:
        copy = tmp_path / "client" / "src" / needed
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = (client / needed).read_text()
        copy.write_text(text.replace(part, "") if needed == name else text)
    monkeypatch.setattr(viser, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(UrAdmittanceError, match=re.escape(f"{part} in client/src/{name} is missing or different in")):
        check()


def test_a_client_that_was_packed_differently_is_noticed(monkeypatch):
    assert b"</head>" in document()
    monkeypatch.setattr(viser_internals, "CLIENT", "client/build/main.js")
    with pytest.raises(UrAdmittanceError, match=r"client/build/main\.js is missing or different in " + VISER):
        document()


def test_a_server_that_would_go_around_the_gate_is_not_started(monkeypatch, own):
    """viser keeps a serve of its own, which nobody replaces."""
    around = types.SimpleNamespace(serve=websockets.asyncio.server.serve)
    names = dict(vars(websockets)) | {"asyncio": types.SimpleNamespace(server=around)}
    monkeypatch.setattr(viser.infra._infra, "websockets", types.SimpleNamespace(**names))
    with pytest.raises(UrAdmittanceError, match="the call of websockets' serve is missing or different in " + VISER):
        guarded_server(lambda connection, request: None, own)


def test_a_message_that_viser_handles_elsewhere_is_noticed(monkeypatch, own):
    monkeypatch.setattr(viser_internals, "NOT_OFFERED", (*NOT_OFFERED, "ReplayDoneMessage"))
    with pytest.raises(UrAdmittanceError, match="the handler of ReplayDoneMessage is missing or different in " + VISER):
        guarded_server(lambda connection, request: None, own)


def test_no_connection_takes_uploads_or_opens_a_tunnel(own):
    asked, connections = [], []
    server = guarded_server(lambda connection, request: asked.append(request.path), own)
    try:
        server._websock_server.on_client_connect(connections.append)
        protocol = f"viser-v{viser.__version__}"
        with connect(f"ws://127.0.0.1:{own.getsockname()[1]}", subprotocols=[protocol]) as socket:
            socket.recv(timeout=10)
        assert asked == ["/"]
        for connection in (server._websock_server, *connections):
            handled = {message.__name__ for message in connection._incoming_handlers}
            assert "GuiUpdateMessage" in handled
            assert handled.isdisjoint(NOT_OFFERED)
        assert len(connections) == 1
    finally:
        server.stop()


def test_a_page_that_cannot_start_says_why_in_one_sentence(monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import viser._messages\ndel viser._messages.FileTransferPart\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    sentence = r"^the page cannot start: viser\._messages\.FileTransferPart is missing or different in " + VISER
    with pytest.raises(UrAdmittanceError, match=sentence):
        dashboard.start("internals-test", port=0, folder=tmp_path)
