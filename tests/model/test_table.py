"""The table of UR types against its own Denavit-Hartenberg parameters and against what masses can physically do."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from ruamel.yaml import YAML

from ur_admittance.errors import ModelError
from ur_admittance.model import MODEL_NAMES, robot_model

TABLE = YAML(typ="safe", pure=True).load(files("ur_admittance.model").joinpath("data/ur_models.yaml").read_text())
every_type = pytest.mark.parametrize("name", MODEL_NAMES)


def dh_product(entry, q):
    """Standard DH: A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha), from the UR controller's base to the flange."""
    T = np.eye(4)
    for theta, d, a, alpha in zip(q, entry["dh"]["d"], entry["dh"]["a"], entry["dh"]["alpha"], strict=True):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        T = T @ [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
    return T


def test_the_table_holds_the_fourteen_types_that_are_announced():
    assert set(MODEL_NAMES) == set(TABLE)
    assert len(MODEL_NAMES) == 14


@every_type
def test_forward_kinematics_is_the_dh_product_turned_by_pi_from_ur_base_to_base_link(name, rng):
    model = robot_model(name)
    half_turn = np.diag([-1.0, -1.0, 1.0])
    for q in rng.uniform(-2 * np.pi, 2 * np.pi, (200, 6)):
        T = dh_product(TABLE[name], q)
        R, p = model.forward(q)
        np.testing.assert_allclose(p, half_turn @ T[:3, 3], rtol=0, atol=1e-12)
        np.testing.assert_allclose(R, half_turn @ T[:3, :3], rtol=0, atol=1e-12)


@every_type
def test_at_home_the_tool_points_down_in_front_of_the_arm(name):
    model = robot_model(name)
    R, p = model.forward(model.home)
    np.testing.assert_allclose(R[:, 2], [0, 0, -1], atol=1e-12)
    assert p[0] > 0.25  # m in front; x of base_link is forward
    assert 0.2 < p[2] < 1.0
    assert np.all((model.lower < model.home) & (model.home < model.upper))


@every_type
def test_the_nominal_reach_lies_between_the_two_tubes_and_the_stretched_arm(name):
    model = robot_model(name)
    a, d = np.abs(TABLE[name]["dh"]["a"]), TABLE[name]["dh"]["d"]
    assert a.sum() <= model.reach_m <= np.hypot(a.sum() + d[4], d[3] + d[5])


@every_type
def test_inertia_tensors_are_those_of_real_bodies(name):
    # Principal moments of any mass distribution: I1 > 0 and I1 + I2 >= I3.
    for link in robot_model(name).links:
        np.testing.assert_array_equal(link.inertia, link.inertia.T)
        smallest, middle, largest = np.linalg.eigvalsh(link.inertia)
        assert smallest > 0
        assert smallest + middle >= largest
        assert link.mass > 0


@every_type
def test_arm_tubes_are_less_compact_than_a_uniform_rod_unless_declared_doubtful(name):
    # Heavy joints sit at both ends of upper arm and forearm: radius of gyration >= L / sqrt(12), that of a rod.
    model = robot_model(name)
    compact = []
    for i in (1, 2):
        length = np.linalg.norm(model.chain_position[i + 1][:2])
        gyration = np.sqrt(model.links[i].inertia[1, 1] / model.links[i].mass)
        compact.append(gyration < length / np.sqrt(12))
    doubtful = "doubtful" in model.inertia_source
    assert any(compact) == doubtful
    assert any("doubtful" in note for note in model.notes) == doubtful


def test_only_the_ur30_has_doubtful_tensors_and_says_why():
    assert [name for name in MODEL_NAMES if "doubtful" in robot_model(name).inertia_source] == ["ur30"]
    assert "UR16e" in robot_model("ur30").notes[0]


@every_type
def test_limits_are_symmetric_and_only_the_small_arms_turn_wrist_3_without_end(name):
    model = robot_model(name)
    np.testing.assert_array_equal(model.lower, -model.upper)
    assert np.isinf(model.upper[5]) == (name in ("ur3", "ur3e"))
    assert np.isfinite(model.upper[:5]).all()
    assert np.all(model.velocity >= np.radians(119))
    assert np.all(model.effort > 0)


def test_ur5e_numbers_are_the_published_ones():
    model = robot_model("ur5e")
    assert model.joint_names[0] == "shoulder_pan_joint"
    assert model.joint_names[5] == "wrist_3_joint"
    np.testing.assert_allclose(model.upper, [2 * np.pi, 2 * np.pi, np.pi, 2 * np.pi, 2 * np.pi, 2 * np.pi])
    np.testing.assert_allclose(model.velocity, np.pi)
    np.testing.assert_array_equal(model.effort, [150, 150, 150, 28, 28, 28])
    assert (model.payload_kg, model.reach_m) == (5, 0.85)
    assert [link.name for link in model.links][:2] == ["shoulder_link", "upper_arm_link"]
    assert model.body_offset == {"upper_arm_link": 0.138, "forearm_link": 0.007}
    np.testing.assert_array_equal(model.chain_rotation[6], np.eye(3))
    np.testing.assert_array_equal(model.chain_position[6], np.zeros(3))


@every_type
def test_jacobian_is_the_derivative_of_forward_kinematics(name, rng):
    model = robot_model(name)
    h = 1e-6
    for q in rng.uniform(-np.pi, np.pi, (5, 6)):
        J = model.jacobian(q)
        R, _ = model.forward(q)
        for i in range(6):
            step = h * np.eye(6)[i]
            (R1, p1), (R0, p0) = model.forward(q + step), model.forward(q - step)
            W = (R1 - R0) / (2 * h) @ R.T
            column = [*(p1 - p0) / (2 * h), W[2, 1], W[0, 2], W[1, 0]]
            np.testing.assert_allclose(J[:, i], column, rtol=0, atol=1e-8)


def test_a_model_cannot_be_changed_by_accident():
    model = robot_model("ur5e")
    with pytest.raises(ValueError):  # noqa: PT011  # NumPy has no other kind for it
        model.chain_position[0, 0] = 1.0
    with pytest.raises(ValueError):  # noqa: PT011  # NumPy has no other kind for it
        model.links[0].com[0] = 1.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"chain_position": np.full((7, 3), np.inf)}, "model ur5e: the chain has a number that is not finite"),
        ({"lower": np.zeros(7)}, r"model ur5e: lower: shape is \(7,\), must be \(6,\)"),
        ({"links": robot_model("ur5e").links[:5]}, "has 5 links and 6 joint names, must have six of each"),
    ],
)
def test_a_model_with_an_impossible_chain_cannot_be_made(change, sentence):
    with pytest.raises(ModelError, match=sentence):
        replace(robot_model("ur5e"), **change)


def test_the_name_is_found_in_any_case():
    assert robot_model(" UR5e ").name == "ur5e"
    assert robot_model("ur5e") is robot_model("ur5e")


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known_ones():
    known = r"ur3, .*, ur30, or a file: arm\.urdf\.$"
    with pytest.raises(ModelError, match=rf"'ur16' is unknown: did you mean ur16e\? known are {known}"):
        robot_model("ur16")
    with pytest.raises(ModelError, match=r"'panda' is unknown: known are ur3, "):
        robot_model("panda")
