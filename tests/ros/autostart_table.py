"""Every way to stop an arm whose node was started with autostart, with and without a hand on it: is it active again
although nobody has activated it? Prints one table.

    python -m tests.ros.autostart_table [--stops protective cleanup ...]

Each row has a fresh driver (its double) and a fresh node. After the stop everything that stood in the way is removed,
as people at the robot do: unlocked, powered on, closed, program started. Then the node is watched.
"""

import argparse
import os
import signal
import time

from ur_admittance.runtime import registry

from . import interfaces
from .client import Client
from .scene import Scene

WATCH_S = 5.0  # the first attempts of a node that starts by itself come within a second, the next within four


def forget_last_run():
    """As a computer does that starts: nothing is remembered of a node that was killed."""
    registry.shared_file(f"admittance_node-{os.environ['ROS_DOMAIN_ID']}", "autostart").unlink(missing_ok=True)


def robot_stops(stop, *way_back):
    def case(scene):
        assert scene.client.trigger(f"/ur_sim/{stop}").success
        scene.setup.wait_for(life="inactive", timeout=10.0)
        time.sleep(0.6)
        return lambda: [scene.client.trigger(f"/ur_sim/{step}") for step in way_back]

    return case


def then_cleanup(stop):
    def case(scene):
        after = stop(scene)
        _clean_up(scene)
        return after

    return case


def cleanup(scene):
    assert scene.client.transition("deactivate")
    _clean_up(scene)
    return lambda: None


def _clean_up(scene):
    assert scene.client.transition("cleanup")
    scene.setup.wait_for(life="unconfigured")


def restarted_driver(scene):
    scene.sim.send_signal(signal.SIGKILL)
    scene.setup.wait_for(life="inactive", timeout=10.0)
    scene.sim = scene.processes.start("sim_node", scene.sim_parameters)
    scene.client.until(lambda: scene.setup.joints and time.monotonic() - scene.setup.joints[-1][0] < 0.1, 60)
    scene.client.clients.clear()  # those of the dead driver
    return lambda: None


def restarted_node(ending, stop=None):
    """As a launch file with respawn does; stop: the robot is stopped meanwhile."""

    def case(scene):
        after = (lambda: None) if stop is None else stop(scene)
        scene.node.send_signal(ending)
        scene.node.wait(timeout=20)
        scene.setup.states.clear()
        scene.start_node()
        configured = lambda: scene.setup.state().get("life", "unconfigured") != "unconfigured"  # noqa: E731
        scene.client.until(configured, 60.0, "a node that has found the arm")
        return after

    return case


PROTECTIVE = robot_stops("protective_stop", "unlock", "resume")
EMERGENCY = robot_stops("emergency_stop", "make_safe", "resume")
SAFEGUARD = robot_stops("safeguard_stop", "make_safe")
STOPS = {
    "protective": PROTECTIVE,
    "emergency": EMERGENCY,
    "safeguard": SAFEGUARD,
    "protective, cleanup": then_cleanup(PROTECTIVE),
    "emergency, cleanup": then_cleanup(EMERGENCY),
    "safeguard, cleanup": then_cleanup(SAFEGUARD),
    "cleanup": cleanup,
    "driver restart": restarted_driver,
    "driver restart, cleanup": then_cleanup(restarted_driver),
    "node restart (kill -9)": restarted_node(signal.SIGKILL),
    "node restart (kill -9), protective": restarted_node(signal.SIGKILL, PROTECTIVE),
    "node restart (SIGTERM), protective": restarted_node(signal.SIGTERM, PROTECTIVE),
}


def run_case(client, name, pushed):
    """(whether it was active again, what the node says)"""
    forget_last_run()
    with Scene(client, "jazzy", "trajectory", node={"autostart": True}) as scene:
        scene.setup.wait_for(life="active", timeout=60.0)
        if pushed:
            scene.at_speed()
        after = STOPS[name](scene)
        since = len(scene.setup.states)
        after()
        time.sleep(WATCH_S)
        scene.let_go()
        said = [scene.setup.state_of(message) for _, message in scene.setup.states[since - 1 :]]
        return any(state["life"] == "active" for state in said), said[-1]["reason"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stops", nargs="+", default=list(STOPS))
    arguments = parser.parse_args()
    os.environ.setdefault("ROS_DOMAIN_ID", "0")
    interfaces.use()
    client, again = Client(), 0
    print("| stop | pushed | active again | the node says |\n|---|---|---|---|")  # noqa: T201
    try:
        for name in arguments.stops:
            for pushed in (False, True):
                active, reason = run_case(client, name, pushed)
                again += active
                print(f"| {name} | {'yes' if pushed else 'no'} | {'YES' if active else 'no'} | {reason} |", flush=True)  # noqa: T201
    finally:
        client.close()
    print(f"active again without a person: {again} of {2 * len(arguments.stops)}")  # noqa: T201


if __name__ == "__main__":
    main()
