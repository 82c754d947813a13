"""The loop's clock when the arm is behind ROS 2 topics: a punctual sensor sets the pace, else the monotonic clock.

A cycle that begins when a wrench arrives answers it at once; a timer of its own would let it wait for half a period on
average. With use_sim_time the cycles' times are those of /clock. A short pause there is a pause of the loop; after a
longer one, by the steady clock, cycles run on without time passing, which is a fault: an arm that is driven by speeds
would move on, whatever /clock says.
"""

import time

from ur_admittance.robots.ros.inputs import Inputs

FASTEST = 0.95  # of a period from tick to tick in the long run, however fast the sensor
BURST = 2  # ticks that may follow each other at once, after a pause of the sensor
PATIENCE = 1.5  # periods that a punctual sensor may be late before the tick runs without it
CLOCK_PATIENCE_NS = 500_000_000  # without a change on /clock: a simulation at 1/50 of real time has one in 0.1 s
PACING_PERIODS = 1.6  # a sensor whose messages come at most this far apart sets the pace


class RosClock:
    """Only waits, and looks at the time; messages of the arm are the robot's to read."""

    now_ns = staticmethod(time.perf_counter_ns)

    def __init__(self, inputs: Inputs, rate: float) -> None:
        self._inputs = inputs
        self.period_ns = round(1e9 / rate)
        self.period = self.period_ns * 1e-9
        self.start()

    def start(self) -> None:
        """Ages and periods count from now."""
        self._inputs.begin()
        self.missed = 0
        self.woke_ns = self.deadline_ns = self._inputs.now_ns()
        self._woke = self._last_wrench = self._full = self._moved = time.monotonic_ns()  # [ns]
        self._paced = False

    def stop(self) -> None:
        pass

    def wait(self) -> bool:
        period, inputs = self.period_ns, self._inputs
        patience = int(PATIENCE * period) if self._paced else period
        arrived = inputs.wait(self._woke + patience - time.monotonic_ns())
        now = time.monotonic_ns()
        if arrived:
            self._paced = now - self._last_wrench <= PACING_PERIODS * period
            self._last_wrench = now
            early = self._full - BURST * period - now
            if early > 0:  # a sensor faster than the loop
                time.sleep(early * 1e-9)
                now = time.monotonic_ns()
        else:
            self._paced = False
        self._woke = now
        self._full = max(self._full, now) + int(FASTEST * period)
        if inputs.time_moves():
            self._moved = now
        elif now - self._moved < CLOCK_PATIENCE_NS:
            return False
        before, self.woke_ns = self.woke_ns, inputs.now_ns()
        self.deadline_ns = self.woke_ns
        if self.woke_ns - before >= 1.5 * period:
            self.missed += round((self.woke_ns - before) / period) - 1
        return True

    def time_ns(self) -> int:
        """ROS time."""
        return self._inputs.stamp_ns()
