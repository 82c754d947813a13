"""An arm that pressed until it stopped comes out again: slowly, the way it came, on request only."""

import numpy as np
import pytest
from tests.core.conftest import IdealArm

from ur_admittance.core.faults import sentence
from ur_admittance.core.limits.obstacles import nearest
from ur_admittance.core.motion.retreat import JOINT_SPEED, RELEASED, TOOL_SPEED
from ur_admittance.core.records import COMMAND, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Environment, FtSensor, Servo
from ur_admittance_lab.episodes import Case, Script, simulate

STOPPED, LONG = 6.0, 14.0  # [s] over force by then; a retreat out of the softest wall
X_ONLY = [i == 0 for i in range(6)]


def clamped(robot, stiffness, then, seconds=4.0):
    """Presses with 130 N, stops at 100, and stays; what happens from STOPPED on is `then`."""
    script = Script(STOPPED + seconds)
    script.activate(0.02, accept_load=True)
    then(script)
    sensor = FtSensor(noise_force=0.1, noise_torque=0.005)
    law = {
        "admittance.force_axes": X_ONLY,
        "admittance.enabled_axes": X_ONLY,
        "admittance.desired_wrench": [-130.0] + [0.0] * 5,
        "admittance.desired_wrench_rate": [100.0, 10.0],
        "safety.max_torque": 60.0,
    }
    parameters = Parameters().changed(sensor.parameters() | law)
    case = Case(
        script,
        parameters,
        robot,
        environment=Environment.wall(stiffness, gap=0.005),
        servo=Servo(delay=0.010),
        sensor=sensor,
        seed=3,
    )
    return simulate([case], threads=1)[0]


def force(trace):
    return np.linalg.norm(trace.contact[:, :3], axis=1)


def from_stop(trace):
    return slice(round(STOPPED / trace.period), None)


@pytest.mark.parametrize(
    ("robot", "stiffness", "seconds"),
    [("ur5e", 1e3, LONG), ("ur10e", 1e4, 4.0), ("ur20", 3e4, 4.0), ("ur16e", 1e5, 3.0)],
)
def test_a_clamped_arm_goes_back_until_the_force_is_small_then_reset_and_activation_work(robot, stiffness, seconds):
    def then(script):
        script.reset_fault(STOPPED)
        script.retreat(STOPPED + 0.1, seconds)
        script.reset_fault(STOPPED + seconds + 0.2)
        script.activate(STOPPED + seconds + 0.3, accept_load=True)
        script.parameters(STOPPED + seconds + 0.25, 0)

    trace = clamped(robot, stiffness, then, seconds + 0.31)
    command = trace.command[from_stop(trace)]
    assert command["status"][0] == Status.OVER_FORCE
    assert force(trace)[from_stop(trace)][0] > 80.0
    # the reset is refused, with the reason
    assert command["mode"][1] == Mode.FAULT
    assert command["hindrance"][0] == Status.OVER_FORCE
    assert "is above safety.max_force 100.0 N" in sentence(command["hindrance"][0], command["hindrance_evidence"][0])
    # the retreat
    moving = command["status"] == Status.RETREATING
    assert moving.any()
    assert (command["mode"][: np.flatnonzero(moving)[-1]] == Mode.FAULT).all()
    assert np.abs(command["qd"]).max() <= JOINT_SPEED * (1 + 1e-9)
    assert np.linalg.norm(command["twist"][:, :3], axis=1).max() <= TOOL_SPEED[0] * 1.01
    done = command[np.flatnonzero(moving)[-1] + 1]
    assert done["status"] == Status.RETREATED
    assert done["evidence"][0] < RELEASED == done["evidence"][1]
    # and on
    assert command["mode"][-1] == Mode.ACTIVE


def test_the_retreat_is_inside_the_limits_of_joints_and_tool_and_on_the_way_it_came():
    trace = clamped("ur5e", 2e4, lambda script: script.retreat(STOPPED, 4.0))
    limits = Parameters()
    back = from_stop(trace)
    qd, twist = trace.command["qd"], trace.command["twist"]
    assert np.abs(np.diff(qd, axis=0)).max() / trace.period <= 20.0 * (1 + 1e-9)
    acceleration = np.linalg.norm(np.diff(twist[:, :3], axis=0), axis=1) / trace.period
    assert acceleration[back].max() <= limits.max_linear_acceleration
    came, went = trace.command["q"][: back.start], trace.command["q"][back]
    assert np.abs(went[-1] - went[0]).max() > 2e-3
    apart = np.abs(went[::25, None] - came[None, ::5]).max(axis=2).min(axis=1)
    assert apart.max() < 3e-3  # [rad]


def test_nothing_moves_without_the_request_and_it_stops_when_the_request_ends():
    def then(script):
        script.retreat(STOPPED + 1.0, 0.3)

    trace = clamped("ur5e", 2e3, then)
    command = trace.command[from_stop(trace)]
    before, asked, after = command[: round(1.0 / 0.002)], round(1.3 / 0.002), command[round(1.5 / 0.002) :]
    assert not before["qd"].any()
    assert np.abs(command["qd"][asked - 1]).max() > 0.0
    assert (after["status"] == Status.RETREAT_ENDED).all()
    assert not after["qd"].any()
    assert force(trace)[-1] > 50.0  # still clamped: the wall is soft


def test_another_fault_stops_the_retreat_and_is_told_and_a_request_that_stays_does_not_go_on():
    def then(script):
        script.retreat(STOPPED, 4.0)
        script.fault(STOPPED + 0.3, 0.2, "nan_wrench")

    trace = clamped("ur5e", 2e3, then)
    command = trace.command[from_stop(trace)]
    lost, after = command[round(0.3 / 0.002)], command[round(0.6 / 0.002) :]
    assert lost["status"] == Status.NOT_FINITE
    assert sentence(lost["status"], lost["evidence"]) == "the wrench is not a finite number"
    assert (after["status"] == Status.NOT_FINITE).all()
    assert not after["qd"].any()


def test_a_load_that_grows_stops_the_retreat():
    def then(script):
        script.retreat(STOPPED, 4.0)
        script.push(STOPPED + 0.3, 3.7, [-40.0, 0, 0, 0, 0, 0])

    trace = clamped("ur5e", 2e3, then)
    command = trace.command[from_stop(trace)]
    after = command[round(0.5 / 0.002) :]
    assert (after["status"] == Status.RETREAT_BLOCKED).all()
    value, bound = after["evidence"][0][:2]
    assert bound + 0.05 < value < bound + 0.5
    assert not after["qd"].any()


def test_in_any_other_mode_the_request_does_nothing():
    def guided(asked):
        script = Script(1.0)
        if asked:
            script.retreat(0.0, 1.0)
        script.activate(0.02, accept_load=True)
        script.push(0.1, 0.6, [15.0, 5.0, 0, 0, 0, 0])
        script.deactivate(0.5)
        return simulate([Case(script, Parameters())], threads=1)[0]

    plain, asked = guided(False), guided(True)
    assert (asked.sample["request"] & Request.RETREAT).all()
    assert np.abs(plain.command["qd"]).max() > 0.01
    assert plain.command.tobytes() == asked.command.tobytes()


def led_against_a_force(speed=0.1):
    """An ideal arm that came 150 mm along y, was stopped by 150 N, and stands."""
    tool = {"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0], "collision.tool_radius": 0.03}
    arm = IdealArm(**tool)
    came = arm.run(0.15 / speed, twist=[0.0, speed, 0.0, 0.0, 0.0, 0.0])
    stopped = arm.run(0.5, push=[0.0, -150.0, 0.0, 0.0, 0.0, 0.0])
    assert stopped["status"][-1] == Status.OVER_FORCE
    assert not stopped["qd"][-1].any()
    return arm, came["p_tcp"][0], stopped["p_tcp"][-1]


def back(arm, seconds, follows=True):
    """The force stays, whatever the arm does."""
    log, u = new(COMMAND, round(seconds / 0.002)), arm.samples(1)
    R, _ = arm.pose()
    u["wrench"][0, :3] = R.T @ [0.0, -150.0, 0.0]
    u["request"] = Request.RETREAT
    for k in range(len(log)):
        if follows:
            u["q"] = arm.s["q_command"]
        tick(arm.params, arm.state, u, log[k : k + 1])
    return log


def test_a_retreat_stops_before_a_wall_that_has_come_into_its_way():
    arm, _, last = led_against_a_force()
    arm.set(**{"workspace.min": [-9.0, float(last[1]) - 0.02, -9.0]})
    log = back(arm, 3.0)
    assert log["status"][-1] == Status.RETREAT_CLOSED
    assert "mm outside the workspace" in sentence(log["status"][-1], log["evidence"][-1])
    assert not log["qd"][-1].any()
    assert last[1] - 0.021 < log["p_tcp"][:, 1].min() < last[1] - 0.01


def test_a_retreat_stops_before_a_box_that_has_come_into_its_way():
    arm, first, last = led_against_a_force()
    arm.set(**{"collision.box_1.center": first.tolist(), "collision.box_1.size": [0.02] * 3})
    log = back(arm, 7.0)
    assert log["status"][-1] == Status.RETREAT_CLOSED
    assert "tool would be 7 mm from box 1" in sentence(log["status"][-1], log["evidence"][-1])
    assert not log["qd"][-1].any()
    assert np.linalg.norm(log["p_tcp"][-1] - last) > 0.05
    assert nearest(arm.params, arm.s["q_command"].copy()) > arm.p["shapes"]["clearance"]


def test_nothing_in_the_way_is_no_reason_to_stop():
    arm, first, _ = led_against_a_force()
    log = back(arm, 14.0)
    assert log["status"][-1] == Status.RETREAT_ENDED
    assert np.linalg.norm(log["p_tcp"][-1] - first) < 0.01


def test_an_arm_that_ignores_its_retreat_is_led_by_no_more_than_the_following_error(record_property):
    arm, *_ = led_against_a_force()
    log = back(arm, 4.0, follows=False)
    bound = Parameters().safety.max_following_error
    assert log["status"][-1] == Status.NOT_FOLLOWING
    assert 0.5 * bound < np.abs(log["q"] - log["q"][0]).max() <= bound + 0.02
    record_property("ahead of the arm [rad]", float(np.abs(log["q"] - log["q"][0]).max()))
    assert not log["qd"][-1].any()
