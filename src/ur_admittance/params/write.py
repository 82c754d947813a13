"""Parameters -> text of a ROS 2 parameter file, with the unit and help of every value as a comment."""

import io
import math
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from ur_admittance.errors import ParameterError
from ur_admittance.params.schema import Parameters
from ur_admittance.params.table import rows
from ur_admittance.params.yaml import EVERY_NODE, SECTION


class _Representer(RoundTripRepresenter):
    """Writes 1.0e-05 for 1e-05, which YAML 1.1 loaders (those of ROS tools) would read as a string."""

    def represent_number(self, value: float) -> ScalarNode:
        node: ScalarNode = self.represent_float(value)
        if "e" in node.value and "." not in node.value:
            node.value = node.value.replace("e", ".0e")
        return node


_Representer.add_representer(float, _Representer.represent_number)


def dump_parameters(parameters: Parameters, node: str = EVERY_NODE) -> str:
    """Text that loads back to the same parameters. Unset ones are left out: ROS files have no null."""
    root = CommentedMap()
    for name, value in parameters.flat().items():
        if value is None:
            continue
        *groups, last = name.split(".")
        place = root
        for group in groups:
            place = place.setdefault(group, CommentedMap())
        place[last] = _flow(value) if isinstance(value, tuple) else value
        row = rows()[name]
        place.yaml_add_eol_comment(f"[{row.unit}] {row.help}" if row.unit != "-" else row.help, last)
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.width = 1000  # one line per parameter
    yaml.indent(mapping=2)
    stream = io.StringIO()
    yaml.dump({node: {SECTION: root}}, stream)
    return stream.getvalue()


def save_parameters(parameters: Parameters, path: str | Path, node: str = EVERY_NODE) -> None:
    try:
        part = Path(path).with_name(f".{Path(path).name}.part")
        part.write_text(dump_parameters(parameters, node), encoding="utf-8")
        part.replace(path)  # at once: nobody reads half a file, and a full disk leaves the old one
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def _flow(values: tuple[Any, ...]) -> CommentedSeq:
    """[1.0, 2.0, ...] on one line, `.nan` for an unset element."""
    sequence = CommentedSeq(math.nan if value is None else value for value in values)
    sequence.fa.set_flow_style()
    return sequence
