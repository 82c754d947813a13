"""A or B? on the page: somebody feels both, says which is better, and keeps the result."""

import pytest
from tests.page.browsing import open_tab

from ur_admittance.analysis.by_feel import FIRMEST, ROUNDS
from ur_admittance.analysis.stability import margin
from ur_admittance.params import load_parameters

pytestmark = pytest.mark.timeout(300)


def test_somebody_who_prefers_more_damping_gets_and_keeps_it(demo, visit, press, eventually):
    tab = visit(demo.url)
    open_tab(tab, "A or B")
    before = demo.parameter("admittance", "damping_ratio")
    press(tab, "Begin")

    def given(letter):
        tab.locator(f"[data-feels={letter}]").wait_for()
        return demo.parameter("admittance", "damping_ratio")[0] * demo.parameter("admittance", "mass")[0] ** 0.5

    a = given("A")
    press(tab, "A is better")
    tab.get_by_text("guide the arm with both: press B first").wait_for()
    for turn in range(1, ROUNDS + 1):
        tab.locator(f'[data-round="{turn}"][data-feels=A]').wait_for()
        a = given("A")
        press(tab, "B")
        b = given("B")
        press(tab, "A is better" if a > b else "B is better")
    tab.get_by_text("This is yours, and the arm has it now.").wait_for()
    press(tab, "Done: save")
    path = demo.folder / "presets" / "my_hand.yaml"
    eventually(path.is_file)
    mine = load_parameters(path)
    assert mine.admittance.damping_ratio[0] > 1.2 * before[0]
    assert demo.parameter("admittance", "damping_ratio") == list(mine.admittance.damping_ratio)
    assert path.read_text().count("felt better") == ROUNDS
    assert margin(mine).stable_stiffness > FIRMEST
    open_tab(tab, "Files")
    tab.get_by_label("Preset").click()
    tab.get_by_role("option", name="my_hand").wait_for()
