"""A controller manager with the mock hardware of ros2_control: an arm that is at once where it is told to be, and a
force sensor that reads what it is told to."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import rclpy
from ament_index_python.packages import get_package_prefix
from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import ConfigureController, ListControllers, LoadController, SwitchController
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from ur_admittance.cli.params import _record
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
from ur_admittance.core.tick import tick
from ur_admittance.library import digest
from ur_admittance.model import JOINT_NAMES, robot_model
from ur_admittance.params import Parameters

HOME = (0.0, -1.57, 1.57, -1.57, -1.57, 0.0)
HEAD = np.dtype([("state", "i8"), ("fresh", "i8"), ("took_ns", "i8")])
CYCLE = np.dtype([("params", PARAMS), ("sample", SAMPLE), ("command", COMMAND)])
FORCES = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
TWIST = [f"{kind}.{axis}" for kind in ("linear", "angular") for axis in "xyz"]
FORWARD = "forward_command_controller/MultiInterfaceForwardCommandController"


def write_record(file: Path, changes=(), model="ur5e") -> Path:
    """As ur-admittance params record."""
    file.write_bytes(_record(Parameters().changed(dict(changes)), robot_model(model)) + digest().encode())
    return file


def description(joints=JOINT_NAMES, force="0.0") -> str:
    """force: that the sensor reads at first; None: NaN."""
    interface = '<state_interface name="{}"><param name="initial_value">{}</param></state_interface>'
    links, hardware = '<link name="l0"/>', ""
    for i, name in enumerate(joints):
        links += (
            f'<link name="l{i + 1}"/><joint name="{name}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
            '<axis xyz="0 0 1"/><limit lower="-6.28" upper="6.28" velocity="3.14" effort="150"/></joint>'
        )
        start = HOME[JOINT_NAMES.index(name)] if name in JOINT_NAMES else 0.0
        hardware += f'<joint name="{name}"><command_interface name="position"/><command_interface name="velocity"/>'
        hardware += interface.format("position", start) + interface.format("velocity", 0.0) + "</joint>"
    sensor = "".join(
        f'<state_interface name="{name}"/>' if force is None else interface.format(name, force) for name in FORCES
    )
    return (
        f'<?xml version="1.0"?><robot name="arm">{links}<ros2_control name="arm" type="system"><hardware>'
        '<plugin>mock_components/GenericSystem</plugin><param name="calculate_dynamics">true</param>'
        f'<param name="mock_sensor_commands">true</param></hardware>{hardware}'
        f'<sensor name="tcp_fts_sensor">{sensor}</sensor></ros2_control></robot>'
    )


class Arm:
    """with Arm(folder) as arm: controllers `admittance`, `hand` (presses), `leader`, `other` (wants the joints)."""

    def __init__(self, folder: Path, rate=500, urdf="", interface="position", parameters=(), **more) -> None:
        self.folder, self.urdf, self.log = folder, urdf or description(), folder / "ticks"
        self.record = write_record(folder / "first.bin", {"control_rate": 500.0, **dict(parameters)})
        admittance = {"parameters_file": str(self.record), "command_interface": interface}
        admittance |= {"comply_on_activation": True} | more
        joint_names = list(JOINT_NAMES)
        controllers = {
            "admittance": ("ur_admittance_controller/AdmittanceController", admittance),
            "second": ("ur_admittance_controller/AdmittanceController", admittance),
            "hand": (FORWARD, {"joint": "tcp_fts_sensor", "interface_names": FORCES}),
            "leader": (FORWARD, {"joint": "admittance/twist", "interface_names": TWIST}),
            "other": (
                "forward_command_controller/ForwardCommandController",
                {"joints": joint_names, "interface_name": interface},
            ),
            "joint_state_broadcaster": ("joint_state_broadcaster/JointStateBroadcaster", {}),
        }
        manager = {"update_rate": rate} | {name: {"type": kind} for name, (kind, _) in controllers.items()}
        sections = {"controller_manager": manager} | {
            name: values for name, (_, values) in controllers.items() if values
        }
        (folder / "controllers.yaml").write_text(
            json.dumps({name: {"ros__parameters": values} for name, values in sections.items()})
        )
        self.states: list[DiagnosticStatus] = []
        self.joints: list[JointState] = []
        self.wrenches: list[WrenchStamped] = []

    def __enter__(self) -> "Arm":
        rclpy.init()
        self.node = rclpy.create_node("judge")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.node.create_publisher(String, "/robot_description", latched)
        self._description.publish(String(data=self.urdf))
        self.node.create_subscription(DiagnosticStatus, "/admittance/state", self.states.append, 10)
        self.node.create_subscription(WrenchStamped, "/admittance/wrench", self.wrenches.append, 10)
        self.node.create_subscription(JointState, "/joint_states", self.joints.append, 100)
        self._hand = self.node.create_publisher(Float64MultiArray, "/hand/commands", 10)
        self._leader = self.node.create_publisher(Float64MultiArray, "/leader/commands", 10)
        environment = os.environ | {"LD_PRELOAD": os.environ["LOG_TICKS"], "TICK_LOG": str(self.log)}
        program = Path(get_package_prefix("controller_manager"), "lib/controller_manager/ros2_control_node")
        self._out = (self.folder / "manager.txt").open("w")
        self._process = subprocess.Popen(
            [program, "--ros-args", "--params-file", self.folder / "controllers.yaml"],
            env=environment, stdout=self._out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return self

    def __exit__(self, *_) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self.exit_code = self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            self._out.close()
            self.node.destroy_node()
            rclpy.shutdown()

    @property
    def said(self) -> str:
        return (self.folder / "manager.txt").read_text()

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.005)

    def call(self, kind, service: str, **fields):
        client = self.node.create_client(kind, service)
        assert client.wait_for_service(20.0), service
        future = client.call_async(kind.Request(**fields))
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=20.0)
        self.node.destroy_client(client)
        return future.result()

    def manager(self, kind, service: str, **fields):
        return self.call(kind, f"/controller_manager/{service}", **fields)

    def load(self, *names: str) -> bool:
        """And configure."""
        return all(
            self.manager(LoadController, "load_controller", name=name).ok
            and self.manager(ConfigureController, "configure_controller", name=name).ok
            for name in names
        )

    def switch(self, on=(), off=()) -> bool:
        limit = Duration(sec=5)
        return self.manager(
            SwitchController, "switch_controller",
            activate_controllers=list(on), deactivate_controllers=list(off), strictness=2, activate_asap=True,
            timeout=limit,
        ).ok  # fmt: skip

    def controllers(self) -> dict[str, str]:
        return {c.name: c.state for c in self.manager(ListControllers, "list_controllers").controller}

    def push(self, *wrench: float) -> None:
        self._hand.publish(Float64MultiArray(data=[*map(float, wrench), *[0.0] * (6 - len(wrench))]))

    def lead(self, *twist: float) -> None:
        self._leader.publish(Float64MultiArray(data=[*map(float, twist), *[0.0] * (6 - len(twist))]))

    def set(self, name: str, value) -> str:
        """Empty: taken; otherwise why not."""
        kinds = {
            str: (ParameterType.PARAMETER_STRING, "string_value"),
            bool: (ParameterType.PARAMETER_BOOL, "bool_value"),
        }
        kind, field = kinds[type(value)]
        change = Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))
        result = self.call(SetParameters, "/admittance/set_parameters", parameters=[change]).results[0]
        assert result.successful == (result.reason == "")
        return result.reason

    def pause(self, seconds: float) -> None:
        """Of the whole process."""
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def comply(self, on: bool):
        return self.call(SetBool, "/admittance/comply", data=on)

    def reset_fault(self):
        return self.call(Trigger, "/admittance/reset_fault")

    def message(self) -> str:
        """Mode and status, by now."""
        self.states.clear()
        for _ in range(20):
            self.spin(0.1)
            if self.states:
                return self.states[-1].message
        return ""

    def start(self, seconds: float = 0.8) -> str:
        assert self.load("joint_state_broadcaster", "hand", "admittance"), self.said
        assert self.switch(on=["joint_state_broadcaster", "hand"])
        self.spin(0.2)
        assert self.switch(on=["admittance"]), self.said
        self.spin(seconds)
        return self.message()


def ticks(log: Path) -> tuple[list[np.ndarray], list[np.ndarray], list[int]]:
    """For each state in the order of its first tick: its cycles (CYCLE), their times [ns], and how many commands Python
    computes otherwise."""
    data, at = log.read_bytes() if log.exists() else b"", 0
    runs: list[tuple[list[bytes], list[int], int]] = []
    present: dict[int, int] = {}
    states, differ = {}, []
    while at + HEAD.itemsize + CYCLE.itemsize <= len(data):
        head = np.frombuffer(data, HEAD, 1, at)[0]
        at += HEAD.itemsize
        if head["fresh"]:
            present[int(head["state"])] = len(runs)
            states[len(runs)] = np.frombuffer(data, STATE, 1, at).copy()
            runs.append(([], [], 0))
            differ.append(0)
            at += STATE.itemsize
        run = present[int(head["state"])]
        runs[run][0].append(data[at : at + CYCLE.itemsize])
        runs[run][1].append(int(head["took_ns"]))
        at += CYCLE.itemsize
    p, u, c = new(PARAMS), new(SAMPLE), new(COMMAND)
    cycles = [np.frombuffer(b"".join(rows), CYCLE) for rows, _, _ in runs]
    for run, rows in enumerate(cycles):
        c[:] = np.zeros(1, COMMAND)
        for row in rows:
            p[0], u[0] = row["params"], row["sample"]
            tick(p, states[run], u, c)
            differ[run] += c.tobytes() != row["command"].tobytes()
    return cycles, [np.array(times) for _, times, _ in runs], differ
