"""The inputs of the page: what to do with the arm, how it feels, what it touches, every parameter, files."""

import time
from collections.abc import Callable
from typing import Any

from ur_admittance.dashboard.clients import Clients
from ur_admittance.dashboard.document import STOP_KEY
from ur_admittance.dashboard.feel import (
    DAMPING,
    FEELS,
    MASS,
    PICTURE,
    STIFFNESS,
    effect,
    effect_html,
    feel_changes,
    sliders,
)
from ur_admittance.dashboard.files import Folder
from ur_admittance.dashboard.knobs import Flat, Knob, build
from ur_admittance.dashboard.loop_link import LoopLink
from ur_admittance.dashboard.situations import SITUATIONS, changes_of
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer

REQUESTS = {"Activate": "activate", "Hold still": "deactivate"}
REPAIRS = {"Reset fault": "reset_fault", "Zero the sensor": "zero_ft_sensor"}
PUSH_N, PUSH_S = 10.0, 1.0
PUSHES = {"forward": (0, 1.0), "left": (1, 1.0), "up": (2, 1.0), "back": (0, -1.0), "right": (1, -1.0), "down": (2, -1.0)}

# Every parameter that can be tuned while the arm runs, in groups: folder -> names.
GROUPS = {
    "Feel, per axis": ("mass", "damping_ratio", "stiffness", "virtual_stiffness", "enabled_axes"),
    "Sensor: filter and deadband": (
        "filter_coefficient", "min_motion_threshold", "min_motion_threshold_torque", "deadband", "drift_reset_threshold",
    ),
    "Force control": ("desired_wrench", "force_axes", "bias_time"),
    "Changing damping": ("travel_damping", "travel_speed", "stiffness_engagement_time"),
}  # fmt: skip
LIMITS = (
    "control_frame", "max_linear_velocity", "max_angular_velocity", "max_linear_acceleration",
    "max_angular_acceleration", "velocity_scale_factor", "joint_limits.acceleration", "tracking.velocity_gain",
    "safety.max_force", "safety.max_torque", "contact.stabilizer", "contact.ratio",
)  # fmt: skip


class Panel:
    def __init__(self, gui: Any, link: LoopLink, clients: Clients, folder: Folder) -> None:
        self._link, self._clients, self._folder = link, clients, folder
        self._knobs: list[Knob] = []
        self._flat: Flat = {}
        self._parameters: Parameters | None = None
        self._simulated_only: list[Any] = []
        self.status = gui.add_html("")
        self._requests(gui)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Feel"):
            self._feel(gui)
        with tabs.add_tab("Surroundings"):
            self._surroundings(gui)
        with tabs.add_tab("Parameters"):
            self._everything(gui)
        with tabs.add_tab("Files"):
            self._files(gui)

    def show(self, parameters: Parameters) -> None:
        """Bring every input to what the controller uses."""
        if parameters is self._parameters:
            return
        self._parameters, self._flat = parameters, _lists(parameters.flat())
        for knob in self._knobs:
            knob.show(self._flat)
        colours = {"mass": MASS, "damping": DAMPING, "stiffness": STIFFNESS}
        for key, text in effect(parameters).items():
            self._effects[key].content = effect_html(text, colours[key])

    def simulated(self, yes: bool) -> None:
        """A real arm is pushed by real hands."""
        for handle in self._simulated_only:
            handle.visible = yes

    def stop(self) -> None:
        self._link.post({"request": "stop"})

    # the parts

    def _requests(self, gui: Any) -> None:
        arm = gui.add_button_group("Arm", tuple(REQUESTS), hint="Active, it yields to forces; otherwise it holds still.")
        repair = gui.add_button_group("", tuple(REPAIRS), hint="Zero: take the present reading as no force.")

        def ask(event: Any) -> None:
            if self._clients.may(event.client):
                request = (REQUESTS | REPAIRS)[event.target.value]
                self._link.post({"request": request}, self._tell(event.client, "Refused"))

        arm.on_click(ask)
        repair.on_click(ask)

        stop = gui.add_command("Stop the arm", description="Slow down and hold", hotkey=STOP_KEY, icon="hand-stop")
        stop.on_trigger(lambda event: self.stop())  # anybody may: no question of control

    def _feel(self, gui: Any) -> None:
        gui.add_html(f'<div style="margin:6px 10px 0">{PICTURE}</div>')
        feels = gui.add_button_group("Try", tuple(FEELS), hint="Sets the three sliders, then gives the tool a push.")
        knobs, self._effects = sliders(gui)
        for knob in knobs:
            self._watch(knob)
        names, help_ = tuple(PUSHES), f"The simulated hand pushes with {PUSH_N:g} N for {PUSH_S:g} s."
        push = gui.add_button_group(f"Push {PUSH_N:g} N", names[:3], hint=help_)
        back = gui.add_button_group("", names[3:], hint=help_)
        self._simulated_only += [push, back]

        def do_push(event: Any) -> None:
            if self._clients.may(event.client):
                self._push(event.target.value, event.client)

        push.on_click(do_push)
        back.on_click(do_push)

        @feels.on_click
        def _(event: Any) -> None:
            if not self._clients.may(event.client) or not self._flat:
                return
            tell = self._tell(event.client, "Refused")

            def then_push(answer: Answer) -> None:
                tell(answer)
                if answer.accepted and push.visible:
                    self._push("left", event.client)

            self._link.change(feel_changes(event.target.value, self._flat), then_push)

    def _push(self, where: str, client: Any) -> None:
        axis, sign = PUSHES[where]
        wrench = [0.0] * 6
        wrench[axis] = sign * PUSH_N
        self._link.post({"push": {"wrench": wrench, "seconds": PUSH_S}}, self._tell(client, "No push"))

    def _surroundings(self, gui: Any) -> None:
        first = next(iter(SITUATIONS))
        situation = gui.add_dropdown("Situation", tuple(SITUATIONS), initial_value=first)
        words = gui.add_markdown(SITUATIONS[first].sentence)
        stiffness = gui.add_number(
            "Hardness [N/m]", 10000.0, min=100.0, max=200000.0, step=100.0, hint="2000: foam, 10000: wood, 50000: metal"
        )
        load = gui.add_button("Load", icon="player-play", color="blue")
        home = gui.add_button("Bring the arm home", icon="home")
        note = gui.add_markdown("Objects appear before the tool, where it is now.")
        self._simulated_only += [situation, words, stiffness, load, home, note]

        @situation.on_update
        def _(event: Any) -> None:
            chosen = SITUATIONS[situation.value]
            words.content, stiffness.value = chosen.sentence, chosen.stiffness

        @load.on_click
        def _(event: Any) -> None:
            if not self._clients.may(event.client):
                return
            chosen = SITUATIONS[situation.value]
            self._link.post(
                {"environment": {"kind": chosen.kind, "stiffness": float(stiffness.value)}},
                self._tell(event.client, situation.value, also_good=True),
            )
            self._link.change(changes_of(chosen), self._tell(event.client, "Refused"))

        self.home_button = home

    def _everything(self, gui: Any) -> None:
        for title, names in GROUPS.items():
            with gui.add_folder(title, expand_by_default=title.startswith("Feel")):
                self._add_knobs(gui, [f"admittance.{name}" for name in names])
        with gui.add_folder("Frame, limits and safety", expand_by_default=False):
            self._add_knobs(gui, LIMITS)

    def _add_knobs(self, gui: Any, names: Any) -> None:
        for name in names:
            for knob in build(gui, name):
                self._watch(knob)

    def _files(self, gui: Any) -> None:
        presets = gui.add_dropdown("Preset", tuple(self._folder.presets()))
        load = gui.add_button("Load preset", icon="download")
        name = gui.add_text("Name", "my_feel", hint="1 to 40 letters, digits, - or _")
        save = gui.add_button("Save as preset", icon="device-floppy")
        gui.add_markdown(f"Files are kept in `{self._folder.root}`.")
        record = gui.add_button("Start recording", icon="player-record", color="red")

        @load.on_click
        def _(event: Any) -> None:
            if self._clients.may(event.client):
                self._safely(event.client, "Preset", lambda: self._load(presets.value, event.client))

        @save.on_click
        def _(event: Any) -> None:
            if self._clients.may(event.client) and self._parameters is not None:
                parameters = self._parameters

                def write() -> str:
                    path = self._folder.save_preset(name.value, parameters)
                    presets.options = tuple(self._folder.presets())
                    return f"saved to {path}"

                self._safely(event.client, "Preset", write)

        @record.on_click
        def _(event: Any) -> None:
            if self._clients.may(event.client):
                self._safely(event.client, "Recording", lambda: self._record(record))

    def _load(self, preset: str, client: Any) -> str:
        self._link.change(self._folder.preset_changes(preset), self._tell(client, "Preset", also_good=True))
        return ""

    def _record(self, button: Any) -> str:
        if self._folder.recording is None:
            path = self._folder.start_recording()
            button.label = "Stop recording"
            return f"recording to {path.name}"
        path, problem = self._folder.stop_recording()
        button.label = "Start recording"
        if problem:
            raise UrAdmittanceError(problem)
        return f"saved {path}"

    # inside

    def _watch(self, knob: Knob) -> None:
        self._knobs.append(knob)

        @knob.handle.on_update
        def _(event: Any) -> None:
            if event.client is None:
                return  # the page itself has set it
            if not self._flat or not self._clients.may(event.client):
                if self._flat:
                    knob.show(self._flat, force=True)
                return
            knob.edited = time.monotonic()
            tell = self._tell(event.client, "Not changed")

            def told(answer: Answer) -> None:
                if not answer.accepted:
                    knob.show(self._flat, force=True)
                tell(answer)

            self._link.change(knob.write(knob.handle.value, self._flat), told)

    def _tell(self, client: Any, title: str, also_good: bool = False) -> Callable[[Answer], None]:
        def told(answer: Answer) -> None:
            if not answer.accepted or also_good:
                self._clients.tell(client, title, answer.text, answer.accepted)

        return told

    def _safely(self, client: Any, title: str, action: Callable[[], str]) -> None:
        try:
            text = action()
        except UrAdmittanceError as error:
            self._clients.tell(client, title, str(error), False)
        else:
            if text:
                self._clients.tell(client, title, text, True)


def _lists(flat: Flat) -> Flat:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in flat.items()}
