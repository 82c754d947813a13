"""Digital outputs through RTDE: a connection of its own, which is there only while a program sets outputs. The
variables belong to one client at a time, and a loop that needs none must not take them from another."""

from ur_admittance.errors import RobotError
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.robots.rtde.states import States

RATE = 10.0  # [Hz] of the states that nobody reads
PREFIX = {"digital": "standard", "configurable": "configurable", "tool": "tool"}
INPUTS = tuple(
    f"{PREFIX[kind]}_digital_output{part}" for kind in FIRST_INPUT for part in ("_mask", "")
)  # the mask says which bits count


class OutputPins:
    """pins("tool:0", True) from a loop: sends one package and does not wait."""

    def __init__(self, host: str, timeout: float = 3.0) -> None:
        self._states = States(host, RATE, ["timestamp"], INPUTS, timeout)

    def __call__(self, name: str, on: bool) -> None:
        """RobotError: the connection is gone; what was meant to be switched is not."""
        kind, _, number = name.partition(":")
        package = [0] * len(INPUTS)
        at = 2 * list(FIRST_INPUT).index(kind)
        package[at], package[at + 1] = 1 << int(number), on << int(number)
        if not self._states.send(*package):
            raise RobotError(f"{self._states.host} took no output {name}: its connection for outputs is gone.")

    def close(self) -> None:
        self._states.close()
