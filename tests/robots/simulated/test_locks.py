"""What a hand can still move with each lock, and that switching it while the hand pushes is not felt as a jump."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.errors import LoopError, ParameterError
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.robots.simulated import Servo, SimulatedRobot, World
from ur_admittance.runtime.loop import run

DT = 0.002  # [s]
ACTIVATED, PUSHED, SWITCHED, END = 0.6, 0.8, 1.4, 2.7  # [s]
PUSH = np.array([9.0, -13.0, 12.0, 1.2, -1.0, 1.25])  # 20 N, 2 Nm
PIVOT = np.array([0.03, 0.0, 0.15])  # [m] from the TCP, its axes
TILTED = {"lock": "plane", "lock_frame": "task"}, {"task_rotation": [0.3, -0.5, 0.2]}
LOCKS = {
    "translation": ({"lock": "translation"}, {}),
    "rotation": ({"lock": "rotation"}, {}),
    "point": ({"lock": "point", "pivot": PIVOT.tolist()}, {}),
    "plane of the tool": ({"lock": "plane"}, {}),
    "plane of the base": ({"lock": "plane", "lock_frame": "base"}, {}),
    "plane of the task": TILTED,
    "line of the tool": ({"lock": "line"}, {}),
    "line along x of the base": ({"lock": "line", "lock_frame": "base", "lock_axis": "x"}, {}),
}


def guided(path, changes, before=None):
    """A hand pushes from PUSHED on. changes: time [s] -> parameters. Returns the poses of the tool (n, 4, 4), the arm's
    own, and the log, which is replayed."""
    arm = World("ur5e", servo=Servo(delay=0.010))
    robot = SimulatedRobot(arm)
    controller = AdmittanceController(arm.model, Parameters().changed(arm.parameters() | (before or {})))
    controller.configure()
    at, poses = {round(time / DT): value for time, value in changes.items()}, []

    def on_tick(_):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = arm.pose()
        poses.append(T)
        now = len(poses)
        if now == round(ACTIVATED / DT):
            controller.activate(accept_load=True)
        arm.push(PUSH if now * DT > PUSHED else 0.0 * PUSH)
        if now in at:
            controller.set_parameters(at[now])

    with robot, Recorder(path, model="ur5e") as recorder:
        run(controller, robot, robot.clock(), duration=END, telemetry=recorder, on_tick=on_tick)
    log = read_log(path)
    result = replay(log)
    assert result.exact, str(result)
    log.ticks = log.ticks[: round(END / DT) - 2]  # without the stop of the loop at its end
    assert (log.ticks["command"]["mode"][round(PUSHED / DT) :] == Mode.ACTIVE).all()
    return np.array(poses[: len(log.ticks)]), log


def commanded(log):
    """The poses of the tool that were commanded (n, 4, 4)."""
    arm = World("ur5e")
    poses = np.tile(np.eye(4), (len(log.ticks), 1, 1))
    for T, q in zip(poses, log.ticks["command"]["q"], strict=True):
        R, p = arm.model.forward(q)
        T[:3, :3], T[:3, 3] = R, p + R @ np.array(arm.tool.tcp)
    return poses


def changes_of(name):
    guiding, others = LOCKS[name]
    return {f"guiding.{key}": value for key, value in guiding.items()} | others


def off_the_lock(name, poses):
    """Distance [m] and angle [rad] by which the poses have left the lock of the first one, by its definition."""
    guiding, others = LOCKS[name]
    first, lock = poses[0], guiding["lock"]
    axes = {"tcp": first[:3, :3], "base": np.eye(3)}.get(guiding.get("lock_frame", "tcp"))
    if axes is None:
        axes = Rotation.from_euler("xyz", others["task_rotation"]).as_matrix()
    along = axes[:, "xyz".index(guiding.get("lock_axis", "z"))]
    point = PIVOT if lock == "point" else np.zeros(3)
    places = poses[:, :3, 3] + poses[:, :3, :3] @ point
    moved = places - places[0]
    turned = Rotation.from_matrix(poses[:, :3, :3] @ first[:3, :3].T)
    angle = turned.magnitude()
    if lock == "plane":
        tilt = np.arccos(np.clip(turned.apply(along) @ along, -1.0, 1.0))
        return np.abs(moved @ along).max(), tilt.max()
    across = np.linalg.norm(moved - np.outer(moved @ along, along), axis=1)
    distance = {"translation": 0.0 * across, "line": across}.get(lock, np.linalg.norm(moved, axis=1))
    return distance.max(), 0.0 if lock in ("rotation", "point") else angle.max()


@pytest.mark.parametrize("name", LOCKS)
def test_a_hand_cannot_leave_the_lock_and_moves_what_it_leaves(tmp_path, name):
    poses, log = guided(tmp_path / "run.mcap", {PUSHED - 0.1: changes_of(name)})
    begin = round(PUSHED / DT) - 1
    pushed, asked = poses[begin:], commanded(log)[begin:]
    distance, angle = off_the_lock(name, pushed)
    by_command = off_the_lock(name, asked)
    moved = np.linalg.norm(pushed[-1][:3, 3] - pushed[0][:3, 3])
    turned = Rotation.from_matrix(pushed[-1][:3, :3] @ pushed[0][:3, :3].T).magnitude()
    print(f"{name}: the arm is off by {1e3 * distance:.2f} mm, {np.degrees(angle):.2f} deg, its command by "  # noqa: T201
          f"{1e3 * by_command[0]:.2f} mm, {np.degrees(by_command[1]):.2f} deg; moved {1e3 * moved:.0f} mm, "
          f"{np.degrees(turned):.0f} deg")  # fmt: skip
    assert distance < 1.2e-3  # 20 N bend the arm by 0.7 mm
    assert angle < np.radians(0.2)
    assert moved > 0.03 or name == "rotation"
    assert turned > 0.2 or LOCKS[name][0]["lock"] in ("translation", "line")


def steps(log, time):
    """Largest change from cycle to cycle in the 0.1 s after `time` of the tool's commanded speed [m/s, rad/s] and
    acceleration [m/s2, rad/s2]."""
    poses = commanded(log)
    speed = np.diff(poses[:, :3, 3], axis=0) / DT
    turning = Rotation.from_matrix(poses[1:, :3, :3] @ poses[:-1, :3, :3].transpose(0, 2, 1)).as_rotvec() / DT
    begin = round(time / DT) - 4
    window = slice(begin, begin + 50)
    both = [np.stack([np.diff(speed, axis=0), np.diff(turning, axis=0)], axis=1)[window]]
    both.append(np.diff(both[0], axis=0) / DT)
    return [np.linalg.norm(change, axis=2).max(axis=0) for change in both]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_closed_and_opened_under_a_push_without_a_jump(tmp_path, name):
    for way in ("closed", "opened"):
        first = {} if way == "closed" else {PUSHED - 0.1: changes_of(name)}
        second = changes_of(name) if way == "closed" else {"guiding.lock": "none"}
        _, log = guided(tmp_path / f"{way}.mcap", first | {SWITCHED: second})
        speed, acceleration = steps(log, SWITCHED)
        of_push = steps(log, PUSHED)[1]
        print(f"{name} {way}: speed by {1e3 * speed[0]:.2f} mm/s, {1e3 * speed[1]:.2f} mrad/s a cycle, acceleration by "  # noqa: T201
              f"{acceleration.round(3)}, by the push {of_push.round(3)}")  # fmt: skip
        # Held from now on, an axis slows down as if it were let go: what 20 N and 2 Nm did is gone at once, no more.
        assert (acceleration < (1.6 if way == "closed" else 0.15)).all()
        assert (speed < [0.006, 0.006]).all()


def test_a_lock_that_was_on_at_the_activation_is_not_opened_by_a_force_that_nobody_judged(tmp_path):
    closed = {"guiding.lock": "rotation"}
    with pytest.raises(LoopError) as caught:
        guided(tmp_path / "run.mcap", {SWITCHED: {"guiding.lock": "none"}}, before=closed)
    assert isinstance(caught.value.__cause__, ParameterError)
    assert "guiding.lock: the arm is active and would yield to" in str(caught.value.__cause__)


def test_a_lock_does_not_turn_a_force_that_presses():
    presses = {"admittance.force_axes": [False, False, True, False, False, False], "guiding.lock": "line"}
    with pytest.raises(ParameterError, match=r"guiding\.lock_frame = 'tcp': must be base as control_frame"):
        Parameters().changed(presses)
    Parameters().changed(presses | {"guiding.lock_frame": "base"})
