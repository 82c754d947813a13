"""The rules of UR's driver and of joint_trajectory_controller that the double keeps, without ROS.

Sampling was compared once with trajectory.cpp of ros2_controllers 2.54.0, 4.42.1 and 6.9.0, built alone: 300,000 random
samples within 5e-12. Here the splines are checked against polynomials solved for.
"""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from ur_admittance.model import robot_model
from ur_admittance_lab.driver.acceptance import refusal
from ur_admittance_lab.driver.generations import GENERATIONS, JTC, SCALED, generation
from ur_admittance_lab.driver.trajectory import EMPTY, Message, Point, Trajectory
from ur_admittance_lab.driver.trajectory_controller import TrajectoryController

MODEL = robot_model("ur5e")
JOINTS = MODEL.joint_names
MS, T0 = 1_000_000, 1_700_000_000_000_000_000  # [ns]
PERIOD_NS = 2 * MS
ZERO = np.zeros(6)


def point(q, time_ms=0.0, qd=None, qdd=None):
    spread = [EMPTY if x is None else np.broadcast_to(np.array(x, dtype=float), 6).copy() for x in (q, qd, qdd)]
    return Point(*spread, time_ns=round(time_ms * MS))


def message(*points, stamp_ns=0, joints=JOINTS):
    return Message(tuple(joints), points, stamp_ns)


# sampling


@pytest.mark.parametrize("order", [1, 3, 5], ids=["linear", "cubic", "quintic"])
def test_the_spline_has_the_degree_that_both_ends_carry(order):
    rng = np.random.default_rng(order)
    a, b = rng.normal(size=(2, 3, 6))
    T = 0.3
    carried = {1: 1, 3: 2, 5: 3}[order]
    ends = [[*x[:carried]] + [EMPTY] * (3 - carried) for x in (a, b)]
    trajectory = Trajectory(message(Point(*ends[0], time_ns=10 * MS), Point(*ends[1], time_ns=310 * MS)))
    trajectory.set_before(T0, Point(a[0], a[1]))
    trajectory.sample(T0)
    oracle = [polynomial(T, a[:carried, i], b[:carried, i]) for i in range(6)]
    for t in (0.0, 0.05, 0.11, 0.2, 0.299):
        sample = trajectory.sample(T0 + 10 * MS + round(t * 1e9))
        assert sample.point.q == pytest.approx(np.array([f(t) for f in oracle]), abs=1e-9)
        assert sample.point.qd == pytest.approx(np.array([f.deriv()(t) for f in oracle]), abs=1e-8)
        assert not sample.past_end


def polynomial(T, start, end):
    """The one of lowest degree with these derivatives (0, 1, ...) at 0 and at T."""
    size = len(start) + len(end)
    basis = [Polynomial.basis(i) for i in range(size)]
    rows = [[f.deriv(k)(t) for f in basis] for t, given in ((0.0, start), (T, end)) for k in range(len(given))]
    return Polynomial(np.linalg.solve(rows, [*start, *end]))


def test_without_a_stamp_a_trajectory_starts_when_it_is_first_sampled():
    trajectory = Trajectory(message(point(1.0, 100)))
    trajectory.set_before(T0, point(0.0, qd=0.0))
    assert trajectory.sample(T0).point.q[0] == 0.0
    assert trajectory.sample(T0 + 50 * MS).point.q[0] == pytest.approx(0.5)
    assert trajectory.sample(T0 + 100 * MS).past_end
    late = Trajectory(message(point(1.0, 100), stamp_ns=T0 - 50 * MS))
    late.set_before(T0, point(0.0, qd=0.0))
    assert late.sample(T0 + 25 * MS).point.q[0] == pytest.approx(0.5)  # half of the 50 ms that are left
    assert late.sample(T0 - MS) is None


def test_accelerations_without_velocities_send_the_arm_to_zero():
    """No branch of the source fits: a client must never send them."""
    trajectory = Trajectory(message(point(1.0, 100, qdd=0.0)))
    trajectory.set_before(T0, Point(np.ones(6), ZERO))
    assert trajectory.sample(T0).point.q.tolist() == [0.0] * 6


# acceptance

GOOD = (point(0.1, 10, qd=0.5), point(0.2, 20, qd=0.0))
REFUSED = {
    "no points": message(),
    "it ends in the past": message(*GOOD, stamp_ns=T0 - 21 * MS),
    "joint elbow is not one of this controller's": message(*GOOD, joints=(*JOINTS[:5], "elbow")),
    "5 joints, must be 6": message(*GOOD, joints=JOINTS[:5]),
    "a joint is named twice": message(*GOOD, joints=(*JOINTS[:5], JOINTS[0])),
    "time_from_start does not increase (point 1: 0.01 s)": message(point(0.1, 10), point(0.2, 10)),
    "point 0 has 0 positions": message(Point(EMPTY, ZERO, time_ns=MS)),
    "point 0 has 3 velocities": message(Point(ZERO, ZERO[:3], time_ns=MS)),
    "point 0 has efforts": message(Point(ZERO, effort=ZERO, time_ns=MS)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_trajectory_is_refused(reason):
    for allowed in (False, True):
        assert refusal(REFUSED[reason], JOINTS, allowed, T0).startswith(reason)


def test_a_good_trajectory_is_taken_also_late_and_in_another_order():
    for good in (message(*GOOD), message(*GOOD, stamp_ns=T0 - 19 * MS), message(*GOOD, joints=JOINTS[::-1])):
        assert refusal(good, JOINTS, False, T0) == ""


def test_an_end_velocity_is_refused_from_jazzy_on():
    moving = message(point(0.1, 20, qd=1e-6))
    taken = {name: [refusal(moving, JOINTS, r.end_velocity, T0) == "" for r in g.trajectory.values()]
             for name, g in GENERATIONS.items()}  # fmt: skip
    assert taken == {
        **dict.fromkeys(("humble_2_5", "humble_2_11", "humble_2_12", "humble"), [True] * 2),
        **dict.fromkeys(("jazzy_3_4", "jazzy", "kilted_4_4", "kilted"), [False] * 2),
        "lyrical": [False],
        "rolling": [False],
    }
    assert refusal(message(point(0.1, 20, qd=1e-8)), JOINTS, False, T0) == ""


# one controller, an arm that follows at once


def following(name, controller=SCALED, scaling=1.0):
    """advance(message or None) -> the arm after one period."""
    made = TrajectoryController(JOINTS, generation(name).trajectory[controller], PERIOD_NS)
    state = {"q": ZERO.copy(), "time": T0}
    made.activate(state["q"])

    def advance(given=None):
        if given is not None:
            assert made.offer(given, state["time"]) == ""
        command = made.update(state["time"], state["q"], ZERO, scaling)
        state["q"] = state["q"] if command is None else command.copy()
        state["time"] += PERIOD_NS
        return state["q"][0]

    return made, advance


@pytest.mark.parametrize(
    ("name", "controller", "share"),
    [("humble_2_12", SCALED, 0.0), ("humble", JTC, 0.0), ("humble", SCALED, 2 / 22), ("jazzy", SCALED, 2 / 20),
     ("jazzy", JTC, 2 / 20), ("kilted", SCALED, 2 / 20), ("kilted", JTC, 2 / 20), ("lyrical", JTC, 2 / 20)],
)  # fmt: skip
def test_a_message_in_each_cycle_moves_the_arm_by_the_share_that_the_sampling_gives(name, controller, share):
    """Of the distance to the point that is due in 20 ms. Humble's never move: they sample the measured state."""
    _, advance = following(name, controller)
    advance()
    assert advance(message(point(0.1, 20))) == pytest.approx(0.1 * share)
    x = advance(message(point(0.1, 20)))
    assert x == pytest.approx(0.1 * (1 - (1 - share) ** 2))


@pytest.mark.parametrize(
    ("name", "controller", "scales"), [("jazzy", SCALED, True), ("jazzy", JTC, False), ("kilted", JTC, True)]
)
def test_the_slider_slows_a_trajectory_down_but_not_a_stream(name, controller, scales):
    _, advance = following(name, controller, scaling=0.5)
    advance()
    advance(message(point(0.1, 100)))
    for _ in range(20):
        x = advance()
    assert x == pytest.approx(0.1 * (0.5 * 40 + 2 if scales else 42) / 100)
    _, stream = following("jazzy", controller, scaling=0.5)
    stream()
    assert stream(message(point(0.1, 20))) == pytest.approx(0.01)


def test_rolling_starts_a_new_trajectory_from_the_old_one_and_jazzy_from_the_arm():
    """The arm stands still meanwhile: the one shows a lead, the other none."""
    commands = {}
    for name in ("jazzy", "lyrical", "rolling"):
        made = TrajectoryController(JOINTS, generation(name).trajectory[JTC], PERIOD_NS)
        made.activate(ZERO)
        for k in range(11):  # a new message after 20 ms, when the old one is at 0.01 rad
            if k in (0, 10):
                start = 0.001 * k
                made.offer(message(*(point(start + 0.01 * i, 20 * i) for i in (1, 2, 3))), T0)
            command = made.update(T0 + k * PERIOD_NS, ZERO, ZERO, 1.0)
        commands[name] = command[0]
    # the old one is asked for its state of the last cycle, 0.009 rad
    from_the_arm = pytest.approx(0.02 * 2 / 20)
    blended = pytest.approx(0.009 + 0.011 * 2 / 20)
    assert commands == {"jazzy": from_the_arm, "lyrical": from_the_arm, "rolling": blended}


def test_lyrical_keeps_the_last_message_with_a_time_ahead_until_then():
    made = TrajectoryController(JOINTS, generation("lyrical").trajectory[JTC], PERIOD_NS)
    made.activate(ZERO)
    path = []
    for k in range(20):
        if 1 <= k < 10:  # each of them takes the place of the one before: none is executed meanwhile
            later = message(point(0.1, 0), point(0.2, 20), stamp_ns=T0 + (k + 3) * PERIOD_NS)
            assert made.offer(later, T0) == ""
        path.append(made.update(T0 + k * PERIOD_NS, ZERO, ZERO, 1.0)[0])
    assert path[:12] == [0.0] * 12
    assert path[12] == pytest.approx(0.1 + 0.1 * 2 / 20)


def test_a_point_that_is_too_far_at_once_is_held_off():
    """The path tolerance of 0.2 rad also counts for the first sample of a message."""
    made, advance = following("jazzy")
    advance()
    assert advance(message(point(0.3, 0))) == 0.0
    assert "path tolerance" in made.why_held
    assert advance() == 0.0
    assert advance(message(point(0.1, 0))) == pytest.approx(0.1)


def test_an_inactive_controller_drops_messages_without_a_word():
    made = TrajectoryController(JOINTS, generation("jazzy").trajectory[JTC], PERIOD_NS)
    assert made.offer(message(point(0.1, 20)), T0) == ""
    assert made.update(T0, ZERO, ZERO, 1.0) is None
    made.activate(ZERO)
    assert made.update(T0, ZERO, ZERO, 1.0).tolist() == [0.0] * 6
