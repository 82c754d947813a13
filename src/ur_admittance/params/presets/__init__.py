"""Parameter files for typical tasks, installed with the package."""

from importlib import resources

from ur_admittance.errors import ParameterError
from ur_admittance.params.parameters import Parameters
from ur_admittance.params.yaml import parse_parameters

PRESETS = tuple(
    sorted(
        file.name.removesuffix(".yaml") for file in resources.files(__name__).iterdir() if file.name.endswith(".yaml")
    )
)


def preset_text(name: str) -> str:
    """The file as it is, with its comments: a starting point for a file of your own."""
    if name not in PRESETS:
        raise ParameterError(f"{name} is not a preset; there are {', '.join(PRESETS)}")
    return resources.files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def preset(name: str) -> Parameters:
    """Parameters for a typical task: hand_guiding, surface_following, polishing, assembly, probe_contact."""
    return parse_parameters(preset_text(name), f"{name}.yaml")
