"""What the page offers when a real arm is in a protective stop."""

import numpy as np
import pytest

from ur_admittance.core.records import Mode, Status
from ur_admittance.dashboard.loop_link import Seen
from ur_admittance.dashboard.page import LivePage
from ur_admittance.params import Parameters
from ur_admittance.runtime.telemetry.writer import TELEMETRY


@pytest.fixture
def page(tmp_path):
    page = LivePage("nobody", "127.0.0.1", 0, None, tmp_path, shadows=False)
    yield page
    page.link.close()
    page.server.stop()


def look(page, mode, status, now):
    """The page after it has seen the arm like this."""
    record = np.zeros(1, TELEMETRY)[0]
    record["command"]["R_tcp"] = record["command"]["R_ref"] = np.eye(3)
    record["command"]["mode"] = mode
    record["command"]["status"] = record["command"]["hindrance"] = status
    page._frame(Seen(record, 0.002, 0.001, "stopped: a protective stop", "ur5e", 500.0, Parameters()), now)
    return page._panel.status.content, page._panel._unlock.visible


def test_the_robot_can_be_unlocked_on_the_page_in_a_protective_stop_only(page):
    assert look(page, Mode.ACTIVE, Status.OK, 1.0)[1] is False
    read, offered = look(page, Mode.FAULT, Status.PROTECTIVE_STOP, 2.0)
    assert "Unlock it on the pendant, or press Unlock robot. Then press Reset fault." in read
    assert offered
    read, offered = look(page, Mode.FAULT, Status.EMERGENCY_STOP, 3.0)
    assert "Not yet: the emergency stop is pressed" in read
    assert not offered
