"""The command and the arm stay together: sagging, saturated, blocked, frozen and stopped arms."""

import numpy as np
import pytest
from tests.core.conftest import IdealArm

from ur_admittance.core.faults import sentence
from ur_admittance.core.records import COMMAND, SAMPLE, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, simulate

BOUND = Parameters().safety.max_following_error
HEAVY = Tool(mass=2.0)


def held(softness, unknown, seconds=12.0):
    """An arm whose servo is softer than a real one's, and which does not know about a part of its load [kg]."""
    script = Script(seconds)
    script.activate(0.02, accept_load=True)
    script.push(0.5, 0.5, [0.0, 15.0, 0.0, 0.0, 0.0, 0.0])
    servo = Servo(stiffness=tuple(softness * np.array(Servo().stiffness_of(robot_model("ur5e")))))
    servo = Servo(stiffness=servo.stiffness, payload=HEAVY.mass - unknown)
    parameters = Parameters().changed(HEAVY.parameters(FtSensor()))
    return simulate([Case(script, parameters, tool=HEAVY, servo=servo)], threads=1)[0]


def lead(trace):
    return np.abs(trace.command["q"][:-1] - trace.sample["q"][1:]).max(axis=1)


@pytest.mark.parametrize("softness", [0.015, 0.02, 0.2])
def test_an_arm_that_sags_by_more_than_20_mrad_does_not_sink(softness, record_property):
    trace = held(softness, unknown=1.5)
    if softness < 0.1:
        assert lead(trace)[-1] > 0.02
    assert trace.command["mode"][-1] == Mode.ACTIVE
    z = trace.command["p_tcp"][:, 2]
    record_property("sunk in 5 s [mm]", float(1e3 * np.ptp(z[-2500:])))
    assert np.ptp(z[-2500:]) < 1e-4  # [m] in the last 5 s


def test_an_arm_that_sags_too_far_stops_and_says_so():
    trace = held(0.01, unknown=2.0)
    last = trace.command[-1]
    assert last["mode"] == Mode.FAULT
    assert last["status"] == Status.NOT_FOLLOWING
    assert "the arm does not follow" in sentence(last["status"], last["evidence"])
    assert last["evidence"][0] > BOUND == last["evidence"][1]
    assert np.ptp(trace.command["q"][-2500:], axis=0).max() == 0.0


def test_an_arm_at_the_end_of_its_strength_says_so():
    """The motors of a UR3e in its home pose give up at some 35 N: no reason to blame an orientation."""
    script = Script(3.0)
    script.activate(0.02, accept_load=True)
    one = [i == 0 for i in range(6)]
    law = {
        "admittance.force_axes": one,
        "admittance.enabled_axes": one,
        "admittance.desired_wrench": [-130.0] + [0.0] * 5,
        "admittance.desired_wrench_rate": [100.0, 10.0],
    }
    wall = Environment.wall(1e4, gap=0.005)
    trace = simulate([Case(script, Parameters().changed(law), "ur3e", environment=wall)], threads=1)[0]
    assert trace.command["status"][-1] == Status.NOT_FOLLOWING


@pytest.mark.parametrize(("kind", "seconds"), [("frozen", 0.3), ("protective_stop", 0.3), ("frozen", 0.12)])
def test_after_a_stop_of_the_robot_the_next_command_starts_at_the_arm(kind, seconds, record_property):
    script = Script(2.5)
    script.activate(0.02, accept_load=True)
    script.push(0.1, 2.0, [40.0, 40.0, 0.0, 0.0, 0.0, 0.0])
    script.fault(0.7, seconds, kind)
    trace = simulate([Case(script, Parameters(), servo=Servo(delay=0.02))], threads=1)[0]
    back = round((0.7 + seconds) / trace.period)
    assert trace.command["mode"][back - 2] == Mode.FAULT
    moved = np.abs(trace.command["q"][back] - trace.sample["q"][back]).max()
    record_property("from the arm [rad]", float(moved))
    assert moved <= 0.02
    before = np.abs(trace.sample["qd"][: back - 2]).max()
    assert np.abs(trace.sample["qd"][back + 1 :]).max() <= before


def blocked(seconds, twist):
    """An arm that stands where it is, whatever it is told; the reference moves."""
    arm = IdealArm()
    q = arm.s["q_command"].copy()
    log = new(COMMAND, round(seconds / 0.002))
    u = new(SAMPLE, 1)
    for k in range(len(log)):
        u["dt"], u["q"], u["reference_twist"] = 0.002, q, twist
        tick(arm.params, arm.state, u, log[k : k + 1])
    return np.abs(log["q"] - q).max(axis=1), log


@pytest.mark.parametrize("speed", [0.02, 0.1, 0.4])
def test_the_command_waits_for_a_blocked_arm_then_it_is_a_fault(speed, record_property):
    apart, log = blocked(8.0, [speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    fault = int(np.argmax(log["mode"] == Mode.FAULT))
    assert log["status"][fault] == Status.NOT_FOLLOWING
    fastest = np.abs(log["qd"]).max()
    braking = 0.5 * fastest**2 / 5.0  # [rad] at the tool's acceleration limit and 1 m of lever
    record_property("ahead of the arm [rad]", float(apart.max()))
    assert apart.max() <= 2.0 * BOUND + 0.1 * fastest + braking
    late = np.abs(log["qd"][: fault + 1]).max(axis=1)
    assert late[fault] < 0.75 * fastest  # it was waiting, within the braking that is planned for the tool
    assert np.abs(np.diff(log["qd"], axis=0)).max() <= 20.0 * 0.002 * (1 + 1e-9)


def test_a_command_that_waits_may_go_back_at_once():
    apart, _ = blocked(8.0, [0.02, 0.0, 0.0, 0.0, 0.0, 0.0])
    wait = int(np.argmax(apart > 1.2 * BOUND))
    arm = IdealArm()
    q = arm.s["q_command"].copy()
    u, command = new(SAMPLE, 1), new(COMMAND)
    ahead = []
    for k in range(wait + 200):
        u["dt"], u["q"], u["reference_twist"] = 0.002, q, 0.0
        u["reference_twist"][0, 0] = 0.02 if k < wait else -0.1
        tick(arm.params, arm.state, u, command)
        ahead.append(np.abs(command[0]["q"] - q).max())
    assert command[0]["mode"] == Mode.ACTIVE
    assert ahead[-1] < 0.75 * ahead[wait]


def test_an_arm_moved_by_others_while_inactive_is_no_fault():
    arm = IdealArm(active=False)
    arm.run(0.01)
    u, command = arm.samples(1, request=Request.NONE), new(COMMAND)
    u["q"] += 0.5
    tick(arm.params, arm.state, u, command)
    assert command[0]["mode"] == Mode.INACTIVE
    assert command[0]["status"] == Status.OK


@pytest.mark.parametrize("gain", [0.97, 1.03])
def test_an_arm_driven_by_speeds_may_drift(gain):
    """Its position is the sum of its speeds, which are a little off; it never stops for that, but does when blocked."""
    arm = IdealArm()
    q = arm.s["q_command"].copy()
    sample, command = new(SAMPLE), new(COMMAND)
    sample["dt"], sample["speed_driven"] = 0.002, 1

    def moves(seconds, gain):
        for i in range(round(seconds / 0.002)):
            sample["q"], sample["wrench"][0, :3] = q, [0.0, 12.0 if i % 4000 < 2000 else -12.0, 0.0]
            tick(arm.params, arm.state, sample, command)
            q[:] += gain * command["qd"][0] * 0.002

    moves(40.0, gain)
    assert command["mode"][0] == Mode.ACTIVE
    moves(2.0, 0.0)
    assert command["status"][0] == Status.NOT_FOLLOWING


def test_a_joint_limit_moved_between_arm_and_command_is_no_jump():
    """At speed the command leads the arm. A limit that is set between the two brakes the joint, without a jump back."""
    arm = IdealArm()
    u, command = new(SAMPLE, 1), new(COMMAND)
    u["dt"], u["reference_twist"] = 0.002, [0.0, 0.3, 0.0, 0.0, 0.0, 0.0]
    asked = [arm.s["q_command"].copy()] * 10
    qd = []
    for k in range(400):
        if k == 250:
            upper = np.array(arm.model.upper)
            upper[0] = 0.5 * (asked[-10][0] + asked[-1][0])  # joint 1 turns the arm sideways
            assert asked[-10][0] < upper[0] < asked[-1][0]
            arm.set(**{"joint_limits.position_upper": upper.tolist()})
        u["q"] = asked[-10]
        tick(arm.params, arm.state, u, command)
        asked.append(command[0]["q"].copy())
        qd.append(command[0]["qd"].copy())
    assert np.abs(np.diff(asked[10:], axis=0)).max() <= 0.002 * np.abs(qd).max() * (1 + 1e-9)
    assert np.abs(np.diff(qd, axis=0)).max() <= 20.0 * 0.002 * (1 + 1e-9)
    assert abs(qd[-1][0]) < 1e-3
