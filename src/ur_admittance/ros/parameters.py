"""The schema as ROS parameters: declared with range and description, refused with the schema's sentence; and the
options of nodes.

`unset` is NaN in ROS: an array of six NaN, or a single NaN. Whole numbers are taken for doubles, so that
`ros2 param set /admittance_node admittance.mass "[8, 8, 8, 1, 1, 1]"` works as written.
"""

import math
from collections.abc import Mapping
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ur_admittance.calibration.tool_calibration import with_calibration
from ur_admittance.errors import ParameterError, UrAdmittanceError
from ur_admittance.params import Parameters, sentences
from ur_admittance.params.table import Row, rows
from ur_admittance.params.yaml import INCLUDE, OF_ROS

Option = tuple[Any, str] | tuple[Any, str, float, float]  # default, description, perhaps least and largest value

PREFIX: dict[str, Option] = {
    "tf_prefix": ("", "of the arm's links and joints, as the UR driver's tf_prefix: left_ for left_base_link"),
}
COMMANDING: dict[str, Option] = {
    "output": ("trajectory", "where commands go: trajectory or velocity (topics)"),
    "controller": ("", "name of the controller that takes them; empty: the one that fits and is active"),
}
# Of admittance_node, fixed at its start
OPTIONS: dict[str, Option] = {
    **PREFIX,
    **COMMANDING,
    "autostart": (
        False,
        "configure and activate by itself, once per start of the node; after a stop a person activates",
    ),
    "accept_load": (
        False,
        "activate although the tool reads a force at rest that nothing explains; the arm yields to it",
    ),
    "calibration_file": ("", "file of ur-admittance calibrate; parameters given otherwise have the last word"),
    "startup_timeout": (
        5.0,
        "how long configure waits for description, frames, joint states and wrench [s]",
        0.0,
        3600.0,
    ),
    "monitor_rate": (50.0, "of velocity and pose error [Hz]", 0.1, 1000.0),
    "tcp_frame": ("", "take the TCP from this frame of robot_description or /tf_static, in place of tool.tcp"),
    "realtime_priority": (0, "SCHED_FIFO priority of the loop, 1 to 99; 0: an ordinary thread", 0, 99),
    "log": ("", "record every cycle to this file (.mcap), for ur-admittance replay, why and plot; never overwritten"),
    "dashboard": (False, "show the page in the browser; its address is in the log"),
    "stages": (
        [""],
        "run in every cycle too: path:FILE,speed=0.05 in front of the law, smoother or follower behind it, or your own "
        "as module:Name",
    ),
    "controller_name": ("", "other programs on this computer see and ask it by this name; empty: none do"),
}


def to_ros(row: Row, value: Any) -> Any:
    """A value of the schema as ROS can hold it."""
    if row.length:
        if value is None:
            return [math.nan] * row.length
        return [_element(row, item) for item in value]
    return _element(row, value)


def _element(row: Row, value: Any) -> Any:
    if row.kind == "number":
        return math.nan if value is None else float(value)
    return value


def from_ros(row: Row, value: Any) -> Any:
    """A ROS value as the schema takes it; NaN is unset where something may be unset."""
    if value is None or not row.optional:
        return None if value is None else list(value) if hasattr(value, "__len__") and row.length else value
    if row.length:
        items = list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
        return None if isinstance(items, list) and len(items) == row.length and all(map(_is_nan, items)) else items
    return None if _is_nan(value) else value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def descriptor(row: Row) -> ParameterDescriptor:
    """What `ros2 param describe` and rqt show."""
    unit = "" if row.unit == "-" else f" [{row.unit}]"
    # dynamic typing lets an integer through to the schema, which takes it for a number
    described = ParameterDescriptor(
        description=f"{row.help}{unit}", additional_constraints=f"{row.allowed}{'; NaN: unset' if row.optional else ''}"
    )
    described.dynamic_typing = True
    if row.bounds is not None and not row.length and not row.optional:
        lower, upper = row.bounds
        described.floating_point_range = [FloatingPointRange(from_value=lower, to_value=upper, step=0.0)]
    return described


def option_value(name: str, default: Any, value: Any, lower: float = -math.inf, upper: float = math.inf) -> Any:
    """The value of an option, of the kind that its default has; a whole number will do for a double."""
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list of numbers"}
    texts = isinstance(default, list) and default != [] and isinstance(default[0], str)
    kind = "a list of texts" if texts else kinds[type(default)]
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif isinstance(default, list) and hasattr(value, "__len__") and not isinstance(value, str):
        value = [float(item) if isinstance(item, int) else item for item in value]
    if type(value) is not type(default) or (texts and not all(isinstance(item, str) for item in value)):
        raise ParameterError(f"{name} = {value!r}: must be {kind}.", name)
    if isinstance(value, float | int) and not lower <= value <= upper:
        raise ParameterError(f"{name} = {value:g}: must be {lower:g} to {upper:g}.", name)
    return value


class SchemaParameters:
    """Mix-in of a node: `parameters` is always the validated set that the ROS parameters show."""

    parameters: Parameters

    def declare_options(self: Any, options: Mapping[str, Option]) -> None:
        """Parameters of this node alone, fixed at its start. Raises ParameterError with the sentence."""
        for name, (default, text, *bounds) in options.items():
            override = self._parameter_overrides.get(name)
            value = default if override is None else option_value(name, default, override.value, *bounds)
            described = ParameterDescriptor(description=text, read_only=True)
            self.declare_parameter(name, value, described, ignore_override=True)

    def option(self: Any, name: str) -> Any:
        value = self.get_parameter(name).value
        return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def prefixed(self: Any, parameters: Parameters) -> Parameters:
        """With the option tf_prefix in front of the usual names of links and joints."""
        prefix, usual = self.option("tf_prefix"), Parameters()
        names = {name: prefix + getattr(usual, name) for name in ("base_link", "tip_link", "ft_frame")}
        names["joints"] = tuple(prefix + joint for joint in usual.joints)
        return parameters.changed({n: v for n, v in names.items() if getattr(parameters, n) == getattr(usual, n)})

    def calibrated(self: Any, parameters: Parameters) -> Parameters:
        """With the option calibration_file, if there is one and it is given."""
        file = self.option("calibration_file") if self.has_parameter("calibration_file") else ""
        return with_calibration(parameters, file) if file else parameters

    def declare_schema(self: Any, base: Parameters) -> None:
        """Declare every parameter of the schema, with what the command line and the parameter files give. Raises
        ParameterError with the sentence."""
        given = {name: parameter.value for name, parameter in self._parameter_overrides.items()}
        self.schema_rows: dict[str, Row] = rows()
        for name in given:
            if name == INCLUDE:
                raise ParameterError(
                    "include: works in files read by ur-admittance; for a node use the parameter calibration_file.",
                    INCLUDE,
                )
            ours = name in self.schema_rows or self.has_parameter(name)
            if not ours and name.split(".")[0] not in (*OF_ROS, "qos_overrides"):
                raise sentences.unknown(name)
        changes = {name: from_ros(row, given[name]) for name, row in self.schema_rows.items() if name in given}
        self.parameters = base.changed(changes)
        values = self.parameters.flat()
        for name, row in self.schema_rows.items():
            self.declare_parameter(name, to_ros(row, values[name]), descriptor(row), ignore_override=True)

    def take_over(self, candidate: Parameters) -> None:
        """A node with a controller hands the parameters on; raises ParameterError to refuse them."""

    def check_other(self, parameter: Parameter) -> None:
        """A node refuses what it cannot have changed now, with a ParameterError. parameter: not one of the schema."""

    def parameters_shown(self, parameters: Parameters) -> None:
        """For what a node keeps besides its controller."""

    def in_force(self) -> Parameters:
        """What the next change starts from; a node with a controller asks it, whom others may have changed."""
        return self.parameters

    def change_parameters(self: Any, changes: Mapping[str, Any]) -> None:
        """Change parameters from inside the node, and show it. Raises ParameterError."""
        candidate = self.in_force().changed(changes)
        self.take_over(candidate)
        self.show_parameters(candidate)

    def show_parameters(self: Any, candidate: Parameters) -> SetParametersResult:
        """Let the ROS parameters say what is in force."""
        before, after = self.parameters.flat(), candidate.flat()
        self.parameters = candidate
        self.parameters_shown(candidate)
        shown = [
            Parameter(name, value=to_ros(row, after[name]))
            for name, row in self.schema_rows.items()
            if before[name] != after[name]
        ]
        if not shown:
            return SetParametersResult(successful=True)
        return Node.set_parameters_atomically(self, shown)

    def set_parameters_atomically(self: Any, parameter_list: list[Parameter]) -> SetParametersResult:
        """All or nothing, as ROS wants it; a refusal is the schema's sentence."""
        if not hasattr(self, "schema_rows"):
            return Node.set_parameters_atomically(self, parameter_list)
        changes: dict[str, Any] = {}
        others = []
        try:
            for parameter in parameter_list:
                row = self.schema_rows.get(parameter.name)
                if row is not None:
                    changes[parameter.name] = from_ros(row, parameter.value)
                elif self.has_parameter(parameter.name):
                    self.check_other(parameter)
                    others.append(parameter)
                else:
                    raise sentences.unknown(parameter.name)
            candidate = self.in_force().changed(changes)
            before = [self.get_parameter(parameter.name) for parameter in others]
            if others:  # first, as ROS itself may refuse them
                result = Node.set_parameters_atomically(self, others)
                if not result.successful:
                    return result
            try:
                self.take_over(candidate)
            except UrAdmittanceError:
                if others:
                    Node.set_parameters_atomically(self, before)
                raise
            return self.show_parameters(candidate)
        except UrAdmittanceError as error:
            return SetParametersResult(successful=False, reason=str(error))

    def set_parameters(self: Any, parameter_list: list[Parameter]) -> list[SetParametersResult]:
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]
