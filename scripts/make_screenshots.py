"""Pictures of the page for the README, taken from a real demo in a real browser.

    python scripts/make_screenshots.py      # writes page.png, page_spring.png, page_table.png, page.gif in docs/assets

Needs chromium and playwright; without a graphics card the browser draws in software, so it takes two minutes.
"""

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ur_admittance.dashboard.page import CAMERA, FIELD_OF_VIEW, LOOK_AT
from ur_admittance.runtime.telemetry_reader import TelemetryReader

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
SIZE = {"width": 1400, "height": 860}
GIF_SIZE = {"width": 1200, "height": 740}
GIF_WIDTH, GIF_FRAMES, GIF_FRAME_MS = 800, 36, 110
BROWSER = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
)
NAME = "screenshots"


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
                take_pictures(browser.new_page(viewport=SIZE), url)
                take_animation(browser.new_page(viewport=GIF_SIZE), url)
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
        press(tab, "right")
        tab.wait_for_timeout(2500)
        drag(tab, reader, -80, -50)
        tab.screenshot(path=ASSETS / "page.png")
        tab.mouse.up()
        press(tab, "Spring")
        tab.wait_for_timeout(4500)
        drag(tab, reader, -60, -60)
        tab.screenshot(path=ASSETS / "page_spring.png")
        tab.mouse.up()
        tab.get_by_role("tab", name="Surroundings").click(force=True)
        tab.wait_for_timeout(1500)
        tab.locator("label", has_text="Situation").locator("xpath=ancestor::div[2]").locator("input").first.click(
            force=True
        )
        tab.get_by_role("option", name="Press with 10 N").click(force=True)
        tab.wait_for_timeout(500)
        press(tab, "Load")
        tab.wait_for_timeout(6000)
        tab.screenshot(path=ASSETS / "page_table.png")
    tab.close()


def take_animation(tab: Page, url: str) -> None:
    """Pull against the spring and let go."""
    open_page(tab, url + "?fixedDpr=0.7")
    frames = []
    with TelemetryReader(NAME) as reader:
        press(tab, "Bouncy")
        tab.wait_for_timeout(4000)
        x, y = on_screen(tab, reader)
        tab.mouse.move(x, y)
        tab.mouse.down()
        for i in range(GIF_FRAMES):
            if i < 14:
                tab.mouse.move(x - 6 * i, y - 5 * i)
            if i == 18:
                tab.mouse.up()
                tab.mouse.move(x, y + 200)
            image = Image.open(BytesIO(tab.screenshot()))
            height = round(GIF_WIDTH * image.height / image.width)
            frames.append(image.convert("RGB").resize((GIF_WIDTH, height), Image.Resampling.LANCZOS))
    small = [frame.quantize(96, dither=Image.Dither.NONE) for frame in frames]
    small[0].save(ASSETS / "page.gif", save_all=True, append_images=small[1:], duration=GIF_FRAME_MS, loop=0)


def press(tab: Page, name: str) -> None:
    tab.get_by_role("button", name=name, exact=True).first.dispatch_event("click")


def drag(tab: Page, reader: TelemetryReader, dx: float, dy: float) -> None:
    """Pull the ball by some pixels and keep it there."""
    x, y = on_screen(tab, reader)
    tab.mouse.move(x, y)
    tab.mouse.down()
    for i in range(1, 11):
        tab.mouse.move(x + dx * i / 10, y + dy * i / 10)
        tab.wait_for_timeout(40)
    tab.wait_for_timeout(150)


def on_screen(tab: Page, reader: TelemetryReader) -> tuple[float, float]:
    """Where the page's first camera sees the TCP [px]."""
    record, box = reader.latest(), tab.locator("canvas").first.bounding_box()
    assert record is not None
    assert box is not None
    forward = np.subtract(LOOK_AT, CAMERA) / np.linalg.norm(np.subtract(LOOK_AT, CAMERA))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    d = record["command"]["p_tcp"] + [0.0, 0.0, 0.034] - CAMERA  # the ball sits on the rod, over the TCP
    scale = 0.5 * box["height"] / np.tan(0.5 * FIELD_OF_VIEW) / (d @ forward)
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    return x + scale * (d @ right), y - scale * (d @ np.cross(right, forward))


if __name__ == "__main__":
    main()
