"""The controller in a controller manager at 500 Hz. Every command of every test is computed again in Python."""

import numpy as np
import pytest
from arm import HOME, JOINT_NAMES, Arm, description, ticks, write_record

from ur_admittance.core.records import Mode, Status

PERIOD = 0.002
STEADY = (10.0 - 1.5) / 64.0  # [m/s] under 10 N: default deadband and damping


class Judged(Arm):
    """When it has ended: `cycles` of the longest run of the tick, each command as Python computes it."""

    def __exit__(self, *problem) -> None:
        super().__exit__(*problem)
        assert problem[0] is not None or self.exit_code == 0, self.said
        runs, self.times, differ = ticks(self.log)
        assert not any(differ)
        self.runs = [run for run in runs if len(run) > 1]  # the others: parameters that were tried
        if self.runs:
            self.cycles = max(self.runs, key=len)
            self.sample, self.command = self.cycles["sample"], self.cycles["command"]
            # [m/s] in the longest cycle
            self.step = self.cycles["params"]["max_acceleration"][0, 0] * self.sample["dt"].max()


def braking(command):
    """Speeds of the tool [m/s] from the first cycle in fault to rest."""
    first = np.argmax(command["mode"] == Mode.FAULT)
    speed = np.linalg.norm(command["twist"][first - 1 :, :3], axis=1)
    return speed[: np.argmax(speed == 0.0) + 1]


def test_a_push_moves_the_arm_as_the_law_says_and_as_python_computes_to_the_last_bit(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(1.0)
        arm.push(0.0)
        arm.spin(1.0)
    speed = np.linalg.norm(arm.command["twist"][:, :3], axis=1)
    assert speed.max() == pytest.approx(STEADY, rel=0.01)
    assert arm.sample["dt"].mean() == pytest.approx(PERIOD, rel=0.01)
    published = np.array([[dict(zip(j.name, j.position, strict=True))[n] for n in JOINT_NAMES] for j in arm.joints])
    after = [row for row in published.tolist() if not np.allclose(row, HOME)]
    taken, sent = set(map(tuple, arm.sample["q"].tolist())), set(map(tuple, arm.command["q"].tolist()))
    assert len(after) > 100
    assert sum(tuple(row) not in sent for row in after) == 0  # what the hardware has got
    assert sum(tuple(row) not in taken for row in after[:-5]) == 0  # and what the tick was given
    np.percentile(np.concatenate(arm.times), [50, 99]) / 1e3


def test_nothing_moves_at_activation_and_speeds_are_sent_as_well(tmp_path):
    with Judged(tmp_path, interface="velocity") as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(1.0)
        assert arm.switch(off=["admittance"])
        arm.spin(0.2)
        before = arm.joints[-1].position
        arm.spin(0.3)
        assert arm.joints[-1].position == before
    quiet = arm.sample["wrench"][:, 1] == 0.0
    assert np.abs(arm.command["q"][quiet] - HOME).max() < 1e-12
    assert np.linalg.norm(arm.command["twist"][:, :3], axis=1).max() == pytest.approx(STEADY, rel=0.02)
    assert np.abs(arm.sample["q"] - arm.command["q"]).max() < 0.002


def test_a_load_that_nothing_explains_keeps_the_arm_still_until_somebody_accepts_it(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.load("joint_state_broadcaster", "hand", "admittance")
        assert arm.switch(on=["joint_state_broadcaster", "hand"])
        arm.push(0.0, 10.0)
        arm.spin(0.2)
        assert arm.switch(on=["admittance"])
        arm.spin(1.5)
        refusal = "inactive: at rest the tool reads 10.0 N that nothing explains (allowed: 1.5 N)"
        assert arm.message() == refusal
        answer = arm.comply(True)
        assert (answer.success, answer.message) == (False, refusal)
        assert arm.set("accept_load", True) == ""
        assert arm.comply(True).message == "active: ok"
        arm.spin(1.0)
        assert arm.comply(False).message.startswith("inactive: ")
    assert np.ptp(arm.command["q"][: int(1.5 / PERIOD)], axis=0).max() == 0.0
    assert np.linalg.norm(arm.command["twist"][:, :3], axis=1).max() > 0.02


def test_a_reading_that_is_none_brakes_the_arm_and_holds_it_until_the_reset(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(0.5)
        arm.push(0.0, 1e12)  # the mock hardware does not pass NaN on; larger than anything counts as that
        arm.spin(0.3)
        assert arm.message() == "fault: the wrench is not a finite number"
        assert arm.controllers()["admittance"] == "active"
        answer = arm.reset_fault()
        assert (answer.success, answer.message) == (False, "the wrench is not a finite number")
        arm.push(0.0)
        arm.spin(0.1)
        assert arm.reset_fault().message == "inactive: ok"
        assert arm.reset_fault().message == "there is no fault: inactive: ok"
        assert arm.comply(True).message == "active: ok"
    speed = braking(arm.command)
    assert speed[0] > 0.1
    assert len(speed) * PERIOD < 0.2
    assert np.abs(np.diff(speed)).max() < 1.05 * arm.step


def test_a_fault_outlives_a_deactivation(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 1e12)
        arm.spin(0.2)
        arm.push(0.0)
        assert arm.switch(off=["admittance"])
        arm.spin(0.1)
        assert arm.switch(on=["admittance"])
        arm.spin(1.0)
        assert arm.message() == "fault: the wrench is not a finite number"
        assert arm.reset_fault().success


def test_parameters_change_without_a_step_while_the_arm_moves_and_a_bad_file_changes_nothing(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(0.7)
        heavy = write_record(tmp_path / "heavy.bin", {"admittance.mass": [16.0] * 3 + [1.6] * 3})
        assert arm.set("parameters_file", str(heavy)) == ""
        arm.spin(0.7)
        bad = tmp_path / "bad.bin"
        content = arm.record.read_bytes()
        for text, reason in (
            (content[:-1], "the parameters are of another version: write them anew"),
            (content[:-1] + b"!", "the parameters are of another version: write them anew"),
            (b"\xff" * (len(content) - 16) + content[-16:], "the parameter record contains impossible numbers"),
        ):
            bad.write_bytes(text)
            assert reason in arm.set("parameters_file", str(bad))
        assert "cannot be opened" in arm.set("parameters_file", "nowhere.bin")
        for name, value, reason in (
            ("sensor.bias", [0.0, 5.0, 0.0, 0.0, 0.0, 0.0], "while the arm does not comply"),
            ("admittance.min_motion_threshold", 0.5, "while the arm does not comply"),
            ("control_rate", 250.0, "control_rate = 250 Hz, but this controller is updated at 500 Hz"),
        ):
            assert reason in arm.set("parameters_file", str(write_record(bad, {name: value})))
        assert "are for another arm" in arm.set("parameters_file", str(write_record(bad, model="ur10e")))
        arm.spin(0.3)
        arm.push(0.0)
        assert arm.comply(False).success
        zeroed = write_record(tmp_path / "zeroed.bin", {"sensor.bias": [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]})
        assert arm.set("parameters_file", str(zeroed)) == ""
        arm.spin(0.1)
    assert arm.cycles["params"]["revision"].tolist() == sorted(arm.cycles["params"]["revision"])
    assert set(arm.cycles["params"]["revision"]) == {1, 2, 3}
    change = np.argmax(arm.cycles["params"]["revision"] == 2)
    around = arm.command[change - 2 : change + 100]
    assert np.abs(np.diff(np.linalg.norm(around["twist"][:, :3], axis=1))).max() < 2e-4  # [m/s] per cycle


@pytest.mark.parametrize("interface", ["position", "velocity"])
def test_a_leader_moves_the_arm_and_its_end_is_a_braking(tmp_path, interface):
    with Judged(tmp_path, interface=interface) as arm:
        assert arm.start() == "active: ok"
        assert arm.load("leader")
        assert arm.switch(on=["leader"])
        arm.spin(0.3)
        assert arm.message() == "active: ok"
        arm.lead(0.0, 0.05)
        arm.spin(1.0)
        assert arm.switch(off=["leader"])
        arm.spin(0.5)
        assert arm.message() == "active: ok"
    assert len(arm.runs) == 1  # two restarts, one memory
    twist = arm.command["twist"]
    assert twist[:, 1].max() == pytest.approx(0.05, rel=0.01)
    assert np.abs(np.diff(twist[:, 1])).max() < 1.05 * arm.step
    assert np.abs(twist[-100:]).max() < 1e-9
    assert 0.04 < np.ptp(arm.command["p_tcp"][:, 1]) < 0.06


def test_a_manager_that_pauses_leaves_an_arm_that_brakes(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(0.5)
        arm.pause(0.3)
        arm.spin(0.3)
        assert arm.message() == "fault: the control loop was late; is the computer overloaded?"
    first = np.argmax(arm.command["mode"] == Mode.FAULT)
    steps = np.abs(np.diff(arm.command["q"], axis=0)).max(axis=1)
    assert 0.0 < steps[first - 1] < 1.2 * steps[first - 20]  # as of any other cycle


def test_nobody_else_gets_the_joints(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        assert arm.load("other", "second")
        assert not arm.switch(on=["other"])
        assert not arm.switch(on=["second"])
        states = arm.controllers()
        assert (states["admittance"], states["other"], states["second"]) == ("active", "inactive", "inactive")
        assert arm.switch(on=["second"], off=["admittance"])  # two in one manager
        arm.spin(0.7)
    assert [run["command"]["mode"][-1] for run in arm.runs] == [Mode.ACTIVE, Mode.ACTIVE]


def test_a_deactivation_in_motion_leaves_the_arm_at_the_last_command(tmp_path):
    with Judged(tmp_path) as arm:
        assert arm.start() == "active: ok"
        arm.push(0.0, 10.0)
        arm.spin(0.7)
        assert arm.switch(off=["admittance"])
        arm.spin(0.3)
        joints = arm.joints[-1]
        assert arm.comply(True).message == "the controller is not active"
        arm.push(0.0)
        arm.spin(0.1)
        assert arm.switch(on=["admittance"])
        arm.spin(0.8)
        assert arm.message() == "active: ok"
    at = dict(zip(joints.name, joints.position, strict=True))
    assert [at[name] for name in JOINT_NAMES] == arm.runs[0]["command"]["q"][-1].tolist()
    assert np.ptp(arm.runs[1]["command"]["q"], axis=0).max() < 1e-12


def test_nothing_is_sent_before_anything_was_measured(tmp_path):
    with Judged(tmp_path, urdf=description(force=None)) as arm:
        assert arm.start() == "inactive: the wrench is not a finite number"
        assert dict(zip(arm.joints[-1].name, arm.joints[-1].position, strict=True))["elbow_joint"] == 1.57
        arm.push(0.0)
        arm.spin(0.1)
        assert arm.comply(True).message == "active: ok"
    assert (arm.command["status"][:100] == Status.NOT_FINITE).all()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"rate": 250}, "the parameters are for control_rate = 500 Hz, but this controller is updated at 250 Hz"),
        ({"joints": ["shoulder_pan_joint", "elbow_joint", "shoulder_lift_joint", *JOINT_NAMES[3:]]},
         "joints[1] = elbow_joint: must be the shoulder_lift joint"),
        ({"joints": ["shoulder_pan_joint"]}, "joints"),
        ({"command_interface": "effort"}, "command_interface"),
        ({"parameters_file": "nowhere.bin"}, "parameters_file nowhere.bin: the parameters cannot be opened"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_a_sentence(tmp_path, more, sentence):
    rate = more.pop("rate", 500)
    with Judged(tmp_path, rate=rate, **more) as arm:
        assert not arm.load("admittance")
    assert sentence in arm.said


def test_a_sensor_that_is_not_there_is_named(tmp_path):
    with Judged(tmp_path, ft_sensor="other_sensor") as arm:
        assert arm.load("admittance")
        assert not arm.switch(on=["admittance"])
    assert "other_sensor/force.x" in arm.said


def test_a_parameter_file_with_a_second_sensor_is_refused(tmp_path):
    with Judged(tmp_path, parameters={"second.source": "/other"}) as arm:
        assert not arm.load("admittance")
    assert "second.source names a second force sensor, which this controller does not read" in arm.said
