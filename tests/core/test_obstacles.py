"""The arm slows down before it hits itself, a box or the table, says which, and stays free to go elsewhere."""

import numpy as np
import pytest

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.chain import forward
from ur_admittance.core.faults import sentence
from ur_admittance.core.kernel import record
from ur_admittance.core.limits.approach import BRAKING
from ur_admittance.core.limits.obstacles import STOP_SLACK, nearest, slow_until_clear, stops_clear
from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import COMMAND, Limit, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.errors import ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters

X, Y, Z = np.eye(6)[:3]
ROD = {"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]}


def block(position, size=(0.2, 0.2, 0.2), i=1, **more):
    """Box i in the way."""
    return {f"collision.box_{i}.center": list(position), f"collision.box_{i}.size": list(size)} | {
        f"collision.box_{i}.{name}": value for name, value in more.items()
    }


@pytest.fixture
def below(ideal_arm):
    """A box whose top is 0.1 m below the tool."""
    tip = ideal_arm(**ROD).pose()[1]
    return block(tip - [0.0, 0.0, 0.2])


@pytest.mark.parametrize("clearance", [0.0, 0.01, 0.05])
def test_a_tool_pushed_onto_a_box_stops_at_the_clearance_and_names_the_pair(ideal_arm, below, clearance):
    arm = ideal_arm(**ROD, **below, **{"collision.clearance": clearance})
    top = arm.pose()[1][2] - 0.1
    log = arm.run(3.0, push=-60 * Z)
    assert log["p_tcp"][:, 2].min() > top + clearance - 2e-4
    assert log["p_tcp"][-1, 2] == pytest.approx(top + clearance, abs=1e-3)
    assert log["limits"][-1] & Limit.COLLISION
    assert pair_words(log["near"][-1], log["near_distance"][-1]) == f"tool near box 1, {1e3 * clearance:.0f} mm"
    assert log["mode"][-1] == Mode.ACTIVE


def test_braking_before_a_box_stays_inside_the_acceleration_limits(ideal_arm, below):
    arm = ideal_arm(**ROD, **below)
    log = arm.run(2.0, push=-60 * Z)
    assert np.abs(log["twist"][:, 2]).max() > 0.3
    assert np.linalg.norm(np.diff(log["twist"][:, :3], axis=0), axis=1).max() / arm.dt <= 5.0 * 1.001
    assert np.abs(np.diff(log["qd"], axis=0)).max() / arm.dt <= 20.0 * 1.000001


def test_held_at_a_box_the_tool_still_slides_along_it_and_leaves_at_once(ideal_arm, below):
    arm = ideal_arm(**ROD, **below)
    arm.run(2.0, push=-40 * Z)
    start = arm.pose()[1]
    log = arm.run(0.4, push=-40 * Z + 10 * X)
    assert log["p_tcp"][-1, 0] - start[0] > 0.02, "it slides"
    assert log["p_tcp"][-1, 2] == pytest.approx(start[2], abs=1e-3)
    log = arm.run(0.3, push=40 * Z)
    assert log["p_tcp"][-1, 2] - start[2] > 0.05, "and leaves"
    assert not log["limits"][-1] & Limit.COLLISION


def test_a_touchable_box_stops_the_arm_but_not_the_tool(ideal_arm, below):
    arm = ideal_arm(**ROD, **below, **{"collision.box_1.touchable": True})
    top = arm.pose()[1][2] - 0.1
    log = arm.run(3.0, push=-60 * Z)
    assert log["p_tcp"][-1, 2] < top - 0.05
    assert pair_words(log["near"][-1], log["near_distance"][-1]) == "wrist 3 near box 1, 10 mm"


def test_the_arm_stays_above_the_table(ideal_arm):
    arm = ideal_arm(**ROD, **{"collision.table_height": 0.05})
    log = arm.run(4.0, push=-60 * Z)
    assert log["p_tcp"][-1, 2] < 0.0, "the tool may touch it, as tools do"
    assert pair_words(log["near"][-1], log["near_distance"][-1]).endswith("near table, 10 mm")
    assert log["near_distance"][log["near"][:, 0] > 0].min() > 0.01 - 2e-4


def test_the_table_is_below_an_arm_that_hangs_from_the_ceiling(ideal_arm):
    arm = ideal_arm(**ROD, **{"gravity": [0.0, 0.0, 9.80665], "collision.table_height": -0.8})
    log = arm.run(1.0, push=60 * Z)  # down
    assert pair_words(log["near"][-1], log["near_distance"][-1]) == "wrist 2 near table, 10 mm"


def test_an_arm_that_is_pushed_into_itself_keeps_its_clearance(ideal_arm, sweep, record_property):
    rng = np.random.default_rng(4)
    hit, closest = set(), []
    for _ in range(sweep(30)):
        arm = ideal_arm(**ROD)
        push = 60.0 * rng.normal(size=3) - [60.0, 40.0, 40.0]  # towards the base
        log = arm.run(3.0, push=np.concatenate([push, rng.normal(size=3) * 3.0]))
        acting = log["limits"] & Limit.COLLISION != 0
        closest.append(log["near_distance"][acting].min(initial=1.0))
        hit |= {tuple(pair) for pair in log["near"][acting].tolist()}
    record_property("clearance of 10 mm, less [mm]", float(10.0 - 1e3 * min(closest)))
    assert min(closest) > 0.01 - 3e-4
    assert len(hit) >= 3, "the tool is pushed against several links"


def test_an_arm_without_this_check_is_as_it_was(ideal_arm, below):
    log = ideal_arm(**ROD, **below, **{"collision.enabled": False}).run(1.0, push=-60 * Z)
    assert not (log["limits"] & Limit.COLLISION).any()
    assert log["p_tcp"][-1, 2] < log["p_tcp"][0, 2] - 0.15


def test_fast_motions_from_any_side_keep_the_clearance_to_a_box(ideal_arm, sweep, record_property):
    rng = np.random.default_rng(5)
    closest = []
    while len(closest) < sweep(30):
        tip = ideal_arm(**ROD).pose()[1]
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        size, turned = rng.uniform(0.05, 0.3, 3), rng.uniform(-2.0, 2.0, 3).tolist()
        box = block(tip + 0.4 * direction, size, rotation=turned)
        arm = ideal_arm(**ROD, **box, active=False)
        if arm.run(arm.dt, request=Request.ACTIVATE)["mode"][0] != Mode.ACTIVE:
            continue  # the box is in the arm
        push = np.concatenate([60.0 * direction + rng.normal(size=3) * 10.0, rng.normal(size=3) * 3.0])
        log = arm.run(2.0, push=push)
        first, near = log["near_distance"][0], log["near"][:, 0] > 0
        if first == 0.0 or first > 0.01:
            closest.append(log["near_distance"][near].min(initial=1.0))
    record_property("clearance of 10 mm, less [mm]", float(10.0 - 1e3 * min(closest)))
    assert min(closest) > 0.01 - 3e-4
    assert np.mean(np.array(closest) < 0.012) > 0.3, "many of them do get there"


def test_a_stop_at_any_moment_keeps_the_clearance_and_all_accelerations(ideal_arm, below, sweep, record_property):
    """Far out to the side the arm is slow to brake: a stop takes most of the distance to the box."""
    rng = np.random.default_rng(6)
    closest = []
    for _ in range(sweep(12)):
        changes = {"joint_limits.acceleration": rng.uniform(2.0, 8.0, 6).tolist(), "max_linear_velocity": 1.0}
        arm = ideal_arm(**ROD, **below, **changes)
        push = np.concatenate([rng.uniform(-40.0, 40.0, 2), [-60.0], rng.uniform(-3.0, 3.0, 3)])
        moving = arm.run(rng.uniform(0.1, 1.0), push=push)
        log = np.concatenate([moving[-1:], arm.run(1.5, request=Request.DEACTIVATE)])
        assert log["mode"][-1] == Mode.INACTIVE
        closest.append(min(nearest(arm.params, q) for q in log["q"][::5]))
        assert (np.abs(np.diff(log["qd"], axis=0)).max(axis=0) / arm.dt <= arm.p["joint_acceleration"] * 1.000001).all()
        assert np.linalg.norm(np.diff(log["twist"][:, :3], axis=0), axis=1).max() / arm.dt <= 5.0 * 1.05
    record_property("clearance of 10 mm, less [mm]", float(10.0 - 1e3 * min(closest)))
    assert min(closest) > 0.01 - 3e-4


@compiled
def _stopped(params, state, J, braking, room, qd, twist):
    """Whether the speed had to be changed."""
    if stops_clear(record(params, 0), record(state, 0), room, qd, twist, 0.002):
        return False
    slow_until_clear(record(params, 0), record(state, 0), J, braking, room, qd, twist, 0.002)
    return True


def test_a_speed_is_accepted_only_if_the_arm_could_stop_before_the_box(ideal_arm, below):
    """From rest, with the top speed downwards: the straight line of the joints on which they would all brake together
    ends before the clearance, and not much before it."""
    arm = ideal_arm(**ROD, **below, **{"joint_limits.acceleration": [1.0] * 6})
    q, J = arm.s["q_command"].copy(), np.empty((6, 6))
    forward(arm.p["chain_rotation"], arm.p["chain_position"], q, np.empty((3, 3)), np.empty(3), J)
    wanted = np.linalg.solve(J, -0.5 * Z)
    qd, twist, still = wanted.copy(), J @ wanted, np.zeros(6)
    room = nearest(arm.params, q) - 0.01
    assert _stopped(arm.params, arm.state, J, (still, still), room, qd, twist)
    way = 0.002 + 0.5 * np.abs(qd).max() / (1.0 * BRAKING)
    along = [nearest(arm.params, q + share * way * qd) for share in np.linspace(0.0, 1.0, 50)]
    assert min(along) > 0.01 - 2 * STOP_SLACK
    assert min(along) < 0.02
    assert np.abs(np.cross(qd[1:4], wanted[1:4])).max() < 1e-12, "slower, in the same direction"
    # What the tool's own line would brake to is preferred, unless that hits the box, too.
    aside = np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    for brake, hold, start in ((still, aside, aside), (aside, wanted, aside)):
        qd = wanted.copy()
        assert _stopped(arm.params, arm.state, J, (brake, hold), room, qd, J @ wanted)
        share = (qd - start) @ (wanted - start) / ((wanted - start) @ (wanted - start))
        assert 0.0 < share < 1.0
        assert qd == pytest.approx(start + share * (wanted - start), abs=1e-12)


@pytest.mark.parametrize("case", ["box", "table", "self"])
def test_an_arm_that_touches_something_is_not_activated_and_says_what(ideal_arm, case):
    home = np.array(robot_model("ur5e").home)
    _, positions = robot_model("ur5e").frames(home)
    changes, q, words = {
        "box": (block(positions[3]), home, ("wrist 1", "box 1")),
        "table": ({"collision.table_height": 0.6}, home, ("wrist 3", "table")),
        "self": ({}, home + [0, 0, 1.4, 0, 0, 0], ("wrist 1", "upper arm")),
    }[case]
    arm = ideal_arm(q=q, active=False, **changes)
    log = arm.run(0.1, request=Request.ACTIVATE)
    assert (log["mode"] == Mode.INACTIVE).all()
    assert (log["status"] == Status.COLLISION).all()
    said = sentence(Status.COLLISION, log["evidence"][-1])
    assert "touch each other" in said
    if case != "table":
        assert all(word in said for word in words), said
    arm.set(**{"collision.enabled": False})
    arm.run(arm.dt, request=Request.ACTIVATE)
    assert arm.s["mode"] == Mode.ACTIVE


def test_a_box_put_onto_an_active_arm_lets_it_only_move_away(ideal_arm):
    arm = ideal_arm(**ROD)
    tip = arm.pose()[1]
    arm.set(**block(tip - [0.0, 0.0, 0.05], (0.2, 0.2, 0.1)))  # its top is at the tip
    before = arm.run(0.5, push=-20 * Z)
    assert before["p_tcp"][-1, 2] == pytest.approx(tip[2], abs=1e-4)
    assert arm.run(0.5, push=20 * Z)["p_tcp"][-1, 2] > tip[2] + 0.05


def test_distances_that_are_only_bounded_give_the_same_commands_as_measured_ones(ideal_arm, below):
    """Measured in every tick or when the bound is used up: the same bits."""
    logs = []
    for always in (False, True):
        arm = ideal_arm(**ROD, **below)
        u, log = arm.samples(1), new(COMMAND, 700)
        for k in range(len(log)):
            if always:
                arm.s["near_revision"] = -1.0
            u["q"], u["qd"] = arm.s["q_command"], arm.s["qd_command"]
            u["wrench"][0, :3] = arm.pose()[0].T @ [5.0, 0.0, -30.0]
            tick(arm.params, arm.state, u, log[k : k + 1])
        logs.append(log)
    np.testing.assert_array_equal(logs[0]["q"], logs[1]["q"])
    np.testing.assert_array_equal(logs[0]["limits"], logs[1]["limits"])


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("collision.box_2.size", [0.1, -0.2, 0.1], "collision.box_2.size[1] = -0.2 m: must be > 0"),
        ("collision.clearance", -0.01, "collision.clearance = -0.01 m: must be >= 0"),
        ("collision.tool_radius", -1.0, "collision.tool_radius = -1 m: must be >= 0"),
        ("collision.box_1.center", [0.1, 0.2], "collision.box_1.center = [0.1, 0.2] m (2 values): must be 3 numbers"),
        (
            "collision.box_5.size",
            [1.0] * 3,
            "collision.box_5.size is not a parameter; the nearest known name is collision.box_1.size",
        ),
    ],
)
def test_a_bad_shape_is_refused_in_one_sentence(name, value, sentence):
    with pytest.raises(ParameterError) as refused:
        Parameters().changed({name: value})
    assert str(refused.value) == sentence
