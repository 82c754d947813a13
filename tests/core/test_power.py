"""The power observer on its own: sines of force and speed whose power is known."""

import math

import numpy as np
import pytest

from ur_admittance.core.contact.power import GIVEN, LASTING, damp, hands_out, watch_power
from ur_admittance.core.records import PARAMS, STATE
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

DT = 0.002


class Axis:
    """One controller's records, driven along x by f(t) and v(t)."""

    def __init__(self, **changes: object) -> None:
        self.params, self.state = np.zeros(1, PARAMS), np.zeros(1, STATE)
        fill(
            self.params[0],
            Parameters().changed({k.replace("__", "."): v for k, v in changes.items()}),
            robot_model("ur5e"),
        )
        for name in ("mass", "damping", "stiffness"):
            self.state[name] = self.params[name]
        self.state["contact"]["unlimited_time"] = 1.0
        self.time = 0.0

    def run(
        self,
        seconds: float,
        force: float,
        speed: float,
        hz: float,
        phase: float,
        slow: float = 0.0,
        driven: bool = False,
    ) -> bool:
        """f = force cos(wt) + slow, v = speed cos(wt + phase) + slow. Returns whether too much was ever handed out."""
        p, s = self.params.view(np.recarray)[0], self.state.view(np.recarray)[0]
        delay, found = p.sensor_delay, False
        w, v, law = np.zeros(6), np.zeros(6), np.zeros(6)
        for _ in range(round(seconds / DT)):
            self.time += DT
            t = 2.0 * math.pi * hz
            w[0] = force * math.cos(t * (self.time - delay - 0.5 * DT)) + slow  # the reading is late
            v[0] = law[0] = speed * math.cos(t * self.time + phase) + slow
            watch_power(p, s.contact, w, v, law, driven, s.mass[0], DT)
            if hands_out(s.contact, s.mass[0]):
                found = True
                damp(p, s, s.contact, DT)
        return found

    @property
    def damping(self) -> float:
        return float(self.state["contact"]["damping"][0, 0])


def unfiltered(**changes: object) -> Axis:
    return Axis(admittance__filter_cutoff_hz=1e5, **changes)


@pytest.mark.parametrize("seed", range(8))
def test_energy_that_leaves_is_seen_and_energy_that_comes_in_is_not_whatever_the_sensors_delay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hz, force = rng.uniform(3.5, 15.0), rng.uniform(5.0, 60.0)
    delay = 0.002 * rng.integers(0, 5)
    angle = rng.uniform(0.12, 1.4)  # [rad] beyond a quarter of a period: 0 would be a spring
    speed = 2.0 * (3.0 * GIVEN) / (force * math.sin(angle)) * (1.0 + (2.0 / hz) ** 2)  # three times what is allowed
    assert unfiltered(sensor__delay=delay).run(3.0, force, speed, hz, math.pi / 2.0 + angle)
    assert not unfiltered(sensor__delay=delay).run(3.0, force, speed, hz, math.pi / 2.0 - angle)


def test_a_sensor_that_is_late_hides_the_bounce_unless_its_delay_is_known() -> None:
    silent = unfiltered(sensor__delay=0.008)
    silent.params["sensor_delay"] = 0.008
    told = silent.run(3.0, 20.0, 0.1, 6.0, math.pi / 2.0 + 0.15)
    untold = unfiltered()
    late = 2.0 * math.pi * 6.0 * 0.008
    assert told
    assert not untold.run(3.0, 20.0, 0.1, 6.0, math.pi / 2.0 + 0.15 - late)  # as if the speed came 8 ms early


def test_a_spring_hands_out_nothing_over_a_period() -> None:
    assert not unfiltered().run(4.0, 10.0, 0.03, 5.0, math.pi / 2.0)


def test_damping_for_power_that_leaves_is_no_estimate_of_a_stiffness() -> None:
    axis = unfiltered()
    assert axis.run(3.0, 20.0, 0.1, 6.0, math.pi)
    contact = axis.state["contact"]
    assert contact["withstood"][0, 0] > 0.0
    assert contact["stiffness"][0, 0] == 0.0  # which is what the command publishes: nothing measured one


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.008])
def test_force_and_speed_are_aligned_to_a_tenth_of_a_period(delay: float) -> None:
    """A spring of any sign gives back all it took: what is left over tells the error in time."""
    axis = unfiltered(sensor__delay=delay)
    axis.run(5.0, 10.0, 0.03, 4.0, math.pi / 2.0)
    mean = float(axis.state["contact"]["power"]["whole"][0, 0])
    assert abs(mean) < 0.5 * 10.0 * 0.03 * (2.0 * math.pi * 4.0) * 0.1 * DT


def test_a_large_swing_between_hand_and_arm_hands_out_nothing() -> None:
    """8 W to and fro at 5 Hz: the arm returns in each half swing what it took in the other."""
    assert not unfiltered().run(4.0, 20.0, 0.4, 5.0, -math.pi / 2.0)
    assert unfiltered().run(4.0, 20.0, 0.4, 5.0, -math.pi / 2.0 - 0.15)


def test_a_hand_that_leads_the_arm_makes_up_for_a_little_that_leaves() -> None:
    """Power counts where the part above 2 Hz and the whole are negative: a guided tool may tremble."""
    assert unfiltered().run(3.0, 4.0, 0.03, 6.0, math.pi)
    assert not unfiltered().run(3.0, 4.0, 0.03, 6.0, math.pi, slow=0.5)


@pytest.mark.parametrize("mass", [8.0, 12.0, 16.0])
def test_a_weak_bounce_is_found_when_it_lasts(mass: float) -> None:
    """Three times what may leave for long, far below what may leave for a moment, and not all of it within a second."""
    power = 3.0 * LASTING / mass**2
    speed = 2.0 * power * (1.0 + (2.0 / 4.0) ** 2) / 10.0

    def leaves(seconds: float, share: float, driven: bool = False) -> bool:
        axis = unfiltered()
        axis.state["mass"] = mass
        return axis.run(seconds, 10.0, share * speed, 4.0, math.pi, driven=driven)

    assert not leaves(0.5, 1.0)
    assert leaves(3.0, 1.0)
    assert not leaves(6.0, 0.3)
    assert not leaves(6.0, 1.0, driven=True)  # a reference works on what it moves


def test_a_weak_bounce_does_not_live_on_what_the_hand_gave_before() -> None:
    axis = unfiltered()
    axis.run(3.0, 10.0, 0.1, 4.0, 0.0)  # half a watt of guiding
    speed = 2.0 * (3.0 * LASTING / 8.0**2) * (1.0 + (2.0 / 4.0) ** 2) / 10.0
    assert axis.run(5.0, 10.0, speed, 4.0, math.pi)


def test_the_damping_grows_to_its_limit_while_energy_leaves_and_no_further() -> None:
    axis = unfiltered()
    axis.run(1.0, 20.0, 0.05, 6.0, math.pi)
    first = axis.damping
    assert first > 100.0
    axis.run(6.0, 20.0, 0.05, 6.0, math.pi)
    assert axis.damping == axis.params["max_contact_damping"][0, 0]
    assert axis.state["contact"]["held"][0, 0] == 1.0
    assert axis.state["contact"]["damping"][0, 1] == 0.0  # y took no part


def test_what_was_handed_out_before_the_damping_grew_does_not_make_it_grow_for_long() -> None:
    axis = unfiltered()
    while axis.damping == 0.0:
        axis.run(0.01, 10.0, 0.02, 5.0, math.pi)
        assert axis.time < 1.0
    axis.run(2.0, 0.0, 0.0, 5.0, 0.0)  # the bounce has ended
    assert 64.0 < axis.damping < 5.0 * 64.0


def test_a_law_without_damping_gets_some() -> None:
    axis = unfiltered()
    axis.state["damping"] = 0.0
    axis.run(3.0, 20.0, 0.05, 6.0, math.pi)
    assert axis.damping > 100.0


def test_power_at_a_limit_does_not_count() -> None:
    axis = unfiltered()
    axis.state["contact"]["unlimited_time"] = 0.0
    assert not axis.run(3.0, 20.0, 0.05, 6.0, math.pi)
