"""A calibration as a file: a ROS 2 parameter file that other parameter files include.

    /**:
      ros__parameters:
        include: calibration.yaml        # next to this file; its values come first, this file has the last word

How well it was determined is written in comments: they are for people, the numbers below them are for the controller.
"""

import re
from pathlib import Path

import numpy as np

from ur_admittance.calibration.calibration_result import ToolCalibration
from ur_admittance.calibration.fit import Array
from ur_admittance.errors import CalibrationError
from ur_admittance.params import Parameters
from ur_admittance.params.yaml import EVERY_NODE, SECTION, changed_by_file, load_values

SIMULATED = "simulation"  # sensor.source of a simulated arm
BIAS_LINE = re.compile(r"^(\s*bias:\s*)\[[^\]]*\]", re.MULTILINE)
OWN = ("gravity", "sensor.source", "sensor.sign", "sensor.bias", "sensor.rotation", "tool.mass", "tool.center_of_mass")
# what the same numbers are called when they are those of a second sensor
OF_SECOND = {name: name.replace("sensor.", "second.").replace("tool.", "second.") for name in OWN[1:]}


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
