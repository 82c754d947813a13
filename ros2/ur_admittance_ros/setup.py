from pathlib import Path

from setuptools import setup

name = "ur_admittance_ros"
nodes = {
    "admittance_node": "ur_admittance.ros.admittance_node",
    "init_robot": "ur_admittance.ros.init_robot",
    "sensor_node": "ur_admittance.ros.sensor_node",
    "sim_node": "ur_admittance_lab.driver.sim_node",
    "wrench_calibration_node": "ur_admittance.ros.wrench_calibration_node",
    "wrench_node": "ur_admittance.ros.wrench_node",
    "wrench_signal_generator": "ur_admittance_lab.driver.wrench_signal_generator",
}


def files(folder, ending):
    return [str(path) for path in sorted(Path(folder).glob(f"*{ending}"))]


setup(
    name=name,
    version="0.1.0",
    packages=[name],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{name}"]),
        (f"share/{name}", ["package.xml"]),
        (f"share/{name}/launch", files("launch", ".launch.py")),
        (f"share/{name}/config", files("config", ".yaml")),
        (f"share/{name}/rviz", files("rviz", ".rviz")),
        (f"share/{name}/plotjuggler", files("plotjuggler", ".xml")),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="ur_admittance maintainers",
    maintainer_email="maintainers@ur-admittance.invalid",
    description="Force-compliant Universal Robots arms as ROS 2 nodes",
    license="Apache-2.0",
    entry_points={"console_scripts": [f"{node} = {module}:main" for node, module in nodes.items()]},
)
