"""Pictures of the page for the README, taken from a real demo in a real browser.

    python scripts/make_screenshots.py      # writes page*.png and page.webp in docs/assets
    python scripts/make_screenshots.py --animation      # only the last

Needs chromium and playwright; without a graphics card the browser draws in software, so it takes two minutes.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ur_admittance.dashboard.views import CAMERA, FIELD_OF_VIEW, LOOK_AT
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry.reader import TelemetryReader

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
SIZE = {"width": 1400, "height": 860}
VIDEO_SIZE = {"width": 1300, "height": 740}
VIDEO_WIDTH, VIDEO_SECONDS, RELEASE_S, TAKES = 720, 9.0, 2.5, 5
FRAME_S, QUALITY = 0.1, 60  # below 1 MB: ten frames a second at most, WebP
BROWSER = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
)
NAME = "screenshots"
PUSH_S = 10.0  # the longest that the simulated hand pushes


def main() -> None:
    ASSETS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ur_admittance", "demo", "--no-browser", "--calm", "--name", NAME]
        demo = subprocess.Popen([*command, "--port", "0", "--folder", folder], stdout=subprocess.PIPE, text=True)
        try:
            assert demo.stdout is not None
            url = demo.stdout.readline().split()[4]
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER.split())
                if "--animation" not in sys.argv:
                    take_pictures(browser.new_page(viewport=SIZE), url)
                take_animation(browser.new_page(viewport=VIDEO_SIZE), url)
                browser.close()
        finally:
            demo.terminate()
            demo.wait(20)


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
        take_pushed(tab, [0, 8, 0, 0, 0, 0], 1500, ASSETS / "page.png")
        press(tab, "Spring")
        tab.wait_for_timeout(4000)
        take_pushed(tab, [0, -22, 12, 0, 0, 0], 3000, ASSETS / "page_spring.png")
        tab.get_by_role("tab", name="Surroundings").click(force=True)
        choice = tab.locator("label", has_text="Situation").locator("xpath=ancestor::div[2]").locator("input").first
        choice.click(force=True)
        tab.get_by_role("option", name="Press with 10 N").click(force=True)
        tab.wait_for_timeout(500)
        press(tab, "Load")
        tab.mouse.move(700, 600)
        while abs(command(reader)["wrench_tcp"][2] - 10.0) > 0.5:
            tab.wait_for_timeout(200)
        tab.wait_for_timeout(5000)
        tab.screenshot(path=ASSETS / "page_table.png")
        tell({"environment": {"kind": "none"}})
        tell({"set": {"admittance.desired_wrench": [0.0] * 6, "admittance.force_axes": [False] * 6}})
        take_near(tab, reader)
    tab.close()


def take_pushed(tab: Page, wrench: list[float], wait_ms: int, path: Path) -> None:
    """While a hand pushes. On a busy computer a picture takes longer than the longest push: then it is taken again."""
    for _ in range(TAKES):
        began = time.monotonic()
        tell({"push": {"wrench": wrench, "seconds": PUSH_S}})
        tab.wait_for_timeout(wait_ms)
        tab.screenshot(path=path)
        in_time = time.monotonic() - began < PUSH_S
        tell({"push": {"wrench": [0.0] * 6, "seconds": 0.1}})
        tab.wait_for_timeout(2000)
        if in_time:
            return
    raise SystemExit(f"{path.name}: the computer is too busy")


def take_near(tab: Page, reader: TelemetryReader) -> None:
    """The arm is pushed against a box that it must not hit, above a table."""
    x, y, _ = command(reader)["p_tcp"].tolist()
    tell({"set": {"collision.box_1.center": [x, y + 0.35, 0.15], "collision.box_1.size": [0.25, 0.2, 0.3]}})
    tell({"set": {"collision.table_height": -0.05}})
    take_pushed(tab, [0, 25, -25, 0, 0, 0], 4000, ASSETS / "page_near.png")
    tell({"set": {"collision.box_1.center": None, "collision.table_height": None}})


def take_animation(tab: Page, url: str) -> None:
    """Pulled against a spring and let go: heavy and soft, so that it swings slowly enough for a browser in software."""
    open_page(tab, url + "?fixedDpr=0.5")
    tell({"set": {"admittance.mass": [36.0] * 3 + [0.8] * 3, "admittance.stiffness": [90.0] * 3 + [0.0] * 3}})
    tell({"set": {"admittance.damping_ratio": [0.12] * 3 + [0.8] * 3}})
    tab.wait_for_timeout(3000)
    frames = []
    for _ in range(TAKES):  # a browser in software draws a frame or two per second: several takes of the same motion
        tell({"push": {"wrench": [0, -17, 9, 0, 0, 0], "seconds": RELEASE_S}})
        began = time.monotonic()
        while (now := time.monotonic() - began) < VIDEO_SECONDS:
            image = Image.open(BytesIO(tab.screenshot()))
            height = round(VIDEO_WIDTH * image.height / image.width)
            frames.append((now, image.convert("RGB").resize((VIDEO_WIDTH, height), Image.Resampling.LANCZOS)))
        tab.wait_for_timeout(1000 * VIDEO_SECONDS)
    write_video(sorted(frames, key=lambda frame: frame[0]))


def write_video(frames: list[tuple[float, Image.Image]]) -> None:
    """frames: (time [s], picture) in order; those closer than FRAME_S to the one before are left out."""
    kept = frames[:1]
    for frame in frames[1:]:
        if frame[0] - kept[-1][0] >= FRAME_S:
            kept.append(frame)
    times = [1000.0 * t for t, _ in kept] + [1000.0 * VIDEO_SECONDS]
    shown = [round(b - a) for a, b in pairwise(times)]
    first, *others = (picture for _, picture in kept)
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


def on_screen(tab: Page, reader: TelemetryReader) -> tuple[float, float]:
    """Where the page's first camera sees the TCP [px]."""
    box = tab.locator("canvas").first.bounding_box()
    assert box is not None
    forward = np.subtract(LOOK_AT, CAMERA) / np.linalg.norm(np.subtract(LOOK_AT, CAMERA))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    d = command(reader)["p_tcp"] + [0.0, 0.0, 0.034] - CAMERA  # the ball sits on the rod, over the TCP
    scale = 0.5 * box["height"] / np.tan(0.5 * FIELD_OF_VIEW) / (d @ forward)
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    return x + scale * (d @ right), y - scale * (d @ np.cross(right, forward))


if __name__ == "__main__":
    main()
