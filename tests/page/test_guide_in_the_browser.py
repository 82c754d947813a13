"""The tab Guide, the map and the limits at the tool, in a real browser."""

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


def test_the_map_says_what_the_damping_holds_and_follows_it(demo, visit, eventually):
    tab = visit(demo.url, 1400, 700)
    open_tab(tab, "Margin")
    tab.locator('[data-zone="safe"]').wait_for()
    tab.get_by_text("This damping (64 Ns/m) holds up to").wait_for()
    demo.send({"set": {"admittance.damping_ratio": [1.6] * 3 + [0.8] * 3}})
    tab.get_by_text("This damping (128 Ns/m) holds up to").wait_for()
    demo.send({"set": {"admittance.damping_ratio": [0.8] * 6}})


def test_a_wall_that_is_near_appears_with_its_distance(demo, visit, eventually):
    tab = visit(demo.url)
    p = demo.tcp
    demo.send({"set": {"workspace.max": np.round([p[0] + 1.0, p[1] + 0.02, p[2] + 1.0], 4).tolist()}})
    try:
        tab.get_by_text("wall 2 cm").first.wait_for(state="attached")
    finally:
        demo.send({"set": {"workspace.max": None}})
