"""Input and output registers of the box, and who owns the inputs."""

from typing import Any

from ur_admittance.emulator.variables import INPUTS, REGISTERS, Version, known
from ur_admittance.emulator.wire import IN_USE, NOT_FOUND


class Inputs:
    """Every input keeps its last value. One connection owns an input until it closes."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.values: dict[str, Any] = {
            name: [0.0] * 6 if variable.kind == "VECTOR6D" else 0 for name, variable in INPUTS.items()
        }
        self._owner: dict[str, object] = {}

    def types(self, names: list[str], owner: object) -> tuple[list[str], bool]:
        """Types, or why not; True when all could be claimed for ``owner`` (then they are)."""
        answers = []
        for name in names:
            kind = known(INPUTS, name, self.version)
            if kind is None:
                answers.append(NOT_FOUND)
            elif self._owner.get(name, owner) is not owner:
                answers.append(IN_USE)
            else:
                answers.append(kind)
        granted = bool(names) and NOT_FOUND not in answers and IN_USE not in answers
        if granted:
            for name in names:
                self._owner[name] = owner
        return answers, granted

    def release(self, owner: object) -> bool:
        """The connection has closed. True when it commanded the control program."""
        mine = [name for name, who in self._owner.items() if who is owner]
        for name in mine:
            del self._owner[name]
        return "input_int_register_0" in mine or "input_int_register_24" in mine

    def integer(self, i: int) -> int:
        return int(self.values[f"input_int_register_{i}"])

    def doubles(self, first: int, count: int) -> list[float]:
        values = self.values
        return [float(values[f"input_double_register_{i}"]) for i in range(first, first + count)]


class Outputs:
    """Output registers, written by the program."""

    def __init__(self) -> None:
        self.integers = [0] * REGISTERS
        self.doubles = [0.0] * REGISTERS
