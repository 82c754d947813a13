"""The judge of people at the tool: its pairs differ in the stabiliser only, and its figures are what they say."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import person
from ur_admittance.params import Parameters
from ur_admittance_lab.episodes import simulate


def test_a_pair_differs_in_the_stabiliser_only():
    (on, _), (off, _) = person.tremor(1)[:2]
    assert on.parameters.changed({"contact.stabilizer": False}) == off.parameters
    assert (on.script.rows == off.script.rows).all()
    assert (on.q, on.tool, on.servo, on.sensor, on.seed) == (off.q, off.tool, off.servo, off.sensor, off.seed)


def test_a_free_push_is_near_the_ideal_law_and_a_wrong_law_is_not():
    case, known = person.pushes(3)[1]  # without the stabiliser
    [trace] = simulate([case], threads=1)
    assert person.measure(case, trace, known)["error"] < 0.15
    law = Parameters().changed({"admittance.damping": [128.0] * 3 + [1.0] * 3})
    assert person.error(replace(case, parameters=law), trace) > 0.3  # twice the damping that the trace was made with


def test_only_a_stop_with_the_stabiliser_alone_is_false():
    rows = [{"stop": stop} for stop in ("OVER_FORCE", "OVER_FORCE", "NOT_FOLLOWING", "")]
    off = [{"stop": stop} for stop in ("", "OVER_FORCE", "", "")]
    assert person.false_stops(rows, off) == 2


def test_the_slow_force_and_the_ring_are_measured_in_newtons():
    case, known = person.vibration(1)[0]  # 0 N
    [trace] = simulate([case], threads=1)
    found = person.measure(case, trace, known)
    wave = np.sin(2.0 * np.pi * 2.0 * trace.t)
    trace.contact[:, 2] += wave
    worse = person.measure(case, trace, known)
    assert worse["swing"] - found["swing"] == pytest.approx(2.0, abs=0.3)
    assert worse["ring"] - found["ring"] == pytest.approx(1.0, abs=0.2)
