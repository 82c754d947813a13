"""RobotModel -> MJCF: the arm on its pedestal, the tool behind a wrist sensor, and the environment.

World frame = base frame (ROS ``base_link``). Only the tool's tip and the environment collide: the arm is driven by a
controller that keeps it away from things, and an arm without contacts is what makes the simulation fast.
"""

from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel
from ur_admittance.model.look import BLUE, DARK, PEDESTAL, STEEL, Colour, tubes, wrist_radius
from ur_admittance.robots.simulated.devices import FtSensor, Servo, Tool
from ur_admittance.robots.simulated.environment import IMPRATIO, Environment

Array = NDArray[np.float64]

# MuJoCo's (-k, -b) of joint friction: a joint that sticks loses its speed at the rate b [1/s]. As fast as steps of 1 ms
# allow, so that a UR5e's joint under 5 Nm of friction creeps with less than 5 mrad/s.
STICTION = "-1 -500"
ASSETS = """<visual>
    <global offwidth="1280" offheight="960"/>
    <headlight ambient="0.35 0.35 0.35" diffuse="0.45 0.45 0.45" specular="0.1 0.1 0.1"/>
    <quality shadowsize="4096"/>
  </visual>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0.92 0.94 0.96" rgb2="0.70 0.75 0.80" width="256" height="256"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1="0.86 0.87 0.88" rgb2="0.82 0.83 0.84" width="256"
             height="256"/>
    <material name="ground" texture="tiles" texrepeat="8 8" reflectance="0.05"/>
  </asset>"""


def generate(
    model: RobotModel,
    tool: Tool,
    environment: Environment,
    sensor: FtSensor,
    servo: Servo,
    physics_dt: float,
    gravity: ArrayLike,
    look: bool = True,
) -> str:
    """The MJCF document. Bodies: the links by their names, ``tool``, ``environment``; sites: ``tcp``, ``ft``.
    look: also the shapes that are only seen."""
    chain = "".join(_open_link(model, servo, i, look) for i in range(6))
    return f"""<mujoco model={quoteattr(model.name)}>
  <compiler angle="radian" autolimits="false"/>
  <option integrator="implicitfast" timestep="{physics_dt}" cone="elliptic" impratio="{IMPRATIO}"
          gravity="{_text(gravity)}">
    <flag autoreset="disable"/>
  </option>
  {ASSETS if look else ""}
  <default>
    <geom contype="0" conaffinity="0" mass="0"/>
    <joint type="hinge" axis="0 0 1" limited="false"/>
  </default>
  <worldbody>
    {_ground(model) if look else ""}
    {chain}
    {_tool(model, tool, sensor, look)}
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


def _ground(model: RobotModel) -> str:
    light = '<light pos="1 -1.5 3" dir="-0.3 0.45 -0.9" diffuse="0.5 0.5 0.5" castshadow="true"/>'
    plane = f'<geom name="ground" type="plane" size="3 3 0.1" pos="0 0 {-PEDESTAL}" material="ground"/>'
    return light + plane + _look(model, 0)


def _open_link(model: RobotModel, servo: Servo, i: int, look: bool) -> str:
    """The body of link i with its joint; left open, so that the next one nests inside."""
    link = model.links[i]
    if not link.mass > 0.0:
        raise SimulationError(f"link {link.name}: mass = {link.mass} kg: must be > 0 to be simulated.")
    name, armature = quoteattr(model.joint_names[i]), servo.armature_of(model)[i]
    friction = f' frictionloss="{servo.friction[i]}" solreffriction="{STICTION}"' if servo.friction[i] > 0.0 else ""
    return (
        f"<body name={quoteattr(link.name)} {_pose(model.chain_position[i], model.chain_rotation[i])}>"
        f'<joint name={name} armature="{armature}"{friction}/>'
        f'<inertial pos="{_text(link.com)}" mass="{link.mass}" fullinertia="{_six(link.inertia)}"/>'
        f"{_look(model, i + 1) if look else ''}"
    )


def _look(model: RobotModel, link: int) -> str:
    """The tubes of the base (0) or of the link behind joint ``link - 1``."""
    return "".join(_tube(part.start, part.end, part.radius, part.colour) for part in tubes(model) if part.link == link)


def _tool(model: RobotModel, tool: Tool, sensor: FtSensor, look: bool) -> str:
    """Sensor disc, a rod to the TCP, and the tip that collides."""
    r_flange, z_tcp = wrist_radius(model), np.array(tool.tcp_rotation)[:, 2]
    disc, tip = 0.25 * r_flange, tool.tip
    if tool.shape == "peg":
        root = np.array(tool.tcp) - tool.peg_length * z_tcp
        seen = _tube((0, 0, disc), root, 0.5 * r_flange, DARK, "capsule")
        touching = _tube(root, tip, tool.radius, STEEL, "capsule", 'name="tip"')
    else:
        seen = _tube((0, 0, disc), tip, max(0.8 * tool.radius, 0.004), DARK, "capsule")
        touching = f'<geom name="tip" type="sphere" size="{tool.radius}" pos="{_text(tip)}" rgba="{_rgba(BLUE)}"/>'
    seen = _tube((0, 0, 0), (0, 0, disc), 0.9 * r_flange, STEEL) + seen if look else ""
    return f"""<body name="tool" {_pose(model.chain_position[6], model.chain_rotation[6])}>
      <inertial pos="{_text(tool.com)}" mass="{max(tool.mass, 1e-6)}" fullinertia="{_six(tool.inertia_matrix())}"/>
      <site name="ft" size="0.004" rgba="0 0 0 0" {_pose(np.array(sensor.position), np.array(sensor.rotation))}/>
      <site name="tcp" size="0.004" rgba="0 0 0 0" {_pose(np.array(tool.tcp), np.array(tool.tcp_rotation))}/>
      {seen}{touching}
    </body>"""


def _tube(
    start: ArrayLike, end: ArrayLike, radius: float, colour: Colour, shape: str = "cylinder", extra: str = ""
) -> str:
    if np.linalg.norm(np.subtract(end, start)) < 1e-6:
        return ""
    ends = f"{_text(start)} {_text(end)}"
    return f'<geom type="{shape}" fromto="{ends}" size="{radius}" rgba="{_rgba(colour)}" {extra}/>'


def _rgba(colour: Colour) -> str:
    return " ".join(f"{part / 255:.2f}" for part in colour) + " 1"


def _pose(position: Array, rotation: Array) -> str:
    x, y = rotation[:, 0], rotation[:, 1]
    return f'pos="{_text(position)}" xyaxes="{_text(x)} {_text(y)}"'


def _six(inertia: Array) -> str:
    i = inertia
    return _text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


def _text(values: ArrayLike) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values, dtype=float))
