"""What somebody does in the browser, and what the controller makes of it."""

import os

import numpy as np
import pytest

from ur_admittance import dashboard
from ur_admittance.core.records import Status
from ur_admittance.model import robot_model
from ur_admittance.params import load_parameters
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry.reader import TelemetryReader

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


def number_beside(tab, label):
    """The number input of a slider."""
    return tab.locator("label", has_text=label).locator("xpath=ancestor::div[2]").locator("input").last


def test_a_slider_changes_the_parameter_in_the_running_controller(demo, visit, eventually):
    tab = visit(demo.url)
    number_beside(tab, "Mass").fill("20")
    eventually(lambda: demo.parameter("admittance", "mass")[:3] == [20.0] * 3)
    assert demo.parameter("admittance", "mass")[3:] == [0.8] * 3, "turning is left alone"
    tab.get_by_text("When pushed, it takes about").wait_for()


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
    number_beside(first, "Mass").fill("12")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 12.0)
    eventually(lambda: number_beside(second, "Mass").input_value() == "12")
    number_beside(second, "Mass").fill("33")
    second.get_by_text("Somebody else has control. Press").wait_for()
    eventually(lambda: number_beside(second, "Mass").input_value() == "12")
    assert demo.parameter("admittance", "mass")[0] == 12.0
    press(second, "Take control")
    first.get_by_text("You are watching.").wait_for()
    number_beside(second, "Mass").fill("15")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 15.0)
    eventually(lambda: number_beside(first, "Mass").input_value() == "15")


def test_a_watcher_can_stop_the_arm(demo, visit, eventually):
    visit(demo.url)
    second = visit(demo.url)
    second.get_by_text("You are watching.").wait_for()
    second.keyboard.press("Escape")
    eventually(lambda: demo.mode != ACTIVE)


def test_a_bad_value_is_refused_with_the_sentence_of_the_schema(demo, visit, eventually):
    tab = visit(demo.url)
    tab.get_by_role("tab", name="Parameters").click(force=True)
    field = tab.locator("label", has_text="mass [kg]").locator("xpath=ancestor::div[2]").locator("input").first
    field.fill("-1")
    field.press("Enter")
    tab.get_by_text("admittance.mass[0] = -1").first.wait_for()
    assert demo.parameter("admittance", "mass") == [8.0] * 3 + [0.8] * 3
    eventually(lambda: field.input_value() == "8")
    assert demo.mode == ACTIVE


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


def test_a_number_with_a_letter_is_refused_as_a_whole(demo, visit, eventually):
    tab = visit(demo.url)
    field = number_beside(tab, "Mass")
    field.focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("1e30")
    tab.get_by_text("cannot be in a number").wait_for()
    eventually(lambda: field.input_value() == "8")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 8.0)


def test_a_change_can_be_undone_and_the_defaults_come_back(demo, visit, press, eventually):
    tab = visit(demo.url)
    press(tab, "Honey")
    eventually(lambda: demo.parameter("admittance", "damping_ratio")[0] == 3.0)
    tab.wait_for_timeout(500)
    press(tab, "Undo")
    eventually(lambda: demo.parameter("admittance", "damping_ratio")[0] == 0.8)
    demo.send({"set": {"admittance.mass": [20.0] * 6}})
    press(tab, "Defaults")
    eventually(lambda: demo.parameter("admittance", "mass") == [8.0] * 3 + [0.8] * 3)


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


def test_a_preset_that_moves_by_itself_asks_first_and_values_come_as_a_file(demo, visit, press, eventually):
    tab = visit(demo.url)
    tab.get_by_role("tab", name="Files").click(force=True)
    tab.locator("label", has_text="Preset").locator("xpath=ancestor::div[2]").locator("input").first.click()
    tab.get_by_role("option", name="surface_following").click()
    press(tab, "Load preset")
    tab.get_by_text("The arm will move by itself").first.wait_for()
    tab.get_by_text("without a push the tool moves along").first.wait_for()
    tab.get_by_role("button", name="Cancel").click()
    with tab.expect_download() as download:
        press(tab, "Download parameters")
    assert load_parameters(download.value.path()).admittance.desired_wrench == (0.0,) * 6
    assert demo.parameter("admittance", "desired_wrench") == [0.0] * 6


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_on_a_phone_nothing_covers_the_view(demo, visit, width, height):
    tab = visit(demo.url, width, height)
    tab.wait_for_timeout(1000)
    view = tab.locator("canvas").first.bounding_box()
    stop, status = (tab.locator(name).bounding_box() for name in ("#stop-everything", ".arm-status"))
    assert min(view["width"], view["height"]) > 380
    beside = status["x"] >= view["x"] + view["width"] or status["y"] >= view["y"] + view["height"]
    assert beside, "the panel is next to the view"
    assert stop["x"] + stop["width"] <= view["x"] + view["width"], "STOP is over the view, not over the panel"


def pressing(demo):
    """With 10 N. A loop that a busy computer has stopped goes on: that is not what is tested here."""
    if demo.mode == FAULT and demo.command["status"] == Status.LOOP_OVERRUN:
        send({"request": "reset_fault"}, demo.name, timeout=5.0)
    elif demo.mode == 0:
        send({"request": "activate"}, demo.name, timeout=5.0)
    return abs(demo.command["wrench_tcp"][2] - 10.0) < 1.0


def press_on_a_table(demo, tab, press, eventually):
    tab.get_by_role("tab", name="Surroundings").click(force=True)
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


def test_a_saved_preset_loads_again_and_a_recording_is_written(demo, visit, press, eventually):
    tab = visit(demo.url)
    number_beside(tab, "Mass").fill("17")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 17.0)
    tab.wait_for_timeout(300)
    tab.get_by_role("tab", name="Files").click(force=True)
    name = tab.locator("label", has_text="Name").locator("xpath=ancestor::div[2]").locator("input").first
    name.fill("seventeen")
    press(tab, "Save as preset")
    path = demo.folder / "presets" / "seventeen.yaml"
    eventually(path.exists)
    assert load_parameters(path).admittance.mass[0] == 17.0
    name.fill("../outside")
    press(tab, "Save as preset")
    tab.get_by_text("must be 1 to 40 letters").first.wait_for()
    assert not list(demo.folder.parent.glob("outside*"))
    press(tab, "Start recording")
    tab.get_by_text("recording to").first.wait_for()
    tab.wait_for_timeout(500)
    press(tab, "Stop recording")
    eventually(lambda: [p for p in (demo.folder / "recordings").glob("*.mcap") if p.stat().st_size > 1000])


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
        number_beside(tab, "Mass").fill(str(value))
        tab.wait_for_timeout(1500)
        return demo.parameter("admittance", "mass")[0] == value

    with dashboard.start(demo.name, port=port, folder=tmp_path, shadows=False):
        tab.locator("#not-connected").wait_for(state="hidden")
        eventually(changes_the_mass, 60)
        tab.complaints.clear()  # the browser reports the connections that were refused in between
        tab.close()


def test_a_page_whose_loop_is_killed_looks_dead_and_shows_the_next_one(start_loop, visit, tmp_path):
    name = f"page-killed-{os.getpid()}"
    loop = start_loop(name)
    with dashboard.start(name, port=0, folder=tmp_path, shadows=False) as page:
        tab = visit(page.url)
        tab.get_by_text("UR10E").wait_for()
        loop.kill()
        sees_death(tab)
        start_loop(name)
        tab.locator("#not-connected").wait_for(state="hidden")
        tab.get_by_text("UR10E").wait_for()
        tab.close()


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
        number_beside(tab, "Mass").fill("20")
        eventually(lambda: reader.about()["parameters"]["admittance"]["mass"][0] == 20.0)
        tab.close()
