"""What can happen to an arm that a hand pushes: each case takes a Scene and returns when it began (monotonic, [s])."""

import json
import signal
import time

from .scene import SPEED
from .watched import steady_speed


def deactivate(scene):
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.transition("deactivate")
    return begin


def kill(scene):
    scene.at_speed()
    begin = time.monotonic()
    scene.node.send_signal(signal.SIGKILL)
    return begin


def pause(scene):
    scene.at_speed()
    begin = time.monotonic()
    scene.node.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    scene.node.send_signal(signal.SIGCONT)
    return begin


def terminate(scene):
    scene.at_speed()
    begin = time.monotonic()
    scene.node.send_signal(signal.SIGTERM)
    return begin


def driver_dies(scene):
    """kill -9 of the driver, then a new one: the node must not go on by itself."""
    scene.at_speed()
    scene.sim.send_signal(signal.SIGKILL)
    scene.setup.wait_for(life="inactive", timeout=10.0)
    scene.sim = scene.processes.start("sim_node", scene.sim_parameters)
    scene.client.until(lambda: scene.setup.joints and time.monotonic() - scene.setup.joints[-1][0] < 0.1, 60)
    begin = time.monotonic()
    scene.client.clients.clear()  # those of the dead driver
    return begin


def protective_stop(scene):
    """The hand goes on pushing while the robot is stopped, unlocked and its program resumed."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.trigger("/ur_sim/protective_stop").success
    scene.setup.wait_for(life="inactive", timeout=10.0)
    time.sleep(1.0)
    assert scene.client.trigger("/ur_sim/unlock").success
    assert scene.client.trigger("/ur_sim/resume").success
    return begin


def pause_button(scene):
    """The hand goes on pushing while the program is paused on the pendant for a second, and resumed."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.trigger("/ur_sim/pause").success
    scene.setup.wait_for(life="inactive", timeout=10.0)
    time.sleep(1.0)
    assert scene.client.trigger("/ur_sim/resume").success
    return begin


def short_pause(scene):
    """Too short to be noticed in time."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.trigger("/ur_sim/pause").success
    assert scene.client.trigger("/ur_sim/resume").success
    scene.let_go()
    return begin


def switched_off_and_on(scene):
    """Somebody deactivates the controller and activates it again at once."""
    scene.at_speed()
    begin = time.monotonic()
    name = json.loads(scene.client.trigger("/ur_sim/report").message)["active"]
    assert scene.client.trigger("/ur_sim/switch").success  # to none
    assert scene.client.set_parameter("switch.to", name, "/ur_sim").successful
    assert scene.client.trigger("/ur_sim/switch").success
    scene.let_go()
    return begin


def inactive_controller(scene):
    """Somebody deactivates the controller while the arm is pushed; activation is refused then."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.trigger("/ur_sim/switch").success  # to none
    scene.setup.wait_for(life="inactive", timeout=10.0)
    scene.client.trigger("/admittance_node/reset_fault")
    assert not scene.client.transition("activate")
    return begin


def spoiled(change):
    """The relay stops passing something on, or spoils it, while the hand pushes."""

    def case(scene):
        scene.at_speed()
        begin = time.monotonic()
        change(scene.relay)
        scene.setup.wait_for(life="inactive", timeout=10.0)
        scene.relay.joints_on = scene.relay.wrench_on = True
        scene.relay.spoilt = False
        return begin

    return case


def ignored(scene):
    """Commands that nobody obeys: the lead stays bounded, and it is a fault."""
    begin = time.monotonic()
    scene.at_speed()
    scene.setup.wait_for(life="inactive", timeout=10.0)
    return begin


def refused(scene):
    """The controller refuses every command from now on."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.set_parameter("refuse", True, "/ur_sim").successful
    scene.setup.wait_for(life="inactive", timeout=10.0)
    return begin


def released_at_the_limit(scene):
    """A push that the law would answer faster than max_linear_velocity, and its end."""
    scene.push((0.0, STRONG, 0.0, 0.0, 0.0, 0.0))
    time.sleep(1.2)
    begin = time.monotonic()
    scene.let_go()
    scene.client.trigger("/ur_sim/let_go")
    return begin


CASES = {
    "released at the limit": released_at_the_limit,
    "deactivate": deactivate,
    "SIGTERM": terminate,
    "kill -9": kill,
    "SIGSTOP 1 s": pause,
    "protective stop, resume": protective_stop,
    "paused on the pendant 1 s": pause_button,
    "paused, resumed at once": short_pause,
    "controller deactivated": inactive_controller,
    "controller off and on": switched_off_and_on,
    "driver killed, restarted": driver_dies,
    "wrench lost": spoiled(lambda relay: setattr(relay, "wrench_on", False)),
    "joint states lost": spoiled(lambda relay: setattr(relay, "joints_on", False)),
    "wrench NaN": spoiled(lambda relay: setattr(relay, "spoilt", True)),
    "commands refused": refused,
    "commands ignored": ignored,
}
STRONG = 30.0  # [N]: 0.45 m/s by the law
RELAYED = ("wrench lost", "joint states lost", "wrench NaN")


IMPOSSIBLE = {
    ("velocity", "commands refused"),  # six finite numbers are always taken (forward_controllers_base.cpp)
}


def push_speed(scene, seconds=3.0):
    """Speed of a push, from 1 s on, over that of the law."""
    begin = time.monotonic()
    scene.push()
    time.sleep(seconds + 0.2)
    scene.let_go()
    return steady_speed(scene.setup.joints, begin + 1.0, begin + seconds) / SPEED
