"""Two force sensors become one wrench: weights, continuity, verdicts. The arithmetic alone, without an arm."""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.control.two_sensors import TwoSensors
from ur_admittance.core.records import PARAMS, SAMPLE, STATE, Mode, Status, new
from ur_admittance.core.wrench.fusion import take_reading
from ur_admittance.core.wrench.fusion_record import BOTH, DOUBT, ONLY_FIRST, ONLY_SECOND
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

take_reading = compiled(take_reading)
MODEL = robot_model("ur5e")
DT = 0.002
RATE = 100.0  # [N/s] the default of second.rate
TOLERANCE = 5.0  # [N]
NOISE = 0.05  # [N]
NOISE_SHAPE = np.repeat([1.0, 0.1], 3)  # torques in Nm have a tenth of it
EXAMPLES = int(os.environ.get("SWEEP", "20"))
forces = st.floats(-60.0, 60.0)
small = st.floats(-2.4, 2.4)


class Pair:
    """Two sensors at the flange of a UR5e that stands still; forces along x of the first one."""

    def __init__(self, changes: dict[str, Any] | None = None, seed: int = 0, noise: float = NOISE) -> None:
        self.parameters = Parameters().changed({"second.source": "simulation"} | (changes or {}))
        self.params, self.samples, self.state = new(PARAMS), new(SAMPLE), new(STATE)
        self.take(self.parameters)
        self.fusion = TwoSensors(self.parameters, self.params, self.state)
        self.rng, self.noise = np.random.default_rng(seed), noise
        self.samples["q"], self.samples["dt"], self.samples["second_read"] = MODEL.home, DT, 1
        self.status = 0

    def take(self, parameters: Parameters) -> None:
        """New ones."""
        fill(self.params[0], parameters, MODEL)
        self.params["second"]["revision"] += 1

    def cycle(self, first: Any, second: Any, ages: tuple[float, float] = (0.0, 0.0)) -> float:
        """One cycle; a number: along x, with noise; an array (6,): as it is. Returns the force along x."""
        for field, value in (("wrench", first), ("second_wrench", second)):
            given = np.ndim(value) > 0
            self.samples[field][0] = value if given else self.rng.normal(0.0, self.noise, 6) * NOISE_SHAPE
            self.samples[field][0, 0] += 0.0 if given else value
        self.samples["wrench_age"], self.samples["second_age"] = ages
        self.status = int(take_reading(self.params[0], self.state[0], self.samples[0]))
        self.fusion.look()
        return float(self.state["reading"][0, 0])

    def run(self, seconds: float, first: float, second: float, ages: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
        return np.array([self.cycle(first, second, ages) for _ in range(round(seconds / DT))])

    @property
    def rule(self) -> int:
        return int(self.fusion.memory["rule"][0])


@given(first=small, second=small)
@settings(max_examples=EXAMPLES, deadline=None)
def test_output_is_between_the_inputs_and_goes_to_their_mean(first: float, second: float) -> None:
    pair = Pair(noise=0.0)
    felt = pair.run(1.5, first, second)
    low, high = min(first, second), max(first, second)
    assert np.all(felt >= low - 1e-9)
    assert np.all(felt <= high + 1e-9)
    assert felt[-1] == pytest.approx(0.5 * (first + second), abs=1e-3)


def test_shares_follow_the_noise_of_each_axis() -> None:
    pair = Pair({"second.noise": [2.0] * 3 + [1.0] * 3}, noise=0.0)
    assert pair.run(3.0, 0.0, 2.0)[-1] == pytest.approx(2.0 / 5.0, abs=1e-6)


FAULTS = ("silent", "stuck", "offset", "nan", "spike", "noise")


def faulty(kind: str, pair: Pair, t: float, truth: float, held: float, size: float) -> tuple[Any, float]:
    """Reading and age of a sensor that has a fault since t = 0."""
    if kind == "silent":
        return held, t
    if kind == "stuck":
        return np.array([held, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.0
    if kind == "nan":
        return float("nan"), 0.0
    if kind == "spike":
        return truth + (size if round(t / DT) % 20 == 0 else 0.0), 0.0
    if kind == "noise":  # bounded: a reading above safety.max_force stops the arm, as it does with one sensor
        return truth + float(np.clip(pair.rng.normal(0.0, abs(size)), -55.0, 55.0)), 0.0
    return truth + size, 0.0


@given(
    which=st.sampled_from((0, 1)),
    kind=st.sampled_from(FAULTS),
    before=st.floats(-40.0, 40.0),
    size=st.floats(6.0, 55.0) | st.floats(-55.0, -6.0),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_fault_of_a_sensor_steps_the_output(which: int, kind: str, before: float, size: float, seed: int) -> None:
    """Whatever happens to one sensor under a steady push, a cycle changes the output by what the rate allows, the
    tolerance, and the noise: here the truth is steady, so that nothing else explains a step."""
    pair = Pair(seed=seed)
    last = pair.run(0.5, before, before)[-1]
    for k in range(300):
        bad, age = faulty(kind, pair, k * DT, before, before, size)
        readings, ages = ([bad, before], [age, 0.0]) if which == 0 else ([before, bad], [0.0, age])
        felt = pair.cycle(*readings, ages=(ages[0], ages[1]))
        allowed = RATE * DT + 8.0 * NOISE
        if kind in ("noise", "spike"):
            allowed += 2.0 * TOLERANCE if which == 0 else 0.1  # what is inside the tolerance is taken for force
        assert abs(felt - last) <= allowed, (k, last, felt)
        assert pair.status in (0, Status.SENSORS_DISAGREE)
        assert abs(felt) <= abs(before) + TOLERANCE + 8.0 * NOISE  # and never pushes harder than both have felt
        last = felt


@given(size=forces)
@settings(max_examples=EXAMPLES, deadline=None)
def test_dropping_a_sensor_that_is_20_n_off_takes_as_long_as_the_rate_says(size: float) -> None:
    """Steady disagreement: the second sticks at 20 N while the first returns to `size`. The bound is second.rate."""
    pair = Pair()
    pair.run(0.5, 20.0, 20.0)
    stuck = np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    felt = [pair.cycle(20.0, stuck) for _ in range(100)]
    for k in range(1000):  # the first follows the hand, which lets go in 0.1 s
        felt.append(pair.cycle(size + (20.0 - size) * max(0.0, 1.0 - k * DT / 0.1), stuck))
    hand = abs(20.0 - size) / 0.1 * DT
    assert np.abs(np.diff(felt)).max() <= RATE * DT + hand + 8.0 * NOISE
    if abs(size - 20.0) <= TOLERANCE + 4.0 * NOISE:
        assert min(size, 20.0) - 4.0 * NOISE <= felt[-1] <= max(size, 20.0) + 4.0 * NOISE
    else:
        assert felt[-1] == pytest.approx(size, abs=4.0 * NOISE)


def test_a_step_in_doubt_moves_by_exactly_the_rate() -> None:
    pair = Pair(noise=0.0)
    pair.run(0.2, 20.0, 20.0)
    felt = pair.run(0.1, 0.0, 20.0)  # the first is suddenly at zero
    assert np.abs(np.diff(np.concatenate([[20.0], felt]))).max() == pytest.approx(RATE * DT)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("kind", "words"),
    [("silent", "is silent"), ("stuck", "is stuck"), ("nan", "not a number"), ("offset", "has jumped")],
)
def test_the_right_sensor_is_dropped_and_told(which: int, kind: str, words: str) -> None:
    pair = Pair()
    pair.run(1.0, 0.0, 0.0)
    for k in range(500):
        truth = min(20.0, 100.0 * k * DT) if kind == "stuck" else 0.0
        bad, age = faulty(kind, pair, k * DT, truth, 0.0, 20.0)
        readings, ages = ((bad, truth), (age, 0.0)) if which == 0 else ((truth, bad), (0.0, age))
        felt = pair.cycle(*readings, ages=ages)
        assert pair.status == 0
    assert pair.rule == (ONLY_SECOND if which == 0 else ONLY_FIRST)
    assert f"the {('first', 'second')[which]} force sensor" in pair.fusion.remark
    assert words in pair.fusion.remark
    assert felt == pytest.approx(20.0 if kind == "stuck" else 0.0, abs=5.0 * NOISE)


@pytest.mark.parametrize("which", [0, 1])
def test_a_drift_at_rest_is_told_from_a_push(which: int) -> None:
    pair = Pair()
    pair.run(1.0, 0.0, 0.0)
    for k in range(round(8.0 / DT)):
        drift = 1.0 * k * DT
        felt = pair.cycle(*((drift, 0.0) if which == 0 else (0.0, drift)))
        assert pair.status == 0
    assert pair.rule == (ONLY_SECOND if which == 0 else ONLY_FIRST)
    assert "has drifted" in pair.fusion.remark
    assert abs(felt) < 5.0 * NOISE


def test_noise_is_dropped_but_shaking_of_the_tool_is_not() -> None:
    pair = Pair()
    pair.run(2.0, 0.0, 0.0)
    for _ in range(1000):
        shake = pair.rng.normal(0.0, 10.0)
        pair.cycle(shake, shake)
    assert pair.rule == BOTH
    for _ in range(1000):
        pair.cycle(0.0, pair.rng.normal(0.0, 30.0))
    assert pair.rule == ONLY_FIRST
    assert "noisy" in pair.fusion.remark


@pytest.mark.parametrize("jump", [20.0, 5.2])
@pytest.mark.parametrize("which", [0, 1])
def test_a_sensor_that_jumps_is_not_believed_because_the_other_one_is_quiet(which: int, jump: float) -> None:
    """One without noise, or with a coarse resolution, repeats its reading at rest as one that is stuck does."""
    pair, quiet = Pair(), np.zeros(6)
    for k in range(1000):
        loud = jump if k >= 500 else 0.0
        felt = pair.cycle(*((loud, quiet) if which == 0 else (quiet, loud)))
        assert abs(felt) < 5.0 * NOISE
    assert pair.status == Status.SENSORS_DISAGREE or pair.rule == (ONLY_SECOND, ONLY_FIRST)[which]


def test_what_cannot_be_decided_stops_the_arm_and_names_both_values() -> None:
    pair = Pair()
    pair.run(0.5, 0.0, 0.0)
    felt = [pair.cycle(30.0 * min(1.0, k * DT / 0.3), 0.0) for k in range(300)]
    assert pair.status == Status.SENSORS_DISAGREE
    assert pair.rule == DOUBT
    assert "force x is" in pair.fusion.remark
    assert "allowed: 5 N" in pair.fusion.remark
    assert max(felt) < TOLERANCE + 5.0 * NOISE  # meanwhile only what both feel counts
    pair.run(0.5, 0.0, 0.0)
    assert pair.status == 0
    assert pair.rule == BOTH


def test_both_silent_is_the_ordinary_fault() -> None:
    pair = Pair()
    pair.run(0.2, 5.0, 5.0)
    for k in range(100):
        pair.cycle(5.0, 5.0, ages=(k * DT, k * DT))
    assert pair.state["reading_age"][0] > pair.params["wrench_timeout"][0]
    pair = Pair()
    pair.run(0.2, 5.0, 5.0, ages=(1.0, 0.0))
    assert pair.rule == ONLY_SECOND
    assert pair.state["reading_age"][0] == 0.0
    pair.run(0.2, 5.0, 5.0, ages=(1.0, 0.3))
    assert pair.state["reading_age"][0] == 0.3


def test_a_sensor_comes_back_after_a_second_of_agreement_and_not_before() -> None:
    pair = Pair()
    pair.run(0.5, 10.0, 10.0)
    pair.run(0.5, 10.0, 0.0, ages=(0.0, 1.0))
    assert pair.rule == ONLY_FIRST
    pair.run(0.9, 10.0, 10.0)
    assert pair.rule == ONLY_FIRST
    pair.run(0.01, 10.0, 18.0)  # it disagrees once more: the second of agreement begins anew
    pair.run(0.9, 10.0, 10.0)
    assert pair.rule == ONLY_FIRST
    felt = pair.run(0.4, 10.0, 12.0)
    assert pair.rule == BOTH
    assert "used again" in pair.fusion.remark
    assert np.abs(np.diff(felt)).max() <= RATE * DT + 8.0 * NOISE


def test_a_hand_that_lets_go_while_its_force_comes_in_is_not_answered_with_a_pull_back() -> None:
    pair = Pair()
    pair.run(1.0, 0.0, 0.0)
    felt = []
    for k in range(400):  # 50 N in 0.1 s, held until 0.25 s, gone at 0.3 s: the stuck one is dropped in between
        t = k * DT
        felt.append(pair.cycle(50.0 * min(1.0, t / 0.1, max(0.0, (0.3 - t) / 0.05)), np.zeros(6)))
    assert pair.rule == ONLY_FIRST
    assert max(felt) > 5.0
    assert min(felt) > -6.0 * NOISE


def test_a_hit_beyond_the_largest_force_is_passed_on_at_once_although_the_other_feels_nothing() -> None:
    pair = Pair()
    pair.run(0.2, 0.0, 0.0)
    assert pair.cycle(150.0, 0.0) > pair.params["max_force"][0]


@pytest.mark.parametrize("hertz", [0.3, 1.0, 3.0, 10.0, 30.0])
def test_sum_is_as_fast_as_the_first_sensor(hertz: float) -> None:
    """A second sensor with a low-pass of 10 Hz alters the response to a force by less than 5 % at any frequency, and by
    a quarter of that when second.lag says how late it is."""
    worst = []
    for lag in (0.0, 1.0 / (2.0 * np.pi * 10.0)):
        pair = Pair({"second.lag": lag}, noise=0.0)
        weight, slow, felt, truth = -np.expm1(-2.0 * np.pi * 10.0 * DT), 0.0, [], []
        for k in range(round(max(4.0, 4.0 / hertz) / DT)):
            force = 4.0 * np.sin(2.0 * np.pi * hertz * k * DT)
            slow += weight * (force - slow)
            felt.append(pair.cycle(force, slow))
            truth.append(force)
        tail = slice(-round(max(1.0, 1.0 / hertz) / DT), None)
        worst.append(np.abs(np.array(felt)[tail] - np.array(truth)[tail]).max() / 4.0)
    assert worst[0] < 0.05
    assert worst[1] < 0.0125


@given(seed=st.integers(0, 10**6))
@settings(max_examples=EXAMPLES, deadline=None)
def test_two_mounted_sensors_that_feel_one_force_agree(seed: int) -> None:
    """Any mounting, weight, sign and bias of both: readings made with SciPy's rotations are brought together again."""
    rng = np.random.default_rng(seed)
    angles, places = rng.uniform(-3.0, 3.0, (2, 3)), rng.uniform(-0.1, 0.1, (2, 3))
    masses, centres = rng.uniform(0.0, 3.0, 2), rng.uniform(-0.1, 0.1, (2, 3))
    biases, signs = rng.uniform(-5.0, 5.0, (2, 6)), rng.choice([-1.0, 1.0], 2)
    names = (("sensor", "tool", "tool"), ("second", "second", "second"))
    changes: dict[str, Any] = {}
    for k, (sensor, mass, centre) in enumerate(names):
        changes |= {f"{sensor}.rotation": angles[k].tolist(), f"{sensor}.position": places[k].tolist()}
        changes |= {f"{sensor}.sign": float(signs[k]), f"{sensor}.bias": biases[k].tolist()}
        changes |= {f"{mass}.mass": float(masses[k]), f"{centre}.center_of_mass": centres[k].tolist()}
    pair = Pair(changes)
    q = MODEL.home + rng.uniform(-0.3, 0.3, 6)
    pair.samples["q"] = q
    R_base_flange, _ = MODEL.forward(q)
    force, point = rng.uniform(-20.0, 20.0, 3), rng.uniform(-0.2, 0.2, 3)  # flange axes, from the flange
    readings = []
    for k in range(2):
        R_flange_sensor = Rotation.from_euler("xyz", angles[k]).as_matrix()
        weight = R_flange_sensor.T @ R_base_flange.T @ (masses[k] * np.array(pair.parameters.gravity))
        f, t = R_flange_sensor.T @ force, R_flange_sensor.T @ np.cross(point - places[k], force)
        felt = np.concatenate([f + weight, t + np.cross(centres[k], weight)])
        readings.append(signs[k] * (felt + biases[k]))
    pair.cycle(readings[0], readings[1])
    assert np.abs(pair.fusion.memory["difference"]).max() < 1e-9
    assert np.allclose(pair.state["reading"][0], readings[0], atol=1e-9)
    assert pair.rule == BOTH


def test_zeroing_takes_both_readings_and_leaves_a_silent_sensor_alone() -> None:
    pair = Pair(noise=0.0)
    pair.run(1.0, 1.0, 3.0)
    biases = pair.fusion.zeros(pair.parameters, Mode.INACTIVE)
    assert biases["sensor.bias"][0] == pytest.approx(1.0)
    assert biases["second.bias"][0] == pytest.approx(3.0)
    zeroed = pair.parameters.changed(biases)
    pair.take(zeroed)
    pair.cycle(1.0, 3.0)
    assert np.abs(pair.fusion.memory["out"]).max() < 1e-9
    assert np.abs(pair.fusion.memory["difference"]).max() < 1e-9
    pair.run(0.2, 1.0, 3.0, ages=(0.0, 1.0))
    assert set(pair.fusion.zeros(zeroed, Mode.INACTIVE)) == {"sensor.bias"}


def test_zeroing_leaves_a_sensor_alone_that_was_dropped_for_its_noise() -> None:
    """Its mean of 0.1 s was 1.6 N off, and when the noise ended it was used again with that zero."""
    pair = Pair()
    pair.run(2.0, 0.0, 0.0)
    for _ in range(1000):
        pair.cycle(pair.rng.normal(0.0, 15.0), 0.0)
    assert "noisy" in pair.fusion.remark
    assert set(pair.fusion.zeros(pair.parameters, Mode.INACTIVE)) == {"second.bias"}


def test_same_inputs_give_the_same_bits() -> None:
    a, b = Pair(seed=4), Pair(seed=4)
    for k in range(2000):
        forces = (10.0 * np.sin(0.01 * k), 10.0 * np.sin(0.01 * k) + (30.0 if 700 < k < 900 else 0.0))
        a.cycle(*forces)
        b.cycle(*forces)
        assert a.samples.tobytes() == b.samples.tobytes()
        assert a.state.tobytes() == b.state.tobytes()
