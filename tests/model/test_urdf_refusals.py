"""What cannot be used is refused with one sentence that says which, what, and what is allowed."""

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ur_admittance.errors import ModelError
from ur_admittance.model import robot_model
from ur_admittance.model.urdf import load
from ur_admittance_lab.urdf_writer import generate

GOOD = generate(robot_model("ur5e"))
ELBOW = '<joint name="elbow_joint" type="revolute">'
ELBOW_LIMIT = (
    '<limit effort="150.0" velocity="3.141592653589793" lower="-3.141592653589793" upper="3.141592653589793" />'
)


def changed(old, new, count=1):
    assert old in GOOD
    return GOOD.replace(old, new, count)


def added(text):
    return changed("</robot>", text + "</robot>")


BOMB = '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><robot name="&c;"/>'

BOLTED_ON = """
  <link name="weight"><inertial><mass value="1e200"/></inertial></link>
  <joint name="bolt" type="fixed"><parent link="shoulder_link"/><child link="weight"/></joint>"""

REFUSED = {
    "empty": ("", "the text is empty, must be an XML document with a <robot> element."),
    "blank": (" \n\t", "the text is empty"),
    "not XML": ("ur5e", "not well-formed XML in line 1: syntax error."),
    "cut off": (GOOD[:1000], "not well-formed XML in line"),
    "crossed tags": ("<robot><link></robot></link>", "not well-formed XML in line 1: mismatched tag."),
    "two roots": ("<robot/><robot/>", "not well-formed XML in line 1: junk after document element."),
    "lone surrogate": ('<robot name="\ud800"/>', "character 13 of the text is not valid Unicode."),
    "unknown entity": ('<robot name="&lol;"/>', "not well-formed XML in line 1: undefined entity."),
    "entity bomb": (BOMB, "a document type (<!DOCTYPE lolz>) is not allowed, a URDF has none."),
    "external entity": (
        '<!DOCTYPE r SYSTEM "file:///etc/hostname"><r/>',
        "a document type (<!DOCTYPE r>) is not allowed",
    ),
    "xacro macro": (added('<xacro:include filename="ur.xacro"/>'), "<xacro:include> is a xacro macro; expand the file"),
    "xacro expression": (
        changed('upper="6.283185307179586"', 'upper="${2*pi}"'),
        '<limit upper="${2*pi}"> is a xacro expression; expand the file with the xacro program first.',
    ),
    "xacro substitution": (added('<link name="$(arg name)"/>'), '<link name="$(arg name)"> is a xacro expression'),
    "SDF": ('<sdf version="1.7"><model/></sdf>', "the outer element is <sdf>, must be <robot>."),
    "no links": ("<robot/>", "base_link 'base_link' does not exist; the links are none."),
    "nameless link": (added("<link/>"), 'a <link> has no attribute "name", must have one.'),
    "link twice": (added('<link name="flange"/>'), "link flange is defined twice, names must be unique."),
    "nameless joint": (added("<joint/>"), 'a <joint> has no attribute "name", must have one.'),
    "joint without type": (changed(ELBOW, '<joint name="elbow_joint">'), 'joint elbow_joint has no attribute "type"'),
    "joint without parent": (added('<joint name="j" type="fixed"/>'), "joint j has no <parent>, must have one."),
    "parent without link": (
        added('<joint name="j" type="fixed"><parent/></joint>'),
        'joint j: <parent> has no attribute "link", must have one.',
    ),
    "unknown child": (
        added('<joint name="j" type="fixed"><parent link="tool0"/><child link="claw"/></joint>'),
        "joint j refers to link claw, which does not exist.",
    ),
    "joint twice": (
        added('<link name="a"/><joint name="elbow_joint" type="fixed"><parent link="tool0"/><child link="a"/></joint>'),
        "joint elbow_joint is defined twice, names must be unique.",
    ),
    "closed loop": (
        added('<joint name="strut" type="fixed"><parent link="base"/><child link="tool0"/></joint>'),
        "link tool0 hangs on two joints (flange-tool0 and strut), must hang on one.",
    ),
    "cycle through the arm": (
        added('<joint name="back" type="fixed"><parent link="tool0"/><child link="base_link"/></joint>'),
        "is its own ancestor, the joints must form a tree without cycles.",
    ),
    "link carries itself": (
        added('<link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint>'),
        "link a is its own ancestor",
    ),
    "prismatic": (
        changed(ELBOW, '<joint name="elbow_joint" type="prismatic">'),
        "joint elbow_joint is prismatic, must be revolute, continuous or fixed.",
    ),
    "unknown type": (changed(ELBOW, '<joint name="elbow_joint" type="ball">'), "joint elbow_joint is ball, must be"),
    "mimic": (
        changed(ELBOW, f'{ELBOW}<mimic joint="wrist_1_joint"/>'),
        "joint elbow_joint mimics another joint, must move on its own.",
    ),
    "five joints": (
        changed(ELBOW, '<joint name="elbow_joint" type="fixed">'),
        "5 turning joints between base_link and tool0 (shoulder_pan_joint, shoulder_lift_joint, wrist_1_joint, "
        "wrist_2_joint, wrist_3_joint), must be six.",
    ),
    "no limits": (
        changed(ELBOW_LIMIT, ""),
        "revolute joint elbow_joint has no position limits, must have <limit lower upper>.",
    ),
    "no velocity": (
        changed(ELBOW_LIMIT, '<limit effort="1" lower="-1" upper="1"/>'),
        "joint elbow_joint has no velocity limit, must have <limit velocity> in rad/s.",
    ),
    "zero velocity": (
        changed(ELBOW_LIMIT, '<limit velocity="0" lower="-1" upper="1"/>'),
        "joint elbow_joint: velocity limit 0 rad/s, must be > 0.",
    ),
    "crossed limits": (
        changed(ELBOW_LIMIT, '<limit velocity="1" lower="2" upper="-2"/>'),
        "joint elbow_joint: limits 2 to -2 rad, lower must be < upper.",
    ),
    "infinite limit": (
        changed(ELBOW_LIMIT, '<limit velocity="1" lower="-inf" upper="inf"/>'),
        'joint elbow_joint: <limit lower="-inf">, must be one finite number.',
    ),
    "word for a number": (
        changed(ELBOW_LIMIT, '<limit velocity="fast" lower="-1" upper="1"/>'),
        'joint elbow_joint: <limit velocity="fast">, must be one finite number.',
    ),
    "NaN position": (
        changed('xyz="-0.425 0.0 0.0"', 'xyz="nan 0.0 0.0"', -1),
        '<origin xyz="nan 0.0 0.0">, must be 3 finite numbers.',
    ),
    "two coordinates": (
        changed('<axis xyz="0 0 1" />', '<axis xyz="0 1"/>'),
        '<axis xyz="0 1">, must be 3 finite numbers.',
    ),
    "no axis direction": (
        changed('<axis xyz="0 0 1" />', '<axis xyz="0 0 0"/>'),
        "joint shoulder_pan_joint: axis is 0 0 0, must have a direction.",
    ),
    "quaternion": (
        changed(ELBOW, f'{ELBOW}<origin quat_xyzw="0 0 0 1"/>'),
        "joint elbow_joint: origin is given by quat_xyzw, must be given by rpy.",
    ),
    "negative mass": (
        changed('<mass value="3.761" />', '<mass value="-1"/>'),
        "link shoulder_link: mass is -1 kg, must be >= 0.",
    ),
    "no mass": (changed('<mass value="3.761" />', ""), "link shoulder_link has no <mass>, must have one."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_description_that_cannot_be_used_is_refused_with_its_sentence(case):
    text, sentence = REFUSED[case]
    with pytest.raises(ModelError, match=re.escape(sentence)) as refusal:
        load(text)
    assert re.fullmatch(r"URDF: .*\.", str(refusal.value))  # one line: the dot does not match a line end


def test_a_missing_base_or_tip_is_answered_with_the_links_that_exist():
    prefixed = GOOD.replace('link="', 'link="left_').replace('<link name="', '<link name="left_')
    with pytest.raises(
        ModelError, match="base_link 'base_link' does not exist; the links are left_base_link, left_base"
    ):
        load(prefixed)
    assert load(prefixed, "left_base_link", "left_tool0").links[0].name == "left_shoulder_link"


def test_the_list_of_links_does_not_grow_without_end():
    many = "".join(f'<link name="l{i}"/>' for i in range(1000))
    with pytest.raises(ModelError, match=r"l0, .* and 960 more") as refusal:
        load(f"<robot>{many}</robot>")
    assert len(str(refusal.value)) < 400


def test_masses_that_overflow_are_refused():
    heavy = changed('<mass value="3.761" />', '<mass value="1e200"/>').replace(
        'xyz="0.0 -0.00193', 'xyz="1e200 -0.00193'
    )
    heavy = heavy.replace("</robot>", BOLTED_ON + "</robot>")
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ModelError, match="link shoulder_link: mass, com or inertia is not"),
    ):
        load(heavy)


@pytest.mark.parametrize(
    ("base", "tip", "sentence"),
    [
        ("tool0", "base", "base does not hang on tool0: going up from it ends at base_link"),
        ("tool0", "tool0", "0 turning joints between tool0 and tool0, must be six"),
        ("base_link", "probe", r"tip_link 'probe' does not exist; the links are base_link, .*, ft_frame\.$"),
    ],
)
def test_a_base_and_a_tip_without_six_joints_between_them_are_refused(base, tip, sentence):
    with pytest.raises(ModelError, match=sentence):
        load(GOOD, base, tip)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text("<>/ \"'=&;robotlinkjname!-[]x:0", max_size=200))
def test_no_text_whatsoever_raises_anything_but_a_model_error(text):
    with pytest.raises(ModelError):
        load(text)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_description_is_read_or_refused_but_never_breaks_the_program(data):
    start = data.draw(st.integers(0, len(GOOD)))
    length = data.draw(st.integers(0, 60))
    filling = data.draw(st.text("<>/ \"'=0123456789.-einfa", max_size=20))
    with suppress(ModelError):
        load(GOOD[:start] + filling + GOOD[start + length :])
