"""forward_velocity_controller and forward_position_controller, without ROS: the last message, for ever.

Rules: forward_controllers_base.cpp of ros2_controllers 2.54.0, 4.42.1, 6.9.0. There is no time-out in any of them.
"""

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.driver.generations import Generation

Array = NDArray[np.float64]


class ForwardController:
    """Copies a message into the command interface in every cycle until the next one comes."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self.active = False
        self._command: Array | None = None

    def activate(self) -> None:
        """What came while it was inactive is forgotten (on_activate)."""
        self.active, self._command = True, None

    def deactivate(self) -> None:
        """The driver zeroes the speeds itself when the mode ends, whether or not the controller does
        (hardware_interface.cpp, perform_command_mode_switch)."""
        self.active, self._command = False, None

    def offer(self, numbers: Array) -> str:
        """Why it is refused; an inactive controller drops it without a word."""
        if not self._generation.takes_nan and not np.isfinite(numbers).all():
            return "a number that is not finite"
        if self.active:
            self._command = np.array(numbers)
        return "" if len(numbers) == 6 else f"{len(numbers)} numbers, must be 6"

    def update(self) -> Array | None:
        """Command for the interface (6,), None: it keeps what it has.

        A message of another length makes update() return an error: then the controller manager deactivates the
        controller, or it carries on with what it had (Generation.stops_failing)."""
        return self._command if self._command is not None and len(self._command) == 6 else None

    @property
    def failing(self) -> bool:
        return self._command is not None and len(self._command) != 6
