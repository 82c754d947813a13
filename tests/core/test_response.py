"""How late the arm answers, learnt in use, against SciPy's cross-correlation of what was recorded."""

import re

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from ur_admittance.control.response_check import ResponseCheck, response_warning
from ur_admittance.core.records import Mode
from ur_admittance.params import Parameters
from ur_admittance.recording.log import read_log
from ur_admittance.recording.why import why
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.campaign.families import FAMILIES, episode
from ur_admittance_lab.episodes import Case, Script, simulate
from ur_admittance_lab.scenarios import Setup, Stage

PERIOD = 0.002


def hand_guided(servo, seed, configured, stiffness=0.0):
    """A hand shoves the tool about for eight seconds; with a stiffness, on to a floor."""
    rng = np.random.default_rng(seed)
    script = Script(9.0)
    script.activate(0.1)
    n = len(script.rows)
    knots = np.arange(0.0, 10.0, rng.uniform(0.25, 0.6))
    push = np.zeros((n, 6))
    for i in range(3):
        push[:, i] = CubicSpline(knots, rng.uniform(-12, 12, len(knots)))(PERIOD * np.arange(n))
    if stiffness:
        push[:, 2] = -15.0
    script.push(0.8, 8.0, push)
    tool, sensor = Tool(), FtSensor(noise_force=0.1, noise_torque=0.005)
    changes = {**tool.parameters(sensor), "robot.response_time": configured, "safety.steady_force_time": 1e6}
    floor = Environment.floor(stiffness, gap=0.01) if stiffness else Environment()
    parameters = Parameters().changed(changes)
    return Case(script, parameters, tool=tool, environment=floor, servo=servo, sensor=sensor, seed=seed)


def by_correlation(trace):
    """Delay [s] between commanded and measured joint speeds at which they correlate best, offline, between samples."""
    active = trace.command["mode"] == Mode.ACTIVE
    t = PERIOD * np.flatnonzero(active)
    command, measured = trace.command["qd"][active], trace.sample["qd"][active]
    late = CubicSpline(t + 0.5 * PERIOD, command)  # the mean of the period that follows
    inside = slice(100, -10)

    def unlike(delay):
        return float(np.sum((measured[inside] - late(t[inside] - delay)) ** 2))

    return minimize_scalar(unlike, bounds=(0.0, 0.08), method="bounded").x


SERVOS = [
    Servo(delay=0.0, lag_hz=39.8),  # 4 ms
    Servo(delay=0.002, lag_hz=25.0),
    Servo(delay=0.010, lag_hz=25.0),
    Servo(delay=0.016, lag_hz=15.0),
    Servo(delay=0.034, lag_hz=25.0),  # 40 ms
    Servo(delay=0.008, lag_hz=np.inf, damping_ratio=0.7),
]


@pytest.mark.parametrize("servo", SERVOS, ids=lambda s: f"{1e3 * s.response_time:.0f} ms")
def test_the_response_time_is_learnt_within_a_fifth_whatever_was_configured(servo):
    truth = servo.response_time
    cases = [hand_guided(servo, seed, truth * wrong) for seed in (31, 32) for wrong in (0.5, 1.0, 2.0)]
    for trace in simulate(cases, threads=1):
        seen = trace.command["response_seen"]
        assert seen[-1] == pytest.approx(truth, rel=0.2, abs=0.0005)
        assert seen[-1] == pytest.approx(by_correlation(trace), rel=0.25, abs=0.0025)  # which the bending arm misleads
        assert np.all(np.abs(seen[seen > 0.0] - truth) < 0.2 * truth + 0.0005)


def test_an_arm_that_answers_twice_as_late_or_in_half_the_time_is_named_within_seconds():
    servo = SERVOS[2]
    truth = servo.response_time
    for wrong, words in ((0.5, "contact may ring"), (2.0, "damped more"), (1.0, "")):
        trace = simulate([hand_guided(servo, 41, truth * wrong)], threads=1)[0]
        warned = [bool(response_warning(s, truth * wrong)) for s in trace.command["response_seen"][::50]]
        assert words in response_warning(trace.command["response_seen"][-1], truth * wrong)
        assert any(warned) == bool(words)
        if words:
            assert 0.1 * warned.index(True) < 5.0


def test_a_surface_that_the_arm_bends_against_is_not_taken_for_its_answer():
    servo = SERVOS[2]
    trace = simulate([hand_guided(servo, 51, servo.response_time, stiffness=2e4)], threads=1)[0]
    seen = trace.command["response_seen"]
    assert trace.command["contact"][:, 2].any()
    assert np.all(np.abs(seen[seen > 0.0] - servo.response_time) < 0.2 * servo.response_time)


def test_the_warning_reaches_reason_page_and_recording(tmp_path):
    stage = Stage(Setup(changes={"robot.response_time": 0.008}, log=tmp_path / "late.mcap"))
    stage.world.push(lambda t: [8 * np.sin(4 * t), 10 * np.sin(3 * t), 6 * np.sin(5 * t), 0, 0, 0])
    stage.run(5.0)
    stage.world.let_go()
    words = re.compile("he arm answers after 1[67] ms, configured are 8 ms: contact may ring")
    assert words.search(stage.controller.remark)
    assert words.search(stage.controller.reason)
    assert stage.controller.parameters.robot.response_time == 0.008  # reported, never changed
    stage.finish()
    assert words.search(why(read_log(tmp_path / "late.mcap")))


def test_standing_still_teaches_nothing():
    script = Script(5.0)
    script.activate(0.1)
    tool = Tool()
    sensor = FtSensor(noise_force=0.3, noise_torque=0.01)
    parameters = Parameters().changed({**tool.parameters(sensor), "robot.response_time": 0.008})
    trace = simulate([Case(script, parameters, tool=tool, sensor=sensor, servo=SERVOS[4])], threads=1)[0]
    assert not trace.command["response_seen"].any()


def test_random_episodes_of_the_campaign_give_no_false_warning(sweep):
    """Free, at limits, in contact, with hands, weak servos and faults; each with the time that is true for it."""
    episodes = [episode(f, i) for i in range(9_320_000, 9_320_000 + max(1, sweep(52) // 13)) for f in FAMILIES]

    def wrong(case, trace):
        seen, truth = np.unique(trace.command["response_seen"]), case.servo.response_time
        seen = seen[seen > 0.0]
        return (
            len(seen) > 0,
            [s for s in seen if response_warning(s, truth)],
            abs(seen - truth).max(initial=0.0) / truth,
        )

    found = simulate([e.case for e in episodes], wrong, threads=1)
    known = [name for name, (is_known, _, _) in zip(episodes, found, strict=True) if is_known]
    assert len(known) >= len(episodes) // 10
    assert [(e.family, e.number, f) for e, f in zip(episodes, found, strict=True) if f[1]] == []


def test_the_sentence_names_both_times_and_changes_only_with_what_it_says():
    check = ResponseCheck()
    check.look(0.016, 0.008)
    first = check.warning
    assert first.startswith("the arm answers after 16 ms, configured are 8 ms: contact may ring; measure it again")
    check.look(0.0163, 0.008)
    assert check.warning is first
    check.look(0.0163, 0.016)
    assert check.warning == ""
    check.look(0.0, 0.008)
    assert check.warning == ""
