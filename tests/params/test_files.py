"""Parameter files: both ways, and one sentence with file and line for everything that can be wrong with one."""

import io
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ur_admittance.errors import ParameterError
from ur_admittance.params import (
    PRESETS,
    Parameters,
    load_parameters,
    preset,
    save_parameters,
)
from ur_admittance.params.yaml import dump_parameters, parse_parameters, preset_text

HEAD = "/**:\n  ros__parameters:\n"


def numbers(low, high, count):
    return st.lists(st.floats(low, high, exclude_min=low == 0), min_size=count, max_size=count)


def or_unset(count):
    return st.none() | st.lists(st.none() | st.floats(1e-6, 3), min_size=count, max_size=count)


SWITCHES = st.lists(st.booleans(), min_size=6, max_size=6)
NAMES = st.text("abcxyzABC0129_./-", min_size=1, max_size=20).map(lambda text: f"j{text}") | st.sampled_from(
    ["true", "null", "1e3", "0x10", "no", "2026-01-01", "_"]
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "joints": st.lists(NAMES, min_size=6, max_size=6, unique=True),
        "base_link": NAMES,
        "control_frame": st.sampled_from(["base", "tcp", "task"]),
        "control_rate": st.floats(125, 1000) | st.integers(125, 1000),
        "admittance.mass": numbers(1e-3, 1e6, 6),
        "admittance.damping": or_unset(6),
        "admittance.enabled_axes": SWITCHES,
        "admittance.desired_wrench": numbers(-1e6, 1e6, 6),
        "admittance.integrator": st.sampled_from(["exact", "rk4", "semi_implicit_euler"]),
        "workspace.min": or_unset(3).map(lambda box: box and [v and v - 4 for v in box]),
        "workspace.max": or_unset(3),
        "joint_limits.velocity": or_unset(6),
        "tool.tcp": numbers(-2, 2, 6),
        "sensor.sign": st.sampled_from([1, -1]),
        "dynamic_parameters": st.booleans(),
    },
)
FILTERS = st.fixed_dictionaries({}, optional={"admittance.filter_coefficient": st.floats(0, 1, exclude_min=True)}) | (
    st.fixed_dictionaries({"admittance.filter_cutoff_hz": st.floats(1e-3, 1e3)})
)


@given(CHANGES, FILTERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_saved_parameters_load_back_exactly(changes, filter_changes):
    p = Parameters().changed(changes | filter_changes)
    assert parse_parameters(dump_parameters(p), "saved.yaml") == p


@given(st.text(max_size=200) | st.text("ab:-[]{}&*!|>'\"#%@`, \n\t~?0.", max_size=60).map(lambda text: HEAD + text))
@settings(max_examples=200)
def test_any_text_is_accepted_or_refused_with_one_sentence(text):
    sentence = "f.yaml: accepted"
    try:
        parse_parameters(text, "f.yaml")
    except ParameterError as error:
        sentence = str(error)
    assert sentence.startswith("f.yaml")
    assert "\n" not in sentence


def test_saving_and_loading_through_the_disk(tmp_path):
    p = Parameters().changed({"workspace.min": [math.nan, -1, 0], "tool.mass": 1e-5})
    save_parameters(p, tmp_path / "mine.yaml", node="my_node")
    assert load_parameters(tmp_path / "mine.yaml") == p
    assert load_parameters(tmp_path / "mine.yaml", node="my_node") == p


def test_a_saved_file_holds_only_what_ros_accepts():
    """ROS files have no null, and a number without a point but with an exponent is a string to some of its loaders."""
    text = dump_parameters(Parameters().changed({"tool.mass": 1e-5, "admittance.damping": [None] * 5 + [1]}))
    assert "mass: 1.0e-05" in text
    values = YAML(typ="safe", pure=True).load(io.StringIO(text))["/**"]["ros__parameters"]
    assert None not in values["admittance"].values()
    assert math.isnan(values["admittance"]["damping"][0])


@pytest.mark.parametrize(
    "body",
    [
        "    admittance:\n      stiffness: [0, 0, 1e2, 0, 0, 0]\n    tracking:\n      velocity_gain: [1, 1, 1, 1, 1, 1]\n",
        "    admittance.stiffness: [0, 0, 100.0, 0, 0, 0]\n    tracking.velocity_gain: [1, 1, 1, 1, 1, 1]\n",
    ],
)
@pytest.mark.parametrize(
    "head", [HEAD, "ur_admittance_controller:\n  ros__parameters:\n", "/cell:\n arm:\n  ros__parameters:\n"]
)
def test_nested_and_dotted_names_under_any_node_are_the_same(head, body):
    p = parse_parameters(head + body, "f.yaml")
    assert p == Parameters().changed({"admittance.stiffness": [0, 0, 100, 0, 0, 0], "tracking.velocity_gain": [1] * 6})


def test_parameters_of_ros_itself_are_left_alone():
    text = (
        HEAD
        + "    use_sim_time: true\n    qos_overrides:\n      /joint_states:\n        subscription:\n          depth: 1\n"
    )
    assert parse_parameters(text, "f.yaml") == Parameters()


def test_a_node_takes_the_general_section_and_its_own_last():
    text = HEAD + "    max_linear_velocity: 0.1\n    control_rate: 250\nother:\n  ros__parameters:\n    anything: 1\n"
    text += "mine:\n  ros__parameters:\n    max_linear_velocity: 0.2\n"
    p = parse_parameters(text, "f.yaml", node="/mine")
    assert (p.max_linear_velocity, p.control_rate) == (0.2, 250.0)
    with pytest.raises(
        ParameterError, match=r"^f\.yaml: has sections for /\*\*, /other, /mine; say which node to load$"
    ):
        parse_parameters(text, "f.yaml")


REFUSED = [
    (HEAD + "    admittance:\n      mass: [8, 8, -1, 1, 1, 1]\n", "f.yaml:4: admittance.mass[2] = -1 kg: must be >= 0.001"),
    (HEAD + "    control_rate: fast\n", "f.yaml:3: control_rate = 'fast' Hz: must be a number >= 125 and <= 1000"),
    (HEAD + "    admittance:\n", "f.yaml:3: admittance is a group of parameters: give its members, such as admittance.mass"),
    (HEAD + "\n    max_froce: 3\n", "f.yaml:4: max_froce is not a parameter; the nearest known name is safety.max_force"),
    (
        HEAD + "    admittance:\n      bias_time: 2\n    control_rate: 500\n    admittance:\n      bias_time: 1\n",
        "f.yaml:7: admittance.bias_time is given a second time, first on line 4",
    ),
    (
        HEAD + "    position_limits: [1]\n    control_rate: 500\n    admittance:\n      mas: 1\n      velocity_limits: [1]\n",
        "f.yaml:3: position_limits is called joint_limits.position_lower and joint_limits.position_upper now\n"
        "f.yaml:6: admittance.mas is not a parameter; the nearest known name is admittance.mass\n"
        "f.yaml:7: admittance.velocity_limits is called joint_limits.velocity now",
    ),
    (
        HEAD + "    control_rate: 500\n    control_rate: 500\n",
        "f.yaml:4: control_rate is given a second time, first on line 3",
    ),
    (
        HEAD + "    tool.mass: 1\n    tool:\n      mass: 1\n",
        "f.yaml:5: tool.mass is given a second time, first on line 3",
    ),
    (HEAD + "    tool.mass: 1\n/**:\n  ros__parameters: {}\n", "f.yaml:4: /** is given a second time, first on line 1"),
    (
        HEAD + "    admittance:\n      filter_coefficient: 0.1\n      filter_cutoff_hz: 9\n",
        "f.yaml:5: admittance.filter_cutoff_hz = 9 Hz: must not be given together with admittance.filter_coefficient = 0.1",
    ),
    ("", "f.yaml: is empty; a parameter file starts with '/**:' and '  ros__parameters:'"),
    ("# only a comment\n", "f.yaml: is empty; a parameter file starts with '/**:' and '  ros__parameters:'"),
    ("control_rate: 500\n", "f.yaml:1: control_rate is outside 'ros__parameters:'"),
    ("node: {}\n", "f.yaml: has no 'ros__parameters:' section"),
    ("- 1\n", "f.yaml:1: the file must be a group of 'name: value' lines"),
    ("/**:\n  ros__parameters: 3\n", "f.yaml:2: ros__parameters must be a group of 'name: value' lines"),
    (HEAD + "    a: &x 1\n    b: *x\n", "f.yaml:4: aliases (*name) are not allowed, as in ROS"),
    (HEAD + "    control_rate: 2026-01-01\n", "f.yaml:3: control_rate = 2026-01-01 Hz: must be a number >= 125 and <= 1000"),
    (HEAD + "    control_rate: 2026-99-99\n", "f.yaml:3: control_rate has no readable value (month must be in 1..12)"),
    (HEAD + "    control_rate: [1, 2\n    x: 3\n", None),
    (HEAD + "    control_rate: !!python/object:os.system x\n", None),
    (HEAD + "\tcontrol_rate: 1\n", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_refusal_of_a_file_names_file_and_line(text, sentence):
    with pytest.raises(ParameterError) as caught:
        parse_parameters(text, "f.yaml")
    if sentence is None:  # the words are those of the YAML library
        assert str(caught.value).startswith("f.yaml:")
        assert "is not YAML" in str(caught.value)
        assert "\n" not in str(caught.value)
    else:
        assert str(caught.value) == sentence


def test_files_that_are_no_parameter_files_are_refused_in_one_sentence(tmp_path):
    binary, latin, big = tmp_path / "b.yaml", tmp_path / "l.yaml", tmp_path / "big.yaml"
    binary.write_bytes(b"/**:\x00\x01")
    latin.write_bytes(b"# gr\xfcn")
    big.write_bytes(b"#" * 1_000_001)
    for path, words in [
        (tmp_path / "none.yaml", "there is no such file"),
        (tmp_path, "is a folder, not a parameter file"),
        (binary, "is a binary file, not a parameter file"),
        (latin, "is not a text file in UTF-8"),
        (big, "is larger than 1000 kB, not a parameter file"),
    ]:
        with pytest.raises(ParameterError) as caught:
            load_parameters(path)
        assert str(caught.value) == f"{path}: {words}"
    with pytest.raises(ParameterError, match="cannot be written"):
        save_parameters(Parameters(), tmp_path / "no_such_folder" / "f.yaml")


def test_presets_hold_every_value_of_their_task():
    hand = preset("hand_guiding")
    assert hand.admittance.mass == (5.0,) * 3 + (0.5,) * 3
    assert hand.admittance.damping_ratio == (0.8,) * 3 + (0.9,) * 3
    assert (hand.admittance.min_motion_threshold, hand.admittance.filter_coefficient) == (2.0, 0.2)
    assert hand.admittance.drift_reset_threshold == 0.0005
    assert (hand.max_linear_velocity, hand.max_angular_velocity) == (0.2, 0.5)
    reduced = preset("hand_guiding_reduced")
    assert (hand.guiding.enable, reduced.guiding.enable) == ("real_arms", "required")
    assert (reduced.admittance, reduced.max_linear_velocity) == (hand.admittance, 0.25)
    light = preset("light_guiding")
    assert light.admittance.effective_damping == (48.0,) * 3 + (5.0,) * 3
    assert (light.admittance.travel_damping, light.admittance.travel_speed) == (0.42, 0.25)
    assert (light.admittance.min_motion_threshold, light.guiding.enable) == (1.0, "real_arms")
    surface = preset("surface_following")
    assert surface.admittance.mass == (3.0, 3.0, 3.0, 0.3, 0.3, 0.3)
    assert surface.admittance.stiffness == (0.0,) * 6  # a force, no spring: the first values bounced
    assert surface.admittance.effective_damping[2] == 250.0
    assert surface.admittance.damping_ratio == (0.7, 0.7, 0.9, 0.8, 0.8, 0.8)
    assert surface.admittance.enabled_axes == (True,) * 3 + (False,) * 3
    assert (surface.admittance.min_motion_threshold, surface.admittance.filter_coefficient) == (0.8, 0.8)
    assert (surface.max_linear_velocity, surface.max_angular_velocity) == (0.1, 0.2)


def test_every_preset_loads_and_an_unknown_one_is_refused():
    assert {"hand_guiding", "surface_following"} <= set(PRESETS)
    for name in PRESETS:
        assert preset_text(name).startswith("# ")
        assert isinstance(preset(name), Parameters)
    with pytest.raises(ParameterError, match="hand_guidance is not a preset; there are "):
        preset("hand_guidance")


def test_a_calibration_that_was_made_with_another_sensor_is_not_included(tmp_path):
    calibration = "/**:\n  ros__parameters:\n    sensor.source: raw\n    tool.mass: 1.2\n"
    (tmp_path / "calibration.yaml").write_text(calibration)
    mine = tmp_path / "mine.yaml"
    mine.write_text("/**:\n  ros__parameters:\n    include: calibration.yaml\n    sensor.source: raw\n")
    assert load_parameters(mine).sensor.source == "raw"
    mine.write_text("/**:\n  ros__parameters:\n    include: calibration.yaml\n    sensor.source: builtin\n")
    with pytest.raises(
        ParameterError, match=r"mine.yaml:4: sensor.source = builtin: .*calibration.yaml was made with raw"
    ):
        load_parameters(mine)


def test_two_calibrations_of_different_sensors_are_not_mixed(tmp_path):
    for name, source in (("one", "raw"), ("two", "builtin")):
        (tmp_path / f"{name}.yaml").write_text(f"/**:\n  ros__parameters:\n    sensor.source: {source}\n")
    mine = tmp_path / "mine.yaml"
    mine.write_text("/**:\n  ros__parameters:\n    include: [one.yaml, two.yaml]\n")
    with pytest.raises(ParameterError, match=r"two.yaml:3: sensor.source = builtin: .*one.yaml was made with raw"):
        load_parameters(mine)
