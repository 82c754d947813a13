"""Recompute a recorded run: same records in, same bits out; or other parameters in, and see what changes.

The tick is a pure function of (params, state, sample), from the raw readings of the sensors to what is sent. So a
replay from a recorded state must agree with the recording to the last bit: any difference means that the program, the
compiler or the file is not the one that ran. What decides beside the tick is recorded as what it gave: a status (a
force that is too steady for a hand), new parameters (a zero that follows the drift), and what stages behind the law
made of a command.

With other parameters the recorded measurements stay as they were: the arm in the recording does not feel the new
commands, and the hand does not push differently. The parameters are those at the start of the recording with the
changes, all the time; mass, damping and stiffness come in by their ramp, as in any live change. So "what if" shows what
this controller would have commanded in the first moments; it is not a simulation, and with Kp > 0 or a spring it
becomes meaningless once the paths have parted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.motion.sending import send
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
from ur_admittance.core.tick import tick
from ur_admittance.errors import LogError
from ur_admittance.recording.log import Log
from ur_admittance.recording.messages import sent as recorded_as_sent


@dataclass(frozen=True)
class Replay:
    """commands[i] belongs to log.ticks[i]; recomputed[i]: whether it could be computed."""

    commands: NDArray[Any]
    sent: NDArray[np.float64]  # (n, 12) angles and speeds that went to the robot, as far as it took them
    recomputed: NDArray[np.bool_]
    differences: dict[str, float]  # largest |recomputed - recorded| per field of the command, and of what was sent
    # (sent.q, sent.qd); inf: NaN on one side
    state_differences: dict[str, float]  # the same for the state, at the keyframes
    what_if: bool
    lacks: str = ""  # what is missing of the recording

    @property
    def exact(self) -> bool:
        return not any(self.differences.values()) and not any(self.state_differences.values())

    def __str__(self) -> str:
        done, total = int(self.recomputed.sum()), len(self.recomputed)
        line = f"{done} of {total} cycles recomputed (a recorded state is the start)"
        if self.lacks:
            line = f"{self.lacks} Of the rest: {line}"
        if self.what_if:
            return f"{line} with other parameters; measurements as recorded: the arm does not react to the difference"
        if self.exact:
            return f"{line}, {'these are equal' if self.lacks else 'every bit equal'}"
        different = {**self.differences, **{f"state.{k}": v for k, v in self.state_differences.items()}}
        worst = [f"{name} {value:.3g}" for name, value in different.items() if value]
        return f"{line}, different: {', '.join(worst)}"


def replay(log: Log) -> Replay:
    """Recompute every cycle with the recorded parameters, restarting from recorded states after gaps."""
    return _recompute(log, None)


def what_if(log: Log, changes: Mapping[str, Any]) -> Replay:
    """The same with some parameters changed (dotted names): see the limits at the top of this file."""
    from ur_admittance.model import robot_model
    from ur_admittance.params import Parameters
    from ur_admittance.params.record import fill

    if not log.about.get("model") or not log.about.get("parameters"):
        raise LogError(f"{log.path} does not say which robot and parameters: other parameters cannot be tried")
    parameters = Parameters.model_validate(log.about["parameters"]).changed(dict(changes))
    record = new(PARAMS)
    fill(record[0], parameters, robot_model(log.about["model"]))
    return _recompute(log, record)


def _recompute(log: Log, other: NDArray[Any] | None) -> Replay:
    log.check_layout()
    if not log.states:
        raise LogError(f"{log.path} holds no recorded state to start from")
    count = len(log.ticks)
    commands, recomputed = np.zeros(count, COMMAND), np.zeros(count, dtype=bool)
    sent, out = np.zeros((count, 12)), new(COMMAND)
    params, state, sample, command = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
    sequence = log.ticks["loop"]["sequence"]
    state_differences: dict[str, float] = {}
    running = False  # state and command belong to the tick before
    tick_one, send_one = tick.on(params, state, sample, command), send.on(params, state, sample, out)
    params_for = _params_finder(log, other, params)
    for i in range(count):
        running = running and i > 0 and sequence[i] == sequence[i - 1] + 1
        if running and params_for(i):
            sample[0] = log.ticks["sample"][i]
            tick_one()
            commands[i], recomputed[i] = command[0], True
            out[0] = command[0]
            if sample["shaped"][0]:
                out["q"], out["qd"] = log.ticks["loop"]["q_shaped"][i], log.ticks["loop"]["qd_shaped"][i]
                send_one()
            sent[i, :6], sent[i, 6:] = out["q"][0], out["qd"][0]
        else:
            running = False
        keyframe = log.states.get(i)
        if keyframe is not None and (other is None or not running):
            if running:
                for name, value in _differences(state, keyframe.reshape(1)).items():
                    state_differences[name] = max(state_differences.get(name, 0.0), value)
            state[0], command[0] = keyframe, log.ticks["command"][i]
            running = True
    differences = _differences(commands[recomputed], log.ticks["command"][recomputed])
    for name, part in (("q", sent[:, :6]), ("qd", sent[:, 6:])):
        differences[f"sent.{name}"] = _largest(part[recomputed], recorded_as_sent(log.ticks, name)[recomputed])
    return Replay(commands, sent, recomputed, differences, state_differences, other is not None, log.lacks)


def _params_finder(log: Log, other: NDArray[Any] | None, params: NDArray[Any]) -> Callable[[int], bool]:
    """A function that makes `params` those of tick i; False if they are not known."""
    if other is not None:
        params[:] = other
        params["revision"] = 1 + max((int(record["revision"]) for record in log.params.values()), default=0)
        return lambda i: True
    known = sorted(log.params)
    position = -1
    revision = log.ticks["loop"]["params_revision"]

    def find(i: int) -> bool:
        nonlocal position
        while position + 1 < len(known) and known[position + 1] <= i:
            position += 1
            params[0] = log.params[known[position]]
        return position >= 0 and bool(params["revision"][0] == revision[i])

    return find


def _differences(ours: NDArray[Any], recorded: NDArray[Any]) -> dict[str, float]:
    """Largest difference per field; a field of a record inside has a dotted name, such as contact.stiffness."""
    result: dict[str, float] = {}
    for name in ours.dtype.names or ():
        if ours.dtype[name].names:
            inner = _differences(ours[name], recorded[name])
            result |= {f"{name}.{field}": value for field, value in inner.items()}
            continue
        result[name] = _largest(ours[name].astype(float), recorded[name].astype(float))
    return result


def _largest(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Largest difference; inf: NaN on one side."""
    with np.errstate(invalid="ignore"):
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.where(np.isnan(gap), np.inf, gap).max(initial=0.0))
