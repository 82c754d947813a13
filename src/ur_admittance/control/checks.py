"""What a running controller refuses: parameters that cannot change now, references that are no numbers."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters

FIXED_WHILE_CONFIGURED = ("joints", "base_link", "tip_link", "ft_frame", "control_rate")


def check_live(present: Parameters, wanted: Parameters) -> None:
    """ParameterError for a change that is not allowed while the controller is configured."""
    old, new = present.flat(), wanted.flat()
    changed = [name for name in new if new[name] != old[name]]
    if changed and not present.dynamic_parameters and changed != ["dynamic_parameters"]:
        raise ParameterError(
            f"{changed[0]}: dynamic_parameters is false, so parameters change only while unconfigured.", changed[0]
        )
    for name in changed:
        if name in FIXED_WHILE_CONFIGURED:
            raise ParameterError(f"{name}: changes only while unconfigured; call cleanup() first.", name)


def finite(values: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise ParameterError(f"{what}: shape is {array.shape}, must be {shape}.")
    if not all(math.isfinite(x) for x in array.flat):
        raise ParameterError(f"{what} = {array.tolist()}: must be finite.")
    return array
