"""The notch against a vibrating tool and the search for its frequency, against SciPy's filters and random tones."""

import numpy as np
import pytest
from scipy.signal import bilinear, freqz, group_delay, lfilter, lfilter_zi

from ur_admittance.compiler.numba_form import compiled
from ur_admittance.core.records import PARAMS, STATE, Mode, Request, Status, new
from ur_admittance.core.wrench.vibration import ZETA, notch_delay, notch_gain, observe_vibration
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.params.record import loop_delay

observe_vibration = compiled(observe_vibration)
RATES = (125.0, 500.0, 1000.0)  # [Hz]


@compiled
def calm(params, state, readings, hz, out, dt):
    """readings (n, 6) without the tone; hz (n,): sensor.vibration_hz in each tick."""
    for k in range(len(readings)):
        params[0].vibration_hz = hz[k]
        state[0].reading[:] = readings[k]
        observe_vibration(params[0], state[0], dt)
        state[0].filter_ready = 1
        out[k] = readings[k] - state[0].vibration.tone


def calmed(readings, hz, dt, find=False, mode=Mode.INACTIVE):
    params, state = new(PARAMS), new(STATE)
    params[0]["find_vibration"], state[0]["mode"] = find, mode
    out = np.zeros_like(readings)
    calm(params, state, np.ascontiguousarray(readings), np.broadcast_to(hz, len(readings)).astype(float), out, dt)
    return out, state[0]


def transfer(hz, dt):
    """Numerator and denominator of the notch in z."""
    g, c = notch_gain(hz, dt, ZETA), np.cos(2 * np.pi * hz * dt)
    return (1 - g / 2) * np.array([1.0, -2 * c, 1.0]), np.array([1.0, -(2 - g) * c, 1 - g])


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("hz", [15.0, 30.0, 50.0, 61.0])
def test_notch_is_the_filter_it_says_it_is_at_any_rate(rate, hz):
    dt = 1.0 / rate
    b, a = transfer(hz, dt)
    readings = np.random.default_rng(1).normal(20.0, 5.0, (400, 6))
    out, _ = calmed(readings, hz, dt)
    for i in range(6):
        wanted, _ = lfilter(b, a, readings[:, i], zi=lfilter_zi(b, a) * readings[0, i])
        np.testing.assert_allclose(out[:, i], wanted, atol=1e-9)
    _, H = freqz(b, a, [0.0, hz, 0.5 * rate], fs=rate)
    np.testing.assert_allclose(np.abs(H), [1.0, 0.0, 1.0], atol=1e-9)
    w = 2.0 * rate * np.tan(np.pi * hz * dt)
    np.testing.assert_allclose((b, a), bilinear([1.0, 0.0, w**2], [1.0, 2.0 * ZETA * w, w**2], rate), atol=1e-9)
    _, delay = group_delay((b, a), [1e-3], fs=rate)
    assert notch_delay(hz, dt) == pytest.approx(delay[0] * dt, rel=1e-6)
    if hz * dt < 0.05:
        assert notch_delay(hz, dt) == pytest.approx(2 * ZETA / (2 * np.pi * hz), rel=0.02)


def test_nothing_jumps_when_the_notch_comes_goes_or_is_tuned_to_another_tone():
    dt, n = 0.002, 4000
    t = dt * np.arange(n)
    readings = np.zeros((n, 6))
    readings[:, 2] = 30.0 + 10.0 * np.sin(2 * np.pi * 50.0 * t)
    hz = np.select([t < 1.0, t < 2.5, t < 4.0, t < 6.0], [0.0, 50.0, 80.0, 50.0], 0.0)
    out, _ = calmed(readings, hz, dt)
    step = np.abs(np.diff(readings[:, 2])).max()
    assert np.abs(np.diff(out[:, 2])).max() < 1.05 * step  # no more than the tool itself does in a tick
    assert np.ptp(out[(t > 1.8) & (t < 2.5), 2]) < 0.01
    np.testing.assert_array_equal(out[t > 7.0], readings[t > 7.0])
    quiet = np.full((n, 6), 30.0)
    out, _ = calmed(quiet, hz, dt)
    assert np.abs(out - 30.0).max() < 0.3  # a load that is only held is not felt to change


def test_a_tone_is_found_at_any_rate_and_frequency():
    rng = np.random.default_rng(20)
    for _ in range(60):
        rate = rng.choice(RATES)
        hz = rng.uniform(21.0, min(190.0, 0.4 * rate))
        t = np.arange(0.0, 2.5, 1.0 / rate)
        readings = rng.normal(0.0, 0.1, (len(t), 6))
        direction = rng.normal(size=3)
        direction *= rng.uniform(1.5, 20.0) / np.linalg.norm(direction)
        readings[:, :3] += rng.uniform(-30, 30, 3) + np.sin(2 * np.pi * hz * t)[:, None] * direction
        _, state = calmed(readings, 0.0, 1.0 / rate, find=True)
        assert state["vibration"]["found"] == pytest.approx(hz, rel=0.01), (rate, hz, direction)


@pytest.mark.parametrize("name", ["noise", "tremor", "below", "weak", "harmless while it complies"])
def test_what_is_no_tone_of_a_tool_is_not_found(name):
    rng = np.random.default_rng(21)
    t = np.arange(0.0, 10.0, 0.002)
    readings = rng.normal(0.0, 0.1, (len(t), 6))
    hz, amplitude = {"noise": (0, 0), "tremor": (9, 4), "below": (16, 5), "weak": (50, 0.8)}.get(name, (50, 10))
    readings[:, 2] += amplitude * np.sin(2 * np.pi * hz * t)
    if name == "noise":
        readings *= 20.0
    mode = Mode.ACTIVE if name.startswith("harmless") else Mode.INACTIVE
    _, state = calmed(readings, 0.0, 0.002, find=True, mode=mode)
    assert state["vibration"]["found"] == 0.0


def test_found_at_rest_it_is_kept_and_shown_while_the_arm_complies(ideal_arm):
    arm = ideal_arm(active=False, **{"sensor.find_vibration": True, "admittance.min_motion_threshold": 1.0})

    def shaken(seconds, begin, request=Request.NONE):
        t = begin + arm.dt * np.arange(round(seconds / arm.dt))
        push = np.zeros((len(t), 6))
        push[:, 1] = 6.0 * np.sin(2 * np.pi * 60.0 * t)
        return arm.run(seconds, push, request=request)

    before = shaken(2.0, 0.0)
    assert before["vibration_hz"][-1] == pytest.approx(60.0, rel=0.01)
    shaken(arm.dt, 2.0, Request.ACTIVATE)
    log = shaken(2.0, 2.0 + arm.dt)
    assert log["mode"][-1] == Mode.ACTIVE
    assert np.abs(log["wrench_tcp"][200:, 1]).max() < 0.3
    assert log["vibration_hz"][-1] == pytest.approx(60.0, rel=0.01)


@pytest.mark.parametrize(("amplitude", "status"), [(90.0, Status.OK), (110.0, Status.OVER_FORCE)])
def test_the_force_limit_sees_the_vibration(ideal_arm, amplitude, status):
    arm = ideal_arm(**{"sensor.vibration_hz": 50.0, "safety.max_force": 100.0})
    t = arm.dt * np.arange(500)
    push = np.zeros((500, 6))
    push[:, 2] = amplitude * np.minimum(t / 0.3, 1.0) * np.sin(2 * np.pi * 50.0 * t)
    log = arm.run(1.0, push)
    assert log["status"][-1] == status


def test_the_notch_is_counted_as_delay_and_its_alias_is_used_where_the_rate_is_low():
    plain = Parameters().changed({"robot.response_time": 0.01})
    notched = plain.changed({"sensor.vibration_hz": 50.0})
    assert loop_delay(notched) - loop_delay(plain) == pytest.approx(notch_delay(50.0, 0.002), rel=1e-12)
    low = plain.changed({"control_rate": 125.0})
    both = [loop_delay(low.changed({"sensor.vibration_hz": hz})) for hz in (25.0, 100.0)]
    assert both[0] == both[1]
    with pytest.raises(ParameterError, match=r"sensor.vibration_hz = 120 Hz: must not appear below 15 Hz; .* at 5 Hz"):
        low.changed({"sensor.vibration_hz": 120.0})
    with pytest.raises(ParameterError, match=r"sensor.vibration_hz = 10 Hz: must be 0, or at least 15"):
        plain.changed({"sensor.vibration_hz": 10.0})
