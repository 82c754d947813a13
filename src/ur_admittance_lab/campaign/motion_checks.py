"""What must always hold, as functions over an episode: each gives the worst value and its bound.

Command checks hold in every mode. Measured ones hold where nothing but the command moves the arm: a tool that hits a
wall or a hand that jerks accelerates it beyond any limit, by physics.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status
from ur_admittance_lab.campaign.campaign_episode import REST_WINDOW, STEADY_WINDOW
from ur_admittance_lab.campaign.distances import Judge
from ur_admittance_lab.campaign.view import Reading, View
from ur_admittance_lab.episodes.normal_force import normal_force

Array = NDArray[np.float64]

ROUNDING = 1e-6  # relative, of sums in double precision over thousands of cycles
ANGLE_ROUNDING = 1e-6  # [rad]
SPEED_SLACK = 1.02  # the Jacobian in the middle of a step is exact to second order only
ACCELERATION_SLACK = 1.05  # a path that joints brake along curves by itself
BOX_SLACK = 1e-3  # [m] a wall is braked at in steps of a cycle
CLEARANCE_SLACK = 1e-3  # [m] the same for distances
EVERY = 0.01  # [s] between two looks at the distances: a centimetre of motion at the top speed of most episodes
TOP_SPEED = 1.05  # of the arm's own largest joint speed: its servo overshoots a little
MEASURED_SPEED = 1.3  # the servo is damped for the home pose: a stretched or heavy arm overshoots by a quarter
MEASURED_ACCELERATION = 2.0  # ... and rings by 60 % after a step of acceleration
JERK_SPEED, JERK_ACCELERATION = 1.88, 5.8  # largest first and second derivative of a minimum-jerk step of 1 in 1 s
TOUCHED = 1e-3  # [N] the surfaces' part of the external force has the rounding of a difference
REST = (5e-4, 2e-3)  # [m, rad] by which an arm at rest may stray within the window
STILL = 1e-4  # [m] of the flange when nothing pushes
SLOW = 0.5  # [s] of the moving mean that an oscillation departs from: the slowest bounce has 3 Hz
OSCILLATION = 1.0  # [N] largest departure of a settled contact
SLIDING = 3.0  # [N] departure from the mean while sliding over slopes and curves
RESIDUAL = 1.0  # [N] peak to peak of a settled normal force, noise and all
STIFFEST = 3e4  # [N/m] surface up to which that is promised
RAISED = 1.01  # of the chosen damping
NOISE = 10.0  # ... both beside this many standard deviations of the sensor's noise, which a force axis follows


def finite(v: View) -> Iterator[Reading]:
    """Every number of every command."""
    # All fields have eight bytes. Read as floats, the whole numbers among them (codes, never negative) are finite.
    words = np.ascontiguousarray(v.command).view(np.float64).reshape(len(v.command), -1)
    bad = ~np.isfinite(words).all(axis=1)
    yield Reading("finite", float(np.count_nonzero(bad)), 0.0, "cycles", float(np.argmax(bad)) * v.period)
    yield Reading("diverged", float(v.trace.diverged), 0.0, "", len(v.command) * v.period)


def joints(v: View) -> Iterator[Reading]:
    """Position, speed and acceleration of the commanded joints, and the distance from one command to the next."""
    q, qd, mode = v.command["q"], v.command["qd"], v.command["mode"]
    low, high = v.in_force("joint_lower"), v.in_force("joint_upper")
    anew = np.concatenate([[False], restarted(v)])[:, None]  # by its own inertia a stopped arm may be outside
    carried = np.maximum.accumulate(np.where(anew, _beyond(v.sample["q"], low, high), 0.0))
    yield v.worst("joint_position", _beyond(q, low, high), ANGLE_ROUNDING + carried, "rad")
    acceleration = np.broadcast_to(v.in_force("joint_acceleration"), q.shape)
    speed = v.eased(np.broadcast_to(v.in_force("joint_velocity"), q.shape))
    yield v.worst("joint_speed", np.abs(qd), speed * (1.0 + ROUNDING), "rad/s")
    step = np.abs(np.diff(qd, axis=0)) / v.period
    bound = np.maximum(acceleration[1:], acceleration[:-1]) * (1.0 + ROUNDING)
    changed = np.diff(mode) != 0
    yield v.worst("joint_acceleration", np.where(changed[:, None], 0.0, step), bound, "rad/s2", 1)
    yield v.worst("step_at_mode_change", np.where(changed[:, None], step, 0.0), bound, "rad/s2", 1)
    moved = np.where(restarted(v)[:, None], 0.0, np.abs(np.diff(q, axis=0)) / v.period)
    yield v.worst("position_step", moved, speed[1:] * (1.0 + ROUNDING), "rad/s", 1)


def _beyond(q: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.maximum(np.maximum(low - q, q - high), 0.0))


def restarted(v: View) -> NDArray[np.bool_]:
    """Cycles whose command may start anew where the arm is, and does: at activation, and stopped with data that are or
    just were lost."""
    q, mode, trouble = v.command["q"], v.command["mode"], unfit(v)
    near = (np.abs(q - v.sample["q"]) <= v.period * np.abs(v.command["qd"]) + ANGLE_ROUNDING).all(axis=1)[1:]
    activated = (np.diff(mode) != 0) & (mode[1:] == Mode.ACTIVE)
    return np.asarray(activated | (near & (mode[1:] != Mode.ACTIVE) & (trouble[1:] | trouble[:-1])))


def unfit(v: View) -> NDArray[np.bool_]:
    """Cycles whose sample must not move an arm: not finite, too old, or the robot itself has stopped."""
    u = v.sample
    bad = np.asarray(u["external_status"] != Status.OK)
    for name in ("q", "qd", "wrench"):
        bad = bad | ~np.isfinite(u[name]).all(axis=1)
    bad |= u["joint_age"] > v.in_force("joint_state_timeout")
    return np.asarray(bad | (u["wrench_age"] > v.in_force("wrench_timeout")))


def tool(v: View) -> Iterator[Reading]:
    """Speed and acceleration of the commanded tool."""
    stopping = v.command["mode"] != Mode.ACTIVE
    for part, kind, length in ((0, "linear", "m"), (1, "angular", "rad")):
        twist = v.command["twist"][:, 3 * part : 3 * part + 3]
        acceleration = np.broadcast_to(v.in_force("max_acceleration")[:, part], len(twist))
        cap = v.eased(np.broadcast_to(v.in_force("max_velocity")[:, part], len(twist)))
        speed = np.linalg.norm(twist, axis=1)
        yield v.worst(f"{kind}_speed", np.where(stopping, 0.0, speed), cap * SPEED_SLACK, f"{length}/s")
        yield v.worst(f"{kind}_speed_stopping", np.where(stopping, speed, 0.0), cap * SPEED_SLACK, f"{length}/s")
        change = np.linalg.norm(np.diff(twist, axis=0), axis=1) / v.period
        change[v.changed - 1] = 0.0  # with another TCP the twist is that of another point
        change[restarted(v)] = 0.0  # ... and where the command starts anew, of another place
        bound = np.maximum(acceleration[1:], acceleration[:-1]) * ACCELERATION_SLACK
        yield v.worst(f"{kind}_acceleration", np.where(stopping[1:], 0.0, change), bound, f"{length}/s2", 1)
        yield v.worst(f"{kind}_acceleration_stopping", np.where(stopping[1:], change, 0.0), bound, f"{length}/s2", 1)


def box(v: View) -> Iterator[Reading]:
    """The tool stays between the walls: as commanded, and as measured up to what the load bends the arm."""
    low, high = v.in_force("workspace_min"), v.in_force("workspace_max")
    if not (np.isfinite(low).any() or np.isfinite(high).any()):
        return
    yield v.worst("box", _outside(v.commanded_position, low, high), BOX_SLACK, "m")
    measured = np.where(v.fresh, _outside(v.command["p_tcp"], low, high), 0.0)
    force = np.linalg.norm(v.trace.hand[:, :3] + v.trace.contact[:, :3], axis=1)
    yield v.worst("measured_box", measured, BOX_SLACK + v.compliance * np.maximum.accumulate(force), "m")


def clearance(v: View) -> Iterator[Reading]:
    """The arm keeps its distance to itself, boxes and table, by another program: as commanded, and as measured up to
    what the load bends the arm."""
    if not v.episode.clear:
        return
    judge, step = Judge(v.sets["shapes"][0], v.model), max(1, v.row(EVERY))
    wanted = float(v.sets["shapes"]["clearance"][0])
    force = np.linalg.norm(v.trace.hand[:, :3] + v.trace.contact[:, :3], axis=1)
    bend = v.compliance * np.maximum.accumulate(force)[::step]
    measured = np.where(v.fresh[:, None], v.sample["q"], v.command["q"])
    for check, q, slack in (("clearance", v.command["q"], 0.0), ("measured_clearance", measured, bend)):
        missing = np.maximum(wanted - judge.smallest(q[::step]), 0.0)
        reading = v.worst(check, missing, CLEARANCE_SLACK + slack, "m")
        yield replace(reading, at=reading.at * step)


def _outside(p: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.maximum(low - p, p - high).max(axis=1, initial=0.0))


def measured(v: View) -> Iterator[Reading]:
    """The arm itself: never above its top speed; and in calm episodes inside the caps of the tool."""
    speed = np.where(v.fresh[:, None], np.abs(v.sample["qd"]), 0.0)
    yield v.worst("measured_joint_speed", speed, v.model.velocity * TOP_SPEED, "rad/s")
    rise = v.episode.ramp
    if rise is None or np.abs(v.trace.contact).max() > TOUCHED:
        return
    bend = v.compliance * v.episode.load  # [m] under the largest push
    cap, most = v.in_force("max_velocity")[:, 0], v.in_force("max_acceleration")[:, 0]
    velocity = np.diff(v.command["p_tcp"], axis=0) / v.period
    bound = cap.max() * MEASURED_SPEED + JERK_SPEED * bend / rise
    yield v.worst("measured_linear_speed", np.linalg.norm(velocity, axis=1), bound, "m/s", 1)
    change = np.linalg.norm(np.diff(velocity, axis=0), axis=1) / v.period
    bound = most.max() * MEASURED_ACCELERATION + JERK_ACCELERATION * bend / rise**2
    yield v.worst("measured_linear_acceleration", change, bound, "m/s2", 2)


def rest(v: View) -> Iterator[Reading]:
    """Released and with everything zero, the arm comes to rest and stays there. A spring may drag it along what is in
    its way for longer than the law needs: then it gets slower."""
    start = v.episode.rest
    if start is None or v.trace.diverged:
        return
    last = v.window(start, v.t[-1])
    bounds = REST
    if v.episode.dragged:
        before = [float(moved.max()) for moved in strayed(v, v.window(start - REST_WINDOW, start))]
        bounds = max(REST[0], before[0]), max(REST[1], before[1])
    for check, moved, bound, unit in zip(("rest", "rest_angle"), strayed(v, last), bounds, ("m", "rad"), strict=True):
        yield v.worst(check, moved, bound, unit, last.start)


def strayed(v: View, part: slice) -> tuple[Array, Array]:
    """Distance [m] and angle [rad] from the mean pose of the tool."""
    p, R = v.command["p_tcp"][part], v.command["R_tcp"][part].reshape(-1, 9)
    turned = np.linalg.norm(R - R.mean(axis=0), axis=1) / np.sqrt(2.0)  # |R1 - R0| = sqrt(2) angle for small angles
    return np.linalg.norm(p - p.mean(axis=0), axis=1), turned


def still(v: View) -> Iterator[Reading]:
    """Nothing pushes: whatever changes, the flange does not move."""
    if v.episode.still:
        p = v.flange_position
        yield v.worst("still", np.linalg.norm(p - p[0], axis=1), STILL, "m")


def steady(v: View) -> Iterator[Reading]:
    """A settled contact does not oscillate, neither pressed by the arm nor by a hand that holds the tool."""
    if v.trace.diverged:
        return
    noise = NOISE * v.episode.case.sensor.noise_force
    if v.episode.steady is not None:
        start, end = v.episode.steady, v.episode.steady + STEADY_WINDOW
        for check, wrench in (("oscillation", v.trace.contact), ("hand_oscillation", v.trace.hand)):
            force = wrench[v.window(start, end), :3]
            yield v.worst(check, oscillation(force, v.row(SLOW)), OSCILLATION + noise, "N", v.row(start + 0.5 * SLOW))
    if v.episode.sliding is not None:
        start, end = v.episode.sliding
        force = np.linalg.norm(v.trace.contact[v.window(start, end), :3], axis=1)  # friction is a fixed share of it
        yield v.worst("sliding", np.abs(force - force.mean()), SLIDING + noise, "N", v.row(start))


def residual(v: View) -> Iterator[Reading]:
    """A surface that is pressed by a force axis feels a constant force, before and after it was slid over."""
    case = v.episode.case
    if v.trace.diverged or case.environment.stiffness > STIFFEST or not v.episode.residual:
        return
    force = normal_force(case, v.trace)
    for start in v.episode.residual:
        part = force[v.window(start, start + STEADY_WINDOW)]
        middle = 0.5 * (part.max() + part.min())
        yield v.worst("residual", 2.0 * np.abs(part - middle), RESIDUAL, "N", v.row(start))


def pressed(v: View) -> Iterator[Reading]:
    """The normal force is the wanted one, not only a steady one."""
    wanted = v.episode.pressed
    if wanted is None or v.trace.diverged:
        return
    force = normal_force(v.episode.case, v.trace)[v.window(wanted.start, wanted.end)]
    rows = max(1, v.row(wanted.mean_over))
    slow = np.convolve(force, np.full(rows, 1.0 / rows), "valid")
    error = float(np.sqrt(np.mean(np.square(slow - wanted.force)))) if len(slow) else np.inf  # the arm stopped early
    yield Reading("force_error", error, wanted.rms, "N", wanted.start)


def raised(v: View) -> Iterator[Reading]:
    """Where nobody is stiff, the damping stays what the user chose."""
    if v.episode.unraised:
        law = v.episode.case.parameters.admittance
        more = (v.command["damping"] > RAISED * np.array(law.effective_damping)).any(axis=1)
        seconds = float(np.count_nonzero(more)) * v.period
        yield Reading("raised", seconds, 0.0, "s", float(np.argmax(more)) * v.period)


def oscillation(force: Array, rows: int) -> Array:
    """Departure from the moving mean over ``rows`` cycles, where that is whole: a slow change is no oscillation."""
    sums = np.cumsum(np.vstack([np.zeros(3), force]), axis=0)
    mean = (sums[rows:] - sums[:-rows]) / rows
    first = (rows - 1) // 2
    return np.asarray(np.linalg.norm(force[first : first + len(mean)] - mean, axis=1))


MOTION: tuple[Callable[[View], Iterator[Reading]], ...] = (
    finite, joints, tool, box, clearance, measured, rest, still, steady, residual, pressed, raised,
)  # fmt: skip
