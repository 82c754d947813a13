"""The ROS package: colcon builds it, its executables start. test_launch.py starts its launch files."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ur_admittance

from .launching import PACKAGE, build

pytest.importorskip("rclpy")

NODES = {
    "admittance_node",
    "init_robot",
    "sensor_node",
    "sim_node",
    "wrench_calibration_node",
    "wrench_node",
    "wrench_signal_generator",
}


@pytest.mark.parametrize("symlinks", [False, True])
def test_colcon_builds_the_package_and_its_nodes_start(tmp_path, symlinks, missing):
    if importlib.util.find_spec("colcon_core") is None:
        missing("colcon is not installed")
    prefix = build(tmp_path, *(["--symlink-install"] if symlinks else []))
    assert {path.name for path in (prefix / "lib" / "ur_admittance_ros").iterdir()} == NODES
    node = prefix / "lib" / "ur_admittance_ros" / "admittance_node"
    assert node.read_text().startswith(f"#!{sys.executable}\n")  # which has this package; docs/how-to/install_ros2.md
    share = prefix / "share"
    assert (share / "ament_index/resource_index/packages/ur_admittance_ros").exists()
    assert {path.name for path in (share / "ur_admittance_ros/launch").iterdir()} == {
        "real_robot.launch.py",
        "simulation.launch.py",
        "wrench_pipeline.launch.py",
    }
    # what `ros2 run` does: set up the environment, start the executable
    run = (
        f'. install/setup.sh && exec "{sys.executable}" install/ur_admittance_ros/lib/ur_admittance_ros/admittance_node'
    )
    run += " --ros-args -p admittance.mas:=1.0"
    done = subprocess.run(["bash", "-c", run], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert "the nearest known name is admittance.mass" in done.stderr


def test_the_parameter_files_are_accepted_by_the_nodes_they_are_for():
    from ur_admittance.params import Parameters
    from ur_admittance.params.table import rows
    from ur_admittance.params.yaml import load_values
    from ur_admittance.ros import admittance_node, wrench_node
    from ur_admittance.ros.parameters import from_ros
    from ur_admittance_lab.driver import driver_options as sim_node

    tables = {
        "ur_sim": {**sim_node.PARAMETERS, **sim_node.LIVE},
        "admittance_node": admittance_node.OPTIONS,
        "wrench_node": wrench_node.OPTIONS,
    }
    files = {"simulation.yaml": ("ur_sim", "admittance_node"), "real_robot.yaml": ("admittance_node",)}
    files["wrench_pipeline.yaml"] = ("wrench_node",)
    for file, nodes in files.items():
        for node in nodes:
            values = load_values(PACKAGE / "config" / file, node)
            own = {name for name in values if name in tables[node]}
            rest = {name: values[name] for name in values if name not in own}
            Parameters().changed({name: from_ros(rows()[name], value) for name, value in rest.items()})


def test_the_package_depends_on_every_message_package_that_the_code_imports():
    source = Path(ur_admittance.__file__).parent
    code = "\n".join(path.read_text() for folder in ("ros", "robots/ros") for path in (source / folder).rglob("*.py"))
    imported = set(re.findall(r"^ *(?:from|import) (rclpy|\w+_(?:msgs|srvs|interfaces))\b", code, re.MULTILINE))
    declared = {one.text for one in ElementTree.parse(PACKAGE / "package.xml").iter("exec_depend")}
    assert {"ur_dashboard_msgs", "controller_manager_msgs", "tf2_msgs", "rclpy"} < imported
    assert imported <= declared


def test_a_package_that_is_missing_is_named_with_what_is_lost_and_where_it_comes_from(monkeypatch):
    from ur_admittance.robots import ros as packages

    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    sentences = packages.missing_packages()
    assert len(sentences) == 4
    assert all(f"ros-jazzy-{s.split()[0].replace('_', '-')}" in s for s in sentences)
    assert "safety mode" in sentences[0]
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: name)
    assert packages.missing_packages() == []


def test_layouts_name_topics_that_exist():
    from ur_admittance.robots.ros.ros_robot import WRENCH_TOPIC
    from ur_admittance.ros.node_topics import ERROR_TOPIC, VELOCITY_TOPIC

    plots = (PACKAGE / "plotjuggler" / "admittance.xml").read_text()
    assert all(topic in plots for topic in (WRENCH_TOPIC, ERROR_TOPIC, VELOCITY_TOPIC))
    assert WRENCH_TOPIC in (PACKAGE / "rviz" / "admittance.rviz").read_text()
