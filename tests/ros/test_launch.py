"""The launch files, started: their nodes take the parameters, find each other, and the arm yields to a push."""

import importlib.util
import time
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from .launching import PACKAGE, build, commands, start
from .processes import WRENCH
from .test_outputs import SPEED, hold_push
from .watched import flange_position, steady_speed

pytest.importorskip("rclpy")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory, missing):
    if importlib.util.find_spec("colcon_core") is None:
        missing("colcon is not installed")
    return build(tmp_path_factory.mktemp("colcon"))


@pytest.fixture
def parameters(tmp_path, patient):
    """parameters(file): a copy of a parameter file of the package for a machine with other work to do."""

    def copied(file):
        content = yaml.safe_load((PACKAGE / "config" / file).read_text())
        content["/**/admittance_node"]["ros__parameters"].update(patient)
        if "/**/ur_sim" in content:
            content["/**/ur_sim"]["ros__parameters"]["realtime_priority"] = 10
        (tmp_path / file).write_text(yaml.dump(content))
        return str(tmp_path / file)

    return copied


def pushed_speed(arm):
    """Of the tool under a steady push, as a share of what the law says."""
    hold_push(arm)
    begin = time.monotonic()
    time.sleep(3.0)
    return steady_speed(arm.joints, begin + 1.0, begin + 2.3) / SPEED


def test_the_simulation_starts_by_itself_and_yields_to_a_push(processes, prefix, setup_of, parameters):
    file = parameters("simulation.yaml")
    start(processes, prefix, "simulation.launch.py", rviz="false", driver="lyrical", parameters=file)
    arm = setup_of(processes)
    arm.wait_for(timeout=60.0, life="active", mode="active")
    assert arm.client.parameter("tool.mass") == 1.0
    assert arm.client.parameter("driver", "/ur_sim") == "lyrical"
    assert arm.client.parameter("tool.mass", "/ur_sim") == 1.0
    assert pushed_speed(arm) == pytest.approx(1.0, abs=0.05)


def test_two_arms_with_a_launch_file_each_do_not_hear_of_each_other(processes, prefix, client, parameters):
    """Each in its namespace, with the driver's prefixes; a push on one of them moves that one only."""
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    client.forget()
    told = client.listen(DiagnosticArray, "/diagnostics")
    file = parameters("simulation.yaml")
    arms = {side: SimpleNamespace() for side in ("left", "right")}
    for side, arm in arms.items():
        start(
            processes, prefix, "simulation.launch.py", rviz="false", parameters=file, namespace=side,
            tf_prefix=f"{side}_",
        )  # fmt: skip
        arm.states = client.listen(String, f"/{side}/admittance_node/state", latched=True)
        arm.joints = client.listen(JointState, f"/{side}/joint_states")
    for arm in arms.values():
        client.until(lambda arm=arm: arm.states and '"mode": "active"' in arm.states[-1][1].data, 90, "two active arms")

    def places():
        found = []
        for side, arm in arms.items():
            state = arm.joints[-1][1]
            assert all(name.startswith(f"{side}_") for name in state.name)
            plain = JointState(name=[name.removeprefix(f"{side}_") for name in state.name], position=state.position)
            found.append(flange_position(plain))
        return found

    client.until(lambda: all(arm.joints for arm in arms.values()), 20, "joint states of both")
    before = places()
    assert client.set_parameter("push.duration", 0.5, "/left/ur_sim").successful
    assert client.trigger("/left/ur_sim/push").success
    time.sleep(1.5)
    moved = [float(np.linalg.norm(after - start)) for after, start in zip(places(), before, strict=True)]
    assert moved[0] > 0.02
    assert moved[1] < 1e-4
    common = {"/tf", "/tf_static", "/diagnostics", "/rosout", "/parameter_events"}  # to all nodes of a system
    for side in arms:
        for name in ("admittance_node", "ur_sim", "force_torque_sensor_broadcaster"):
            node = name, f"/{side}"
            topics = client.node.get_publisher_names_and_types_by_node(*node)
            topics += client.node.get_subscriber_names_and_types_by_node(*node)
            assert topics
            assert {topic for topic, _ in topics if not topic.startswith(f"/{side}/")} <= common
    said = {status.name for _, message in told for status in message.status}
    assert said == {f"{side}/admittance_node: admittance control" for side in arms}


def test_the_page_and_recordings_of_two_arms_have_names_of_their_own(tmp_path, compiled):
    import rclpy

    from ur_admittance.ros.admittance_node import AdmittanceNode
    from ur_admittance.runtime.registry import shared_file

    names = set()
    for space in (
        "/left",
        "/right",
        "/a_hall_with_many_cells/cell_number_one",
        "/a_hall_with_many_cells/cell_number_two",
    ):
        rclpy.init(args=["--ros-args", "-r", f"__ns:={space}"])
        node = AdmittanceNode(log=str(tmp_path / "run.mcap"))
        names.add(shared_file(node.controller_name, "telemetry"))
        node.destroy_node()
        rclpy.shutdown()
    assert len(names) == 4


@pytest.mark.realtime
def test_the_real_arm_waits_for_its_activation_and_listens_to_the_driver(processes, prefix, setup_of, parameters):
    sim = {"controller": "forward_velocity_controller", "tool.tcp": [0.0, 0.0, 0.15]}
    processes.start("sim_node", sim, {WRENCH: WRENCH})
    file = parameters("real_robot.yaml")
    start(processes, prefix, "real_robot.launch.py", output="velocity", parameters=file)
    arm = setup_of(processes)
    arm.wait_for(timeout=60.0, life="unconfigured")
    arm.bring_up()
    assert arm.client.parameter("output") == "velocity"
    assert arm.client.parameter("velocity_scale_factor") == 0.5
    assert pushed_speed(arm) == pytest.approx(1.0, abs=0.05)


def test_the_pipeline_reads_the_topic_that_it_is_given(processes, prefix, client, compiled):
    from geometry_msgs.msg import WrenchStamped

    processes.start("sim_node", {})
    start(processes, prefix, "wrench_pipeline.launch.py", raw_topic="/wrist_ft_sensor")
    probe = client.listen(WrenchStamped, "/netft/proc_probe")
    client.until(lambda: len(probe) > 50, 60, "wrenches at the probe")
    assert probe[-1][1].header.frame_id == "tcp"  # of the file that is the default
    assert client.parameter("admittance.filter_cutoff_hz", "/wrench_node") == 50.0


def test_rviz_gets_its_layout_and_a_description_of_the_arm(prefix):
    nodes = commands(prefix, "simulation.launch.py")
    assert [Path(line[0]).name for line in nodes] == ["sim_node", "admittance_node", "robot_state_publisher", "rviz2"]
    assert Path(nodes[3][nodes[3].index("-d") + 1]).is_file()
    [file] = [nodes[2][k + 1] for k, word in enumerate(nodes[2]) if word == "--params-file"]
    text = yaml.safe_load(Path(file).read_text())["/**"]["ros__parameters"]["robot_description"]
    assert "tool0" in {link.get("name") for link in ElementTree.fromstring(text).iter("link")}


@pytest.mark.parametrize("file", ["simulation", "real_robot", "wrench_pipeline"])
def test_the_files_that_a_launch_names_are_installed(prefix, file):
    for line in commands(prefix, f"{file}.launch.py", **({"rviz": "false"} if file == "simulation" else {})):
        assert Path(line[0]).is_file()
        assert f"config/{file}.yaml" in " ".join(line)
