"""Every parameter: name, default, unit, bounds and help. The single source; nothing else repeats them: the file loader,
the command line's table, the ROS parameter descriptors and the documentation are all derived from it.

Dotted names (`admittance.mass`) follow the nesting. Six-vectors are linear first.
Rotations are roll-pitch-yaw triples as in URDF: R = Rz(yaw) Ry(pitch) Rx(roll).
"""

import math
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Gt, Le, Len
from pydantic import AllowInfNan, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

from ur_admittance.model import JOINT_NAMES

LARGEST = 1e6  # no quantity of a robot arm in SI units comes near; keeps products such as M K finite
TURN = 6.2832  # [rad] a full turn, rounded up; more are degrees taken for radians

T = TypeVar("T")
COEFFICIENT = "admittance.filter_coefficient"
CUTOFF = "admittance.filter_cutoff_hz"
COEFFICIENT_RATE_HZ = 500.0  # the loop rate that a filter coefficient refers to


def _nan_is_unset(value: Any) -> Any:
    """ROS arrays of numbers cannot hold null, so `.nan` is how a file leaves one axis unset."""
    return None if isinstance(value, float) and math.isnan(value) else value


Number = Annotated[float, Strict(), AllowInfNan(False), Ge(-LARGEST), Le(LARGEST)]
Positive = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(LARGEST)]
Touch = Annotated[float, Strict(), AllowInfNan(False), Ge(0), Le(40)]  # [N] that a hand overcomes without effort
Snap = Annotated[float, Strict(), AllowInfNan(False), Ge(0.002), Le(0.1)]  # [m]
NotNegative = Annotated[float, Strict(), AllowInfNan(False), Ge(0), Le(LARGEST)]
# Of the law [kg, kg m2]: lighter, the noise of a sensor (0.1 N over one tick of 2 ms) already makes 0.2 m/s
Mass = Annotated[float, Strict(), AllowInfNan(False), Ge(1e-3), Le(LARGEST)]
Angle = Annotated[float, Strict(), AllowInfNan(False), Ge(-TURN), Le(TURN)]  # of roll, pitch, yaw [rad]
# Accelerations: an arm that brakes even more slowly than this does not stop before it is somewhere else [m/s2, rad/s2]
Braking = Annotated[float, Strict(), AllowInfNan(False), Ge(0.01), Le(LARGEST)]
Nearness = Annotated[float, Strict(), AllowInfNan(False), Ge(0), Le(1)]  # [m] from the arm: all of its reach, and less
Share = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(1)]
Rate = Annotated[float, Strict(), AllowInfNan(False), Ge(125), Le(1000)]  # that UR arms are driven at [Hz]
Moment = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(0.5)]  # [s] in which an arm nobody drives moves on
Switch = Annotated[bool, Strict()]
# A name of a joint or frame as ROS and URDF files use them
Name = Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", max_length=200)]

Text = Annotated[str, Strict(), Field(max_length=200)]

OrUnset = Annotated[T | None, BeforeValidator(_nan_is_unset)]
Two = Annotated[tuple[T, ...], Len(2, 2)]
Three = Annotated[tuple[T, ...], Len(3, 3)]
Six = Annotated[tuple[T, ...], Len(6, 6)]  # linear first


def parameter(default: Any, unit: str, help: str) -> Any:
    """Declare one parameter. A unit such as `N, Nm` is that of the linear and of the angular half of a six-vector."""
    return Field(default=default, description=help, json_schema_extra={"unit": unit})


def refuse(name: str, value: object, must: str) -> PydanticCustomError:
    """An error for `name` whose sentence gets its unit from the schema."""
    return PydanticCustomError("relation", "{must}", {"name": name, "value": value, "must": must})


class Group(BaseModel):
    """Parameters that share the first part of their dotted names. Frozen: a change makes a new, validated object."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Admittance(Group):
    """The law M a + D v + s K x = F_ext - F_des, per axis, and the conditioning of the wrench that drives it."""

    mass: Six[Mass] = parameter((8.0,) * 3 + (0.8,) * 3, "kg, kg m2", "virtual mass M that the hand feels")
    stiffness: Six[NotNegative] = parameter(
        (0.0,) * 6, "N/m, Nm/rad", "spring K towards the reference; 0: pushed, the axis moves and stays"
    )
    damping_ratio: Six[Positive] = parameter((0.8,) * 6, "-", "zeta of D = 2 zeta sqrt(M max(K, virtual_stiffness))")
    virtual_stiffness: Six[Positive] = parameter(
        (200.0,) * 3 + (20.0,) * 3, "N/m, Nm/rad", "only sets the damping of axes with a softer spring"
    )
    damping: Six[OrUnset[Positive]] | None = parameter(
        None, "Ns/m, Nms/rad", "damping D in place of the ratio; .nan leaves an axis to the ratio"
    )
    enabled_axes: Six[Switch] = parameter((True,) * 6, "-", "axes that comply; the others are held at the reference")
    force_axes: Six[Switch] = parameter(
        (False,) * 6, "-", "axes under force control: no deadband (it would bias the force), velocity bias allowed"
    )
    integrator: Literal["exact", "rk4", "semi_implicit_euler"] = parameter("exact", "-", "how the law is integrated")
    filter_coefficient: Share | None = parameter(
        0.8, "-", "low-pass of the wrench as weight of the new sample at 500 Hz; 1: no filter"
    )
    filter_cutoff_hz: Positive | None = parameter(None, "Hz", "low-pass of the wrench, in place of the coefficient")
    min_motion_threshold: NotNegative = parameter(1.5, "N", "forces of a smaller norm cause no motion")
    min_motion_threshold_torque: NotNegative = parameter(0.3, "Nm", "torques of a smaller norm cause no motion")
    deadband: Six[NotNegative] = parameter((0.0,) * 6, "N, Nm", "deadband of each axis, after the norm thresholds")
    drift_reset_threshold: NotNegative = parameter(
        0.001, "m/s, rad/s", "below it, with no wrench, the velocity is set to zero"
    )
    stiffness_engagement_time: NotNegative = parameter(
        1.0, "s", "ramp of the spring, and of all that a live change alters"
    )
    desired_wrench: Six[Number] = parameter((0.0,) * 6, "N, Nm", "wrench on the tool that is wanted; 0: move freely")
    desired_wrench_rate: Two[Positive] = parameter((50.0, 5.0), "N/s, Nm/s", "fastest change of the desired wrench")
    bias_time: NotNegative = parameter(
        0.0, "s", "time constant of the velocity bias of force axes, which follows a moving surface; 0: off"
    )
    bias_limit: Two[NotNegative] = parameter((0.05, 0.2), "m/s, rad/s", "largest velocity bias")
    compensate_mass: Switch = parameter(
        True, "-", "the hand feels `mass`: what the tool and the robot's delay add is taken off inside"
    )
    travel_damping: Share = parameter(
        1.0, "-", "share of the damping that is left when the hand moves the tool at travel_speed; 1: constant damping"
    )
    travel_speed: Positive = parameter(0.25, "m/s", "speed at which the damping has fallen to travel_damping")

    @model_validator(mode="before")
    @classmethod
    def _one_filter(cls, values: Any) -> Any:
        """Coefficient and cutoff describe one filter; with neither given the default coefficient holds."""
        if not isinstance(values, dict):
            return values
        coefficient, cutoff = values.get("filter_coefficient"), values.get("filter_cutoff_hz")
        if coefficient is not None and cutoff is not None:
            raise refuse(CUTOFF, cutoff, f"must not be given together with {COEFFICIENT} = {coefficient}")
        if cutoff is not None:
            return values | {"filter_coefficient": None}
        if coefficient is None:
            return {key: value for key, value in values.items() if key != "filter_coefficient"}
        return values

    @property
    def cutoff_hz(self) -> float:
        """Cutoff of the wrench filter [Hz], infinite without a filter.

        A first-order filter y += c (u - y) at rate f is the sampled form of a cutoff fc = -ln(1 - c) f / (2 pi).
        """
        if self.filter_cutoff_hz is not None:
            return self.filter_cutoff_hz
        c = self.filter_coefficient
        return math.inf if c is None or c == 1.0 else -math.log1p(-c) * COEFFICIENT_RATE_HZ / (2.0 * math.pi)

    @property
    def effective_damping(self) -> tuple[float, ...]:
        """D = 2 zeta sqrt(M max(K, K_virtual)) [Ns/m, Nms/rad], or `damping` where given."""
        given = self.damping or (None,) * 6
        of_ratio = (
            2.0 * zeta * math.sqrt(m * max(k, k_virtual))
            for zeta, m, k, k_virtual in zip(
                self.damping_ratio, self.mass, self.stiffness, self.virtual_stiffness, strict=True
            )
        )
        return tuple(d if g is None else g for g, d in zip(given, of_ratio, strict=True))


class Contact(Group):
    """Force axes and stiff surfaces: how fast to approach, and the damping that keeps the contact from bouncing."""

    stabilizer: Switch = parameter(True, "-", "raise the damping when a contact is stiffer than the damping can hold")
    ratio: Share = parameter(
        0.35,
        "-",
        "delay over settling time that the damping in contact aims for; below 0.37 the force does not overshoot",
    )
    max_damping: Two[Positive] = parameter((4000.0, 100.0), "Ns/m, Nms/rad", "the stabiliser never goes above it")
    threshold: Two[Positive] = parameter((2.0, 0.2), "N, Nm", "wrench on an axis that counts as contact")
    approach_speed: Two[Positive] = parameter(
        (0.03, 0.2), "m/s, rad/s", "fastest motion of a force axis towards, or after losing, its surface"
    )
    friction: NotNegative = parameter(
        0.4, "-", "while a force axis presses, free axes do not yield to this share of its force: it may be friction"
    )
    normal_time: NotNegative = parameter(0.1, "s", "smoothing of the estimated surface normal (control_frame normal)")


class Robot(Group):
    response_time: NotNegative = parameter(
        0.0, "s", "from a command to the arm's motion, measured at start-up; 0: unknown"
    )


class Region(Group):
    """A box of the workspace with its own damping and speed; unset corners: not used."""

    min: Three[OrUnset[Number]] | None = parameter(None, "m", "lower corner, base axes; unset or .nan: no bound")
    max: Three[OrUnset[Number]] | None = parameter(None, "m", "upper corner, base axes; unset or .nan: no bound")
    damping_factor: Positive = parameter(1.0, "-", "multiplies the damping inside")
    speed_factor: Share = parameter(1.0, "-", "multiplies max_linear_velocity inside")
    margin: NotNegative = parameter(0.05, "m", "width of the smooth transition around the box")


class Tracking(Group):
    velocity_gain: Six[NotNegative] = parameter(
        (2.0,) * 3 + (1.0,) * 3, "1/s", "Kp from pose error to velocity; 0: open-loop flow"
    )


class Reference(Group):
    at_singularity: Literal["stop", "leave"] = parameter(
        "stop",
        "-",
        "where the arm cannot follow the line of a reference; stop: slows down and waits in front; leave: goes round",
    )


class Workspace(Group):
    min: Three[OrUnset[Number]] | None = parameter(
        None, "m", "lower corner of the box for the TCP, base axes; unset or .nan: no wall"
    )
    max: Three[OrUnset[Number]] | None = parameter(
        None, "m", "upper corner of the box for the TCP, base axes; unset or .nan: no wall"
    )


class Box(Group):
    """Something that the arm must not hit; unset centre: not used."""

    center: Three[Number] | None = parameter(None, "m", "centre of the box, base axes; unset: no box")
    size: Three[Positive] = parameter((0.1,) * 3, "m", "lengths of its edges")
    rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of the box in the base frame")
    touchable: Switch = parameter(False, "-", "the tool may touch it, only the arm keeps clear; false: both keep clear")


class Collision(Group):
    """The arm slows down before it hits itself, the table or a box, as it does at a wall."""

    enabled: Switch = parameter(True, "-", "look at the distances of the arm to itself, the table and the boxes")
    clearance: Nearness = parameter(0.01, "m", "distance that is kept; the links count as capsules")
    tool_radius: Nearness = parameter(0.03, "m", "of the tool from flange to TCP; 0: the tool is not looked at")
    table_height: Number | None = parameter(
        None, "m", "of the table against gravity, from the origin of the base; unset: no table"
    )
    table_touchable: Switch = parameter(True, "-", "the tool may touch the table, only the arm keeps clear")
    box_1: Box = Box()
    box_2: Box = Box()
    box_3: Box = Box()
    box_4: Box = Box()


class JointLimits(Group):
    """Only narrower than the model's. Unset, or .nan for one joint: those of the model."""

    position_lower: Six[OrUnset[Number]] | None = parameter(None, "rad", "lowest joint positions; unset: of the model")
    position_upper: Six[OrUnset[Number]] | None = parameter(None, "rad", "highest joint positions; unset: of the model")
    velocity: Six[OrUnset[Positive]] | None = parameter(None, "rad/s", "largest joint speeds; unset: of the model")
    acceleration: Six[Braking] = parameter((20.0,) * 6, "rad/s2", "largest joint accelerations")


class Safety(Group):
    max_force: Positive = parameter(100.0, "N", "above it the arm stops")
    max_torque: Positive = parameter(15.0, "Nm", "above it the arm stops")
    max_position_error: Positive = parameter(0.5, "m", "commanded minus measured position at which the arm stops")
    max_orientation_error: Positive = parameter(0.5, "rad", "commanded minus measured angle at which the arm stops")
    max_following_error: Positive = parameter(
        0.05,
        "rad",
        "lead of a joint's command over the arm, beyond what the delay explains, at which the command waits; "
        "after 0.5 s, or at twice as much, the arm stops",
    )
    joint_state_timeout: Positive = parameter(0.05, "s", "age of the joint state at which the arm stops")
    wrench_timeout: Positive = parameter(0.05, "s", "age of the wrench at which the arm stops")
    steady_force_time: Positive = parameter(
        2.0, "s", "the arm stops after following a force for so long that is steadier than any hand; 1e6: never"
    )


class Guiding(Group):
    """A hand on the tool: hold-to-run (the arm moves only while an enabling signal is held), and what it may move."""

    enable: Literal["none", "required", "real_arms"] = parameter(
        "none", "-", "whether the enabling signal must be held; real_arms: required, but not in a simulation"
    )
    source: Text = parameter(
        "software",
        "-",
        "software (page, calls, messages), digital:0-7, configurable:0-7, tool:0-1, bool:/TOPIC or joy:/TOPIC:BUTTON",
    )
    # A page renews its signal every 50 ms, and radio pauses of 100 ms are common. Only a sender that has died is
    # noticed so late (at 250 mm/s after 50 mm); one that lets go says so.
    timeout: Moment = parameter(0.2, "s", "age at which the enabling signal counts as released")
    lock: Literal["none", "translation", "rotation", "plane", "line", "point"] = parameter(
        "none",
        "-",
        "what a hand can still do: translation: shift, not turn; rotation: turn about the TCP; plane: shift in it and "
        "turn about its normal; line: shift along it; point: turn about pivot",
    )
    lock_frame: Literal["base", "tcp", "task"] = parameter(
        "tcp", "-", "axes of a plane or a line; tcp: of the tool as it is held, task: of task_rotation"
    )
    lock_axis: Literal["x", "y", "z"] = parameter("z", "-", "of them, the normal of a plane, the direction of a line")
    pivot: Three[Number] = parameter(
        (0.0,) * 3, "m", "point that stays with lock = point, seen from the TCP in its axes; poses are of it then"
    )
    notch_1: Three[Number] | None = parameter(None, "m", "place of the TCP that a hand feels it snap to; unset: none")
    notch_2: Three[Number] | None = parameter(None, "m", "another one")
    notch_3: Three[Number] | None = parameter(None, "m", "another one")
    notch_4: Three[Number] | None = parameter(None, "m", "another one")
    notch_force: Touch = parameter(6.0, "N", "largest force of a notch")
    notch_radius: Snap = parameter(0.015, "m", "distance from which a notch pulls")
    box_min: Three[OrUnset[Number]] | None = parameter(
        None, "m", "lower corner of a soft box: beyond it a hand is pushed back; unset or .nan: no wall"
    )
    box_max: Three[OrUnset[Number]] | None = parameter(None, "m", "its upper corner; unset or .nan: no wall")
    box_stiffness: Positive = parameter(400.0, "N/m", "of the walls of the soft box")
    box_force: Touch = parameter(15.0, "N", "with which they push back at most")


class Sensor(Group):
    source: Text = parameter("", "-", "builtin, raw, netft:ADDRESS, robotiq:DEVICE, a topic or probe:TOPIC; empty: any")
    sign: Number = parameter(1.0, "-", "1, or -1 for a sensor that reports the reaction of the tool")
    bias: Six[Number] = parameter((0.0,) * 6, "N, Nm", "reading without any load, after the sign, sensor axes")
    rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of the sensor axes in the flange frame")
    auto_zero: Switch = parameter(
        False, "-", "let the bias follow slow drift while the tool is free; a steady push below 2 N vanishes with it"
    )
    auto_zero_time: Positive = parameter(60.0, "s", "time constant of auto_zero")
    position: Three[Number] = parameter((0.0,) * 3, "m", "origin of the sensor in the flange frame")
    delay: NotNegative = parameter(0.0, "s", "from a force to its reading: the sensor's own filter and its connection")
    vibration_hz: NotNegative = parameter(
        0.0, "Hz", "a tool vibrates at this frequency: it is taken out of the force that the law sees; 0: it does not"
    )
    find_vibration: Switch = parameter(
        False, "-", "find that frequency, 20 to 200 Hz, while the arm is inactive and the tool runs, and keep it"
    )
    driver: Text = parameter("", "-", "version of ur_robot_driver, if it publishes the wrench; empty: found by itself")


class Tool(Group):
    mass: NotNegative = parameter(0.0, "kg", "mass of everything beyond the sensor, from calibration")
    center_of_mass: Three[Number] = parameter((0.0,) * 3, "m", "its centre of mass, sensor frame")
    inertia_compensation: Switch = parameter(False, "-", "remove the inertia force of the tool mass from the wrench")
    tcp: Six[Number] = parameter((0.0,) * 6, "m, rad", "x y z, roll pitch yaw of the TCP in the flange frame")


class Second(Group):
    """A second force sensor on the same tool, beside the first one (sensor, tool); empty source: there is none."""

    source: Text = parameter("", "-", "as sensor.source, another one, or simulation; empty: no second sensor")
    sign: Number = parameter(1.0, "-", "as sensor.sign")
    bias: Six[Number] = parameter((0.0,) * 6, "N, Nm", "as sensor.bias, in its own axes")
    rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of its axes in the flange frame")
    position: Three[Number] = parameter((0.0,) * 3, "m", "its origin in the flange frame")
    mass: NotNegative = parameter(0.0, "kg", "of everything beyond it; 0 where the robot has removed its payload")
    center_of_mass: Three[Number] = parameter((0.0,) * 3, "m", "of that mass, in its own axes")
    noise: Six[Positive] = parameter(
        (1.0,) * 6, "-", "its noise over that of the first sensor, axes of the first; its share is 1 / (1 + noise^2)"
    )
    lag: NotNegative = parameter(0.0, "s", "by which it is later than the first sensor: its own filter and connection")
    tolerance: Two[Positive] = parameter((5.0, 0.5), "N, Nm", "difference of an axis beyond which one of them is wrong")
    patience: Positive = parameter(0.1, "s", "for which they may differ by more before one is dropped or the arm stops")
    rate: Two[Positive] = parameter(
        (100.0, 10.0), "N/s, Nm/s", "fastest change of the wrench by dropping a sensor or taking it back"
    )


class Schema(Group):
    """All of them; parameters.py has the object that programs use."""

    joints: Six[Name] = parameter(JOINT_NAMES, "-", "joint names, base to tool")
    base_link: Name = parameter("base_link", "-", "frame in which poses and references are given")
    tip_link: Name = parameter("tool0", "-", "flange frame")
    ft_frame: Name = parameter(
        "tool0", "-", "frame of the force/torque sensor; the same as tip_link: the frame that its messages name"
    )
    control_rate: Rate = parameter(500.0, "Hz", "ticks per second")
    control_frame: Literal["base", "tcp", "task", "normal"] = parameter(
        "base",
        "-",
        "axes of mass, damping, stiffness; tcp: of the reference pose; task: of task_rotation; "
        "normal: task axes with z along the estimated surface normal",
    )
    task_rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of the task axes in the base frame")
    gravity: Three[Number] = parameter(
        (0.0, 0.0, -9.80665), "m/s2", "gravity in base axes; turn it for a tilted or ceiling-mounted base"
    )
    admittance: Admittance = Admittance()
    contact: Contact = Contact()
    tracking: Tracking = Tracking()
    reference: Reference = Reference()
    robot: Robot = Robot()
    max_linear_velocity: Positive = parameter(0.5, "m/s", "largest TCP speed")
    max_angular_velocity: Positive = parameter(1.0, "rad/s", "largest TCP turning speed")
    max_linear_acceleration: Braking = parameter(
        5.0, "m/s2", "largest TCP acceleration; low values distort the law (8 N on 8 kg already ask for 1 m/s2)"
    )
    max_angular_acceleration: Braking = parameter(25.0, "rad/s2", "largest angular TCP acceleration")
    workspace: Workspace = Workspace()
    region_1: Region = Region()
    region_2: Region = Region()
    region_3: Region = Region()
    collision: Collision = Collision()
    joint_limits: JointLimits = JointLimits()
    velocity_scale_factor: Share = parameter(1.0, "-", "scales every speed limit")
    safety: Safety = Safety()
    guiding: Guiding = Guiding()
    sensor: Sensor = Sensor()
    tool: Tool = Tool()
    second: Second = Second()
    trajectory_duration: Moment = parameter(
        0.04, "s", "least time in which the arm comes to rest when trajectories end; braking may take longer"
    )
    dynamic_parameters: Switch = parameter(True, "-", "accept parameter changes while running")
