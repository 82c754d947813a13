"""viser's document with what this page adds (addition.html): a stop button over everything, the stop key everywhere,
a watch over the connection, a title."""

from importlib.resources import files

from ur_admittance.page.viser_internals import client_document

STOP_KEY = "escape"  # the hotkey of the stop command (panel.py)


def document() -> bytes:
    """The whole page."""
    head, end, rest = client_document().partition("</head>")
    addition = files("ur_admittance.page").joinpath("addition.html").read_text(encoding="utf-8")
    return (head + addition + end + rest).encode()
