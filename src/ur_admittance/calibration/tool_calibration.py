"""What a calibration has found: how it enters the parameters, a text of one screen, a figure, and a file: a ROS 2
parameter file that other parameter files include.

    /**:
      ros__parameters:
        include: calibration.yaml        # next to this file; its values come first, this file has the last word

How well it was determined is written in comments: they are for people, the numbers below them are for the controller.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.calibration.fit import Array, Flags, predicted
from ur_admittance.errors import CalibrationError
from ur_admittance.model.frames import rotation_from_rpy, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.params.yaml import EVERY_NODE, SECTION, changed_by_file, load_values

SIMULATED = "simulation"  # sensor.source of a simulated arm
BIAS_LINE = re.compile(r"^(\s*bias:\s*)\[[^\]]*\]", re.MULTILINE)
OWN = ("gravity", "sensor.source", "sensor.sign", "sensor.bias", "sensor.rotation", "tool.mass", "tool.center_of_mass")
# what the same numbers are called when they are those of a second sensor
OF_SECOND = {name: name.replace("sensor.", "second.").replace("tool.", "second.") for name in OWN[1:]}


@dataclass(frozen=True)
class Deviation:
    """Standard deviations (one sigma) of what was identified."""

    mass: float  # [kg]
    center_of_mass: float  # [m] largest axis
    force_bias: float  # [N]
    torque_bias: float  # [Nm]
    rotation: float  # [rad] of the mounting
    tilt: float  # [rad] of the direction of gravity


@dataclass(frozen=True, eq=False)
class ToolCalibration:
    """Tool, sensor and tilt. ``None`` means withheld: the configured value stays, and a note says why."""

    sign: float
    mass: float  # [kg]
    bias: Array  # (6,) after the sign, sensor axes [N, Nm]
    center_of_mass: Array | None  # (3,) sensor frame [m]
    R_flange_sensor: Array | None  # (3, 3)
    gravity: Array | None  # (3,) base axes [m/s2]
    tilt: float  # between identified and configured gravity [rad]
    deviation: Deviation
    noise: tuple[float, float]  # of one sample [N, Nm]
    residual: Array  # (n, 6) reading minus model, dropped poses too [N, Nm]
    used: Flags  # (n,) bool: False for a pose that was dropped as an outlier
    excitation: float
    condition: float  # of the 15 unknowns, scaled
    notes: tuple[str, ...] = ()
    robot: str = ""
    source: str = ""  # sensor.source that it was made with
    made: str = field(default="")  # ISO date

    @property
    def residual_channels(self) -> Array:
        """RMS of the used poses per channel (6,) [N, Nm]."""
        return np.asarray(np.sqrt((self.residual[self.used] ** 2).mean(axis=0)))

    @property
    def residual_force(self) -> float:
        """RMS of the length of the force residual [N]."""
        return float(np.sqrt((self.residual[self.used, :3] ** 2).sum(axis=1).mean()))

    def changes(self) -> dict[str, Any]:
        """Dotted parameter names -> values, as `Parameters.changed` takes them."""
        values: dict[str, Any] = {}
        if self.gravity is not None:
            values["gravity"] = self.gravity.tolist()
        if self.source:
            values["sensor.source"] = self.source
        values["sensor.sign"] = self.sign
        values["sensor.bias"] = self.bias.tolist()
        if self.R_flange_sensor is not None:
            values["sensor.rotation"] = rpy_from_rotation(self.R_flange_sensor).tolist()
        values["tool.mass"] = self.mass
        values["tool.center_of_mass"] = [0.0] * 3 if self.center_of_mass is None else self.center_of_mass.tolist()
        return values

    def applied_to(self, parameters: Parameters) -> Parameters:
        return parameters.changed(self.changes())

    def __str__(self) -> str:
        """Every value with its standard deviation, what is left over, and the notes."""
        d, bias, channels = self.deviation, self.bias, self.residual_channels
        rows = [("tool mass", f"{self.mass:.4f} kg", f"{d.mass:.4f} kg")]
        if self.center_of_mass is not None:
            rows.append(
                ("centre of mass", f"{_three(1e3 * self.center_of_mass, 2)} mm", f"{1e3 * d.center_of_mass:.2f} mm")
            )
        if self.R_flange_sensor is not None:
            rpy = np.degrees(rpy_from_rotation(self.R_flange_sensor))
            rows.append(("sensor mounting", f"{_three(rpy, 2)} deg (rpy)", f"{np.degrees(d.rotation):.3f} deg"))
        if self.gravity is not None:
            rows.append(("base tilt", f"{np.degrees(self.tilt):.2f} deg", f"{np.degrees(d.tilt):.3f} deg"))
        rows += [
            ("force bias", f"{_three(bias[:3], 3)} N", f"{d.force_bias:.3f} N"),
            ("torque bias", f"{_three(bias[3:], 4)} Nm", f"{d.torque_bias:.4f} Nm"),
        ]
        lines = [f"{name:16}{value:44}+- {deviation}" for name, value, deviation in rows]
        lines += [
            "",
            f"{int(self.used.sum())} poses used of {len(self.used)}, excitation {self.excitation:.3f} (0.1 or more "
            f"is good), condition number {self.condition:.0f}",
            f"residual  {_three(channels[:3], 3)} N   {_three(channels[3:], 4)} Nm  (RMS per axis)",
            f"noise     {self.noise[0]:.3f} N   {self.noise[1]:.4f} Nm  (one sample)",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def save_figure(self, path: str | Path) -> None:
        """Residual of every pose against the noise of one sample; dropped poses are hollow."""
        from ur_admittance import figures

        number = np.arange(1, len(self.used) + 1)
        chart, axes = figures.panels((7, 5), 2, sharex=True)
        parts = ((slice(0, 3), "N", "force"), (slice(3, 6), "Nm", "torque"))
        for axis, (part, unit, what), level in zip(axes, parts, self.noise, strict=True):
            for k, (name, colour) in enumerate(zip("xyz", ("C3", "C2", "C0"), strict=True)):
                values = self.residual[:, part][:, k]
                fill = [colour if used else "none" for used in self.used]
                axis.scatter(number + 0.15 * (k - 1), values, facecolors=fill, edgecolors=colour, label=name)
            axis.axhspan(-level, level, color="0.9", zorder=0, label="noise of one sample")
            axis.axhline(0.0, color="0.6", linewidth=0.8)
            axis.set_ylabel(f"{what} residual [{unit}]")
        axes[0].legend(ncols=4, fontsize="small")
        axes[1].set_xlabel("pose")
        axes[0].set_title(f"Tool {self.mass:.3f} kg, {self.robot}: what the model does not explain")
        figures.save(chart, path, CalibrationError)


def expected_reading(parameters: Parameters, R_base_flange: Array) -> Array:
    """The wrench after the sign that these parameters expect of a free tool, sensor frame (6,) [N, Nm]."""
    weight = parameters.tool.mass * np.array(parameters.gravity)
    R_sensor_flange = rotation_from_rpy(parameters.sensor.rotation).T
    bias, com = np.array(parameters.sensor.bias), np.array(parameters.tool.center_of_mass)
    one: Array = predicted(R_sensor_flange, weight, bias, com, R_base_flange.T[None])[0]
    return one


def _three(values: np.ndarray, digits: int) -> str:
    return " ".join(f"{x:9.{digits}f}" for x in values)


def dump_calibration(result: ToolCalibration, second: bool = False) -> str:
    """Text of the file: what is known about the quality as comments, then the parameters; second: those of a second
    sensor."""
    lines = [f"# {line}" for line in _quality(result)]
    lines += [f"{EVERY_NODE}:", f"  {SECTION}:"]
    group = ""
    for name, value in result.changes().items():
        if second and name not in OF_SECOND:
            continue  # gravity: of the arm, not of a sensor
        *groups, last = (OF_SECOND[name] if second else name).split(".")
        if groups and groups[0] != group:
            group = groups[0]
            lines.append(f"    {group}:")
        indent = "      " if groups else "    "
        lines.append(f"{indent}{last}: {_number(value)}  # {_deviation(result, name)}")
    return "\n".join(lines) + "\n"


def save_calibration(result: ToolCalibration, path: str | Path, second: bool = False) -> None:
    """Written only when the parameters accept it; second: as the calibration of a second sensor."""
    result.applied_to(Parameters())
    try:
        Path(path).write_text(dump_calibration(result, second), encoding="utf-8")
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be written ({error.strerror}).") from None


def check_replaced(path: Path, simulated: bool) -> None:
    """A simulated calibration never takes the place of another one, whatever was said: forgetting which arm was meant
    must not cost the numbers of a real one."""
    if not simulated or not path.exists():
        return
    values = load_values(path)
    source = values.get("sensor.source") or values.get("second.source") or "unknown"
    if source != SIMULATED:
        raise CalibrationError(
            f"{path}: is not of a simulated arm (sensor.source: {source}) and a simulated one does not replace it; "
            "name your arm with --robot, or choose another file."
        )


def with_calibration(parameters: Parameters, path: str | Path) -> Parameters:
    """Parameters changed by a calibration file; anything in it that is not of a calibration is refused."""
    values = load_values(path)
    for name in values:
        if name not in OWN:
            raise CalibrationError(f"{path}: {name} does not belong in a calibration file ({', '.join(OWN)}).")
    if "tool.mass" not in values or "sensor.bias" not in values:
        raise CalibrationError(f"{path}: is not a calibration file, it has no tool.mass or sensor.bias.")
    source, other = values.get("sensor.source"), parameters.sensor.source
    if source and other and source != other:
        raise CalibrationError(f"{path}: was made with sensor.source = {source}, not with {other}; calibrate again.")
    return changed_by_file(parameters, path)


def zero_file(path: str | Path, change: Array) -> None:
    """Add ``change`` (6,) [N, Nm] to the bias in a calibration file; every other line stays as it is."""
    path = Path(path)
    bias = np.array(load_values(path)["sensor.bias"]) + change
    text, count = BIAS_LINE.subn(rf"\g<1>{_number(bias.tolist())}", path.read_text(encoding="utf-8"))
    if count != 1:
        raise CalibrationError(f"{path}: has no line 'bias: [...]' of its own; calibrate again.")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be written ({error.strerror}).") from None


def _quality(result: ToolCalibration) -> list[str]:
    channels = result.residual_channels
    lines = [
        f"Tool calibration of {result.robot or 'an arm'}, {result.made or 'undated'}: "
        f"{int(result.used.sum())} poses used of {len(result.used)}",
        f"residual RMS per axis: {channels[:3].round(4).tolist()} N, {channels[3:].round(5).tolist()} Nm",
        f"noise of one sample: {result.noise[0]:.3f} N, {result.noise[1]:.4f} Nm; excitation {result.excitation:.3f}, "
        f"condition number {result.condition:.0f}",
    ]
    return lines + list(result.notes)


def _deviation(result: ToolCalibration, name: str) -> str:
    d = result.deviation
    words = {
        "gravity": f"base axes, +-{np.degrees(d.tilt):.3f} degrees [m/s2]",
        "sensor.source": "it holds for no other",
        "sensor.sign": "as configured",
        "sensor.bias": f"+-{d.force_bias:.4f} N, +-{d.torque_bias:.5f} Nm [N, Nm]",
        "sensor.rotation": f"+-{np.degrees(d.rotation):.3f} degrees [rad]",
        "tool.mass": f"+-{d.mass:.5f} kg [kg]",
        "tool.center_of_mass": f"+-{1e3 * d.center_of_mass:.3f} mm, sensor frame [m]",
    }
    if name == "tool.center_of_mass" and result.center_of_mass is None:
        return "withheld: the tool is too light"
    return words[name]


def _number(value: float | list[float] | str) -> str:
    """Fixed-point with more digits than any sensor has: YAML 1.1 loaders read exponents without a dot as text."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(_number, value))}]" if isinstance(value, list) else f"{value:.8f}"
