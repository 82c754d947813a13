"""A recording on the page: the arm moves as it did, with its curves and what `why` reports beside it; two recordings
side by side, each from its first cycle on.

    tape        where it is, how fast it plays, what comes next
    track       one recording: its arm in the view, its numbers
"""

import threading
import time
import warnings
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError
from ur_admittance.model import robot_model
from ur_admittance.page.drawn_arm import Arm, Shapes
from ur_admittance.page.gate import Address, Gate, listen, token_for
from ur_admittance.page.input_panel import DRAWN_FOR, Views, size
from ur_admittance.page.marks import Marks
from ur_admittance.page.readouts import AXES, COLOURS, JOINTS, Curve, happening, speed_limits
from ur_admittance.page.viser_internals import document, guarded_server
from ur_admittance.params import Parameters
from ur_admittance.recording.events import CONTACT, FAULT, LIMIT, Event, events
from ur_admittance.recording.log import Log
from ur_admittance.recording.why import mode_words

Array = NDArray[np.float64]

FRAME_S, IDLE_S, WORDS_S = 1.0 / 30.0, 0.2, 0.15
SHOWN_HZ = 100.0  # of what is kept of each cycle to be drawn; the curves have every cycle
POINTS = 600  # of a curve
SPEEDS = {"0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}
WINDOWS = {"all": np.inf, "60": 60.0, "10": 10.0, "2": 2.0}  # [s]
EDGE = 0.1  # share of a window that the present moment keeps away from its ends
KINDS = {"every event": None, "faults": FAULT, "contacts": CONTACT, "limits": LIMIT}
AGAIN_S = 0.5  # "previous" during and right after an event is the one before it
HELD_S = 0.7  # the slider is not overwritten while somebody moves it
APART = 1.25  # [m] between two arms of the size that DRAWN_FOR describes; the lines of the ground are 0.25 m apart
DASH = (4, 3)
MARKS = {FAULT: "#c92a2a", CONTACT: "#1971c2", LIMIT: "#e8590c"}
CONTROL_WIDTH, PLOT_WIDTH = 400, 352  # [px]


class Tape:
    """Time in a recording: ``advance`` in each frame, the rest when somebody presses a button."""

    def __init__(self, length: float, found: Sequence[Event]) -> None:
        """length [s]"""
        self.length, self.events = length, sorted(found, key=lambda event: event.seconds)
        self.at, self.speed, self.playing = 0.0, 1.0, True

    def advance(self, dt: float) -> None:
        """dt: time of the viewer [s]. It stops at the end."""
        if self.playing:
            self.at = min(self.at + self.speed * dt, self.length)
            self.playing = self.at < self.length

    def press(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.playing and self.at >= self.length:
            self.at = 0.0
        self.playing = not self.playing

    def go(self, seconds: float) -> None:
        self.at = min(max(0.0, seconds), self.length)  # NaN: the start

    def jump(self, forward: bool, kind: str | None = None) -> bool:
        """To the next or previous event, of one kind or of any; False: there is none."""
        times = [event.seconds for event in self.events if kind in (None, event.kind)]
        passed = AGAIN_S * self.speed if self.playing else 0.0
        found = [t for t in times if (t > self.at + 1e-9 if forward else t < self.at - passed - 1e-9)]
        if found:
            self.go(min(found) if forward else max(found))
        return bool(found)


class Placed:
    """A scene in which every name begins with `root`: the same drawing twice, each in a frame of its own."""

    def __init__(self, scene: Any, root: str, position: tuple[float, float, float]) -> None:
        self._scene, self._root = scene, root
        scene.add_frame(root, show_axes=False, position=position)

    def __getattr__(self, method: str) -> Any:
        return lambda name, *given, **named: getattr(self._scene, method)(f"{self._root}{name}", *given, **named)


class Track:
    """One recording. Of its cycles only the shown ones are kept: a minute of 500 Hz in memory is 55 MB."""

    def __init__(self, log: Log) -> None:
        if len(log.ticks) == 0:
            raise LogError(f"{log.path} contains no cycles to show")
        self.name, self.lacks, self.seconds = log.path.name, log.lacks, log.seconds
        if not log.about.get("model"):
            raise LogError(f"{log.path} does not say which robot it is of: it cannot be drawn")
        self.model = robot_model(log.about["model"])
        self.parameters = Parameters.model_validate(log.about.get("parameters") or {})
        self.events = events(log)
        command = log.ticks["command"]
        try:
            fastest = speed_limits(self.model, self.parameters)
            groups = (command["wrench_tcp"], 100.0 * command["twist"][:, :3], 100.0 * command["offset"][:, :3])
            self.values = np.hstack([*groups, 100.0 * log.ticks["sample"]["qd"] / fastest]).astype(np.float32)
            step = max(1, round(len(self.seconds) / max(SHOWN_HZ * self.seconds[-1], 1.0)))
            shown = np.arange(0, len(self.seconds), step)
            shown = np.union1d(shown, np.searchsorted(self.seconds, [event.seconds for event in self.events]))
            self._shown_at = self.seconds[shown]
            self._q, self._commands = log.ticks["sample"]["q"][shown], command[shown]
        except (KeyError, ValueError) as error:  # NumPy names the field
            raise LogError(f"{log.path} was recorded by another version: {error}") from None

    def draw(self, scene: Any, named: bool) -> None:
        self._marks, self._shapes = Marks(scene), Shapes(scene)
        self._arm = Arm(scene, self.model, [], np.array(self.parameters.tool.tcp[:3]))
        self._marks.workspace(self.parameters)
        self._shapes.build(self.model, self.parameters)
        if named:
            scene.add_label("/file", self.name, position=(0.0, 0.0, -0.08), anchor="top-center")

    def show(self, t: float, now: float, jumped: bool) -> np.void:
        """Time of the recording and of the viewer [s]. Returns the COMMAND that is shown."""
        i = _last(self._shown_at, t)
        command: np.void = self._commands[i]
        if jumped:
            self._marks.another_arm()
        stiff = max(self.parameters.admittance.stiffness[:3]) > 0.0
        self._arm.move(self._q[i])
        self._marks.update(command, stiff, now)
        self._shapes.update(command)
        return command

    def values_at(self, t: float) -> Array:
        values: Array = self.values[_last(self.seconds, t)].astype(float)
        return values

    def curves(self, t: Array) -> Array:
        """(2 n, columns) for the n intervals between the times t: the smallest and the largest value of each, in the
        order in which they came, so that no peak is lost; NaN where the recording has nothing."""
        first = np.searchsorted(self.seconds, t)
        rows = np.full((2 * (len(t) - 1), self.values.shape[1]), np.nan)
        for i, (a, b) in enumerate(pairwise(first.tolist())):
            if a < b:
                part = self.values[a:b]
                low, high = part.min(axis=0), part.max(axis=0)
                falling = part.argmin(axis=0) > part.argmax(axis=0)
                rows[2 * i], rows[2 * i + 1] = np.where(falling, high, low), np.where(falling, low, high)
            elif 0 < a < len(self.values):  # between two cycles
                rows[2 * i : 2 * i + 2] = self.values[a - 1]
        return rows


def _last(times: Array, t: float) -> int:
    """Index of the last of them that is not after t."""
    return max(int(np.searchsorted(times, t, side="right")) - 1, 0)


class Charts:
    """Every curve of all recordings, over all of it or over a window in which the present moment is."""

    def __init__(self, gui: Any, tracks: Sequence[Track]) -> None:
        self._tracks = tracks
        self.length = max(track.seconds[-1] for track in tracks)
        window = gui.add_button_group("Window [s]", tuple(WINDOWS), hint="How much of it the curves show.")
        window.on_click(lambda event: self._choose(WINDOWS[event.target.value]))
        self._span, self._first = np.inf, -np.inf
        self._curves: list[tuple[Curve, slice]] = []
        column = 0
        titles = ("Force on the tool [N]", "Torque on the tool [Nm]", "Speed of the tool [cm/s]",
                  "Stretch of the spring [cm]", "Joint speeds [% of their limits]")  # fmt: skip
        for title, least in zip(titles, (8.0, 1.0, 8.0, 2.0, 20.0), strict=True):
            names = AXES if len(self._curves) < 4 else JOINTS
            part = slice(column, column + len(names))
            column += len(names)
            series = tuple(
                (f"{'┄ ' * i}{name}", colour, *DASH * i) for i in range(len(tracks)) for name, colour in names
            )
            curve = Curve(gui, title, series, (-least, least), (0.0, self.length), "time [s]; click to go there")
            self._curves.append((curve, part))

    def _choose(self, span: float) -> None:
        self._span, self._first = span, -np.inf

    def show(self, t: float) -> None:
        """Another part of it where t has come to the edge of what is shown."""
        span, first = min(self._span, self.length), self._first
        if not first + EDGE * span <= t <= first + (1.0 - EDGE) * span:
            first = min(max(t - 3.0 * EDGE * span, 0.0), self.length - span)
        if first == self._first:
            return
        self._first = first
        edges = np.linspace(self._first, self._first + span, POINTS + 1)
        times = np.repeat(edges[:-1], 2) + np.tile([0.0, 0.5 * span / POINTS], POINTS)
        tables = [track.curves(edges) for track in self._tracks]
        for curve, part in self._curves:
            curve.show(self._first, self._first + span)
            curve.draw(times, np.hstack([table[:, part] for table in tables]))

    def tell(self, t: float) -> None:
        """The values at t over each curve."""
        values = [track.values_at(t) for track in self._tracks]
        for curve, part in self._curves:
            curve.tell(np.concatenate([each[part] for each in values]))


class RecordingPage:
    """Built from one or two recordings; ``run`` serves them."""

    def __init__(self, logs: Sequence[Log], host: str, port: int | None, token: str | None, shadows: bool) -> None:
        warnings.simplefilter("ignore")
        self._tracks = [Track(log) for log in logs]
        own = listen(host, port)
        self.address = Address(host, own.getsockname()[1], token_for(host, token), port is not None)
        gate = Gate(self.address, document(recording=True), lambda: True, lambda: None, self._clicked)
        self.server = guarded_server(gate, own)
        found = [event for track in self._tracks for event in track.events]
        self.tape = Tape(max(float(track.seconds[-1]) for track in self._tracks), found)
        self._lock = threading.Lock()  # of the tape: buttons are other threads
        self._jumped, self._moved_at, self._words_at = False, -1e9, -1e9
        self._build(shadows)

    def _build(self, shadows: bool) -> None:
        gui, scene = self.server.gui, self.server.scene
        gui.configure_theme(dark_mode=False, show_logo=False, show_share_button=False, brand_color=(66, 99, 235))
        gui.set_panel_label("ur_admittance")
        scene.world_axes.visible = False
        scene.configure_default_lights(cast_shadow=shadows)
        apart = APART * max(size(track.model) for track in self._tracks) / DRAWN_FOR
        middle = 0.5 * (len(self._tracks) - 1)
        for i, track in enumerate(self._tracks):
            track.draw(Placed(scene, f"/{i}", (0.0, apart * (i - middle), 0.0)), middle > 0.0)
        for i in range(1, len(self._tracks)):
            scene.remove_by_name(f"/{i}/ground")  # one is enough
        self._state = gui.add_html("")
        self._controls(gui)
        self.views = Views(self.server)
        self.views.show(self._tracks[0].model, 1.0 + middle)
        self._story = gui.add_html("")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(CONTROL_WIDTH)
        plots = gui.add_panel()
        with plots.add_tab("Plots"):
            self._charts = Charts(gui, self._tracks)
        plots.dock_left()
        plots.set_width(PLOT_WIDTH)

    def _controls(self, gui: Any) -> None:
        tape = self.tape
        self._play = gui.add_button("Pause", icon="player-pause", color="blue", hint="Also the key P.")
        self._slider = gui.add_slider("Time [s]", 0.0, max(round(tape.length, 2), 0.01), 0.01, 0.0)
        speed = gui.add_button_group("Speed", tuple(SPEEDS), hint="Times the speed at which it happened.")
        places = {
            "start": lambda: self._go(0.0),
            "◀ event": lambda: self._jump(False),
            "event ▶": lambda: self._jump(True),
        }
        jump = gui.add_button_group("Go to", tuple(places), hint="Events: also the keys B and N.")
        self._kind = gui.add_dropdown("Events", tuple(KINDS), initial_value="every event")
        for words, key, action in (
            ("Play or pause", "P", self._press),
            ("Next event", "N", places["event ▶"]),
            ("Previous event", "B", places["◀ event"]),
        ):
            gui.add_command(words, hotkey=key).on_trigger(lambda event, action=action: action())
        self._play.on_click(lambda event: self._press())
        speed.on_click(lambda event: self._faster(SPEEDS[event.target.value]))
        jump.on_click(lambda event: places[event.target.value]())

        def moved(event: Any) -> None:
            if event.client is not None:
                self._moved_at = time.monotonic()
                self._go(float(self._slider.value))

        self._slider.on_update(moved)

    def _clicked(self, seconds: str) -> str:
        """In a chart or on an event (addition.html). Not by the slider, whose value is on its way from here as well."""
        try:
            self._go(float(seconds))
        except ValueError:
            return ""
        return "going there"

    def _press(self) -> None:
        with self._lock:
            self._jumped |= self.tape.at >= self.tape.length
            self.tape.press()

    def _faster(self, speed: float) -> None:
        with self._lock:
            self.tape.speed = speed

    def _go(self, seconds: float) -> None:
        with self._lock:
            self.tape.go(seconds)
            self._jumped = True

    def _jump(self, forward: bool) -> None:
        with self._lock:
            self._jumped |= self.tape.jump(forward, KINDS[self._kind.value])

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set."""
        before = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            watched = bool(self.server.get_clients())
            with self._lock:
                self.tape.advance(now - before if watched else 0.0)
                t, jumped, self._jumped = self.tape.at, self._jumped, False
            before = now
            with self.server.atomic():
                self._frame(t, now, jumped)
            self.server.flush()
            stop.wait(max(0.0, now + (FRAME_S if watched else IDLE_S) - time.monotonic()))
        self.server.stop()

    def _frame(self, t: float, now: float, jumped: bool) -> None:
        commands = [track.show(t, now, jumped) for track in self._tracks]
        self.views.p_tcp = np.array(commands[0]["p_tcp"])
        self._charts.show(t)
        if now - self._words_at < WORDS_S and not jumped:
            return
        self._words_at = now
        self._charts.tell(t)
        if now - self._moved_at > HELD_S and abs(self._slider.value - t) >= 0.01:
            self._slider.value = round(t, 2)
        playing = self.tape.playing
        label = "Pause" if playing else "Play"
        if self._play.label != label:
            self._play.label, self._play.icon = label, f"player-{label.lower()}"
        pairs = zip(self._tracks, commands, strict=True)
        self._state.content = _clock_html(self.tape) + "".join(state_html(*pair) for pair in pairs)
        self._story.content = "".join(story_html(track, t, len(self._tracks) > 1) for track in self._tracks)


def _clock_html(tape: Tape) -> str:
    at, of = f"{tape.at:.2f} s", f"of {tape.length:.2f} s"
    return (
        f'<div data-at="{tape.at:.3f}" style="margin:8px 10px 0;font-variant-numeric:tabular-nums">'
        f"<b>Recording</b>, speed {tape.speed:g}"
        f'<span style="float:right"><b>{at}</b> <span style="opacity:.65">{of}</span></span></div>'
    )


def state_html(track: Track, command: Any) -> str:
    """What this arm was doing then."""
    words, mode = mode_words(command), Mode(int(command["mode"]))
    return (
        f'<div class="arm-status" style="margin:6px 8px 4px;border-left:6px solid {COLOURS[mode]};'
        'background:rgba(128,128,128,.09);border-radius:6px;padding:7px 10px;line-height:1.4">'
        f'<div data-mode="{mode.name}" style="font-weight:600">'
        f"{escape(words[:1].upper() + words[1:])}</div>"
        f'<div style="font-size:0.86em;min-height:2.8em">{escape(happening(command))}</div>'
        f'<div style="font-size:0.76em;opacity:.65">{escape(track.model.name.upper())} {escape(track.name)}</div></div>'
    )


def story_html(track: Track, t: float, headed: bool) -> str:
    """Its events, the present one marked; a click goes there (addition.html)."""
    now = max((i for i, event in enumerate(track.events) if event.seconds <= t + 1e-9), default=-1)
    rows = "".join(_event_html(event, i == now) for i, event in enumerate(track.events))
    head = f"<b>{escape(track.name)}</b>" if headed else "<b>What happened</b>"
    lacks = f'<div style="color:#c92a2a">{escape(track.lacks)}</div>' if track.lacks else ""
    return (
        f'<div style="margin:8px 10px 4px;font-size:0.82em;line-height:1.35">{head}{lacks}'
        f'<div class="story">{rows}</div></div>'
    )


def _event_html(event: Event, now: bool) -> str:
    details = "".join(f'<div style="opacity:.7">{escape(line)}</div>' for line in event.details)
    return (
        f'<div data-jump="{event.seconds!r}"{" data-now" if now else ""}>'
        f'<span>{event.seconds:.2f} s</span><div style="color:{MARKS.get(event.kind, "inherit")}">'
        f"{escape(event.words)}{details}</div></div>"
    )
