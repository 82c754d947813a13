"""Hold-to-run in the simulated arm: let go of, silent, pressed again; every run is replayed to the bit."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import RobotError
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import Recorder
from ur_admittance.recording.replay import replay
from ur_admittance.recording.why import why
from ur_admittance.robots.simulated import Environment, Servo, SimulatedRobot, World
from ur_admittance.runtime.loop import Loop, run

PUSH = np.array([0.0, 40.0, 0.0, 0.0, 0.0, 0.0])  # [N] the tool at its speed limit
LOST = 2.0  # [s] when the signal goes
DT = 0.002
REQUIRED = {"guiding.enable": "required", "guiding.timeout": 0.2, "max_linear_velocity": 0.25}


def recorded(path, seconds, each, changes=None, **world):
    """each(t, controller, robot): in every cycle."""
    arm = World("ur5e", **{"servo": Servo(delay=0.010)} | world)
    robot = SimulatedRobot(arm)
    parameters = Parameters().changed(arm.parameters() | REQUIRED | (changes or {}))
    controller = AdmittanceController(arm.model, parameters)
    controller.configure()
    ticks = 0

    def on_tick(_):
        nonlocal ticks
        ticks += 1
        if ticks == 300:
            controller.activate(accept_load=True)
        each(ticks * DT, controller, robot)

    with robot, Recorder(path, model="ur5e") as recorder:
        run(controller, robot, robot.clock(), duration=seconds, telemetry=recorder, on_tick=on_tick)
    log = read_log(path)
    result = replay(log)
    assert result.exact, str(result)
    assert int(result.recomputed.sum()) == len(log.ticks) - 1
    log.ticks = log.ticks[: round(seconds / DT) - 2]  # without the stop of the loop at its end
    return log


def stop_of(log, lost=LOST):
    """Time [s] and distance [m] of the tool from the loss of the signal to standstill of the arm."""
    t, command = log.seconds, log.ticks["command"]
    after = t >= lost
    moving = np.abs(log.ticks["sample"]["qd"]).max(axis=1) > 1e-3
    still = int(np.flatnonzero(after & ~moving)[0])
    begin = int(np.flatnonzero(after)[0])
    return t[still] - lost, float(np.linalg.norm(command["p_tcp"][still] - command["p_tcp"][begin]))


def held_by(kind):
    """Let go, silent, a killed sender: the signal as it is renewed until LOST."""

    def each(t, controller, robot):
        if kind == "input":
            robot.set_digital_input(17, t < LOST)
        elif t < LOST:
            if round(t / DT) % 25 == 0:
                controller.enable()
        elif kind == "let go" and t < LOST + DT:
            controller.enable(False)
        robot.world.push(PUSH if t > 1.5 else 0.0 * PUSH)

    return each


@pytest.mark.parametrize(
    ("kind", "waits", "status"),
    [("let go", 0.0, "NOT_ENABLED"), ("silent", 0.2, "ENABLE_SILENT"), ("input", 0.0, "NOT_ENABLED")],
)
def test_a_signal_that_is_lost_in_full_motion_stops_the_arm_inside_its_limits(tmp_path, kind, waits, status):
    source = {"guiding.source": "tool:1"} if kind == "input" else {}
    log = recorded(tmp_path / "run.mcap", 3.5, held_by(kind), source)
    command = log.ticks["command"]
    before = log.seconds < LOST
    assert np.linalg.norm(command["twist"][before][-1, :3]) == pytest.approx(0.25, rel=0.01)
    time, distance = stop_of(log)
    print(f"{kind}: at rest after {1e3 * time:.0f} ms, {1e3 * distance:.1f} mm")  # noqa: T201
    assert waits <= time < waits + 0.18
    assert distance < 0.25 * (waits + 0.09)
    held = log.seconds > LOST + waits + 0.02
    assert (command["status"][held] == Status[status]).all()
    assert (command["mode"][held] == Mode.ACTIVE).all()
    acceleration = np.linalg.norm(np.diff(command["twist"][:, :3], axis=0), axis=1) / DT
    assert acceleration.max() < 5.0 * 1.001
    rest = log.seconds > LOST + waits + 0.4
    np.testing.assert_array_equal(command["qd"][rest], 0.0)  # although 40 N push
    assert "held: " in why(log)


def test_pressed_again_an_arm_that_is_pushed_goes_on_without_a_leap(tmp_path):
    def each(t, controller, robot):
        if round(t / DT) % 25 == 0:
            controller.enable(t < LOST or t > 3.0)
        robot.world.push(PUSH if t > 1.5 else 0.0 * PUSH)

    log = recorded(tmp_path / "run.mcap", 4.0, each, {"max_linear_velocity": 1.0})
    t, command = log.seconds, log.ticks["command"]
    speed = np.linalg.norm(command["twist"][:, :3], axis=1)
    again = int(np.flatnonzero((t > 3.0) & (command["status"] == Status.OK))[0])
    assert t[again] < 3.06
    assert speed[again] < 0.02
    leap = np.abs(np.diff(speed[again - 1 : again + 250])).max() / DT  # [m/s2]
    first = int(np.flatnonzero(t > 1.5)[0])
    fresh = np.abs(np.diff(speed[first : first + 250])).max() / DT
    assert leap < 0.4 * fresh  # 40 N that come at once ask for 5 m/s2, those that are ramped in for a fraction
    assert speed[again + 250] > 0.2


@pytest.mark.parametrize("leads", ["twist", "pose"])
def test_no_reference_moves_an_arm_that_is_held(tmp_path, leads):
    def each(t, controller, robot):
        if round(t / DT) % 25 == 0:
            controller.enable(t > LOST)
        if leads == "twist":
            controller.set_reference_twist([0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
        elif round(t / DT) == 500:
            controller.set_target_pose(robot_pose(controller) + [0.0, 0.08, 0.0], controller.command["R_tcp"])

    log = recorded(tmp_path / "run.mcap", 4.0, each)
    t, p = log.seconds, log.ticks["command"]["p_tcp"]
    waits, goes = (t > 0.7) & (t < LOST), t > LOST
    assert np.ptp(p[waits], axis=0).max() < 1e-4
    assert p[-1, 1] - p[goes][0, 1] > 0.06


def robot_pose(controller):
    return np.array(controller.command["p_tcp"])


@pytest.mark.parametrize("by", ["parameters", "reference"])
def test_an_arm_that_presses_holds_its_place_and_neither_lets_go_nor_leaps_when_it_goes_on(tmp_path, by):
    z_only = [i == 2 for i in range(6)]
    pressing = {
        "admittance.force_axes": z_only, "admittance.enabled_axes": z_only,
        "admittance.damping": [400.0] * 3 + [10.0] * 3,
    }  # fmt: skip
    wanted = [0.0, 0.0, 15.0, 0.0, 0.0, 0.0]
    if by == "parameters":
        pressing["admittance.desired_wrench"] = wanted

    def each(t, controller, robot):
        if round(t / DT) % 25 == 0:
            controller.enable(t < 4.0 or t > 5.0)
        if by == "reference":
            controller.set_reference_wrench(wanted)

    floor = Environment.floor(10e3, gap=0.005)
    log = recorded(tmp_path / "run.mcap", 7.0, each, pressing, environment=floor)
    t, force = log.seconds, log.ticks["command"]["wrench_tcp"][:, 2]
    assert force[(t > 3.5) & (t < 4.0)].mean() == pytest.approx(15.0, abs=0.5)
    held, later = (t > 4.2) & (t < 5.0), t > 5.0
    np.testing.assert_array_equal(log.ticks["command"]["qd"][held], 0.0)
    assert np.abs(force[held] - 15.0).max() < 1.0
    print("force when it goes on", force[later].min(), force[later].max())  # noqa: T201
    assert np.abs(force[later] - 15.0).max() < 1.5


def test_a_button_that_bounces_lets_the_arm_come_to_rest_first(tmp_path):
    def each(t, controller, robot):
        gone = LOST <= t < LOST + 0.004
        robot.set_digital_input(3, not gone)
        robot.world.push(PUSH if t > 1.5 else 0.0 * PUSH)

    log = recorded(tmp_path / "run.mcap", 4.0, each, {"guiding.source": "digital:3"})
    t, command = log.seconds, log.ticks["command"]
    held = command["status"] == Status.NOT_ENABLED
    speed = np.linalg.norm(command["twist"][:, :3], axis=1)
    assert speed[held & (t > LOST)].min() < 1e-9
    assert t[held].max() < LOST + 0.6
    assert speed[t > LOST + 0.6].max() == pytest.approx(0.25, rel=0.02)


def test_a_fault_while_held_is_one_and_needs_its_reset(tmp_path):
    def each(t, controller, robot):
        robot.world.push(4.0 * PUSH if LOST < t < 2.8 else 0.0 * PUSH)  # 160 N, above safety.max_force

    log = recorded(tmp_path / "run.mcap", 3.0, each)
    command = log.ticks["command"]
    assert command["status"][-1] == Status.OVER_FORCE
    before = (log.seconds > 0.7) & (log.seconds < LOST)
    assert (command["status"][before] == Status.NOT_ENABLED).all()


def test_the_preset_asks_for_it_on_real_arms_only(tmp_path):
    def each(t, controller, robot):
        robot.world.push(PUSH if t > 1.5 else 0.0 * PUSH)

    log = recorded(tmp_path / "run.mcap", 2.0, each, {"guiding.enable": "real_arms"})
    assert (log.ticks["command"]["status"][320:] == Status.OK).all()
    assert np.linalg.norm(log.ticks["command"]["twist"][-1, :3]) > 0.2
    log.ticks = log.ticks.copy()
    log.ticks["sample"]["simulated"] = 0
    assert not replay(log).exact


def test_a_signal_that_the_robot_does_not_have_is_refused():
    robot = SimulatedRobot(World("ur5e"))
    parameters = Parameters().changed({"guiding.source": "joy:/joy:5"})
    with pytest.raises(RobotError, match="joy:/joy:5: this robot has no such signal; it has software, digital"):
        Loop(AdmittanceController("ur5e", parameters), robot, robot.clock())
