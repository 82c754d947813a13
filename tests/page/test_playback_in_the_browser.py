"""A recording on the page: where it is, what it shows, and what somebody does in the browser."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.page.conftest import environment

import ur_admittance as ua
from ur_admittance.core.records import Limit, Mode
from ur_admittance.errors import LogError
from ur_admittance.page.playback import POINTS, RecordingPage, Tape
from ur_admittance.recording.events import CHANGE, CONTACT, FAULT, LIMIT, QUIET_S, Event, events
from ur_admittance.recording.log import read_log
from ur_admittance.recording.why import why

SECONDS, FIRST, SECOND, TOO_MUCH = 5.0, 0.5, 1.0, 4.0  # [s] two pushes closer than QUIET_S, then one that stops the arm


def push(t):
    """A hand that pushes sideways twice, and at last too hard."""
    if t > TOO_MUCH:
        return [0.0, 0.0, -130.0, 0.0, 0.0, 0.0]
    pushed = FIRST < t < FIRST + 0.3 or SECOND < t < SECOND + 0.3
    return [0.0, 60.0 if pushed else 0.0, 0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("playback") / "pushed.mcap"
    world = ua.World(ua.robot_model("ur5e"))
    controller = ua.AdmittanceController(world.model, ua.Parameters().changed(world.parameters()))
    with ua.SimulatedRobot(world) as robot:
        world.push(push)
        ua.run(controller, robot, duration=SECONDS, activate=True, log=path)
    return path


@pytest.fixture
def page(recording):
    page = RecordingPage([read_log(recording)], "127.0.0.1", 0, None, shadows=False)
    yield page
    page.server.stop()


def at(*seconds, kind=CHANGE):
    return [Event(t, kind, "") for t in seconds]


def test_it_plays_at_the_chosen_speed_stops_at_the_end_and_starts_again():
    tape = Tape(10.0, [])
    tape.speed = 0.25
    for _ in range(30):
        tape.advance(1.0 / 30.0)
    assert tape.at == pytest.approx(0.25)
    tape.press()
    tape.advance(5.0)
    assert tape.at == pytest.approx(0.25), "paused"
    tape.press()
    tape.speed = 4.0
    tape.advance(5.0)
    assert (tape.at, tape.playing) == (10.0, False)
    tape.press()
    assert (tape.at, tape.playing) == (0.0, True)


def test_it_goes_from_event_to_event_of_a_kind_or_of_any():
    tape = Tape(10.0, [*at(0.0, 2.0, 9.0), *at(4.0, 7.0, kind=FAULT)])
    tape.press()  # pause
    seen = []
    while tape.jump(True):
        seen.append(tape.at)
    assert seen == [2.0, 4.0, 7.0, 9.0]
    assert tape.jump(False, FAULT)
    assert tape.at == 7.0
    assert not tape.jump(True, FAULT)
    assert tape.at == 7.0, "there is none: it stays"
    tape.go(7.3)
    tape.press()
    assert tape.jump(False)
    assert tape.at == 4.0, "while it plays, the one that has just passed is not the previous one"


def test_every_line_of_why_is_an_event_with_its_details(recording):
    log = read_log(recording)
    found, text = events(log), why(log)
    told = [event for event in found if event.kind in (CHANGE, FAULT)]
    lines = [f"{event.seconds:9.3f} s  {event.words}" for event in told]
    assert lines == [line for line in text.splitlines() if line[:9].strip().replace(".", "").isdigit()]
    (fault,) = (event for event in found if event.kind == FAULT)
    assert "safety.max_force" in fault.words
    assert all(detail in text for detail in fault.details)
    assert fault.details


def test_contacts_and_limits_are_found_where_the_records_have_them(recording):
    log = read_log(recording)
    touched = np.any(log.ticks["command"]["contact"] != 0, axis=1)
    begins = log.seconds[touched & ~np.roll(touched, 1)]
    assert begins[1] - begins[0] < 2 * QUIET_S, "both pushes are one contact"
    contacts = [event.seconds for event in events(log) if event.kind == CONTACT]
    assert contacts[0] == begins[0]
    assert FIRST < contacts[0] < FIRST + 0.1
    assert not any(SECOND < t < TOO_MUCH for t in contacts)
    flags = log.ticks["command"]["limits"]
    first = {limit: log.seconds[flags & int(limit) != 0][0] for limit in Limit if limit and np.any(flags & int(limit))}
    limited = [event for event in events(log) if event.kind == LIMIT]
    assert {event.seconds for event in limited} >= set(first.values())
    assert first


def test_the_arm_and_the_words_are_those_of_the_recorded_moment(page, recording):
    ticks, seconds = read_log(recording).ticks, read_log(recording).seconds
    (track,) = page._tracks
    for t in (3.0, 0.8, TOO_MUCH + 0.5):
        page.tape.go(t)
        page._frame(t, 1000.0 * t, jumped=True)
        i = int(np.searchsorted(seconds, t, side="right")) - 1
        angles = [2.0 * np.arctan2(joint.wxyz[3], joint.wxyz[0]) for joint in track._arm._joints]
        turned = np.abs(np.exp(1j * np.array(angles)) - np.exp(1j * ticks["sample"]["q"][i]))
        assert turned.max() < 0.02, "of the shown cycle, at most 10 ms before"
        assert f"{t:.2f} s</b>" in page._state.content
        assert f'data-mode="{Mode(int(ticks["command"]["mode"][i])).name}"' in page._state.content
        pushed = round(ticks["command"]["wrench_tcp"][i, 2], 1) + 0.0
        assert f"z up <b>{pushed:.1f}</b>" in page._charts._curves[0][0]._heading.content
    assert "safety.max_force" in page._state.content


def test_no_peak_is_lost_in_a_curve(page):
    """One cycle in thousands, up or down, of any quantity."""
    (track,) = page._tracks
    rng = np.random.default_rng(20261)
    for _ in range(20):
        row, column = rng.integers(1, len(track.values) - 1), rng.integers(track.values.shape[1])
        before, track.values[row, column] = track.values[row, column], rng.choice([-1e4, 1e4])
        drawn = track.curves(np.linspace(0.0, track.seconds[-1] + 0.01, 11))
        assert np.nanmax(np.abs(drawn[:, column])) == 1e4
        interval = int(10 * track.seconds[row] / (track.seconds[-1] + 0.01))
        assert 1e4 in np.abs(drawn[2 * interval : 2 * interval + 2, column])
        track.values[row, column] = before
    beyond = track.curves(np.array([SECONDS + 1.0, SECONDS + 2.0]))
    assert np.isnan(beyond).all(), "nothing is drawn where there is no recording"


def test_two_recordings_are_beside_each_other_and_the_shorter_one_waits_at_its_end(recording, tmp_path):
    long, short = read_log(recording), read_log(recording)
    short.ticks, short.span = short.ticks[:500], None
    page = RecordingPage([long, short], "127.0.0.1", 0, None, shadows=False)
    try:
        page._frame(3.0, 0.0, jumped=True)
        page._frame(3.1, 100.0, jumped=True)
        first, second = (track._commands[-1]["p_tcp"] for track in page._tracks)
        assert page.tape.length == pytest.approx(SECONDS, abs=0.01)
        assert np.linalg.norm(first - second) > 0.01
        assert tuple(page._tracks[1]._marks._tcp.position) == pytest.approx(tuple(second), abs=1e-3)
        data = page._charts._curves[0][0].handle.data
        assert len(data) == 1 + 2 * 3
        assert len(data[0]) == 2 * POINTS
        assert np.isnan(data[4][data[0] > 1.1]).all()
        assert not np.isnan(data[1][data[0] < SECONDS - 0.1]).any()
    finally:
        page.server.stop()


def test_what_cannot_be_shown_is_refused_in_one_sentence(recording):
    log = read_log(recording)
    log.about.pop("model")
    with pytest.raises(LogError, match="does not say which robot"):
        RecordingPage([log], "127.0.0.1", 0, None, shadows=False)
    log = read_log(recording)
    log.ticks = log.ticks[:0]
    with pytest.raises(LogError, match="contains no cycles to show"):
        RecordingPage([log], "127.0.0.1", 0, None, shadows=False)
    command = [sys.executable, "-m", "ur_admittance", "show", *[str(recording)] * 3, "--no-browser"]
    refused = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=False)
    assert refused.returncode == 2
    assert refused.stderr == "ur-admittance: 3 recordings: at most 2 can be shown side by side; `plot` takes four.\n"


@pytest.fixture
def shown(recording):
    """The address of `ur-admittance show`, as a user starts it."""
    command = [sys.executable, "-m", "ur_admittance", "show", str(recording), "--no-browser", "--no-shadows"]
    command += ["--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
    line = process.stdout.readline()
    assert "The page is at" in line
    yield line.split()[4]
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


@pytest.mark.timeout(300)
def test_events_and_curves_are_places_to_go_to_and_the_arm_stands_while_paused(shown, visit, press, eventually):
    tab = visit(shown, 1280, 800)

    def now():
        return float(tab.locator("[data-at]").get_attribute("data-at"))

    if tab.get_by_role("button", name="Pause", exact=True).count():
        press(tab, "Pause")
    tab.get_by_role("button", name="Play", exact=True).wait_for()
    fault = tab.locator("[data-jump]", has_text="safety.max_force")
    fault.dispatch_event("click")
    eventually(lambda: abs(now() - float(fault.get_attribute("data-jump"))) < 1e-3)
    tab.locator('[data-mode="FAULT"]').wait_for()
    tab.wait_for_timeout(500)
    assert now() == pytest.approx(float(fault.get_attribute("data-jump")), abs=1e-3), "paused"
    box = tab.locator(".u-over").first.bounding_box()
    tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    eventually(lambda: abs(now() - 0.5 * SECONDS) < 0.1)
    tab.locator('[data-mode="ACTIVE"]').wait_for()
    press(tab, "start")
    eventually(lambda: now() == 0.0)
    assert not tab.locator("#stop-everything").is_visible(), "there is no arm to stop"
    press(tab, "Play")
    eventually(lambda: now() > 0.3)
