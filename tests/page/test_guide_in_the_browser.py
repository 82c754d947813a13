"""The tab Guide and the map in a real browser."""

import numpy as np
import pytest
from tests.page.browsing import open_tab

pytestmark = pytest.mark.timeout(300)


def test_a_lock_is_closed_and_opened_with_one_press(demo, visit, press, eventually):
    tab = visit(demo.url)
    open_tab(tab, "Guide")
    press(tab, "Plane")
    eventually(lambda: demo.parameter("guiding", "lock") == "plane")
    tab.locator('[data-lock="plane"]').wait_for()
    before = demo.tcp
    demo.send({"push": {"wrench": [0, 12, 12, 0, 0, 0], "seconds": 1.0}})
    eventually(lambda: demo.tcp[1] - before[1] > 0.05)
    assert abs(demo.tcp[2] - before[2]) < 0.002
    press(tab, "Free")
    eventually(lambda: demo.parameter("guiding", "lock") == "none")
    tab.locator('[data-lock="none"]').wait_for()
    demo.send({"hand": "let_go"})


def test_a_notch_and_a_soft_box_are_set_where_the_tool_is(demo, visit, press, eventually):
    tab = visit(demo.url)
    open_tab(tab, "Guide")
    press(tab, "here")
    eventually(lambda: demo.parameter("guiding", "notch_1") is not None)
    np.testing.assert_allclose(demo.parameter("guiding", "notch_1"), demo.tcp, atol=1e-3)
    press(tab, "around here")
    eventually(lambda: demo.parameter("guiding", "box_max") is not None)
    np.testing.assert_allclose(demo.parameter("guiding", "box_max"), demo.tcp + 0.15, atol=1e-3)
    press(tab, "forget all")
    press(tab, "none")
    eventually(lambda: demo.parameter("guiding", "notch_1") is None and demo.parameter("guiding", "box_min") is None)


def test_the_map_says_what_the_damping_holds_and_follows_it(demo, visit, eventually):
    tab = visit(demo.url, 1400, 700)
    margin = tab.get_by_role("tab", name="Margin")

    def opened():
        margin.click(force=True)  # lost while the panel is being docked
        return tab.locator('[data-zone="safe"]').is_visible()

    eventually(opened, timeout=60.0)
    tab.get_by_text("This damping (64 Ns/m) holds up to").wait_for()
    demo.send({"set": {"admittance.damping_ratio": [1.6] * 3 + [0.8] * 3}})
    tab.get_by_text("This damping (128 Ns/m) holds up to").wait_for()
    demo.send({"set": {"admittance.damping_ratio": [0.8] * 6}})
    tab.get_by_role("tab", name="Plots").click(force=True)
