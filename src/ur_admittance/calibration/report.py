"""The result of a calibration for people: a text of one screen, and a figure."""

from pathlib import Path

import numpy as np

from ur_admittance.calibration.result import ToolCalibration
from ur_admittance.model.frames import rpy_from_rotation


def text(result: ToolCalibration) -> str:
    """Every value with its standard deviation, what is left over, and the notes."""
    d, bias, channels = result.deviation, result.bias, result.residual_channels
    rows = [("tool mass", f"{result.mass:.4f} kg", f"{d.mass:.4f} kg")]
    if result.center_of_mass is not None:
        rows.append(
            ("centre of mass", f"{_three(1e3 * result.center_of_mass, 2)} mm", f"{1e3 * d.center_of_mass:.2f} mm")
        )
    if result.R_flange_sensor is not None:
        rpy = np.degrees(rpy_from_rotation(result.R_flange_sensor))
        rows.append(("sensor mounting", f"{_three(rpy, 2)} deg (rpy)", f"{np.degrees(d.rotation):.3f} deg"))
    if result.gravity is not None:
        rows.append(("base tilt", f"{np.degrees(result.tilt):.2f} deg", f"{np.degrees(d.tilt):.3f} deg"))
    rows += [
        ("force bias", f"{_three(bias[:3], 3)} N", f"{d.force_bias:.3f} N"),
        ("torque bias", f"{_three(bias[3:], 4)} Nm", f"{d.torque_bias:.4f} Nm"),
    ]
    lines = [f"{name:16}{value:44}+- {deviation}" for name, value, deviation in rows]
    lines += [
        "",
        f"{int(result.used.sum())} poses used of {len(result.used)}, excitation {result.excitation:.3f} (0.1 and more "
        f"is good), condition number {result.condition:.0f}",
        f"residual  {_three(channels[:3], 3)} N   {_three(channels[3:], 4)} Nm  (RMS per axis)",
        f"noise     {result.noise[0]:.3f} N   {result.noise[1]:.4f} Nm  (one sample)",
    ]
    return "\n".join([*lines, *(f"note: {note}" for note in result.notes)])


def figure(result: ToolCalibration, path: str | Path) -> None:
    """Residual of every pose against the noise of one sample; dropped poses are hollow."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    number = np.arange(1, len(result.used) + 1)
    chart, axes = pyplot.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    parts = ((slice(0, 3), "N", "force"), (slice(3, 6), "Nm", "torque"))
    for axis, (part, unit, what), level in zip(axes, parts, result.noise, strict=True):
        for k, (name, colour) in enumerate(zip("xyz", ("C3", "C2", "C0"), strict=True)):
            values = result.residual[:, part][:, k]
            fill = [colour if used else "none" for used in result.used]
            axis.scatter(number + 0.15 * (k - 1), values, facecolors=fill, edgecolors=colour, label=name)
        axis.axhspan(-level, level, color="0.9", zorder=0, label="noise of one sample")
        axis.axhline(0.0, color="0.6", linewidth=0.8)
        axis.set_ylabel(f"{what} residual [{unit}]")
    axes[0].legend(ncols=4, fontsize="small")
    axes[1].set_xlabel("pose")
    axes[0].set_title(f"Tool {result.mass:.3f} kg, {result.robot}: what the model leaves over")
    chart.savefig(path, dpi=120)
    pyplot.close(chart)


def _three(values: np.ndarray, digits: int) -> str:
    return " ".join(f"{x:9.{digits}f}" for x in values)
