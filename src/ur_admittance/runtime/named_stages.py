"""Stages by name, the same in every form: `run --stage`, the parameter `stages` of the node, a script.

    follower                                  JointFollower()
    follower,jerk=300                         with its options
    smoother,time=0.02                        Smoother
    path:points.txt,speed=0.05                CartesianPath; a file with three numbers per line [m], as text or CSV
    path:points.txt,speed=0.05,relative=true
    play:taught.yaml,speed=0.05,loops=3       TaughtPath: what `ur-admittance teach` has written
    my_package.my_module:MyStage,gain=2       your own

Your own is anything that returns a stage when called with its options; modules of the working directory are found.
"""

import contextlib
import importlib
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.control.chaining import CartesianPath, JointFollower, Smoother
from ur_admittance.errors import ParameterError, sentence_of
from ur_admittance.runtime.interfaces import Stage
from ur_admittance.runtime.stages import check_stage
from ur_admittance.teaching.replay import TaughtPath

BUILT_IN: dict[str, Callable[..., Stage]] = {"follower": JointFollower, "smoother": Smoother}
KNOWN = "follower, smoother, path:FILE,speed=0.05, play:FILE,speed=0.05, or module:Name of your own"


def build_stages(names: Sequence[str]) -> list[Stage]:
    """One stage for each name; ParameterError says which is wrong and why."""
    return [_build(name) for name in names]


def _build(text: str) -> Stage:
    name, *settings = (part.strip() for part in text.split(","))
    options: dict[str, Any] = {}
    for key, value in (_setting(text, setting) for setting in settings):
        if key in options:
            raise ParameterError(f"stage {text!r}: {key} is given twice.")
        options[key] = value
    kind, _, rest = name.partition(":")
    if kind == "path":
        if "points" in options:
            raise ParameterError(f"stage {text!r}: the points come from the file.")
        options["points"] = _points(text, rest)
        make: Callable[..., Any] = CartesianPath
    elif kind == "play":
        if "taught" in options:
            raise ParameterError(f"stage {text!r}: the path comes from the file.")
        options["taught"] = rest
        make = TaughtPath
    elif name in BUILT_IN:
        make = BUILT_IN[name]
    elif kind and rest:
        make = _found(text, kind, rest)
    else:
        raise ParameterError(f"stage {text!r}: is unknown; must be {KNOWN}.")
    try:
        stage: Stage = make(**options)
    except ParameterError as error:
        raise ParameterError(f"stage {text!r}: {error}") from None
    except (TypeError, ValueError) as error:
        raise ParameterError(f"stage {text!r}: cannot be made ({error}).") from None
    except Exception as error:  # of a class that is not ours
        raise ParameterError(f"stage {text!r}: cannot be made ({sentence_of(error)}).") from error
    check_stage(stage)
    return stage


def _setting(text: str, setting: str) -> tuple[str, Any]:
    key, equals, value = setting.partition("=")
    if not (key and equals):
        raise ParameterError(f"stage {text!r}: {setting!r} must be OPTION=VALUE.")
    with contextlib.suppress(ValueError):
        return key, json.loads(value)  # a number, true or false
    return key, value


def _points(text: str, file: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty file: the sentence of the path says it
            lines = Path(file).read_text(encoding="utf-8").replace(",", " ").splitlines()
            return np.loadtxt(lines, ndmin=2, comments="#")
    except OSError as error:
        raise ParameterError(f"stage {text!r}: the file {file!r} cannot be read ({error}).") from None
    except ValueError as error:
        raise ParameterError(f"stage {text!r}: {file!r} must have three numbers per line ({error}).") from None


def _found(text: str, module: str, name: str) -> Callable[..., Any]:
    here = str(Path.cwd())
    if here not in sys.path:  # as with python -m
        sys.path.insert(0, here)
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"stage {text!r}: cannot be loaded ({error}).") from None
    except Exception as error:  # of a module that is not ours
        raise ParameterError(f"stage {text!r}: cannot be loaded ({sentence_of(error)}).") from error
    if not callable(made):
        raise ParameterError(f"stage {text!r}: {name} must be a class or a function that returns a stage.")
    return made  # type: ignore[no-any-return]
