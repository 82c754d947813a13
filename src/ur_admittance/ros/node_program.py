"""The admittance node as a program of the command line."""

from collections.abc import Callable
from typing import Any

from ur_admittance.core.records import Mode
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.ros.admittance_node import AdmittanceNode
from ur_admittance.ros.node_options import OPTIONS
from ur_admittance.ros.node_run import run
from ur_admittance.ros.parameters import option_value

OWN = ("activate", "duration")  # of the program


def run_ros(parameters: Parameters, say: Callable[[str], None], **options: Any) -> int:
    """Configured and activated by itself; options: of the node. Returns the exit code; 1: it ended in a fault, the loop
    failed, or the recording is incomplete."""
    for name, value in options.items():
        if name in OPTIONS:
            default, _, *bounds = OPTIONS[name]
            options[name] = option_value(name, default, value, *bounds)
        elif name not in OWN:
            raise ParameterError(
                f"{name} is not an option of admittance_node: must be one of {', '.join(OPTIONS)}.", name
            )
    nodes: list[AdmittanceNode] = []

    def make() -> AdmittanceNode:
        nodes.append(AdmittanceNode(parameters, attended=True, **{**options, "autostart": True}))
        return nodes[-1]

    code = run(make, [])
    report, failure = (nodes[0].report, nodes[0].failure or nodes[0].autostart.refusal) if nodes else (None, "")
    if failure:
        say(failure)
    if report is not None:
        say(str(report))
        failure = failure or report.recording_problem
    return code or int(bool(failure) or (report is not None and report.mode == Mode.FAULT))
