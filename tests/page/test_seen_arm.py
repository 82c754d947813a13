"""What the page makes of an arm that it sees, without a browser: large arms, protective stops."""

import numpy as np
import pytest

from ur_admittance.core.records import Mode, Status
from ur_admittance.page.input_panel import CAMERA
from ur_admittance.page.loop_link import Seen
from ur_admittance.page.page import LivePage
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer, Code
from ur_admittance.runtime.telemetry import TELEMETRY


@pytest.fixture
def page(tmp_path):
    page = LivePage("nobody", "127.0.0.1", 0, None, tmp_path, shadows=False)
    yield page
    page.link.close()
    page.server.stop()


def look(page, mode, status, now, model="ur5e"):
    """The page after it has seen the arm like this."""
    record = np.zeros(1, TELEMETRY)[0]
    record["command"]["R_tcp"] = record["command"]["R_ref"] = np.eye(3)
    record["command"]["mode"] = mode
    record["command"]["status"] = record["command"]["hindrance"] = status
    page._frame(Seen(record, 0.002, 0.001, "stopped: a protective stop", "", model, Parameters()), now)
    return page._panel.status.content, page._panel._unlock.visible


def test_the_robot_can_be_unlocked_on_the_page_in_a_protective_stop_only(page):
    assert look(page, Mode.ACTIVE, Status.OK, 1.0)[1] is False
    read, offered = look(page, Mode.FAULT, Status.PROTECTIVE_STOP, 2.0)
    assert "Unlock it on the pendant, or press Unlock robot. Then press Reset fault." in read
    assert offered
    page._panel._answered(
        None, "Unlock robot", Answer(True, "", Code.DONE)
    )  # the controller sees it after a reset only
    read, offered = look(page, Mode.FAULT, Status.PROTECTIVE_STOP, 2.5)
    assert "The robot is unlocked and stands. Press Reset fault, then Activate." in read
    assert offered, "it may have stopped again"
    page._panel._answered(None, "Hold still", Answer(True, "", Code.DONE))
    assert "is unlocked and stands" in look(page, Mode.FAULT, Status.PROTECTIVE_STOP, 3.0)[0]
    look(page, Mode.ACTIVE, Status.OK, 3.5)
    assert "press Unlock robot" in look(page, Mode.FAULT, Status.PROTECTIVE_STOP, 4.0)[0], (
        "the next stop is another one"
    )
    read, offered = look(page, Mode.FAULT, Status.EMERGENCY_STOP, 4.5)
    assert "Release the button, start the robot, then reset the fault. Then press Activate." in read
    assert not offered


def test_a_larger_arm_is_seen_from_farther_away_and_is_the_one_to_choose_from(page):
    for model, times in (("ur5e", 1.0), ("ur20", 1.93), ("ur3e", 0.59)):
        look(page, Mode.ACTIVE, Status.OK, 1.0, model)
        assert page.server.initial_camera.position == pytest.approx(times * np.array(CAMERA), rel=0.01)
        assert page._panel.surroundings._robot.value == model
