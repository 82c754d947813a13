"""The node beside the driver, case by case: how far, how fast, how long. Prints one table.

    python -m tests.ros.driver_table [--drivers humble jazzy lyrical] [--outputs trajectory velocity action]
                                     [--cases push kill ...] [--write docs/figures/driver_table.json]

Every case runs on the strict double of the driver (ros/sim) with a fresh node. A hand pushes with 8 N in y while it
happens. Steps and speeds are the double's own measures (between two commands to the servo, one period apart; between
the servo's target and the arm); time and distance to standstill are those of the measured joints.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from . import interfaces
from .client import Client
from .processes import Processes
from .watched import Setup, flange_position, steady_speed

FORCE, D, THRESHOLD = 8.0, 2 * 0.8 * (8 * 200) ** 0.5, 1.5
SPEED = (FORCE - THRESHOLD) / D  # [m/s] that the law wants
LIMIT = 0.25  # [m/s] max_linear_velocity in every case
NODE = {
    "max_linear_velocity": LIMIT,
    "safety.joint_state_timeout": 0.1,
    "safety.wrench_timeout": 0.1,
    "realtime_priority": 20,
    "startup_timeout": 20.0,
}
MOVING = 2e-3  # [rad/s]


class Scene:
    """One driver, one node, one hand."""

    def __init__(self, client, driver, output, node=None, sim=None):
        self.client, self.driver, self.output = client, driver, output
        self.processes = Processes(Path(tempfile.mkdtemp(prefix="driver_table_")))
        self.sim_parameters = {"driver": driver, "unlock_delay": 0.5, **(sim or {})}
        if output == "velocity":
            self.sim_parameters["controller"] = "forward_velocity_controller"
        self.sim = self.processes.start("sim_node", self.sim_parameters)
        self.node = self.processes.start("admittance_node", {**NODE, "output": output, **(node or {})})
        client.forget()
        self.setup = Setup(self.processes, client)
        self._hand = threading.Event()
        self._thread = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.let_go()
        self.processes.stop()
        if error[0] is not None:
            print(self.processes.logs(), file=sys.stderr)  # noqa: T201

    def bring_up(self):
        self.setup.bring_up()
        self.client.trigger("/ur_sim/clear_report")

    def push(self, wrench=(0.0, FORCE, 0.0, 0.0, 0.0, 0.0)):
        """Until `let_go`."""
        self.let_go()
        self._hand.clear()

        def hold():
            while not self._hand.is_set():
                self.setup.push(wrench, 0.2, ends=False)

        self._thread = threading.Thread(target=hold)
        self._thread.start()

    def let_go(self):
        if self._thread is not None:
            self._hand.set()
            self._thread.join()
            self._thread = None

    def report(self):
        return json.loads(self.client.trigger("/ur_sim/report").message)

    def at_speed(self, seconds=1.5):
        self.push()
        time.sleep(seconds)

    def standstill(self, since, longest=4.0):
        """(seconds, metres) from `since` until no joint moves any more, watched for `longest` [s]."""
        time.sleep(longest)
        after = [(t, m) for t, m in self.setup.joints if t >= since]
        moving = [t for t, m in after if max(map(abs, m.velocity)) > MOVING]
        last = moving[-1] if moving else since
        start = flange_position(after[0][1])
        end = flange_position([m for t, m in after if t >= last][0])
        return last - since, float(np.linalg.norm(end - start))


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
    scene.client.until(lambda: scene.report() is not None, 60)
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


def inactive_controller(scene):
    """Somebody deactivates the controller while the arm is pushed; activation is refused then."""
    scene.at_speed()
    begin = time.monotonic()
    assert scene.client.trigger("/ur_sim/switch").success  # to none
    scene.setup.wait_for(life="inactive", timeout=10.0)
    scene.client.trigger("/admittance_node/reset_fault")
    assert not scene.client.transition("activate")
    return begin


def nan_wrench(scene):
    scene.at_speed()
    begin = time.monotonic()
    scene.let_go()
    scene.setup.push((float("nan"),) * 6, 0.1)
    return begin


CASES = {
    "deactivate": deactivate,
    "SIGTERM": terminate,
    "kill -9": kill,
    "SIGSTOP 1 s": pause,
    "protective stop, resume": protective_stop,
    "controller deactivated": inactive_controller,
    "driver killed, restarted": driver_dies,
}


def push_speed(scene):
    """Speed of the push over that of the law, and the report."""
    begin = time.monotonic()
    scene.push()
    time.sleep(3.2)
    scene.let_go()
    return steady_speed(scene.setup.joints, begin + 1.0, begin + 3.0) / SPEED


def run_case(client, driver, output, name):
    with Scene(client, driver, output) as scene:
        scene.bring_up()
        row = {"driver": driver, "output": output, "case": name}
        if name == "push":
            row["speed_ratio"] = push_speed(scene)
            row["seconds"], row["metres"] = 0.0, 0.0
        else:
            begin = CASES[name](scene)
            row["seconds"], row["metres"] = scene.standstill(begin)
            scene.let_go()
        report = scene.report()
        row |= {key: value for key, value in report.items() if isinstance(value, float)}
        row["refused"] = sum(report["refused"].values())
        row["stops"] = report["protective_stops"]
        row["reason"] = scene.setup.state().get("reason", "")
        return row


HEAD = (
    "driver",
    "output",
    "case",
    "speed / law",
    "command step",
    "velocity step",
    "command - arm",
    "speed",
    "to rest",
    "distance",
    "refused",
)


def line(row):
    return (
        f"| {row['driver']} | {row['output']} | {row['case']} | {row.get('speed_ratio', float('nan')):.3f} "
        f"| {1e3 * row['command_step_rad']:.2f} mrad | {row['velocity_step_rad_s']:.3f} rad/s "
        f"| {1e3 * row['lead_rad']:.1f} mrad | {row['tcp_speed_m_s']:.3f} m/s | {row['seconds']:.2f} s "
        f"| {1e3 * row['metres']:.0f} mm | {row['refused']} |  {row['reason'][:60]}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drivers", nargs="+", default=["humble", "jazzy", "lyrical"])
    parser.add_argument("--outputs", nargs="+", default=["trajectory", "velocity", "action"])
    parser.add_argument("--cases", nargs="+", default=["push", *CASES])
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    use_generated_messages()
    client, rows = Client(), []
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))  # noqa: T201
    try:
        for driver in arguments.drivers:
            for output in arguments.outputs:
                for name in arguments.cases:
                    try:
                        rows.append(run_case(client, driver, output, name))
                        print(line(rows[-1]), flush=True)  # noqa: T201
                    except AssertionError as error:
                        print(f"| {driver} | {output} | {name} | FAILED: {error}", flush=True)  # noqa: T201
    finally:
        client.close()
    if arguments.write:
        arguments.write.write_text(json.dumps(rows, indent=1) + "\n")


def use_generated_messages():
    """Where a ROS installation does not bring them."""
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
    folder = interfaces.folder_of_this_run() if hasattr(interfaces, "folder_of_this_run") else _folder()
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def _folder():
    import hashlib

    key = hashlib.sha256(Path(interfaces.__file__).read_bytes() + sys.version.encode() + sys.prefix.encode())
    folder = Path(tempfile.gettempdir()) / f"ur_admittance_interfaces_{os.getuid()}_{key.hexdigest()[:12]}"
    if not (folder / "complete").exists():
        for package in interfaces.DEFINITIONS:
            interfaces.build(package, folder)
        (folder / "complete").touch()
    return folder


if __name__ == "__main__":
    main()
