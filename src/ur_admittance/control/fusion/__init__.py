"""Two force sensors, one wrench: what the parameters say about them, one `update` per cycle, and what to tell.

fusion = Fusion(parameters, robot.second)
fusion.update(params, sample)        # sample.wrench, of the first sensor so far, is that of both
"""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.control.fusion.kernels import fuse
from ur_admittance.control.fusion.records import (
    BOTH,
    DRIFTED,
    JUMPED,
    MEMORY,
    NOISY,
    NOT_FINITE,
    ONLY_FIRST,
    ONLY_SECOND,
    SECOND,
    SETTINGS,
    SILENT,
    STUCK,
    TOO_LARGE,
    UNDECIDED,
)
from ur_admittance.core.compile import load
from ur_admittance.core.records import PARAMS, SAMPLE, Mode, new
from ur_admittance.core.views import scalar
from ur_admittance.errors import LifecycleError
from ur_admittance.model.frames import Pose, rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.params.relations import at_probe

Array = NDArray[np.float64]
Records = NDArray[np.void]

WORDS = {
    SILENT: "is silent",
    NOT_FINITE: "sends what is not a number",
    STUCK: "is stuck at one reading",
    TOO_LARGE: "reads more than an arm can push",
    NOISY: "has become noisy",
    JUMPED: "has jumped",
    DRIFTED: "has drifted",
}
AXES = ("force x", "force y", "force z", "torque x", "torque y", "torque z")

__all__ = ["SECOND", "Fusion", "settings"]


class Fusion:
    """second: SECOND (1,), which a robot fills in each cycle."""

    def __init__(self, parameters: Parameters, second: Records) -> None:
        self.second = second
        self.memory: Records = new(MEMORY)
        self.remark = ""  # a sentence about the last sensor that was dropped or is used again; empty: nothing to tell
        self._settings: Records = new(SETTINGS)
        self._pending: deque[Records] = deque()
        self._news, self._told = scalar(self.memory, "news"), 0
        self._sources = ("", "")
        self.change(parameters)
        load(fuse, new(PARAMS), self._settings, self.memory, new(SAMPLE), second)

    def change(self, parameters: Parameters) -> None:
        """New parameters, in force from the next update on. May be called from another thread."""
        self._sources = (parameters.sensor.source, parameters.second.source)
        latest = self._pending[-1] if self._pending else self._settings
        wanted = settings(parameters)
        wanted["revision"] = latest["revision"]
        if wanted.tobytes() != latest.tobytes():
            wanted["revision"] += 1
            self._pending.append(wanted)

    def update(self, params: Records, samples: Records) -> None:
        """One cycle; the sample comes as the robot has filled it. Never raises."""
        while self._pending:
            self._settings[:] = self._pending.popleft()
        fuse(params, self._settings, self.memory, samples, self.second)
        if self._news[0] != self._told:
            self._told = self._news[0]
            self.remark = self._sentence()

    def zeros(self, parameters: Parameters, mode: Mode) -> dict[str, list[float]]:
        """The biases with which both sensors read zero now; one that sends nothing, or noise, keeps its own.
        LifecycleError while the arm is active: it would feel a step of what they differ by."""
        if mode == Mode.ACTIVE:
            raise LifecycleError("zero_ft_sensor: two sensors are zeroed while the arm is not active: deactivate.")
        memory = self.memory[0]
        dropped = {ONLY_FIRST: "second", ONLY_SECOND: "sensor"}.get(int(memory["rule"]), "")
        unknown = "" if int(memory["why"]) in (JUMPED, DRIFTED) else dropped  # the readings of others are no zero
        biases = {"sensor": parameters.sensor.bias, "second": parameters.second.bias}
        return {
            f"{name}.bias": (np.array(bias) + memory["mean"][k]).tolist()
            for k, (name, bias) in enumerate(biases.items())
            if name != unknown
        }

    def _sentence(self) -> str:
        memory = self.memory[0]
        rule, why = int(memory["rule"]), int(memory["why"])
        first, second = (
            f"the {which} force sensor ({source})" if source else f"the {which} force sensor"
            for which, source in zip(("first", "second"), self._sources, strict=True)
        )
        if why == UNDECIDED:
            over = np.abs(memory["difference"]) / self._settings["tolerance"][0]
            i = int(np.argmax(over))
            unit = "N" if i < 3 else "Nm"
            one, other, most = memory["e"][0, i], memory["e"][1, i], self._settings["tolerance"][0, i]
            sides = f"{one:.2f} {unit} by {first} and {other:.2f} {unit} by {second}"
            return f"{AXES[i]} is {sides} (allowed: {most:g} {unit} apart)"
        if rule == BOTH:
            return "both force sensors agree and are used again"
        wrong, used = (second, first) if rule == ONLY_FIRST else (first, second)
        return f"{wrong} {WORDS.get(why, 'is not used')}: only {used} is used"


def settings(p: Parameters) -> Any:
    """SETTINGS (1,) of the parameters."""
    records = new(SETTINGS)
    record, second = records[0], p.second
    T_flange_first = Pose(rotation_from_rpy(p.sensor.rotation), np.array(p.sensor.position))
    if at_probe(p):
        T_flange_first = Pose(rotation_from_rpy(p.tool.tcp[3:]), np.array(p.tool.tcp[:3]))
    T_flange_second = Pose(rotation_from_rpy(second.rotation), np.array(second.position))
    T_first_second = T_flange_first.inverse() @ T_flange_second
    record["R_first_second"], record["p_first_second"] = T_first_second.rotation, T_first_second.position
    record["sign"], record["bias"] = second.sign, second.bias
    record["weight_base"], record["com"] = second.mass * np.array(p.gravity), second.center_of_mass
    record["share"] = 1.0 / (1.0 + np.square(second.noise))
    record["tolerance"], record["rate"] = np.repeat(second.tolerance, 3), np.repeat(second.rate, 3)
    record["patience"], record["lag"] = second.patience, second.lag
    return records
