"""The page: a viser server behind the gate, 30 frames a second from the loop's telemetry into the browser."""

import json
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.core.records import Status
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.page.drawn_arm import Arm, Shapes
from ur_admittance.page.drawn_guides import DrawnLock, DrawnShapes
from ur_admittance.page.file_tab import Folder
from ur_admittance.page.gate import Address, Clients, Gate, listen, token_for
from ur_admittance.page.hold_button import HoldButton
from ur_admittance.page.input_panel import Panel
from ur_admittance.page.knobs import Tuner
from ur_admittance.page.loop_link import LoopLink, Seen
from ur_admittance.page.margin_map import MarginMap
from ur_admittance.page.marks import Handle, Marks, Touched
from ur_admittance.page.near_limits import NearLimits
from ur_admittance.page.readouts import Plots, absent_html, speed_limits, status_html
from ur_admittance.page.viser_internals import document, guarded_server
from ur_admittance.params.locks import pivot
from ur_admittance.runtime.mailbox import Code

FRAME_S = 1.0 / 30.0
IDLE_S = 0.2  # nobody looks
STATUS_S = 0.2
SCENE_S = 1.0  # how often a simulation is asked what there is to touch
CONTROL_WIDTH, PLOT_WIDTH = 400, 352  # [px]


class LivePage:
    """Built once per process; ``run`` shows whatever controller of that name runs, also after it was restarted."""

    def __init__(
        self, name: str, host: str, port: int | None, token: str | None, folder: Path, shadows: bool = True
    ) -> None:
        warnings.simplefilter("ignore")
        own = listen(host, port)
        self.address = Address(host, own.getsockname()[1], token_for(host, token), port is not None)
        self.link = link = LoopLink(name)
        stop = {"request": "stop"}
        gate = Gate(
            self.address, document(), lambda: link.alive, lambda: link.post(stop), lambda header: self._hold(header)
        )
        self.server = guarded_server(gate, own)
        self.name, self._shadows = name, shadows
        self.folder = Folder(folder, name)
        self.clients = Clients(self.server)
        self._hold_button = HoldButton(name, self.clients)
        self._build()
        self._arm: Arm | None = None
        self._model: RobotModel | None = None
        self._shown: tuple[Any, ...] = ()
        self._tool: list[list[float]] = []  # how a simulation says that its tool looks
        self._simulated = self._restless = False
        self._scene_revision = -1
        self._status_at = self._scene_at = -1e9
        self._scene_thread: threading.Thread | None = None

    def _build(self) -> None:
        server = self.server
        gui, scene = server.gui, server.scene
        gui.configure_theme(dark_mode=False, show_logo=False, show_share_button=False, brand_color=(66, 99, 235))
        gui.set_panel_label("ur_admittance")
        scene.world_axes.visible = False
        scene.configure_default_lights(cast_shadow=self._shadows)
        self._marks = Marks(scene)
        self._lock, self._limits = DrawnLock(scene), NearLimits(scene)
        self._wells = DrawnShapes(scene, self.link, self.clients)
        self._shapes = Shapes(scene)
        self._touched = Touched(scene)
        self._handle = Handle(scene, self.link, self.clients)
        self._panel = Panel(server, Tuner(self.link, self.clients), self.folder)
        self._panel.simulated(False)  # until a simulation answers
        gui.main_panel.dock_right()
        gui.main_panel.set_width(CONTROL_WIDTH)
        plots = gui.add_panel()
        with plots.add_tab("Plots"):
            self._plots = Plots(gui)
        with plots.add_tab("Margin"):
            self._margin = MarginMap(gui)
        plots.dock_left()
        plots.set_width(PLOT_WIDTH)

    def _hold(self, header: str) -> str:
        return self._hold_button.answer(header)

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set."""
        due = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            seen = self.link.look()
            with self.server.atomic():
                if seen is None:
                    self._absent(now)
                else:
                    self._frame(seen, now)
            self.server.flush()
            due = max(due + (FRAME_S if self.clients.count else IDLE_S), now)
            stop.wait(max(0.0, due - time.monotonic()))
        self.folder.close()
        self.link.close()
        self.server.stop()

    def _frame(self, seen: Seen, now: float) -> None:
        model = self._model_of(seen)
        record, command = seen.record, seen.record["command"]
        assert self._arm is not None
        self._arm.move(record["sample"]["q"])
        stiff = max(seen.parameters.admittance.stiffness[:3]) > 0.0
        self._marks.update(command, stiff, now)
        self._marks.workspace(seen.parameters)
        self._lock.update(command, seen.parameters)
        self._wells.update(seen.parameters)
        self._limits.update(command, seen.parameters)
        self._margin.update(command, seen.parameters, now)
        self._shapes.build(model, seen.parameters)
        self._shapes.capsules_shown = self._panel.show_capsules
        self._shapes.update(command)
        R_tcp = np.array(command["R_tcp"])
        p_tcp = np.array(command["p_tcp"]) - R_tcp @ pivot(seen.parameters)
        self._handle.update(p_tcp, R_tcp, now, self._simulated)
        self._touched.update(p_tcp, R_tcp, np.array(command["wrench_tcp"][:3]))
        self._panel.show(seen.parameters)
        self._panel.views.p_tcp = self._panel.guide.p_tcp = p_tcp
        self._panel.start.see(record["sample"]["q"])
        timing = (seen.worst_period, seen.worst_latency)
        self._plots.add(now, record, timing, speed_limits(model, seen.parameters))
        if now - self._status_at > STATUS_S:
            self._status_at = now
            self._hold_button.show(seen)
            recording = self.folder.recording.name if self.folder.recording else ""
            panel = self._panel
            at_edge = self._margin.warning
            panel.status.content = status_html(seen, recording, self._restless, panel.motion, panel.unlocked, at_edge)
            locked = command["hindrance"] == Status.PROTECTIVE_STOP
            self._panel.offer_unlock(bool(locked) and not self._simulated)
        if now - self._scene_at > SCENE_S and (self._scene_thread is None or not self._scene_thread.is_alive()):
            self._scene_at = now
            self._scene_thread = threading.Thread(target=self._ask_scene, daemon=True)
            self._scene_thread.start()

    def _absent(self, now: float) -> None:
        if now - self._status_at > STATUS_S:
            self._status_at = now
            self._panel.status.content = absent_html(self.name)
            self._scene_revision = -1

    def _model_of(self, seen: Seen) -> RobotModel:
        """The arm is drawn again when a controller with another arm or tool has taken the name."""
        tcp, tool = seen.parameters.tool.tcp, self._tool
        if self._model is None or self._shown != (seen.model, tcp, tool):
            self._shown = (seen.model, tcp, tool)
            if self._model is None or self._model.name != seen.model:
                self._model = robot_model(seen.model)
                self._panel.views.show(self._model)
                self._panel.start.another_arm()
                self._marks.another_arm()
            self._panel.surroundings.show(self._model, tcp[:3])
            if self._arm is not None:
                self._shapes.clear()
                self.server.scene.remove_by_name("/arm")
            self._arm = Arm(self.server.scene, self._model, tool, np.array(tcp[:3]))
        return self._model

    def _ask_scene(self) -> None:
        """Only a simulation knows this kind of message; on any other arm there is no hand to simulate."""
        answer = self.link.ask({"scene": {}})
        if not answer.accepted:
            if answer.code == Code.UNKNOWN_KIND:
                self._simulated = self._restless = False
                self._touched.shapes, self._tool = [], []
                self._panel.simulated(False)
            return
        scene = json.loads(answer.text)
        self._simulated, self._restless = True, scene["restless"]
        self._tool = scene["tool"]
        self._panel.simulated(True, scene["choice"])
        if scene["revision"] != self._scene_revision:
            self._scene_revision = scene["revision"]
            self._marks.environment(scene["shapes"])
            self._touched.shapes, self._touched.tip = scene["shapes"], scene["tip"]
