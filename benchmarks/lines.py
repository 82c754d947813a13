"""Straight lines to target poses: how far the tool leaves them, whether it arrives, where it stops and what it says.

    python -m benchmarks.lines --first 40000 --count 1000

Every line is drawn from its number alone: type, pose, tool, and where to. The arm is a perfect servo that nobody
pushes; the target is a pose that it can take in a configuration near by. Where the flange is, Pinocchio says.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from ur_admittance.control.references import waiting
from ur_admittance.core.limits.obstacles import nearest
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Limit, Mode, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance_lab.urdf_writer import generate

Array = NDArray[np.float64]

TYPES = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")
DT = 0.002
AWAY = 0.02  # [m/rad] smallest singular value at the start: a line that begins in a singularity begins bent
LEFT = (0.001, 0.01)  # [m] from the line
THERE = (1e-4, 1e-3)  # [m, rad]
STANDS = 1e-4  # [rad/s] of the fastest joint, for a second
NEWTON = 1e-7  # [m] from the line: Newton's steps have found the joints
JUMP = 0.5  # [rad] in one step of the way
PATIENCE = 30.0  # [s] beyond five times what the reference alone takes


@dataclass(frozen=True)
class Line:
    """What became of one line."""

    number: int
    robot: str
    off: float  # largest distance of the tool from it [m]
    turned: float  # of its orientation from the shortest turn [rad]
    arrived: bool
    stands: bool
    time: float  # until it arrived or stood [s]
    ideal: float  # of the reference alone [s]
    left: float  # distance to the target at the end [m]
    closest: float  # smallest singular value on the way [m/rad]
    limits: int  # Limit flags at the end
    said: bool  # that its reference waits
    goes_on: float  # smallest singular value on the rest of the way of an arm that stands, 0: there is none


def draw(number: int, turned: float, bodies: bool, leave: bool) -> tuple[Array, Array, Parameters, str]:
    """Start, a configuration of the target, parameters, type of arm."""
    rng = np.random.default_rng((32, number))
    name = TYPES[rng.integers(len(TYPES))]
    model, params = robot_model(name), new(PARAMS)
    given = {"tool.tcp": [0.0, 0.0, float(rng.choice([0.0, 0.1, 0.2])), 0.0, 0.0, 0.0], "collision.enabled": bodies}
    if leave:
        given["reference.at_singularity"] = "leave"
    parameters = Parameters().changed(given)
    fill(params[0], parameters, model)
    while True:
        q = rng.uniform(-2.8, 2.8, 6)
        goal = q + rng.uniform(-turned, turned, 6)
        inside = np.all((goal > model.lower) & (goal < model.upper) & (q > model.lower) & (q < model.upper))
        weak = [np.linalg.svd(model.jacobian(x), compute_uv=False)[-1] < AWAY for x in (q, goal)]
        hits = bodies and min(nearest(params[0], q), nearest(params[0], goal)) < parameters.collision.clearance + 0.01
        if inside and not any(weak) and not hits:
            return q, goal, parameters, name


def alone(distance: float, angle: float, parameters: Parameters) -> float:
    """Time that a reference needs which nothing holds up [s]: at 80 % of the caps, braking with half of the limits."""
    longest = 0.0
    for way, near, cap, most in (
        (distance, THERE[0], parameters.max_linear_velocity, parameters.max_linear_acceleration),
        (angle, THERE[1], parameters.max_angular_velocity, parameters.max_angular_acceleration),
    ):
        time, speed = 0.0, 0.0
        while way > near:
            speed = min(0.8 * cap, np.sqrt(0.5 * most * way), 4.0 * way, speed + most * DT)
            way -= speed * DT
            time += DT
        longest = max(longest, time)
    return longest


class Judge:
    """Where the tool is, by Pinocchio."""

    def __init__(self, name: str, tool: Array) -> None:
        self.model = pin.buildModelFromXML(generate(robot_model(name)))
        self.data, self.frame, self.tool = self.model.createData(), self.model.getFrameId("tool0"), tool

    def pose(self, q: Array) -> tuple[Array, Array]:
        pin.framesForwardKinematics(self.model, self.data, pin.integrate(self.model, pin.neutral(self.model), q))
        flange = self.data.oMf[self.frame]
        return flange.rotation.copy(), flange.translation + flange.rotation @ self.tool

    def goes_on(self, q: Array, goal: tuple[Array, Array], steps: int = 4000) -> float:
        """Smallest singular value on the straight rest of the way, walked in small steps of Newton's; 0: there is no
        such way, the joints would have to jump."""
        (R, p), (R1, p1), q, least = self.pose(q), goal, q.copy(), np.inf
        way, turn = p1 - p, pin.log3(R1 @ R.T)
        for step in range(1, steps + 1):
            p_next, R_next, before = p + step / steps * way, pin.exp3(step / steps * turn) @ R, q.copy()
            for _ in range(6):
                R_now, p_now = self.pose(q)
                J = self.jacobian(q)
                q = q + np.linalg.lstsq(J, np.concatenate([p_next - p_now, pin.log3(R_next @ R_now.T)]), rcond=None)[0]
            R_now, p_now = self.pose(q)
            if np.linalg.norm(p_next - p_now) > NEWTON or np.abs(q - before).max() > JUMP:
                return 0.0
            least = min(least, float(np.linalg.svd(self.jacobian(q), compute_uv=False)[-1]))
        return least

    def jacobian(self, q: Array) -> Array:
        """Of the tool, base axes (6, 6)."""
        given = pin.integrate(self.model, pin.neutral(self.model), q)
        J = pin.computeFrameJacobian(self.model, self.data, given, self.frame, pin.LOCAL_WORLD_ALIGNED)
        J[:3] -= pin.skew(self.pose(q)[0] @ self.tool) @ J[3:]
        return np.asarray(J)


def run(number: int, turned: float, bodies: bool = False, leave: bool = False) -> Line:
    q, goal, parameters, name = draw(number, turned, bodies, leave)
    params, state, sample, command = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
    fill(params[0], parameters, robot_model(name))
    judge = Judge(name, np.array(parameters.tool.tcp[:3]))
    (R0, p0), (R1, p1) = judge.pose(q), judge.pose(goal)
    way, turn = p1 - p0, pin.log3(R1 @ R0.T)
    distance, angle = float(np.linalg.norm(way)), float(np.linalg.norm(turn))
    ideal = alone(distance, angle, parameters)
    u, s, c = sample[0], state[0], command[0]
    u["dt"], u["q"], u["request"] = DT, q, Request.ACTIVATE
    step = tick.on(params, state, sample, command)
    step()
    assert c["mode"] == Mode.ACTIVE, (number, c["status"])
    u["request"], u["target_id"], u["target_position"], u["target_rotation"] = 0, 1, p1, R1
    measured, speed, sent, moving = u["q"], u["qd"], s["q_command"], s["qd_command"]
    off = turned = time = 0.0
    closest, still, arrived = np.inf, 0, False
    R, p = R0, p0
    for k in range(round((5.0 * ideal + PATIENCE) / DT)):
        measured[:], speed[:] = sent, moving
        step()
        if k % 5:
            continue
        R, p = judge.pose(sent)
        along = np.clip((p - p0) @ way / distance**2, 0.0, 1.0)
        off = max(off, float(np.linalg.norm(p - p0 - along * way)))
        rest = pin.log3(R1 @ R.T)
        done = pin.log3(R @ R0.T)
        aside = done - (done @ turn) / angle**2 * turn
        turned = max(turned, float(np.linalg.norm(aside)))
        closest = min(closest, float(c["sigma_min"]))
        time = k * DT
        arrived = np.linalg.norm(p1 - p) < THERE[0] and np.linalg.norm(rest) < THERE[1]
        still = still + 1 if np.abs(moving).max() < STANDS else 0
        if arrived or still > 100 or c["mode"] != Mode.ACTIVE:
            break
    left = float(np.linalg.norm(p1 - p))
    stands = still > 100
    rest_way = judge.goes_on(sent.copy(), (R1, p1)) if stands and not arrived else 0.0
    return Line(
        number,
        name,
        off,
        turned,
        bool(arrived),
        stands,
        time,
        ideal,
        left,
        closest,
        int(c["limits"]),
        bool(waiting(c)),
        rest_way,
    )


def report(lines: list[Line]) -> None:
    off = np.array([line.off for line in lines])
    arrived = [line for line in lines if line.arrived]
    stood = [line for line in lines if line.stands and not line.arrived]
    print(
        f"{len(lines)} lines: left by more than 1 mm {np.sum(off > LEFT[0])}, 10 mm {np.sum(off > LEFT[1])}, ", end=""
    )
    print(
        f"worst {1e3 * off.max():.3g} mm; turned by more than 10 mrad {sum(x.turned > 0.01 for x in lines)}, ", end=""
    )
    print(f"worst {max(x.turned for x in lines):.3g} rad")
    print(f"arrived {len(arrived)}, stopped in front {len(stood)}, ", end="")
    print(f"with the sentence {sum(line.said for line in stood)}, neither {len(lines) - len(arrived) - len(stood)}")
    passable = sorted(line.goes_on for line in stood if line.goes_on > 0.0)
    print(f"stopped although the line goes on: {len(passable)}, smallest singular value there {np.round(passable, 5)}")
    ratio = np.array([line.time / line.ideal for line in arrived])
    print(f"time over that of the reference alone: mean {ratio.mean():.3f}, ", end="")
    print(f"median {np.median(ratio):.3f}, longest {ratio.max():.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=40000)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--turned", type=float, default=0.6, help="largest difference of a joint of the target [rad]")
    parser.add_argument("--bodies", action="store_true", help="the arm keeps clear of itself, too")
    parser.add_argument("--leave", action="store_true", help="reference.at_singularity: leave")
    parser.add_argument("--show", type=int, default=20, help="that many of the worst")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    lines = [run(number, options.turned, options.bodies, options.leave) for number in numbers]
    report(lines)
    for line in sorted(lines, key=lambda x: (x.arrived or x.stands, -x.off))[: options.show]:
        end = "arrived" if line.arrived else "stands" if line.stands else "neither"
        print(
            f"  {line.number} {line.robot}: {1e3 * line.off:.3g} mm, {line.turned:.3g} rad, "
            f"{end} {1e3 * line.left:.3g} mm from it, "
            f"{line.time:.1f} s (alone {line.ideal:.1f}), sigma {line.closest:.2g}, {Limit(line.limits)!s}"
        )


if __name__ == "__main__":
    main()
