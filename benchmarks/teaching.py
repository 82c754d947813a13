"""A minute of guiding, taught and replayed: python -m benchmarks.teaching

A hand (600 N/m, 12 Ns/m, 1.2 kg, trembling at 9 Hz) leads the simulated UR5e for a minute over a path with turns,
bends and a rest. Then the path is replayed: free, and with a hand that holds the tool for three seconds.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ur_admittance as ua
from ur_admittance.teaching import curve

Array = NDArray[np.float64]

MINUTE = 60.0  # [s]
TREMOR_HZ, TREMOR = 9.0, 4e-4  # [Hz], [m]
SPEED = 0.05  # [m/s]
HELD_S = 3.0


def shown(t: float) -> Array:
    """Where the hand wants the tool to be (6,), from its start [m, rad]: figures of eight, a turn, and a rest."""
    slow = min(max(t - 1.0, 0.0), MINUTE - 4.0)
    slow = slow if slow < 25.0 else max(25.0, slow - 3.0)  # 3 s of rest
    w = 2.0 * np.pi / 13.0
    place = [0.08 * np.sin(w * slow), 0.12 * np.sin(2.0 * w * slow), 0.05 * (1.0 - np.cos(w * slow))]
    place = np.array(place) + TREMOR * np.sin(2.0 * np.pi * TREMOR_HZ * t + np.array([0.0, 1.0, 2.0])) * min(1.0, t)
    return np.concatenate([place, [0.3 * np.sin(0.4 * slow), 0.0, 0.25 * np.sin(0.3 * slow)]])


def arm(taught: Any = None) -> tuple[Any, Any, Any]:
    world = ua.World("ur5e", ua.Tool(mass=1.0))
    parameters = ua.preset("hand_guiding").changed(world.parameters())
    if taught is not None:
        world.reset(taught.start_joints)
    return world, ua.AdmittanceController(world.model, parameters), ua.SimulatedRobot(world)


def teach(seconds: float = MINUTE) -> tuple[Any, Array]:
    """What was taught, and what the tool did while it was (n, 7)."""
    world, controller, robot = arm()
    teacher, seen = ua.Teacher(controller), []

    def each(controller: Any) -> None:
        teacher.watch(controller)
        if world.time > 0.5 and not teacher.recording and world.time < seconds:
            teacher.begin_path()
            world.grab(shown, stiffness=(600.0, 15.0), damping=(12.0, 0.4), mass=1.2)
        if teacher.recording:
            command = controller.command
            seen.append(curve.from_matrix(np.array(command["p_tcp"]), np.array(command["R_tcp"])))

    with robot:
        ua.run(controller, robot, duration=seconds, activate=True, on_tick=each)
    teacher.end_path()
    return teacher.taught, np.array(seen)


@dataclass
class Replayed:
    p: Array  # of the tool (n, 3)
    poses: Array  # (n, 7)
    twist: Array  # commanded (n, 6)
    force: Array  # of the hand (n,) [N]
    period: float


def replay(taught: Any, hold_at: float | None = None, speed: float = SPEED) -> Replayed:
    world, controller, robot = arm(taught)
    stage = ua.TaughtPath(taught, speed, ends=True)
    poses, twist, force = [], [], []

    def each(controller: Any) -> None:
        command = controller.command
        poses.append(curve.from_matrix(np.array(command["p_tcp"]), np.array(command["R_tcp"])))
        twist.append(np.array(command["twist"]))
        force.append(float(np.linalg.norm(world.hand.wrench[:3])))
        if hold_at is not None and hold_at <= world.time < hold_at + HELD_S and not world.hand.active:
            world.grab(lambda t: np.zeros(6), stiffness=(2000.0, 30.0), damping=(60.0, 1.0))
        if hold_at is not None and world.time >= hold_at + HELD_S:
            world.let_go()

    with robot:
        report = ua.run(controller, robot, activate=True, stages=[stage], on_tick=each, duration=600.0)
    assert stage.done, report
    found = np.array(poses)
    return Replayed(found[:, :3], found, np.array(twist), np.array(force), robot.period)


def off_path(poses: Array, of: Array) -> tuple[Array, Array]:
    """Distance [m] and angle [rad] of each pose from the nearest of the others."""
    distances, angles = [], []
    for pose in poses:
        near = curve.length_between(of, np.tile(pose, (len(of), 1)))
        i = int(np.argmin(near))
        distance, angle = curve.apart(of[i : i + 1], pose[None])
        distances.append(distance[0])
        angles.append(angle[0])
    return np.array(distances), np.array(angles)


def main() -> None:
    taught, seen = teach()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "minute.yaml")
        taught.save(file)
        size = file.stat().st_size
        taught = ua.load_taught(file)
    path = curve.bent(curve.from_vectors(taught.steps[0].value))
    print(f"taught: {len(seen)} cycles, {curve.chords(seen[::5])[-1]:.2f} m with turns")
    print(f"file: {size} bytes, {taught.points} points")
    off = off_path(seen[::25], path.poses)
    print(f"deviation: {1e3 * taught.deviation[0]:.2f} mm, {np.degrees(taught.deviation[1]):.2f} degrees as stated;")
    print(f"  nearest place of the curve: {1e3 * off[0].max():.2f} mm, {np.degrees(off[1].max()):.2f} degrees")
    free = replay(taught)
    off = off_path(free.poses[1000::50], path.poses)
    print(
        f"replayed in {free.period * len(free.p):.1f} s, free: at most {1e3 * off[0].max():.2f} mm and "
        f"{np.degrees(off[1].max()):.2f} degrees off the path, fastest "
        f"{np.linalg.norm(free.twist[:, :3], axis=1).max():.4f} m/s"
    )
    at = 20.0
    held = replay(taught, at)
    begin, end = round(at / held.period), round((at + HELD_S) / held.period)
    after = slice(end, end + round(2.0 / held.period))
    still = slice(end - round(1.0 / held.period), end)
    acceleration = np.diff(held.twist[:, :3], axis=0) / held.period
    jump = np.linalg.norm(np.diff(held.twist[:, :3], axis=0), axis=1)
    jerk = np.linalg.norm(np.diff(acceleration, axis=0), axis=1)
    free_jump = np.linalg.norm(np.diff(free.twist[:, :3], axis=0), axis=1)
    free_jerk = np.linalg.norm(np.diff(free.twist[:, :3], 2, axis=0), axis=1) / free.period
    print(
        f"held for {HELD_S:g} s: peak force {held.force[begin:end].max():.1f} N, in the last second "
        f"{held.force[still].mean():.1f} N, tool moves {1e3 * np.ptp(held.p[still], axis=0).max():.2f} mm, "
        f"{1e3 * np.linalg.norm(held.p[begin + 250 : end] - held.p[begin], axis=1).max():.1f} mm on"
    )
    print(
        f"released: fastest {np.linalg.norm(held.twist[after, :3], axis=1).max():.4f} m/s, largest step of the speed "
        f"{1e3 * jump[after].max():.3f} mm/s (free replay {1e3 * free_jump.max():.3f}), of the acceleration "
        f"{jerk[after].max():.3f} m/s2 (free {free_jerk.max():.3f})"
    )
    off = off_path(held.poses[end + round(2.0 / held.period) :: 50], path.poses)
    print(
        f"  2 s later at most {1e3 * off[0].max():.2f} mm off; "
        f"done {held.period * (len(held.p) - len(free.p)):.1f} s later"
    )


if __name__ == "__main__":
    main()
