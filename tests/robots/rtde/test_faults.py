"""Each fault of the table in the docs: the right sentence, a bounded stop on the robot's side, a clean way back.

The scenarios are those of benchmarks/rtde_faults.py. ``UR_FAULTS=all`` runs every one of them.
"""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ur_admittance.robots.rtde import link
from ur_admittance.robots.rtde.tool import doubts
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "rtde_faults.py"
_spec = importlib.util.spec_from_file_location("rtde_faults", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
faults = importlib.util.module_from_spec(_spec)
sys.modules["rtde_faults"] = faults
_spec.loader.exec_module(faults)

# fault, words of the sentence, longest time [s] and way [m] until standstill from 0.2 m/s (robot time)
TABLE = {
    "protective stop": ("protective stop; look for the cause", 0.15, 0.008),
    "contact": ("protective stop; look for the cause", 0.25, 0.03),
    "emergency stop": ("the emergency stop is pressed", 0.15, 0.008),
    "safeguard stop": ("the safeguard stop is active", 0.15, 0.008),
    "network cut 1 s": ("no joint state for", 0.25, 0.03),
    "network cut 5 s": ("no joint state for", 0.25, 0.03),
    "robot frozen 1 s": ("no joint state for", 0.25, 0.03),
    "robot frozen 5 s": ("no joint state for", 0.25, 0.03),
    "connections closed": ("connection to the robot is lost", 0.25, 0.03),
    "robot switched off": ("connection to the robot is lost", None, None),
    "pause": (link.WAS_PAUSED, 0.2, 0.015),
    "stop button": (link.WAS_STOPPED, 0.2, 0.015),
    "power off": (link.UNPOWERED["POWER_OFF"], 0.2, 0.015),
    "local control": (link.WAS_LOCAL, 0.2, 0.015),
    "watchdog: no commands": ("stopped", 0.25, 0.03),
    "process stopped 1 s": ("stopped", 0.25, 0.03),
    "client killed": ("dead", 0.2, 0.013),  # slowed down before the watchdog acts, which needs 15 mm
    "second client": ("a program is running on the robot", None, None),
    "speed slider 30 %": ("m/s of 0.2 m/s", None, None),
    "wrong payload": ("1 kg too heavy", None, None),
}
ALWAYS = {
    "ur_rtde": ("protective stop", "client killed"),
    "direct": ("client killed", "connections closed", "speed slider 30 %"),
}
CASES = [
    (name, client)
    for client, always in ALWAYS.items()
    for name in (TABLE if os.environ.get("UR_FAULTS") == "all" else always)
]


def test_the_table_is_complete() -> None:
    assert TABLE.keys() == faults.FAULTS.keys()


@pytest.mark.realtime
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("name", "client"), CASES)
def test_a_fault_has_the_right_sentence_a_bounded_stop_and_a_way_back(name: str, client: str) -> None:
    words, time_limit, way_limit = TABLE[name]
    outcome = faults.run(name, client)
    assert words in outcome.sentence
    assert outcome.moved_again
    if time_limit is not None:
        assert outcome.duration is not None, "the arm still moves"
        assert outcome.duration <= time_limit
        assert outcome.travel <= way_limit
    if name.startswith("speed slider"):
        assert outcome.speed == pytest.approx(0.3 * faults.SPEED, rel=0.1)


@pytest.mark.realtime
@pytest.mark.parametrize("client", ALWAYS)
def test_a_cut_cable_costs_the_same_where_the_first_rate_of_a_watchdog_is_kept(client: str) -> None:
    with EmulatorProcess(*faults.OPTIONS) as emulator:
        ways = []
        for strict in (False, True):
            emulator.tell("reset")
            outcome = faults.play(emulator, "network cut 1 s", client, strict)
            assert "no joint state for" in outcome.sentence
            assert outcome.moved_again
            ways.append(outcome.travel)
    assert max(ways) < TABLE["network cut 1 s"][2]
    assert ways[1] == pytest.approx(ways[0], abs=0.003)


@pytest.mark.parametrize(
    ("force", "said"), [([5.0, 0.0, 1e-15], False), ([5.0, 0.0, -9.81], True), ([0.0, 0.0, 9.81], True)]
)
def test_a_sideways_force_is_not_taken_for_a_wrong_payload(force: list[float], said: bool) -> None:
    (sentence,) = doubts(np.array(force))
    assert ("kg too" in sentence) is said
    assert "the tool touches something" in sentence
