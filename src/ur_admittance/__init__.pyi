from ur_admittance import errors as errors
from ur_admittance.control import AdmittanceController as AdmittanceController
from ur_admittance.control.chaining import CartesianPath as CartesianPath
from ur_admittance.control.chaining import JointFollower as JointFollower
from ur_admittance.control.chaining import Smoother as Smoother
from ur_admittance.model import robot_model as robot_model
from ur_admittance.params import Parameters as Parameters
from ur_admittance.params import load_parameters as load_parameters
from ur_admittance.params import preset as preset
from ur_admittance.recording.log import read_log as read_log
from ur_admittance.recording.recorder import Recorder as Recorder
from ur_admittance.robots.drive import run as run
from ur_admittance.robots.external_sensors import NetFt as NetFt
from ur_admittance.robots.external_sensors import RobotiqFt as RobotiqFt
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot as RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings as RtdeSettings
from ur_admittance.robots.simulated import Environment as Environment
from ur_admittance.robots.simulated import FtSensor as FtSensor
from ur_admittance.robots.simulated import SecondSensor as SecondSensor
from ur_admittance.robots.simulated import Servo as Servo
from ur_admittance.robots.simulated import SimulatedRobot as SimulatedRobot
from ur_admittance.robots.simulated import Tool as Tool
from ur_admittance.robots.simulated import World as World
from ur_admittance.teaching.replay import TaughtPath as TaughtPath
from ur_admittance.teaching.taught import load_taught as load_taught
from ur_admittance.teaching.teacher import Teacher as Teacher

__version__: str
