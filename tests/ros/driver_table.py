"""The node beside the driver, case by case: how far, how fast, how long. Prints one table.

    python -m tests.ros.driver_table [--drivers humble jazzy lyrical] [--outputs trajectory velocity]
                                     [--cases push "kill -9" ...] [--write docs/measured/driver.json]

Every case runs on the strict double of the driver (sim_node) with a fresh node. A hand pushes with 8 N in y while it
happens. Steps and speeds are the double's own measures (between two commands to the servo, one period apart; between
the servo's target and the arm); time and distance to standstill are those of the measured joints.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from ur_admittance_lab.driver.generations import generation
from ur_admittance_lab.evidence import stamp

from . import interfaces
from .client import Client
from .driver_cases import CASES, IMPOSSIBLE, RELAYED, push_speed
from .scene import FORCE, Scene

LATE_S = 0.001  # a cycle of the double that is later has two commands at once: the computer paused, not the node
MOST_TRIES = 3
TIMED = ("push", "released at the limit")  # cases in which speeds are compared with limits


def punctual_case(client, driver, output, name):
    """A row in which the double kept its time; after MOST_TRIES the most punctual one."""
    rows = []
    for _ in range(MOST_TRIES if name in TIMED else 1):
        rows.append(run_case(client, driver, output, name))
        if rows[-1]["late_s"] <= LATE_S:
            break
    return min(rows, key=lambda row: row["late_s"])


def run_case(client, driver, output, name):
    with Scene(client, driver, output, relayed=name in RELAYED, ignored=name == "commands ignored") as scene:
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


TOOLS = {  # the pendant's TCP [m, rotation vector]
    "straight": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0],
    "turned": [0.0, 0.0, 0.0, 0.0, 0.0, float(np.pi / 2)],
    "both": [0.0, 0.0, 0.15, 0.0, 0.0, float(np.pi / 2)],
}
PUSHES = {"y": 1, "torque x": 3}


def tcp_case(client, driver, tool):
    """The flange must move with the hand, whatever the release makes of the TCP: speeds [m/s, rad/s] for each push."""
    old = generation(driver).wrench_frame == "tool0"
    stated = {"sensor.driver": generation(driver).driver} if old else {}
    row = {"driver": driver, "tool": tool}
    with Scene(client, driver, "trajectory", node=stated, sim={"pendant.tcp": TOOLS[tool]}) as scene:
        scene.bring_up()
        for push, axis in PUSHES.items():
            wrench = [0.0] * 6
            wrench[axis] = FORCE if axis < 3 else 0.8
            before = time.monotonic()
            scene.push(wrench)
            time.sleep(1.4)
            scene.let_go()
            picked = [m.twist for t, m in scene.setup.twists if before + 0.8 < t < before + 1.3]
            twist = np.median([[getattr(v, a) for v in (m.linear, m.angular) for a in "xyz"] for m in picked], axis=0)
            row[push] = round(float(twist[axis]), 4)
            row[f"{push} across"] = round(float(np.abs(np.delete(twist, axis)).max()), 4)
            scene.setup.still()
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
    "double late",
)


def line(row):
    return (
        f"| {row['driver']} | {row['output']} | {row['case']} | {row.get('speed_ratio', float('nan')):.3f} "
        f"| {1e3 * row['command_step_rad']:.2f} mrad | {row['velocity_step_rad_s']:.3f} rad/s "
        f"| {1e3 * row['lead_rad']:.1f} mrad | {row['tcp_speed_m_s']:.3f} m/s | {row['seconds']:.2f} s "
        f"| {1e3 * row['metres']:.0f} mm | {row['refused']} | {1e3 * row['late_s']:.1f} ms |  {row['reason'][:60]}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drivers", nargs="+", default=["humble", "jazzy", "lyrical"])
    parser.add_argument("--outputs", nargs="+", default=["trajectory", "velocity"])
    parser.add_argument("--cases", nargs="+", default=["push", *CASES])
    parser.add_argument("--tcp", action="store_true", help="the table of pushes with the pendant's TCP elsewhere")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    interfaces.use()
    client, rows = Client(), []
    if arguments.tcp:
        try:
            for driver in arguments.drivers:
                for tool in TOOLS:
                    print(tcp_case(client, driver, tool), flush=True)  # noqa: T201
        finally:
            client.close()
        return
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))  # noqa: T201
    try:
        for driver in arguments.drivers:
            for output in arguments.outputs:
                for name in (name for name in arguments.cases if (output, name) not in IMPOSSIBLE):
                    try:
                        rows.append(punctual_case(client, driver, output, name))
                        print(line(rows[-1]), flush=True)  # noqa: T201
                        if arguments.write:
                            write(arguments.write, rows[-1:])
                    except AssertionError as error:
                        print(f"| {driver} | {output} | {name} | FAILED: {error}", flush=True)  # noqa: T201
    finally:
        client.close()


def write(path, rows):
    """These rows take the place of those of the same driver, output and case."""
    kept = {key(row): row for row in (json.loads(path.read_text()) if path.exists() else [])}
    measured_on = {"evidence": stamp("node")}
    kept |= {key(row): {name: rounded(value) for name, value in row.items()} | measured_on for row in rows}
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in kept.values()) + "\n]\n")


def key(row):
    return row["driver"], row["output"], row["case"]


def rounded(value):
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
