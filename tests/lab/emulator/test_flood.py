"""A client that sends as fast as it can harms nobody but itself."""

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from ur_admittance.robots.rtde.wire import message
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess
from ur_admittance_lab.emulator.ports import Connection
from ur_admittance_lab.emulator.server import BURST, CHUNK, Server

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


READER = """
def reader():
  socket_open("127.0.0.1", {port}, "flood")
  socket_open("127.0.0.1", {port}, "silence")
  thread wait():
    socket_read_binary_integer(1, "silence", 0)
  end
  run wait()
  count = 0
  while True:
    received = socket_read_binary_integer(30, "flood", 0)
    count = count + received[0]
    write_output_integer_register(5, count)
    write_output_integer_register(6, received[30])
  end
end
"""


def test_a_flood_on_a_socket_that_a_program_opened_leaves_time_for_every_cycle(connect, emulator) -> None:
    """Before the others: what they have sent is still read for a while, and a program in it would replace this one."""
    client = connect()
    client.outputs(["timestamp", "output_int_register_5", "output_int_register_6"])
    client.start()
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection((emulator.host, 30001)) as script:
        listener.settimeout(5.0)
        script.sendall(READER.format(port=listener.getsockname()[1]).encode())
        connection, _ = listener.accept()
        silent, _ = listener.accept()
        with connection, silent:
            connection.settimeout(0.2)
            sender = threading.Thread(target=_fill, args=(connection, struct.pack(">30i", *range(30)) * 1000))
            sender.start()
            while client.state()["output_int_register_6"] != 29:
                pass
            begin, first = processor_time(emulator), client.state()
            for _ in range(STATES):
                last = client.state()
            end = processor_time(emulator)
            emulator.dashboard("stop")
            sender.join()
    assert last["timestamp"] - first["timestamp"] == pytest.approx(STATES * 0.002)
    assert last["output_int_register_5"] > first["output_int_register_5"]
    assert (end - begin) / STATES < 0.95 * 0.002


def _fill(connection: socket.socket, data: bytes) -> None:
    """Until the program has closed its end."""
    while True:
        try:
            connection.sendall(data)
        except TimeoutError:  # it is full; the rest of the integers is shifted, which nobody looks at
            pass
        except OSError:
            return


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


def test_a_flood_of_programs_lets_the_program_of_another_client_run(connect, emulator) -> None:
    client = connect()
    client.outputs(["output_int_register_5"])
    client.start()
    with flood(emulator.host, 30003, b"textmsg(1)\n"):
        for _ in range(STATES):  # until the flood has filled what may wait
            client.state()
        with socket.create_connection((emulator.host, 30003)) as other:
            other.sendall(b"write_output_integer_register(5, 7)\n")
        assert any(client.state()["output_int_register_5"] == 7 for _ in range(STATES))


class Costly(Connection):
    """The first bytes take long, the second are the command that the robot waits for."""

    def feed(self, data: bytes) -> None:
        self.box.waits_for_command = self.box.waits_for_command and self.paid == 0.0
        begin = time.thread_time()
        while time.thread_time() - begin < 2 * BURST:
            pass


def test_a_robot_that_waits_for_a_command_hears_a_client_that_has_cost_much() -> None:
    """Else both wait until the patience is over."""
    box = SimpleNamespace(waits_for_command=True)
    server = Server(box, "127.0.0.1", patience=5.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        there = socket.create_connection(listener.getsockname())
        here, _ = listener.accept()
    with here, there:
        here.setblocking(False)
        server._clients[here] = Costly(box, "a client")
        there.sendall(bytes(2 * CHUNK))
        server._wait_for_command(0.002)
    assert not box.waits_for_command
