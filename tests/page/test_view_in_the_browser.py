"""What the page looks like: small screens, cameras, curves, and a connection that is lost."""

import os
import signal

import numpy as np
import pytest
from tests.page.browsing import enter, number_beside

from ur_admittance import page as dashboard
from ur_admittance.model import robot_model
from ur_admittance.page.input_panel import DRAWN_FOR, FROM_TOOL, VIEWS, size

pytestmark = pytest.mark.timeout(300)

CAMERA = "window.__viserMutable.camera.getWorldPosition(window.__viserMutable.camera.position.clone()).toArray()"
THREE_FROM_BASE = np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]])  # axes of the browser's scene
CHARTS = "Object.values(window.__viserTestpoints.uplots).map(({ chart }) => chart)"


@pytest.mark.parametrize("sizes", [[(390, 844), (844, 390)], [(1280, 800), (1000, 700)]], ids=["telephone", "tablet"])
def test_on_a_small_screen_nothing_covers_the_view(demo, visit, sizes):
    """As it is loaded, and turned or made smaller."""
    tab = visit(demo.url, *sizes[0])
    for width, height in sizes:
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(1000)
        assert tab.evaluate("[...document.querySelectorAll('.mantine-ScrollArea-viewport')].every("
                            "area => area.scrollWidth <= area.clientWidth)"), "nothing to scroll sideways"  # fmt: skip
        view = tab.locator("canvas").first.bounding_box()
        stop, status = (tab.locator(name).bounding_box() for name in ("#stop-everything", ".arm-status"))
        assert min(view["width"], view["height"]) > 380
        beside = status["x"] >= view["x"] + view["width"] or status["y"] >= view["y"] + view["height"]
        assert beside, "the panel is next to the view"
        assert stop["x"] + stop["width"] <= view["x"] + view["width"], "STOP is over the view, not over the panel"


def test_the_camera_goes_where_its_button_says(demo, visit, press, eventually):
    tab, scale = visit(demo.url, 1280, 800), size(robot_model("ur5e")) / DRAWN_FOR

    def camera_at(place):
        return np.allclose(tab.evaluate(CAMERA), THREE_FROM_BASE @ place, atol=0.01)

    for name in ("front", "side", "top"):
        press(tab, name)
        eventually(lambda name=name: camera_at(scale * np.array(VIEWS[name][0])))
    press(tab, "tool")
    eventually(lambda: camera_at(demo.tcp + FROM_TOOL))


def test_curves_have_a_time_axis_a_window_and_a_pause(demo, visit, press, eventually):
    tab = visit(demo.url, 1280, 800)
    newest = f"{CHARTS}[0].data[1].at(-1)"
    eventually(lambda: tab.evaluate(f"{CHARTS}.length") == 6)
    drawn = f"{CHARTS}[0].axes[0]._values ?? []"  # nothing before the first drawing
    eventually(lambda: tab.evaluate(drawn).count("0") == 1)
    for window in (5, 30):
        press(tab, str(window))
        eventually(lambda window=window: tab.evaluate(f"{CHARTS}.every(c => c.scales.x.min === -{window})"))
    pause = tab.get_by_label("Pause")
    pause.dispatch_event("click")
    eventually(pause.is_checked)
    tab.wait_for_timeout(1000)
    shown = tab.evaluate(newest)
    tab.wait_for_timeout(1000)
    assert tab.evaluate(newest) == shown
    pause.dispatch_event("click")
    eventually(lambda: tab.evaluate(newest) != shown)


def sees_death(tab):
    """3 s after what the caller has just killed (2.2 s measured); more where the browser draws in software."""
    tab.locator("#not-connected", has_text="use the robot's own stop").wait_for(timeout=20_000)
    assert tab.locator("#stop-everything").evaluate("b => getComputedStyle(b).textDecorationLine") == "line-through"
    assert tab.locator("[data-mode]:visible").count() == 0, "what the arm did last is not what it does"


def test_a_page_whose_server_is_killed_looks_dead_and_comes_back_by_itself(demo, visit, eventually, tmp_path):
    with dashboard.start(demo.name, port=0, folder=tmp_path, shadows=False) as page:
        port = int(page.url.rsplit(":", 1)[1].strip("/"))
        tab = visit(page.url)
        page.process.kill()
        sees_death(tab)
    values = iter(range(3, 40))

    def changes_the_mass():
        value = next(values)
        enter(number_beside(tab, "Mass"), str(value))
        tab.wait_for_timeout(1500)
        return demo.parameter("admittance", "mass")[0] == value

    with dashboard.start(demo.name, port=port, folder=tmp_path, shadows=False):
        tab.locator("#not-connected").wait_for(state="hidden")
        eventually(changes_the_mass, 60)
    sees_death(tab)  # Ctrl-C has ended it, with its controller
    tab.complaints.clear()  # the browser reports the connections that were refused in between
    tab.close()


def test_a_page_whose_loop_ends_looks_dead_and_shows_the_next_one(start_loop, visit, tmp_path):
    """However it ends: kill -9, Ctrl-C."""
    name = f"page-killed-{os.getpid()}"
    with dashboard.start(name, port=0, folder=tmp_path, shadows=False) as page:
        loop = start_loop(name)
        tab = visit(page.url)
        for end in (signal.SIGKILL, signal.SIGINT):
            tab.get_by_text("UR10E").wait_for()
            loop.send_signal(end)
            sees_death(tab)
            loop = start_loop(name)
            tab.locator("#not-connected").wait_for(state="hidden")
        tab.get_by_text("UR10E").wait_for()
        tab.close()
