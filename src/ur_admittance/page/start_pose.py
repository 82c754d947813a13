"""The start of the work, on the page: joints that somebody has marked, or those at which the page saw the arm first;
and the way back there, which the controller looks at, leads and may refuse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.page.knobs import Tuner

GO, MARK = "Go to start", "Mark as start"


class StartPose:
    def __init__(self, gui: Any, tuner: Tuner) -> None:
        self._tuner = tuner
        self._start: NDArray[np.float64] | None = None
        self._now: NDArray[np.float64] | None = None
        hint = "Slowly, straight in joint angles, yielding to hands; 20 N stop it. Only while the arm is active."
        tuner.on_click(gui.add_button_group("Start", (GO, MARK), hint=hint), self._asked)

    def see(self, q: NDArray[np.float64]) -> None:
        """Where the joints are now (6,) [rad]."""
        self._now = np.array(q)
        if self._start is None:
            self._start = self._now

    def another_arm(self) -> None:
        self._start = None

    def _asked(self, client: Any, button: str) -> None:
        if button == MARK:
            self._start = self._now
        elif self._start is not None:
            self._tuner.link.post({"go": {"joints": self._start.tolist()}}, self._tuner.tell(client, "Refused"))
