"""The nodes around the sensor: compensation, zero, signals, calibration, and the move to a configuration."""

import signal
import time

import numpy as np
import pytest

from .test_outputs import SPEED, hold_push
from .watched import steady_speed

pytest.importorskip("rclpy")

MASS, COM, TCP = 1.2, [0.01, -0.02, 0.06], [0.0, 0.0, 0.15]
SIM_TOOL = {"tool.mass": MASS, "tool.center_of_mass": COM, "tool.tcp": TCP}


def six(message):
    f, t = message.wrench.force, message.wrench.torque
    return np.array([f.x, f.y, f.z, t.x, t.y, t.z])


def newest(client, heard, since=0.3):
    """Mean of the messages of the coming moment."""
    time.sleep(0.3)
    start = time.monotonic()
    client.until(lambda: len([1 for t, _ in heard if t > start]) > 20, 10, "messages")
    return np.mean([six(m) for t, m in heard if t > start], axis=0)


def test_the_pipeline_removes_the_tool_and_moves_the_wrench_to_the_probe(processes, setup_of, client):
    from geometry_msgs.msg import WrenchStamped

    processes.start("sim_node", SIM_TOOL)
    tool = {"tool.mass": MASS, "tool.center_of_mass": COM, "tool.tcp": [*TCP, 0.0, 0.0, 0.0]}
    remap = {"/netft/raw_sensor": "/wrist_ft_sensor"}
    processes.start("wrench_node", {**tool, "safety.wrench_timeout": 0.4, "safety.joint_state_timeout": 0.4}, remap)
    setup_of(processes)
    raw = client.listen(WrenchStamped, "/wrist_ft_sensor")
    sensor = client.listen(WrenchStamped, "/netft/proc_sensor")
    probe = client.listen(WrenchStamped, "/netft/proc_probe")
    client.until(lambda: len(probe) > 50, 60, "wrenches at the probe")
    assert np.linalg.norm(newest(client, raw)[:3]) == pytest.approx(MASS * 9.80665, rel=0.01)
    assert np.abs(newest(client, sensor)).max() < 0.02
    assert sensor[-1][1].header.frame_id == "tool0_controller"  # as the raw ones
    client.set_parameter("push.wrench", [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], "/ur_sim")
    client.set_parameter("push.duration", 30.0, "/ur_sim")
    client.trigger("/ur_sim/push")
    at_sensor, at_probe = newest(client, sensor), newest(client, probe)
    # the tool points down: base y is sensor y turned by its posture; lever 150 mm
    assert np.linalg.norm(at_sensor[:3]) == pytest.approx(10.0, rel=0.02)
    assert np.linalg.norm(at_sensor[3:]) == pytest.approx(1.5, rel=0.03)
    assert np.linalg.norm(at_probe[:3]) == pytest.approx(10.0, rel=0.02)
    assert np.linalg.norm(at_probe[3:]) < 0.03
    client.trigger("/ur_sim/let_go")
    assert client.set_parameter("sensor.bias", [0.0, 4.0, 0.0, 0.0, 0.0, 0.0], "/wrench_node").successful
    assert np.linalg.norm(newest(client, sensor)[:3]) == pytest.approx(4.0, rel=0.02)
    time.sleep(1.0)
    client.until(lambda: client.trigger("/wrench_node/zero_free_tool").success, 10, "a new zero")
    assert np.linalg.norm(newest(client, sensor)[:3]) < 0.05


PROBE = {"sensor.source": "probe:/netft/proc_probe", "tool.tcp": [*TCP, 0.0, 0.0, 0.0]}


def test_the_wrench_at_the_probe_drives_the_arm_as_the_law_says(processes, setup_of, patient, position):
    processes.start("sim_node", SIM_TOOL)
    tool = {"tool.mass": MASS, "tool.center_of_mass": COM, "tool.tcp": [*TCP, 0.0, 0.0, 0.0]}
    late = {name: value for name, value in patient.items() if name.startswith("safety.")}
    processes.start(
        "wrench_node", {**tool, **late, "admittance.filter_coefficient": 1.0}, {"/netft/raw_sensor": "/wrist_ft_sensor"}
    )
    processes.start("admittance_node", {**patient, **PROBE, "startup_timeout": 60.0, "sensor.delay": 0.02})
    arm = setup_of(processes)
    arm.bring_up()
    before = position(arm.joint_state())
    hold_push(arm)
    begin = time.monotonic()
    time.sleep(3.0)
    arm.still()
    # one more process in the path of the force, without real-time priority: about as fast, exactly there
    assert steady_speed(arm.joints, begin + 1.0, begin + 2.0) == pytest.approx(SPEED, rel=0.2)
    moved = position(arm.joint_state()) - before
    assert np.abs(moved[[0, 2]]).max() < 0.05 * moved[1]


def test_a_wrench_at_the_probe_is_not_compensated_twice(refused):
    from ur_admittance.ros.admittance_node import AdmittanceNode

    code, text = refused(AdmittanceNode, {**PROBE, "tool.mass": MASS})
    assert code == 2
    assert "tool.mass = 1.2 kg: must be 0: the wrench of sensor.source = probe:/netft/proc_probe" in text


def test_the_signal_generator_plays_a_sensor_in_base_axes(processes, setup_of, client):
    from geometry_msgs.msg import WrenchStamped

    processes.start("sim_node", {"publish_wrench": False})
    generator = {"signal": "constant", "wrench": [0.0, 5.0, 0.0, 0.0, 0.0, 0.0]}
    processes.start("wrench_signal_generator", generator)
    setup_of(processes)
    heard = client.listen(WrenchStamped, "/wrist_ft_sensor")
    client.until(lambda: len(heard) > 20, 60, "wrenches")
    wrench = newest(client, heard)
    # home: the flange's z points down, its x along base -y
    assert np.linalg.norm(wrench[:3]) == pytest.approx(5.0, rel=1e-3)
    assert abs(wrench[2]) < 0.01
    rate = len([1 for t, _ in heard if t > heard[-1][0] - 1.0])
    assert rate > 100


def test_a_calibration_that_exists_is_refused_before_the_arm_moves(processes, setup_of, client, tmp_path):
    file = tmp_path / "calibration.yaml"
    node = processes.start("wrench_calibration_node", {"output_file": str(file)})
    setup_of(processes)
    client.until(lambda: "idle" in node.log.read_text(), 60, "the node")
    file.write_text("of last week")
    for job in ("calibrate", "take_pose"):
        answer = client.trigger(f"/wrench_calibration_node/{job}", timeout=60)
        assert not answer.success
        assert f"{file} exists already: choose another file, or start with -p overwrite:=true" in answer.message
    refused = processes.start("wrench_calibration_node", {"output_file": str(file)})
    assert refused.wait(timeout=60) == 2
    assert "exists already" in refused.log.read_text()
    node.send_signal(signal.SIGINT)
    assert node.wait(timeout=20) == 0, node.log.read_text()
    node = processes.start("wrench_calibration_node", {"output_file": str(file), "overwrite": True})
    assert client.trigger("/wrench_calibration_node/take_pose", timeout=60).success
    assert file.read_text() == "of last week"


@pytest.mark.parametrize(("name", "code"), [("wrench_node", 0), ("init_robot", 130)])
def test_an_interrupt_is_a_failure_only_for_work_that_has_an_end(processes, client, name, code):
    node = processes.start(name)
    client.until(lambda: "waiting for" in node.log.read_text(), 60, "a node that waits for the arm")
    node.send_signal(signal.SIGINT)
    assert node.wait(timeout=20) == code, node.log.read_text()
    assert f"{name}: still waiting for" in node.log.read_text()


@pytest.mark.slow
def test_the_calibration_node_finds_the_tool(processes, setup_of, client, tmp_path):
    from std_msgs.msg import String

    bias = [3.0, -2.0, 4.0, 0.1, 0.2, -0.1]
    sim = {"sensor.bias": bias, "sensor.noise_force": 0.05, "publish_clock": True, "patience": 0.3}  # nothing is late
    processes.start("sim_node", {**SIM_TOOL, **sim})
    file = tmp_path / "calibration.yaml"
    remap = {"/netft/raw_sensor": "/wrist_ft_sensor"}
    node = {"output_file": str(file), "poses": 6, "tool.tcp": [*TCP, 0.0, 0.0, 0.0], "use_sim_time": True}
    processes.start("wrench_calibration_node", node, remap)
    setup_of(processes)
    told = client.listen(String, "/wrench_calibration_node/state", latched=True)
    assert client.trigger("/wrench_calibration_node/calibrate", timeout=60).success
    assert not client.trigger("/wrench_calibration_node/take_pose").success
    client.until(lambda: told and told[-1][1].data.startswith(("done", "failed")), 150, "the end of the calibration")
    assert told[-1][1].data.startswith("done"), told[-1][1].data
    from ur_admittance.params import load_parameters

    found = load_parameters(file)
    assert found.tool.mass == pytest.approx(MASS, rel=0.02)
    assert np.array(found.tool.center_of_mass) == pytest.approx(COM, abs=0.003)
    assert np.array(found.sensor.bias) == pytest.approx(bias, abs=0.3)
