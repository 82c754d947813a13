"""ur-admittance stability: how stiff a surface may be."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.check import seconds
from ur_admittance.cli.console import wrapped
from ur_admittance.cli.options import (
    JsonOption,
    OverwriteOption,
    SetOption,
    assignments,
    check_output,
    parameters_from,
    within,
)
from ur_admittance.errors import ParameterError
from ur_admittance.given import Bounds
from ur_admittance.outputs import PICTURES
from ur_admittance_lab.commands.lab_options import FigureOption, TwinOption, twin_from

if TYPE_CHECKING:
    from ur_admittance.analysis.axis_loop import Loop
    from ur_admittance.params import Parameters

AXES = ("x", "y", "z")
STIFFNESS, SERVO = Bounds(1.0, 1e8, "N/m"), Bounds(0.1, 1e4, "Hz")


def stability(
    preset: Annotated[str | None, typer.Option(help="Preset or parameter file; default: the defaults.")] = None,
    set_: SetOption = None,
    delay: Annotated[
        str | None, typer.Option(help="Pure delay of the robot, such as 10ms; default: from robot.response_time.")
    ] = None,
    servo: Annotated[
        float | None, within("--servo", bounds=SERVO, help="Corner frequency of the robot's servo [Hz], with --delay.")
    ] = None,
    stiffness: Annotated[
        float, within("--stiffness", bounds=STIFFNESS, help="Surface stiffness [N/m] to find the damping for.")
    ] = 1e4,
    arm_stiffness: Annotated[
        float | None, within("--arm-stiffness", bounds=STIFFNESS, help="Stiffness of the arm at its tool [N/m].")
    ] = None,
    twin: TwinOption = None,
    axis: Annotated[str | None, typer.Option(help="x, y or z; default: the weakest.")] = None,
    as_json: JsonOption = False,
    figure: FigureOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Which surfaces are safe; which damping a surface needs; how the arm feels to a hand."""
    from ur_admittance.analysis.axis_loop import SERVO_LAG, Arm, loop_of
    from ur_admittance.analysis.compliance import edge_of_stability

    check_output("--figure", figure, PICTURES, overwrite)
    if axis is not None and axis not in AXES:
        raise ParameterError(f"--axis {axis}: must be one of {', '.join(AXES)}.")
    if servo is not None and delay is None:
        raise ParameterError(f"--servo {servo:g} Hz: needs --delay, too.")
    parameters = parameters_from(preset)
    identified = twin_from(twin)
    if identified is not None:
        if delay is not None or servo is not None or arm_stiffness is not None:
            raise ParameterError("--twin: has delay, servo and stiffness of the arm; leave out the options for them.")
        parameters = parameters.changed(identified.parameters())
    parameters = parameters.changed(assignments(set_ or []))
    arm = replace(Arm(), stiffness=arm_stiffness) if arm_stiffness else Arm()
    pure = None if delay is None else seconds(delay)
    lag = None if pure is None else (1.0 / (2.0 * math.pi * servo) if servo else SERVO_LAG)
    if pure is not None and lag is not None:
        parameters = parameters.changed({"robot.response_time": pure + lag})
    loops = {
        i: loop_of(parameters, i, arm, pure, lag) if identified is None else identified.loop(parameters, i)
        for i in _axes(parameters, axis)
    }
    chosen, loop = min(loops.items(), key=lambda item: edge_of_stability(item[1]))
    result = figures(loop, chosen, stiffness, parameters.robot.response_time == 0.0)
    result |= in_a_hand(loops, parameters.admittance.mass)
    if figure is not None:
        from ur_admittance_lab.stability.stability_map import save

        save(loop, preset or "default parameters", figure)
    if as_json:
        typer.echo(
            json.dumps(
                {k: v if not isinstance(v, float) or math.isfinite(v) else None for k, v in result.items()}, indent=2
            )
        )
        return
    _print(result, parameters.contact.stabilizer)
    if identified is not None and identified.friction.any():
        friction = f"joint friction, {identified.friction_at_tool().max():.2g} N at the tool"
        typer.echo(wrapped(f"{'left out':18} {friction}: contact needs up to a fifth more damping; try sim --twin", 19))
    if figure is not None:
        typer.echo(f"figure: {figure}")


def _axes(parameters: "Parameters", axis: str | None) -> list[int]:
    """The one that was asked for, or the compliant ones."""
    if axis is not None:
        return [AXES.index(axis)]
    return [i for i in range(3) if parameters.admittance.enabled_axes[i]] or [0, 1, 2]


def figures(loop: "Loop", axis: int, stiffness: float, assumed: bool) -> dict[str, Any]:
    """All numbers that the command shows; infinite: no limit."""
    from ur_admittance.analysis.stability import margin_of
    from ur_admittance_lab.stability.eigenvalues import (
        RESERVE,
        is_stable,
        largest_safe_stiffness,
        largest_stable_stiffness,
        sufficient_damping,
    )

    felt = margin_of(loop, axis, assumed)
    needed = sufficient_damping(loop, stiffness)
    return {
        "axis": AXES[axis],
        "mass": loop.mass,
        "damping": loop.damping,
        "loop_delay_s": loop.loop_delay,
        "delay_s": loop.delay,
        "servo_lag_s": loop.lag,
        "sensor_delay_s": loop.sensor_delay,
        "filter_s": loop.filter_time,
        "response_assumed": assumed,
        "arm_stiffness": loop.arm.stiffness,
        "stable_stiffness": largest_stable_stiffness(loop),
        "safe_stiffness": largest_safe_stiffness(loop),
        "stiffness": stiffness,
        "stable_there": bool(is_stable(loop, stiffness)),
        "minimum_damping": needed,
        "recommended_damping": RESERVE * needed,
        "passive_up_to_hz": felt.passive_up_to,
        "apparent_mass": felt.apparent_mass,
        "apparent_damping": felt.apparent_damping,
        "apparent_stiffness": felt.apparent_stiffness,
    }


def in_a_hand(loops: "Mapping[int, Loop]", asked: Sequence[float]) -> dict[str, Any]:
    """Of the axis that is nearest to buzzing in a hand."""
    from ur_admittance.analysis.compliance import lightest_mass

    lightest = {i: lightest_mass(loop) for i, loop in loops.items()}
    worst = max(loops, key=lambda i: lightest[i] / loops[i].mass)
    return {
        "held_axis": AXES[worst],
        "held_mass": loops[worst].mass,
        "asked_mass": asked[worst],
        "lightest_mass": lightest[worst],
        "can_be_held": loops[worst].mass >= lightest[worst],
    }


def _print(r: dict[str, Any], stabilizer: bool) -> None:
    def surface(value: float) -> str:
        return "any stiffness" if math.isinf(value) else f"{value / 1e3:.3g} kN/m"

    finite = math.isfinite(r["stable_stiffness"])
    help_ = ", where the stabiliser has to help" if finite and stabilizer else ""
    source = "typical, not measured: see measure-response" if r["response_assumed"] else "of this robot"
    parts = f"delay {1e3 * r['delay_s']:.1f}, servo {1e3 * r['servo_lag_s']:.1f} ({source})"
    if r["sensor_delay_s"] > 0.0:
        parts = f"sensor {1e3 * r['sensor_delay_s']:.1f}, {parts}"
    verdict = "stable" if r["stable_there"] else "bounces"
    lines = [
        ("axis", f"{r['axis']}, mass {r['mass']:.3g} kg inside, damping {r['damping']:.3g} Ns/m"),
        ("loop delay", f"{1e3 * r['loop_delay_s']:.1f} ms: {parts}, filter {1e3 * r['filter_s']:.1f}, one tick"),
        ("safe up to", f"{surface(r['safe_stiffness'])}: half the damping would be enough"),
        ("stable up to", f"{surface(r['stable_stiffness'])}{': stiffer surfaces bounce' if finite else ''}{help_}"),
        (
            f"on {r['stiffness'] / 1e3:g} kN/m",
            f"{verdict}; needs at least {r['minimum_damping']:.3g} Ns/m, better {r['recommended_damping']:.3g}",
        ),
        ("passive to a hand", _passive(r["passive_up_to_hz"])),
        ("feels like", _feel(r)),
        ("in a hand", _held(r)),
    ]
    for name, text in lines:
        typer.echo(wrapped(f"{name:18} {text}", 19))


def _passive(frequency: float) -> str:
    if math.isinf(frequency):
        return "however fast it is shaken"
    return f"up to {frequency:.2g} Hz; shaken faster, the arm gives energy back"


def _feel(r: dict[str, Any]) -> str:
    if r["apparent_stiffness"] > 0.0:
        return f"{r['apparent_damping']:.3g} Ns/m at 1 Hz and no mass: the arm bends before it yields"
    return f"{r['apparent_mass']:.3g} kg and {r['apparent_damping']:.3g} Ns/m at 1 Hz"


def _held(r: dict[str, Any]) -> str:
    """The mass that a hand can hold, and how much of it is left."""
    taken = r["asked_mass"] - r["held_mass"]
    inside = f"{r['held_mass']:.3g} kg inside"
    if r["held_axis"] != r["axis"]:
        inside = f"axis {r['held_axis']}: {inside}"
    if taken > 0.0:
        inside += f", {taken:.3g} of the {r['asked_mass']:.3g} asked for are taken off by compensate_mass"
    if math.isinf(r["lightest_mass"]):
        return f"it buzzes, however heavy the law is ({inside})"
    if not r["can_be_held"]:
        return f"it buzzes: the law needs {r['lightest_mass']:.3g} kg ({inside})"
    if r["lightest_mass"] == 0.0:
        return f"quiet with any mass ({inside})"
    return f"quiet from {r['lightest_mass']:.3g} kg on ({inside}); a pose that is light sideways needs a third more"
