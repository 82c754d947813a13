"""What stages behind the law cost: delay, distance from the law, tool speed beyond its limit, time in the loop.

python -m benchmarks.stages --write     -> docs/measured/stages.json
"""

import argparse
import datetime
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ur_admittance as ua
from ur_admittance.core.records import COMMAND, new
from ur_admittance.runtime.interfaces import Stage
from ur_admittance_lab.evidence import keep
from ur_admittance_lab.null_robot import NullRobot

FILE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "stages.json"
DT = 0.002
FREQUENCIES = (1.0, 3.0, 5.0)  # [Hz] of a hand: 1 to 5
AMPLITUDE = 0.01  # [rad]: 10 rad/s2 at 5 Hz
RUNS = 20  # of random blows
Array = NDArray[np.float64]

BEHIND: dict[str, Callable[[], Stage]] = {"smoother": ua.Smoother, "follower": ua.JointFollower}


class Idle:
    """Does nothing: what is left is the copy and the checks."""

    behind = True

    def start(self, controller: Any, command: Any) -> None: ...
    def update(self) -> None: ...


class Watch:
    def __init__(self) -> None:
        self.law: list[Array] = []
        self.sent: list[Array] = []
        self.speed: list[Array] = []

    def publish(self, controller: Any, loop: Any) -> None:
        self.law.append(controller.command["q"].copy())
        self.sent.append(loop["q_sent"][0].copy())
        self.speed.append(loop["qd_sent"][0].copy())


def arm() -> tuple[ua.AdmittanceController, NullRobot]:
    controller = ua.AdmittanceController(ua.robot_model("ur5e"))
    return controller, NullRobot()


def delay(stage: Stage, frequency: float) -> float:
    """By which a sine comes out later [s]."""
    controller, robot = arm()
    ua.run(controller, robot, duration=0.01, activate=True)  # a period is known
    command, w = new(COMMAND)[0], 2.0 * np.pi * frequency
    times = DT * np.arange(round(4.0 / DT))
    out = []
    for t in times:
        command["q"], command["qd"] = AMPLITUDE * np.sin(w * t), AMPLITUDE * w * np.cos(w * (t - 0.5 * DT))
        if t == 0.0:
            stage.start(controller, command)
        stage.update()
        out.append(float(command["q"][0]))
    late, steady = np.array(out), times >= 2.0
    sine, cosine = np.sin(w * times[steady]), np.cos(w * times[steady])
    return float(np.arctan2(-late[steady] @ cosine, late[steady] @ sine) / w)


def blows(make: Callable[[], Stage], rng: np.random.Generator) -> tuple[float, float, float]:
    """Under random blows: farthest from the law [rad] and [mm], and the tool's speed over its limit."""
    controller, robot = arm()
    watch, wrenches = Watch(), rng.normal(size=(10, 6)) * [25, 25, 25, 2, 2, 2]

    def strike(c: Any) -> None:
        cycle = len(watch.law)
        robot.wrench[:] = wrenches[cycle // 200] if cycle < 2000 else 0.0

    from ur_admittance.runtime.loop import run

    controller.configure()
    controller.activate()
    run(controller, robot, robot.clock(), duration=5.0, telemetry=watch, on_tick=strike, stages=[make()])
    model, law, sent = controller.model, np.array(watch.law), np.array(watch.sent)
    places = np.array([[model.forward(q)[1] for q in joints[::5]] for joints in (law, sent)])
    speeds = [np.linalg.norm((model.jacobian(q) @ v)[:3]) for q, v in zip(sent, watch.speed, strict=True)]
    limit = float(controller.params["max_velocity"][0])
    distance = 1e3 * float(np.linalg.norm(places[1] - places[0], axis=1).max())
    return float(np.abs(sent - law).max()), distance, float(max(speeds)) / limit


def cost(stages: Sequence[Stage]) -> float:
    """Wall time of a cycle in lock-step, the best of five runs [us]."""
    best = np.inf
    for _ in range(5):
        controller, robot = arm()
        controller.configure()
        robot.wrench[1] = 5.0
        begin = time.perf_counter()
        report = ua.run(controller, robot, duration=2.0, activate=True, stages=stages)
        best = min(best, (time.perf_counter() - begin) / report.ticks)
    return 1e6 * float(best)


def measure() -> dict[str, Any]:
    found: dict[str, Any] = {"date": datetime.date.today().isoformat()}
    rng = np.random.default_rng()
    for name, make in BEHIND.items():
        angle, distance, speed = np.array([blows(make, rng) for _ in range(RUNS)]).T
        found[name] = {
            "delay_ms": {f"at_{f:g}_hz": 1e3 * delay(make(), f) for f in FREQUENCIES},
            "farthest_rad": float(angle.max()),
            "farthest_mm": float(distance.max()),
            "median_farthest_mm": float(np.median(distance)),
            "tool_speed": float(speed.max()),
            "median_tool_speed": float(np.median(speed)),
        }
    nothing = cost([])
    path = ua.CartesianPath([[0.0, 1.0, 0.0]], speed=0.02, relative=True)
    stages: dict[str, Stage] = {"idle": Idle(), "smoother": ua.Smoother(), "follower": ua.JointFollower(), "path": path}
    found["cost_us"] = {"none": nothing} | {name: cost([stage]) - nothing for name, stage in stages.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {FILE.name}")
    write = parser.parse_args().write
    found = measure()
    print(json.dumps(found, indent=2))
    if write:
        keep(FILE, "loop", found)


if __name__ == "__main__":
    main()
