"""A real demo (loop and page in their own processes) and a real browser."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest
from tests.page.browsing import number_beside

from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry import TelemetryReader

SOURCE = str(Path(__file__).parents[2] / "src")
START_S = 240.0  # the very first run compiles
HARMLESS = "Unable to preventDefault inside passive event listener"  # Chromium about viser's drags; nothing is lost
SMALL = "?fixedDpr=0.15"  # fewer pixels: without a graphics card the browser draws in software

# Twenty pictures per second: without a graphics card each costs a processor 10 ms that other tests need.
FEW_PICTURES = """
const picture = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => setTimeout(() => picture(draw), 33);
window.cancelAnimationFrame = clearTimeout;
"""

# Chromium without a graphics card is told so, in a notice that may cover the ball.
NOTICES_LET_THROUGH = ".mantine-Notifications-root * { pointer-events: none !important; }"

# What is typed into a page that is still being built is lost with the field.
COMPLETE = """() => {
  const fields = document.querySelectorAll("input").length;
  window.unchanged = fields > 0 && fields === window.fieldsBefore ? (window.unchanged ?? 0) + 1 : 0;
  window.fieldsBefore = fields;
  return window.unchanged >= 3;
}"""

CLEARED = """() => {
  document.activeElement?.blur();
  document.querySelectorAll(".mantine-Notification-closeButton").forEach((button) => button.click());
  return !document.querySelector(".mantine-Notification-root, .mantine-Modal-content");
}"""


def environment():
    return {**os.environ, "PYTHONPATH": SOURCE}


def unique_name():
    return "page-" + uuid.uuid4().hex[:10]


class Demo:
    """`ur-admittance demo` as a user starts it, and a look behind the page."""

    def __init__(self, folder, *options):
        self.name, self.folder = unique_name(), folder
        command = [sys.executable, "-m", "ur_admittance", "demo", "--no-browser", "--calm", "--no-shadows"]
        command += ["--port", "0", "--name", self.name, "--folder", str(folder), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
        )
        line = self.process.stdout.readline()
        assert "The page is at" in line, self.process.stderr.read()
        self.url = line.split()[4]
        self.reader = TelemetryReader(self.name)

    @property
    def command(self):
        return self.reader.latest()["command"]

    @property
    def tcp(self):
        return np.array(self.command["p_tcp"])

    @property
    def mode(self):
        return int(self.command["mode"])

    @property
    def changes(self):
        """How often parameters have been changed."""
        return int(self.reader.latest()["loop"]["params_revision"])

    def parameter(self, group, key):
        return self.reader.about()["parameters"][group][key]

    def send(self, message):
        answer = send(message, self.name, timeout=5.0)
        assert answer.accepted, answer.text

    def end(self):
        self.process.send_signal(2)
        try:
            _, errors = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.close()
        return errors


def pytest_collection_modifyitems(items):
    """A browser stays open to the end of a session and takes a processor: tests of one run by themselves (Makefile)."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) and item.path.parent.name == "page":
            assert item.path.name.endswith("_in_the_browser.py"), f"{item.path.name} opens a browser: rename it"


@pytest.fixture(scope="session")
def shared_demo(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("page"))
    yield demo
    demo.end()


@pytest.fixture
def demo(shared_demo):
    """Active, with the default feel, in free space, near home."""
    shared_demo.send({"hand": "let_go"})
    from ur_admittance.params import Parameters

    defaults = Parameters().flat()
    names = ("mass", "damping_ratio", "stiffness", "desired_wrench", "force_axes")
    values = {f"admittance.{name}": defaults[f"admittance.{name}"] for name in names}
    values |= {name: defaults[name] for name in ("safety.max_force", "max_linear_velocity")}
    shared_demo.send({"set": values})
    if shared_demo.mode == 3:
        shared_demo.send({"request": "reset_fault"})
        eventually(lambda: shared_demo.mode == 0)
    if shared_demo.mode == 0:
        shared_demo.send({"request": "activate_with_load"})
    eventually(lambda: shared_demo.mode == 1)
    return shared_demo


BARE_LOOP = """
import contextlib, sys
from ur_admittance.robots.operate import Operation, operate
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance_lab.null_robot import NullRobot
from ur_admittance.runtime.clock import RealTimeClock
arm = robot_model("ur10e")
controller = AdmittanceController(arm, Parameters())
controller.configure()
beside = lambda: contextlib.nullcontext(print("ready", flush=True))
robot, clock = NullRobot(model=arm), RealTimeClock(500.0)
operate(controller, robot, clock, Operation(arm.name, sys.argv[1], priority=None, beside=beside))
"""


@pytest.fixture
def start_loop():
    """start_loop(name) -> process of a loop that understands what every loop does, and nothing of a simulation."""
    processes = []

    def start(name):
        command = [sys.executable, "-c", BARE_LOOP, name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
        processes.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in processes:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def bare_loop(start_loop):
    """The name of such a loop."""
    name = unique_name()
    start_loop(name)
    return name


@pytest.fixture(scope="session")
def browser(optional, missing):
    playwright = optional("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing("chromium is not installed")
    arguments = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
    )
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=arguments.split())
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def left_open():
    """The tab that the last test has left: (url, width, height) -> tab. Loading it takes longer than most tests."""
    tabs = {}
    yield tabs
    for tab in tabs.values():
        tab.context.close()


@pytest.fixture
def visit(browser, left_open):
    """visit(url) opens the page, the first of a test in the tab that the test before has left, every other in a browser
    of its own; at the end no page may have complained or left the host."""
    opened = []

    def open_page(url, width=1000, height=620):
        place, tab = (url, width, height), None
        if not opened:
            before = left_open.pop(place, None)
            while left_open:
                left_open.popitem()[1].context.close()
            tab = before and as_new(before, width, height)
        tab = tab or load(browser, *place)
        opened.append((place, tab))
        return tab

    yield open_page
    for i, (place, tab) in enumerate(opened):
        outside = [r for r in tab.requests if not r.startswith((place[0], "data:", "blob:"))]
        complaints = [text for text in tab.complaints if HARMLESS not in text]
        if i == 0 and not tab.is_closed() and not complaints:
            left_open[place] = tab
        else:
            tab.context.close()
        assert outside == []
        assert complaints == []


def load(browser, url, width, height):
    context = browser.new_context(viewport={"width": width, "height": height})
    context.add_init_script(FEW_PICTURES)
    tab = context.new_page()
    tab.complaints, tab.requests = [], []
    tab.on("console", lambda m: tab.complaints.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("request", lambda request: tab.requests.append(request.url))
    tab.set_default_timeout(60_000)
    tab.goto(url + SMALL)
    tab.add_style_tag(content=NOTICES_LET_THROUGH)
    tab.locator("[data-mode]").first.wait_for()
    tab.wait_for_function(COMPLETE, polling=300)
    return tab


def as_new(tab, width, height):
    """The first size, the first tab of the panel, the first camera, nothing focused, no notice, the values of the
    `demo`. None, and closed, if the test before has left it otherwise."""
    from playwright.sync_api import Error

    try:
        tab.mouse.up()
        tab.set_viewport_size({"width": width, "height": height})
        tab.get_by_role("tab", name="Feel").dispatch_event("click", timeout=5000)
        tab.get_by_role("button", name="start", exact=True).first.dispatch_event("click", timeout=5000)
        tab.wait_for_function(CLEARED, polling=200, timeout=5000)
        eventually(lambda: number_beside(tab, "Mass").input_value() == "8", timeout=5.0)
        return tab
    except (Error, AssertionError):
        tab.context.close()
        return None


def eventually(condition, timeout=30.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


@pytest.fixture(name="eventually")
def _eventually():
    return eventually


@pytest.fixture
def press():
    """press(tab, "Light") presses a button of the page without waiting for the next frame."""

    def do(tab, name):
        tab.get_by_role("button", name=name, exact=True).first.dispatch_event("click")

    return do


@pytest.fixture
def on_screen():
    """on_screen(tab, p) -> x, y of a point [m] of the base frame, seen by the page's first camera."""
    from ur_admittance.page.input_panel import CAMERA, FIELD_OF_VIEW, LOOK_AT

    def project(tab, p):
        box = tab.locator("canvas").first.bounding_box()
        forward = np.subtract(LOOK_AT, CAMERA)
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        d = np.add(p, [0.0, 0.0, 0.034]) - CAMERA  # the ball sits on the rod, over the TCP
        scale = 0.5 * box["height"] / np.tan(0.5 * FIELD_OF_VIEW) / (d @ forward)
        return box["x"] + 0.5 * box["width"] + scale * (d @ right), box["y"] + 0.5 * box["height"] - scale * (d @ up)

    return project
