"""The admittance node as a program of the command line."""

from collections.abc import Callable
from typing import Any

from ur_admittance.core.records import Mode
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.ros.admittance_node import AdmittanceNode
from ur_admittance.ros.options import OPTIONS
from ur_admittance.ros.parameters import option_value
from ur_admittance.ros.run import run

OWN = ("activate", "duration")  # of the program


def run_ros(parameters: Parameters, say: Callable[[str], None], **options: Any) -> int:
    """Configured and activated by itself; options: of the node. Returns the exit code; 1: it ended in a fault, or the
    recording is incomplete."""
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
        nodes.append(AdmittanceNode(parameters, autostart=True, **options))
        return nodes[-1]

    code = run(make, [])
    report = nodes[0].report if nodes else None
    if report is None:
        return code
    say(str(report))
    return code or int(report.mode == Mode.FAULT or bool(report.recording_problem))
