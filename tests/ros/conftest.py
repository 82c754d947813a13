"""Real nodes in processes of their own, over DDS on this machine; the tests are plain rclpy clients.

The network is one domain per worker of the test run, on localhost.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.domains import domain

from ur_admittance.runtime import registry

from . import interfaces
from .client import Client
from .processes import Processes, prefer
from .watched import Setup, flange_position

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
if os.environ.get("ROS_DISTRO") == "humble":
    os.environ["ROS_LOCALHOST_ONLY"] = "1"  # the same, for that version
os.environ["ROS_DOMAIN_ID"] = str(domain())
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"

if importlib.util.find_spec("rclpy") is None and os.environ.get("UR_ADMITTANCE_CI"):
    raise RuntimeError("rclpy is not installed: run these tests with `make test-ros`")

COMPILE_S = 600  # 30 s on a free core
# for machines with other work to do; where SCHED_FIFO is not permitted, things stay as they are
PATIENT = {"safety.joint_state_timeout": 0.4, "safety.wrench_timeout": 0.4, "realtime_priority": 20}
PATIENT |= {"safety.steady_force_time": 1e6}  # the hand of a test never varies


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(240 + COMPILE_S))


@pytest.fixture(autouse=True)
def unmarked():
    """No node of an earlier test keeps the next one from starting by itself."""
    for mark in registry.shared_file("x", "autostart").parent.glob(f"*-{os.environ['ROS_DOMAIN_ID']}.autostart"):
        mark.unlink(missing_ok=True)


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
        "from ur_admittance.robots.simulated import World; warm_up();"
        "World(robot_model('ur5e')).step(None, [0.0] * 6, 0.002)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=COMPILE_S, preexec_fn=prefer)


@pytest.fixture(scope="module")
def client(compiled, generated):
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
    """Folder with the Python messages that the wheels do not have."""
    if not os.environ.get("UR_ADMITTANCE_CI"):  # there its absence is an error
        pytest.importorskip("rosidl_adapter")
    return interfaces.use()


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


@pytest.fixture
def position():
    return flange_position
