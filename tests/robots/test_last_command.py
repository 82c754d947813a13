"""The last command is a stop: an arm in motion, something fails between any two steps of the loop, the arm stands."""

import itertools
import os
import random

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import SAMPLE, STOPPED, Mode, new
from ur_admittance.errors import LoopError
from ur_admittance.params import Parameters
from ur_admittance.runtime.loop import run

from .test_contract import ROBOTS, emulator, end_of_processes, sim_node  # noqa: F401

SPEED = 0.1  # [m/s]
CYCLES = 150  # in motion before something fails
BY_REFERENCE = {"admittance.enabled_axes": [False] * 6, "safety.joint_state_timeout": 0.5, "safety.wrench_timeout": 0.5}
STEPS = (
    "wait", "before read", "after read", "update", "before write", "after write", "tell", "listen", "on_tick", "stop",
)  # fmt: skip
SLOW_TO_START = 2  # faults that are tried on arms of other processes, drawn anew each time; SWEEP: all

drawn = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID"))  # all workers draw the same
CASES = []
for kind, make in ROBOTS.items():
    all_faults = list(itertools.product(STEPS, ("once", "for good")))
    all_faults.remove(("stop", "for good"))  # whose stop never works is stopped by its watchdog
    few = not kind.startswith("simulated") and not os.environ.get("SWEEP")
    chosen = drawn.sample(all_faults, SLOW_TO_START) if few else all_faults
    CASES += [pytest.param(make, *fault, id=f"{kind}, {' '.join(fault)}") for fault in chosen]


@pytest.fixture(scope="module", autouse=True)
def fresh_processes(end_of_processes):  # noqa: F811
    """Those of other tests have ended."""
    emulator.cache_clear()
    sim_node.cache_clear()


class Trouble:
    """Raises at one step of the loop, from a given call on; notes the speeds of the last command."""

    def __init__(self, step, lasts):
        self.step, self.lasts, self.calls, self.raised = step, lasts, 0, False

    def at(self, step):
        if step != self.step:
            return
        self.calls += 1
        first = 1 if step == "stop" else CYCLES
        if self.calls == first or (self.calls > first and self.lasts == "for good"):
            self.raised = True
            raise OSError(f"trouble: {step}")

    def around(self, owner, name, before="", after=""):
        original = getattr(owner, name)

        def wrapped(*values):
            self.at(before)
            result = original(*values)
            self.at(after)
            return result

        setattr(owner, name, wrapped)

    def poll(self, controller):
        self.at("listen")

    def publish(self, controller, loop):
        self.at("tell")


def sent_to(robot):
    """List of what goes out from now on: the fastest joint of each command [rad/s, rad per cycle], 0 for a stop."""
    sent, last = [], np.zeros(6)
    link, path = getattr(robot, "_link", None), getattr(robot, "path", None)
    if link is not None:
        stream, brake, speeds = link.stream, link.brake, robot.settings.command == "speed"

        def noted_stream(six):
            sent.append(float(np.abs(np.array(six) - (0.0 if speeds else last)).max()))
            last[:] = six
            return stream(six)

        def noted_brake(timeout):
            sent.append(0.0)
            brake(timeout)

        link.stream, link.brake = noted_stream, noted_brake
    elif path is not None:
        output, send = path.output, path.output.send

        def noted_output(q, qd, now):
            sent.append(float(np.abs(qd).max()))
            send(q, qd, now)

        output.send = noted_output
    return sent


@pytest.mark.parametrize(("make", "step", "lasts"), CASES)
def test_whatever_fails_between_two_steps_the_last_command_is_a_stop_and_the_arm_stands(
    make, step, lasts, record_property
):
    robot, trouble = make(), Trouble(step, lasts)
    with robot:
        sent = sent_to(robot)
        clock = robot.clock()
        controller = AdmittanceController(getattr(robot, "world", robot).model, Parameters().changed(BY_REFERENCE))
        controller.configure()
        trouble.around(clock, "wait", before="wait")
        trouble.around(robot, "read", before="before read", after="after read")
        trouble.around(robot, "write", before="before write", after="after write")
        trouble.around(robot, "stop", before="stop")
        trouble.around(controller, "update", before="update")
        fastest = []

        def guide(controller):
            if controller.mode == Mode.INACTIVE:
                controller.activate(start_at_arm=True)
            controller.set_reference_twist([0.0, SPEED, 0.0, 0.0, 0.0, 0.0])
            fastest.append(float(np.abs(controller.command["qd"]).max()))
            trouble.at("on_tick")
            return len(fastest) > 2 * CYCLES

        if step == "tell":  # losing a publisher is no reason to stop
            run(controller, robot, clock, telemetry=trouble, mailbox=trouble, on_tick=guide)
        else:
            with pytest.raises(LoopError, match="trouble"):
                run(controller, robot, clock, telemetry=trouble, mailbox=trouble, on_tick=guide)
        assert trouble.raised
        assert max(fastest) > 0.05
        trouble.step = None
        sample = new(SAMPLE)
        if step == "stop":
            robot.stop()
        rest = robot.clock()
        rest.start()
        places = []
        for _ in range(100):
            rest.wait()
            robot.read(sample)
            places.append(np.array(sample["q"][0]))
        record_property("measured joint speed at the end [rad/s]", float(np.abs(sample["qd"]).max()))
        assert np.abs(sample["qd"]).max() < STOPPED
        assert np.abs(places[-1] - places[50]).max() < 1e-4  # after what swings has settled
        assert not sent or sent[-1] == 0.0
