"""The parameter files of the design documents, as they stand there."""

import pytest

from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance.params.yaml import load_parameters, parse_parameters

SURFACE_FOLLOWING = """ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [3.0, 3.0, 0.8, 0.3, 0.3, 0.3]      # Light Z-axis
      damping_ratio: [0.7, 0.7, 0.9, 0.8, 0.8, 0.8]  # More Z damping
      stiffness: [0.0, 0.0, 100.0, 0.0, 0.0, 0.0]     # Z position control
      enabled_axes: [true, true, true, false, false, false]  # XYZ only
      min_motion_threshold: 0.8                   # Sensitive
      filter_coefficient: 0.1                    # More filtering for surface contact

    max_linear_velocity: 0.1                     # Slow and controlled
    max_angular_velocity: 0.2
"""

HUMAN_COLLABORATION = """ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [5.0, 5.0, 5.0, 0.5, 0.5, 0.5]      # Responsive
      damping_ratio: [0.8, 0.8, 0.8, 0.9, 0.9, 0.9]  # Stable
      min_motion_threshold: 2.0                   # Deliberate forces only
      filter_coefficient: 0.2                    # Balance responsiveness/stability

    max_linear_velocity: 0.2                     # Safe speeds
    max_angular_velocity: 0.5

    admittance:
      drift_reset_threshold: 0.0005              # Tight positioning
"""


@pytest.mark.parametrize("node", [None, "admittance_node", "ur_admittance_controller"])
def test_the_documents_file_for_surfaces_loads_as_it_is(tmp_path, node):
    file = tmp_path / "surface_following.yaml"
    file.write_text(SURFACE_FOLLOWING)
    loaded = load_parameters(file, node)
    assert loaded.admittance.mass == (3.0, 3.0, 0.8, 0.3, 0.3, 0.3)
    assert loaded.admittance.stiffness[2] == 100.0
    assert loaded.max_linear_velocity == 0.1


def test_the_documents_file_for_hands_loses_nothing_of_the_group_that_it_gives_twice():
    changed = Parameters().changed(
        {
            "admittance.mass": [5.0] * 3 + [0.5] * 3,
            "admittance.damping_ratio": [0.8] * 3 + [0.9] * 3,
            "admittance.min_motion_threshold": 2.0,
            "admittance.filter_coefficient": 0.2,
            "admittance.drift_reset_threshold": 0.0005,
            "max_linear_velocity": 0.2,
            "max_angular_velocity": 0.5,
        }
    )
    assert parse_parameters(HUMAN_COLLABORATION, "f.yaml") == changed


def test_a_section_of_our_own_node_comes_before_that_of_the_documents():
    text = "admittance_node:\n  ros__parameters:\n    max_linear_velocity: 0.3\n" + SURFACE_FOLLOWING
    assert parse_parameters(text, "f.yaml", "admittance_node").max_linear_velocity == 0.3


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("position_limits", "joint_limits.position_lower and joint_limits.position_upper"),
        ("velocity_limits", "joint_limits.velocity"),
        ("wrench_deadband", "admittance.deadband"),
        ("admittance_enabled_axes", "admittance.enabled_axes"),
    ],
)
def test_a_name_of_the_documents_that_has_changed_is_told_with_its_present_one(name, now):
    with pytest.raises(ParameterError) as refused:
        Parameters().changed({name: [1.0] * 6})
    assert str(refused.value) == f"{name} is called {now} now"
