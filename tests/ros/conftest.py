"""Real nodes in processes of their own, over DDS on this machine; the tests are plain rclpy clients.

The network is one domain per test run, chosen at random, on localhost. Every process has an end: it is asked to stop,
and killed by its number if it does not.
"""

import contextlib
import hashlib
import importlib.util
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
if os.environ.get("ROS_DISTRO") == "humble":
    os.environ["ROS_LOCALHOST_ONLY"] = "1"  # the same, for that version
os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 100))
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"

if importlib.util.find_spec("rclpy") is None and os.environ.get("UR_ADMITTANCE_CI"):
    raise RuntimeError("rclpy is not installed: run these tests with `make test-ros`")

READY_S = 60.0
COMPILE_S = 600  # 30 s on a free core
# for machines with other work to do; where SCHED_FIFO is not permitted, things stay as they are
PATIENT = {"safety.joint_state_timeout": 0.4, "safety.wrench_timeout": 0.4, "realtime_priority": 20}


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(240 + COMPILE_S))


def ros_value(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(ros_value, value))}]"
    return str(value)


class Processes:
    """Nodes of one test or module."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, parameters=None, remap=None, arguments=(), environment=None):
        """`python -m ur_admittance.ros.<name>` with ROS parameters; returns the Popen, whose .log is the file."""
        command = [sys.executable, "-m", f"ur_admittance.ros.{name}", *arguments, "--ros-args"]
        if name == "sim_node":
            parameters = {"realtime_priority": 10, **(parameters or {})}
        for key, value in (parameters or {}).items():
            command += ["-p", f"{key}:={ros_value(value)}"]
        for key, value in (remap or {}).items():
            command += ["-r", f"{key}:={value}"]
        return self.start_command(command, name, environment)

    def start_command(self, command, name, environment=None):
        log = self.folder / f"{name}_{len(self.running)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
                preexec_fn=_prefer,
            )
        process.log = log
        self.running.append(process)
        return process

    def stop(self):
        for process in self.running[::-1]:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGINT)
        for process in self.running[::-1]:
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=5)

    def logs(self):
        return "\n".join(f"--- {p.log.name}\n{p.log.read_text()[-3000:]}" for p in self.running)


def _prefer():
    """A busy machine shall not decide about a test of timing; without the right to it, things stay as they are."""
    with contextlib.suppress(OSError):
        os.nice(-15)


class Client:
    """A plain rclpy node in a thread: what any other program on the network can do."""

    def __init__(self):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node("test_client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.end = False
        self.clients = {}
        self.made = []
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()

    def _spin(self):
        while not self.end:
            try:
                self.executor.spin_once(timeout_sec=0.05)
            except Exception as error:  # something was destroyed while it was being waited for
                print(f"client: {error}")  # noqa: T201

    def close(self):
        self.end = True
        self.thread.join(timeout=5)
        self.executor.shutdown(2.0)
        self.node.destroy_node()
        self.context.try_shutdown()

    def listen(self, kind, topic, latched=False):
        """List of (monotonic time, message) that grows."""
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

        qos = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
        if latched:
            qos = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        heard = []
        add = lambda message: heard.append((time.monotonic(), message))  # noqa: E731
        self.made.append(self.node.create_subscription(kind, topic, add, qos))
        return heard

    def publisher(self, kind, topic, qos=1):
        self.made.append(self.node.create_publisher(kind, topic, qos))
        return self.made[-1]

    def forget(self):
        """No more topics: what an earlier test listened to costs time."""
        for entity in self.made:
            destroy = self.node.destroy_subscription if hasattr(entity, "callback") else self.node.destroy_publisher
            destroy(entity)
        self.made.clear()

    def until(self, condition, timeout, what=""):
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout:g} s: {what}")
            time.sleep(0.005)

    def call(self, kind, name, request=None, timeout=20.0):
        client = self.clients.get(name)
        if client is None:
            client = self.clients[name] = self.node.create_client(kind, name)
        assert client.wait_for_service(timeout_sec=READY_S), f"no service {name}"
        future = client.call_async(request or kind.Request())
        self.until(future.done, timeout, f"answer of {name}")
        return future.result()

    def trigger(self, name, timeout=20.0):
        from std_srvs.srv import Trigger

        return self.call(Trigger, name, timeout=timeout)

    def transition(self, label, node="/admittance_node", timeout=40.0):
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = {"configure": 1, "cleanup": 2, "activate": 3, "deactivate": 4}.get(label, label)
        return self.call(ChangeState, f"{node}/change_state", request, timeout).success

    def life(self, node="/admittance_node"):
        from lifecycle_msgs.srv import GetState

        return self.call(GetState, f"{node}/get_state").current_state.label

    def set_parameter(self, name, value, node="/admittance_node"):
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        return self.call(SetParameters, f"{node}/set_parameters", request).results[0]

    def parameter(self, name, node="/admittance_node"):
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import Parameter

        answer = self.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=[name]))
        return Parameter.from_parameter_msg(_message(name, answer.values[0])).value


def _message(name, value):
    from rcl_interfaces.msg import Parameter

    return Parameter(name=name, value=value)


class Setup:
    """A simulated arm and the admittance node, watched by a client."""

    def __init__(self, processes, client):
        from geometry_msgs.msg import TwistStamped, WrenchStamped
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        self.processes, self.client = processes, client
        self.states = client.listen(String, "/admittance_node/state", latched=True)
        self.twists = client.listen(TwistStamped, "/admittance_cartesian_velocity")
        self.joints = client.listen(JointState, "/joint_states")
        self.hand = client.publisher(WrenchStamped, "/ur_sim/hand")
        self.pushing = None

    def state(self):
        return json.loads(self.states[-1][1].data) if self.states else {}

    def wait_for(self, timeout=20.0, **wanted):
        self.client.until(
            lambda: all(self.state().get(key) == value for key, value in wanted.items()),
            timeout,
            f"{wanted}; the state is {self.state()}",
        )

    def bring_up(self):
        """configure and activate from outside."""
        assert self.client.transition("configure", timeout=READY_S), self.state()
        assert self.client.transition("activate"), self.state()
        self.wait_for(mode="active")

    def fresh(self):
        """Active, with the arm at its start: whatever the last test or a pause of the machine has left behind."""
        client = self.client
        self.wait_for(timeout=READY_S)
        if client.life() == "unconfigured":
            assert client.transition("configure", timeout=READY_S), self.state()
        if client.life() == "active":
            assert client.transition("deactivate"), self.state()
        client.trigger("/ur_sim/reset")
        self.activate()
        return self

    def activate(self):
        client = self.client
        for _ in range(3):
            if client.transition("activate"):
                break
            client.trigger("/admittance_node/reset_fault")
        self.wait_for(life="active", mode="active")

    def push(self, wrench, seconds):
        """A hand at the TCP, base axes, through a plain topic."""
        from geometry_msgs.msg import WrenchStamped

        message = WrenchStamped()
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = map(float, wrench)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.hand.publish(message)
            time.sleep(0.02)
        self.hand.publish(WrenchStamped())

    def joint_state(self):
        """A joint state that was measured after this call: a busy client has older ones in its queue."""
        now = time.time()

        def fresh():
            stamp = self.joints[-1][1].header.stamp if self.joints else None
            return stamp is not None and stamp.sec + 1e-9 * stamp.nanosec > now

        self.client.until(fresh, 10.0, "a joint state")
        return self.joints[-1][1]

    def still(self, timeout=10.0):
        """Wait until the measured joints stand still."""

        def stands():
            time.sleep(0.2)
            return max(map(abs, self.joint_state().velocity)) < 2e-3

        self.client.until(stands, timeout, "standstill")


@pytest.fixture
def processes(tmp_path):
    started = Processes(tmp_path)
    yield started
    started.stop()
    print(started.logs())  # noqa: T201  shown for a failed test only


@pytest.fixture(scope="module")
def module_processes(tmp_path_factory):
    started = Processes(tmp_path_factory.mktemp("ros"))
    yield started
    started.stop()
    print(started.logs())  # noqa: T201


@pytest.fixture(scope="session")
def compiled():
    """The kernels of controller and simulation in the cache, so that no node compiles while a test waits for it."""
    code = (
        "from ur_admittance.control import warm_up; from ur_admittance.model import robot_model;"
        "from ur_admittance.simulation import World; warm_up(); World(robot_model('ur5e')).step(None, [0.0] * 6, 0.002)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=COMPILE_S, preexec_fn=_prefer)


@pytest.fixture(scope="module")
def client(compiled):
    pytest.importorskip("rclpy")
    started = Client()
    yield started
    started.close()


@pytest.fixture(scope="module")
def setup_of(client):
    """setup_of(processes): watches the arm and the node that those processes run."""

    def watch(processes):
        client.forget()
        return Setup(processes, client)

    return watch


@pytest.fixture(scope="session")
def generated():
    """Folder with Python messages of control_msgs and tf2_msgs: kept between runs, they take 10 s to build."""
    spec = importlib.util.spec_from_file_location("interfaces", Path(__file__).parent / "interfaces.py")
    interfaces = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(interfaces)
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
    pytest.importorskip("rosidl_adapter")
    key = hashlib.sha256(Path(interfaces.__file__).read_bytes() + sys.version.encode() + sys.prefix.encode())
    folder = Path(tempfile.gettempdir()) / f"ur_admittance_interfaces_{os.getuid()}_{key.hexdigest()[:12]}"
    if not (folder / "complete").exists():
        for package in interfaces.DEFINITIONS:
            interfaces.build(package, folder)
        (folder / "complete").touch()
    sys.path.insert(0, str(folder))
    return folder


@pytest.fixture(scope="session")
def patient():
    return dict(PATIENT)


@pytest.fixture
def arm_with_node(processes, setup_of, patient):
    """Started, not yet configured."""

    def start(node=None, sim=None, module="admittance_node"):
        processes.start("sim_node", sim or {})
        processes.start(module, {**patient, **(node or {})})
        return setup_of(processes)

    return start


# Denavit-Hartenberg parameters of the UR5e as Universal Robots publishes them: an oracle of its own for positions.
DH_A = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
DH_D = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
DH_ALPHA = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)
NAMES = (
    "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
)  # fmt: skip


@pytest.fixture
def position():
    """position(joint_state) -> x, y, z of the flange in base_link [m]."""
    import numpy as np

    def flange(message):
        q = [message.position[message.name.index(name)] for name in NAMES]
        T = np.diag([-1.0, -1.0, 1.0, 1.0])  # base_link -> the UR's own base
        for angle, a, d, alpha in zip(q, DH_A, DH_D, DH_ALPHA, strict=True):
            c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(alpha), math.sin(alpha)
            T = T @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
        return T[:3, 3]

    return flange
