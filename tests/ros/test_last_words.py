"""The end of an activation: whatever fails between its steps, the arm stands before its topic is given back."""

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.errors import LifecycleError, RobotError

pytest.importorskip("rclpy")

Q, QD = np.array([0.1, -1.0, 1.2, 0.3, 0.2, 0.1]), np.array([0.3, -0.1, 0.0, 0.0, 0.2, 0.0])


def test_the_last_goal_is_a_standstill_though_an_answer_is_pending():
    from ur_admittance.robots.ros.action_output import ActionOutput, Splines

    goals = []

    def send_goal_async(goal):
        goals.append(goal.trajectory)
        return SimpleNamespace(add_done_callback=lambda callback: None)  # the executor is blocked: no answer ever

    output = object.__new__(ActionOutput)
    header = lambda: SimpleNamespace(trajectory=None)  # noqa: E731
    output._node = SimpleNamespace(destroy_timer=lambda timer: None)
    output._names, output._kind = list("abcdef"), SimpleNamespace(Goal=header)
    output._client = SimpleNamespace(send_goal_async=send_goal_async)
    output._goal, output._shortest, output._blends, output._stamp_ns = Splines(), 0.04, False, lambda now: 0
    output._knots, output._fresh, output._asked_at, output._number = deque(maxlen=10), False, -1.0, 0
    output._newest, output._timer, output._problem = (np.zeros(6), np.zeros(6), 0.0), object(), ""
    for k in range(100):
        output.send(Q + 0.002 * k * QD, QD, 10.0 + 0.002 * k)
        if k % 25 == 0:
            output._on_timer()
    assert len(goals) == 1  # the others wait for the answer
    output.close()
    last = goals[-1].points[-1]
    assert len(goals) == 2
    assert np.array(last.velocities) == pytest.approx(np.zeros(6))
    went, told = np.abs(np.array(last.positions) - Q), np.abs(0.002 * 99 * QD)
    assert (went <= told + 1e-9).all()  # no farther than commanded


class Loop:
    """A control thread of which one step fails, in one of the ways in which calls fail."""

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
