"""What is done about a contact: when it begins and ends, and the damping of a tool that a hand guides."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.core.loose import loose

from ur_admittance.core.contact.hit import BRAKES, CERTAIN, WAITS
from ur_admittance.core.contact.oscillation import HALF_CYCLES
from ur_admittance.core.contact.stabilise import (
    LOST,
    RELEASE_TIME,
    explain_hit,
    hold,
    leave,
    observe,
    touch,
)
from ur_admittance.core.records import PARAMS, STATE
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

DT = 0.002
FAR = 0.005 + 50.0 / 2e4  # from where 50 N would press the tool into 20 kN/m, and 5 mm


def controller(**changes: object) -> tuple[SimpleNamespace, SimpleNamespace]:
    """PARAMS and STATE of a free arm that obeys its law."""
    params, state = np.zeros(1, PARAMS)[0], np.zeros(1, STATE)[0]
    fill(params, Parameters().changed({k.replace("__", "."): v for k, v in changes.items()}), robot_model("ur5e"))
    p, s = loose(params), loose(state)
    s.mass, s.damping = p.mass.copy(), p.damping.copy()
    s.contact.unlimited_time = 1.0
    return p, s


def touched(force: float, v: float, by_itself: bool = True, seconds: float = 0.02) -> SimpleNamespace:
    p, s = controller()
    for _ in range(round((LOST + 0.01) / DT)):
        touch(p, s.contact, 0.0, v, by_itself, 0, DT)
    for _ in range(round(seconds / DT)):
        touch(p, s.contact, force, v, by_itself, 0, DT)
    found: SimpleNamespace = s.contact
    return found


def test_a_contact_begins_above_its_threshold_and_ends_a_tenth_of_a_second_below_a_third_of_it() -> None:
    p, s = controller()
    threshold, contact = p.contact_threshold[0], s.contact
    touch(p, contact, 0.9 * threshold, 0.0, False, 0, DT)
    assert contact.touching[0] == 0.0
    touch(p, contact, -1.1 * threshold, 0.0, False, 0, DT)
    assert contact.touching[0] == 1.0
    for force, seconds, expected in ((0.4, 1.0, 1.0), (0.3, LOST - 0.01, 1.0), (0.3, 0.02, 0.0)):
        for _ in range(round(seconds / DT)):
            touch(p, contact, force * threshold, 0.0, False, 0, DT)
        assert contact.touching[0] == expected


def test_an_arm_runs_into_something_only_when_it_moves_by_itself_against_the_force() -> None:
    assert touched(-20.0, 0.02).ran_into[0] == 1.0
    assert touched(20.0, 0.02).ran_into[0] == 0.0  # it is drawn on
    assert touched(-20.0, 0.0004).ran_into[0] == 0.0
    assert touched(-20.0, 0.02, by_itself=False).ran_into[0] == 0.0  # a hand has led it there


def held(side: float, damping: float = 700.0, deepest: float = 0.002) -> tuple[SimpleNamespace, SimpleNamespace]:
    p, s = controller()
    contact = s.contact
    hold(contact, 0)
    contact.side[0], contact.damping[0], contact.stiffness[0] = side, damping, 2e4
    contact.withstood[0], contact.depth[0] = 2e4, deepest
    return p, contact


def way_until_free(side: float, way: float, force: float, most: float = 0.1) -> float:
    """How far the tool goes, in steps of 20 um, until its damping is no longer held."""
    p, contact = held(side)
    for k in range(1, round(most / 2e-5) + 1):
        leave(p, contact, force, way * 0.01, 0, DT)
        if contact.held[0] == 0.0:
            return k * 2e-5
    return math.inf


def test_the_damping_is_held_until_the_tool_has_gone_further_than_pressing_could_make_it() -> None:
    for way in (-1.0, 1.0):
        assert way_until_free(0.0, way, 30.0) == pytest.approx(FAR, abs=5e-5)


def test_what_gives_way_gives_the_arm_back_after_a_little_more_even_if_it_looked_soft() -> None:
    p, contact = held(0.0)
    contact.withstood[0] = 1.0
    for _ in range(round(0.03 / 2e-5) + 2):
        leave(p, contact, 0.0, 0.01, 0, DT)
    assert contact.held[0] == 0.0


def test_a_tool_that_is_outside_and_pushed_on_outwards_or_deep_inside_was_at_no_wall() -> None:
    """A wall pushes outwards only while the tool is inside, by no more than it was at its deepest."""
    room = 0.001 + 0.002
    assert way_until_free(1.0, 1.0, 30.0) == pytest.approx(room, abs=5e-5)
    assert way_until_free(-1.0, -1.0, -30.0) == pytest.approx(room, abs=5e-5)
    assert way_until_free(1.0, -1.0, 30.0) == pytest.approx(room, abs=5e-5)
    assert way_until_free(1.0, 1.0, 0.0) == pytest.approx(FAR, abs=5e-5)  # drawn away from it, nothing tells
    p, contact = held(1.0)
    leave(p, contact, 30.0, 2.0, 0, DT)
    assert contact.damping[0] == contact.stiffness[0] == contact.withstood[0] == 0.0  # at once: it was no wall
    assert contact.hit.last_side[0] == 1.0
    assert contact.hit.distance[0] == pytest.approx(2.0 * DT)


def test_holding_counts_from_the_first_moment_and_from_the_last_place() -> None:
    p, contact = held(0.0)
    for _ in range(10):
        leave(p, contact, 0.0, 0.1, 0, DT)
    assert contact.held_time[0] == pytest.approx(0.02)
    assert contact.distance[0] == pytest.approx(0.002)
    hold(contact, 0)
    assert contact.held_time[0] == pytest.approx(0.02)
    assert contact.distance[0] == 0.0


def test_an_oscillation_that_is_the_arms_own_is_not_taken_back_with_a_suspicion() -> None:
    """A suspicion that began before has nothing to restore any more."""
    arm = Guided()
    contact = arm.s.contact
    contact.hit.side[0], contact.hit.doing[0] = -1.0, BRAKES
    contact.hit.depth[0] = contact.hit.deepest[0] = 0.001
    contact.held[0], contact.stiffness[0], contact.damping[0] = 0.0, 0.0, 0.0
    o = contact.oscillation
    o.ours[0], o.half_cycles[0], o.sign[0], o.peak[0], o.time[0] = 1.0, HALF_CYCLES - 1.0, 1.0, 20.0, 0.1
    o.older_peak[0], o.variance[0], o.covariance[0] = 20.0, 1e-6, -5e-3  # 5 kN/m
    arm.tick(-20.0, 0.0)  # the half cycle ends
    raised = contact.damping[0]
    assert raised > 64.0
    arm.go(0.0, 0.4, force=-1.0)
    assert contact.damping[0] == raised


def test_at_a_wall_what_comes_from_the_other_side_is_no_second_one() -> None:
    arm = Guided()
    contact = arm.s.contact
    for side, doing in ((1.0, CERTAIN), (-1.0, WAITS)):
        hold(contact, 0)
        contact.side[0], contact.stiffness[0], contact.withstood[0], contact.depth[0] = side, 2e4, 2e4, 0.01
        contact.hit.last_side[0], contact.hit.distance[0], contact.hit.side[0] = 1.0, 0.0, 0.0
        arm.go(-0.2, 0.004)
        for force in (8.0, 16.0, 24.0):
            arm.tick(force, -0.2)
            if contact.hit.side[0] != 0.0:
                break
        assert contact.hit.doing[0] == doing


class Guided:
    """The arm along x, which `observe` is shown tick by tick; nothing else touches it."""

    def __init__(self, **changes: object) -> None:
        self.p, self.s = controller(admittance__filter_coefficient=1.0, robot__response_time=0.0, **changes)
        self.p.max_force = 1e4
        self.dampings: list[float] = []

    def tick(self, force: float, v: float, driven: bool = False) -> None:
        wrench, velocity = np.zeros(6), np.zeros(6)
        wrench[0], velocity[0] = force, v
        self.s.twist[:] = velocity
        observe(self.p, self.s, wrench, velocity, np.eye(3), driven, DT)
        self.dampings.append(float(self.s.contact.damping[0]))

    def go(self, v: float, seconds: float, force: float = 0.0) -> None:
        for _ in range(round(seconds / DT)):
            self.tick(force, v)

    def bounce(self, stiffness: float, speed: float, turns: float = 1.0) -> None:
        """Into a wall and out; turns: 0.5 as far as its deepest."""
        self.go(speed, 0.05)
        w = math.sqrt(stiffness / self.s.mass[0])
        for k in range(1, round(turns * math.pi / w / DT) + 1):
            self.tick(-stiffness * speed / w * math.sin(w * k * DT), speed * math.cos(w * k * DT))

    def pushed(self, force: float, speed: float) -> None:
        self.go(speed, 0.05)
        v = speed
        for k in range(1, 126):
            f = -force * min(1.0, 0.25 * k)
            v += f / self.s.mass[0] * DT
            self.tick(f, v)


def test_a_confirmed_hit_is_held_with_the_damping_that_its_stiffness_needs() -> None:
    arm = Guided()
    arm.bounce(5e4, 0.1)
    contact, p, m = arm.s.contact, arm.p, arm.s.mass[0]
    assert contact.held[0] == 1.0
    assert contact.side[0] == -1.0
    K, D = contact.stiffness[0], contact.damping[0]
    assert p.max_contact_damping[0] > D > arm.s.damping[0]
    assert (p.loop_delay + m / D) * K / D == pytest.approx(p.contact_ratio)  # the aim of the page on contact


def test_no_damping_is_added_with_the_stabiliser_off() -> None:
    arm = Guided(contact__stabilizer=False)
    arm.bounce(5e4, 0.1)
    assert max(arm.dampings) == 0.0


def test_somebody_who_pushes_back_leaves_the_damping_as_it_was() -> None:
    arm = Guided()
    arm.pushed(40.0, 0.1)
    assert max(arm.dampings) == 0.0
    # ... though it had to brake meanwhile
    arm = Guided()
    arm.p.max_force = 30.0
    arm.pushed(40.0, 0.1)
    assert max(arm.dampings) > 0.0
    assert arm.dampings[-1] == arm.s.contact.stiffness[0] == arm.s.contact.held[0] == 0.0
    # ... and where a wall had been felt before
    arm = Guided()
    arm.p.max_force = 30.0
    arm.s.contact.damping[0], arm.s.contact.withstood[0] = 100.0, 500.0
    hold(arm.s.contact, 0)
    arm.pushed(40.0, 0.1)
    last = max(k for k, damping in enumerate(arm.dampings) if damping > 100.0)
    assert 25 < last < 60
    assert arm.dampings[last + 1] == 100.0


def test_a_hit_counts_only_while_the_arm_obeys_the_force() -> None:
    arm = Guided()
    arm.s.contact.unlimited_time = 0.0
    arm.bounce(5e4, 0.1)
    assert max(arm.dampings) == 0.0


def test_the_second_hit_in_the_same_place_is_damped_from_the_beginning() -> None:
    arm = Guided()
    arm.bounce(5e4, 0.1, turns=0.5)
    assert max(arm.dampings) == 0.0
    arm = Guided()
    arm.s.contact.hit.last_side[0], arm.s.contact.hit.distance[0] = -1.0, -0.005  # 5 mm further on
    arm.bounce(5e4, 0.1, turns=0.5)
    assert arm.dampings[27] > 0.0  # in its third tick


def test_the_damping_returns_in_its_time_once_the_place_is_left() -> None:
    arm = Guided()
    arm.bounce(5e4, 0.1)
    arm.go(-0.1, 0.15)
    assert arm.s.contact.held[0] == 0.0
    before, steps = arm.dampings[-1], round(0.1 / DT)
    arm.go(-0.1, 0.1)
    assert arm.dampings[-1] == pytest.approx(before * (1.0 - DT / RELEASE_TIME) ** steps)
    arm.go(-0.1, 1.5)
    assert arm.dampings[-1] == arm.s.contact.stiffness[0] == 0.0


def evidence(**contact: float) -> list[float]:
    """Of a stop by force, 20 ms of response, 5 ms of sensor, at 0.3 m/s; axis 1 has what is given, axis 0 10 kN/m."""
    p, s = (np.zeros(1, kind).view(np.recarray)[0] for kind in (PARAMS, STATE))
    p.response_time, p.sensor_delay = 0.02, 0.005
    s.contact.speed_lately = 0.3
    s.contact.ran_into[0], s.contact.stiffness[0] = 1.0, 1e4
    for name, value in contact.items():
        s.contact[name][1] = value
    explain_hit(p, s, DT)
    return [float(number) for number in s.evidence[2:]]


def test_a_hit_that_came_too_early_for_an_answer_is_explained_by_the_stiffest_axis() -> None:
    soft = [0.3, 1e4, 0.3 * 1e4 * 0.027]
    assert evidence() == pytest.approx(soft)
    assert evidence(stiffness=5e4) == pytest.approx(soft)  # not recognised
    assert evidence(stiffness=5e4, ran_into=1.0) == pytest.approx([0.3, 5e4, 0.3 * 5e4 * 0.027])
    assert evidence(stiffness=5e4, held=1.0, held_time=0.02) == pytest.approx([0.3, 5e4, 0.3 * 5e4 * 0.027])
    assert evidence(stiffness=5e4, held=1.0, held_time=0.021) == pytest.approx(soft)  # there was time
