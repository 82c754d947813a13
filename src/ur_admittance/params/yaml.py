"""ROS 2 parameter files, in and out; and those for typical tasks, the presets, which are installed with the package.

    /**:                       or the name of a node, or a namespace and a node
      ros__parameters:
        admittance:
          mass: [8, 8, 8, 0.8, 0.8, 0.8]
        tracking.velocity_gain: [2, 2, 2, 1, 1, 1]      dotted names are the same as nested ones
        include: calibration.yaml                       another such file, beside this one: its values come first

A refusal names the file and the line. A parameter given twice is refused. A group given twice is not: its values are
taken together, as ROS does it, where YAML loaders that keep the last one silently lose every value of the first.
"""

import io
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from ur_admittance import given
from ur_admittance.errors import ParameterError
from ur_admittance.outputs import at_once
from ur_admittance.params import sentences
from ur_admittance.params.parameters import Parameters
from ur_admittance.params.table import rows

SECTION = "ros__parameters"
EVERY_NODE = "/**"
DOCUMENTS_NODE = "/ur_admittance_controller"  # what the design documents call the node: taken where ours has no section
INCLUDE = "include"  # a file name or a list of them; this file has the last word
SOURCE = "sensor.source"  # a calibration holds for the sensor that it was made with
LARGEST_FILE = 1_000_000  # [bytes] a parameter file has a few kilobytes

FILES = resources.files("ur_admittance.params") / "presets"
PRESETS = tuple(sorted(file.name.removesuffix(".yaml") for file in FILES.iterdir() if file.name.endswith(".yaml")))

# Parameters that every ROS node has by itself; they appear in the same file and are not ours to judge.
OF_ROS = ("use_sim_time", "start_type_description_service", "qos_overrides")


@dataclass(frozen=True)
class Entry:
    name: str  # dotted
    value: Any
    line: int  # of the key, from 1
    file: str


def load_parameters(path: str | Path, node: str | None = None) -> Parameters:
    """The defaults changed by a file. `node` chooses a section when the file has those of several nodes."""
    path = given.file("parameters", path)
    return parse_parameters(_read(path), str(path), node, path.parent)


def parse_parameters(text: str, file: str, node: str | None = None, folder: Path | None = None) -> Parameters:
    """As load_parameters, from text; `file` is the name used in refusals, `folder` where included files are."""
    entries = _resolved(text, file, node, folder)
    unknown = [entry for entry in entries.values() if entry.name not in rows()]
    if unknown:
        words = (f"{entry.file}:{entry.line}: {sentences.unknown(entry.name)}" for entry in unknown)
        raise ParameterError("\n".join(words), unknown[0].name)
    return _changed(Parameters(), entries, file)


def changed_by_file(parameters: Parameters, path: str | Path) -> Parameters:
    """Parameters changed by what a file contains."""
    path = given.file("parameters", path)
    return _changed(parameters, _resolved(_read(path), str(path), None, path.parent), str(path))


def preset(name: str) -> Parameters:
    """Parameters for a typical task: hand_guiding, hand_guiding_reduced, light_guiding, surface_following, polishing,
    assembly, probe_contact."""
    return parse_parameters(preset_text(name), f"{name}.yaml")


def preset_text(name: str) -> str:
    """The file as it is, with its comments: a starting point for a file of your own."""
    if name not in PRESETS:
        raise ParameterError(f"{name} is not a preset; there are {', '.join(PRESETS)}")
    return FILES.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def _changed(parameters: Parameters, entries: dict[str, Entry], file: str) -> Parameters:
    try:
        return parameters.changed({entry.name: entry.value for entry in entries.values()})
    except ParameterError as error:
        entry = entries.get(error.name.partition("[")[0])
        where = f"{entry.file}:{entry.line}" if entry else file
        raise ParameterError(f"{where}: {error}", error.name) from None


def load_values(path: str | Path, node: str | None = None) -> dict[str, Any]:
    """Dotted name -> value of what a file contains, not yet validated."""
    path = Path(path)
    return {name: entry.value for name, entry in _resolved(_read(path), str(path), node, path.parent).items()}


def _resolved(text: str, file: str, node: str | None, folder: Path | None) -> dict[str, Entry]:
    """Entries by name: those of included files first, so that this file has the last word."""
    own = {entry.name: entry for entry in _entries(text, file, node)}
    include = own.pop(INCLUDE, None)
    if include is None:
        return own
    where = f"{file}:{include.line}"
    names = include.value if isinstance(include.value, list) else [include.value]
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"{where}: {INCLUDE} must be a file name or a list of file names", INCLUDE)
    if folder is None:
        raise ParameterError(f"{where}: {INCLUDE} works only in a file, which gives it a folder to start from", INCLUDE)
    included: dict[str, Entry] = {}
    for name in names:
        path = folder / name
        try:
            found = {entry.name: entry for entry in _entries(_read(path), str(path), node)}
        except ParameterError as error:
            raise ParameterError(f"{where}: {INCLUDE}: {error}", INCLUDE) from None
        if INCLUDE in found:
            raise ParameterError(f"{path}:{found[INCLUDE].line}: an included file must not include another", INCLUDE)
        _check_source(found.get(SOURCE), included.get(SOURCE))
        included |= found
    _check_source(own.get(SOURCE), included.get(SOURCE))
    return included | own


def _check_source(source: Entry | None, calibrated: Entry | None) -> None:
    """A calibration comes with its sensor; another file must not name another."""
    if source and calibrated and source.value != calibrated.value:
        raise ParameterError(
            f"{source.file}:{source.line}: {SOURCE} = {source.value}: {calibrated.file} was made with "
            f"{calibrated.value}; calibrate again, or use that source",
            SOURCE,
        )


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"{path}: is larger than {LARGEST_FILE // 1000} kB, not a parameter file")
        content = path.read_bytes()
    except FileNotFoundError:
        raise ParameterError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ParameterError(f"{path}: is a folder, not a parameter file") from None
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: is not a text file in UTF-8") from None
    if "\0" in text:
        raise ParameterError(f"{path}: is a binary file, not a parameter file")
    return text


def _entries(text: str, file: str, node: str | None) -> Iterator[Entry]:
    """Every parameter of the chosen sections with the line of its key."""
    yaml = YAML(typ="safe", pure=True)
    try:
        _refuse_aliases(yaml, text, file)
        root = yaml.compose(text)
        if root is None:
            raise ParameterError(f"{file}: is empty; a parameter file starts with '{EVERY_NODE}:' and '  {SECTION}:'")
        for section in _chosen(dict(_sections(root, file)), node, file):
            for key, value in _leaves(section, file):
                yield Entry(key.value, _value(yaml, key, value, file), _line(key), file)
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError(f"{file}{line}: is not YAML ({error.problem or error.context})") from None
    except (YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise ParameterError(f"{file}: is not YAML ({reason})") from None


def _value(yaml: YAML, key: ScalarNode, value: Node, file: str) -> Any:
    try:
        return yaml.constructor.construct_document(value)
    except ValueError as error:  # 2026-99-99, or a number of thousands of digits
        raise ParameterError(f"{file}:{_line(key)}: {key.value} has no readable value ({error})", key.value) from None


def _refuse_aliases(yaml: YAML, text: str, file: str) -> None:
    """ROS refuses them too; without them a file is a tree and cannot blow up."""
    for event in yaml.parse(text):
        if type(event).__name__ == "AliasEvent":
            raise ParameterError(f"{file}:{event.start_mark.line + 1}: aliases (*name) are not allowed, as in ROS")


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _items(mapping: Node, file: str, what: str) -> Iterator[tuple[ScalarNode, Node]]:
    if not isinstance(mapping, MappingNode):
        raise ParameterError(f"{file}:{_line(mapping)}: {what} must be a group of 'name: value' lines")
    for key, value in mapping.value:
        if not isinstance(key, ScalarNode):
            raise ParameterError(f"{file}:{_line(key)}: a key must be a plain name")
        yield key, value


def _sections(root: Node, file: str, prefix: str = "") -> Iterator[tuple[str, Node]]:
    """Node name -> its parameters, for every `ros__parameters` under node names and namespaces."""
    lines: dict[str, int] = {}
    for key, value in _items(root, file, prefix or "the file"):
        _refuse_second(lines, key.value, _line(key), file)
        if key.value == SECTION:
            yield prefix or EVERY_NODE, value
        elif isinstance(value, MappingNode):
            yield from _sections(value, file, f"{prefix.rstrip('/')}/{key.value.lstrip('/')}")
        else:
            raise ParameterError(f"{file}:{_line(key)}: {key.value} is outside '{SECTION}:'")


def _chosen(sections: dict[str, Node], node: str | None, file: str) -> list[Node]:
    """General section first, so that the one of the node has the last word."""
    if not sections:
        raise ParameterError(f"{file}: has no '{SECTION}:' section")
    if node is None and len(sections) > 1:
        raise ParameterError(f"{file}: has sections for {', '.join(sections)}; say which node to load")
    wanted = (
        list(sections) if node is None else [EVERY_NODE, f"{EVERY_NODE}/{node.lstrip('/')}", f"/{node.lstrip('/')}"]
    )
    found = [sections[name] for name in wanted if name in sections]
    if not found and DOCUMENTS_NODE in sections:
        found = [sections[DOCUMENTS_NODE]]
    if not found:
        raise ParameterError(f"{file}: has no section for node {node}, only for {', '.join(sections)}")
    return found


def _leaves(section: Node, file: str) -> Iterator[tuple[ScalarNode, Node]]:
    """Key (renamed to its full dotted name) and value of every parameter."""
    lines: dict[str, int] = {}

    def walk(mapping: Node, prefix: str) -> Iterator[tuple[ScalarNode, Node]]:
        for key, value in _items(mapping, file, prefix.rstrip(".") or SECTION):
            name = prefix + key.value
            if name.split(".")[0] in OF_ROS:
                continue
            if isinstance(value, MappingNode):
                yield from walk(value, f"{name}.")
            else:
                _refuse_second(lines, name, _line(key), file)
                key.value = name
                yield key, value

    return walk(section, "")


def _refuse_second(lines: dict[str, int], name: str, line: int, file: str) -> None:
    if name in lines:
        raise ParameterError(
            f"{file}:{line}: {sentences.shown(name)[1:-1]} is given a second time, first on line {lines[name]}", name
        )
    lines[name] = line


def dump_parameters(parameters: Parameters, node: str = EVERY_NODE, names: Collection[str] | None = None) -> str:
    """Text that loads back to the same parameters; names: only those. Unset ones stay out: ROS files have no null."""
    root = CommentedMap()
    for name, value in parameters.flat().items():
        if value is None or (names is not None and name not in names):
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


def save_parameters(parameters: Parameters, path: str | Path, node: str = EVERY_NODE, story: str = "") -> None:
    """story: comments at its head."""
    try:
        with at_once(Path(path)) as file:
            file.writelines(f"# {line}\n" for line in story.splitlines())
            file.write(dump_parameters(parameters, node))
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from None


def _flow(values: tuple[Any, ...]) -> CommentedSeq:
    """[1.0, 2.0, ...] on one line, `.nan` for an unset element."""
    sequence = CommentedSeq(math.nan if value is None else value for value in values)
    sequence.fa.set_flow_style()
    return sequence


class _Representer(RoundTripRepresenter):
    """Writes 1.0e-05 for 1e-05, which YAML 1.1 loaders (those of ROS tools) would read as a string."""

    def represent_number(self, value: float) -> ScalarNode:
        node: ScalarNode = self.represent_float(value)
        if "e" in node.value and "." not in node.value:
            node.value = node.value.replace("e", ".0e")
        return node


_Representer.add_representer(float, _Representer.represent_number)
