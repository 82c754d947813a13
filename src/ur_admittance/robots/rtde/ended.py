"""Why the program on the robot does not run any more, and the way back, in plain words."""

import contextlib
import time

from ur_admittance.errors import RobotError
from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.rtde.pendant import panel

AGAIN = "reset the fault, which starts it again"
PAUSED = f"the program on the robot was paused at its pendant: {AGAIN}"
STOPPED = f"the program on the robot was stopped (at the pendant or by an error; its log has more): {AGAIN}"
ANOTHER = "another program runs on the robot in the place of ours: stop it, then reset the fault"
SLIDER_DOWN = "the speed slider is at 0 %, so the program on the robot stands: raise it, then reset the fault"
LOCAL = "the robot was switched to local control: switch it back to remote control, then reset the fault"
SETTLED = 0.2  # [s] after which the dashboard shows what the state has shown already
UNPOWERED = {
    "POWER_OFF": "the arm was switched off: switch it on, release its brakes, then reset the fault",
    "IDLE": "the brakes of the arm are on: release them, then reset the fault",
}


def no_power(mode: int | str) -> str:
    """Of a robot mode that is not RUNNING."""
    name = ROBOT_MODES.get(mode, str(mode)) if isinstance(mode, int) else mode
    return UNPOWERED.get(
        name, f"the arm is not ready (robot mode {name}): switch it on at the pendant, then reset the fault"
    )


def too_late(silence: float, limit: float) -> str:
    """This program itself has sent nothing for `silence` [s]."""
    return (
        f"this program sent no command for {1e3 * silence:.0f} ms (limit {1e3 * limit:.0f} ms), so the robot stopped; "
        "is the computer overloaded? Reset the fault"
    )


def why(host: str, timeout: float = 1.0) -> str:
    """Of a program that has just ended; asks the robot, so not in the loop."""
    time.sleep(SETTLED)
    with contextlib.suppress(RobotError), panel(host, timeout) as robot:
        if robot.remote_control() is False:
            return LOCAL
        if (mode := robot.mode()) != "RUNNING":
            return no_power(mode)
        if robot.program():
            return ANOTHER
    return STOPPED
