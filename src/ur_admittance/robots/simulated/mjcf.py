"""RobotModel -> MJCF: the arm, the tool behind a wrist sensor, and the environment. Nothing that is only seen: the page
draws the arm (model/look.py).

World frame = base frame (ROS ``base_link``). Only the tool's tip and the environment collide: the arm is driven by a
controller that keeps it away from things, and an arm without contacts is what makes the simulation fast.
"""

from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel
from ur_admittance.robots.simulated.devices import FtSensor, Servo, Tool
from ur_admittance.robots.simulated.environment import IMPRATIO, Environment

Array = NDArray[np.float64]

# MuJoCo's (-k, -b) of joint friction: a joint that sticks loses its speed at the rate b [1/s]. As fast as steps of 1 ms
# allow, so that a UR5e's joint under 5 Nm of friction creeps with less than 5 mrad/s.
STICTION = "-1 -500"


def generate(
    model: RobotModel,
    tool: Tool,
    environment: Environment,
    sensor: FtSensor,
    servo: Servo,
    physics_dt: float,
    gravity: ArrayLike,
) -> str:
    """The MJCF document. Bodies: the links by their names, ``tool``, ``environment``; sites: ``tcp``, ``ft``."""
    chain = "".join(_open_link(model, servo, i) for i in range(6))
    return f"""<mujoco model={quoteattr(model.name)}>
  <compiler angle="radian" autolimits="false"/>
  <option integrator="implicitfast" timestep="{physics_dt}" cone="elliptic" impratio="{IMPRATIO}"
          gravity="{_text(gravity)}">
    <flag autoreset="disable"/>
  </option>
  <default>
    <geom contype="0" conaffinity="0" mass="0"/>
    <joint type="hinge" axis="0 0 1" limited="false"/>
  </default>
  <worldbody>
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


def _open_link(model: RobotModel, servo: Servo, i: int) -> str:
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
    )


def _tool(model: RobotModel, tool: Tool, sensor: FtSensor) -> str:
    """Mass, sensor, TCP, and the tip that collides."""
    tip = f'type="sphere" size="{tool.radius}" pos="{_text(tool.tip)}"'
    if tool.shape == "peg":
        root = np.array(tool.tcp) - tool.peg_length * np.array(tool.tcp_rotation)[:, 2]
        tip = f'type="capsule" size="{tool.radius}" fromto="{_text(root)} {_text(tool.tip)}"'
    return f"""<body name="tool" {_pose(model.chain_position[6], model.chain_rotation[6])}>
      <inertial pos="{_text(tool.com)}" mass="{max(tool.mass, 1e-6)}" fullinertia="{_six(tool.inertia_matrix())}"/>
      <site name="ft" {_pose(np.array(sensor.position), np.array(sensor.rotation))}/>
      <site name="tcp" {_pose(np.array(tool.tcp), np.array(tool.tcp_rotation))}/>
      <geom name="tip" {tip}/>
    </body>"""


def _pose(position: Array, rotation: Array) -> str:
    x, y = rotation[:, 0], rotation[:, 1]
    return f'pos="{_text(position)}" xyaxes="{_text(x)} {_text(y)}"'


def _six(inertia: Array) -> str:
    i = inertia
    return _text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


def _text(values: ArrayLike) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values, dtype=float))
