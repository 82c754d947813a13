"""Values of the controller, typed, tried, undone, loaded and saved in the browser."""

from pathlib import Path

import pytest
from tests.page.browsing import enter, number_beside, open_tab, parameter_field

from ur_admittance.params import load_parameters
from ur_admittance.recording.log import read_log

pytestmark = pytest.mark.timeout(300)

INACTIVE, ACTIVE = 0, 1


def test_a_slider_changes_the_parameter_in_the_running_controller(demo, visit, eventually):
    tab = visit(demo.url)
    enter(number_beside(tab, "Mass"), "20")
    eventually(lambda: demo.parameter("admittance", "mass")[:3] == [20.0] * 3)
    assert demo.parameter("admittance", "mass")[3:] == [0.8] * 3, "turning is left alone"
    tab.get_by_text("When pushed, it takes about").wait_for()


def test_a_bad_value_is_refused_with_the_sentence_of_the_schema(demo, visit, eventually):
    tab = visit(demo.url)
    field = parameter_field(tab, "mass [kg]", 0)
    enter(field, "-1")
    tab.get_by_text("admittance.mass[0] = -1").first.wait_for()
    assert demo.parameter("admittance", "mass") == [8.0] * 3 + [0.8] * 3
    eventually(lambda: field.input_value() == "8")
    assert demo.mode == ACTIVE


def test_a_number_is_sent_when_it_is_complete_or_not_at_all(demo, visit, eventually):
    """On the way from 8 to 0.5 the arm never has a mass of 0: one entry, one change."""
    tab = visit(demo.url)
    field, first = parameter_field(tab, "mass [kg]", 0), demo.changes
    eventually(lambda: field.input_value() == "8")
    for refused, note in (
        ("1e30", "“e” cannot be in a number"),
        ("1.2.3\n", "“1.2.3” is no number"),
        ("-\n", "“-” is no number"),
    ):
        field.press("Control+a")
        tab.keyboard.type(refused, delay=100)
        tab.get_by_text(note).first.wait_for()  # it goes after some seconds
        eventually(lambda: field.input_value() == "8")

    def press_stop():
        tab.locator("#stop-everything").hover()
        tab.mouse.down()

    for stop in (lambda: tab.keyboard.press("Escape"), press_stop):
        field.press("Control+a")
        tab.keyboard.type("15", delay=100)
        stop()  # the arm, at once, and changes nothing
        eventually(lambda: demo.mode == INACTIVE)
        demo.send({"request": "activate"})
        assert (field.input_value(), demo.changes) == ("8", first)
    tab.mouse.up()
    field.press("Control+a")
    tab.keyboard.type("0.5", delay=300)
    tab.locator("canvas").first.dispatch_event("pointerdown", {"pointerType": "touch"})  # a finger that scrolls
    assert demo.changes == first
    tab.keyboard.press("Tab")
    eventually(lambda: demo.parameter("admittance", "mass")[:3] == [0.5, 8.0, 8.0])
    assert demo.changes == first + 1


def test_beyond_the_end_of_a_slider_is_its_end(demo, visit, eventually):
    tab = visit(demo.url)
    enter(number_beside(tab, "Mass"), "1000")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 40.0)
    eventually(lambda: number_beside(tab, "Mass").input_value() == "40")


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


def test_what_makes_the_arm_move_by_itself_is_asked_as_often_as_it_is_wanted(demo, visit, press, eventually):
    def wrench():
        return demo.parameter("admittance", "desired_wrench")[2]

    def answer(button):
        tab.get_by_text("The arm will move by itself").first.wait_for()
        press(tab, button)
        tab.get_by_text("The arm will move by itself").first.wait_for(state="hidden")

    tab = visit(demo.url)
    demo.send({"request": "deactivate"})
    open_tab(tab, "Parameters")
    tab.get_by_text("Force control").first.dispatch_event("click")
    field = parameter_field(tab, "desired wrench [N]", 2)
    enter(field, "-4")
    answer("Cancel")
    assert (wrench(), field.input_value()) == (0.0, "0")
    enter(field, "-4")
    answer("Let it move")
    eventually(lambda: wrench() == -4.0)
    eventually(lambda: field.input_value() == "-4")  # its echo would overwrite what is typed now
    enter(field, "-9")
    answer("Cancel")  # faster than what was agreed to
    enter(field, "3")
    answer("Cancel")  # the other way
    enter(field, "-2")
    eventually(lambda: wrench() == -2.0)
    open_tab(tab, "Feel")
    press(tab, "Defaults")
    eventually(lambda: wrench() == 0.0)
    press(tab, "Undo")
    answer("Cancel")  # and the change that can be undone is still there
    press(tab, "Undo")
    answer("Let it move")
    eventually(lambda: wrench() == -2.0)
    press(tab, "Bouncy")
    answer("Cancel")  # with less damping it would be faster
    assert demo.parameter("admittance", "damping_ratio")[2] == 0.8
    press(tab, "Bouncy")
    tab.get_by_text("The arm will move by itself").first.wait_for()
    demo.send({"set": {"max_linear_velocity": 0.01}})  # what was asked is not what would come now
    tab.wait_for_timeout(1000)  # the page looks at the loop ten times a second
    press(tab, "Let it move")
    tab.get_by_text("other values changed while the question stood").first.wait_for()
    assert demo.parameter("admittance", "damping_ratio")[2] == 0.8


def test_a_preset_that_moves_by_itself_asks_first_and_values_come_as_a_file(demo, visit, press, eventually):
    tab = visit(demo.url)
    open_tab(tab, "Files")
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


def test_a_saved_preset_loads_again_and_a_recording_is_written(demo, visit, press, eventually):
    tab = visit(demo.url)
    enter(number_beside(tab, "Mass"), "17")
    eventually(lambda: demo.parameter("admittance", "mass")[0] == 17.0)
    tab.wait_for_timeout(300)
    open_tab(tab, "Files")
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
    tab.get_by_text("saved", exact=False).filter(has_text="recordings").first.wait_for()
    with tab.expect_download() as download:
        press(tab, "Download recording")
    saved = demo.folder / "recordings" / download.value.suggested_filename
    assert Path(download.value.path()).read_bytes() == saved.read_bytes()
    assert len(read_log(saved).ticks) > 100
