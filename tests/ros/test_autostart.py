"""autostart acts once per start of the node: whatever stops the arm after that, a person activates it again."""

import signal
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")

from ur_admittance.core.records import Status
from ur_admittance.errors import LifecycleError, UrAdmittanceError

from .autostart_table import STOPS
from .scene import Scene


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Where a run leaves its mark."""
    from ur_admittance.runtime import registry

    monkeypatch.setattr(registry, "MEMORY_FILES", tmp_path)
    return registry.shared_file("arm-admittance_node-7", "autostart")


class Life:
    """A node as autostart sees it; absent: attempts to configure that fail; refusals: of activation, in turn."""

    def __init__(self, absent=0, refusals=(), robot=Status.OK, activate=True, attended=False, wanted=True):
        from ur_admittance.ros.life_cycle import Autostart

        self.life, self.refusal, self.now = "unconfigured", "", 0.0
        self.absent, self.refusals, self.activations = absent, list(refusals), 0
        self.context = SimpleNamespace(get_domain_id=lambda: 7)
        self.told_to_end, self.said = threading.Event(), []
        self.get_logger = lambda: SimpleNamespace(error=self.said.append)
        self.status = SimpleNamespace(status=robot, word="the robot's safety mode is PROTECTIVE_STOP")
        self.arm = None
        self.autostart = Autostart(self, wanted, activate, attended)

    def get_fully_qualified_name(self):
        return "/arm/admittance_node"

    def trigger_configure(self):
        if self.absent:
            self.absent -= 1
            return
        self.life, self.arm = "inactive", SimpleNamespace(robot=SimpleNamespace(status=self.status))

    def trigger_activate(self):
        try:
            with self.autostart.remembered():
                if self.refusals:
                    raise LifecycleError(self.refusals.pop(0))
        except UrAdmittanceError as error:
            self.refusal = str(error)
            return
        self.life, self.activations = "active", self.activations + 1


@pytest.fixture
def looks(monkeypatch):
    """looks(node, seconds): what the node does in this time, without waiting for it."""
    from ur_admittance.ros import life_cycle

    now = [0.0]
    monkeypatch.setattr(life_cycle.time, "monotonic", lambda: now[0])

    def look(node, seconds):
        for _ in range(round(seconds / 0.2)):
            now[0] += 0.2
            node.autostart.look()

    return look


def test_it_waits_for_an_absent_arm_and_a_controller_and_activates_once(mark, looks):
    node = Life(absent=5, refusals=["nobody listens"] * 3)
    looks(node, 60.0)
    assert node.activations == 1
    for life in ("inactive", "unconfigured"):  # a stop; a cleanup
        node.life = life
        looks(node, 60.0)
        assert node.life == life
    assert node.activations == 1


@pytest.mark.parametrize("stop", [Status.PROTECTIVE_STOP, Status.EMERGENCY_STOP, Status.COMMAND_REJECTED])
def test_a_robot_that_is_stopped_ends_it_and_the_end_of_the_stop_does_not_start_the_arm(mark, looks, stop):
    node = Life(refusals=["the robot is stopped"], robot=stop)
    looks(node, 2.0)
    node.status.status = Status.OK
    looks(node, 60.0)
    assert (node.activations, node.life) == (0, "inactive")
    assert node.status.word in node.autostart.refusal == node.refusal


def test_it_gives_up_with_the_refusal_when_the_arm_is_there_but_stays_in_the_way(mark, looks):
    node = Life(refusals=["17 N at rest"] * 100)
    looks(node, 60.0)
    left = len(node.refusals)
    assert 85 < left < 98
    node.refusals.clear()
    looks(node, 60.0)
    assert node.activations == 0
    assert "17 N at rest" in node.autostart.refusal
    assert not mark.exists()  # it was never active


def test_a_person_who_acts_ends_it(mark, looks):
    node = Life(absent=3)
    looks(node, 0.5)
    node.autostart.end()
    looks(node, 60.0)
    assert node.life == "unconfigured"


def test_without_activation_it_configures_once(mark, looks):
    node = Life(activate=False)
    looks(node, 10.0)
    node.life = "unconfigured"
    looks(node, 10.0)
    assert (node.activations, node.life) == (0, "unconfigured")


@pytest.mark.parametrize("ending", ["killed", "stopped"])
def test_the_node_after_one_that_was_killed_or_stopped_waits_for_a_person(mark, looks, ending):
    looks(first := Life(), 2.0)
    assert first.activations == 1
    if ending == "stopped":
        first.autostart.close(stopped=True)
    for _ in range(2):  # nor does the one after that
        looks(node := Life(), 60.0)
        assert (node.activations, node.life) == (0, "inactive")
        assert str(mark) in node.autostart.refusal
        node.autostart.close(stopped=False)
    node.trigger_activate()
    assert not node.autostart.refusal
    node.autostart.close(stopped=False)
    looks(node := Life(), 2.0)
    assert node.activations == 1


def test_a_run_that_a_person_activated_is_remembered_too(mark, looks):
    looks(node := Life(refusals=["stopped"], robot=Status.PROTECTIVE_STOP), 2.0)
    node.trigger_activate()
    assert node.activations == 1
    looks(node := Life(), 60.0)
    assert node.activations == 0


def test_after_an_orderly_end_and_on_a_persons_command_it_starts(mark, looks):
    looks(first := Life(), 2.0)
    first.autostart.close(stopped=False)
    looks(second := Life(), 2.0)  # and is killed
    looks(third := Life(attended=True), 2.0)
    assert (first.activations, second.activations, third.activations) == (1, 1, 1)


def test_a_mark_that_cannot_be_written_keeps_it_from_starting_but_not_a_person(mark, looks, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(mark), "touch", refuse)
    looks(node := Life(), 60.0)
    assert node.activations == 0
    assert str(mark) in node.autostart.refusal
    node.trigger_activate()
    assert node.activations == 1


def test_no_stop_leads_back_to_an_active_arm_without_a_person(client):
    """One driver and one node; between two stops a person activates. A hand pushes all the time."""
    with Scene(client, "jazzy", "trajectory", node={"autostart": True}) as scene:
        scene.setup.wait_for(life="active", timeout=60.0)
        assert client.trigger("/ur_sim/clear_report").success
        for name in ("protective, cleanup", "emergency", "safeguard", "cleanup", "node restart (kill -9)"):
            scene.at_speed(0.3)
            STOPS[name](scene)()
            since = len(scene.setup.states)
            time.sleep(1.5)
            said = [scene.setup.state_of(message) for _, message in scene.setup.states[since - 1 :]]
            assert not any(state["life"] == "active" for state in said), name
            scene.let_go()
            if client.life() == "unconfigured":
                assert client.transition("configure", timeout=60.0), scene.setup.state()
            time.sleep(0.6)
            scene.setup.activate()
        scene.node.send_signal(signal.SIGINT)
        assert scene.node.wait(timeout=20) == 0
