"""A client that sends as fast as it can harms nobody but itself."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ur_admittance.robots.rtde.wire import message

STATES = 500
PATIENT = 3  # tries: the machine may be busy with something else


@contextmanager
def flood(host: str, port: int, data: bytes) -> Iterator[None]:
    """Send without pause and never read."""
    going = True

    def send() -> None:
        with socket.create_connection((host, port), timeout=0.2) as connection:
            while going:
                try:
                    connection.sendall(data * 200)
                except TimeoutError:  # the emulator hears no more from it for now
                    pass
                except OSError:  # hung up
                    return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        going = False
        thread.join()


def rate(client: Any) -> float:
    """States per second [Hz]."""
    client.state()
    begin = time.monotonic()
    for _ in range(STATES):
        client.state()
    return STATES / (time.monotonic() - begin)


@pytest.mark.parametrize(
    ("port", "data"),
    [
        (30004, message(ord("v"))),
        (30004, message(ord("U"), b"\x09")),
        (29999, b"emulator state\n"),
        (30001, b"stop program\n"),
    ],
)
def test_a_flood_on_one_port_leaves_another_client_its_rate(connect, emulator, port: int, data: bytes) -> None:
    client = connect()
    client.outputs(["timestamp"])
    client.start()
    with flood(emulator.host, port, data):
        assert emulator.dashboard("robotmode") == "Robotmode: RUNNING"
        shares = []
        while len(shares) < PATIENT and max(shares, default=0.0) < 0.95:
            shares.append(rate(client) / 500.0)
    assert max(shares) > 0.95
