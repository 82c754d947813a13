"""The tab with presets and recordings."""

from typing import Any

from ur_admittance.dashboard.files import Folder
from ur_admittance.dashboard.tuner import Tuner
from ur_admittance.errors import UrAdmittanceError


class FilesTab:
    def __init__(self, gui: Any, tuner: Tuner, folder: Folder) -> None:
        self._tuner, self._folder = tuner, folder
        self._presets = gui.add_dropdown("Preset", tuple(folder.presets()))
        load = gui.add_button("Load preset", icon="download")
        self._name = gui.add_text("Name", "my_feel", hint="1 to 40 letters, digits, - or _")
        save = gui.add_button("Save as preset", icon="device-floppy", hint="The present values, as a parameter file.")
        self._record_button = gui.add_button(
            "Start recording", icon="player-record", color="red", hint="Every cycle, for Foxglove, PlotJuggler, replay."
        )
        gui.add_markdown(f"Files are kept in `{folder.root}`.")
        tuner.on_click(load, lambda client, _: tuner.safely(client, "Preset", lambda: self._load(client)))
        tuner.on_click(save, lambda client, _: tuner.safely(client, "Preset", self._save))
        tuner.on_click(self._record_button, lambda client, _: tuner.safely(client, "Recording", self._record))

    def _load(self, client: Any) -> str:
        changes = self._folder.preset_changes(self._presets.value)
        self._tuner.link.change(changes, self._tuner.tell(client, "Preset", also_good=True))
        return ""  # the controller's answer follows

    def _save(self) -> str:
        if self._tuner.parameters is None:
            raise UrAdmittanceError("there is no controller whose values could be saved")
        path = self._folder.save_preset(self._name.value, self._tuner.parameters)
        self._presets.options = tuple(self._folder.presets())
        return f"saved to {path}"

    def _record(self) -> str:
        if self._folder.recording is None:
            path = self._folder.start_recording()
            self._record_button.label = "Stop recording"
            return f"recording to {path.name}"
        path, problem = self._folder.stop_recording()
        self._record_button.label = "Start recording"
        if problem:
            raise UrAdmittanceError(problem)
        return f"saved {path}"
