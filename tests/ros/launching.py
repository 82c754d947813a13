"""Launch files, built with the package and started.

`launch` and `launch_ros` come with a ROS installation and have no wheels. Where they are installed they start the file;
elsewhere the classes below do, which make the same command lines of it as launch_ros 0.26 (Jazzy).
"""

import importlib.util
import os
import subprocess
import sys
import types
from pathlib import Path

import yaml

PACKAGE = Path(__file__).resolve().parents[2] / "ros2" / "ur_admittance_ros"
REAL = importlib.util.find_spec("launch_ros") is not None
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
arguments = [word.split(":=", 1) for word in sys.argv[2:]]
service = LaunchService()
file = IncludeLaunchDescription(PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments=arguments)
service.include_launch_description(LaunchDescription([file]))
sys.exit(service.run())
"""


def build(folder, *options):
    """`colcon build` of the package into folder/install; returns the prefix."""
    command = [sys.executable, "-m", "colcon", "build", "--base-paths", str(PACKAGE)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "COLCON_LOG_PATH": str(folder / "log")}
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, timeout=200, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "install" / "ur_admittance_ros"


def start(processes, prefix, file, **arguments):
    """What `ros2 launch ur_admittance_ros <file> name:=value ...` starts, with the environment of the package."""
    lines = commands(prefix, file, **arguments)
    if REAL:
        path = prefix / "share" / "ur_admittance_ros" / "launch" / file
        lines = [[sys.executable, "-c", LAUNCH, str(path), *(f"{k}:={v}" for k, v in arguments.items())]]
    for line in lines:
        sourced = ["bash", "-c", f'. "{prefix.parent}/setup.sh" && exec "$@"', "bash", *line]
        processes.start_command(sourced, Path(line[0]).name)


def commands(prefix, file, **arguments):
    """One command line for each node of the file."""
    modules = {
        "launch": [LaunchDescription], "launch.actions": [DeclareLaunchArgument], "launch.conditions": [IfCondition],
        "launch.substitutions": [LaunchConfiguration, PathJoinSubstitution],
        "launch_ros": [], "launch_ros.actions": [Node], "launch_ros.substitutions": [FindPackageShare],
    }  # fmt: skip
    before = {name: sys.modules.pop(name, None) for name in modules}
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        for member in members:
            setattr(sys.modules[name], member.__name__, member)
    try:
        path = prefix / "share" / "ur_admittance_ros" / "launch" / file
        spec = importlib.util.spec_from_file_location("launch_file", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        entities = module.generate_launch_description().entities
    finally:
        for name in modules:
            del sys.modules[name]
        sys.modules.update({name: module for name, module in before.items() if module is not None})
    context = types.SimpleNamespace(prefix=prefix, declared=[], arguments=dict(arguments))
    lines = [line for entity in entities if (line := entity.execute(context))]
    assert set(arguments) <= set(context.declared), f"{file} has no such argument"
    return lines


def performed(value, context):
    return value.perform(context) if hasattr(value, "perform") else value


class LaunchDescription:
    def __init__(self, entities):
        self.entities = entities


class DeclareLaunchArgument:
    def __init__(self, name, *, default_value, description):
        self.name, self.default = name, default_value

    def execute(self, context):
        context.declared.append(self.name)
        context.arguments.setdefault(self.name, performed(self.default, context))


class LaunchConfiguration:
    def __init__(self, name):
        self.name = name

    def perform(self, context):
        return context.arguments[self.name]  # an argument that was not declared is an error


class FindPackageShare:
    def __init__(self, package):
        self.package = package

    def perform(self, context):
        return str(context.prefix / "share" / self.package)


class PathJoinSubstitution:
    def __init__(self, parts):
        self.parts = parts

    def perform(self, context):
        return str(Path(*(performed(part, context) for part in self.parts)))


class IfCondition:
    def __init__(self, value):
        self.value = value

    def evaluate(self, context):
        return {"true": True, "1": True, "false": False, "0": False}[performed(self.value, context).lower()]


class Node:
    def __init__(
        self,
        *,
        package,
        executable,
        name=None,
        namespace=None,
        parameters=(),
        remappings=(),
        arguments=(),
        condition=None,
        output="log",
    ):
        self.package, self.executable, self.name = package, executable, name
        self.parameters, self.remappings, self.arguments = parameters, remappings, arguments
        self.condition, self.namespace = condition, namespace

    def execute(self, context):
        if self.condition is not None and not self.condition.evaluate(context):
            return []
        line = [str(context.prefix / "lib" / self.package / self.executable)]
        line += [performed(word, context) for word in self.arguments] + ["--ros-args"]
        line += ["-r", f"__node:={self.name}"] if self.name else []
        space = "" if self.namespace is None else performed(self.namespace, context)
        line += ["-r", f"__ns:=/{space.strip('/')}"] if self.namespace is not None else []
        for k, given in enumerate(self.parameters):
            file = performed(given, context)
            if isinstance(given, dict):
                values = {name: self.value(value, context) for name, value in given.items()}
                file = context.prefix / f"{self.executable}_{k}_{space.strip('/')}.yaml"
                file.write_text(yaml.dump({"/**": {"ros__parameters": values}}))
            elif not Path(file).is_file():  # launch_ros leaves it out with a warning
                continue
            line += ["--params-file", str(file)]
        for old, new in self.remappings:
            line += ["-r", f"{old}:={performed(new, context)}"]
        return line

    @staticmethod
    def value(given, context):
        """What is filled in is read as YAML: "1" becomes a number, "" stays a text."""
        return yaml.safe_load(performed(given, context) or "''") if hasattr(given, "perform") else given
