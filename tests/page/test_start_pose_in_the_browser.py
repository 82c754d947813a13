"""The start of the work: marked on the page, and gone to."""

import numpy as np


def test_the_arm_goes_to_where_the_start_was_marked(demo, visit, press, eventually):
    tab = visit(demo.url)

    def pushed(force):
        """Where the tool is after a push along y."""
        before = demo.tcp
        demo.send({"push": {"wrench": [0.0, force, 0.0, 0.0, 0.0, 0.0], "seconds": 0.6}})
        eventually(lambda: abs(demo.tcp[1] - before[1]) > 0.03)
        eventually(lambda: np.abs(demo.command["qd"]).max() < 1e-4)
        return demo.tcp

    start = pushed(20.0)
    tab.wait_for_timeout(500)
    press(tab, "Mark as start")
    tab.wait_for_timeout(500)
    pushed(-15.0)
    press(tab, "Go to start")
    eventually(lambda: "goes to a pose" in demo.reader.reason())
    eventually(lambda: "arrived within" in demo.reader.reason())
    tab.locator("div:visible", has_text="Arrived within").first.wait_for()
    assert np.linalg.norm(demo.tcp - start) < 2e-3


def test_an_arm_that_holds_still_does_not_go(demo, visit, press, eventually):
    tab = visit(demo.url)
    press(tab, "Hold still")
    eventually(lambda: demo.mode == 0)
    press(tab, "Go to start")
    tab.locator("div:visible", has_text="must be active").first.wait_for()
