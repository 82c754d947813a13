"""A URDF file wherever an arm is named."""

from dataclasses import replace

import numpy as np
import pytest

from ur_admittance.errors import ModelError
from ur_admittance.model import robot_model
from ur_admittance_lab.urdf_writer import generate


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "my & <arm>.urdf"  # a name that XML must not take for its own
    file.write_text(generate(robot_model("ur10e")), encoding="utf-8")
    return file


def test_a_file_is_the_arm_that_it_describes_and_its_name_finds_it_again(arm, monkeypatch):
    monkeypatch.chdir(arm.parent)
    model, drawn = robot_model(arm.name), robot_model("ur10e")
    q = np.array([0.3, -1.1, 1.4, -0.7, 0.5, 2.0])
    np.testing.assert_allclose(model.forward(q)[1], drawn.forward(q)[1], atol=1e-9)
    np.testing.assert_allclose(model.velocity, drawn.velocity)
    monkeypatch.chdir("/")
    again = robot_model(model.name)
    np.testing.assert_array_equal(again.chain_position, model.chain_position)
    assert again.name == model.name == str(arm)


def test_other_links_are_named_after_the_file(arm):
    text = arm.read_text().replace('"base_link"', '"left/base"').replace('"tool0"', '"my_flange"')
    arm.write_text(text)
    model = robot_model(f"{arm}:left/base:my_flange")
    np.testing.assert_allclose(model.forward(np.zeros(6))[1], robot_model("ur10e").forward(np.zeros(6))[1], atol=1e-9)
    assert robot_model(model.name).name == model.name
    with pytest.raises(ModelError, match="base_link 'base_link' does not exist"):
        robot_model(str(arm))


def test_a_file_that_is_none_is_refused_with_its_path(tmp_path):
    missing, binary = tmp_path / "none.urdf", tmp_path / "binary.urdf"
    binary.write_bytes(b"\xff\xfe\x00")
    for file, words in ((missing, "cannot be read"), (binary, "is not a text file"), (tmp_path, "is unknown")):
        with pytest.raises(ModelError, match=words) as refused:
            robot_model(str(file))
        assert str(file) in str(refused.value)
    with pytest.raises(ModelError, match="is not a text file"):
        robot_model("null\0character.urdf")


def test_the_home_of_an_arm_with_narrow_joints_lies_within_them(arm):
    model = robot_model("ur10e")
    narrow = {"lower": np.array([0.1, -1.0, -1.0, -1.0, -1.0, -1.0]), "upper": np.full(6, 1.0)}
    arm.write_text(generate(replace(model, **narrow)))
    home = robot_model(str(arm)).home
    assert (home >= narrow["lower"]).all()
    assert (home <= narrow["upper"]).all()
