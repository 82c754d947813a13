"""The admittance node as a program of the command line."""

from collections.abc import Callable
from typing import Any

from ur_admittance.params import Parameters
from ur_admittance.ros.admittance_node import AdmittanceNode
from ur_admittance.ros.run import run


def run_ros(parameters: Parameters, say: Callable[[str], None], **options: Any) -> int:
    """Configured and activated by itself. Returns the exit code."""
    nodes: list[AdmittanceNode] = []

    def make() -> AdmittanceNode:
        nodes.append(AdmittanceNode(parameters, autostart=True, **options))
        return nodes[-1]

    code = run(make, [])
    if nodes and nodes[0].report is not None:
        say(str(nodes[0].report))
    return code
