"""Options of admittance_node, fixed at its start: name -> default, description, perhaps least and largest value."""

from ur_admittance.ros.parameters import PREFIX, Option

OPTIONS: dict[str, Option] = {
    **PREFIX,
    "output": ("trajectory", "where commands go: trajectory or velocity (topics)"),
    "controller": ("", "name of the controller that takes them; empty: the one that fits and is active"),
    "autostart": (
        False,
        "configure and activate by itself, once per start of the node; after a stop a person activates",
    ),
    "accept_load": (
        False,
        "activate although the tool reads a force at rest that nothing explains; the arm yields to it",
    ),
    "calibration_file": ("", "file of ur-admittance calibrate; parameters given otherwise have the last word"),
    "startup_timeout": (
        5.0,
        "how long configure waits for description, frames, joint states and wrench [s]",
        0.0,
        3600.0,
    ),
    "monitor_rate": (50.0, "of velocity and pose error [Hz]", 0.1, 1000.0),
    "tcp_frame": ("", "take the TCP from this frame of robot_description or /tf_static, in place of tool.tcp"),
    "realtime_priority": (0, "SCHED_FIFO priority of the loop, 1 to 99; 0: an ordinary thread", 0, 99),
    "log": ("", "record every cycle to this file (.mcap), for ur-admittance replay, why and plot; never overwritten"),
    "dashboard": (False, "show the page in the browser; its address is in the log"),
    "stages": (
        [""],
        "run in every cycle too: path:FILE,speed=0.05 in front of the law, smoother or follower behind it, or your own "
        "as module:Name",
    ),
    "controller_name": (
        "",
        "other programs on this computer see and ask it by this name; empty: none do",
    ),
}
