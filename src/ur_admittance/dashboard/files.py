"""Presets and recordings: the one folder that the page reads and writes, and its tab."""

import re
import time
from pathlib import Path
from typing import Any

from ur_admittance.dashboard.knobs import Tuner
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import PRESETS, Parameters, load_parameters, preset
from ur_admittance.params.yaml import save_parameters
from ur_admittance.recording.recorder import RecorderProcess

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")

# What a preset may change in a running controller. Tool, sensor, joints and rate belong to the robot, not to a feel.
TUNING = (
    "admittance.", "contact.", "tracking.", "control_frame", "task_rotation", "max_", "workspace.", "region_",
    "joint_limits.", "velocity_scale_factor", "safety.",
)  # fmt: skip
FILTER = ("admittance.filter_coefficient", "admittance.filter_cutoff_hz")


class Folder:
    """presets/*.yaml and recordings/*.mcap under one root; nothing outside it is read or written."""

    def __init__(self, root: Path, controller: str) -> None:
        self.root = root.resolve()
        self._controller = controller
        self._recorder: RecorderProcess | None = None

    # presets

    def presets(self) -> list[str]:
        """Those of the package, then the user's own."""
        own = sorted(path.stem for path in (self.root / "presets").glob("*.yaml") if NAME.fullmatch(path.stem))
        return [*PRESETS, *(name for name in own if name not in PRESETS)]

    def save_preset(self, name: str, parameters: Parameters) -> Path:
        if name in PRESETS:
            raise UrAdmittanceError(f"{name} is a preset of the package; choose another name")
        path = self._place("presets", name, ".yaml")
        if path.exists():
            raise UrAdmittanceError(f"preset {name} exists already; choose another name, nothing was overwritten")
        save_parameters(parameters, path)
        return path

    def preset_changes(self, name: str) -> dict[str, Any]:
        """Dotted names and values of the tuning in a preset."""
        if name in PRESETS:
            parameters = preset(name)
        else:
            path = self._place("presets", name, ".yaml")
            if not path.is_file():
                raise UrAdmittanceError(f"preset {name}: there is no {path}")
            parameters = load_parameters(path)
        return {
            key: value
            for key, value in parameters.flat().items()
            if key.startswith(TUNING) and not (value is None and key in FILTER)
        }

    # recordings

    @property
    def recording(self) -> Path | None:
        return self._recorder.path if self._recorder is not None else None

    def start_recording(self) -> Path:
        if self._recorder is not None:
            raise UrAdmittanceError(f"a recording is already running: {self._recorder.path.name}")
        path = self._place("recordings", time.strftime("%Y%m%d-%H%M%S"), ".mcap")
        self._recorder = RecorderProcess(self._controller, path)
        return path

    def stop_recording(self) -> tuple[Path, str]:
        """The file, and the problem if there was one."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            raise UrAdmittanceError("no recording is running")
        return recorder.path, recorder.stop()

    def close(self) -> None:
        if self._recorder is not None:
            self.stop_recording()

    def _place(self, kind: str, name: str, ending: str) -> Path:
        """A path inside the folder, whatever the name and whatever links lie there."""
        if not NAME.fullmatch(name):
            raise UrAdmittanceError(f"name {name[:60]!r}: must be 1 to 40 letters, digits, '-' or '_'")
        folder = self.root / kind
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UrAdmittanceError(f"{folder}: cannot be created ({error.strerror})") from None
        path = folder / f"{name}{ending}"
        if path.resolve().parent != folder or folder.resolve() != folder:
            raise UrAdmittanceError(f"{path}: points outside the page's folder {self.root}")
        return path


class FilesTab:
    def __init__(self, gui: Any, tuner: Tuner, folder: Folder) -> None:
        self._tuner, self._folder = tuner, folder
        self._presets = gui.add_dropdown("Preset", tuple(folder.presets()))
        load = gui.add_button("Load preset", icon="download")
        self._name = gui.add_text("Name", "my_feel", hint="1 to 40 letters, digits, - or _")
        save = gui.add_button("Save as preset", icon="device-floppy", hint="The current values, as a parameter file.")
        self._record_button = gui.add_button(
            "Start recording",
            icon="player-record",
            color="red",
            hint="Every cycle, for Foxglove, PlotJuggler and replay.",
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
            raise UrAdmittanceError("there is no running controller whose values could be saved")
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
