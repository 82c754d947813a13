"""The inputs of the page: what to do with the arm, how it feels, what it touches, every parameter, files."""

from collections.abc import Iterable
from typing import Any

from ur_admittance.page.camera import Views
from ur_admittance.page.feel import (
    COLOURS,
    FEELS,
    PICTURE,
    effect,
    effect_html,
    feel_changes,
    sliders,
)
from ur_admittance.page.file_tab import FilesTab, Folder, default_tuning
from ur_admittance.page.knobs import Tuner, build, table_knobs, workspace_knobs
from ur_admittance.page.surroundings import SurroundingsTab, home_pose
from ur_admittance.page.viser_internals import STOP_KEY
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer, Code

REQUESTS = {"Activate": "activate", "Hold still": "deactivate"}
REPAIRS = {"Retreat": "retreat", "Reset fault": "reset_fault", "Zero sensor": "zero_ft_sensor"}
UNLOCK = {"Unlock robot": "unlock"}
CONFIRMED = {  # what is asked when a request is safe only if somebody has looked: title, answer, what is sent then
    "Activate": ("Do you know this force?", "Yes: let the arm yield to it", "activate_with_load"),
    "Zero sensor": ("Is the tool free?", "Nothing touches it: zero", "zero_free_tool"),
}
PUSH_N, PUSH_NM, PUSH_S = 10.0, 1.5, 1.0
PUSHES = {
    "forward": (0, PUSH_N),
    "left": (1, PUSH_N),
    "up": (2, PUSH_N),
    "back": (0, -PUSH_N),
    "right": (1, -PUSH_N),
    "down": (2, -PUSH_N),
    "about x": (3, PUSH_NM),
    "about y": (4, PUSH_NM),
    "about z": (5, PUSH_NM),
    "about -x": (3, -PUSH_NM),
    "about -y": (4, -PUSH_NM),
    "about -z": (5, -PUSH_NM),
}  # axis of the wrench and its size [N, Nm], base axes
UNDO, DEFAULTS = "Undo", "Defaults"
UNDO_WORDS = (
    "Undo: the values before the last change that was made on this page. Defaults: of everything that can be tuned."
)

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


class Panel:
    def __init__(self, server: Any, tuner: Tuner, folder: Folder) -> None:
        self._tuner, gui = tuner, server.gui
        self._simulated_only: list[Any] = []
        self.unlocked = False  # a protective stop was released here; the controller knows only after a reset
        self.status = gui.add_html("")
        self._requests(gui)
        self.views = Views(server)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Feel"):
            self._feel(gui)
        with tabs.add_tab("Surroundings"):
            self.surroundings = SurroundingsTab(gui, tuner)
            self._simulated_only += self.surroundings.inputs
        with tabs.add_tab("Parameters"):
            self._everything(gui)
        with tabs.add_tab("Files"):
            FilesTab(gui, tuner, folder)

    def show(self, parameters: Parameters) -> None:
        """Show in every input what the controller uses."""
        if self._tuner.show(parameters):
            for key, text in effect(parameters).items():
                self._effects[key].content = effect_html(text, COLOURS[key])

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

    def _feel(self, gui: Any) -> None:
        gui.add_html(f'<div style="margin:6px 10px 0">{PICTURE}</div>')
        feels = gui.add_button_group("Try", tuple(FEELS), hint="Sets the three sliders, then gives the tool a push.")
        knobs, self._effects = sliders(gui)
        for knob in knobs:
            self._tuner.watch(knob)
        values, tuner = gui.add_button_group("Values", (UNDO, DEFAULTS), hint=UNDO_WORDS), self._tuner
        tuner.on_click(values, lambda client, name: tuner.safely(client, name, lambda: self._back(client, name)))
        names = tuple(PUSHES)
        labels = (f"Push {PUSH_N:g} N", "", f"Turn {PUSH_NM:g} Nm", "")
        words = f"The simulated hand pushes or turns the tool for {PUSH_S:g} s; x forward, y left, z up."
        for label, row in zip(labels, (names[:3], names[3:6], names[6:9], names[9:]), strict=True):
            push = gui.add_button_group(label, row, hint=words)
            self._simulated_only.append(push)
            self._tuner.on_click(push, self._push)
        self._tuner.on_click(feels, self._try)

    def _push(self, client: Any, where: str) -> None:
        axis, size = PUSHES[where]
        wrench = [0.0] * 6
        wrench[axis] = size
        self._tuner.link.post({"push": {"wrench": wrench, "seconds": PUSH_S}}, self._tuner.tell(client, "Not pushed"))

    def _try(self, client: Any, name: str) -> None:
        """Set a feel, then show it with a push towards home: always the same one would walk the arm to its limit."""
        model, parameters = self.surroundings.model, self._tuner.parameters
        if model is None or parameters is None:
            return
        beyond = self.views.p_tcp[1] > home_pose(model, parameters)["position"][1]
        tell = self._tuner.tell(client, "Not changed")

        def then_push(answer: Answer) -> None:
            tell(answer)
            if answer.accepted and self._simulated_only[0].visible:
                self._push(client, "right" if beyond else "left")

        self._tuner.change_if_agreed(client, feel_changes(name, self._tuner.flat), then_push)

    def _back(self, client: Any, button: str) -> str:
        told = self._tuner.tell(client, button, also_good=True)
        if button == UNDO:
            self._tuner.undo(client, told)
        else:
            self._tuner.change_if_agreed(client, default_tuning(), told)
        return ""  # the controller's answer follows

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
