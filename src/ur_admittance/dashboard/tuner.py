"""Inputs and the controller kept in step: an edit goes to the loop, an answer or a change elsewhere comes back."""

import time
from collections.abc import Callable
from typing import Any

from ur_admittance.dashboard.clients import Clients
from ur_admittance.dashboard.knobs import Flat, Knob
from ur_admittance.dashboard.loop_link import LoopLink
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer


class Tuner:
    def __init__(self, link: LoopLink, clients: Clients) -> None:
        self.link, self.clients = link, clients
        self.flat: Flat = {}  # what the controller uses now; empty before it was seen
        self.parameters: Parameters | None = None
        self._knobs: list[Knob] = []

    def show(self, parameters: Parameters) -> bool:
        """Bring every input to what the controller uses; True if that has changed."""
        if parameters is self.parameters:
            return False
        self.parameters = parameters
        self.flat = {name: list(v) if isinstance(v, tuple) else v for name, v in parameters.flat().items()}
        for knob in self._knobs:
            knob.show(self.flat)
        return True

    def watch(self, knob: Knob) -> None:
        """From now on an edit of this input changes the controller. A refused one shows the schema's sentence."""
        self._knobs.append(knob)

        def edited(event: Any) -> None:
            if event.client is None or not self.flat:
                return  # the page itself has set it, or there is no controller
            if not self.clients.may(event.client):
                knob.show(self.flat, force=True)
                return
            knob.edited = time.monotonic()
            tell = self.tell(event.client, "Not changed")

            def told(answer: Answer) -> None:
                if not answer.accepted:
                    knob.show(self.flat, force=True)
                tell(answer)

            changes = knob.write(knob.handle.value, self.flat)
            if changes:
                self.link.change(changes, told)

        knob.handle.on_update(edited)

    def on_click(self, button: Any, action: Callable[[Any, str], None]) -> None:
        """action(client, value of the button) if that client has control."""

        def clicked(event: Any) -> None:
            if self.clients.may(event.client):
                action(event.client, event.target.value)

        button.on_click(clicked)

    def tell(self, client: Any, title: str, also_good: bool = False) -> Callable[[Answer], None]:
        """Shows an answer to the client who asked: a refusal always, a success only if wanted."""

        def told(answer: Answer) -> None:
            if not answer.accepted or also_good:
                self.clients.tell(client, title, answer.text, answer.accepted)

        return told

    def safely(self, client: Any, title: str, action: Callable[[], str]) -> None:
        """Run the action, show what it says or why it failed."""
        try:
            text = action()
        except UrAdmittanceError as error:
            self.clients.tell(client, title, str(error), False)
        else:
            if text:
                self.clients.tell(client, title, text, True)
