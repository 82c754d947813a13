"""The admittance controller as a program uses it: life cycle, parameters, references, one update per cycle.

    controller = AdmittanceController(robot_model("ur5e"), preset("hand_guiding"))
    controller.configure()
    controller.activate()
    while running:
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)

All arithmetic is in core.tick(). This file holds the records that the tick works on, and checks what goes into them.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance import given, library
from ur_admittance.analysis.stability import Margin, margin
from ur_admittance.control.go_to import Goal, GoTo
from ur_admittance.control.live_checks import check_felt, check_live, check_near, check_zero
from ur_admittance.control.recovery import hindrance, no_retreat, reason
from ur_admittance.control.references import REFERENCE_TIMEOUT, References, checked_pose, waiting
from ur_admittance.control.response_check import ResponseCheck
from ur_admittance.control.two_sensors import TwoSensors
from ur_admittance.control.zeroing import ZeroWatch
from ur_admittance.core.faults import remedy, sentence
from ur_admittance.core.law.led import real_time
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, Status, new
from ur_admittance.core.tick import tick
from ur_admittance.core.views import vector
from ur_admittance.core.wrench.rest import SEEN
from ur_admittance.errors import Doubt, LifecycleError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.own_motion import own_motion
from ur_admittance.params.record import fill

FloatArray = NDArray[np.float64]

RETREAT_TIME = 15.0  # [s] the whole trail at the speed of a retreat
ACTIVATION_TIME = 0.5  # [s] for which an activation is asked for: single late cycles refuse it
NOTHING, RETREAT = Request.NONE, Request.RETREAT  # looked up once: each time costs 0.3 us in Python 3.11
INACTIVE, OK = Mode.INACTIVE, Status.OK


class AdmittanceController:
    """Life cycle unconfigured -> inactive -> active (and stopping, fault). Not thread-safe except where it says so."""

    def __init__(self, model: RobotModel | str, parameters: Parameters | None = None) -> None:
        """parameters: None: the defaults."""
        self.model = model = robot_model(model)
        self.parameters = Parameters() if parameters is None else parameters
        given.kind("parameters", self.parameters, Parameters, "Parameters, such as preset('hand_guiding')")
        self._params, self._state = new(PARAMS), new(STATE)
        self._sample, self._command = new(SAMPLE), new(COMMAND)
        self.params: np.void = self._params[0]
        self.state: np.void = self._state[0]
        self.sample: np.void = self._sample[0]
        self.command: np.void = self._command[0]
        self.fusion: TwoSensors | None = None  # where the parameters name a second one
        self._response = ResponseCheck()
        self.robot_says = ""  # about its fault, from whoever talks to it
        self.configured = False
        self._pending: deque[np.void] = deque()  # appending and taking are one step each: safe between threads
        self._request = Request.NONE
        self.references = References(self.sample, self.state)
        self._retreat_left = 0.0  # [s]
        self._activation, self._activation_left = Request.NONE, 0.0  # asked for in every cycle for so long [s]
        self._reading = vector(self.state, "reading")
        self._tick: Callable[[], None] = lambda: tick(self._params, self._state, self._sample, self._command)
        self._ramp_load = False  # at the next activation
        self.outside_doubt = ""  # why the arm must not comply although this controller sees no reason, in plain words
        self._going: GoTo | None = None
        self._zero = ZeroWatch(self.parameters.control_rate)
        self._margin: tuple[Parameters, Margin] | None = None
        self._too_steady = self._marked = False  # the last seconds were not a hand's; a sample says so
        self._proven = new(PARAMS)[0]  # zero and tool when nothing was wrong
        fill(self.params, self.parameters, model)

    # -- life cycle ---------------------------------------------------------------------------------------------

    def configure(self, say: Callable[[str], None] = lambda text: None) -> None:
        """Check the parameters, load the compiled tick and clear the memory. say: how far it is, on a computer that
        has to compile it."""
        if self.configured:
            raise LifecycleError("configure: the controller is already configured; call cleanup() first.")
        fill(self.params, self.parameters, self.model)
        self.params["revision"] = self.params["second"]["revision"] = 1
        self._proven = self._params.copy()[0]
        library.prepare(library.in_words(say))
        self._tick = tick.on(self._params, self._state, self._sample, self._command)
        self._state[:] = np.zeros_like(self._state)
        self._command[:] = np.zeros_like(self._command)
        self.fusion = TwoSensors(self.parameters, self.params, self.state) if self.parameters.second.source else None
        self._request, self._ramp_load = Request.NONE, False
        self._retreat_left = self._activation_left = 0.0
        self._zero = ZeroWatch(self.parameters.control_rate)
        self.configured = True

    def cleanup(self) -> None:
        """Back to unconfigured. Only when nothing moves."""
        self._need_configured("cleanup")
        if self.mode in (Mode.ACTIVE, Mode.STOPPING):
            raise LifecycleError(f"cleanup: the controller is {self.mode.name.lower()}; deactivate it first.")
        self.configured = False

    def activate(self, start_at_arm: bool = False, accept_load: bool = False) -> None:
        """From the next update on the arm complies. The reference is latched to the measured pose: no motion.
        start_at_arm: so is the command; otherwise a difference that a load explains (up to 0.02 rad) is kept.

        A force at rest that nothing explains (a wrong payload, a contact, a drifted sensor) would move the arm although
        nobody pushes it: refused (Doubt), or, before the first update, not obeyed; `reason` says why. accept_load: the
        caller knows the force, and the arm may yield to it; it is ramped in."""
        self.check_activation(accept_load)
        self.references.begin()
        self._going = None
        self._activation = Request.ACTIVATE
        self._activation |= Request.START_AT_ARM if start_at_arm else Request.NONE
        self._activation |= Request.ACCEPT_LOAD if accept_load else Request.NONE
        self._activation |= Request.RAMP_LOAD if accept_load or self._ramp_load else Request.NONE
        self._activation_left = ACTIVATION_TIME

    def check_activation(self, accept_load: bool = False) -> None:
        """The refusal of `activate`, if it would refuse now; nothing is changed."""
        self._need_configured("activate")
        if self.mode == Mode.FAULT:
            raise LifecycleError(f"activate: the controller is in fault ({self.reason}); reset the fault first.")
        if self.mode != Mode.INACTIVE:
            raise LifecycleError(f"activate: the controller is {self.mode.name.lower()}, must be inactive.")
        if self.outside_doubt:
            raise LifecycleError(f"activate: {self.outside_doubt}")
        doubt = Status(self.state["rest_doubt"])
        if doubt != OK and not accept_load:
            raise Doubt(f"activate: {sentence(doubt, self.state['rest_evidence'])}. {remedy(doubt)}")

    def activate_with_load(self) -> None:
        """Like activate, by somebody who knows the force on the tool and lets the arm yield to it."""
        self.activate(accept_load=True)

    def expect_load(self) -> None:
        """What presses on the tool at the next activation is let in slowly, as after a fault: for a program that has
        just started and does not know how the last one ended."""
        self._need_configured("expect_load")
        self._ramp_load = True

    def forget_rest(self) -> None:
        """The arm was not watched for a while: what its tool read at rest before does not count."""
        self._request |= Request.FORGET_REST
        self.state["rest_doubt"] = OK  # as the next update begins with it

    def deactivate(self) -> None:
        """Slow down inside the limits, then hold; also ends a retreat. Harmless in any mode."""
        self._need_configured("deactivate")
        self._retreat_left = self._activation_left = 0.0
        self._request |= Request.DEACTIVATE

    def reset_fault(self) -> None:
        """Leave the fault, inactive. Refused with the reason while the arm moves or the cause was still there."""
        self._need_fault("reset_fault")
        if self.hindrance:
            raise LifecycleError(f"reset_fault: {self.hindrance}")
        self._request |= Request.RESET_FAULT

    def retreat(self, seconds: float = RETREAT_TIME) -> None:
        """Out of a contact that stopped the arm: back along the way it came, slowly, until force and torque are below a
        fifth of their limits, for `seconds` at most. It stops when they grow, at any other fault and by deactivate(),
        and stays in fault: `reason` says how it ended; then reset_fault()."""
        self._need_fault("retreat")
        refusal = no_retreat(self.params, self.state, self.sample, self.command, seconds)
        if refusal:
            raise LifecycleError(f"retreat: {refusal}")
        self._retreat_left = seconds

    def latch_reference(self) -> None:
        """Reference := measured pose."""
        self._need_configured("latch_reference")
        self._request |= Request.LATCH_REFERENCE

    def request(self, flags: Request) -> None:
        """Put requests to the next update as they are: the tick ignores what the mode does not allow, where the methods
        above refuse it with a reason. For a program that replays what was asked."""
        self._request |= flags

    def update(self) -> None:
        """One cycle: `sample` in, `command` out. Never raises."""
        sample = self.sample
        while self._pending:
            revision = self.params["revision"] + 1
            self._params[0] = self._pending.popleft()
            self.params["revision"] = revision
            self.references.keep_pose(self.params)
        self.references.forget_ended()
        if self._retreat_left > 0.0 or self._activation_left > 0.0:
            self._keep_asking(sample)
        if self._too_steady or self._marked:
            self._mark(sample)
        if self._going is not None:
            self._going.update()
        sample["request"] = self._request
        self._request = NOTHING
        self._tick()
        self.references.note_end()
        if self.fusion is not None:
            self.fusion.look()
        if self._retreat_left > 0.0 and not self.state["retreating"]:
            self._retreat_left = 0.0
        if self._activation_left > 0.0 and self.state["mode"] != INACTIVE:
            self._activation_left, self._ramp_load = 0.0, False
        if self._zero.add(sample, self._reading, self._params, self.command, self.state["target_active"]):
            self._response.look(float(self.command["response_seen"]), float(self.params["response_time"]))
            if self.parameters.sensor.auto_zero:
                self._auto_zero()
            self._too_steady = bool(self._zero.followed >= self.params["steady_force_time"])

    def _keep_asking(self, sample: np.void) -> None:
        """A retreat and an activation are asked for until their time is over."""
        seconds = real_time(int(self.state["stamp_ns"]), int(sample["stamp_ns"]), float(sample["dt"]))
        if self._retreat_left > 0.0:
            self._retreat_left -= seconds
            self._request |= RETREAT
        if self._activation_left > 0.0:
            self._activation_left -= seconds
            self._request |= self._activation

    # -- what it is doing ---------------------------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        return Mode(self.state["mode"])

    @property
    def status(self) -> Status:
        return Status(self.state["status"])

    @property
    def reason(self) -> str:
        """The mode and why, and what there is to tell about the force sensors, in one sentence."""
        if not self.configured:
            return "unconfigured: call configure()"
        return reason(self.mode, self.status, self.state["evidence"], self.remark)

    @property
    def remark(self) -> str:
        """What the robot says of its fault, which of two force sensors was dropped or is used again, that the reference
        waits, how the way to a pose stands, or that the arm answers at another time than configured; or empty."""
        about_sensors = "" if self.fusion is None else self.fusion.remark
        about_way = "" if self._going is None else self._going.sentence
        return self.robot_says or about_sensors or waiting(self.command) or about_way or self._response.warning

    @property
    def own_motion(self) -> str:
        """What the arm does while active although nobody pushes it, by its parameters; empty: it stands."""
        return own_motion(self._latest)

    @property
    def seen_at_rest(self) -> bool:
        """Whether the arm has stood for half a second without complying: then a force at rest is known."""
        return bool(self.state["rest_time"] >= SEEN)

    @property
    def hindrance(self) -> str:
        """What keeps a fault from its reset, as of the last update, and what to do about it; empty: nothing does."""
        return hindrance(self.command)

    @property
    def retreating(self) -> bool:
        """A retreat is asked for, or under way."""
        return self._retreat_left > 0.0

    @property
    def margin(self) -> Margin:
        """How stiff a surface may be, and how the arm feels to a hand; cached until the parameters change."""
        if self._margin is None or self._margin[0] is not self.parameters:
            self._margin = (self.parameters, margin(self.parameters))
        return self._margin[1]

    @property
    def stable_stiffness(self) -> float:
        """Stiffness of a surface on which contact without the stabiliser would just oscillate [N/m]; inf: none does."""
        return self.margin.stable_stiffness

    @property
    def drift(self) -> FloatArray:
        """What the free tool is estimated to read after all compensation, sensor frame (6,) [N, Nm]."""
        return self._zero.monitor.drift

    @property
    def warning(self) -> str:
        """A sentence about the sensor's drift; empty: no warning."""
        return self._zero.monitor.warning

    # -- parameters ---------------------------------------------------------------------------------------------

    def set_parameters(self, changes: Mapping[str, Any]) -> None:
        """Validate all changes and apply them at the next update, or raise ParameterError and change nothing.
        The change itself does not move the arm (core/adopt.py). May be called from another thread."""
        self.replace_parameters(self.parameters.changed(changes))

    def replace_parameters(self, parameters: Parameters, zeroed: bool = False, tool_is_free: bool = False) -> None:
        """Like set_parameters, for a whole set (a preset, a file). zeroed: the bias is a zero that was measured, and
        (tool_is_free) known to be that of the free tool."""
        active = self.configured and self.mode == Mode.ACTIVE
        if self.configured:
            check_live(self.parameters, parameters, active)
        record = new(PARAMS)[0]
        fill(record, parameters, self.model)
        latest = self._latest
        record["revision"] = latest["revision"]
        record["second"]["revision"] = latest["second"]["revision"]
        if record["second"].tobytes() != latest["second"].tobytes():
            record["second"]["revision"] += 1
        proven = not active or tool_is_free
        read = {"q": self.sample["q"], "wrench": self._reading}
        if proven or (not zeroed and check_felt(self.parameters, parameters, self._proven, latest, record, read)):
            self._proven = record
        self.parameters = parameters
        if record.tobytes() != latest.tobytes():
            self._pending.append(record)

    @property
    def _latest(self) -> np.void:
        return self._pending[-1] if self._pending else self.params

    # -- references ---------------------------------------------------------------------------------------------

    def set_reference_twist(self, twist: ArrayLike, valid_for: float = REFERENCE_TIMEOUT) -> None:
        """Velocity of the reference [m/s, rad/s], base axes, instead of what led it before; ends after `valid_for` [s]
        unless renewed."""
        self.references.set_twist(twist, valid_for)

    def set_reference_wrench(self, wrench: ArrayLike, valid_for: float = REFERENCE_TIMEOUT) -> None:
        """Desired wrench on the tool [N, Nm], control axes, added to admittance.desired_wrench; ramped, and ramped down
        again after `valid_for` [s] unless renewed."""
        self.references.set_wrench(wrench, valid_for)

    def set_target_pose(self, position: ArrayLike, rotation: ArrayLike) -> None:
        """Send the reference to a pose (base frame: [m], R_base_tcp) at limited speed, instead of what led it before;
        it stays there. Refused with the distance when that is more than safety.max_position_error or
        max_orientation_error."""
        p, R = checked_pose(position, rotation)
        if self.state["has_command"]:
            check_near(p, R, self.command, self.parameters.safety)
        self.references.set_pose(p, R, self._latest)

    def go_to(self, goal: Goal) -> GoTo:
        """Take the active arm to a pose from where it is, instead of what led the reference before: slowly, smoothly,
        yielding to a hand, ended by a force. The whole way is looked at first; what is returned says how it went."""
        self._need_configured("go_to")
        given.kind("goal", goal, Goal, "a Goal, such as Goal(joints=[0.0, -1.6, 1.6, -1.6, -1.6, 0.0])")
        self._going = GoTo(self, goal)
        return self._going

    @property
    def going(self) -> GoTo | None:
        """The last go_to since the activation."""
        return self._going

    def enable(self, held: bool = True) -> None:
        """Hold-to-run (guiding.enable): the enabling signal is held now, or was let go. A held one has to be renewed
        within guiding.timeout, or the arm brakes and is held; pressed again, it goes on."""
        self.references.set_enable(held)

    def resume_stages(self) -> None:
        """After a reference from outside: the stages in front lead again, from where they were."""
        self.references.resume_stages()

    def zero_ft_sensor(self, tool_is_free: bool = False) -> FloatArray:
        """Make the present reading the new zero; returns the change of sensor.bias. Refused (CalibrationError) while
        the arm moves and while the reading is unsteady; and (Unconfirmed) when the reading looks like a contact, or
        when an active arm would feel the change once the tool is free, unless the caller knows that it is free."""
        bias = np.array(self.parameters.sensor.bias)
        change = self.check_zeroing(tool_is_free)
        one = {"sensor.bias": (bias + change).tolist()}
        zeros = one if self.fusion is None else self.fusion.zeros(self.parameters, self.mode)
        self.replace_parameters(self.parameters.changed(zeros), zeroed=True, tool_is_free=tool_is_free)
        return change if self.fusion is None else np.asarray(np.array(self.parameters.sensor.bias) - bias)

    def check_zeroing(self, tool_is_free: bool = False) -> FloatArray:
        """What zero_ft_sensor would add to sensor.bias, or its refusal; nothing is changed."""
        self._need_configured("zero_ft_sensor")
        change = self._zero.residual(self._params, tool_is_free)
        if self.mode == Mode.ACTIVE and not tool_is_free:
            check_zero(self._proven, self.params, self.params["sensor_bias"] + change)
        return change

    def zero_free_tool(self) -> FloatArray:
        """Like zero_ft_sensor, by somebody who sees that nothing touches the tool."""
        return self.zero_ft_sensor(tool_is_free=True)

    def _auto_zero(self) -> None:
        """Let the bias follow the drift in small steps; without validation, because it runs in the loop."""
        sensor = self.parameters.sensor
        change = None if self._pending else self._zero.auto_change(sensor.auto_zero_time)
        if change is None:
            return
        bias = np.array(sensor.bias) + change
        self.parameters = self.parameters.model_copy(
            update={"sensor": sensor.model_copy(update={"bias": tuple(bias.tolist())})}
        )
        record = self._params.copy()[0]
        record["sensor_bias"] = bias
        self._proven = record
        self._pending.append(record)

    def _mark(self, sample: np.void) -> None:
        """One sample with the status that stops the arm; the next one is as the robot gave it."""
        if self._marked and sample["external_status"] == Status.STEADY_FORCE:  # this robot does not write it
            sample["external_status"] = OK
        self._marked = self._too_steady and sample["external_status"] == OK
        if self._marked:
            sample["external_status"] = Status.STEADY_FORCE
        self._too_steady = False

    def _need_fault(self, action: str) -> None:
        self._need_configured(action)
        if self.mode != Mode.FAULT:
            raise LifecycleError(f"{action}: the controller is {self.mode.name.lower()}, not in fault.")

    def _need_configured(self, action: str) -> None:
        if not self.configured:
            raise LifecycleError(f"{action}: the controller is unconfigured; call configure() first.")
