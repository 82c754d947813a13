"""The control box: arm, program and safety, what clients write to it, and what happens around it."""

import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_arm import Arm
from ur_admittance_lab.emulator.program_files import Files
from ur_admittance_lab.emulator.program_kinds import compiled
from ur_admittance_lab.emulator.protocol import Version
from ur_admittance_lab.emulator.running_program import PLAYING, Program
from ur_admittance_lab.emulator.safety import Safety
from ur_admittance_lab.emulator.variables import Inputs, Outputs

SHOWN = 5  # messages of one kind that are logged in full; after that every thousandth
ALWAYS_SHOWN = ("program", "safety")  # why something stopped
TRACE_LENGTH = 20000
DIGITAL_INPUTS = 18


class ControlBox:
    """Software version decides rate and variables: 5.x runs at 500 Hz, 3.x (CB3) at 125 Hz."""

    def __init__(
        self,
        world: World,
        version: Version = (5, 12, 2),
        force_limit: float = 250.0,
        following_limit: float = 0.15,
        say: Callable[[str], None] = lambda text: None,
        directory: Path | None = None,
    ) -> None:
        self.version = version
        self.rate = 500.0 if version[0] > 3 else 125.0  # [Hz]
        self.period = 1.0 / self.rate
        self.tick = 0
        self.counters: Counter[str] = Counter()
        self._unlock_wanted = False
        self._console = say
        self.files = Files(directory)
        self.operational_mode, self.user_role = "NONE", "PROGRAMMER"
        self.shutdown = False  # asked for
        self.arm = Arm(world, self.period, about_tcp=version[0] <= 3)
        self.safety = Safety(self.arm, force_limit, following_limit)
        self.inputs, self.outputs = Inputs(version), Outputs()
        self.program = Program(self.arm, self.safety, self.inputs, self.outputs, self, self.period, compiled)
        self.safety.on_stop = self.program.on_safety_stop
        self.safety.log = self.program.log = self.log
        self.digital_inputs = self.digital_outputs = 0  # bit by bit: 8 standard, 8 configurable, 2 of the tool
        self.analog_outputs = [0.0, 0.0]
        self.tool_voltage = 0  # [V]
        self.trace: deque[int] = deque(maxlen=TRACE_LENGTH)  # cycle in which each streamed command was seen
        self.taken: deque[list[float]] = deque(maxlen=TRACE_LENGTH)  # the doubles of each of them
        self.delays: deque[float] = deque(maxlen=TRACE_LENGTH)  # [s] from the last state to each of them
        self.state_sent = 0.0  # [s] monotonic time
        self.commands = 0  # streamed since the start
        self._arrived = 0
        self.late_cycles = 0
        self.pace = 1.0  # robot seconds per real second
        self.cut_request = 0.0  # [s] for which the network is to be dead
        self.drop_request = False
        self._push_ends = -1.0
        self._push: np.ndarray | None = None

    @property
    def time(self) -> float:
        """Controller time [s]: one period per cycle."""
        return self.tick * self.period

    @property
    def waits_for_command(self) -> bool:
        """A streamed motion runs and its command for the next cycle has not come yet."""
        return not self._arrived and self.program.streams

    def log(self, kind: str, text: str) -> None:
        """Say it; of many messages of one kind only some."""
        self.counters[kind] += 1
        count = self.counters[kind]
        if count <= SHOWN or count % 1000 == 0 or kind in ALWAYS_SHOWN:
            self._say(f"[{self.time:9.3f}] {kind}: {text}" + (f" (number {count})" if count > SHOWN else ""))

    def _say(self, text: str) -> None:
        self.files.log.append(text)
        self._console(text)

    def unlock_when_allowed(self) -> None:
        """The primary port's way: asked for once, done when the stop is old enough."""
        self._unlock_wanted = True

    def state(self) -> dict[str, Any]:
        """What a test or a person wants to know."""
        arm = self.arm
        return {
            "time": self.time,
            "cycle": self.tick,
            "late": self.late_cycles,
            "q": arm.world.q.tolist(),
            "qd": arm.world.qd.tolist(),
            "target_q": arm.q_set.tolist(),
            "tcp_force": arm.tcp_force.tolist(),
            "true_wrench": arm.world.external_wrench.tolist(),
            "contact_force": arm.world.contact_wrench[:3].tolist(),
            "standing": arm.standing,
            "travel": arm.travel,
            "runtime_state": self.program.runtime_state,
            "watchdog_hz": self.program.watchdog_hz,
            "stop": self.safety.stop.name,
            "reason": self.safety.reason,
        }

    # what clients write

    def receive(self, values: dict[str, Any]) -> None:
        """A data package: every field keeps its value until the next one."""
        self.inputs.values.update(values)
        if self.program.received(values):
            self.commands += 1
            self._arrived += 1
            self.trace.append(self.tick + 1)
            self.taken.append([value for value in values.values() if isinstance(value, float)])
            self.delays.append(time.monotonic() - self.state_sent)
            self.counters["streamed commands"] += 1
            if self._arrived > 1:
                self.counters["streamed commands lost in one cycle"] += 1
        self._io(values)

    def _io(self, values: dict[str, Any]) -> None:
        if values.get("speed_slider_mask"):
            self.set_slider(values.get("speed_slider_fraction", 1.0))
        for name, shift in (("standard", 0), ("configurable", 8), ("tool", 16)):
            mask = values.get(f"{name}_digital_output_mask")
            if mask:
                bits = values.get(f"{name}_digital_output", 0)
                self.digital_outputs = self.digital_outputs & ~(mask << shift) | (bits & mask) << shift
        mask = values.get("standard_analog_output_mask", 0)
        for i in range(2):
            if mask & 1 << i:
                self.analog_outputs[i] = float(values.get(f"standard_analog_output_{i}", 0.0))

    def set_slider(self, fraction: float) -> None:
        if 0.0 <= fraction <= 1.0:
            self.safety.slider = fraction
        else:
            self.log("slider", f"speed fraction {fraction}: must be 0 to 1")

    def commander_left(self) -> None:
        """The client that commands has closed its connection: only the watchdog stops the arm."""
        if self.program.runtime_state == PLAYING and not self.arm.standing:
            self.safety.begin_incident("connection of the commanding client closed")

    # the world around

    def reset(self) -> None:
        """As after the start: the arm at home, no stop, slider up, sensor not zeroed, no push, nothing loaded."""
        self.program.end("reset", quiet=True)
        self.arm.reset()
        self.safety.reset()
        self._push, self.digital_inputs = None, 0
        self._unlock_wanted, self.operational_mode, self.files.loaded = False, "NONE", None
        self.program.keeps_first_watchdog = False

    def take_local_control(self) -> None:
        """At the pendant. What came over the network ends (assumed), and nothing more of it starts."""
        self.safety.remote_control = False
        self.program.end("local control")

    def push(self, wrench: list[float], duration: float | None) -> None:
        """A hand pushes the tool: wrench at its tip, base_link axes [N, Nm]."""
        self._push = np.array(wrench)
        self.arm.world.push(self._push)
        self._push_ends = self.time + duration if duration is not None else np.inf

    def set_digital_input(self, number: int, on: bool) -> None:
        """A wire: 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the tool."""
        if not 0 <= number < DIGITAL_INPUTS:
            raise ValueError
        self.digital_inputs = self.digital_inputs & ~(1 << number) | on << number

    def set_pace(self, pace: float) -> None:
        if not 0.01 <= pace <= 10.0:
            raise ValueError
        self.pace = pace

    def request_cut(self, seconds: float) -> None:
        """No bytes in or out for a while; arm, program and watchdog go on."""
        self.cut_request = min(max(seconds, 0.0), 60.0)

    def request_drop(self) -> None:
        """Close all RTDE connections."""
        self.drop_request = True

    def _let_go_in_time(self) -> None:
        if self._push is not None and self.time >= self._push_ends:
            self.arm.world.let_go()
            self._push = None
