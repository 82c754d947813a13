"""Pictures of the page, taken from a real demo in a real browser.

    python scripts/make_screenshots.py                  # writes page*.png and page.webp in docs/assets
    python scripts/make_screenshots.py --animation      # only the last

Needs chromium and playwright. Without a graphics card the browser draws a frame per second, so the demo is slowed down:
its processes get a slow clock. All together takes about five minutes.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry import TelemetryReader

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
SIZE, SLOW = {"width": 1400, "height": 860}, 4.0  # times as long as in reality
VIDEO_SIZE, VIDEO_WIDTH, VIDEO_SECONDS, VIDEO_SLOW = {"width": 1300, "height": 740}, 900, 9.5, 12.0
QUALITY = 50  # of WebP: below 1 MB
PUSH_S = 10.0  # the longest that the simulated hand pushes
SLOW_CLOCK = """
import time
def slow(read, unit): return lambda: unit(read() / {0})
for name in ("monotonic", "perf_counter"):
    setattr(time, name, slow(getattr(time, name), float))
    setattr(time, name + "_ns", slow(getattr(time, name + "_ns"), int))
time.sleep = lambda seconds, sleep=time.sleep: sleep({0} * seconds)
"""
BROWSER = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
)
NAME = "screenshots"


def main() -> None:
    ASSETS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER.split())
        if "--animation" not in sys.argv:
            with demo(SLOW) as url:
                take_pictures(browser.new_page(viewport=SIZE), url)
        with demo(VIDEO_SLOW) as url:
            take_animation(browser.new_page(viewport=VIDEO_SIZE), url)
        browser.close()


@contextlib.contextmanager
def demo(slower: float) -> Iterator[str]:
    """The address of the page of a demo that takes this many times as long for everything."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(SLOW_CLOCK.format(slower), encoding="utf-8")
        paths = [folder, os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": ":".join(filter(None, paths))}
        command = [sys.executable, "-m", "ur_admittance", "demo", "--no-browser", "--calm", "--name", NAME]
        command += ["--port", "0", "--folder", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[4]
        finally:
            process.terminate()
            process.wait(60)


def open_page(tab: Page, url: str) -> None:
    tab.set_default_timeout(120_000)
    tab.goto(url)
    tab.locator("[data-mode]").first.wait_for()
    tab.wait_for_timeout(4000)
    tab.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())")
    tab.wait_for_timeout(1500)


def take_pictures(tab: Page, url: str) -> None:
    open_page(tab, url)
    with TelemetryReader(NAME) as reader:
        take_pushed(tab, [0, 8, 0, 0, 0, 0], 1.5, ASSETS / "page.png")
        press(tab, "Spring")
        wait(tab, 2.0)
        take_pushed(tab, [0, -22, 12, 0, 0, 0], 3.0, ASSETS / "page_spring.png")
        tab.get_by_role("tab", name="Surroundings").click(force=True)
        choice = tab.locator("label", has_text="Situation").locator("xpath=ancestor::div[2]").locator("input").first
        choice.click(force=True)
        tab.get_by_role("option", name="Press with 10 N").click(force=True)
        wait(tab, 0.2)
        press(tab, "Load")
        tab.mouse.move(700, 600)
        while abs(command(reader)["wrench_tcp"][2] - 10.0) > 0.5:
            wait(tab, 0.2)
        wait(tab, 5.0)
        tab.screenshot(path=ASSETS / "page_table.png")
        tell({"environment": {"kind": "none"}})
        tell({"set": {"admittance.desired_wrench": [0.0] * 6, "admittance.force_axes": [False] * 6}})
        take_near(tab, reader)
    tab.close()


def take_pushed(tab: Page, wrench: list[float], after: float, path: Path) -> None:
    """While a hand pushes, some time [s] after it has begun."""
    tell({"push": {"wrench": wrench, "seconds": PUSH_S}})
    wait(tab, after)
    tab.screenshot(path=path)
    tell({"push": {"wrench": [0.0] * 6, "seconds": 0.1}})
    wait(tab, 2.0)


def wait(tab: Page, seconds: float) -> None:
    """Of the slow demo."""
    tab.wait_for_timeout(1000 * SLOW * seconds)


def take_near(tab: Page, reader: TelemetryReader) -> None:
    """The arm is pushed against a box that it must not hit, above a table."""
    x, y, _ = command(reader)["p_tcp"].tolist()
    tell({"set": {"collision.box_1.center": [x, y + 0.35, 0.15], "collision.box_1.size": [0.25, 0.2, 0.3]}})
    tell({"set": {"collision.table_height": -0.05}})
    take_pushed(tab, [0, 25, -25, 0, 0, 0], 4.0, ASSETS / "page_near.png")
    tell({"set": {"collision.box_1.center": None, "collision.table_height": None}})


def take_animation(tab: Page, url: str) -> None:
    """Pushed aside, and left: the arm stays. Pushed back. With a spring it comes back by itself."""
    open_page(tab, url + "?fixedDpr=0.5")
    tell({"set": {"contact.stabilizer": False}})  # a busy computer shakes the arm, which it would take for a contact

    def push(force: list[float], share: float) -> None:
        tell({"push": {"wrench": [*(share * f for f in force), 0, 0, 0], "seconds": 1.2}})

    events: list[tuple[float, Callable[[], None]]] = [(5.2, lambda: press(tab, "Spring"))]
    for at, force in ((0.6, [0, 14, 0]), (3.0, [0, -14, 0]), (6.6, [0, -20, 14])):
        events += [(at + 0.3 * share, partial(push, force, share)) for share in (0.2, 0.4, 0.6, 0.8, 1.0)]  # as a hand
    events.sort(key=lambda event: event[0])
    frames, began = [], time.monotonic()
    while (now := (time.monotonic() - began) / VIDEO_SLOW) < VIDEO_SECONDS:
        while events and events[0][0] <= now:
            events.pop(0)[1]()
        image = Image.open(BytesIO(tab.screenshot()))
        height = round(VIDEO_WIDTH * image.height / image.width)
        frames.append((now, image.convert("RGB").resize((VIDEO_WIDTH, height), Image.Resampling.LANCZOS)))
    write_video(frames)


def write_video(frames: list[tuple[float, Image.Image]]) -> None:
    """frames: (time [s], picture)."""
    times = [1000.0 * t for t, _ in frames] + [1000.0 * VIDEO_SECONDS]
    shown = [round(b - a) for a, b in pairwise(times)]
    first, *others = (picture for _, picture in frames)
    path = ASSETS / "page.webp"
    first.save(path, save_all=True, append_images=others, duration=shown, loop=0, quality=QUALITY, method=4)


def tell(message: dict[str, Any]) -> None:
    answer = send(message, NAME, timeout=5.0)
    assert answer.accepted, answer.text


def command(reader: TelemetryReader) -> Any:
    record = reader.latest()
    assert record is not None
    return record["command"]


def press(tab: Page, name: str) -> None:
    tab.get_by_role("button", name=name, exact=True).first.dispatch_event("click")


if __name__ == "__main__":
    main()
