"""Who leads the reference: a stage, or the newest writer from outside."""

import numpy as np
import pytest
from tests.runtime.stages import DT, InFront, Watch

from ur_admittance.core.leader import Leader
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import apply_reference, apply_request
from ur_admittance_lab.null_robot import NullRobot


def test_an_outside_writer_preempts_the_stage_falls_silent_and_the_stage_resumes_on_request(controller):
    robot, watch, cycle = NullRobot(), Watch(), [0]
    stage = InFront(lambda sample, now: sample["reference_twist"].__setitem__(1, 0.05))

    def script(c):
        cycle[0] += 1
        if 200 <= cycle[0] < 400 and cycle[0] % 20 == 0:
            apply_reference(c, {"twist": [0.0, -0.05, 0.0, 0.0, 0.0, 0.0]})
        elif cycle[0] == 700:
            apply_request(c, "resume_stages")

    run(controller, robot, robot.clock(), duration=2.0, telemetry=watch, on_tick=script, stages=[stage])
    leaders, v = watch.leaders, np.array(watch.twists)[:, 1]
    assert leaders[150] == Leader.STAGE
    assert leaders[210] == leaders[420] == Leader.TWIST
    assert leaders[450] == leaders[699] == Leader.SILENT
    assert leaders[701] == Leader.STAGE
    assert v[150] == pytest.approx(0.05, abs=1e-6)
    assert v[380] == pytest.approx(-0.05, abs=1e-6)
    assert np.abs(v[550:699]).max() < 1e-6  # at rest, until asked
    assert v[950] == pytest.approx(0.05, abs=1e-6)
    assert np.abs(np.diff(v)).max() <= controller.params["max_acceleration"][0] * DT * 1.01  # never a jump


def test_a_pose_from_outside_preempts_too_and_the_newest_writer_leads(controller):
    robot, watch, cycle = NullRobot(), Watch(), [0]
    stage = InFront(lambda sample, now: sample["reference_twist"].__setitem__(0, 0.05))
    start, R = controller.model.forward(robot.q)[1], controller.model.forward(robot.q)[0]

    def script(c):
        cycle[0] += 1
        if cycle[0] == 100:
            apply_reference(c, {"position": (start + [0.0, 0.03, 0.0]).tolist(), "rotation": R.tolist()})
        elif cycle[0] == 600:
            apply_reference(c, {"position": (start + [0.0, 0.08, 0.0]).tolist(), "rotation": R.tolist()})
        elif cycle[0] == 610:
            apply_reference(c, {"twist": [0.0] * 6})

    run(controller, robot, robot.clock(), duration=2.0, telemetry=watch, on_tick=script, stages=[stage])
    poses = np.array(watch.poses) - start
    assert watch.leaders[101] == Leader.POSE
    assert poses[590] == pytest.approx([0.0, 0.03, 0.0], abs=1e-3)  # it brakes gently
    assert poses[-1][1] < 0.04  # a writer who asked for rest, later, has the last word


@pytest.mark.parametrize("end", ["preempted", "deactivated"])
def test_a_wrench_of_a_stage_ends_when_the_stage_leads_no_more(controller, end):
    robot, wrenches, cycle = NullRobot(), [], [0]
    stage = InFront(lambda sample, now: sample["reference_wrench"].__setitem__(2, -5.0))

    def script(c):
        cycle[0] += 1
        wrenches.append(float(c.sample["reference_wrench"][2]))
        if cycle[0] == 100:
            if end == "preempted":
                apply_reference(c, {"twist": [0.0] * 6})
            else:
                apply_request(c, "deactivate")

    run(controller, robot, robot.clock(), duration=0.5, on_tick=script, stages=[stage])
    assert wrenches[99] == -5.0
    assert wrenches[102:] == [0.0] * len(wrenches[102:])


def test_without_a_stage_there_is_nothing_to_resume(controller):
    with pytest.raises(Exception, match="resume_stages: no stage runs in front of the controller"):
        apply_request(controller, "resume_stages")
