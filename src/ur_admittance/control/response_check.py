"""Is robot.response_time true? A sentence when the arm is seen to answer much later, or earlier, than configured."""

RATIO = 1.45  # between two of them that differ: the estimate is right within a fifth, the law bears a fifth
LEAST = 0.0025  # [s] of difference that matters: hardly more than a cycle


def response_warning(seen: float, configured: float) -> str:
    """seen: COMMAND's response_seen, configured: robot.response_time [s]; 0: not known. Empty: they agree."""
    if seen == 0.0 or configured == 0.0 or abs(seen - configured) < LEAST:
        return ""
    if configured / RATIO < seen < configured * RATIO:
        return ""
    effect = "contact may ring" if seen > configured else "it is damped more than it needs"
    return (
        f"the arm answers after {1e3 * seen:.0f} ms, configured are {1e3 * configured:.3g} ms: {effect}; measure it "
        "again (`ur-admittance measure-response`) or set robot.response_time"
    )


class ResponseCheck:
    """The same for every cycle: the sentence stays the same object until what it says has changed."""

    def __init__(self) -> None:
        self.warning = ""
        self._about = (0.0, 0.0)  # seen and configured [s] when it was made

    def look(self, seen: float, configured: float) -> None:
        before = self._about
        if seen == before[0] and configured == before[1]:
            return
        near = abs(seen - before[0]) < 0.2 * before[0] and configured == before[1]
        warning = response_warning(seen, configured)
        if not near or bool(warning) != bool(self.warning):
            self.warning, self._about = warning, (seen, configured)
