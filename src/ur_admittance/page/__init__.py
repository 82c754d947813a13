"""The page in the browser: see the arm, pull it, tune it. A process of its own beside the control loop.

shown = page.start("main")            # http://127.0.0.1:8080
...                                   # the loop runs; the page reads its telemetry and writes to its mailbox
shown.stop()

Only light modules are imported here: a control loop may start the page without loading a web server itself.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime import registry

DEFAULT_HOST = "127.0.0.1"
TOKEN_VARIABLE = "UR_ADMITTANCE_PAGE_TOKEN"  # not an argument: those can be read by every user of the computer
STOP_S = 3.0


@dataclass
class Page:
    """A page that runs in its own process; ``with`` ends it."""

    url: str
    sentence: str  # where it is and who can reach it
    process: subprocess.Popen[str]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        if self.running:
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(
    name: str = registry.DEFAULT_NAME,
    host: str = DEFAULT_HOST,
    port: int | None = None,
    token: str | None = None,
    folder: Path | str = "ur_admittance_page",
    shadows: bool = True,
) -> Page:
    """Start the page of the controller called `name`; it waits for a controller that is not running yet.

    The page needs nothing but the controller's telemetry and mailbox, and finds both by the name.
    host: any address but this computer's own requires a token; one is generated if none is given. port None: the first
    free one from 8080 on. folder: where presets and recordings are kept, created when first needed. shadows: slow in a
    browser without a graphics card.
    """
    arguments = [name, host, "" if port is None else str(port), str(folder), "shadows" if shadows else ""]
    command = [sys.executable, "-m", "ur_admittance.page", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != TOKEN_VARIABLE}
    if token is not None:
        environment[TOKEN_VARIABLE] = token
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()  # empty: it died
    report = json.loads(line) if line else {}
    if "url" not in report:
        process.wait()
        raise UrAdmittanceError(report.get("problem") or f"the page did not start (exit code {process.returncode})")
    return Page(report["url"], report["sentence"], process)


@contextlib.contextmanager
def page_process(
    name: str = registry.DEFAULT_NAME,
    *,
    say: Callable[[str], object] = lambda text: sys.stderr.write(f"{text}\n"),
    **options: Any,
) -> Iterator[Page]:
    """The page for as long as the block runs; options as for `start`; say: gets the sentence with its address."""
    with start(name, **options) as page:
        say(page.sentence)
        yield page
