"""The safety side of the box: power, brakes, stops, the speed slider, and how long and how far an arm takes to stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ur_admittance_lab.emulator.emulated_arm import Arm
from ur_admittance_lab.emulator.motion_limits import (
    COLLISION,
    DEVIATION,
    JOINT_LIMIT,
    TRIGGERED,
    Cause,
    unsound,
)
from ur_admittance_lab.emulator.motions import Stop

UNLOCK_DELAY = 5.0  # [s] after a protective stop, as on the robot
SLIDER_RATE = 2.0  # [1/s] how fast the arm follows a new position of the speed slider (assumed)

# Decelerations of the fastest joint [rad/s2]. Assumed: the robot's are not published.
PROTECTIVE_DECELERATION = 20.0
EMERGENCY_DECELERATION = 20.0
PROGRAM_STOP_DECELERATION = 10.0
PINCH = 0.5  # share of the force limit above which a stopped arm gives way to what it presses against (assumed)

MODE_POWER_OFF, MODE_IDLE, MODE_RUNNING = 3, 5, 7


class StopKind(Enum):
    """safety_mode number, bits of safety_status_bits, name on the dashboard."""

    NONE = (1, 1 << 0, "NORMAL")
    PROTECTIVE = (3, 1 << 2 | 1 << 10, "PROTECTIVE_STOP")
    SAFEGUARD = (5, 1 << 4 | 1 << 10, "SAFEGUARD_STOP")
    EMERGENCY = (7, 1 << 6 | 1 << 7 | 1 << 10, "ROBOT_EMERGENCY_STOP")


@dataclass
class Incident:
    """From an event to standstill: the time and the distance that a stop takes."""

    kind: str
    begin: float  # [s] controller time
    speed: float  # [m/s] of the flange at the event
    travel_begin: float  # [m]
    events: list[tuple[float, str]] = field(default_factory=list)  # seconds after the event, what
    duration: float | None = None  # [s] until standstill
    travel: float | None = None  # [m] distance covered by the flange until standstill


class Safety:
    def __init__(self, arm: Arm, force_limit: float, following_limit: float) -> None:
        self.arm = arm
        self.force_limit, self.following_limit = force_limit, following_limit  # [N], [rad]
        self.stop = StopKind.NONE
        self.reason = ""
        self.code, self.argument = 0, 0  # of the last protective stop
        self.robot_mode = MODE_RUNNING
        self.slider = 1.0  # where the operator put it
        self.fraction = 1.0  # target_speed_fraction: where the arm is
        self.unlock_delay = UNLOCK_DELAY
        self.remote_control = True
        self.time = 0.0
        self._stopped_at, self._settled = 0.0, False
        self.on_stop: Callable[[StopKind], None] = lambda kind: None
        self.log: Callable[[str, str], None] = lambda kind, text: None
        self.incident: Incident | None = None

    @property
    def can_move(self) -> bool:
        return self.stop is StopKind.NONE and self.robot_mode == MODE_RUNNING

    def reset(self) -> None:
        self.stop, self.reason, self.robot_mode = StopKind.NONE, "", MODE_RUNNING
        self.slider = self.fraction = 1.0
        self.remote_control, self.incident, self.unlock_delay = True, None, UNLOCK_DELAY

    # stops

    def trip(self, kind: StopKind, reason: str, code: int = TRIGGERED, argument: int = 0) -> None:
        """Stop the arm; a more severe stop replaces a milder one."""
        if kind.value[0] <= self.stop.value[0] and self.stop is not StopKind.NONE:
            return
        self.begin_incident(reason)
        self.stop, self.reason, self._stopped_at, self._settled = kind, reason, self.time, False
        self.code, self.argument = code, argument
        emergency = kind is StopKind.EMERGENCY
        self.arm.start(Stop(EMERGENCY_DECELERATION if emergency else PROTECTIVE_DECELERATION))
        if emergency:
            self.robot_mode = MODE_POWER_OFF
        self.log("safety", f"{kind.value[2]}: {reason}")
        self.on_stop(kind)

    def unlock_protective_stop(self) -> str:
        if self.stop is StopKind.PROTECTIVE and self.time - self._stopped_at < self.unlock_delay:
            return (
                "Cannot unlock protective stop until 5s after occurrence. "
                "Always inspect cause of protective stop before unlocking"
            )
        if self.stop is StopKind.PROTECTIVE:
            self.stop, self.reason = StopKind.NONE, ""
        return "Protective stop releasing"

    def release(self, kind: StopKind) -> None:
        """The button is pulled out, the fence closed. After an emergency stop the arm stays without power."""
        if self.stop is kind:
            self.stop, self.reason = StopKind.NONE, ""

    def power(self, mode: int) -> None:
        if mode == MODE_POWER_OFF:
            self.on_stop(StopKind.EMERGENCY)
            self.arm.start(Stop(EMERGENCY_DECELERATION))
        elif self.stop is not StopKind.NONE:
            return
        self.robot_mode = mode

    # each cycle

    def update(self, time: float, period: float) -> None:
        self.time = time
        step = SLIDER_RATE * period
        self.fraction += min(step, max(-step, self.slider - self.fraction))
        self._come_to_rest()
        incident = self.incident
        if incident is not None and incident.duration is None and self.arm.standing:
            incident.duration = time - incident.begin
            incident.travel = self.arm.travel - incident.travel_begin

    def _come_to_rest(self) -> None:
        """A stopped arm stays where it came to stand, not where it was going: unlocked, it would trip again."""
        if self.stop is StopKind.NONE or not self.arm.standing:
            return
        if not self._settled or self._force > PINCH * self.force_limit:
            self.arm.settle()
            self._settled = True

    @property
    def _force(self) -> float:
        fx, fy, fz = self.arm.tcp_force[:3].tolist()
        return float((fx * fx + fy * fy + fz * fz) ** 0.5)  # a third of the time of NumPy's norm, in each cycle

    def watch(self) -> None:
        """The limits at which a robot stops by itself."""
        if self.stop is StopKind.NONE and (cause := self._violation()):
            self.trip(StopKind.PROTECTIVE, *cause)

    def _violation(self) -> Cause | None:
        arm, world = self.arm, self.arm.world
        force = self._force
        if force > self.force_limit:
            return Cause(f"force {force:.0f} N above {self.force_limit:.0f} N", COLLISION, arm.last_to_follow)
        if arm.following_error > self.following_limit:
            text = f"position deviates from path: a joint is {arm.following_error:.3f} rad from its set-point"
            return Cause(text, DEVIATION, arm.last_to_follow)
        if arm.motion.problem:
            return arm.motion.problem
        if ((world.q > arm.model.upper) & (arm.qd_set > 0.0)).any() or (
            (world.q < arm.model.lower) & (arm.qd_set < 0.0)
        ).any():
            return Cause("joint limit", JOINT_LIMIT)
        qd = arm.target_speed
        return (
            unsound(arm.model, qd, arm.qdd_set, arm.commanded.tcp_speed(qd)) if qd.any() or arm.qdd_set.any() else None
        )

    # how long and how far

    def begin_incident(self, kind: str) -> None:
        """Measure from now until standstill; while one is open, only add an event to it."""
        incident = self.incident
        if incident is not None and incident.duration is None:
            incident.events.append((self.time - incident.begin, kind))
            return
        speed = float((self.arm.actual.tcp_speed(self.arm.world.qd)[:3] ** 2).sum() ** 0.5)
        self.incident = Incident(kind, self.time, speed, self.arm.travel)
