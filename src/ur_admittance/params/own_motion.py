"""What an active arm does although nobody pushes it, in words: the part of its motion that parameters ask for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import PARAMS, Frame, new
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

AXES = ("x", "y", "z")
FRAMES = {Frame.BASE: "base", Frame.TCP: "tool", Frame.TASK: "task", Frame.NORMAL: "task, tilted to the surface"}


def own_motion(params: Any) -> str:
    """Direction, speed and end of the motion that admittance.desired_wrench causes; empty: without a push the arm
    stands. params: PARAMS, of a controller or of a recording.

    M a + D v + K x = f - f_desired with f = 0: the tool leaves against the desired wrench, with f_desired / D at most,
    on a force axis with contact.approach_speed at most, with a spring until K x balances it."""
    parts = [_axis(params, int(i)) for i in np.flatnonzero(params["desired_wrench"] * params["enabled"])]
    if not parts:
        return ""
    axes = f"axes of the {FRAMES[Frame(int(params['control_frame']))]}"
    return f"without a push the tool {' and '.join(parts)} ({axes}; admittance.desired_wrench)"


def own_motion_of(parameters: Parameters) -> str:
    """The same before there is a controller."""
    return own_motion(_record(parameters))


def moves_more(now: Parameters, then: Parameters) -> bool:
    """Whether without a push the arm would move by itself where it does not now: about another axis or the other way,
    faster, with more force, along axes that were turned, or farther because a spring became softer."""
    a, b = _record(now), _record(then)
    speed_a, speed_b = _speeds(a), _speeds(b)
    more = (speed_a * speed_b <= 0.0) | (np.abs(speed_b) > np.abs(speed_a))
    more |= (np.abs(b["desired_wrench"]) > np.abs(a["desired_wrench"])) | (b["stiffness"] < a["stiffness"])
    turned = any(not np.array_equal(x, y) for x, y in zip(_axes(a), _axes(b), strict=True))
    return bool(np.any((speed_b != 0.0) & (more | turned)))


def _record(parameters: Parameters) -> Any:
    """No arm matters for what is read of it here."""
    record = new(PARAMS)[0]
    fill(record, parameters, robot_model("ur5e"))
    return record


def _axes(params: Any) -> tuple[Any, ...]:
    """On what the directions of the control axes depend."""
    return params["control_frame"], params["R_base_task"], params["chain_rotation"][6]


def _speeds(params: Any) -> NDArray[np.float64]:
    """Along and about each control axis without a push, at most (6,) [m/s, rad/s]."""
    return np.array([_speed(params, i) if params["enabled"][i] else 0.0 for i in range(6)])


def _speed(params: Any, i: int) -> float:
    speed = min(abs(params["desired_wrench"][i]) / params["damping"][i], params["max_velocity"][i // 3])
    if params["force_axes"][i]:
        speed = min(speed, params["approach_speed"][i // 3])
    return float(-np.sign(params["desired_wrench"][i]) * speed)


def _axis(params: Any, i: int) -> str:
    wanted, speed = float(params["desired_wrench"][i]), _speed(params, i)
    force, metre, does = (("N", "m", "moves along"), ("Nm", "rad", "turns about"))[i // 3]
    way = f"{does} {'-' if wanted > 0.0 else '+'}{AXES[i % 3]} at up to {abs(speed):.3g} {metre}/s"
    end = f"until it is pushed back with {abs(wanted):g} {force}"
    if params["stiffness"][i] > 0.0:
        end += f" or by its spring after {abs(wanted) / float(params['stiffness'][i]):.3g} {metre}"
    return f"{way} {end}"
