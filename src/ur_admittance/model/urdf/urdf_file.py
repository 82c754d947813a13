"""A URDF file as a robot's name: ``arm.urdf``, or ``arm.urdf:base:flange`` for the arm between two other links."""

import re
from dataclasses import replace
from pathlib import Path

from ur_admittance.errors import ModelError
from ur_admittance.model.arm_model import RobotModel
from ur_admittance.model.urdf import load

NAME = re.compile(r"(?P<path>.+\.(urdf|xml))(:(?P<base>[^:]+):(?P<tip>[^:]+))?", re.IGNORECASE | re.DOTALL)
LARGEST_FILE = 20_000_000  # [bytes] a URDF has some kilobytes; meshes stand in files of their own


def is_file(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def load_file(name: str) -> RobotModel:
    """The model is called by the whole path, so that whoever reads its name (a page, a recording) finds it again."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ModelError(f"robot model {name!r}: must be a file.urdf, or file.urdf:base:flange.")
    path = Path(found["path"]).absolute()
    links = {"base_link": found["base"], "tip_link": found["tip"]} if found["base"] else {}
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(f"{path}: is larger than {LARGEST_FILE // 1_000_000} MB, not a URDF.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError:  # not UTF-8, or a path with a null character
        raise ModelError(f"{path}: is not a text file in UTF-8.") from None
    try:
        model = load(text, **links)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return replace(model, name=":".join((str(path), *links.values())))
