"""Python messages of packages that exist in a ROS installation but not as wheels, generated from their definitions.

    build("tf2_msgs", out)     -> folder to put on PYTHONPATH, with tf2_msgs in it

The steps of rosidl without CMake: definition -> IDL -> type hash -> C structs -> type supports -> Python, then gcc.
Only what the tests use is defined here; a ROS installation brings the real ones.
"""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

DEFINITIONS = {
    "tf2_msgs": {"msg/TFMessage.msg": "geometry_msgs/TransformStamped[] transforms\n"},
    # ur_dashboard_msgs of the driver 3.8.0
    "ur_dashboard_msgs": {
        "msg/RobotMode.msg": (
            "int8 NO_CONTROLLER=-1\nint8 DISCONNECTED=0\nint8 CONFIRM_SAFETY=1\nint8 BOOTING=2\nint8 POWER_OFF=3\n"
            "int8 POWER_ON=4\nint8 IDLE=5\nint8 BACKDRIVE=6\nint8 RUNNING=7\nint8 UPDATING_FIRMWARE=8\nint8 mode\n"
        ),
        "msg/SafetyMode.msg": (
            "uint8 NORMAL=1\nuint8 REDUCED=2\nuint8 PROTECTIVE_STOP=3\nuint8 RECOVERY=4\nuint8 SAFEGUARD_STOP=5\n"
            "uint8 SYSTEM_EMERGENCY_STOP=6\nuint8 ROBOT_EMERGENCY_STOP=7\nuint8 VIOLATION=8\nuint8 FAULT=9\n"
            "uint8 VALIDATE_JOINT_ID=10\nuint8 UNDEFINED_SAFETY_MODE=11\nuint8 AUTOMATIC_MODE_SAFEGUARD_STOP=12\n"
            "uint8 SYSTEM_THREE_POSITION_ENABLING_STOP=13\nuint8 mode\n"
        ),
    },
    # ur_msgs 2.3.0
    "ur_msgs": {
        "msg/Digital.msg": "uint8 pin\nbool state\n",
        "msg/Analog.msg": "uint8 CURRENT=0\nuint8 VOLTAGE=1\nuint8 pin\nuint8 domain\nfloat32 state\n",
        "msg/IOStates.msg": (
            "Digital[] digital_in_states\nDigital[] digital_out_states\nDigital[] flag_states\n"
            "Analog[] analog_in_states\nAnalog[] analog_out_states\n"
        ),
        "srv/SetIO.srv": (
            "int8 FUN_SET_DIGITAL_OUT=1\nint8 FUN_SET_FLAG=2\nint8 FUN_SET_ANALOG_OUT=3\nint8 FUN_SET_TOOL_VOLTAGE=4\n"
            "int8 STATE_OFF=0\nint8 STATE_ON=1\nint8 STATE_TOOL_VOLTAGE_0V=0\nint8 STATE_TOOL_VOLTAGE_12V=12\n"
            "int8 STATE_TOOL_VOLTAGE_24V=24\nint8 fun\nint8 pin\nfloat32 state\n---\nbool success\n"
        ),
    },
    # controller_manager_msgs of ros2_control 4.46.0
    "controller_manager_msgs": {
        "msg/ChainConnection.msg": "string name\nstring[] reference_interfaces\n",
        "msg/ControllerState.msg": (
            "string name\nstring state\nstring type\nbool is_async\nuint16 update_rate\n"
            "string[] claimed_interfaces\nstring[] required_command_interfaces\nstring[] required_state_interfaces\n"
            "bool is_chainable\nbool is_chained\nstring[] exported_state_interfaces\n"
            "string[] reference_interfaces\nChainConnection[] chain_connections\n"
        ),
        "srv/ListControllers.srv": "---\nControllerState[] controller\n",
        "srv/SwitchController.srv": (
            "string[] activate_controllers\nstring[] deactivate_controllers\nint32 strictness\n"
            "int32 BEST_EFFORT=1\nint32 STRICT=2\nint32 AUTO=3\nint32 FORCE_AUTO=4\nbool activate_asap\n"
            "builtin_interfaces/Duration timeout\n---\nbool ok\nstring message\n"
        ),
    },
}
IMPLEMENTATIONS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")


def folder() -> Path:
    """Where the messages of this Python are: kept between runs, as they take 10 s to build."""
    key = hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode() + sys.prefix.encode()).hexdigest()[:12]
    found = Path(tempfile.gettempdir()) / f"ur_admittance_interfaces_{os.getuid()}_{key}"
    found.mkdir(exist_ok=True)
    with (found / "lock").open("w") as lock:  # workers that run beside each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found / "complete").exists():
            for package in DEFINITIONS:
                build(package, found)
            (found / "complete").touch()
    return found


def use() -> Path:
    """By this process and those that it starts."""
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
    found = folder()
    sys.path.insert(0, str(found))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(found), os.environ.get("PYTHONPATH", "")])
    return found


def build(package: str, out: Path) -> Path:
    """Generate and compile; seconds."""
    prefix = Path(sys.prefix)
    share = prefix / "share"
    source, package_dir = out / "definitions" / package, out / package
    idl = _to_idl(package, source)
    arguments = {
        "package_name": package,
        "idl_tuples": [f"{source}:{path.relative_to(source)}" for path in idl],
        "ros_interface_dependencies": [],
        "target_dependencies": [],
        "include_paths": [f"{path.name}:{path}" for path in share.iterdir() if path.is_dir()],
    }
    package_dir.mkdir(parents=True, exist_ok=True)
    generated = out / "generated"
    _generate(package, arguments, idl, source, package_dir, generated, share)
    _compile(package, package_dir, generated, prefix)
    (package_dir / "__init__.py").write_text("")
    return out


def _to_idl(package: str, source: Path) -> list[Path]:
    from rosidl_adapter import convert_to_idl

    paths = []
    for name, text in DEFINITIONS[package].items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        convert_to_idl(source, package, Path(name), source)
        paths.append(path.with_suffix(".idl"))
    return paths


def _generate(package, arguments, idl, source, package_dir, generated, share) -> None:
    import rosidl_generator_c
    import rosidl_generator_py
    import rosidl_generator_type_description
    import rosidl_typesupport_c
    import rosidl_typesupport_fastrtps_c
    import rosidl_typesupport_introspection_c

    def give(generator: str, folder: Path | None = None) -> str:
        """A folder of its own for each generator: some write files of the same name."""
        folder = folder or generated / generator / package
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "arguments.json"
        templates = str(share / generator / "resource")
        file.write_text(json.dumps({**arguments, "output_dir": str(folder), "template_dir": templates}))
        return str(file)

    rosidl_generator_type_description.generate_type_hash(give("rosidl_generator_type_description"))
    hashes = generated / "rosidl_generator_type_description" / package
    arguments["type_description_tuples"] = [
        f"{path.relative_to(source)}:{hashes / path.relative_to(source).with_suffix('.json')}" for path in idl
    ]
    rosidl_generator_c.generate_c(give("rosidl_generator_c"))
    rosidl_typesupport_introspection_c.generate_c(give("rosidl_typesupport_introspection_c"))
    rosidl_typesupport_fastrtps_c.generate_typesupport_fastrtps_c(give("rosidl_typesupport_fastrtps_c"))
    rosidl_typesupport_c.generate_c(give("rosidl_typesupport_c"), list(IMPLEMENTATIONS))
    rosidl_generator_py.generate_py(give("rosidl_generator_py", package_dir), ["rosidl_typesupport_c"])
    for generator in ("rosidl_generator_c", *IMPLEMENTATIONS):
        template = share / generator / "resource" / f"{generator}__visibility_control.h.in"
        text = template.read_text().replace("@PROJECT_NAME@", package).replace("@PROJECT_NAME_UPPER@", package.upper())
        header = generated / generator / package / "msg" / f"{generator}__visibility_control.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text)


def _compile(package: str, package_dir: Path, generated: Path, prefix: Path) -> None:
    includes = [f"-I{sysconfig.get_paths()['include']}", f"-I{_numpy_include()}", f"-I{prefix / 'include'}"]
    includes += [f"-I{path}" for path in generated.iterdir()]
    includes += [f"-I{path}" for path in (prefix / "include").iterdir() if path.is_dir()]
    flags = ["-O0", "-w", "-fPIC", "-shared", f'-DROS_PACKAGE_NAME="{package}"', *includes]
    paths = [f"-L{package_dir}", f"-L{prefix / 'lib'}", f"-Wl,-rpath,$ORIGIN:{prefix / 'lib'}", "-Wl,--no-as-needed"]
    needed = ("std_msgs", "geometry_msgs", "trajectory_msgs", "action_msgs", "service_msgs", "unique_identifier_msgs")
    linked = [
        path.name[3:-3]
        for name in (*needed, "builtin_interfaces")
        for kind in ("*_c", "generator_py")
        for path in sorted((prefix / "lib").glob(f"lib{name}__rosidl_{kind}.so"))
    ]
    runtime = ["rosidl_runtime_c", "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c"]
    runtime += ["rosidl_typesupport_fastrtps_cpp", "rosidl_typesupport_introspection_c", "fastcdr", "rmw", "rcutils"]
    libraries = [f"-l{name}" for name in linked + runtime]

    def link(name: str, files: list[Path], compiler: str, own: tuple[str, ...] = ()) -> None:
        command = [compiler, *flags, *map(str, files), "-o", str(package_dir / f"lib{name}.so")]
        command += [f"-Wl,-soname,lib{name}.so", *paths, *(f"-l{package}__{part}" for part in own), *libraries]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=200)

    def sources(generator: str) -> list[Path]:
        folder = generated / generator / package
        return sorted([*folder.rglob("*.c"), *folder.rglob("*.cpp")])

    link(f"{package}__rosidl_generator_c", sources("rosidl_generator_c"), "gcc")
    name = "rosidl_typesupport_introspection_c"
    link(f"{package}__{name}", sources(name), "gcc", ("rosidl_generator_c",))
    link(
        f"{package}__rosidl_typesupport_fastrtps_c",
        sources("rosidl_typesupport_fastrtps_c"),
        "g++",
        ("rosidl_generator_c",),
    )
    link(
        f"{package}__rosidl_typesupport_c",
        sources("rosidl_typesupport_c"),
        "g++",
        ("rosidl_generator_c",),
    )
    python = sorted(package_dir.glob("*/*_s.c"))
    extension = package_dir / f"{package}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    entry = sorted(package_dir.glob("*.ep.rosidl_typesupport_c.c"))
    command = ["gcc", *flags, *map(str, [*python, *entry]), "-o", str(extension), *paths]
    # linked so that they are loaded with it: the type support is then found by its name, without a search path
    own = ("rosidl_generator_c", "rosidl_typesupport_c", *IMPLEMENTATIONS)
    command += [*(f"-l{package}__{part}" for part in own), *libraries]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=200)


def _numpy_include() -> str:
    import numpy

    return numpy.get_include()
