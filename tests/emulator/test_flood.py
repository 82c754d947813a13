"""A client that sends as fast as it can harms nobody but itself."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ur_admittance.emulator.process import EmulatorProcess
from ur_admittance.robots.rtde.wire import message

STATES = 500


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


def processor_time(emulator: EmulatorProcess) -> float:
    """[s] used so far; unlike the rate it does not depend on what else the machine does."""
    assert emulator.process is not None
    fields = Path(f"/proc/{emulator.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("port", "data"),
    [
        (30004, message(ord("v"))),
        (30004, message(ord("U"), b"\x09")),
        (29999, b"emulator state\n"),
        (30001, b"stop program\n"),
        (30003, b"textmsg(1)\n"),
    ],
)
def test_a_flood_on_one_port_leaves_time_for_every_cycle(connect, emulator, port: int, data: bytes) -> None:
    client = connect()
    client.outputs(["timestamp"])
    client.start()
    with flood(emulator.host, port, data):
        begin, first = processor_time(emulator), client.state()["timestamp"]
        for _ in range(STATES):
            last = client.state()["timestamp"]
        end = processor_time(emulator)
        assert emulator.dashboard("robotmode") == "Robotmode: RUNNING"
    assert last - first == pytest.approx(STATES * 0.002)  # no cycle was left out
    assert (end - begin) / STATES < 0.95 * 0.002
