"""The inputs of the page: what to do with the arm, where to look from, how it feels, what it touches, every parameter,
files."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance.page.compare import CompareTab
from ur_admittance.page.feel import FeelTab
from ur_admittance.page.file_tab import FilesTab, Folder
from ur_admittance.page.guide_tab import GuideTab
from ur_admittance.page.knobs import Tuner, build, table_knobs, workspace_knobs
from ur_admittance.page.start_pose import StartPose
from ur_admittance.page.surroundings import SurroundingsTab, home_pose
from ur_admittance.page.viser_internals import STOP_KEY
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer, Code

Array = NDArray[np.float64]

REQUESTS = {"Activate": "activate", "Hold still": "deactivate"}
REPAIRS = {"Retreat": "retreat", "Reset fault": "reset_fault", "Zero sensor": "zero_ft_sensor"}
UNLOCK = {"Unlock robot": "unlock"}
CONFIRMED = {  # what is asked when a request is safe only if somebody has looked: title, answer, what is sent then
    "Activate": ("Do you know this force?", "Yes: let the arm yield to it", "activate_with_load"),
    "Zero sensor": ("Is the tool free?", "Nothing touches it: zero", "zero_free_tool"),
}
# Every parameter that can be tuned while the arm runs, in groups: folder -> names.
GROUPS = {
    "Feel, per axis": ("mass", "damping_ratio", "stiffness", "virtual_stiffness"),
    "Directions that yield": ("enabled_axes",),
    "Sensor: filter and deadband": (
        "filter_coefficient",
        "min_motion_threshold",
        "min_motion_threshold_torque",
        "deadband",
        "drift_reset_threshold",
    ),
    "Force control": ("desired_wrench", "force_axes", "bias_time"),
    "Variable damping": ("travel_damping", "travel_speed", "stiffness_engagement_time"),
}
COLLISION = ("collision.enabled", "collision.clearance", "collision.tool_radius", "collision.table_touchable")
LIMITS = (
    "control_frame",
    "max_linear_velocity",
    "max_angular_velocity",
    "max_linear_acceleration",
    "max_angular_acceleration",
    "velocity_scale_factor",
    "joint_limits.acceleration",
    "tracking.velocity_gain",
    "safety.max_force",
    "safety.max_torque",
    "contact.stabilizer",
    "contact.ratio",
)

CAMERA, LOOK_AT = (1.98, -1.42, 1.02), (0.32, 0.06, 0.26)  # [m] tool and wrist large, the base in view
FIELD_OF_VIEW = 0.68  # [rad] vertical
DRAWN_FOR = 0.8392  # [m] upper arm and forearm of the arm that these distances suit, a UR5e
START = "start"
VIEWS = {
    START: (CAMERA, LOOK_AT),
    "front": ((3.0, 0.0, 0.5), (0.3, 0.0, 0.25)),
    "side": ((0.35, -2.6, 0.5), (0.35, 0.0, 0.25)),
    "top": ((0.34, 0.0, 3.0), (0.35, 0.0, 0.25)),
}  # camera, and what it looks at
TOOL = "tool"
FROM_TOOL = (0.55, -0.45, 0.25)  # [m]


class Panel:
    def __init__(self, server: Any, tuner: Tuner, folder: Folder) -> None:
        self._tuner, gui = tuner, server.gui
        self._simulated_only: list[Any] = []
        self.unlocked = False  # a protective stop was released here; the controller knows only after a reset
        self.status = gui.add_html("")
        self._requests(gui)
        self.start = StartPose(gui, tuner)
        self.views = Views(server)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Feel"):
            self._feel = FeelTab(gui, tuner, self._towards_home)
            self._simulated_only += self._feel.pushes
        with tabs.add_tab("Guide"):
            self.guide = GuideTab(gui, tuner)
        with tabs.add_tab("A or B"):
            CompareTab(gui, tuner, folder, lambda: files.refresh())
        with tabs.add_tab("Surroundings"):
            self.surroundings = SurroundingsTab(gui, tuner)
            self._simulated_only += self.surroundings.inputs
        with tabs.add_tab("Parameters"):
            self._everything(gui)
        with tabs.add_tab("Files"):
            files = FilesTab(gui, tuner, folder)

    def show(self, parameters: Parameters) -> None:
        """Show in every input what the controller uses."""
        if self._tuner.show(parameters):
            self._feel.show(parameters)
            self.guide.show(parameters)

    def offer_unlock(self, yes: bool) -> None:
        """In a protective stop only."""
        self.unlocked = self.unlocked and yes
        if self._unlock.visible != yes:
            self._unlock.visible = yes

    @property
    def motion(self) -> str:
        """What the controller's values make the arm do without a push, in words."""
        return self._tuner.motion

    @property
    def show_capsules(self) -> bool:
        return bool(self._capsules.value)

    def simulated(self, yes: bool, tools: dict[str, Any] | None = None) -> None:
        """Whether to offer what only a simulation can do; any other arm is pushed by real hands.

        tools: the simulation can become another arm with one of these; name -> TCP [m]."""
        for handle in self._simulated_only:
            handle.visible = yes
        self.surroundings.offer(tools or {})

    def _requests(self, gui: Any) -> None:
        words = "Active, it yields to forces; otherwise it holds still."
        arm = gui.add_button_group("Arm", tuple(REQUESTS), hint=words)
        repair = gui.add_button_group(
            "",
            tuple(REPAIRS),
            hint="Retreat: slowly back the way it came, out of a contact that stopped it. Reset: after a stop, once "
            "its cause is gone. Zero: the current reading counts as no force.",
        )

        def ask(client: Any, button: str) -> None:
            request = (REQUESTS | REPAIRS | UNLOCK)[button]
            self._tuner.link.post({"request": request}, lambda answer: self._answered(client, button, answer))

        self._tuner.on_click(arm, ask)
        self._tuner.on_click(repair, ask)
        words = "Release a protective stop of the robot. Look for its cause first."
        self._unlock = gui.add_button_group("", tuple(UNLOCK), hint=words, visible=False)
        self._tuner.on_click(self._unlock, ask)
        stop = gui.add_command("Stop the arm", description="Slow down and hold", hotkey=STOP_KEY, icon="hand-stop")
        # anybody may, with or without control
        stop.on_trigger(lambda event: self._tuner.link.post({"request": "stop"}))

    def _answered(self, client: Any, button: str, answer: Answer) -> None:
        if button in UNLOCK:
            self.unlocked = answer.accepted
        if answer.code == Code.UNCONFIRMED:
            title, yes, request = CONFIRMED[button]
            post = {"request": request}
            self._tuner.question(client, title, answer.text, yes, lambda: self._tuner.link.post(post))
        else:
            self._tuner.tell(client, "Refused")(answer)

    def _towards_home(self) -> str | None:
        model, parameters = self.surroundings.model, self._tuner.parameters
        if model is None or parameters is None:
            return None
        return "right" if self.views.p_tcp[1] > home_pose(model, parameters)["position"][1] else "left"

    def _everything(self, gui: Any) -> None:
        for i, (title, names) in enumerate(GROUPS.items()):
            with gui.add_folder(title, expand_by_default=i == 0):
                self._add_knobs(gui, [f"admittance.{name}" for name in names])
        with gui.add_folder("Frame, limits and safety", expand_by_default=False):
            self._add_knobs(gui, LIMITS)
        with gui.add_folder("Workspace box", expand_by_default=False):
            for knob in workspace_knobs(gui):
                self._tuner.watch(knob)
        with gui.add_folder("Collisions", expand_by_default=False):
            words = "What the controller takes the links and the tool for. Boxes are given in the parameter file."
            self._capsules = gui.add_checkbox("show the capsules", False, hint=words)
            self._add_knobs(gui, COLLISION)
            for knob in table_knobs(gui):
                self._tuner.watch(knob)

    def _add_knobs(self, gui: Any, names: Iterable[str]) -> None:
        for name in names:
            for knob in build(gui, name):
                self._tuner.watch(knob)


class Views:
    """A row of buttons. Anybody may look from where they like: each has a camera of their own."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._scale = 1.0
        self.p_tcp: Array = np.zeros(3)
        initial = server.initial_camera
        initial.position, initial.look_at, initial.fov = CAMERA, LOOK_AT, FIELD_OF_VIEW
        row = server.gui.add_button_group(
            "View", (*VIEWS, TOOL), hint="Moves your camera. Drag beside the arm to turn it."
        )
        row.on_click(lambda event: self._look(event.client, event.target.value))

    def show(self, model: RobotModel, farther: float = 1.0) -> None:
        """Another arm: everybody sees it whole, also those who come later. farther: from several of them."""
        self._scale = farther * size(model) / DRAWN_FOR
        initial = self._server.initial_camera
        initial.position, initial.look_at = self._place(START)
        for client in self._server.get_clients().values():
            self._look(client, START)

    def _look(self, client: Any, name: str) -> None:
        with client.atomic():
            client.camera.position, client.camera.look_at = self._place(name)

    def _place(self, name: str) -> tuple[Array, Array]:
        """Camera, and what it looks at [m]."""
        if name == TOOL:
            return self.p_tcp + FROM_TOOL, self.p_tcp
        position, look_at = VIEWS[name]
        return self._scale * np.array(position), self._scale * np.array(look_at)


def size(model: RobotModel) -> float:
    """Length of upper arm and forearm [m]."""
    return float(np.linalg.norm(model.chain_position[2]) + np.linalg.norm(model.chain_position[3]))
