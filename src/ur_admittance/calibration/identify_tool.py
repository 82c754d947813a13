"""Readings at rest -> tool, bias, mounting and tilt, or a refusal with advice: never a bad result.

    identify(readings, parameters) -> ToolCalibration

`parameters` say what is roughly known: the sensor's sign, the direction of gravity in base axes, and the mounting that
stays in force when the tool is too light to tell.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ur_admittance.calibration import poses
from ur_admittance.calibration.fit import (
    STANDARD_GRAVITY,
    UNKNOWNS,
    Array,
    Fit,
    Reading,
    noise,
    predicted,
    stacked,
    without_outliers,
)
from ur_admittance.calibration.tool_calibration import Deviation, ToolCalibration
from ur_admittance.errors import CalibrationError
from ur_admittance.model.frames import rotation_from_rpy, rotation_vector
from ur_admittance.params import Parameters
from ur_admittance.params.parameters import LARGEST_LEVER, LARGEST_MASS

# What a mean reading can be trusted to: the resolution of wrist sensors, however long one averages.
FINEST_FORCE, FINEST_TORQUE = 0.005, 0.0005  # [N], [Nm]

LARGEST_TILT = np.radians(30.0)  # of the base against the configured gravity
RESIDUAL_FORCE, RESIDUAL_TORQUE = 0.3, 0.03  # [N], [Nm] RMS per axis that hysteresis of good sensors explains
TIMES_NOISE = 3.0
# Below this weight crosstalk and hysteresis (some 0.1 N) turn mounting and centre of mass into fiction.
LIGHT_FORCE = 1.0  # [N]
LIGHT_TIMES_NOISE = 5.0
VAGUE_ROTATION = np.radians(1.0)  # standard deviation
VAGUE_CENTER = 0.01  # [m] standard deviation


def identify(readings: Sequence[Reading], parameters: Parameters, robot: str = "") -> ToolCalibration:
    """All unknowns from static poses; CalibrationError says why not and what to do."""
    R_flange_base, wrench = stacked(readings, parameters.sensor.sign)
    gravity = np.array(parameters.gravity)
    _refuse(poses.refusal(R_flange_base, gravity))

    sample_noise = noise(readings)
    count = np.mean([reading.count for reading in readings])
    of_mean = (
        max(sample_noise[0] / np.sqrt(count), FINEST_FORCE),
        max(sample_noise[1] / np.sqrt(count), FINEST_TORQUE),
    )
    used, fit = without_outliers(R_flange_base, wrench, of_mean)
    _refuse(poses.refusal(R_flange_base[used], gravity))
    residual = wrench - predicted(fit.R_sensor_flange, fit.weight, fit.bias, fit.com, R_flange_base)
    _check_residual(residual[used], sample_noise)

    weight = float(np.linalg.norm(fit.weight))
    deviation = _deviation(fit, of_mean)
    notes = [f"Pose {i + 1} did not fit the others and was left out." for i in np.flatnonzero(~used)]
    result = ToolCalibration(
        sign=parameters.sensor.sign,
        mass=weight / STANDARD_GRAVITY,
        bias=fit.bias,
        center_of_mass=fit.com,
        R_flange_sensor=fit.R_sensor_flange.T,
        gravity=fit.weight * (STANDARD_GRAVITY / weight) if weight > 0.0 else gravity,
        tilt=_angle(fit.weight, gravity) if weight > 0.0 else 0.0,
        deviation=deviation,
        noise=sample_noise,
        residual=residual,
        used=used,
        excitation=poses.excitation(R_flange_base[used], gravity),
        condition=_condition(fit),
        notes=tuple(notes),
        robot=robot,
    )
    lightest = max(LIGHT_FORCE, LIGHT_TIMES_NOISE * sample_noise[0])
    if weight < lightest:
        return _light(result, parameters, R_flange_base, wrench, lightest)
    _check_direction(result, parameters)
    _check_plausible(result)
    return _with_notes(result, parameters)


def _refuse(reason: str) -> None:
    if reason:
        raise CalibrationError(f"calibration refused: {reason}")


def _check_residual(residual: Array, sample_noise: tuple[float, float]) -> None:
    force, torque = np.sqrt((residual[:, :3] ** 2).mean()), np.sqrt((residual[:, 3:] ** 2).mean())
    most_force = max(RESIDUAL_FORCE, TIMES_NOISE * sample_noise[0])
    most_torque = max(RESIDUAL_TORQUE, TIMES_NOISE * sample_noise[1])
    worst = int(np.argmax((residual[:, :3] ** 2).sum(axis=1))) + 1
    if force > most_force:
        _refuse(
            f"the forces do not fit a rigid tool (residual {force:.2f} N, allowed {most_force:.2f} N, largest in pose "
            f"{worst}); something touched the tool, a cable pulls at it, or the joint angles are not those of this arm."
        )
    if torque > most_torque:
        _refuse(
            f"the torques do not fit the forces (residual {torque:.3f} Nm, allowed {most_torque:.3f} Nm); something "
            "touched the tool, or torque axes are swapped or flipped: run `ur-admittance check-frames`."
        )


def _check_direction(result: ToolCalibration, parameters: Parameters) -> None:
    if result.tilt <= LARGEST_TILT:
        return
    if result.tilt < np.pi / 2:
        _refuse(
            f"the weight points {np.degrees(result.tilt):.0f} degrees away from the configured gravity (allowed "
            f"{np.degrees(LARGEST_TILT):.0f}); set `gravity` to how this base is mounted, in base axes."
        )
    other = -int(parameters.sensor.sign)
    assert result.R_flange_sensor is not None
    turned = np.linalg.norm(rotation_vector(result.R_flange_sensor.T @ rotation_from_rpy(parameters.sensor.rotation)))
    mirrored = "" if turned < np.radians(30.0) else " If the sign is right, an axis is mirrored: run check-frames."
    _refuse(
        f"the tool's weight points up: the sensor reports the reaction; set sensor.sign to {other} (or `gravity`, if "
        f"the base hangs from the ceiling).{mirrored}"
    )


def _check_plausible(result: ToolCalibration) -> None:
    lever = float(np.linalg.norm(result.center_of_mass)) if result.center_of_mass is not None else 0.0
    deviation = result.deviation
    if result.mass > LARGEST_MASS:
        _refuse(f"a tool of {result.mass:.1f} kg is not plausible (at most {LARGEST_MASS:.0f} kg); check the units.")
    if lever > LARGEST_LEVER:
        _refuse(
            f"a centre of mass {lever:.2f} m from the sensor is not plausible (at most {LARGEST_LEVER:.0f} m); check "
            "the unit of the torque (Nm) and that nothing touches the tool."
        )
    if deviation.rotation > VAGUE_ROTATION or deviation.center_of_mass > VAGUE_CENTER:
        _refuse(
            f"too vague: mounting +-{np.degrees(deviation.rotation):.1f} degrees, centre of mass "
            f"+-{1e3 * deviation.center_of_mass:.0f} mm; use more poses, {poses.ADVICE}, or a heavier tool."
        )


def _light(
    result: ToolCalibration, parameters: Parameters, R_flange_base: Array, wrench: Array, lightest: float
) -> ToolCalibration:
    """Mass and bias only; mounting and gravity stay as configured, the centre of mass at the sensor."""
    gravity, R_sensor_flange = np.array(parameters.gravity), rotation_from_rpy(parameters.sensor.rotation).T
    without_bias = predicted(R_sensor_flange, result.mass * gravity, np.zeros(6), np.zeros(3), R_flange_base)
    rest = wrench - without_bias
    bias = rest[result.used].mean(axis=0)
    note = (
        f"The weight beyond the sensor is {result.mass * STANDARD_GRAVITY:.2f} N, below the {lightest:.1f} N from "
        "which centre of mass and mounting can be determined: both are withheld (centre of mass at the sensor, "
        "mounting and gravity as configured). If the tool is heavier than that, the payload setting of the robot "
        "already compensates it."
    )
    return replace(
        result,
        bias=bias,
        center_of_mass=None,
        R_flange_sensor=None,
        gravity=None,
        tilt=0.0,
        residual=rest - bias,
        notes=(*result.notes, note),
    )


def _with_notes(result: ToolCalibration, parameters: Parameters) -> ToolCalibration:
    notes = list(result.notes)
    assert result.R_flange_sensor is not None
    vector = rotation_vector(rotation_from_rpy(parameters.sensor.rotation).T @ result.R_flange_sensor)
    angle = float(np.linalg.norm(vector))
    if np.degrees(angle) > 2.0:
        axis = " ".join(f"{x:.2f}" for x in vector / angle)
        notes.append(
            f"The sensor is turned by {np.degrees(angle):.1f} degrees about [{axis}] against its configuration."
        )
    if np.degrees(result.tilt) > 1.0:
        notes.append(f"The base is tilted by {np.degrees(result.tilt):.1f} degrees; `gravity` includes it.")
    return replace(result, notes=tuple(notes))


def _deviation(fit: Fit, of_mean: tuple[float, float]) -> Deviation:
    """From the covariance, made larger where the residual is more than the noise explains."""
    n = len(fit.residual)
    squares = float(((fit.residual / np.repeat(of_mean, 3)) ** 2).sum())
    factor = max(1.0, squares / max(1, 6 * n - UNKNOWNS))
    sigma = np.sqrt(factor * np.diag(fit.covariance))
    weight = float(np.linalg.norm(fit.weight))
    down = fit.weight / weight if weight > 0.0 else np.array([0.0, 0.0, -1.0])
    of_weight = factor * fit.covariance[3:6, 3:6]
    along = float(down @ of_weight @ down)
    across = max(0.0, float(np.trace(of_weight)) - along)
    return Deviation(
        mass=float(np.sqrt(along)) / STANDARD_GRAVITY,
        center_of_mass=float(sigma[9:12].max()),
        force_bias=float(sigma[6:9].max()),
        torque_bias=float(sigma[12:15].max()),
        rotation=float(np.linalg.norm(sigma[:3])),
        tilt=float(np.sqrt(across)) / weight if weight > 0.0 else np.pi,
    )


def _condition(fit: Fit) -> float:
    """Condition number with every unknown in units of its own standard deviation: the correlation that is left."""
    sigma = np.sqrt(np.diag(fit.covariance))
    if not (sigma > 0.0).all():
        return float("inf")
    return float(np.linalg.cond(fit.covariance / np.outer(sigma, sigma)))


def _angle(a: Array, b: Array) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
