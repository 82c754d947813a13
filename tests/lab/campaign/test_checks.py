"""Each check passes a sound episode and finds the one thing that was spoilt in it."""

from dataclasses import replace

import numpy as np
import pytest

from ur_admittance.core.limits.obstacles import nearest
from ur_admittance.core.records import PARAMS, Mode, Request, Status, new
from ur_admittance.model import robot_model
from ur_admittance.params.record import fill
from ur_admittance_lab.campaign import FAMILIES, judge
from ur_admittance_lab.campaign import episode as draw_episode
from ur_admittance_lab.campaign import motion_checks as checks
from ur_admittance_lab.campaign.distances import FARTHEST, Judge
from ur_admittance_lab.campaign.view import View, positions
from ur_admittance_lab.episodes import Trace

ALL = slice(None)


def copy(trace: Trace) -> Trace:
    parts = {name: getattr(trace, name).copy() for name in ("sample", "command", "contact", "hand")}
    return replace(trace, **parts)


def readings(episode, trace):
    worst = {}
    for reading in judge(episode, trace).readings:
        if reading.check not in worst or reading.share >= worst[reading.check].share:
            worst[reading.check] = reading
    return worst


def at(trace, seconds):
    return round(seconds / trace.period)


def add(field, joint, size, start=2.0, end=None):
    """Spoil one number of the command from `start` on, or in one cycle."""

    def spoil(episode, trace):
        k = at(trace, start)
        trace.command[field][k : k + 1 if end is None else at(trace, end), joint] += size

    return spoil


def set_mode(mode, status=Status.OK, start=2.0):
    def spoil(episode, trace):
        trace.command["mode"][at(trace, start) :] = mode
        trace.command["status"][at(trace, start) :] = status

    return spoil


def end_early(episode, trace):
    object.__setattr__(trace, "diverged", True)


def drift(field, size):
    """The measured tool moves on at the end."""

    def spoil(episode, trace):
        k = at(trace, episode.rest)
        ramp = np.linspace(0.0, size, len(trace.command) - k)
        if field == "p_tcp":
            trace.command[field][k:, 0] += ramp
        else:
            c, s = np.cos(ramp), np.sin(ramp)
            R = trace.command[field][k:].copy()
            trace.command[field][k:, 0] = c[:, None] * R[:, 0] - s[:, None] * R[:, 1]
            trace.command[field][k:, 1] = s[:, None] * R[:, 0] + c[:, None] * R[:, 1]

    return spoil


def shake(part, size, frequency_hz, begin):
    def spoil(episode, trace):
        start = begin(episode)
        wave = size * np.sin(2.0 * np.pi * frequency_hz * (trace.t - start)) * (trace.t >= start)
        getattr(trace, part)[:, 2] += wave

    return spoil


def lose_wrench(episode, trace):
    """The reading grows old while the arm stays active."""
    trace.sample["wrench_age"][at(trace, 1.0) : at(trace, 1.1)] = 0.06


def late_fault(episode, trace):
    """The fault is reported 20 ms later than it was."""
    k = int(np.argmax(trace.command["mode"] == Mode.FAULT))
    late = at(trace, 0.02)
    trace.command["mode"][k : k + late] = Mode.ACTIVE
    trace.command["status"][k : k + late] = Status.OK


def misnamed_fault(episode, trace):
    trace.command["status"][trace.command["mode"] == Mode.FAULT] = Status.BAD_PERIOD


def unasked(episode, trace):
    """Nobody asked for the activation."""
    trace.sample["request"] &= ~int(Request.ACTIVATE)


def keep_moving(episode, trace):
    k = int(np.argmax(trace.command["mode"] == Mode.FAULT))
    moving = trace.command["qd"][k].copy()
    trace.command["qd"][k : k + at(trace, 1.0)] = moving + 1e-3


def jump(episode, trace):
    trace.sample["qd"][at(trace, 2.0)] = 1.1 * robot_model(episode.case.robot).velocity


def fold(part):
    """The arm folds into itself for a moment."""

    def spoil(episode, trace):
        getattr(trace, part)["q"][at(trace, 2.0) : at(trace, 2.1), 2] = 3.1

    return spoil


SPOILT = [
    ("free", "finite", add("twist", 1, np.nan)),
    ("free", "diverged", end_early),
    ("limits", "joint_position", add("q", 1, 20.0)),
    ("free", "joint_speed", add("qd", 0, 3.2)),
    ("free", "joint_acceleration", add("qd", 0, 0.1)),
    ("free", "position_step", add("q", 3, 0.05)),
    ("free", "linear_speed", add("twist", ALL, 0.6)),
    ("free", "angular_speed", add("twist", 4, 2.1)),
    ("free", "linear_acceleration", add("twist", 2, 0.05)),
    ("free", "angular_acceleration", add("twist", 5, 0.2)),
    ("faults", "step_at_mode_change", lambda e, t: add("qd", 2, 0.2, e.faults[0].start, e.faults[0].end)(e, t)),
    ("faults", "linear_speed_stopping", lambda e, t: add("twist", 1, 1.1, e.faults[0].end)(e, t)),
    ("faults", "linear_acceleration_stopping", lambda e, t: add("twist", 1, 0.1, e.faults[0].end)(e, t)),
    ("faults", "measured_joint_speed", jump),
    ("limits", "measured_box", add("p_tcp", ALL, 0.3, 2.0, 2.5)),
    ("obstacles", "clearance", fold("command")),
    ("obstacles", "measured_clearance", fold("sample")),
    ("free", "measured_linear_speed", lambda e, t: add("p_tcp", 0, 0.01, 2.0, 9.0)(e, t)),
    ("free", "measured_linear_acceleration", lambda e, t: add("p_tcp", 0, 2e-3, 2.0)(e, t)),
    ("free", "rest", drift("p_tcp", 2e-3)),
    ("free", "rest_angle", drift("R_tcp", 8e-3)),
    ("contact", "oscillation", shake("contact", 2.5, 5.0, lambda e: e.steady)),
    ("hand", "hand_oscillation", shake("hand", 2.5, 5.0, lambda e: e.steady)),
    ("sliding", "sliding", shake("contact", 5.0, 2.0, lambda e: e.sliding[0])),
    ("strokes", "force_error", lambda e, t: t.contact.__iadd__([0.0, 0.0, 1.5, 0.0, 0.0, 0.0])),
    ("vibration", "force_error", shake("contact", 1.5, 2.0, lambda e: e.pressed.start)),
    ("pushes", "raised", add("damping", 0, 10.0)),
    ("taps", "needless_stop", set_mode(Mode.FAULT, Status.OVER_FORCE)),
    ("surface", "residual", shake("contact", 1.0, 0.4, lambda e: e.residual[0])),
    ("free", "active_while_lost", lose_wrench),
    ("free", "stop_without_reason", set_mode(Mode.FAULT, Status.INTERNAL_ERROR)),
    ("free", "life_cycle", unasked),
    ("faults", "fault_noticed", late_fault),
    ("faults", "fault_named", misnamed_fault),
    ("faults", "stop_time", keep_moving),
]  # fmt: skip


def sound(run_once, family, check):
    """The first episode of the family that has this reading, unbroken."""
    for number in range(40):
        episode, trace = run_once(family, number)
        reading = readings(episode, trace).get(check)
        if reading is not None and not reading.broken:
            return episode, trace
    raise AssertionError(f"no sound {family} with {check}")


@pytest.mark.parametrize(("family", "check", "spoil"), SPOILT, ids=[check for _, check, _ in SPOILT])
def test_a_check_finds_what_was_spoilt(run_once, family, check, spoil):
    episode, trace = sound(run_once, family, check)
    spoilt = copy(trace)
    spoil(episode, spoilt)
    reading = readings(episode, spoilt)[check]
    assert reading.broken
    assert not reading.share <= 1.0


def test_a_force_that_only_vibrates_is_the_wanted_one(run_once):
    episode, trace = sound(run_once, "vibration", "force_error")
    spoilt = copy(trace)
    shake("contact", 20.0, 1.0 / (episode.pressed.mean_over / 10.0), lambda e: e.pressed.start)(episode, spoilt)
    before, after = (readings(episode, one)["force_error"].value for one in (trace, spoilt))
    assert after == pytest.approx(before, abs=0.3)  # whole cycles only: 50 of them to a period of the vibration at most


def test_the_commanded_box_is_found_by_its_own_kinematics(run_once):
    """All joints turn by 0.1 rad: the commanded tool leaves any box of +-20 mm, whatever the measured one does."""
    episode, trace = sound(run_once, "limits", "box")
    spoilt = copy(trace)
    spoilt.command["q"][at(trace, 2.0)] += 1.0
    assert readings(episode, spoilt)["box"].broken
    assert not readings(episode, spoilt)["measured_box"].broken


def test_a_flange_that_moves_without_a_push_is_found(run_once):
    for number in range(40):
        episode, trace = run_once("parameters", number)
        if episode.still and not readings(episode, trace)["still"].broken:
            break
    spoilt = copy(trace)
    spoilt.sample["q"][at(trace, 2.0) :, 0] += 2e-3
    assert readings(episode, spoilt)["still"].broken


def test_the_judge_of_distances_agrees_with_the_tick(run_once):
    """Two programs, two kinematics: MuJoCo's distances and those of the controller."""
    rng, compared = np.random.default_rng(0), 0
    for number in range(12):
        case = draw_episode("obstacles", number).case
        model, params = robot_model(case.robot), new(PARAMS)
        fill(params[0], case.parameters, model)
        q = np.array(case.q) + rng.uniform(-0.5, 0.5, (40, 6))
        theirs, ours = Judge(params["shapes"][0], model).smallest(q), np.array([nearest(params, row) for row in q])
        near = (theirs > -0.01) & (theirs < FARTHEST)  # an axis inside a box has no single nearest point
        np.testing.assert_allclose(ours[near], theirs[near], atol=1e-6)
        assert (ours[theirs == FARTHEST] >= FARTHEST).all()
        compared += int(np.count_nonzero(near))
    assert compared > 100


def test_an_over_force_stop_needs_a_reading_that_explains_it(run_once):
    episode, trace = run_once("free", 1)
    spoilt = copy(trace)
    set_mode(Mode.FAULT, Status.OVER_FORCE)(episode, spoilt)
    assert readings(episode, spoilt)["stop_without_reason"].broken
    spoilt.sample["wrench"][at(trace, 2.0), 2] += 500.0
    assert not readings(episode, spoilt)["stop_without_reason"].broken


def test_positions_agree_with_the_model():
    model, rng = robot_model("ur16e"), np.random.default_rng(0)
    q, tcp = rng.uniform(-3, 3, (20, 6)), rng.normal(size=(20, 3))
    for row, lever, p in zip(q, tcp, positions(q, model, tcp), strict=True):
        R, flange = model.forward(row)
        assert p == pytest.approx(flange + R @ lever, abs=1e-12)


def test_the_compliance_bounds_what_the_simulation_yields(run_once):
    for number in range(5):
        episode, trace = run_once("free", number)
        world = episode.case.world()
        assert (1.0 / world.tcp_stiffness() < View(episode, trace).compliance).all()


def test_a_lowered_cap_leaves_time_to_brake(run_once):
    episode, trace = run_once("free", 1)
    view = View(episode, trace)
    view.index = (trace.t >= 2.0).astype(int)
    eased = view.eased(np.where(trace.t >= 2.0, 0.1, 0.5))
    assert eased[at(trace, 2.9)] == 0.5
    assert eased[at(trace, 3.1)] == 0.1


def test_what_holds_everywhere_today_holds_in_random_episodes(run_once, sweep):
    """Near singularities some limits of the tool do not hold yet; these always do."""
    always = ("finite", "diverged", "joint_position", "joint_speed", "joint_acceleration")
    always += ("active_while_lost", "life_cycle", "fault_noticed", "fault_named", "stop_time")
    for family in [family for family in FAMILIES if family != "extremes"]:
        for number in range(100, 100 + sweep(3)):
            found = readings(*run_once.__wrapped__(family, number))
            broken = [f"{family}:{number} {found[check]}" for check in always if check in found and found[check].broken]
            assert not broken


def test_a_pressed_tool_is_steady_before_and_after_it_slides(run_once, sweep):
    for number in range(200, 200 + sweep(12)):
        found = readings(*run_once.__wrapped__("surface", number))
        assert "residual" not in found or not found["residual"].broken, number


def test_a_bounce_counts_in_full_and_slow_settling_does_not():
    t = np.arange(0.0, 2.0, 0.002)[:, None]
    bounce = np.sin(2.0 * np.pi * 4.0 * t) * [[3.0, 0.0, 0.0]]
    settling = 5.0 * np.exp(-t / 0.5) * [[0.0, 0.0, 1.0]]
    assert checks.oscillation(bounce, 250).max() == pytest.approx(3.0, rel=1e-3)
    assert checks.oscillation(settling, 250).max() < 0.3
