"""The page's process: python -m ur_admittance.page NAME HOST PORT FOLDER SHADOWS.

It prints one line of JSON: {"url": ..., "sentence": ...}, or {"problem": ...} when it cannot start.
"""

import contextlib
import io
import json
import os
import signal
import sys
import threading
from pathlib import Path

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page import TOKEN_VARIABLE
from ur_admittance.runtime.realtime import leave_the_loop_alone


def main(arguments: list[str]) -> int:
    name, host, port, folder, shadows = arguments
    leave_the_loop_alone()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the loop, which ends this process when it is done
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # viser introduces itself
            from ur_admittance.page.page import LivePage

            token = os.environ.get(TOKEN_VARIABLE)
            page = LivePage(name, host, int(port) if port else None, token, Path(folder), bool(shadows))
    except UrAdmittanceError as error:
        _report({"problem": str(error)})
        return 2
    _report({"url": page.address.url, "sentence": page.address.sentence})
    with contextlib.redirect_stdout(io.StringIO()):
        page.run(stop)
    return 0


def _report(content: dict[str, str]) -> None:
    sys.stdout.write(f"{json.dumps(content)}\n")
    sys.stdout.flush()


def _end_with_parent(stop: threading.Event) -> None:
    """The pipe from the parent ends when it dies, however it dies."""
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
