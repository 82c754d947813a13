"""The tab with things to touch; only for a simulated arm."""

from typing import Any

import numpy as np

from ur_admittance.dashboard.situations import SITUATIONS, changes_of
from ur_admittance.dashboard.tuner import Tuner
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters

HARDNESS = (100.0, 200_000.0)  # [N/m] what the simulation takes


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
        note = gui.add_markdown("Objects appear before the tool, where it is now.")
        self.inputs = [self._situation, self._words, self._hardness, load, home, note]
        self.model: RobotModel | None = None  # of the arm that is shown
        self._situation.on_update(self._chosen)
        tuner.on_click(load, lambda client, _: self._load(client))
        tuner.on_click(home, lambda client, _: self._home(client))

    def _chosen(self, event: Any) -> None:
        chosen = SITUATIONS[self._situation.value]
        self._words.content, self._hardness.value = chosen.sentence, chosen.stiffness

    def _load(self, client: Any) -> None:
        name, tuner = self._situation.value, self._tuner
        chosen = SITUATIONS[name]
        environment = {"kind": chosen.kind, "stiffness": float(self._hardness.value)}
        tuner.link.post({"environment": environment}, tuner.tell(client, name, also_good=True))
        tuner.link.change(changes_of(chosen), tuner.tell(client, "Not changed"))

    def _home(self, client: Any) -> None:
        if self.model is not None and self._tuner.parameters is not None:
            message = {"reference": home_pose(self.model, self._tuner.parameters)}
            self._tuner.link.post(message, self._tuner.tell(client, "Home"))


def home_pose(model: RobotModel, parameters: Parameters) -> dict[str, Any]:
    """T_base_tcp in the home position = T_base_flange(home) T_flange_tcp, as the mailbox takes it."""
    tcp = np.array(parameters.tool.tcp)
    R_base_flange, p_base_flange = model.forward(model.home)
    position, rotation = p_base_flange + R_base_flange @ tcp[:3], R_base_flange @ rotation_from_rpy(tcp[3:])
    return {"position": position.tolist(), "rotation": rotation.tolist()}
