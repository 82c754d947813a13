"""RobotModel -> MJCF: the arm on its pedestal, the tool behind a wrist sensor, and what stands around.

World frame = base frame (ROS ``base_link``). Only the tool's tip and the environment collide: the arm is driven by a
controller that keeps it away from things, and a contact-free arm is what makes the simulation fast.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel
from ur_admittance.simulation.devices import FtSensor, Tool, armature_of
from ur_admittance.simulation.environment import IMPRATIO, Environment

Array = NDArray[np.float64]

GREY = "0.80 0.81 0.83 1"  # tubes
BLUE = "0.38 0.63 0.80 1"  # joint caps
DARK = "0.16 0.17 0.19 1"  # flange, tool
STEEL = "0.55 0.57 0.60 1"
PEDESTAL = 0.75  # [m] height


def generate(
    model: RobotModel,
    tool: Tool,
    environment: Environment,
    sensor: FtSensor,
    physics_dt: float = 0.001,
    gravity: ArrayLike = (0.0, 0.0, -9.80665),
) -> str:
    """The MJCF document. Bodies: the links by their names, ``tool``, ``environment``; sites: ``tcp``, ``ft``."""
    chain = "".join(_open_link(model, i) for i in range(6))
    return f"""<mujoco model="{model.name}">
  <compiler angle="radian" autolimits="false"/>
  <option integrator="implicitfast" timestep="{physics_dt}" cone="elliptic" impratio="{IMPRATIO}"
          gravity="{_text(gravity)}">
    <flag autoreset="disable"/>
  </option>
  <visual>
    <global offwidth="1280" offheight="960"/>
    <headlight ambient="0.35 0.35 0.35" diffuse="0.45 0.45 0.45" specular="0.1 0.1 0.1"/>
    <quality shadowsize="4096"/>
  </visual>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0.92 0.94 0.96" rgb2="0.70 0.75 0.80" width="256" height="256"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1="0.86 0.87 0.88" rgb2="0.82 0.83 0.84" width="256"
             height="256"/>
    <material name="ground" texture="tiles" texrepeat="8 8" reflectance="0.05"/>
  </asset>
  <default>
    <geom contype="0" conaffinity="0" mass="0"/>
    <joint type="hinge" axis="0 0 1" limited="false"/>
  </default>
  <worldbody>
    <light pos="1 -1.5 3" dir="-0.3 0.45 -0.9" diffuse="0.5 0.5 0.5" castshadow="true"/>
    <geom name="ground" type="plane" size="3 3 0.1" pos="0 0 {-PEDESTAL}" material="ground"/>
    {_base(model)}
    {chain}
    {_tool(model, tool, sensor)}
    {"</body>" * 6}
    <body name="environment">{" ".join(environment.geoms())}</body>
  </worldbody>
  <contact>{" ".join(environment.pairs())}</contact>
  <sensor>
    <force name="force" site="ft"/>
    <torque name="torque" site="ft"/>
  </sensor>
</mujoco>
"""


@dataclass(frozen=True)
class Look:
    """Radii of the arm's tubes and joints [m], read off the distance of its wrist joints."""

    wrist: float
    elbow: float
    shoulder: float

    @classmethod
    def of(cls, model: RobotModel) -> "Look":
        # UR5e: wrist joints 0.1 m apart and 75 mm thick; elbow and shoulder 1.25 and 1.55 times that
        wrist = 0.38 * max(float(np.linalg.norm(model.chain_position[4])), 0.05)
        return cls(wrist, 1.25 * wrist, 1.55 * wrist)


def _base(model: RobotModel) -> str:
    look = Look.of(model)
    r, height = look.shoulder, float(model.chain_position[0][2])
    return "".join(
        [
            _tube((0, 0, 0), (0, 0, height - 0.8 * r), 1.02 * r, GREY),
            _tube((0, 0, 0), (0, 0, 0.012), 1.3 * r, DARK),
            _tube((0, 0, -PEDESTAL), (0, 0, -0.02), 1.05 * r, STEEL),
            _tube((0, 0, -0.02), (0, 0, 0), 1.6 * r, STEEL),
            _tube((0, 0, -PEDESTAL), (0, 0, -PEDESTAL + 0.02), 2.6 * r, STEEL),
        ]
    )


def _open_link(model: RobotModel, i: int) -> str:
    """The body of link i with its joint; left open, so that the next one nests inside."""
    link = model.links[i]
    if not link.mass > 0.0:
        raise SimulationError(f"link {link.name}: mass = {link.mass} kg: must be > 0 to be simulated.")
    name, armature = model.joint_names[i], armature_of(model)[i]
    return (
        f'<body name="{link.name}" {_pose(model.chain_position[i], model.chain_rotation[i])}>'
        f'<joint name="{name}" armature="{armature}"/>'
        f'<inertial pos="{_text(link.com)}" mass="{link.mass}" fullinertia="{_six(link.inertia)}"/>'
        + "".join(_look_of_link(model, i))
    )


def _look_of_link(model: RobotModel, i: int) -> list[str]:
    """Tubes and caps of link i in its joint frame (z: its own axis). UR arms: tubes run beside the joint axes."""
    look = Look.of(model)
    to_next = model.chain_position[i + 1]  # origin of the next joint
    if i == 0:  # shoulder: a drum around the vertical axis, carrying the one of the lift joint
        r = look.shoulder
        offset = model.body_offset.get("upper_arm_link", 2.0 * r)
        out = model.chain_rotation[1][:, 2]  # axis of the lift joint, seen from here
        return [
            _tube((0, 0, -0.8 * r), (0, 0, 0.6 * r), r, GREY),
            _tube(-1.15 * r * out, (offset - 1.1 * r) * out, 0.98 * r, GREY),
            _cap(-1.15 * r * out, -out, 0.96 * r),
        ]
    if i in (1, 2):  # upper arm, forearm: joint drum, tube, drum at the far end
        r, far = (look.shoulder, look.elbow) if i == 1 else (look.elbow, look.wrist)
        tube = 0.85 * far if i == 1 else 0.95 * far
        z = model.body_offset.get(model.links[i].name, 0.0)
        middle, end = np.array([0.0, 0.0, z]), np.array([to_next[0], to_next[1], z])
        axis = np.array([0.0, 0.0, 1.0])
        parts = [_tube(middle, end, tube, GREY)]
        if i == 1:  # outer caps on the far side of the arm
            parts += [_tube(middle - 1.1 * r * axis, middle + 1.1 * r * axis, r, GREY)]
            parts += [_cap(middle + 1.1 * r * axis, axis, 0.96 * r)]
            parts += [_tube(end - 1.0 * far * axis, end + 1.1 * far * axis, far, GREY)]
            parts += [_cap(end + 1.1 * far * axis, axis, 0.96 * far)]
        else:
            parts += [_tube(middle - 1.1 * r * axis, middle + 1.1 * r * axis, 0.98 * r, GREY)]
            parts += [_cap(middle - 1.1 * r * axis, -axis, 0.96 * r)]
            to_wrist = max(1.2 * far, float(to_next[2]) - z - 1.1 * far)  # up to the drum of wrist 1
            parts += [_tube(end - 1.1 * far * axis, end + to_wrist * axis, 0.98 * far, GREY)]
            parts += [_cap(end - 1.1 * far * axis, -axis, 0.96 * far)]
        return parts
    r = look.wrist
    if i in (3, 4):  # wrist 1 and 2: two crossed drums
        own, out = np.array([0.0, 0.0, 1.0]), model.chain_rotation[i + 1][:, 2]
        reach = float(np.dot(to_next, out)) or 2.0 * r
        sign = np.sign(reach)
        return [
            _tube(-1.1 * r * own, 1.15 * r * own, r, GREY),
            _cap(1.15 * r * own, own, 0.96 * r),
            _tube((0, 0, 0), sign * (abs(reach) - 1.1 * r) * out, 0.98 * r, GREY),
        ]
    return [_tube((0, 0, -1.3 * r), (0, 0, -0.25 * r), 0.95 * r, GREY), _tube((0, 0, -0.25 * r), (0, 0, 0), r, DARK)]


def _tool(model: RobotModel, tool: Tool, sensor: FtSensor) -> str:
    """Sensor disc, a rod to the TCP, and the tip that collides."""
    r_flange, z_tcp = Look.of(model).wrist, np.array(tool.tcp_rotation)[:, 2]
    disc, tip = 0.25 * r_flange, tool.tip
    shapes = [_tube((0, 0, 0), (0, 0, disc), 0.9 * r_flange, STEEL)]
    if tool.shape == "peg":
        root = np.array(tool.tcp) - tool.peg_length * z_tcp
        shapes += [_tube((0, 0, disc), root, 0.5 * r_flange, DARK, "capsule")]
        shapes += [_tube(root, tip, tool.radius, STEEL, "capsule", 'name="tip"')]
    else:
        shapes += [_tube((0, 0, disc), tip, max(0.8 * tool.radius, 0.004), DARK, "capsule")]
        shapes += [f'<geom name="tip" type="sphere" size="{tool.radius}" pos="{_text(tip)}" rgba="{BLUE}"/>']
    return f"""<body name="tool" {_pose(model.chain_position[6], model.chain_rotation[6])}>
      <inertial pos="{_text(tool.com)}" mass="{max(tool.mass, 1e-6)}" fullinertia="{_six(tool.inertia_matrix())}"/>
      <site name="ft" size="0.004" rgba="0 0 0 0" {_pose(np.array(sensor.position), np.array(sensor.rotation))}/>
      <site name="tcp" size="0.004" rgba="0 0 0 0" {_pose(np.array(tool.tcp), np.array(tool.tcp_rotation))}/>
      {"".join(shapes)}
    </body>"""


def _tube(
    start: ArrayLike, end: ArrayLike, radius: float, colour: str, shape: str = "cylinder", extra: str = ""
) -> str:
    if np.linalg.norm(np.subtract(end, start)) < 1e-6:
        return ""
    ends = f"{_text(start)} {_text(end)}"
    return f'<geom type="{shape}" fromto="{ends}" size="{radius}" rgba="{colour}" {extra}/>'


def _cap(centre: Array, outward: Array, radius: float) -> str:
    """The coloured lid of a joint."""
    return _tube(centre, centre + 0.12 * radius * outward, radius, BLUE)


def _pose(position: Array, rotation: Array) -> str:
    x, y = rotation[:, 0], rotation[:, 1]
    return f'pos="{_text(position)}" xyaxes="{_text(x)} {_text(y)}"'


def _six(inertia: Array) -> str:
    i = inertia
    return _text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


def _text(values: ArrayLike) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values, dtype=float))
