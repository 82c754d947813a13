"""A simulated UR made compliant in real time, which other processes can pull, push, and put something in front of: what
`demo` and `run --robot sim` do.

    live = InteractiveWorld(robot)
    with Mailbox("main", handlers=live.handlers) as mailbox:
        run(controller, robot, clock, mailbox=mailbox, on_tick=live.on_tick)

The messages (runtime/mailbox.py), positions in the base frame:

    {"hand": {"to": [x, y, z], "turn": [rx, ry, rz]}}   the hand holds the tool and wants it there [m, rad]; renew it
    {"hand": "let_go"}
    {"push": {"wrench": [6], "seconds": 1.0}}           about the TCP, base axes [N, Nm]
    {"environment": {"kind": "floor", "stiffness": 1e4}}   in front of the tool, where it is now
    {"arm": {"model": "ur10e", "tool": "gripper"}}      another arm, where that is offered; perhaps "tcp" [m]
    {"scene": {}}                                       answered with what is there, as JSON
"""

import contextlib
import json
import math
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ur_admittance import library
from ur_admittance.control import AdmittanceController
from ur_admittance.errors import SimulationError
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.model.frames import rotation_vector
from ur_admittance.params import Parameters
from ur_admittance.robots.operate import Operation, operate
from ur_admittance.robots.simulated.devices import NOISE, SERVO, TOOLS, PracticeTool, Tool
from ur_admittance.robots.simulated.environment import KINDS, Environment
from ur_admittance.robots.simulated.second import SECOND
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot
from ur_admittance.robots.simulated.world import World
from ur_admittance.runtime.interfaces import Controller, OnTick
from ur_admittance.runtime.mailbox import Handler
from ur_admittance.runtime.report import LoopReport

Array = NDArray[np.float64]

HAND_TIMEOUT_S = 0.5  # a page that has died must not keep holding the tool
RAMP_S = 0.05  # rise and fall of a push: a hand is not a hammer
MAX_PUSH_FORCE, MAX_PUSH_TORQUE, MAX_PUSH_S = 80.0, 10.0, 10.0  # [N], [Nm], [s] under the default over-force stop
STIFFNESS_RANGE = (100.0, 200e3)  # [N/m] foam to steel; a physics step of 1 ms cannot follow a stiffer contact
FARTHEST_TCP = 0.5  # [m] from the flange
INCLINE_RAD = math.radians(15.0)
IDLE_PUSH_N, IDLE_PUSH_S, IDLE_EVERY_S = 12.0, 0.9, 1.8  # what a restless hand does until somebody takes over
# The hand that follows a pointer: of an arm that is held loosely
STIFFNESS = (400.0, 8.0)  # [N/m, Nm/rad]
DAMPING = (25.0, 0.5)  # [Ns/m, Nms/rad]
STRENGTH = 40.0, 2.5  # [N], [Nm] that a person exerts easily; far below the default over-force stop
FOLLOW_S = 0.06  # [s] smoothing of a pointer that reports twenty times a second
FASTEST = 1.0, 2.0  # [m/s], [rad/s]

GEOM_NAMES = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): "plane",
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
}


class PointerHand:
    """A hand that follows somebody's pointer: soft, of limited strength and speed, however the pointer jumps. It grabs
    the tool at once; ``wants`` says where the tool should go."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._R_grab, self._p_grab = world.pose()
        self._wanted = np.zeros(6)  # displacement since the grab [m, rad], base axes
        self._at = np.zeros(6)
        self._time = 0.0
        world.grab(self._path, stiffness=STIFFNESS, damping=DAMPING)

    def wants(self, position: Array, turn: Array) -> None:
        """position of the TCP in the base frame [m]; turn since the grab as rotation vector [rad]."""
        self._wanted[:3], self._wanted[3:] = position - self._p_grab, turn

    def rehearse(self) -> None:
        """Load everything that a pull needs, before the loop runs."""
        self._world.hand.prepare(self._world.time, 0.002)
        self._world.let_go()

    def _path(self, time: float) -> Array:
        """Displacement of the hand: the wanted one, smoothed, with limits on its speed and on its lead over the tool.

        The lead is what stretches the spring, so that |force| <= STRENGTH + DAMPING * FASTEST."""
        dt, self._time = time - self._time, time
        if dt <= 0.0:
            return self._at
        R, p = self._world.pose()
        tool, turned = p - self._p_grab, rotation_vector(R @ self._R_grab.T)
        step = (1.0 - math.exp(-dt / FOLLOW_S)) * (self._wanted - self._at)
        _shorten(step[:3], FASTEST[0] * dt)
        _shorten(step[3:], FASTEST[1] * dt)
        self._at += step
        for part, now, i in ((slice(0, 3), tool, 0), (slice(3, 6), turned, 1)):
            lead = self._at[part] - now
            _shorten(lead, STRENGTH[i] / STIFFNESS[i])
            self._at[part] = now + lead
        return self._at


def _shorten(vector: Array, length: float) -> None:
    """In place, to at most that length."""
    norm = math.sqrt(float(vector @ vector))
    if norm > length:
        vector *= length / norm


class InteractiveWorld:
    """Handlers for the mailbox, and what they leave to be done in every cycle.

    restless: the hand pushes back and forth by itself until the first message, so that a newcomer sees something move.
    each_tick: called, too, and may end the loop.
    tool: what is drawn; choice: another arm may be asked for. The loop then ends, and `wanted` has the answer.
    """

    def __init__(
        self,
        robot: SimulatedRobot,
        restless: bool = False,
        tool: PracticeTool = TOOLS["probe"],
        choice: bool = False,
        each_tick: OnTick | None = None,
    ) -> None:
        self.robot, self.tool, self._each_tick = robot, tool, each_tick
        self.wanted: tuple[str, PracticeTool] | None = None
        self.handlers: dict[str, Handler] = {
            "hand": self._hand,
            "push": self._push,
            "environment": self._environment,
            "scene": self._scene,
        }
        if choice:
            self.handlers["arm"] = self._arm
        self.restless = restless
        self._living: PointerHand | None = None
        self._push_ends = math.inf
        self._hand_ends = math.inf
        self._idle_next, self._idle_sign = 1.5, 1.0
        self._revision = 1
        PointerHand(robot.world).rehearse()

    def on_tick(self, controller: Controller) -> bool:
        """True ends the loop."""
        now = self.robot.world.time
        if now >= self._push_ends or now >= self._hand_ends:
            self._let_go()
        if self.restless and now >= self._idle_next:
            self._start_push(np.array([0.0, self._idle_sign * IDLE_PUSH_N, 0.0, 0.0, 0.0, 0.0]), IDLE_PUSH_S)
            self._idle_next, self._idle_sign = now + IDLE_EVERY_S, -self._idle_sign
        ended = self._each_tick is not None and bool(self._each_tick(controller))
        return ended or self.wanted is not None

    def _hand(self, controller: Controller, value: Any) -> str:
        self.restless = False
        world = self.robot.world
        if value == "let_go":
            self._let_go()
            return "let go"
        if not isinstance(value, dict) or not {"to"} <= set(value) <= {"to", "turn"}:
            raise SimulationError('hand: must be "let_go", or an object with "to" [m] and perhaps "turn" [rad].')
        to, turn = _vector("hand.to", value["to"], 3), _vector("hand.turn", value.get("turn", [0.0] * 3), 3)
        if self._living is None:
            self._let_go()
            self._living = PointerHand(world)
        self._living.wants(to, turn)
        self._hand_ends = world.time + HAND_TIMEOUT_S
        return "holding"

    def _push(self, controller: Controller, value: Any) -> str:
        self.restless = False
        if not isinstance(value, dict) or set(value) != {"wrench", "seconds"}:
            raise SimulationError('push: must be an object with "wrench" [N, Nm] and "seconds".')
        wrench, seconds = _vector("push.wrench", value["wrench"], 6), value["seconds"]
        force, torque = float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:]))
        if force > MAX_PUSH_FORCE:
            raise SimulationError(f"push: force = {force:.4g} N: must be at most {MAX_PUSH_FORCE:g} N.")
        if torque > MAX_PUSH_TORQUE:
            raise SimulationError(f"push: torque = {torque:.4g} Nm: must be at most {MAX_PUSH_TORQUE:g} Nm.")
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.0 < seconds <= MAX_PUSH_S:
            raise SimulationError(f"push: seconds = {str(seconds)[:40]}: must be above 0, at most {MAX_PUSH_S:g} s.")
        self._start_push(wrench, float(seconds))
        return f"pushing for {seconds:g} s"

    def _environment(self, controller: Controller, value: Any) -> str:
        self.restless = False
        environment = _environment(value)
        # Here in the loop: it takes 15 ms, once. A thread has no real-time priority and holds the interpreter while it
        # builds: on a busy computer the loop waited for it for more than 100 ms.
        old = self.robot.world
        new = World(old.model, old.tool, environment, old.servo, old.sensor, old.seed, old.physics_dt, old.gravity)
        new.reset(np.array(old.q))
        self._let_go()
        take_over(new, old)
        self.robot.world = new
        self._revision += 1
        if environment.kind == "none":
            return "free space"
        return f"{environment.kind} of {environment.stiffness:g} N/m, {1e3 * environment.gap:g} mm in front of the tool"

    def _arm(self, controller: Controller, value: Any) -> str:
        if not isinstance(value, dict) or not {"model", "tool"} <= set(value) <= {"model", "tool", "tcp"}:
            raise SimulationError('arm: must be an object with "model", "tool" and perhaps "tcp" [m].')
        model, name = value["model"], value["tool"]
        if model not in MODEL_NAMES:
            raise SimulationError(f"arm.model = {str(model)[:40]}: must be one of {', '.join(MODEL_NAMES)}.")
        if name not in TOOLS:
            raise SimulationError(f"arm.tool = {str(name)[:40]}: must be one of {', '.join(TOOLS)}.")
        tool = TOOLS[name]
        if "tcp" in value:
            x, y, z = _vector("arm.tcp", value["tcp"], 3).tolist()
            if not math.hypot(x, y, z) <= FARTHEST_TCP:
                raise SimulationError(f"arm.tcp: {math.hypot(x, y, z):.3g} m: must be at most {FARTHEST_TCP:g} m.")
            tool = tool.with_tcp((x, y, z))
        self.wanted = model, tool
        return f"changing to a {model} with a {name}"

    def _scene(self, controller: Controller, value: Any) -> str:
        world = self.robot.world
        scene = {
            "revision": self._revision,
            "kind": world.environment.kind,
            "stiffness": world.environment.stiffness,
            "shapes": _shapes(world),
            "tip": world.tool.radius,
            "tool": [[*start, *end, radius] for start, end, radius in self.tool.drawn()],
            "choice": {name: tool.tool.tcp for name, tool in TOOLS.items()} if "arm" in self.handlers else {},
            "restless": self.restless,
        }
        return json.dumps(scene, separators=(",", ":"))

    def _let_go(self) -> None:
        self.robot.world.let_go()
        self._living = None
        self._hand_ends = self._push_ends = math.inf

    def _start_push(self, wrench: Array, seconds: float) -> None:
        self._let_go()

        def profile(t: float) -> Array:
            return wrench * max(0.0, min(1.0, t / RAMP_S, (seconds + RAMP_S - t) / RAMP_S))

        self.robot.world.push(profile)
        self._push_ends = self.robot.world.time + seconds + RAMP_S


def take_over(new: World, old: World) -> None:
    """The arm goes on in another world where it was: same motion, same servo and sensors, same time."""
    for field in ("qpos", "qvel", "qfrc_applied", "qacc_warmstart"):
        getattr(new.mj_data, field)[:] = getattr(old.mj_data, field)
    kept = ("steps", "setpoint", "delayed", "y", "yd", "torque", "bias", "drift", "clean", "wrench", "recent")
    for field in (*kept, "hand_work"):
        new._plant[field] = old._plant[field]
    new._commands[:], new._readings[:] = old._commands, old._readings
    new.second = old.second
    mujoco.mj_forward(new.mj_model, new.mj_data)


def _environment(value: Any) -> Environment:
    allowed = {field.name for field in fields(Environment)} - {"at"}
    if not isinstance(value, dict) or "kind" not in value or not set(value) <= allowed:
        raise SimulationError('environment: must be an object such as {"kind": "floor", "stiffness": 10000}.')
    kind, stiffness = value["kind"], value.get("stiffness", 1e4)
    if kind not in KINDS:
        raise SimulationError(f"environment.kind = {str(kind)[:40]}: must be one of {', '.join(KINDS)}.")
    for name, number in value.items():
        if name != "kind" and (isinstance(number, bool) or not isinstance(number, (int, float))):
            raise SimulationError(f"environment.{name} = {str(number)[:40]}: must be a number.")
    low, high = STIFFNESS_RANGE
    if not low <= stiffness <= high:
        raise SimulationError(f"environment.stiffness = {stiffness:g} N/m: must be {low:g} to {high:g} N/m.")
    if kind == "incline":
        value = {"angle": INCLINE_RAD} | value
    return Environment(**value)


def _shapes(world: World) -> list[list[Any]]:
    """[kind, size (3), position (3), quaternion wxyz (4)] of everything that can be touched, base frame."""
    mj, data = world.mj_model, world.mj_data
    found: list[list[Any]] = []
    for i in range(mj.ngeom):
        if mj.geom(i).name.startswith("surface"):
            wxyz = np.empty(4)
            mujoco.mju_mat2Quat(wxyz, data.geom_xmat[i])
            numbers = (mj.geom_size[i], data.geom_xpos[i], wxyz)
            found.append([GEOM_NAMES[int(mj.geom_type[i])], *(np.round(n, 4).tolist() for n in numbers)])
    return found


def _vector(name: str, value: Any, length: int) -> Array:
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros(0)
    if numbers.shape != (length,) or not np.isfinite(numbers).all():
        raise SimulationError(f"{name} = {str(value)[:60]}: must be {length} finite numbers.")
    return numbers


def simulated_parameters(parameters: Parameters | None = None, tool: Tool = TOOLS["probe"].tool) -> Parameters:
    """With what a user would have found by calibration: tool, TCP, response time of the simulated arm."""
    chosen = parameters or Parameters()
    known = tool.parameters() | {"robot.response_time": SERVO.response_time}
    return chosen.changed(known | (SECOND.parameters(tool) if chosen.second.source else {}))


def run_simulated(
    model: str = "ur5e",
    parameters: Parameters | None = None,
    *,
    activate: bool = True,
    accept: Collection[str] = (),
    restless: bool = False,
    choice: bool = False,
    say: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> LoopReport:
    """Run until a signal comes; other processes see it and touch it.

    restless: the hand pushes by itself until somebody takes over; choice: another arm or tool may be asked for, which
    starts over with it and the same parameters; say: receives what is being loaded; options: fields of `Operation`
    (name, duration, priority, beside ...).
    """
    tool, each_tick = TOOLS["probe"], options.pop("on_tick", None)
    library.prepare(library.in_words(say))
    while True:
        arm = robot_model(model)
        say(f"building the simulated {arm.name}")
        chosen = simulated_parameters(parameters, tool.tool)
        period = 1.0 / chosen.control_rate
        second = SECOND if chosen.second.source else None
        world = World(arm, tool.tool, None, SERVO, NOISE, second=second)
        robot = SimulatedRobot(world, period, realtime=True)
        live = InteractiveWorld(robot, restless, tool, choice, each_tick)
        robot.world.step(robot.world.q, None, period)
        starts = [stage.start_joints for stage in options.get("stages", ()) if hasattr(stage, "start_joints")]
        robot.world.reset(starts[0] if starts else None)
        say("loading the controller")
        controller = AdmittanceController(arm, chosen)
        controller.configure()
        if activate:
            controller.activate(accept_load="load" in accept)
        with robot:
            how = Operation(arm.name, handlers=live.handlers, on_tick=live.on_tick, say=say, **options)
            report = operate(controller, robot, robot.clock(), how)
        if live.wanted is None:
            return report
        model, tool = live.wanted
        restless, options["beside"] = False, contextlib.nullcontext
