"""Questions to services of other nodes, without an executor: a callback may ask, and a loop may look for the answer."""

import time
from typing import Any

from rclpy.node import Node

from ur_admittance.robots.ros.polled import NotForTheExecutor

LOOK_S = 0.002


class Question:
    """One service. `ask` waits for the answer; `send` and `answer` do not."""

    def __init__(self, node: Node, kind: Any, name: str) -> None:
        self._node, self._kind = node, kind
        self._client = node.create_client(kind, name, callback_group=NotForTheExecutor())
        self.name: str = self._client.srv_name
        self._number: int | None = None  # of the request that is not yet answered

    def available(self) -> bool:
        return bool(self._client.service_is_ready())

    def send(self, request: Any = None) -> None:
        """An earlier question is forgotten."""
        handle = self._client.handle
        with handle:
            self._number = handle.send_request(request or self._kind.Request())

    @property
    def waiting(self) -> bool:
        return self._number is not None

    def forget(self) -> None:
        """An answer that is still to come counts no more."""
        self._number = None

    def answer(self) -> Any:
        """The answer to the last request, or None as long as there is none."""
        handle = self._client.handle
        while self._number is not None:
            with handle:
                header, response = handle.take_response(self._kind.Response) or (None, None)
            if header is None:
                return None
            if header.request_id.sequence_number == self._number:
                self._number = None
                return response
        return None

    def ask(self, timeout: float, request: Any = None) -> Any:
        """The answer, or None when there is no such service or no answer in time [s]."""
        end = time.monotonic() + timeout
        if not self.available():
            return None
        self.send(request)
        while True:
            found = self.answer()
            if found is not None or time.monotonic() > end:
                return found
            time.sleep(LOOK_S)

    def destroy(self) -> None:
        self._node.destroy_client(self._client)
