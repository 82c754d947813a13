"""The private parts of viser and websockets that the page relies on, gathered here and checked when it starts.

viser serves its client to whoever asks, and takes messages that this page does not want. No public setting prevents it:
    serve             of websockets is replaced while viser starts: our socket, and the gate before each request
    register_handler  of viser's connections ignores the messages in NOT_OFFERED
    index.html        of viser's client gets our additions
    SOURCES           of viser's client have what these additions take for granted: the sheet of small screens, the
                      number fields, the way to the charts. The client itself is packed and cannot be looked into.
If one of them has changed, the page does not start and one sentence says why. It never runs without its gate.
"""

import importlib
import importlib.metadata
import logging
import operator
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import viser
import websockets.asyncio.server

from ur_admittance.errors import UrAdmittanceError

WORKS_WITH = {"viser": ">=1.1,<1.2", "websockets": ">=13.1,<17"}  # as in pyproject.toml
STOP_KEY = "escape"  # the hotkey of the stop command (input_panel.py)
MAX_MESSAGE_BYTES = 1_000_000  # from a browser; a slider sends 100

# What viser offers to a browser and this page does not: uploads into memory, a tunnel to a public server.
NOT_OFFERED = ("FileTransferStartUpload", "FileTransferPart", "ShareUrlRequest", "ShareUrlDisconnect")

CLIENT = "client/build/index.html"  # one file without references to anything outside
SOURCES = (
    ("ControlPanel/BottomPanel.tsx", 'maxHeight: "60%"'),
    ("ControlPanel/BottomPanel.tsx", 'width: "20em"'),
    ("App.tsx", "`(max-width: ${mantineTheme.breakpoints.xs})`"),
    ("components/NumberInput.tsx", 'import { NumberInput } from "@mantine/core"'),
    ("components/Slider.tsx", 'NumberInput } from "@mantine/core"'),
    ("components/common.tsx", 'NumberInput, Tooltip } from "@mantine/core"'),
    ("components/UplotComponent.tsx", "(w.__viserTestpoints ??= {})"),
    ("components/UplotComponent.tsx", "reg[uuid] = { chart, "),
)  # file of viser's client, and what stands there
PARTS = (
    ("websockets", "websockets.asyncio.server", "serve"),
    *(("viser", "viser._messages", name) for name in NOT_OFFERED),
    ("viser", "viser.infra", "WebsockMessageHandler.register_handler"),
    ("viser", "viser", "GuiApi.main_panel"),  # public, and the newest of what the page calls
)


def changed(package: str, part: str) -> UrAdmittanceError:
    """Which part of which package is not as expected, and which versions are."""
    known = " and ".join(f"{name} {versions}" for name, versions in WORKS_WITH.items())
    install = " ".join(f"'{name}{versions}'" for name, versions in WORKS_WITH.items())
    return UrAdmittanceError(
        f"the page cannot start: {part} is missing or different in {package} {importlib.metadata.version(package)}; "
        f"the page works with {known}: pip install {install}"
    )


def check() -> None:
    """Every part is where the page expects it."""
    for package, module, part in PARTS:
        try:
            operator.attrgetter(part)(importlib.import_module(module))
        except (ImportError, AttributeError):
            raise changed(package, f"{module}.{part}") from None
    for name, part in SOURCES:
        path = Path(viser.__file__).parent / "client" / "src" / name
        if not path.is_file() or part not in path.read_text(encoding="utf-8"):
            raise changed("viser", f"{part} in client/src/{name}")


def document(recording: bool = False) -> bytes:
    """viser's page with what this one adds (addition.html): a stop button over everything, the stop key everywhere, a
    watch over the connection, a title. recording: there is no arm to stop."""
    path = Path(viser.__file__).parent / CLIENT
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    head, end, rest = text.partition("</head>")
    if not end:
        raise changed("viser", CLIENT)
    addition = Path(__file__).with_name("addition.html").read_text(encoding="utf-8")
    if recording:
        head += "<script>document.documentElement.dataset.recording = ''</script>"
    return (head + addition + end + rest).encode()


def guarded_server(gate: Callable[..., Any], own: socket.socket) -> viser.ViserServer:
    """A viser server that listens on the bound socket `own`, asks `gate` about every request (process_request of
    websockets) and takes no message in NOT_OFFERED."""
    check()
    unwanted = _refuse_messages()
    original, guarded = websockets.asyncio.server.serve, False

    def serve(handler: Any, *_where: Any, **options: Any) -> Any:
        nonlocal guarded
        guarded = True
        ours = {"sock": own, "host": None, "port": None, "process_request": gate, "max_size": MAX_MESSAGE_BYTES}
        return original(handler, **(options | ours))

    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # a plain GET is no failed handshake
    host, port = own.getsockname()[:2]
    websockets.asyncio.server.serve = serve  # type: ignore[assignment, misc]
    try:
        server = viser.ViserServer(host=host, port=port, verbose=False)
    finally:
        websockets.asyncio.server.serve = original  # type: ignore[misc]
    if guarded and not unwanted:
        return server
    server.stop()
    raise changed("viser", f"the handler of {min(unwanted)}" if guarded else "the call of websockets' serve")


def _refuse_messages() -> set[str]:
    """From now on no connection gets a handler for NOT_OFFERED. Returns those that nobody has tried to register yet."""
    from viser import _messages
    from viser.infra import WebsockMessageHandler

    original = WebsockMessageHandler.register_handler
    kinds = {getattr(_messages, name): name for name in NOT_OFFERED}
    unseen = set(NOT_OFFERED)

    def register_handler(self: Any, message: Any, callback: Any) -> None:
        if message in kinds:
            unseen.discard(kinds[message])
        else:
            original(self, message, callback)

    WebsockMessageHandler.register_handler = register_handler  # type: ignore[method-assign, assignment]
    return unseen
