"""Does the page disturb the control loop? Period of the loop without the page, and with it open and being dragged.

    python benchmarks/page_timing.py [--seconds 40] [--rounds 3]

Each round runs the simulated arm in real time twice: alone, then with the page in a browser whose ball is dragged to
and fro the whole time. Wanted: p99 of the period with the page at most 1.1 times the one without; the page under 20 %
of a core at 30 frames a second. Run it on a quiet machine: a browser without a graphics card draws in software and
takes all the processor it can get (the loop runs before it, with real-time priority).
"""

import argparse
import contextlib
import functools
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ur_admittance import page as dashboard
from ur_admittance.runtime.report import LoopReport

NAME = "page-timing"
BROWSER = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        drive(options.drive)
        return
    from ur_admittance.robots.simulated.interactive_world import run_simulated  # not in the visitor's process

    alone, together, shares = [], [], []
    for i in range(options.rounds):
        alone.append(p99(run_simulated(name=NAME, duration=options.seconds)))
        drags = Drags()
        together.append(
            p99(run_simulated(name=NAME, duration=options.seconds, beside=functools.partial(dragged, drags)))
        )
        if drags.count == 0:
            sys.exit("the ball was never dragged: take more --seconds, or a machine with less to do")
        shares.append(drags.share)
        print(
            f"round {i + 1}: p99 alone {alone[-1]:.0f} us, with the page {together[-1]:.0f} us; {drags.count} drags, "
            f"{drags.updates:.0f} updates/s in the browser, page {100 * drags.share:.1f} % of a core"
        )
    ratio = statistics.median(together) / statistics.median(alone)
    print(f"median p99 with the page over without: {ratio:.3f} (wanted: at most 1.1)")
    print(f"page: {100 * statistics.median(shares):.1f} % of a core (wanted: under 20 %)")


def p99(report: LoopReport) -> float:
    """[us]"""
    return 1e6 * report.period.p99


@dataclass
class Drags:
    """What the page and its visitor did while the loop ran."""

    count: int = 0
    updates: float = 0.0  # per second, that reached the browser
    began: tuple[float, float] | None = None  # time and CPU time of the page when the first drag began [s]
    share: float = 0.0  # of a core, since then

    def listen(self, driver: "subprocess.Popen[str]", pid: int) -> None:
        assert driver.stdout is not None
        for line in driver.stdout:
            if self.began is None:
                self.began = (time.monotonic(), cpu_seconds(pid))
            else:
                self.count, self.updates = self.count + 1, float(line)


@contextlib.contextmanager
def dragged(drags: Drags) -> Iterator[None]:
    """The page with somebody who drags the ball."""
    with dashboard.start(NAME, port=0, shadows=False) as page:
        command = [sys.executable, __file__, "--drive", page.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            threading.Thread(target=drags.listen, args=(driver, page.pid), daemon=True).start()
            try:
                yield
            finally:
                if drags.began is not None:
                    passed = time.monotonic() - drags.began[0]
                    drags.share = (cpu_seconds(page.pid) - drags.began[1]) / passed
                driver.terminate()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drive(url: str) -> None:
    """Drag the ball to and fro until killed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER.split())
        tab = browser.new_page(viewport={"width": 1100, "height": 700})
        received: list[float] = []
        tab.on("websocket", lambda socket: socket.on("framereceived", lambda _: received.append(time.monotonic())))
        tab.goto(url + "?fixedDpr=0.2")
        tab.locator("[data-mode]").first.wait_for(timeout=60_000)
        sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
        from make_screenshots import on_screen

        from ur_admittance.runtime.telemetry import TelemetryReader

        with TelemetryReader(NAME) as reader:
            sys.stdout.write("dragging\n")
            sys.stdout.flush()
            while True:
                began, _ = time.monotonic(), received.clear()
                x, y = on_screen(tab, reader)
                tab.mouse.move(x, y)
                tab.mouse.down()
                for i in range(12):
                    way = 6 * min(i, 12 - i)
                    tab.mouse.move(x - way, y - way)
                    tab.wait_for_timeout(50)
                tab.mouse.up()
                sys.stdout.write(f"{len(received) / (time.monotonic() - began)}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
