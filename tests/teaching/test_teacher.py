"""What a hand shows becomes steps: by calls and by a button of the tool."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import ur_admittance as ua
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.teaching import curve


def test_a_guided_path_and_poses_are_remembered_within_the_tolerance_that_is_stated(cell):
    c, seen = cell(), []
    teacher = ua.Teacher(c.controller, distance=0.0005)

    def guide(controller):
        teacher.watch(controller)
        time = c.world.time
        if time > 0.5 and not teacher.recording and time < 6.0:
            assert teacher.mark().startswith("pose 1 at (")
            assert teacher.begin_path() == "taking a path"
            c.world.grab(lambda t: 0.06 * np.array([np.sin(t), 1 - np.cos(t), 0, 0, 0, np.sin(t)]))
        if teacher.recording:
            seen.append(np.array(controller.command["p_tcp"]))
        if time > 6.0 and teacher.recording:
            teacher.end_path()
            c.world.let_go()
            return True
        return False

    with c.robot:
        ua.run(c.controller, c.robot, duration=20.0, activate=True, on_tick=guide)
    taught = teacher.taught
    assert [step.kind for step in taught.steps] == ["pose", "path"]
    assert taught.start_joints == pytest.approx(c.world.model.home, abs=1e-3)
    assert 0.0 < taught.deviation[0] <= taught.tolerance[0] == 0.0005
    assert taught.points < 60
    way = curve.bent(curve.from_vectors(taught.steps[1].value))
    assert cKDTree(way.poses[:, :3]).query(np.array(seen))[0].max() <= taught.deviation[0] + 2e-4
    assert np.ptp(seen, axis=0)[0] > 0.08


class Shown:
    """Cycles without an arm."""

    def __init__(self, teacher):
        self.teacher, self.time = teacher, 0.0

    def go(self, seconds, pressed=False, y=0.0, bit=16):
        for _ in range(round(seconds / 0.002)):
            self.time += 0.002
            sample = {"stamp_ns": round(1e9 * self.time), "q": np.full(6, self.time), "digital_in": pressed << bit}
            place = np.array([0.4, y * self.time, 0.3])
            self.teacher.see(sample, {"p_tcp": place, "R_tcp": np.eye(3)})


def test_a_short_press_marks_a_pose_and_a_long_one_takes_a_path(cell):
    teacher = ua.Teacher(cell().controller, button="tool:1")
    shown = Shown(teacher)
    shown.go(0.5, y=0.1)
    shown.go(0.5, pressed=True, y=0.1, bit=16)  # another button
    assert not teacher.recording
    shown.go(0.2, pressed=True, y=0.1, bit=17)
    assert teacher.recording
    shown.go(0.5, y=0.1)
    shown.go(2.0, pressed=True, y=0.1, bit=17)
    shown.go(0.1, y=0.1)
    assert [step.kind for step in teacher.taught.steps] == ["pose", "path"]
    path = teacher.taught.steps[1].value
    assert path[-1, 1] - path[0, 1] == pytest.approx(0.2, abs=0.002)
    assert len(path) == 2  # straight on


def test_undo_drops_the_last_step_and_what_is_being_taken(cell):
    teacher = ua.Teacher(cell().controller)
    with pytest.raises(LifecycleError, match="mark: no cycle was seen yet"):
        teacher.mark()
    shown = Shown(teacher)
    shown.go(0.1)
    teacher.begin_path()
    with pytest.raises(LifecycleError, match="a path is being taken already"):
        teacher.begin_path()
    assert teacher.undo() == "the path is dropped"
    teacher.begin_path()
    shown.go(0.1)
    with pytest.raises(LifecycleError, match="the tool did not move"):
        teacher.end_path()
    with pytest.raises(LifecycleError, match="no path is being taken"):
        teacher.end_path()
    teacher.gripper("close")
    teacher.wait(0.5)
    teacher.output("digital:2", True)
    shown.go(0.1, y=0.1)
    teacher.mark()
    assert [step.kind for step in teacher.taught.steps] == ["gripper", "wait", "output", "pose"]
    assert teacher.taught.gripper == "tool:0"
    assert teacher.taught.start_joints[0] > 0.1
    assert teacher.undo() == "pose 4 is dropped"
    assert teacher.taught.start_joints == (0.0,) * 6
    for _ in range(3):
        teacher.undo()
    with pytest.raises(LifecycleError, match="undo: nothing has been taught"):
        teacher.undo()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"distance": 0.0}, "teach distance"), ({"angle": -1.0}, "teach angle"), ({"button": "tool:2"}, "teach button = tool:2: must be")],
)  # fmt: skip
def test_an_impossible_teacher_is_refused(cell, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ua.Teacher(cell().controller, **options)
