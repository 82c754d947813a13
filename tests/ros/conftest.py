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
from .bench import Bench
from .client import Client
from .processes import Processes, prefer, ros_value
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
    """The library is made, so that no node compiles while a test waits for it."""
    code = "from ur_admittance import library; library.load()"
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


@pytest.fixture
def refused(generated, capfd):
    """refused(make, parameters): a node that does not start; its exit code, and what it says about that."""
    from ur_admittance.ros.node_run import run

    def start(make, parameters):
        given = [part for name, value in parameters.items() for part in ("-p", f"{name}:={ros_value(value)}")]
        code = run(make, ["--ros-args", *given])
        return code, capfd.readouterr().err

    return start


@pytest.fixture(scope="session")
def urdf():
    """The UR5e as text; which program wrote it does not matter here."""
    from ur_admittance.model import robot_model
    from ur_admittance_lab.urdf_writer import generate

    return generate(robot_model("ur5e"))


@pytest.fixture(scope="module")
def bench_node(request, module_processes):
    """WITH_CLOCK of the module: whether the bench gives the time."""
    parameters = {"safety.joint_state_timeout": 0.25, "safety.wrench_timeout": 0.25, "startup_timeout": 1.0}
    parameters |= {"realtime_priority": 20, "use_sim_time": request.module.WITH_CLOCK}
    module_processes.start("admittance_node", parameters)
    return module_processes


@pytest.fixture
def world(request, bench_node, setup_of, urdf):
    """(bench, setup) with an active node; whatever happened before is cleaned up."""
    setup = setup_of(bench_node)
    bench = Bench(setup.client, urdf, request.module.WITH_CLOCK)
    setup.wait_for(timeout=60.0)
    if setup.client.life() == "active":
        setup.client.transition("deactivate")
    if setup.client.life() == "inactive":
        setup.client.transition("cleanup")
    for _ in range(20):
        if setup.client.transition("configure", timeout=60.0):
            break
    setup.activate()
    yield bench, setup
    bench.close()
