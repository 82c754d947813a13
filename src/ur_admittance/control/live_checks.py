"""What a running controller refuses: parameters that cannot change now, references that are no numbers."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance import given
from ur_admittance.control.zeroing import CONFIRM, WARN, compensated
from ur_admittance.core.records import PARAMS, new
from ur_admittance.core.wrench.rest import LEAST_FORCE, LEAST_TORQUE
from ur_admittance.errors import ParameterError, Unconfirmed
from ur_admittance.model.frames import Array, rotation_vector
from ur_admittance.params import Parameters
from ur_admittance.params.locks import LOCKS
from ur_admittance.params.parameters import at_probe
from ur_admittance.params.schema import Safety, Second

FIXED_WHILE_CONFIGURED = (
    "joints", "base_link", "tip_link", "ft_frame", "control_rate", "sensor.source", "sensor.driver", "second.source",
    "guiding.source",
)  # fmt: skip
FIXED_WHILE_ACTIVE = (  # nobody remounts a moving arm
    "gravity", "sensor.sign", "sensor.rotation", "sensor.position",
    *(f"second.{name}" for name in Second.model_fields if name != "source"),
)  # fmt: skip
FELT_THROUGH = ("sensor.bias", "tool.mass", "tool.center_of_mass")  # what is taken off the reading
FELT_BY = (  # what makes a wrong zero move the arm that did not do so before
    "admittance.min_motion_threshold", "admittance.min_motion_threshold_torque", "admittance.force_axes",
    "admittance.enabled_axes", "tool.tcp", *LOCKS,
)  # fmt: skip
TAKEN_OFF = ("sensor_bias", "tool_weight_base", "tool_com")  # the same in PARAMS
SLACK = (0.05, 0.005)  # [N, Nm] by which a push that is felt anyway may grow: a rounded zero, a step of auto_zero


def check_live(present: Parameters, wanted: Parameters, active: bool = False) -> None:
    """ParameterError for a change that is not allowed while the controller is configured, or active."""
    changed = changes(present, wanted)
    if changed and not present.dynamic_parameters and changed != ["dynamic_parameters"]:
        raise ParameterError(
            f"{changed[0]}: dynamic_parameters is false, so parameters change only while unconfigured.", changed[0]
        )
    for name in changed:
        if name in FIXED_WHILE_CONFIGURED:
            raise ParameterError(f"{name}: changes only while unconfigured; call cleanup() first.", name)
        if active and name in FIXED_WHILE_ACTIVE:
            raise ParameterError(f"{name}: changes only while the arm is not active; deactivate first.", name)
        if active and name == "tool.tcp" and at_probe(present):
            raise ParameterError(
                f"tool.tcp: the wrench of sensor.source = {present.sensor.source} is about the TCP of its sender; "
                "deactivate, change both, then activate.",
                name,
            )


def changes(present: Parameters, wanted: Parameters) -> list[str]:
    old, new = present.flat(), wanted.flat()
    return [name for name in new if new[name] != old[name]]


def check_felt(
    present: Parameters, wanted: Parameters, proven: np.void, now: np.void, then: np.void, sample: Mapping[str, Array]
) -> bool:
    """ParameterError for a zero or a tool that an active arm would feel as a push that is not felt now: it would move
    although nothing pushes it. One that takes off what is felt is welcome: True, it takes the place of the proven one.

    proven, now, then: PARAMS; sample: q and wrench of the last tick. All are judged about the new TCP and with the new
    deadband. The proven zero and tool are those of the activation, or a later zero: many small steps away from them are
    one large step."""
    changed = changes(present, wanted)
    named = [name for name in changed if name in FELT_THROUGH] or [name for name in changed if name in FELT_BY]
    known = np.isfinite(sample["q"]).all() and np.isfinite(sample["wrench"]).all()
    if not named or not known:
        return False
    if all(np.array_equal(proven[name], then[name]) for name in TAKEN_OFF):
        # The hand that opens a lock is on the tool: what axes feel that were free at the activation was judged there.
        judged = (now, proven) if set(named) <= set(LOCKS) else (now,)
        check_silent(named[0], judged, then, sample)
        return False
    first, before, after = (felt(then, zero, sample) for zero in (proven, now, then))
    better = True
    for part, unit in enumerate(("N", "Nm")):
        axes = slice(3 * part, 3 * part + 3)
        at_first, less, more = (float(np.linalg.norm(w[axes])) for w in (first, before, after))
        silent, less = not_felt(then, part), min(at_first, less)
        allowed = silent if less <= silent else less + SLACK[part]
        better &= more <= at_first
        if more > allowed:
            value = np.array(wanted.flat()[named[0]]).tolist()
            raise ParameterError(
                f"{named[0]} = {value}: the arm is active and would feel a push of {more:.3g} {unit} that nobody "
                f"gives (allowed: {allowed:.3g} {unit}); deactivate first.",
                named[0],
            )
    return better


def check_silent(name: str, judged: tuple[np.void, ...], then: np.void, sample: Mapping[str, Array]) -> None:
    """ParameterError for a change (of a deadband, of the axes that yield) that lets an active arm feel what it does not
    feel now: nobody has judged it at the activation. judged: the parameters with which it would have been felt."""
    reading = felt(then, then, sample)
    for part, unit in enumerate(("N", "Nm")):
        size = float(np.linalg.norm(reading[3 * part : 3 * part + 3]))
        before = min(not_yielded(params, part) for params in judged)
        after = not_yielded(then, part)
        if before >= size > after:
            raise ParameterError(
                f"{name}: the arm is active and would yield to {size:.3g} {unit} that it does not feel now (allowed: "
                f"{after:.3g} {unit}); let go of the tool, or deactivate first.",
                name,
            )


def not_yielded(params: np.void, part: int) -> float:
    """As `not_felt`, with the noise of a sensor; infinite where no axis yields."""
    axes = slice(3 * part, 3 * part + 3)
    if not params["enabled"][axes].any():
        return math.inf
    return max(not_felt(params, part), (LEAST_FORCE, LEAST_TORQUE)[part])


def felt(params: np.void, zero: np.void, sample: Mapping[str, Array]) -> Array:
    """The last reading without bias and weight of `zero` (PARAMS), sensor axes, about the TCP of params [N, Nm]."""
    records = new(PARAMS)
    records[0] = params
    for name in TAKEN_OFF:
        records[0][name] = zero[name]
    return about_tcp(params, compensated(records, np.array(sample["q"]), np.array(sample["wrench"])))


def about_tcp(params: np.void, wrench: Array) -> Array:
    """A wrench in sensor axes, its moment now about the TCP [N, Nm]."""
    lever = params["R_tcp_sensor"].T @ params["p_tcp_sensor"]  # from the TCP to the sensor
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(lever, wrench[:3])])


def not_felt(params: np.void, part: int) -> float:
    """Largest force (part 0) [N] or torque (part 1) [Nm] that leaves the arm at rest: none on regulated axes."""
    axes = slice(3 * part, 3 * part + 3)
    regulated = bool((params["force_axes"][axes] * params["enabled"][axes]).any())
    return 0.0 if regulated else float(params[("deadband_force", "deadband_torque")[part]])


def check_zero(proven: np.void, params: np.void, bias: Array) -> None:
    """Unconfirmed for a zero of an active arm that differs from the proven one by more than the arm would not feel: if
    it is that of a push, the arm leaves by itself when the push ends."""
    change = about_tcp(params, bias - proven["sensor_bias"])
    force, torque = (float(np.linalg.norm(part)) for part in np.split(change, 2))
    most = [max(SLACK[part], min(WARN[part], not_felt(params, part))) for part in (0, 1)]
    if force > most[0] or torque > most[1]:
        raise Unconfirmed(
            f"zeroing refused: the arm is active and the force would change by {force:.1f} N and {torque:.2f} Nm "
            f"(allowed: {most[0]:g} N and {most[1]:g} Nm); {CONFIRM}."
        )


def check_near(position: Array, rotation: Array, command: np.void, safety: Safety) -> None:
    """ParameterError for a desired pose that is farther from the measured one than the pose error may be."""
    distance = float(np.linalg.norm(position - command["p_tcp"]))
    angle = float(np.linalg.norm(rotation_vector(rotation @ command["R_tcp"].T)))
    for what, value, bound, unit in (
        ("position", distance, safety.max_position_error, "m"),
        ("rotation", angle, safety.max_orientation_error, "rad"),
    ):
        if value > bound:
            error = "position" if what == "position" else "orientation"
            raise ParameterError(
                f"target {what}: {value:.3f} {unit} from the tool, must be at most safety.max_{error}_error = "
                f"{bound:g} {unit}; go there in steps."
            )


def finite(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    array = given.array(what, values)
    if array.shape != shape:
        raise ParameterError(f"{what}: shape is {array.shape}, must be {shape}.")
    if not all(math.isfinite(x) for x in array.flat):
        raise ParameterError(f"{what} = {array.tolist()}: must be finite.")
    return array
