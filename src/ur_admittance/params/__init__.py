"""Which numbers: the schema of all parameters, ROS 2 parameter files, presets."""

from ur_admittance.params.parameters import Parameters
from ur_admittance.params.yaml import PRESETS, load_parameters, preset, save_parameters

__all__ = ["PRESETS", "Parameters", "load_parameters", "preset", "save_parameters"]
