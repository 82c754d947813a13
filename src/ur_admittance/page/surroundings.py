"""Things to touch, for a simulated arm: situations to load with one click, and their tab."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ur_admittance.model import MODEL_NAMES, RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.page.knobs import Tuner
from ur_admittance.params import Parameters

HARDNESS = (100.0, 200_000.0)  # [N/m] what the simulation takes
# With less damping than about stiffness times delay of the arm (18 ms) the tool bounces on what it touches.
WELL_DAMPED = {"admittance.damping_ratio": [3.0] * 3 + [0.8] * 3}
LET_GO = {"admittance.desired_wrench": [0.0] * 6, "admittance.force_axes": [False] * 6}
FREE = LET_GO | {
    "admittance.damping_ratio": [0.8] * 6,
    "admittance.enabled_axes": [True] * 6,
}


@dataclass(frozen=True)
class Situation:
    sentence: str
    kind: str  # of the environment
    stiffness: float = 1e4  # [N/m]
    changes: dict[str, Any] = field(default_factory=dict)


def _pressing(newton: float) -> dict[str, Any]:
    return {
        "admittance.desired_wrench": [0.0, 0.0, newton, 0.0, 0.0, 0.0],
        "admittance.force_axes": [False, False, True, False, False, False],
        "admittance.stiffness": [0.0] * 6,
    }


SITUATIONS = {
    "Free space": Situation("Nothing to touch: feel mass, damping and stiffness.", "none"),
    "Table, soft": Situation("A foam-like table 2 cm below the tool. Push the tool down onto it.", "floor", 2e3),
    "Table, hard": Situation(
        "A wooden table 2 cm below the tool, with plenty of damping. Push the tool down onto it, then try less.",
        "floor",
        1e4,
        WELL_DAMPED,
    ),
    "Press with 10 N": Situation(
        "The arm looks for the table by itself and presses with 10 N. Lift it, pull it sideways: it comes back down.",
        "floor",
        1e4,
        _pressing(10.0),
    ),
    "Follow a slope": Situation(
        "Pressing with 10 N on a slope: pull the tool along it, up and down.", "incline", 1e4, _pressing(10.0)
    ),
    "Follow a cylinder": Situation(
        "Pressing with 10 N on a cylinder that lies on its side: pull the tool over it.",
        "cylinder",
        1e4,
        _pressing(10.0),
    ),
    "Wall": Situation("A wall in front of the tool. Push the tool against it.", "wall", 1e4, WELL_DAMPED),
}


def changes_of(situation: Situation) -> dict[str, Any]:
    """Parameters of a situation: force control off unless it asks for it."""
    return FREE | situation.changes


class SurroundingsTab:
    def __init__(self, gui: Any, tuner: Tuner) -> None:
        self._tuner = tuner
        first = next(iter(SITUATIONS))
        self._situation = gui.add_dropdown("Situation", tuple(SITUATIONS), initial_value=first)
        self._words = gui.add_markdown(SITUATIONS[first].sentence)
        self._hardness = gui.add_number(
            "Hardness [N/m]", 10000.0, min=HARDNESS[0], max=HARDNESS[1], step=100.0, hint="2000: foam, 10000: wood"
        )
        load = gui.add_button("Load", icon="player-play", color="blue")
        home = gui.add_button("Bring the arm home", icon="home")
        note = gui.add_markdown("Objects appear in front of the tool or below it, wherever it is now.")
        self.inputs = [self._situation, self._words, self._hardness, load, home, note]
        words = "The simulation starts over with this arm; the page is without a connection for a moment."
        self._robot = gui.add_dropdown("Robot", MODEL_NAMES, initial_value="ur5e", hint=words)
        self._tool = gui.add_dropdown("Tool", ("probe",), hint="Its mass, centre of mass, tip and look.")
        self._tcp = gui.add_vector3("TCP [m]", (0.0, 0.0, 0.15), step=0.005, hint="From the flange.")
        change = gui.add_button("Use this arm", icon="refresh", hint=words)
        self._choice = [self._robot, self._tool, self._tcp, change]
        self._tools: dict[str, Any] = {}
        self._tool.on_update(self._tool_chosen)
        tuner.on_click(change, lambda client, _: self._change_arm(client))
        self.model: RobotModel | None = None  # of the arm that is shown
        self._situation.on_update(self._chosen)
        tuner.on_click(load, lambda client, _: self._load(client))
        tuner.on_click(home, lambda client, _: self._home(client))

    def _chosen(self, event: Any) -> None:
        chosen = SITUATIONS[self._situation.value]
        self._words.content, self._hardness.value = chosen.sentence, chosen.stiffness

    def offer(self, tools: dict[str, Any]) -> None:
        """Another arm, with one of these tools (name -> TCP [m]); none: there is no choice."""
        if tools and tools != self._tools:
            self._tool.options = tuple(tools)
        self._tools = tools
        for handle in self._choice:
            handle.visible = bool(tools)

    def show(self, model: RobotModel, tcp: Sequence[float]) -> None:
        """Start the choice from the arm that is there; tcp [m]."""
        self.model = model
        self._tcp.value = tuple(float(v) for v in tcp)
        if model.name in MODEL_NAMES:  # an arm from a file is not in the list
            self._robot.value = model.name

    def _tool_chosen(self, event: Any) -> None:
        if event.client is not None:
            self._tcp.value = tuple(self._tools[self._tool.value])

    def _change_arm(self, client: Any) -> None:
        wanted = {"model": self._robot.value, "tool": self._tool.value, "tcp": list(self._tcp.value)}
        self._tuner.link.post({"arm": wanted}, self._tuner.tell(client, "Arm", also_good=True))

    def _load(self, client: Any) -> None:
        name, tuner = self._situation.value, self._tuner
        chosen = SITUATIONS[name]
        environment = {"kind": chosen.kind, "stiffness": float(self._hardness.value)}
        tuner.link.post({"environment": environment}, tuner.tell(client, name, also_good=True))
        tuner.change(changes_of(chosen), tuner.tell(client, "Not changed"))

    def _home(self, client: Any) -> None:
        if self.model is not None and self._tuner.parameters is not None:
            message = {"reference": home_pose(self.model, self._tuner.parameters)}
            self._tuner.change(LET_GO, self._tuner.tell(client, "Home"))  # an arm that presses would stay down
            self._tuner.link.post(message, self._tuner.tell(client, "Home"))


def home_pose(model: RobotModel, parameters: Parameters) -> dict[str, Any]:
    """T_base_tcp in the home position = T_base_flange(home) T_flange_tcp, as the mailbox takes it."""
    tcp = np.array(parameters.tool.tcp)
    R_base_flange, p_base_flange = model.forward(model.home)
    position, rotation = p_base_flange + R_base_flange @ tcp[:3], R_base_flange @ rotation_from_rpy(tcp[3:])
    return {"position": position.tolist(), "rotation": rotation.tolist()}
