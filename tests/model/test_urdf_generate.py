"""Generated URDF: Pinocchio reads it and finds the same arm; loading it gives the model back."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from ur_admittance.errors import ModelError
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.model.look import tubes
from ur_admittance.model.urdf import load
from ur_admittance_lab.urdf_writer import generate

every_type = pytest.mark.parametrize("name", MODEL_NAMES)


def calibrated(model, rng):
    """Factory calibration: every origin a little off, as on a real arm; the tool frame moved too."""
    turns = np.stack([rotation_from_rpy(rpy) for rpy in rng.normal(0, 0.02, (7, 3))])
    shifts = rng.normal(0, 0.002, (7, 3))
    return replace(model, chain_rotation=model.chain_rotation @ turns, chain_position=model.chain_position + shifts)


def assert_same_arm(a, b):
    for key in ("chain_rotation", "chain_position", "lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(getattr(a, key), getattr(b, key), rtol=0, atol=1e-12, err_msg=key)
    assert a.joint_names == b.joint_names
    for one, other in zip(a.links, b.links, strict=True):
        assert (one.name, one.mass) == (other.name, other.mass)
        np.testing.assert_allclose(one.com, other.com, rtol=0, atol=1e-15)
        np.testing.assert_allclose(one.inertia, other.inertia, rtol=0, atol=1e-15)


@every_type
def test_pinocchio_finds_the_same_kinematics_in_the_generated_urdf(name, pinocchio_arm, rng):
    model = robot_model(name)
    arm = pinocchio_arm(generate(model), model.joint_names)
    for q in rng.uniform(-2 * np.pi, 2 * np.pi, (200, 6)):
        (R, p), (R_pin, p_pin) = model.forward(q), arm.forward(q)
        np.testing.assert_allclose(p, p_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(R, R_pin, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.jacobian(q), arm.jacobian(q), rtol=0, atol=1e-12)


@every_type
def test_pinocchio_finds_the_same_masses_and_limits_in_the_generated_urdf(name):
    model = robot_model(name)
    pin = pinocchio.buildModelFromXML(generate(model))
    for i, (link, inertia) in enumerate(zip(model.links, list(pin.inertias)[1:], strict=True)):
        assert inertia.mass == pytest.approx(link.mass, abs=1e-14)
        np.testing.assert_allclose(inertia.lever, link.com, rtol=0, atol=1e-14)
        np.testing.assert_allclose(inertia.inertia, link.inertia, rtol=0, atol=1e-12)
        joint = pin.joints[i + 1]
        assert pin.velocityLimit[joint.idx_v] == model.velocity[i]
        assert pin.effortLimit[joint.idx_v] == model.effort[i]
        if joint.nq == 1:
            assert (pin.lowerPositionLimit[joint.idx_q], pin.upperPositionLimit[joint.idx_q]) == (
                model.lower[i],
                model.upper[i],
            )
        else:
            assert np.isinf(model.upper[i])


@every_type
def test_generate_then_load_gives_the_same_arm(name):
    assert_same_arm(load(generate(robot_model(name))), robot_model(name))


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur20"])
def test_calibrated_kinematics_survive_the_round_trip(name, pinocchio_arm, rng):
    for _ in range(20):
        model = calibrated(robot_model(name), rng)
        text = generate(model)
        assert_same_arm(load(text), model)
        q = rng.uniform(-np.pi, np.pi, 6)
        R, p = pinocchio_arm(text, model.joint_names).forward(q)
        np.testing.assert_allclose(model.forward(q)[0], R, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.forward(q)[1], p, rtol=0, atol=1e-12)


def test_the_fixed_frames_stand_as_in_the_ur_driver(pinocchio_arm, rng):
    model = robot_model("ur5e")
    text = generate(model)
    q = rng.uniform(-np.pi, np.pi, 6)
    R, p = model.forward(q)
    for tip, turn in (
        ("tool0", np.eye(3)),
        ("wrist_3_link", np.eye(3)),
        ("flange", np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])),  # REP 199: its x points out, y and z follow
        ("ft_frame", np.diag([1, -1, -1])),  # z into the arm
    ):
        R_tip, p_tip = pinocchio_arm(text, model.joint_names, tip=tip).forward(q)
        np.testing.assert_allclose(p_tip, p, rtol=0, atol=1e-12)
        np.testing.assert_allclose(R_tip, R @ turn, rtol=0, atol=1e-12)
    for base in ("base", "base_link_inertia"):
        p_base = pinocchio_arm(text, model.joint_names, base=base).forward(q)[1]
        np.testing.assert_allclose(p_base, [-p[0], -p[1], p[2]], rtol=0, atol=1e-12)


def test_the_links_are_named_as_in_the_ur_driver_and_notes_are_written_down():
    text = generate(robot_model("ur30"))
    names = [link.get("name") for link in ET.fromstring(text).iter("link") if link.get("name")]
    arm = ["shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link"]
    assert names == ["base_link", "base_link_inertia", "base", *arm, "flange", "tool0", "ft_frame"]
    assert robot_model("ur30").notes[0] in text


def test_a_note_with_dashes_does_not_break_the_xml():
    model = replace(robot_model("ur5e"), notes=("a -- b --- c-",), name='my <"arm"> & co')
    again = load(generate(model))
    assert again.name == model.name
    assert_same_arm(again, model)


@every_type
def test_pinocchio_can_draw_every_visual(name):
    model = robot_model(name)
    text = generate(model)
    pin = pinocchio.buildModelFromXML(text)
    shapes = pinocchio.buildGeomFromUrdfString(pin, text, pinocchio.GeometryType.VISUAL)
    assert {type(shape.geometry).__name__ for shape in shapes.geometryObjects} == {"Cylinder"}
    drawn = [(shape.geometry.radius, 2.0 * shape.geometry.halfLength) for shape in shapes.geometryObjects]
    parts = [(part.radius, np.linalg.norm(part.end - part.start)) for part in tubes(model, pedestal=False)]
    np.testing.assert_allclose(sorted(drawn), sorted(parts), rtol=1e-12)


@every_type
def test_drawn_links_touch_at_every_joint_and_nothing_sticks_out_of_the_flange(name, rng):
    model = robot_model(name)
    parts = tubes(model, pedestal=False)
    assert {part.link for part in parts} == set(range(7))
    assert all(0.015 < part.radius < 0.16 for part in parts)  # m: between a UR3's wrist and a UR20's shoulder
    rotations, positions = model.frames(rng.uniform(-np.pi, np.pi, 6))
    rotations, positions = [np.eye(3), *rotations], [np.zeros(3), *positions]
    for link in range(6):
        gaps = [
            np.linalg.norm(a[:, None] - b[None], axis=2).min() - one.radius - other.radius
            for one, a in along_axes(parts, link, rotations, positions)
            for other, b in along_axes(parts, link + 1, rotations, positions)
        ]
        assert min(gaps) < 0.0, f"gap between link {link} and the next"
    for part, points in along_axes(parts, 6, rotations, positions):
        depths = (points - positions[7]) @ rotations[7][:, 2]
        assert depths.max() <= 1e-9, part


def along_axes(parts, link, rotations, positions):
    """The tubes of a link, each with points along its axis in the base frame (n, 3)."""
    share = np.linspace(0.0, 1.0, 50)[:, None]
    for part in parts:
        if part.link == link:
            yield part, (part.start + share * (part.end - part.start)) @ rotations[link].T + positions[link]


def test_an_arm_without_masses_and_efforts_can_be_written_and_read():
    ur = robot_model("ur5e")
    links = tuple(replace(link, mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3))) for link in ur.links)
    bare = replace(ur, links=links, effort=np.full(6, np.inf))
    assert "<inertial>" not in generate(bare)
    assert_same_arm(load(generate(bare)), bare)


def test_a_joint_limited_on_one_side_only_is_refused():
    ur = robot_model("ur5e")
    with pytest.raises(
        ModelError, match=r"elbow_joint is limited -inf to 3\.14159 rad, must be on both sides or on none"
    ):
        generate(replace(ur, lower=np.where(np.arange(6) == 2, -np.inf, ur.lower)))


def test_a_link_name_that_is_taken_is_refused():
    ur = robot_model("ur5e")
    with pytest.raises(ModelError, match="two links would have the name flange"):
        generate(replace(ur, links=(*ur.links[:5], replace(ur.links[5], name="flange"))))
