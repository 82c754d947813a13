"""Loading any URDF: Pinocchio, with its own parser, is the oracle for kinematics and masses."""

from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ur_admittance.model import robot_model
from ur_admittance.model.urdf import load
from ur_admittance_lab.urdf_writer import generate

AXES = ("0 0 1", "0 0 -1", "1 0 0", "-1 0 0", "0 1 0", "0 -1 0", "1e-9 0 -1", None)  # None: no <axis>, which means x


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


class UrdfOfChance:
    """An arm with six turning joints about any axes, fixed joints between them, weights bolted on, and a prefix."""

    def __init__(self, rng):
        self.rng, self.parts, self.joint_names = rng, [], []
        prefix = rng.choice(["", "left_", "robot/arm-1/"])
        self.base, self.tip = f"{prefix}base_link", f"{prefix}tool0"
        self._link(f"{prefix}world")
        self._link(self.base)
        self._fixed(f"{prefix}world", self.base)
        last = self.base
        for i in range(6):
            last = self._sometimes_a_bracket(last, f"{prefix}bracket_{i}")
            self._link(f"{prefix}link_{i}")
            self._turning(f"{prefix}joint_{i}", last, f"{prefix}link_{i}")
            last = f"{prefix}link_{i}"
            self._sometimes_a_bracket(last, f"{prefix}weight_{i}")
        last = self._sometimes_a_bracket(last, f"{prefix}tool_changer")
        self._link(self.tip)
        self._fixed(last, self.tip)
        self.rng.shuffle(self.parts)  # a URDF may be in any order
        self.text = f'<robot name="chance">{"".join(self.parts)}</robot>'

    def _origin(self):
        if self.rng.random() < 0.1:
            return ""
        xyz, rpy = self.rng.uniform(-0.5, 0.5, 3), self.rng.uniform(-np.pi, np.pi, 3)
        return f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'

    def _link(self, name):
        inertial = ""
        if self.rng.random() < 0.7:
            points = self.rng.uniform(-0.1, 0.1, (5, 3))  # a physical tensor: that of five point masses
            points -= points.mean(axis=0)
            mass = self.rng.uniform(0.1, 10)
            tensor = mass / 5 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
            keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
            moments = " ".join(f'{key}="{float(tensor[at])!r}"' for key, at in keys.items())
            inertial = f'<inertial>{self._origin()}<mass value="{mass!r}"/><inertia {moments}/></inertial>'
        self.parts.append(f'<link name="{name}">{inertial}</link>')

    def _joint(self, name, kind, parent, child, rest=""):
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        self.parts.append(f'<joint name="{name}" type="{kind}">{self._origin()}{ends}{rest}</joint>')

    def _fixed(self, parent, child):
        self._joint(f"{parent}-{child}", "fixed", parent, child)

    def _sometimes_a_bracket(self, parent, name):
        if self.rng.random() < 0.5:
            return parent
        self._link(name)
        self._fixed(parent, name)
        return name

    def _turning(self, name, parent, child):
        axis = self.rng.choice([*AXES, numbers(self.rng.normal(size=3)), numbers(self.rng.normal(size=3))])
        axis = "" if axis is None else f'<axis xyz="{axis}"/>'
        if self.rng.random() < 0.3:
            self._joint(name, "continuous", parent, child, f'{axis}<limit effort="5" velocity="2"/>')
        else:
            limit = '<limit lower="-3" upper="2.5" effort="5" velocity="2"/>'
            self._joint(name, "revolute", parent, child, axis + limit)
        self.joint_names.append(name)


def mass_matrix(model, q):
    """M = sum over links of m Jv^T Jv + Jw^T (R I R^T) Jw, with the velocity Jv qd of the centre of mass."""
    rotations, positions = model.frames(q)
    M = np.zeros((6, 6))
    for i, link in enumerate(model.links):
        com = rotations[i] @ link.com + positions[i]
        Jv, Jw = np.zeros((3, 6)), np.zeros((3, 6))
        for k in range(i + 1):
            Jw[:, k] = rotations[k][:, 2]
            Jv[:, k] = np.cross(Jw[:, k], com - positions[k])
        M += link.mass * Jv.T @ Jv + Jw.T @ rotations[i] @ link.inertia @ rotations[i].T @ Jw
    return M


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_chain_of_tilted_axes_and_bolted_on_weights_moves_as_in_pinocchio(pinocchio_arm, seed):
    rng = np.random.default_rng(seed)
    chance = UrdfOfChance(rng)
    model = load(chance.text, chance.base, chance.tip)
    assert model.joint_names == tuple(chance.joint_names)
    arm = pinocchio_arm(chance.text, chance.joint_names, chance.base, chance.tip)
    for q in rng.uniform(-np.pi, np.pi, (3, 6)):
        (R, p), (R_pin, p_pin) = model.forward(q), arm.forward(q)
        np.testing.assert_allclose(p, p_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(R, R_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.jacobian(q), arm.jacobian(q), rtol=0, atol=1e-12)
        np.testing.assert_allclose(mass_matrix(model, q), arm.mass_matrix(q), rtol=1e-10, atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_loaded_arm_can_be_written_and_loaded_again(seed):
    chance = UrdfOfChance(np.random.default_rng(seed))
    model = load(chance.text, chance.base, chance.tip)
    again = load(generate(model))
    for key in ("chain_rotation", "chain_position", "lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(getattr(again, key), getattr(model, key), rtol=0, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", ["ur3e", "ur5e"])
def test_the_published_airo_models_urdf_is_read_as_pinocchio_reads_it(name, pinocchio_arm, rng):
    text = files("airo_models").joinpath(f"arms/{name}/{name}.urdf").read_text()
    model = load(text)
    arm = pinocchio_arm(text, model.joint_names)
    for q in rng.uniform(-2 * np.pi, 2 * np.pi, (200, 6)):
        (R, p), (R_pin, p_pin) = model.forward(q), arm.forward(q)
        np.testing.assert_allclose(p, p_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(R, R_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.jacobian(q), arm.jacobian(q), rtol=0, atol=1e-12)
        np.testing.assert_allclose(mass_matrix(model, q), arm.mass_matrix(q), rtol=0, atol=1e-10)
        # The file rounds pi/2 to nine digits, so the table agrees with it to a nanometre only.
        np.testing.assert_allclose(p, robot_model(name).forward(q)[1], rtol=0, atol=2e-9)


def test_meshes_and_extensions_are_never_looked_at():
    text = generate(robot_model("ur5e"))
    mesh = '<visual><geometry><mesh filename="package://nowhere/arm.dae"/></geometry></visual>'
    text = text.replace('<link name="flange" />', f'<link name="flange">{mesh}</link><gazebo><joint/></gazebo>')
    text = text.replace("<limit ", '<limit drake:acceleration="2.5" ')  # the prefix is declared nowhere
    assert "package://" in text
    assert "drake:" in text
    np.testing.assert_allclose(load(text).chain_position, robot_model("ur5e").chain_position, rtol=0, atol=1e-12)


def test_a_tool_fixed_to_the_flange_weighs_on_the_last_link():
    text = generate(robot_model("ur5e"))
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    tool = f'<link name="tool"><inertial><mass value="2"/>{inertia}</inertial></link>'
    joint = '<joint name="bolt" type="fixed"><parent link="tool0"/><child link="tool"/><origin xyz="0 0 0.1"/></joint>'
    wrist, with_tool = robot_model("ur5e").links[5], load(text.replace("</robot>", tool + joint + "</robot>")).links[5]
    assert with_tool.mass == pytest.approx(wrist.mass + 2)
    np.testing.assert_allclose(with_tool.com * with_tool.mass, wrist.mass * wrist.com + [0, 0, 0.2], atol=1e-12)
    reduced = wrist.mass * 2 / (wrist.mass + 2)  # parallel axes: two bodies about their common centre
    gap = 0.1 - wrist.com[2]
    assert with_tool.inertia[0, 0] == pytest.approx(wrist.inertia[0, 0] + 0.01 + reduced * gap**2)
    assert with_tool.inertia[2, 2] == pytest.approx(wrist.inertia[2, 2] + 0.01)


def test_gripper_fingers_are_left_out_and_the_notes_say_so():
    finger = '<link name="finger"><inertial><mass value="1"/></inertial></link>'
    slide = '<joint name="slide" type="prismatic"><parent link="tool0"/><child link="finger"/></joint>'
    model = load(generate(robot_model("ur5e")).replace("</robot>", finger + slide + "</robot>"))
    assert model.links[5].mass == robot_model("ur5e").links[5].mass
    assert model.notes == ("joint slide is not part of the arm: what it carries is left out of the masses",)


def test_the_chain_may_end_at_any_link_behind_the_last_joint():
    text = generate(robot_model("ur5e"))
    R, p = load(text, "base_link_inertia", "ft_frame").forward(np.zeros(6))
    R_ros, p_ros = robot_model("ur5e").forward(np.zeros(6))
    half_turn = np.diag([-1.0, -1.0, 1.0])
    np.testing.assert_allclose(p, half_turn @ p_ros, atol=1e-12)
    np.testing.assert_allclose(R, half_turn @ R_ros @ np.diag([1.0, -1.0, -1.0]), atol=1e-12)


def test_a_continuous_joint_has_no_position_limits_and_a_missing_effort_is_unlimited():
    text = generate(robot_model("ur3e")).replace('effort="9.0" ', "")
    model = load(text)
    assert (model.lower[5], model.upper[5]) == (-np.inf, np.inf)
    np.testing.assert_array_equal(model.effort, [54, 54, 28, np.inf, np.inf, np.inf])


def test_a_limit_that_is_not_written_is_zero_as_the_format_says():
    text = generate(robot_model("ur5e")).replace('lower="-3.141592653589793" ', "")
    model = load(text)
    assert (model.lower[2], model.upper[2]) == (0.0, np.pi)
