"""The table of UR types (data/ur_models.yaml) -> RobotModel; and the geometry of one arm of a type, as its controller
states it: Denavit-Hartenberg parameters -> the chain of a model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from ur_admittance import given
from ur_admittance.errors import ModelError
from ur_admittance.model.arm_model import Capsule, Link, RobotModel
from ur_admittance.model.frames import Array, Pose, rotation_from_rpy, rotation_x, rotation_z
from ur_admittance.model.urdf import is_file, load_file

CB_SERIES = ("ur3", "ur5", "ur10")
MODEL_NAMES = (
    *CB_SERIES,
    *("ur3e", "ur5e", "ur7e", "ur10e", "ur12e", "ur16e"),
    *("ur8long", "ur15", "ur18", "ur20", "ur30"),
)

CALIBRATION = 0.02  # [m] by which the flange of one arm may be off its type; measured arms are some mm off

# ROS base_link has x forward; the UR controller's base, where the table starts, is turned by pi about z.
T_BASE_LINK_UR_BASE = Pose(rotation=np.diag([-1.0, -1.0, 1.0]))


@cache
def _table() -> Mapping[str, Any]:
    text = files("ur_admittance.model").joinpath("data/ur_models.yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = YAML(typ="safe", pure=True).load(text)
    return table


def robot_model(name: str | RobotModel) -> RobotModel:
    """The arm of that name, for instance ``"ur5e"`` (upper or lower case), or of a file: ``"arm.urdf"``, or
    ``"arm.urdf:base:flange"`` where its links are not called base_link and tool0. A model is returned as it is."""
    if isinstance(name, RobotModel):
        return name
    given.kind("robot model", name, str, "a name such as 'ur5e' or 'arm.urdf', or a RobotModel", ModelError)
    return load_file(name) if is_file(name) else _of_type(name)


@cache
def _of_type(name: str) -> RobotModel:
    key = name.strip().lower()
    if key not in MODEL_NAMES:
        near = get_close_matches(key, MODEL_NAMES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        known = f"{', '.join(MODEL_NAMES)}, or a file: arm.urdf"
        raise ModelError(f"robot model {name!r} is unknown: {hint}known are {known}.")
    return _from_entry(key, _table()[key])


def flange_distance(model: RobotModel, other: RobotModel) -> float:
    """Largest distance between the flanges of two arms, in three postures [m]; inf: one of them is not finite."""
    home = np.array(model.home)
    postures = (home, home + 0.7, np.zeros(6))
    distance = max(float(np.linalg.norm(model.forward(q)[1] - other.forward(q)[1])) for q in postures)
    return distance if np.isfinite(distance) else math.inf


def nearest_model(model: RobotModel) -> str:
    """Name of the UR type with the same kinematics, as far as calibration moves them; for an arm that
    is none of them its own name. A description may call every type "ur"."""

    def distance(name: str) -> float:
        return flange_distance(model, robot_model(name))

    own = model.name.lower()
    names = sorted(MODEL_NAMES, key=lambda name: (distance(name), name != own))
    best = own if own in MODEL_NAMES and distance(own) <= CALIBRATION else names[0]
    return best if distance(best) <= CALIBRATION else model.name


def _from_entry(name: str, entry: Mapping[str, Any]) -> RobotModel:
    chain = [Pose(rotation_from_rpy(origin["rpy"]), np.array(origin["xyz"])) for origin in entry["joint_origin"]]
    chain[0] = T_BASE_LINK_UR_BASE @ chain[0]
    chain.append(Pose())  # tool0 is the wrist_3 frame
    limits = entry["joint_limits_deg"]
    return RobotModel(
        name=name,
        chain_rotation=np.stack([pose.rotation for pose in chain]),
        chain_position=np.stack([pose.position for pose in chain]),
        lower=np.radians(limits["lower"]),
        upper=np.radians(limits["upper"]),
        velocity=np.radians(limits["velocity"]),
        effort=np.array(entry["effort_limits_Nm"]),
        links=tuple(_link(row) for row in entry["links"]),
        body_offset={f"{tube}_link": float(offset) for tube, offset in entry["body_offset_z"].items()},
        capsules=tuple(_capsule(link, row) for link, row in enumerate(entry["capsules"].values())),
        payload_kg=float(entry["payload_kg"]),
        reach_m=float(entry["reach_m"]),
        source=entry["source"],
        inertia_source=entry["inertia_source"],
        notes=tuple(entry["notes"]),
    )


def _link(row: Mapping[str, Any]) -> Link:
    xx, yy, zz, xy, xz, yz = row["inertia"]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Link(f"{row['name']}_link", float(row["mass"]), np.array(row["com"]), inertia)


def _capsule(link: int, row: list[float]) -> Capsule:
    return Capsule(link, np.array(row[:3]), np.array(row[3:6]), float(row[6]))


@dataclass(frozen=True, eq=False)
class DenavitHartenberg:
    """T_base_flange(q) = A_0(q0) ... A_5(q5),  A_i(q) = Rz(theta_i + q) Tz(d_i) Tx(a_i) Rx(alpha_i)
    (standard, distal)."""

    theta: Array  # (6,) [rad]
    a: Array  # (6,) [m]
    d: Array  # (6,) [m]
    alpha: Array  # (6,) [rad]

    @property
    def columns(self) -> tuple[list[float], list[float], list[float], list[float]]:
        """theta, a, d, alpha."""
        return self.theta.tolist(), self.a.tolist(), self.d.tolist(), self.alpha.tolist()

    def link(self, i: int, q: float = 0.0) -> Pose:
        """A_i(q)."""
        turn = rotation_z(self.theta[i] + q)
        return Pose(turn @ rotation_x(self.alpha[i]), turn @ np.array([self.a[i], 0.0, self.d[i]]))


def with_geometry(model: RobotModel, dh: DenavitHartenberg) -> RobotModel:
    """The model with the geometry of one arm of its type; limits, masses and housings remain.

    Calibration makes parallel axes of the arm almost parallel. Their common normal may then be metres away: d_1 and d_2
    of a real arm can be -12 m and +12 m. So frames are not taken from the parameters, only the axes of the joints. A
    link frame may slide along its axis and turn about it without changing the arm,

        X_i Rz(q) X_{i+1} = (X_i G) Rz(q) (G^-1 X_{i+1}),   G = Rz(phi) Tz(s)

    and is put where it is nearest to that of the model, so that masses and housings stay in their place."""
    R_model, p_model = model.frames(np.zeros(6))
    chain: list[Pose] = []
    T_base_link = Pose()  # at q = 0, of the link before
    T_base_joint = T_BASE_LINK_UR_BASE  # the frame of the parameters whose z is the axis of joint i
    for i in range(6):
        x = T_base_joint.rotation.T @ R_model[i][:, 0]
        slide = T_base_joint.rotation[:, 2] @ (p_model[i] - T_base_joint.position)
        G = Pose(rotation_z(float(np.arctan2(x[1], x[0]))), np.array([0.0, 0.0, slide]))
        chain.append(T_base_link.inverse() @ T_base_joint @ G)
        T_base_link = T_base_joint @ G
        T_base_joint = T_base_joint @ dh.link(i)
    chain.append(T_base_link.inverse() @ T_base_joint)
    return replace(
        model,
        chain_rotation=np.stack([pose.rotation for pose in chain]),
        chain_position=np.stack([pose.position for pose in chain]),
    )
