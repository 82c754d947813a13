"""Inputs that stand for parameters, kept in step with the controller: an edit goes to the loop, a change made elsewhere
comes back. The schema gives unit, bounds and help."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page.gate import Clients
from ur_admittance.page.loop_link import LoopLink, OnAnswer
from ur_admittance.params import Parameters
from ur_admittance.params.own_motion import moves_more, own_motion_of
from ur_admittance.params.table import Row, rows
from ur_admittance.runtime.mailbox import Answer

ONE_EDIT_S = 2.0  # changes of the same parameters within this time are one: a slider that is dragged
MOST_UNDONE = 50
HELD_S = 0.7  # after an edit the input is not overwritten for this long: its echo may still be under way
SMALLEST_STEP = 1e-4  # what can be typed
Flat = dict[str, Any]


class Knob:
    """read: parameters -> value of the input; write: value of the input, parameters -> changes."""

    def __init__(self, handle: Any, read: Callable[[Flat], Any], write: Callable[[Any, Flat], Flat]) -> None:
        self.handle, self.read, self.write = handle, read, write
        self.edited = 0.0
        self.late = False  # it does not show yet what the controller uses

    def show(self, flat: Flat, force: bool = False) -> None:
        """Show the controller's value; while somebody is editing, later."""
        self.late = not force and time.monotonic() - self.edited < HELD_S
        if self.late:
            return
        value = self.read(flat)
        if value is not None and self.handle.value != value:
            self.handle.value = value


class Tuner:
    def __init__(self, link: LoopLink, clients: Clients) -> None:
        self.link, self.clients = link, clients
        self.flat: Flat = {}  # what the controller uses now; empty until it is seen
        self.parameters: Parameters | None = None
        self.motion = ""  # what they make the arm do without a push
        self._knobs: list[Knob] = []
        self._before: deque[Flat] = deque(maxlen=MOST_UNDONE)  # what each change has replaced
        self._changed_at = -1e9

    def change(self, changes: Flat, on_answer: OnAnswer, undoable: bool = True) -> None:
        """Change parameters of the controller; `undo` gives the old values back."""
        before = {name: self.flat[name] for name in changes if name in self.flat}
        now = time.monotonic()

        def answered(answer: Answer) -> None:
            same = self._before and self._before[-1].keys() == before.keys() and now - self._changed_at < ONE_EDIT_S
            if answer.accepted and undoable and not same:
                self._before.append(before)
            self._changed_at = now
            on_answer(answer)

        self.link.change(changes, answered)

    def change_if_agreed(self, client: Any, changes: Flat, on_answer: OnAnswer) -> None:
        """As `change`; values that make the arm move by itself are sent only if somebody agrees to that motion."""
        self._if_agreed(client, changes, lambda: self.change(changes, on_answer))

    def undo(self, client: Any, on_answer: OnAnswer) -> None:
        """Take the last change back. What is refused or not agreed to can still be taken back later."""
        if not self._before:
            raise UrAdmittanceError("there is nothing to undo")
        values = self._before[-1]

        def answered(answer: Answer) -> None:
            if not answer.accepted:
                self._before.append(values)
            on_answer(answer)

        def send() -> None:
            if self._before and self._before[-1] is values:
                self._before.pop()
                self.change(values, answered, undoable=False)

        self._if_agreed(client, values, send)

    def _own_motion(self, changes: Flat) -> tuple[str, bool]:
        """What the arm would do without a push, and whether that is more than now, or another motion. Values that the
        controller would refuse move nothing."""
        if self.parameters is None:
            return "", False
        try:
            after = self.parameters.changed(changes)
        except UrAdmittanceError:
            return "", False
        return own_motion_of(after), moves_more(self.parameters, after)

    def _present(self, changes: Flat) -> Flat:
        """What they would replace; an automatic zero changes the bias by itself, and moves nothing."""
        return {name: self.flat.get(name) for name in changes if name != "sensor.bias"}

    def _if_agreed(self, client: Any, changes: Flat, send: Callable[[], None]) -> None:
        (motion, more), replaced = self._own_motion(changes), self._present(changes)

        def agreed() -> None:
            if self._present(changes) == replaced and self._own_motion(changes)[0] == motion:
                send()
            else:
                self.clients.tell(client, "Not changed", "other values changed while the question stood.", False)

        if more:
            text = f"With these values, {motion}."
            self.question(client, "The arm will move by itself", text, "Let it move", agreed)
        else:
            send()

    def show(self, parameters: Parameters) -> bool:
        """Show in every input what the controller uses; True if that has changed."""
        if parameters is self.parameters:
            for knob in self._knobs:
                if knob.late:
                    knob.show(self.flat)
            return False
        self.parameters, self.motion = parameters, own_motion_of(parameters)
        self.flat = {name: list(v) if isinstance(v, tuple) else v for name, v in parameters.flat().items()}
        for knob in self._knobs:
            knob.show(self.flat)
        return True

    def watch(self, knob: Knob) -> None:
        """From now on an edit of this input changes the controller; a refusal shows the schema's sentence."""
        self._knobs.append(knob)

        def edited(event: Any) -> None:
            if event.client is None or not self.flat:
                return  # set by the page itself, or there is no controller
            if not self.clients.may(event.client):
                knob.show(self.flat, force=True)
                return
            knob.edited = time.monotonic()
            tell = self.tell(event.client, "Not changed")

            def on_answer(answer: Answer) -> None:
                if not answer.accepted:
                    knob.show(self.flat, force=True)
                tell(answer)

            changes = knob.write(knob.handle.value, self.flat)
            if not changes:
                return
            if self._own_motion(changes)[1]:
                knob.show(self.flat, force=True)  # as before, until it is agreed to
            self.change_if_agreed(event.client, changes, on_answer)

        knob.handle.on_update(edited)

    def on_click(self, button: Any, action: Callable[[Any, str], None]) -> None:
        """action(client, value of the button) if that client has control."""

        def clicked(event: Any) -> None:
            if self.clients.may(event.client):
                action(event.client, event.target.value)

        button.on_click(clicked)

    def tell(self, client: Any, title: str, also_good: bool = False) -> Callable[[Answer], None]:
        """Shows an answer to the client that asked: always a refusal, a success only if wanted."""

        def on_answer(answer: Answer) -> None:
            if not answer.accepted or also_good:
                self.clients.tell(client, title, answer.text, answer.accepted)

        return on_answer

    def question(self, client: Any, title: str, text: str, yes: str, action: Callable[[], None]) -> None:
        """Ask this client in a window of its own; the action runs only if `yes` is pressed."""
        modal = client.gui.add_modal(title)
        with modal:
            client.gui.add_markdown(text)
            agree, cancel = client.gui.add_button(yes, color="yellow"), client.gui.add_button("Cancel")

        def agreed(event: Any) -> None:
            modal.close()
            if self.clients.may(client):
                action()

        agree.on_click(agreed)
        cancel.on_click(lambda event: modal.close())

    def safely(self, client: Any, title: str, action: Callable[[], str]) -> None:
        """Run the action, show what it says or why it failed."""
        try:
            text = action()
        except UrAdmittanceError as error:
            self.clients.tell(client, title, str(error), False)
        else:
            if text:
                self.clients.tell(client, title, text, True)


def hint(row: Row) -> str:
    unit = "" if row.unit == "-" else f" [{row.unit}]"
    return f"{row.name}{unit}: {row.help}. Allowed: {row.allowed}."


def build(gui: Any, name: str, label: str | None = None) -> list[Knob]:
    """The inputs of a parameter: a number, a triple, a switch, a choice; a six-vector: two triples or six switches."""
    row = rows()[name]
    title = label or name.rsplit(".", 1)[-1].replace("_", " ")
    if row.length == 6 and row.kind == "number":
        return [_triple(gui, row, title, first) for first in (0, 3)]
    if row.length == 3:
        return [_triple(gui, row, title, 0)]
    if row.length == 6 and row.kind == "boolean":
        return [_switch_of_axis(gui, row, title, i) for i in range(6)]
    if row.kind == "boolean":
        handle = gui.add_checkbox(title, bool(row.default), hint=hint(row))
        return [Knob(handle, lambda flat: flat[name], lambda value, flat: {name: bool(value)})]
    if row.kind == "string":
        handle = gui.add_dropdown(title, row.choices, initial_value=row.default, hint=hint(row))
        return [Knob(handle, lambda flat: flat[name], lambda value, flat: {name: value})]
    return [_number(gui, row, title)]


def workspace_knobs(gui: Any) -> list[Knob]:
    """The box that the TCP may not leave: a switch and its two corners."""
    names, first = ("workspace.min", "workspace.max"), ((-0.2, -0.5, 0.0), (0.8, 0.5, 0.7))
    corners = [
        gui.add_vector3(f"{label} [m]", value, step=0.01, hint=hint(rows()[name]))
        for name, label, value in zip(names, ("lower corner", "upper corner"), first, strict=True)
    ]
    switch = gui.add_checkbox("use the box", False, hint="The tool brakes before the walls of the box.")

    def corner(i: int) -> Knob:
        def write(value: Any, flat: Flat) -> Flat:
            return {names[i]: [float(v) for v in value]} if flat[names[i]] is not None else {}

        def read(flat: Flat) -> Any:
            values = flat[names[i]]
            return None if values is None or None in values else tuple(float(v) for v in values)

        return Knob(corners[i], read, write)

    def write(value: Any, flat: Flat) -> Flat:
        return {name: list(handle.value) if value else None for name, handle in zip(names, corners, strict=True)}

    return [corner(0), corner(1), Knob(switch, lambda flat: flat[names[0]] is not None, write)]


def table_knobs(gui: Any) -> list[Knob]:
    """The table that the arm keeps clear of: a switch and its height."""
    name = "collision.table_height"
    height = gui.add_number("table height [m]", 0.0, step=0.005, hint=hint(rows()[name]))
    switch = gui.add_checkbox("there is a table", False, hint="The arm brakes before it.")
    return [
        Knob(height, lambda flat: flat[name], lambda value, flat: {} if flat[name] is None else {name: float(value)}),
        Knob(switch, lambda flat: flat[name] is not None, lambda value, flat: {name: height.value if value else None}),
    ]


def _number(gui: Any, row: Row, title: str) -> Knob:
    default = 0.0 if row.default is None else float(row.default)
    handle = gui.add_number(_with_unit(title, row.unit), default, step=SMALLEST_STEP, hint=hint(row))
    handle.step = _step(default)
    return Knob(handle, lambda flat: flat[row.name], lambda value, flat: {row.name: float(value)})


def _triple(gui: Any, row: Row, title: str, first: int) -> Knob:
    """Half of a six-vector: x y z of translation or rotation. No bounds in the input: the schema answers."""
    part = slice(first, first + 3)
    values: Any = row.default if row.default is not None else (None,) * 6
    default = tuple(0.0 if v is None else float(v) for v in values[part])
    unit = row.unit_of(first)
    title = title if first == 0 else f"{title}, rotation"
    handle = gui.add_vector3(_with_unit(title, unit), default, step=SMALLEST_STEP, hint=hint(row))
    handle.step = _step(max(default))

    def read(flat: Flat) -> Any:
        values = flat[row.name]
        return None if values is None else tuple(0.0 if v is None else float(v) for v in values[part])

    def write(value: Any, flat: Flat) -> Flat:
        values = list(flat[row.name] or [0.0] * 6)
        values[part] = [float(v) for v in value]
        return {row.name: values}

    return Knob(handle, read, write)


def _switch_of_axis(gui: Any, row: Row, title: str, axis: int) -> Knob:
    names = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
    handle = gui.add_checkbox(f"{title}: {names[axis]}", bool(row.default[axis]), hint=hint(row))

    def write(value: Any, flat: Flat) -> Flat:
        values = list(flat[row.name])
        values[axis] = bool(value)
        return {row.name: values}

    return Knob(handle, lambda flat: bool(flat[row.name][axis]), write)


def _with_unit(title: str, unit: str) -> str:
    return title if unit in ("", "-") else f"{title} [{unit}]"


def _step(usual: float) -> float:
    """What an arrow of the input adds: 1 to 10 % of a usual value."""
    return 10.0 ** (math.floor(math.log10(usual)) - 1) if usual >= 10.0 * SMALLEST_STEP else 0.1
