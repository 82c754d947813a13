"""The enabling button of the page: held by pointer or key; let go by a closed or hidden page, a dead process."""

import time

import numpy as np
import pytest

from ur_admittance import page as dashboard
from ur_admittance.core.enabling import HELD
from ur_admittance.core.records import Status
from ur_admittance.page.hold_button import FRESH_S, LET_GO, HoldButton
from ur_admittance.runtime.mailbox import Mailbox

pytestmark = pytest.mark.timeout(300)

PUSH = {"push": {"wrench": [0, 30, 0, 0, 0, 0], "seconds": 4.0}}


@pytest.fixture
def held(demo, eventually):
    """The demo, held until somebody holds the button; at its start, near home."""
    demo.send({"set": {"guiding.enable": "required", "max_linear_velocity": 0.25}})
    eventually(lambda: demo.command["status"] in HELD)
    yield demo
    demo.send({"hand": "let_go"})
    demo.send({"set": {"guiding.enable": "none", "max_linear_velocity": 0.5}})


def button(tab):
    found = tab.locator("#hold-to-run")
    found.wait_for()
    box = found.bounding_box()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    return found


def rest_after(demo, lose, eventually):
    """Time [s] and distance [m] from `lose()` to standstill, in the middle of a fast push."""
    PUSH["push"]["wrench"][1] *= -1  # to and fro, near home
    demo.send(PUSH)
    eventually(lambda: np.linalg.norm(demo.command["twist"][:3]) > 0.2)
    demo.reader.position = demo.reader.head
    lost_ns = time.time_ns()
    lose()
    eventually(lambda: np.abs(demo.command["qd"]).max() == 0.0, timeout=5.0)
    time.sleep(0.3)
    records = demo.reader.drain(limit=None)
    since = records[records["loop"]["time_ns"] >= lost_ns]
    moving = np.abs(since["sample"]["qd"]).max(axis=1) > 1e-3
    last = int(np.flatnonzero(moving)[-1])
    p = since["command"]["p_tcp"]
    demo.send({"hand": "let_go"})
    return 1e-9 * (since["loop"]["time_ns"][last] - lost_ns), float(np.linalg.norm(p[last] - p[0]))


@pytest.mark.realtime
def test_the_arm_moves_while_the_button_or_the_space_bar_is_held_and_no_longer(held, visit, eventually):
    tab = visit(held.url)
    tab.get_by_text("Active, but held").wait_for()
    space = (lambda: tab.keyboard.down(" "), lambda: tab.keyboard.up(" "))
    for press, let_go in ((tab.mouse.down, tab.mouse.up), space):
        button(tab)
        press()
        eventually(lambda: held.command["status"] == Status.OK)
        time.sleep(1.0)
        assert held.command["status"] == Status.OK
        let_go()
        eventually(lambda: held.command["status"] == Status.NOT_ENABLED, timeout=0.5)


@pytest.mark.realtime
@pytest.mark.parametrize("way", ["let go", "hidden", "closed"])
def test_a_page_that_is_left_in_full_motion_has_let_go(held, visit, browser, eventually, way):
    from tests.page.conftest import load

    tab = load(browser, held.url, 1000, 620)
    take = tab.get_by_role("button", name="Take control", exact=True)
    if take.count() and take.first.is_visible():
        take.first.dispatch_event("click")
    button(tab)
    tab.mouse.down()
    eventually(lambda: held.command["status"] == Status.OK)
    hide = (
        "Object.defineProperty(document, 'hidden', {value: true});document.dispatchEvent(new Event('visibilitychange'))"
    )
    lose = {"let go": tab.mouse.up, "hidden": lambda: tab.evaluate(hide), "closed": tab.close}[way]
    seconds, metres = rest_after(held, lose, eventually)
    print(f"page {way}: at rest after {1e3 * seconds:.0f} ms, {1e3 * metres:.1f} mm")  # noqa: T201
    tab.context.close()
    assert seconds < 0.9
    assert held.command["status"] in HELD


@pytest.mark.realtime
def test_a_page_process_that_is_killed_has_let_go(held, browser, eventually, tmp_path):
    from tests.page.conftest import load

    with dashboard.start(held.name, port=0, folder=tmp_path) as other:
        tab = load(browser, other.url, 1000, 620)
        button(tab)
        tab.mouse.down()
        eventually(lambda: held.command["status"] == Status.OK)
        seconds, metres = rest_after(held, other.process.kill, eventually)
        print(f"page process killed: at rest after {1e3 * seconds:.0f} ms, {1e3 * metres:.1f} mm")  # noqa: T201
        tab.context.close()
    assert seconds < 0.9
    assert held.command["status"] == Status.ENABLE_SILENT


def test_only_the_one_who_has_control_gets_the_button(held, visit, press, eventually):
    first, second = visit(held.url), visit(held.url)
    second.get_by_text("You are watching.").wait_for()
    first.locator("#hold-to-run").wait_for()
    assert not second.locator("#hold-to-run").is_visible()
    press(second, "Take control")
    second.locator("#hold-to-run").wait_for()
    first.locator("#hold-to-run").wait_for(state="hidden")
    press(first, "Take control")


class Loop:
    """What a mailbox asks of a controller."""

    def __init__(self):
        from ur_admittance.params import Parameters

        self.parameters, self.told = Parameters(), []

    def enable(self, held):
        self.told.append(held)


class Keys:
    hold_key = "secret"


def test_a_request_that_comes_late_or_with_another_key_enables_nothing(monkeypatch):
    loop = Loop()
    with Mailbox("hold-button-test") as mailbox:
        hold = HoldButton("hold-button-test", Keys())

        def ask(header):
            answer = hold.answer(header)
            while mailbox.poll(loop):
                pass
            return answer

        assert ask("wrong first") == "" == ask("") == ask("secre first")
        number = ask("secret first")  # asks for a number, enables nothing
        assert loop.told == []
        again = ask(f"secret {number}")
        assert loop.told == [True]
        ask(f"secret {number}")  # one that was held up on its way: its number is an old one
        assert loop.told == [True]
        last = ask("secret again")
        assert again != last
        time.sleep(FRESH_S + 0.05)
        ask(f"secret {last}")
        assert loop.told == [True]
        ask(f"secret {LET_GO}")
        assert loop.told == [True, False]
        Keys.hold_key = ""
        assert ask("secret x") == "" == ask(" ")
