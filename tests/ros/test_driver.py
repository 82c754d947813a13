"""Beside the UR driver of every generation (its strict double): it moves, it stops, and it never jumps."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from .driver_cases import push_speed
from .scene import SPEED, Scene

STEP = 0.02  # [rad] between two commands one period apart: a stalled machine, and far below any jump
NEAR = 0.05  # [rad] between the command and the arm


@pytest.fixture
def scene_of(client):
    scenes = []

    def start(driver="jazzy", output="trajectory", **options):
        scenes.append(Scene(client, driver, output, **options))
        scenes[-1].bring_up()
        return scenes[-1]

    yield start
    for scene in scenes:
        scene.__exit__(None, None, None)
        print(scene.processes.logs())  # noqa: T201  shown for a failed test only


def no_jump(scene):
    report = scene.report()
    assert report["command_step_rad"] < STEP, report
    assert report["lead_rad"] < NEAR, report
    assert report["tcp_speed_m_s"] < 0.25, report
    assert not report["refused"], report
    assert not report["protective_stops"], report
    return report


@pytest.mark.parametrize(
    ("driver", "output"),
    [("humble_2_12", "trajectory"), ("humble", "trajectory"), ("lyrical", "trajectory"), ("lyrical", "action")],
)
def test_a_push_moves_the_arm_as_the_law_says_on_every_generation(scene_of, driver, output):
    scene = scene_of(driver, output)
    assert push_speed(scene) == pytest.approx(1.0, abs=0.02)
    no_jump(scene)


@pytest.mark.parametrize("output", ["trajectory", "velocity"])
def test_a_node_that_is_killed_leaves_an_arm_that_comes_to_rest(scene_of, output):
    scene = scene_of("jazzy", output)
    scene.at_speed()
    begin = time.monotonic()
    scene.node.send_signal(signal.SIGKILL)
    seconds, metres = scene.standstill(begin, 2.0)
    assert seconds < 0.8
    assert metres < 0.08
    no_jump(scene)


def test_after_a_pause_of_a_second_the_commands_go_on_at_the_arm(scene_of):
    scene = scene_of()
    scene.at_speed()
    scene.node.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    scene.node.send_signal(signal.SIGCONT)
    scene.setup.wait_for(life="inactive", timeout=10.0)
    no_jump(scene)


def test_a_protective_stop_is_a_fault_with_the_robots_word_and_resuming_needs_a_reset(scene_of):
    scene = scene_of()
    client = scene.client
    scene.at_speed()
    assert client.trigger("/ur_sim/protective_stop").success
    scene.setup.wait_for(life="inactive", mode="fault", status="PROTECTIVE_STOP", timeout=10.0)
    assert "safety mode is PROTECTIVE_STOP" in scene.setup.state()["reason"]
    assert not client.transition("activate")
    time.sleep(0.6)
    assert client.trigger("/ur_sim/unlock").success
    assert client.trigger("/ur_sim/resume").success
    client.until(lambda: scene.report()["active"], 10, "the controller is active again")
    time.sleep(1.0)  # the hand still pushes
    assert client.life() == "inactive"
    stood = scene.setup.joint_state().position
    assert client.trigger("/ur_sim/clear_report").success
    client.until(lambda: client.trigger("/admittance_node/reset_fault").success, 5, "the fault is reset")
    scene.let_go()
    time.sleep(0.6)
    assert client.transition("activate"), scene.setup.state()
    time.sleep(0.5)
    assert np.abs(np.array(scene.setup.joint_state().position) - stood).max() < 2e-3
    no_jump(scene)


def test_an_inactive_controller_is_a_fault_and_refuses_activation(scene_of):
    scene = scene_of()
    client = scene.client
    assert client.trigger("/ur_sim/switch").success  # to none
    scene.setup.wait_for(life="inactive", mode="fault", timeout=10.0)
    assert "scaled_joint_trajectory_controller is inactive" in scene.setup.state()["reason"]
    assert client.trigger("/admittance_node/reset_fault").success
    assert not client.transition("activate")
    client.until(lambda: "would drop every command" in scene.setup.state()["reason"], 5, scene.setup.state())
    for name in ("scaled_joint_trajectory_controller", "joint_trajectory_controller"):  # both fit
        assert client.set_parameter("switch.to", name, "/ur_sim").successful
        assert client.trigger("/ur_sim/switch").success
        assert client.transition("activate"), scene.setup.state()
        before = scene.report()["taken"].get(name, 0)
        client.until(lambda: scene.report()["taken"].get(name, 0) > before + 100, 5, "its messages are taken")  # noqa: B023
        assert client.transition("deactivate"), scene.setup.state()  # active until now: nothing old was believed
    no_jump(scene)


def test_the_pendants_tcp_turns_the_wrench_and_a_change_of_it_is_a_fault(scene_of):
    turned = [0.0, 0.0, 0.15, 0.0, 0.0, float(np.pi / 2)]
    scene = scene_of(sim={"pendant.tcp": turned})
    client = scene.client
    assert client.parameter("sensor.position") == pytest.approx([0.0, 0.0, 0.15], abs=1e-3)
    assert client.parameter("sensor.rotation") == pytest.approx([0.0, 0.0, np.pi / 2], abs=1e-3)
    assert push_speed(scene) == pytest.approx(1.0, abs=0.02)  # along y, as the hand
    assert client.set_parameter("pendant.tcp", [0.0] * 6, "/ur_sim").successful
    scene.setup.wait_for(life="inactive", mode="fault", timeout=5.0)
    assert "has moved on the tool by 150 mm and 90 degrees" in scene.setup.state()["reason"]
    assert client.trigger("/admittance_node/reset_fault").success
    assert client.transition("activate"), scene.setup.state()
    assert client.parameter("sensor.position") == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    no_jump(scene)


def test_the_weight_of_the_tool_is_not_removed_twice(client):
    sim = {"tool.mass": 1.0, "pendant.payload": 1.0}
    with Scene(client, "jazzy", "trajectory", node={"tool.mass": 1.0}, sim=sim) as scene:
        assert client.transition("configure", timeout=60.0), scene.setup.state()
        time.sleep(0.3)
        assert not client.transition("activate")
        reason = "tool.mass = 1 kg would be removed twice"
        client.until(lambda: reason in scene.setup.state()["reason"], 5, scene.setup.state())


def test_commands_that_nobody_obeys_never_run_away_from_the_arm(scene_of):
    scene = scene_of(ignored=True)
    scene.push()
    scene.setup.wait_for(life="inactive", mode="fault", status="NOT_FOLLOWING", timeout=10.0)
    last = scene._nowhere[-1][1]
    arm = scene.setup.joint_state()
    order = [last.joint_names.index(name) for name in arm.name]
    lead = np.abs(np.array(last.points[-1].positions)[order] - arm.position)
    assert lead.max() < 0.2


def test_a_second_publisher_of_joint_states_or_wrenches_is_a_fault_and_refuses_activation(scene_of):
    from geometry_msgs.msg import WrenchStamped

    scene = scene_of()
    other = scene.client.node.create_publisher(WrenchStamped, "/wrist_ft_sensor", 1)
    try:
        scene.setup.wait_for(life="inactive", mode="fault", timeout=5.0)
        assert "2 nodes publish on /wrist_ft_sensor" in scene.setup.state()["reason"]
        assert scene.client.trigger("/admittance_node/reset_fault").success
        assert not scene.client.transition("activate")
    finally:
        scene.client.node.destroy_publisher(other)


def test_a_refused_set_of_parameters_changes_nothing_and_the_clock_stays_while_configured(scene_of):
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter

    scene = scene_of()
    client, before = scene.client, scene.client.parameter("admittance.mass")

    def set_all(**values):
        given = [Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()]
        request = SetParametersAtomically.Request(parameters=given)
        return client.call(SetParametersAtomically, "/admittance_node/set_parameters_atomically", request).result

    assert not set_all(admittance__mass=[4.0] * 6, output="velocity").successful  # read-only
    assert list(client.parameter("admittance.mass")) == list(before)
    result = set_all(admittance__mass=[4.0] * 6, use_sim_time=True)
    assert "must not change while the node is configured" in result.reason
    assert list(client.parameter("admittance.mass")) == list(before)
    begin = time.monotonic()
    scene.push()
    time.sleep(2.2)
    from .watched import steady_speed

    assert steady_speed(scene.setup.joints, begin + 1.0, begin + 2.0) == pytest.approx(SPEED, rel=0.02)


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("realtime_priority", 500, "realtime_priority = 500: must be 0 to 99."),
        ("monitor_rate", -1.0, "monitor_rate = -1: must be 0.1 to 1000."),
        ("startup_timeout", "soon", "startup_timeout = 'soon': must be a number."),
    ],
)
def test_options_that_make_no_sense_are_refused_with_a_sentence(processes, generated, option, value, sentence):
    process = processes.start("admittance_node", {option: value})
    assert process.wait(timeout=60) == 2
    text = process.log.read_text()
    assert sentence in text
    assert "Traceback" not in text


def test_a_whole_number_will_do_for_a_time(processes, setup_of):
    processes.start("admittance_node", {"startup_timeout": 5})
    arm = setup_of(processes)
    assert arm.client.parameter("startup_timeout") == 5.0


def test_without_tf2_msgs_the_tcp_comes_from_the_drivers_pose_broadcaster(generated, processes, setup_of, patient):
    kept = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != str(generated)]
    environment = {"PYTHONPATH": os.pathsep.join(kept)}
    processes.start("sim_node", {"pendant.tcp": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0]}, environment=environment)
    processes.start("admittance_node", patient, environment=environment)
    arm = setup_of(processes)
    arm.bring_up()
    assert arm.client.parameter("sensor.position") == pytest.approx([0.0, 0.1, 0.0], abs=1e-3)


def test_a_clock_that_stands_still_does_not_stop_the_cycles():
    from ur_admittance.robots.ros.clock import CLOCK_PATIENCE_NS, RosClock

    class Standing:
        """Time on /clock has stopped."""

        def begin(self): ...
        def now_ns(self):
            return 7

        def wait(self, timeout_ns):
            time.sleep(max(timeout_ns, 0) * 1e-9)
            return False

        def poll(self):
            return False

    clock, begin = RosClock(Standing(), 500.0), time.monotonic()
    while not clock.wait():
        assert time.monotonic() - begin < 2.0
    assert 0.9 * CLOCK_PATIENCE_NS < 1e9 * (time.monotonic() - begin) < 3.0 * CLOCK_PATIENCE_NS
