"""What the wrench of each release of UR's driver means, and which release it is; without ROS.

The oracle is the algebra of hardware_interface.cpp on paper, beside the double's and the client's."""

import numpy as np
import pytest

pytest.importorskip("rclpy")  # the double's messages come with it

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.model.frames import Pose, rotation_from_vector, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.driver_release import Driver, Release, find_driver, judge, parsed
from ur_admittance_lab.driver.generations import GENERATIONS
from ur_admittance_lab.driver.tcp import PendantTcp

UR5E, CB3 = robot_model("ur5e"), robot_model("ur5")
STRAIGHT, TURNED = [0.0, 0.0, 0.15, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2]
BOTH = [0.05, -0.1, 0.15, 0.4, -0.9, 1.3]
LOADED = {name: ["scaled_joint_trajectory_controller", *g.idle] for name, g in GENERATIONS.items()}
OLD = [name for name, g in GENERATIONS.items() if g.wrench_frame == "tool0"]


def pose(offset):
    return Pose(rotation_from_vector(np.array(offset[3:])), np.array(offset[:3]))


def published(way, R, p, f, t):
    """Of the three formulas; R, p: the TCP in the flange frame; f, t: about the flange, flange axes."""
    if way == "inverted":
        return np.concatenate([R @ f, R @ t + np.cross(p, R @ f)])
    return np.concatenate([R.T @ f, R.T @ (t if way == "turned" else t - np.cross(p, f))])


@pytest.mark.parametrize("name", GENERATIONS)
def test_what_the_double_publishes_is_read_back_as_it_was_at_the_flange(name):
    """f = A f', t = A t' + a x f for a sensor at (A, a)."""
    generation, random = GENERATIONS[name], np.random.default_rng(7)
    for _ in range(50):
        offset = random.normal(size=6) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]
        T, f, t = pose(offset), random.normal(size=3), random.normal(size=3)
        raw = PendantTcp(offset, 0.0, [0.0] * 3).wrench(np.r_[f, t], np.eye(3), np.zeros(3), generation.wrench)
        assert raw == pytest.approx(published(generation.wrench, T.rotation, T.position, f, t), abs=1e-12)
        driver = find_driver(generation.driver, generation.wrench_frame != "tool0", LOADED[name], UR5E)
        sensor, doubt = driver.sensor(T)
        assert doubt == ""
        A, a = sensor.rotation, sensor.position
        assert A @ raw[:3] == pytest.approx(f, abs=1e-12)
        assert A @ raw[3:] + np.cross(a, f) == pytest.approx(t, abs=1e-12)


def test_the_faults_are_those_that_were_reported():
    """Straight: the torque is off by 2 (p x f), the force is right. Turned 90 degrees about z: x and y are reversed."""
    f, t = np.array([3.0, 5.0, -2.0]), np.array([0.3, -0.1, 0.2])
    right, wrong = (PendantTcp(STRAIGHT, 0.0, [0.0] * 3).wrench(np.r_[f, t], np.eye(3), np.zeros(3), way)
                    for way in ("right", "inverted"))  # fmt: skip
    assert wrong - right == pytest.approx(np.r_[0, 0, 0, 2 * np.cross([0, 0, 0.15], f)], abs=1e-12)
    right, wrong = (PendantTcp(TURNED, 0.0, [0.0] * 3).wrench(np.r_[f, t], np.eye(3), np.zeros(3), way)
                    for way in ("right", "inverted"))  # fmt: skip
    assert wrong == pytest.approx(right * [-1, -1, 1, -1, -1, 1], abs=1e-12)


@pytest.mark.parametrize("offset", [STRAIGHT, TURNED, BOTH])
@pytest.mark.parametrize("name", GENERATIONS)
def test_the_arm_moves_with_the_hand_on_every_release(name, offset):
    """A hand pushes the flange with 8 N along y of base_link; half a second, and where the flange is then."""
    generation = GENERATIONS[name]
    driver = find_driver(generation.driver, generation.wrench_frame != "tool0", LOADED[name], UR5E)
    moved = pushed(generation.wrench, offset, driver.sensor(pose(offset))[0])
    assert moved[1] > 0.02
    assert np.abs(moved[[0, 2, 3, 4, 5]]).max() < 0.02 * moved[1]


def pushed(way, offset, sensor):
    """Motion of the flange [m, rad] in half a second, for a sensor that is taken to be there."""
    tcp = PendantTcp(offset, 0.0, [0.0] * 3)
    found = {
        "sensor.rotation": rpy_from_rotation(sensor.rotation).tolist(),
        "sensor.position": sensor.position.tolist(),
    }
    controller = AdmittanceController(UR5E, Parameters().changed(found))
    controller.configure(lambda sentence: None)
    sample, q = controller.sample, np.array(UR5E.home)
    R0, p0 = UR5E.forward(q)

    def tick(force):
        R, _ = UR5E.forward(q)
        sample["q"], sample["qd"], sample["dt"] = q, controller.command["qd"], 0.002
        sample["wrench"] = tcp.wrench(np.r_[R.T @ force, np.zeros(3)], R, np.zeros(3), way)
        controller.update()
        if controller.mode == Mode.ACTIVE:
            q[:] = controller.command["q"]

    for _ in range(5):
        tick(np.zeros(3))
    controller.activate()
    for k in range(255):
        tick(np.array([0.0, 8.0, 0.0]) if k > 5 else np.zeros(3))
    assert controller.mode == Mode.ACTIVE, controller.reason
    R, p = UR5E.forward(q)
    turn = R @ R0.T
    return np.r_[p - p0, 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])]


def test_a_wrench_that_is_taken_for_the_right_one_moves_the_arm_against_the_hand():
    """What this is all about, and why it must not be guessed."""
    assert pushed("inverted", TURNED, pose(TURNED))[1] < -0.02


@pytest.mark.parametrize("name", OLD)
def test_without_a_version_an_old_driver_is_in_doubt_unless_the_tcp_is_at_the_flange(name, monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    for loaded in (LOADED[name], None):
        driver = find_driver("", False, loaded, UR5E)
        assert driver.release is None
        for offset in (STRAIGHT, TURNED, BOTH):
            assert "sensor.driver" in driver.sensor(pose(offset))[1]
        assert driver.sensor(pose([0.004, -0.003, 0.002, 0.01, 0.0, 0.02]))[1] == ""
        assert find_driver("", False, loaded, CB3).sensor(pose(BOTH))[1] == ""  # no release of it differs


ALL = ("tool_contact_controller", "forward_effort_controller", "friction_model_controller")
EVIDENCE = [  # version, labelled, controllers, release
    (None, True, None, Release.RIGHT),
    (None, True, ALL, Release.RIGHT),
    (None, False, ALL, Release.RIGHT),  # the user's own frame_id
    (None, True, ALL[:2], None),  # an old driver with the user's own frame_id?
    (None, False, ALL[:2], None),
    (None, False, (), None),
    ("2.0.2", False, (), None),  # base axes
    ("2.1.0", False, (), Release.TURNED),
    ("2.5.2", False, (), Release.TURNED),
    ("2.6.0", False, (), Release.INVERTED),
    ("2.8.0", False, ALL[:1], Release.INVERTED),
    ("2.11.0", False, ALL[:2], Release.INVERTED),
    ("2.12.0", False, ALL[:2], Release.UNLABELLED),
    ("2.12.0", False, None, Release.UNLABELLED),
    ("2.13.0", True, ALL, Release.RIGHT),
    ("2.14.0", True, (), Release.RIGHT),  # a launch file of the user's own
    ("3.1.0", False, (), Release.TURNED),
    ("3.1.1", False, (), Release.INVERTED),
    ("3.6.0", False, ALL[:2], Release.INVERTED),
    ("3.7.0", False, ALL[:2], Release.UNLABELLED),
    ("3.8.0", True, ALL, Release.RIGHT),
    ("4.0.0", False, ALL[:1], Release.INVERTED),
    ("4.4.0", False, ALL[:2], Release.INVERTED),
    ("4.5.0", False, ALL[:2], Release.UNLABELLED),
    ("4.6.0", True, ALL, Release.RIGHT),
    ("5.0.0", True, ALL, Release.RIGHT),
    ("7.0.0", True, None, Release.RIGHT),
    # the driver runs elsewhere, with another version than the one of this computer
    ("2.9.0", False, ALL[:2], None),
    ("2.9.0", True, ALL, None),
    ("2.12.0", False, ALL[:1], None),
    ("2.14.0", False, ALL[:2], None),
    ("2.14.0", False, ALL, Release.RIGHT),  # the user's own frame_id
    ("2.14.0", False, None, None),
]


@pytest.mark.parametrize(("version", "labelled", "loaded", "release"), EVIDENCE)
def test_the_release_follows_from_signs_that_agree(version, labelled, loaded, release):
    left = None if loaded is None else [f"left_{name}" for name in loaded]
    for names in (loaded, left):
        assert judge(version and parsed(version), "here", labelled, names)[0] is release


def test_the_version_is_that_of_the_installed_package_and_one_that_is_stated_must_not_contradict_it(
    tmp_path, monkeypatch
):
    for k, text in enumerate(
        ("<package", "<package><name>ur_robot_driver</name><version> 2.11.0 </version></package>")
    ):
        file = tmp_path / str(k) / "share" / "ur_robot_driver" / "package.xml"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/0:{tmp_path}/1:{tmp_path}/2")
    names = ALL[:2]
    assert find_driver("", False, names, UR5E).release is Release.INVERTED
    assert str(tmp_path / "1") in find_driver("", False, names, UR5E).why
    assert find_driver("2.11.0", False, names, UR5E).release is Release.INVERTED
    assert find_driver("2.12.0", False, names, UR5E).release is None  # which of the two was updated?
    assert find_driver("2.14.0", True, ALL, UR5E).release is Release.RIGHT  # here is an old one, there it fits
    assert find_driver("", True, ALL, UR5E).release is None


def test_an_arm_of_no_known_type_is_in_doubt_where_the_series_differ():
    assert Driver(Release.INVERTED, "", "").sensor(pose(TURNED))[1]
    assert not Driver(Release.UNLABELLED, "", "").sensor(pose(TURNED))[1]


def table():
    """Taken for the wrench of the newest release, and as it is: motion of the flange under `pushed`."""
    yield "| driver | TCP | taken for the newest | as it is |"
    yield "|---|---|---|---|"
    for name, generation in GENERATIONS.items():
        driver = find_driver(generation.driver, generation.wrench_frame != "tool0", LOADED[name], UR5E)
        for tool, offset in (("straight, 150 mm", STRAIGHT), ("turned by 90 degrees", TURNED)):
            both = [pushed(generation.wrench, offset, T) for T in (pose(offset), driver.sensor(pose(offset))[0])]
            cells = [f"{1e3 * m[1]:+.0f} mm, turns by {1e3 * np.abs(m[3:]).max():.0f} mrad" for m in both]
            yield f"| {generation.driver} | {tool} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(table()))  # noqa: T201
