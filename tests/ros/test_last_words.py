"""The end of an activation: whatever fails between its steps, the arm stands before its topic is given back."""

from types import SimpleNamespace

import pytest

from ur_admittance.errors import LifecycleError, RobotError

pytest.importorskip("rclpy")


class Loop:
    """A control thread of which one step fails, in one of the ways in which calls fail."""

    done = False

    def __init__(self, fails, error, stands=True):
        self.fails, self.error, self.stands = fails, error, stands
        self.calls, self.stopped, self.ticks = 0, False, 0

    def call(self, action):
        self.calls += 1
        if self.calls == self.fails:
            raise self.error
        return action()

    def wait_for(self, condition, timeout):
        self.ticks += 100
        return self.stands and condition()

    def stands_still(self):
        return self.stands

    def stop(self):
        self.stopped = True


def test_every_activation_ramps_the_load_of_that_moment_in():
    from ur_admittance.core.records import Mode
    from ur_admittance.ros.compliant_arm import CompliantArm

    class Controller:
        mode, calls, seen_at_rest = Mode.INACTIVE, (), True

        def expect_load(self):
            self.calls += ("expect_load",)

        def check_activation(self, accept_load):
            pass

        def activate(self, start_at_arm, accept_load):
            self.calls, self.mode = (*self.calls, "activate"), Mode.ACTIVE

    arm, loop = object.__new__(CompliantArm), Loop(0, None)
    loop.failure, loop.alive = "", True
    arm.thread, arm.controller, arm._node = loop, Controller(), SimpleNamespace(option=lambda name: False)
    arm.robot = SimpleNamespace(driving=False, take_command=lambda: None)
    for _ in range(2):
        arm.controller.mode = Mode.INACTIVE
        arm.begin()
    assert arm.controller.calls == ("expect_load", "activate") * 2


ERRORS = [RobotError("the loop did not answer"), LifecycleError("not configured"), ZeroDivisionError("a bug")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("fails", [0, 1, 2])
@pytest.mark.parametrize("stands", [True, False])
def test_the_topic_is_given_back_after_a_standstill_or_the_end_of_the_loop(fails, error, stands):
    from ur_admittance.ros.compliant_arm import CompliantArm

    loop, told = Loop(fails, error, stands), []
    arm = object.__new__(CompliantArm)
    arm.thread, arm._log = loop, SimpleNamespace(warning=told.append)
    arm.controller = SimpleNamespace(deactivate=lambda: told.append("deactivate"))
    given_back = []
    arm.robot = SimpleNamespace(driving=True, give_command_back=lambda: given_back.append(loop.stopped))
    arm.end()
    confirmed = stands and fails != 1
    assert given_back == [not confirmed]  # without a standstill that was seen, the loop has ended and stopped the arm
    assert not arm.robot.driving
    assert "deactivate" in told
