"""A minimal RTDE client that follows the published protocol to the letter, as the manufacturer's Python library does:
names without a trailing comma, types checked one by one, recipe numbers taken from the answers."""

import socket
import struct
from typing import Any

import numpy as np

from ur_admittance.robots.rtde.wire import HEADER, Recipe, message


class Client:
    def __init__(self, host: str, port: int = 30004, timeout: float = 5.0) -> None:
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.inputs: dict[int, Recipe] = {}
        assert self.ask("V", struct.pack(">H", 2)) == b"\x01"

    def send(self, kind: str, payload: bytes = b"") -> None:
        self.socket.sendall(message(ord(kind), payload))

    def receive(self) -> tuple[str, bytes]:
        while len(self.buffer) < 3 or len(self.buffer) < HEADER.unpack_from(self.buffer)[0]:
            data = self.socket.recv(65536)
            assert data, "closed by the robot"
            self.buffer += data
        size, kind = HEADER.unpack_from(self.buffer)
        payload, self.buffer = self.buffer[3:size], self.buffer[size:]
        return chr(kind), payload

    def ask(self, kind: str, payload: bytes = b"") -> bytes:
        """Send and take the answer of the same kind; data packages in between are skipped."""
        self.send(kind, payload)
        while True:
            answer, content = self.receive()
            if answer == kind:
                return content
            assert answer == "U"

    def version(self) -> tuple[int, ...]:
        return struct.unpack(">4I", self.ask("v"))

    def outputs(self, names: list[str], frequency: float = 500.0) -> list[str]:
        answer = self.ask("O", struct.pack(">d", frequency) + ",".join(names).encode())
        types = answer[1:].decode().split(",")
        assert len(types) == len(names)
        if answer[0]:
            self.output = Recipe(answer[0], names, types)
        return types

    def input(self, names: list[str]) -> tuple[int, list[str]]:
        answer = self.ask("I", ",".join(names).encode())
        types = answer[1:].decode().split(",")
        if answer[0]:
            self.inputs[answer[0]] = Recipe(answer[0], names, types)
        return answer[0], types

    def write(self, number: int, values: dict[str, Any]) -> None:
        recipe = self.inputs[number]
        self.socket.sendall(recipe.pack(*(x for name in recipe.names for x in np.ravel(values[name]).tolist())))

    def state(self) -> dict[str, Any]:
        while True:
            kind, payload = self.receive()
            if kind == "U":
                return self.output.read(payload[1:])

    def start(self) -> bool:
        return self.ask("S") == b"\x01"

    def pause(self) -> bool:
        return self.ask("P") == b"\x01"

    def close(self) -> None:
        self.socket.close()
