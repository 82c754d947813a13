"""What somebody does in the browser, and what the controller makes of it."""

from pathlib import Path

import numpy as np
import pytest
from tests.page.browsing import enter, number_beside, open_tab

from ur_admittance import library
from ur_admittance import page as dashboard
from ur_admittance.core.records import Status
from ur_admittance.model import robot_model
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry import TelemetryReader

pytestmark = pytest.mark.timeout(300)

ACTIVE, FAULT = 1, 3


def drag(tab, on_screen, demo, dx, dy, hold_s=1.5):
    """Drag the ball on the tool by some pixels and keep it there."""
    x, y = on_screen(tab, demo.tcp)
    tab.mouse.move(x, y)
    tab.mouse.down()
    for i in range(1, 9):
        tab.mouse.move(x + dx * i / 8, y + dy * i / 8)
        tab.wait_for_timeout(60)
    tab.wait_for_timeout(1000 * hold_s)


def test_dragging_the_ball_pulls_the_arm_which_stays_where_it_is_left(demo, visit, on_screen, eventually):
    tab = visit(demo.url)
    before = demo.tcp
    drag(tab, on_screen, demo, 0, -60)
    moved = demo.tcp - before
    assert moved[2] > 0.03, "the pointer went up on the screen"
    tab.mouse.up()
    eventually(lambda: np.linalg.norm(demo.command["twist"]) < 1e-3)
    left = demo.tcp
    tab.wait_for_timeout(1500)
    assert np.linalg.norm(demo.tcp - left) < 0.003


def test_neither_the_arm_nor_its_page_has_loaded_a_compiler(demo, visit):
    visit(demo.url)
    pid = demo.process.pid
    children = [word for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text().split()]
    maps = [Path(f"/proc/{one}/maps").read_text() for one in (pid, *children)]
    assert len(maps) > 1
    assert library.NAME in maps[0]
    assert not [one for one in maps if "llvmlite" in one or "/numba/" in one]


def test_with_a_spring_the_arm_returns_when_the_ball_is_let_go(demo, visit, on_screen, eventually):
    demo.send({"set": {"admittance.stiffness": [300.0] * 3 + [0.0] * 3}})
    tab = visit(demo.url)
    tab.wait_for_timeout(1500)
    before = demo.tcp
    drag(tab, on_screen, demo, 0, -60)
    assert np.linalg.norm(demo.tcp - before) > 0.03
    tab.mouse.up()
    eventually(lambda: np.linalg.norm(demo.tcp - before) < 0.015)


def test_a_push_button_moves_the_arm_along_its_axis(demo, visit, press, eventually):
    tab = visit(demo.url)
    before = demo.tcp
    press(tab, "left")
    eventually(lambda: demo.tcp[1] - before[1] > 0.08)
    assert abs(demo.tcp[2] - before[2]) < 0.02


@pytest.mark.parametrize("way", ["button", "key", "key in an input field"])
def test_stop_stops(demo, visit, eventually, way):
    tab = visit(demo.url)
    demo.send({"push": {"wrench": [0, 20, 0, 0, 0, 0], "seconds": 2.0}})
    if way == "button":
        tab.locator("#stop-everything").dispatch_event("click")
    elif way == "key":
        tab.keyboard.press("Escape")
    else:
        number_beside(tab, "Mass").focus()
        tab.keyboard.press("Escape")
    eventually(lambda: demo.mode != ACTIVE)
    eventually(lambda: np.linalg.norm(demo.command["qd"]) < 1e-6)
    tab.get_by_text("Holding still").wait_for()


def test_two_clients_agree_and_one_has_control(demo, visit, press, eventually):
    first, second = visit(demo.url), visit(demo.url)
    second.get_by_text("You are watching.").wait_for()
    enter(number_beside(first, "Mass"), "12")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 12.0)
    eventually(lambda: number_beside(second, "Mass").input_value() == "12")
    enter(number_beside(second, "Mass"), "33")
    second.get_by_text("Somebody else has control. Press").wait_for()
    eventually(lambda: number_beside(second, "Mass").input_value() == "12")
    assert demo.parameter("admittance", "mass")[0] == 12.0
    press(second, "Take control")
    first.get_by_text("You are watching.").wait_for()
    enter(number_beside(second, "Mass"), "15")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 15.0)
    eventually(lambda: number_beside(first, "Mass").input_value() == "15")


def test_a_watcher_can_stop_the_arm(demo, visit, eventually):
    visit(demo.url)
    second = visit(demo.url)
    second.get_by_text("You are watching.").wait_for()
    second.keyboard.press("Escape")
    eventually(lambda: demo.mode != ACTIVE)


def test_a_fault_is_told_in_words_and_can_be_reset(demo, visit, press, eventually):
    demo.send({"set": {"safety.max_force": 8.0}})
    tab = visit(demo.url)
    press(tab, "forward")
    eventually(lambda: demo.mode == FAULT)
    tab.get_by_text("is above safety.max_force 8.0 N").first.wait_for()
    tab.wait_for_timeout(1500)
    press(tab, "Reset fault")
    eventually(lambda: demo.mode == 0)
    press(tab, "Activate")
    eventually(lambda: demo.mode == ACTIVE)


def test_trying_again_and_again_leaves_the_arm_near_home(demo, visit, press, eventually):
    tab, model = visit(demo.url), robot_model("ur5e")
    home = model.forward(model.home)[1][1]
    for _ in range(2):
        towards = np.sign(home - demo.tcp[1])
        press(tab, "Light")
        eventually(lambda towards=towards: towards * demo.command["twist"][1] > 0.05)
        tab.wait_for_timeout(2500)


def test_a_push_about_an_axis_turns_the_tool_about_it(demo, visit, press, eventually):
    tab = visit(demo.url)
    press(tab, "about z")
    eventually(lambda: demo.command["twist"][5] > 0.1)
    assert np.linalg.norm(demo.command["twist"][:3]) < 0.05


def pressing(demo):
    """With 10 N. A loop that a busy computer has stopped goes on: that is not what is tested here."""
    if demo.mode == FAULT and demo.command["status"] == Status.LOOP_OVERRUN:
        send({"request": "reset_fault"}, demo.name, timeout=5.0)
    elif demo.mode == 0:
        send({"request": "activate"}, demo.name, timeout=5.0)
    return abs(demo.command["wrench_tcp"][2] - 10.0) < 1.0


def press_on_a_table(demo, tab, press, eventually):
    open_tab(tab, "Surroundings")
    tab.locator("label", has_text="Situation").locator("xpath=ancestor::div[2]").locator("input").first.click()
    tab.get_by_role("option", name="Press with 10 N").click()
    press(tab, "Load")
    eventually(lambda: pressing(demo))


def test_zeroing_under_a_push_asks_whether_the_tool_is_free(demo, visit, press, eventually):
    """Pushed against the wall of the workspace; the push ends, and the arm stays: the zero was not taken."""
    tab = visit(demo.url)
    wall = [2.0, float(demo.tcp[1]) + 0.01, 2.0]
    demo.send({"set": {"workspace.max": wall}})
    demo.send({"push": {"wrench": [0, 20, 0, 0, 0, 0], "seconds": 10.0}})
    tab.wait_for_timeout(3000)
    press(tab, "Zero sensor")
    tab.get_by_text("Is the tool free?").first.wait_for()
    tab.get_by_role("button", name="Cancel").click()
    demo.send({"hand": "let_go"})
    before = demo.tcp
    tab.wait_for_timeout(2000)
    assert np.linalg.norm(demo.tcp - before) < 5e-3
    press(tab, "Zero sensor")  # free: nothing to ask
    demo.send({"set": {"workspace.max": [None] * 3}})


def test_a_situation_puts_a_table_under_the_tool_and_the_arm_presses_it(demo, visit, press, eventually):
    tab = visit(demo.url)
    press_on_a_table(demo, tab, press, eventually)
    demo.send({"environment": {"kind": "none"}})


def test_a_clamped_arm_says_why_it_cannot_be_reset_and_comes_out_by_retreat(demo, visit, press, eventually):
    tab = visit(demo.url)
    press_on_a_table(demo, tab, press, eventually)
    demo.send({"set": {"safety.max_force": 6.0}})
    eventually(lambda: demo.mode == FAULT)
    tab.get_by_text("It is still clamped").first.wait_for()
    press(tab, "Reset fault")
    tab.get_by_text("the cause is still there").first.wait_for()
    press(tab, "Retreat")
    eventually(lambda: demo.command["status"] == Status.RETREATED)
    assert abs(demo.command["wrench_tcp"][2]) < 6.0
    press(tab, "Reset fault")
    eventually(lambda: demo.mode == 0)
    demo.send({"environment": {"kind": "none"}})


def test_an_arm_that_is_not_simulated_has_the_page_without_the_hand(bare_loop, visit, press, eventually, tmp_path):
    """Telemetry and mailbox are all that the page needs; a loop without a simulation knows no message `scene`."""
    with (
        dashboard.start(bare_loop, port=0, folder=tmp_path, shadows=False) as page,
        TelemetryReader(bare_loop) as reader,
    ):
        tab = visit(page.url)
        tab.get_by_text("UR10E").wait_for()
        tab.wait_for_timeout(2500)  # the page has asked for the scene
        assert tab.get_by_role("button", name="left", exact=True).count() == 0
        press(tab, "Activate")
        eventually(lambda: reader.latest()["command"]["mode"] == ACTIVE)
        enter(number_beside(tab, "Mass"), "20")
        eventually(lambda: reader.about()["parameters"]["admittance"]["mass"][0] == 20.0)
        tab.close()
