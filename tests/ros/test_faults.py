"""What goes wrong on a network: the right sentence, a bounded stop, no crash, and the way back."""

import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytestmark = pytest.mark.realtime  # this process plays the arm, and what it hears late looks like a jump

NAMES = [f"{part}_joint" for part in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
HOME = [0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0]
TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"


class Bench:
    """The test plays robot and sensor: it can stop, lie and change its mind. A thread publishes at 200 Hz."""

    def __init__(self, client, names=NAMES, description=None):
        from geometry_msgs.msg import WrenchStamped
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String
        from trajectory_msgs.msg import JointTrajectory

        self.client, self.names = client, list(names)
        self.joints_on = self.wrench_on = True
        self.force = 0.0
        self.joint_out = client.publisher(JointState, "/joint_states")
        self.wrench_out = client.publisher(WrenchStamped, "/wrist_ft_sensor")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description_out = client.publisher(String, "/robot_description", latched)
        self.commands = client.listen(JointTrajectory, TRAJECTORY)
        self.kinds = JointState, WrenchStamped, String
        if description is not None:
            self.describe(description)
        self.q = list(HOME)
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def describe(self, text):
        self.description_out.publish(self.kinds[2](data=text))

    def _run(self):
        JointState, WrenchStamped, _ = self.kinds
        while not self.end.wait(0.005):
            if self.joints_on:
                if self.commands and self.commands[-1][1].points:
                    self.q = list(self.commands[-1][1].points[0].positions)
                state = JointState(name=self.names, position=self.q, velocity=[0.0] * 6)
                self.joint_out.publish(state)
            if self.wrench_on:
                wrench = WrenchStamped()
                wrench.header.frame_id = "tool0"
                wrench.wrench.force.x = float(self.force)
                self.wrench_out.publish(wrench)

    def close(self):
        self.end.set()
        self.thread.join(timeout=5)


@pytest.fixture(scope="session")
def urdf():
    """The UR5e as text; which program wrote it does not matter here."""
    from ur_admittance.model import robot_model
    from ur_admittance_lab.urdf_writer import generate

    return generate(robot_model("ur5e"))


@pytest.fixture(scope="module")
def node(module_processes, setup_of):
    parameters = {"safety.joint_state_timeout": 0.25, "safety.wrench_timeout": 0.25, "startup_timeout": 1.0}
    parameters["realtime_priority"] = 20
    module_processes.start("admittance_node", parameters)
    return module_processes


@pytest.fixture
def world(node, setup_of, urdf):
    """(bench, setup) with an active node; whatever happened before is cleaned up."""
    setup = setup_of(node)
    bench = Bench(setup.client, description=urdf)
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


def moving(bench, setup):
    """Push until the arm is commanded to move, at nearly the speed that it reaches: 0.135 rad/s."""
    bench.force = 6.0
    setup.client.until(
        lambda: bench.commands and max(map(abs, bench.commands[-1][1].points[0].velocities)) > 0.12, 10, "motion"
    )


def stopped_smoothly(bench, setup, within=4.0):
    """The last command is standstill, and the way there had no jump. Returns the reason."""
    setup.wait_for(life="inactive", timeout=within)
    time.sleep(0.2)
    speeds = np.array([m.points[0].velocities for _, m in bench.commands[-300:]])
    assert np.abs(speeds[-1]).max() == 0.0
    moving = np.flatnonzero(np.abs(speeds).max(axis=1) > 1e-9)  # less is rounding
    if len(moving):  # braking takes its time: no single command takes most of the speed away, and none brings it back
        fastest = np.abs(speeds).max()
        assert np.abs(np.diff(speeds, axis=0)).max() < 0.6 * fastest
        assert len(speeds) - moving[-1] > 5
    return setup.state()["reason"]


def back_again(setup):
    answer = setup.client.trigger("/admittance_node/reset_fault")
    assert answer.success, answer.message
    assert setup.client.transition("activate"), setup.state()
    setup.wait_for(mode="active")


def test_joint_states_that_stop_are_a_fault_with_a_way_back(world):
    bench, setup = world
    moving(bench, setup)
    bench.joints_on = False
    assert "no joint state for" in stopped_smoothly(bench, setup)
    answer = setup.client.trigger("/admittance_node/reset_fault")
    assert not answer.success
    assert "the cause is still there" in answer.message
    assert not setup.client.transition("activate")
    bench.joints_on, bench.force = True, 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_wrench_that_stops_is_a_fault_with_a_way_back(world):
    bench, setup = world
    moving(bench, setup)
    bench.wrench_on = False
    assert "no wrench for" in stopped_smoothly(bench, setup)
    assert "is the sensor streaming?" in setup.state()["reason"]
    bench.wrench_on, bench.force = True, 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_number_that_is_none_stops_the_arm(world):
    bench, setup = world
    moving(bench, setup)
    bench.force = float("nan")
    assert "the wrench is not a finite number" in stopped_smoothly(bench, setup)
    bench.force = 0.0
    time.sleep(0.2)
    back_again(setup)


def test_too_much_force_stops_the_arm(world):
    bench, setup = world
    bench.force = 150.0
    assert "force 150.0 N is above safety.max_force 100.0 N" in stopped_smoothly(bench, setup)
    bench.force = 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_clamped_arm_goes_back_on_request_then_reset_and_activation_work(world):
    bench, setup = world
    moving(bench, setup)
    time.sleep(0.5)
    bench.force = 150.0
    stopped_smoothly(bench, setup)
    refused = setup.client.trigger("/admittance_node/reset_fault")
    assert not refused.success
    assert "the cause is still there: force 150.0 N" in refused.message
    before = len(bench.commands)
    answer = setup.client.trigger("/admittance_node/retreat")
    assert answer.success, answer.message
    setup.client.until(lambda: len(bench.commands) > before + 20, 10, "commands of the retreat")
    speeds = np.array([m.points[0].velocities for _, m in bench.commands[before:]])
    assert 0.0 < np.abs(speeds).max() <= 0.1 * (1 + 1e-9)
    bench.force = 0.0
    setup.client.until(lambda: "the arm has gone back" in setup.state()["reason"], 10, "the end of the retreat")
    back_again(setup)


def test_a_second_publisher_of_commands_stops_the_node_and_keeps_it_from_starting(world):
    from trajectory_msgs.msg import JointTrajectory

    bench, setup = world
    moving(bench, setup)
    setup.client.publisher(JointTrajectory, TRAJECTORY)
    assert "also publishes on" in stopped_smoothly(bench, setup)
    assert "/test_client" in setup.state()["reason"]
    bench.force = 0.0
    assert not setup.client.transition("activate")
    setup.client.until(lambda: "an arm has one commander" in setup.state()["reason"], 5)
    setup.client.node.destroy_publisher(setup.client.made.pop())
    setup.client.until(lambda: setup.client.transition("activate"), 10, "activation")


def test_nobody_on_the_command_topic_is_told(world):
    _, setup = world
    setup.client.transition("deactivate")
    setup.client.node.destroy_subscription(setup.client.made.pop(-1))
    time.sleep(0.3)
    assert not setup.client.transition("activate")
    setup.client.until(lambda: "nobody listens on" in setup.state()["reason"], 5, setup.state())


def test_a_changed_description_stops_the_arm_until_it_is_configured_again(world, urdf):
    bench, setup = world
    bench.describe(urdf.replace('name="ur5e"', 'name="other"'))
    assert "robot_description has changed" in stopped_smoothly(bench, setup)
    assert not setup.client.transition("activate")
    assert setup.client.transition("cleanup")
    assert setup.client.transition("configure", timeout=60.0)
    setup.activate()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("this is not a robot", "URDF"),
        ("<robot name='x'><link name='base_link'/></robot>", "tool0"),
        ("<robot", "URDF"),
        ("", "waiting for the robot's description"),
    ],
)
def test_a_malformed_description_is_refused_with_a_sentence(world, text, sentence):
    bench, setup = world
    setup.client.transition("deactivate")
    setup.client.transition("cleanup")
    bench.describe(text)
    time.sleep(0.3)
    assert not setup.client.transition("configure", timeout=60.0)
    setup.client.until(lambda: sentence in setup.state()["reason"], 5, setup.state())


def test_wrong_joint_names_are_told_by_name(world):
    bench, setup = world
    setup.client.transition("deactivate")
    setup.client.transition("cleanup")
    bench.names = ["left_" + name for name in NAMES]
    time.sleep(0.3)
    assert not setup.client.transition("configure", timeout=60.0)
    reason = "waiting for joint shoulder_pan_joint on /joint_states; the joints there are: left_shoulder_pan_joint"
    setup.client.until(lambda: reason in setup.state()["reason"], 5, setup.state())


def test_joints_in_another_order_with_others_between_them_are_sorted_by_name(world):
    bench, setup = world
    setup.client.transition("deactivate")
    bench.commands.clear()
    order = [3, 0, 5, 1, 4, 2]
    names, angles = [NAMES[i] for i in order], [HOME[i] for i in order]
    bench.joints_on = False
    time.sleep(0.1)
    end = time.monotonic() + 1.0
    JointState = bench.kinds[0]
    message = JointState(name=["finger", *names], position=[9.0, *angles], velocity=[0.0] * 7)
    stop = threading.Event()

    def stream():
        while not stop.wait(0.005):
            bench.joint_out.publish(message)

    thread = threading.Thread(target=stream)
    thread.start()
    time.sleep(max(0.0, end - time.monotonic()))
    try:
        setup.activate()
        setup.client.until(lambda: len(bench.commands) > 5, 5)
        assert list(bench.commands[-1][1].points[0].positions) == pytest.approx(HOME, abs=1e-6)
    finally:
        stop.set()
        thread.join()


def test_a_thousand_malformed_messages_are_survived(world):
    """Random bytes, cut and changed messages on every input; the node stays active and still obeys."""
    from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    bench, setup = world
    rng = np.random.default_rng(5)
    inputs = [
        (JointState, "/joint_states", serialize_message(JointState(name=NAMES, position=HOME, velocity=[0.0] * 6))),
        (WrenchStamped, "/wrist_ft_sensor", serialize_message(WrenchStamped())),
        (PoseStamped, "/admittance_node/desired_pose", serialize_message(PoseStamped())),
        (TwistStamped, "/admittance_node/desired_twist", serialize_message(TwistStamped())),
        (WrenchStamped, "/admittance_node/desired_wrench", serialize_message(WrenchStamped())),
        (String, "/robot_description", serialize_message(String(data="<robot"))),
    ]
    publishers = [setup.client.publisher(kind, topic) for kind, topic, _ in inputs]
    time.sleep(0.5)
    for k in range(1000):
        i = int(rng.integers(len(inputs) - 1)) if k % 50 else len(inputs) - 1
        good = inputs[i][2]
        choice = rng.integers(3)
        if choice == 0:
            bad = rng.bytes(int(rng.integers(1, 400)))
        elif choice == 1:
            bad = good[: int(rng.integers(1, len(good)))]
        else:
            changed = bytearray(good)
            for _ in range(int(rng.integers(1, 8))):
                changed[int(rng.integers(len(good)))] = int(rng.integers(256))
            bad = bytes(changed)
        publishers[i].publish(bad)
        time.sleep(0.002)
    assert setup.processes.running[0].poll() is None
    for publisher in publishers:
        setup.client.node.destroy_publisher(publisher)
        setup.client.made.remove(publisher)
    # a changed bit can be a valid message with an absurd number: a fault is right then, and has its way back
    setup.client.trigger("/admittance_node/stop")
    setup.client.transition("cleanup")
    setup.client.until(lambda: setup.client.transition("configure", timeout=60.0), 30)
    setup.activate()
    moving(bench, setup)
    bench.force = 0.0


def test_parameters_that_do_not_exist_or_do_not_fit_end_the_start_with_a_sentence(processes):
    for parameters, sentence in (
        ({"admittance.mas": 1.0}, "the nearest known name is admittance.mass"),
        ({"admittance.mass": [1.0, 2.0]}, "admittance.mass = [1, 2] kg, kg m2 (2 values): must be 6 numbers >= 0.001"),
        ({"output": "telepathy"}, "output = 'telepathy': must be one of trajectory, velocity."),
        ({"include": "x.yaml"}, "use the parameter calibration_file"),
    ):
        process = processes.start("admittance_node", parameters)
        assert process.wait(timeout=60) == 2
        assert sentence in process.log.read_text()
        assert "Traceback" not in process.log.read_text()
