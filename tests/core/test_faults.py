"""Every status can be reached from the tick; garbage gives a status, never a NaN and never a jump."""

import numpy as np
import pytest

from ur_admittance.core.contact.contact_record import CONTACT_FLOATS
from ur_admittance.core.faults import sentence
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.model.frames import rotation_from_rpy

X = np.eye(6)[0]


def spoil(arm, u, name):
    """Makes the sample (or the records) bad in the way that gives this status. Returns words of its sentence."""
    match name:
        case "BAD_PERIOD":
            u["dt"] = 0.2
            return "0.2 s"
        case "NOT_FINITE":
            u["wrench"][2] = np.nan
            return "wrench is not a finite number"
        case "STALE_JOINTS":
            u["joint_age"] = 0.07
            return "no joint state for 70 ms (limit 50 ms)"
        case "STALE_WRENCH":
            u["wrench_age"] = 0.062
            return "no wrench for 62 ms (limit 50 ms); is the sensor streaming?"
        case "OVER_FORCE":
            u["wrench"][:3] = [0, 120, 0]
            return "force 120.0 N is above safety.max_force 100.0 N"
        case "OVER_TORQUE":
            u["wrench"][3:] = [0, 0, 16]
            return "torque 16.00 Nm about the TCP is above safety.max_torque 15.00 Nm"
        case "POSITION_ERROR":
            arm.s["p_ref"] += [0.6, 0, 0]
            return "600 mm"
        case "ORIENTATION_ERROR":
            arm.s["R_ref"] = rotation_from_rpy([0.7, 0.0, 0.0]) @ arm.s["R_ref"]
            return "0.70 rad"
        case "NOT_FOLLOWING":
            u["q"][5] += 0.7
            return "the arm does not follow: a joint is 0.700 rad from its command"
        case "IK_FAILED":  # a chain that is no chain of rotations, and no limit that would hide it
            arm.p["chain_rotation"] *= 1e8
            arm.p["max_position_error"] = arm.p["max_orientation_error"] = 1e300
            arm.p["max_velocity"], arm.p["joint_velocity"] = 1e8, 1e12
            arm.p["max_acceleration"] = arm.p["joint_acceleration"] = 9e8
            u["reference_twist"] = 1e8
            return "no joint velocities"
        case "BAD_PARAMS":
            arm.p["mass"][3] = 0.0
            return "impossible numbers"
        case "INTERNAL_ERROR":
            arm.s["rate"][1] = np.nan
            return "the program failed inside the loop"
        case _:
            u["external_status"] = Status[name]
            return sentence(Status[name])


@pytest.mark.parametrize("field", ["wrench_age", "joint_age"])
def test_the_measured_pose_is_told_as_long_as_joints_come(ideal_arm, field):
    """A silent sensor says nothing about where the arm is."""
    arm = ideal_arm(active=False)
    u = arm.samples(2)
    u["q"] += 0.1
    tick(arm.params, arm.state, u[:1], new(COMMAND))
    u[field][1], u["q"][1] = 0.06, u["q"][0] + 0.1
    command = new(COMMAND)
    tick(arm.params, arm.state, u[1:], command)
    assert command[0]["status"] in (Status.STALE_WRENCH, Status.STALE_JOINTS)
    moved = np.linalg.norm(command[0]["p_tcp"] - arm.model.forward(u["q"][1])[1])
    assert (moved < 1e-9) == (field == "wrench_age")


@pytest.mark.parametrize("name", [s.name for s in Status if s != Status.OK and s < Status.STILL_MOVING])
def test_every_status_stops_the_arm_smoothly_and_says_why(ideal_arm, name):
    arm = ideal_arm()
    arm.run(0.3, push=20 * X)
    command = new(COMMAND)
    u = arm.samples(1)
    u["q"], u["qd"] = arm.s["q_command"], arm.s["qd_command"]
    moving = arm.s["qd_command"].copy()
    words = spoil(arm, u[0], name)
    tick(arm.params, arm.state, u, command)
    assert Status(command[0]["status"]) == Status[name]
    assert command[0]["mode"] == Mode.FAULT
    assert words in sentence(command[0]["status"], command[0]["evidence"])
    if name != "IK_FAILED":  # its limits are absurd
        change = np.abs(command[0]["qd"] - moving)
        assert 0.0 < change.max() <= 20.0 * 0.002 * (1 + 1e-9)
        assert np.linalg.norm(command[0]["qd"]) < np.linalg.norm(moving)


def test_a_fault_stays_until_it_is_reset_at_standstill_with_the_cause_gone(ideal_arm):
    arm = ideal_arm()
    arm.run(0.3, push=30 * X)
    arm.run(0.002, push=300 * X)
    arm.run(0.002, request=Request.RESET_FAULT)  # still moving
    assert arm.s["mode"] == Mode.FAULT
    arm.run(0.5, push=300 * X)
    arm.run(0.01, push=300 * X, request=Request.RESET_FAULT)  # cause still there
    assert arm.s["mode"] == Mode.FAULT
    arm.run(0.01, request=Request.ACTIVATE)
    assert arm.s["mode"] == Mode.FAULT
    arm.run(0.01, request=Request.RESET_FAULT)
    assert arm.s["mode"] == Mode.INACTIVE


@pytest.mark.parametrize("dt", [np.nan, np.inf, -np.inf, 0.0, -0.002, 1e300, 0.1001])
def test_a_bad_period_is_a_fault_and_brakes_over_a_nominal_one(ideal_arm, dt):
    arm = ideal_arm()
    arm.run(0.3, push=20 * X)
    before, q = arm.s["qd_command"].copy(), arm.s["q_command"].copy()
    arm.dt = dt
    u, command = arm.samples(1), new(COMMAND)
    tick(arm.params, arm.state, u, command)
    assert command[0]["status"] == Status.BAD_PERIOD
    assert np.abs(command[0]["qd"] - before).max() <= 20.0 * 0.002 * (1 + 1e-9)
    assert np.abs(command[0]["q"] - q).max() <= 3.2 * 0.002


def test_an_unknown_external_status_is_an_internal_error(ideal_arm):
    arm = ideal_arm()
    u, command = arm.samples(1), new(COMMAND)
    u["external_status"] = 999
    tick(arm.params, arm.state, u, command)
    assert command[0]["status"] == Status.INTERNAL_ERROR
    assert command[0]["mode"] == Mode.FAULT


def finite(command):
    return all(np.isfinite(command[0][n]).all() for n in command.dtype.names if "evidence" not in n)


SPOILERS = [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e12, -1.0, 0.0]


def leaves(records, path=""):
    """{"contact.hit.sign": view of it}: every field that is not a record itself."""
    found = {}
    for name in records.dtype.names:
        inner = records[name]
        found |= leaves(inner, f"{path}{name}.") if inner.dtype.names else {path + name: inner}
    return found


def test_every_number_remembered_about_contact_is_checked(ideal_arm):
    arm = ideal_arm()
    arm.run(0.2, push=[10, 5, 0, 0.5, 0, 0])
    state = arm.state.copy()
    fields = leaves(arm.state["contact"])
    assert len(fields) == 53
    assert sum(field.size for field in fields.values()) == CONTACT_FLOATS, "floats only, nothing between them"
    for name, field in fields.items():
        assert field.dtype == np.float64, name
        for k in range(field.size):
            arm.state[:] = state
            field.flat[k] = np.nan
            command = new(COMMAND)
            tick(arm.params, arm.state, arm.samples(1), command)
            assert command[0]["status"] == Status.INTERNAL_ERROR, (name, k)
            assert command[0]["mode"] == Mode.FAULT, (name, k)


def test_a_broken_state_is_forgotten_as_a_whole(ideal_arm):
    arm = ideal_arm()
    arm.run(0.2, push=[10, 5, 0, 0.5, 0, 0])
    fields = {name: field for name, field in leaves(arm.state).items() if field.dtype == np.float64}
    for field in fields.values():
        field[...] = 7.0
    arm.s["q_command"][3] = np.nan
    tick(arm.params, arm.state, arm.samples(1), new(COMMAND))
    assert arm.s["status"] == Status.INTERNAL_ERROR
    arm.state["R_ref"] -= np.eye(3)
    started = ("q_command", "weakest_direction", "singular_vectors", "wrench_filtered", "evidence")  # by this sample
    started += ("period", "last_acceleration", "trail")  # what is outside its count does not matter
    started += ("enable_age",)  # a signal does not become a new one
    fresh = leaves(ideal_arm().state)
    for name, field in fields.items():
        if name.startswith("sent."):  # part of the motion, and checked where it is used
            continue
        if name.startswith("known."):  # what the parameters of this tick are
            assert np.array_equal(field, fresh[name]), name
        else:
            assert name in started or not field.any(), name


def test_activation_forgets_everything_about_contact_but_starts_with_the_task_normal(ideal_arm):
    arm = ideal_arm()
    arm.run(0.01, request=Request.DEACTIVATE)
    assert arm.s["mode"] == Mode.INACTIVE
    for field in leaves(arm.state["contact"]).values():
        field[...] = 7.0
    arm.p["stabilizer"] = 0.0
    u = arm.samples(1, request=Request.ACTIVATE)
    u["dt"] = 1e-12  # so that nothing new is learnt in the same tick
    tick(arm.params, arm.state, u, new(COMMAND))
    assert arm.s["mode"] == Mode.ACTIVE
    assert arm.s["contact"]["normal"] == pytest.approx(arm.p["R_base_task"][:, 2])
    for name, field in leaves(arm.state["contact"]).items():
        learnt = {"oscillation.sign": 1.0}.get(name, 1e-11)  # of a force of zero: -1
        assert name == "normal" or np.abs(field).max() <= learnt, name


@pytest.mark.parametrize("record", ["params", "state", "sample"])
def test_no_single_spoiled_number_makes_the_command_jump_or_lose_its_numbers(ideal_arm, record):
    dtype = {"params": PARAMS, "state": STATE, "sample": SAMPLE}[record]
    fields = [
        name
        for name, field in leaves(new(dtype)).items()
        if field.dtype.kind == "f" and name not in ("q_command", "qd_command", "twist")
    ]
    arm = ideal_arm()
    arm.run(0.2, push=[10, 5, 0, 0.5, 0, 0])
    params, state = arm.params.copy(), arm.state.copy()
    for field in fields:
        for value in SPOILERS:
            arm.params[:], arm.state[:] = params, state
            u, command = arm.samples(1), new(COMMAND)
            u["wrench"][0, 0] = 5.0
            target = {"params": arm.params, "state": arm.state, "sample": u}[record]
            numbers = leaves(target)[field]
            numbers.flat[numbers.size // 2] = value
            before, q = state[0]["qd_command"], state[0]["q_command"]
            for _ in range(3):
                tick(arm.params, arm.state, u, command)
                assert finite(command), (field, value)
                acceleration = np.nanmax(np.abs(arm.params[0]["joint_acceleration"]))
                assert np.abs(command[0]["q"] - q).max() < 3.2 * 0.002 * 1.2, (field, value)
                if record != "state" and field != "joint_acceleration":
                    assert np.abs(command[0]["qd"] - before).max() <= acceleration * 0.0020001, (field, value)
                before, q = command[0]["qd"].copy(), command[0]["q"].copy()


@pytest.mark.parametrize("record", ["params", "state", "sample", "all"])
def test_random_bytes_in_the_records_never_give_a_number_that_is_not_finite(ideal_arm, sweep, record):
    rng = np.random.default_rng(8)
    arm = ideal_arm()
    arm.run(0.2, push=[10, 5, 0, 0.5, 0, 0])
    params, state = arm.params.copy(), arm.state.copy()
    for _ in range(sweep(300)):
        arm.params[:], arm.state[:] = params, state
        u, command = arm.samples(1), new(COMMAND)
        for name, target in (("params", arm.params), ("state", arm.state), ("sample", u)):
            if record in (name, "all"):
                raw = target.view(np.uint8)
                where = rng.integers(0, raw.size, 40) if rng.random() < 0.7 else np.arange(raw.size)
                raw[where] = rng.integers(0, 256, where.size)
        for _ in range(3):
            tick(arm.params, arm.state, u, command)
            assert finite(command)
            assert command[0]["mode"] in list(Mode)
            assert command[0]["status"] in list(Status)


WITH_LOAD = Request.ACTIVATE | Request.ACCEPT_LOAD


def fault_and_reset(arm, push):
    """A stop of the robot in contact, then the operator's reset."""
    u = arm.samples(1)
    u["external_status"] = Status.PROTECTIVE_STOP
    tick(arm.params, arm.state, u, new(COMMAND))
    assert arm.s["mode"] == Mode.FAULT
    arm.run(arm.dt, push=push, request=Request.RESET_FAULT)
    assert arm.s["mode"] == Mode.INACTIVE


def test_stopped_and_activated_again_the_arm_does_not_leap_either(ideal_arm):
    arm = ideal_arm()
    fault_and_reset(arm, -20.0 * X)
    arm.run(arm.dt, push=-20.0 * X, request=WITH_LOAD)
    arm.run(0.02, push=-20.0 * X)
    arm.run(0.2, push=-20.0 * X, request=Request.DEACTIVATE)
    speeds, _ = let_go_of_a_wall(arm, 20.0, 2e3)
    assert max(speeds) < 0.03


def let_go_of_a_wall(arm, load, stiffness):
    """Activation while a wall presses with `load` [N]: speeds [m/s] and final distance [m] along x."""
    start = arm.pose()[1][0]
    push, speeds = -load * X, []
    arm.run(arm.dt, push=push, request=WITH_LOAD)
    for _ in range(1500):
        twist = arm.run(arm.dt, push=push)["twist"][0]
        speeds.append(abs(twist[0]))
        push = -max(0.0, load + stiffness * (arm.pose()[1][0] - start)) * X
    return speeds, start - arm.pose()[1][0]


def test_after_a_fault_the_arm_lets_go_of_what_presses_on_it_and_does_not_leap(ideal_arm):
    leaping, gentle = ideal_arm(active=False), ideal_arm()
    leaping.run(leaping.dt)
    speeds, distance = let_go_of_a_wall(leaping, 20.0, 2e3)
    assert max(speeds) > 0.1
    fault_and_reset(gentle, -20.0 * X)
    speeds, distance = let_go_of_a_wall(gentle, 20.0, 2e3)
    assert max(speeds) < 0.03
    assert 0.008 < distance < 0.012  # 10 mm relieve the wall


def test_a_load_that_vanishes_after_the_activation_moves_nothing(ideal_arm):
    arm = ideal_arm()
    fault_and_reset(arm, -20.0 * X)
    arm.run(arm.dt, push=-20.0 * X, request=WITH_LOAD)
    assert arm.s["mode"] == Mode.ACTIVE
    there = arm.pose()[1]
    arm.run(2.0)
    np.testing.assert_allclose(arm.pose()[1], there, atol=1e-5)


def test_a_hand_is_felt_in_full_two_seconds_after_an_activation_that_follows_a_fault(ideal_arm):
    arm = ideal_arm()
    fault_and_reset(arm, 20.0 * X)
    arm.run(arm.dt, push=20.0 * X, request=WITH_LOAD)
    log = arm.run(2.5, push=20.0 * X)
    assert log["wrench_control"][0][0] == pytest.approx(0.0, abs=0.2)
    assert log["wrench_control"][-1][0] == pytest.approx(20.0, rel=0.01)


def test_a_reset_and_an_activation_in_one_sample_do_not_pass_the_force_at_rest(ideal_arm):
    arm = ideal_arm()
    u = arm.samples(1)
    u["external_status"] = Status.PROTECTIVE_STOP
    tick(arm.params, arm.state, u, new(COMMAND))
    arm.run(1.0, push=-20.0 * X)
    log = arm.run(arm.dt, push=-20.0 * X, request=Request.RESET_FAULT | Request.ACTIVATE)
    assert log["mode"][-1] != Mode.ACTIVE
    assert arm.run(arm.dt, push=-20.0 * X, request=Request.ACTIVATE)["mode"][-1] != Mode.ACTIVE
