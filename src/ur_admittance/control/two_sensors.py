"""Two force sensors (core/wrench/fusion.py): what to report about them, and their zeros."""

from typing import Any

import numpy as np

from ur_admittance.core.records import Mode
from ur_admittance.core.views import Record, scalar
from ur_admittance.core.wrench.fusion_record import (
    BOTH,
    DRIFTED,
    JUMPED,
    NOISY,
    NOT_FINITE,
    ONLY_FIRST,
    ONLY_SECOND,
    SILENT,
    STUCK,
    TOO_LARGE,
    UNDECIDED,
)
from ur_admittance.errors import LifecycleError
from ur_admittance.params import Parameters

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


class TwoSensors:
    """params: PARAMS and state: STATE, the live ones of a controller."""

    def __init__(self, parameters: Parameters, params: Record, state: Record) -> None:
        self.remark = ""  # a sentence about the last sensor that was dropped or is used again; empty: nothing to report
        self._sources = (parameters.sensor.source, parameters.second.source)
        self._settings: Any = scalar(params, "second")
        self.memory: Any = scalar(state, "fusion")  # FUSION (1,)
        self._news, self._told = self.memory["news"], 0

    def look(self) -> None:
        """After each tick."""
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
            f"{name}.bias": (np.array(bias) + memory["average"][k]).tolist()
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
