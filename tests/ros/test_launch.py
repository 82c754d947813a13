"""The launch files, started: their nodes take the parameters, find each other, and the arm yields to a push."""

import importlib.util
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from .launching import PACKAGE, build, commands, start
from .processes import WRENCH
from .test_outputs import SPEED, hold_push
from .watched import steady_speed

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
        content["/admittance_node"]["ros__parameters"].update(patient)
        if "/ur_sim" in content:
            content["/ur_sim"]["ros__parameters"]["realtime_priority"] = 10
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
