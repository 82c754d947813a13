"""Nodes of the driver that live in the double's process: each controller has its own name, topics and parameters.

They do not take the process's own arguments: `__node:=ur_sim` would rename them all. Remappings of topics and the
namespace they take.
"""

import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rclpy.node import Node

REMAP = ("-r", "--remap")


def beside(name: str, parameters: Mapping[str, Any] | None = None) -> Node:
    """A node with these parameters, for reading."""
    arguments = [part for rule in remappings(sys.argv) for part in ("-r", rule)]
    node = Node(name, use_global_arguments=False, cli_args=["--ros-args", *arguments] if arguments else None)
    for key, value in (parameters or {}).items():
        node.declare_parameter(key, value)
    return node


def remappings(arguments: Sequence[str]) -> list[str]:
    """Rules for topics, services and the namespace, not those that rename the node."""
    pairs = itertools.pairwise(arguments)
    return [
        rule for option, rule in pairs if option in REMAP and (rule.startswith("__ns:") or not rule.startswith("__"))
    ]
