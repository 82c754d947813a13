"""Presets and recordings: the one folder that the page reads and writes, and its tab."""

import re
import time
from pathlib import Path
from typing import Any

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page.knobs import Tuner
from ur_admittance.params import PRESETS, Parameters, load_parameters, preset
from ur_admittance.params.yaml import dump_parameters, save_parameters
from ur_admittance.recording.recorder import RecorderProcess

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")

# What a preset may change in a running controller. Tool, sensor, joints and rate belong to the robot, not to a feel.
TUNING = (
    "admittance.", "contact.", "tracking.", "control_frame", "task_rotation", "max_", "workspace.", "region_",
    "joint_limits.", "velocity_scale_factor", "safety.",
)  # fmt: skip
NONE = "none yet"
FILTER = ("admittance.filter_coefficient", "admittance.filter_cutoff_hz")


LARGEST_DOWNLOAD = 200_000_000  # [bytes] through the browser's memory


def default_tuning() -> dict[str, Any]:
    """The defaults of everything that a preset may change."""
    return _tuning(Parameters())


def _tuning(parameters: Parameters) -> dict[str, Any]:
    return {
        key: value
        for key, value in parameters.flat().items()
        if key.startswith(TUNING) and not (value is None and key in FILTER)
    }


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

    def save_preset(self, name: str, parameters: Parameters, story: str = "") -> Path:
        """story: how it came about, as comments at its head."""
        if name in PRESETS:
            raise UrAdmittanceError(f"{name} is a preset of the package; choose another name")
        path = self._place("presets", name, ".yaml")
        if path.exists():
            raise UrAdmittanceError(f"preset {name} exists already; choose another name, nothing was overwritten")
        save_parameters(parameters, path, story=story)
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
        return _tuning(parameters)

    # recordings

    def recordings(self) -> list[str]:
        """Names of the complete ones, newest first."""
        running = self.recording.stem if self.recording else ""
        found = (path.stem for path in (self.root / "recordings").glob("*.mcap"))
        return sorted((name for name in found if NAME.fullmatch(name) and name != running), reverse=True)

    def read_recording(self, name: str) -> tuple[str, bytes]:
        """File name and content."""
        path = self._place("recordings", name, ".mcap")
        try:
            if path.stat().st_size > LARGEST_DOWNLOAD:
                raise UrAdmittanceError(f"{path.name} is larger than {LARGEST_DOWNLOAD // 1_000_000} MB: copy {path}")
            return path.name, path.read_bytes()
        except OSError as error:
            raise UrAdmittanceError(f"{path}: cannot be read ({error.strerror})") from None

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
        self._recordings = gui.add_dropdown("Recording", tuple(folder.recordings()) or (NONE,))
        fetch = gui.add_button("Download recording", icon="file-download")
        fetch_values = gui.add_button(
            "Download parameters", icon="file-download", hint="The current values, for --params and ROS 2."
        )
        gui.add_markdown(f"Files are kept in `{folder.root}`.")
        tuner.on_click(load, lambda client, _: tuner.safely(client, "Preset", lambda: self._load(client)))
        tuner.on_click(save, lambda client, _: tuner.safely(client, "Preset", self._save))
        # Anybody who may look may have a copy.
        fetch.on_click(lambda event: tuner.safely(event.client, "Recording", lambda: self._download(event.client)))
        fetch_values.on_click(
            lambda event: tuner.safely(event.client, "Parameters", lambda: self._values(event.client))
        )
        tuner.on_click(self._record_button, lambda client, _: tuner.safely(client, "Recording", self._record))

    def refresh(self) -> None:
        """There is another preset."""
        self._presets.options = tuple(self._folder.presets())

    def _load(self, client: Any) -> str:
        changes = self._folder.preset_changes(self._presets.value)
        self._tuner.change_if_agreed(client, changes, self._tuner.tell(client, "Preset", also_good=True))
        return ""  # the controller's answer follows

    def _current(self) -> Parameters:
        if self._tuner.parameters is None:
            raise UrAdmittanceError("there is no running controller whose values could be saved")
        return self._tuner.parameters

    def _values(self, client: Any) -> str:
        client.send_file_download("parameters.yaml", dump_parameters(self._current()).encode(), save_immediately=True)
        return ""

    def _download(self, client: Any) -> str:
        if self._recordings.value == NONE:
            raise UrAdmittanceError("there is no recording yet: start one, then stop it")
        name, content = self._folder.read_recording(self._recordings.value)
        client.send_file_download(name, content, save_immediately=True)
        return ""

    def _save(self) -> str:
        path = self._folder.save_preset(self._name.value, self._current())
        self.refresh()
        return f"saved to {path}"

    def _record(self) -> str:
        if self._folder.recording is None:
            path = self._folder.start_recording()
            self._record_button.label = "Stop recording"
            return f"recording to {path.name}"
        path, problem = self._folder.stop_recording()
        self._record_button.label = "Start recording"
        self._recordings.options = tuple(self._folder.recordings()) or (NONE,)
        self._recordings.value = path.stem
        if problem:
            raise UrAdmittanceError(problem)
        return f"saved {path}"
