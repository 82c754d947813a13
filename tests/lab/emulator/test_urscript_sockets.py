"""Programs in URScript talk to the computer that sent them. The whole control box, cycle by cycle, and real sockets."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.running_program import PLAYING, START_CYCLES, STOPPED

# commands from the socket: number of the mode, six speeds [urad/s]; silence for 0.1 s ends the program
REVERSE = """
def reverse():
  global mode = 0
  global speed = [0, 0, 0, 0, 0, 0]
  thread drive():
    while mode == 1:
      speedj(speed, 40, get_steptime())
    end
    stopj(10)
  end
  driver = 0
  if not socket_open("{host}", {port}, "reverse"):
    halt
  end
  socket_send_int(-5, "reverse")
  timeout = 0
  while mode >= 0:
    received = socket_read_binary_integer(7, "reverse", timeout)
    timeout = 0.1
    if received[0] == 0:
      kill driver
      stopj(10)
      halt
    end
    speed = [received[2], received[3], received[4], received[5], received[6], received[7]] / 1000000
    if mode != received[1]:
      mode = received[1]
      join driver
      if mode == 1:
        driver = run drive()
      end
    end
  end
  join driver
  socket_close("reverse")
  write_output_integer_register(9, 1)
end
"""
SPEED = [0.1, -0.1, 0.05, 0.0, 0.2, 0.0]


class Box(Controller):
    """With a log that can be read."""

    def __init__(self, world: World) -> None:
        self.lines: list[str] = []
        super().__init__(world, say=self.lines.append)

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle()

    def execute(self, text: str, cycles: int = 5, sender: str | None = "127.0.0.1") -> None:
        self.program.upload(text, sender=sender)
        while self.program.runtime_state != PLAYING and not self.says("error") and self.tick < 2000:
            self.cycle()
        self.run(cycles)

    def says(self, text: str) -> bool:
        return any(text in line for line in self.lines)


@pytest.fixture(scope="module")
def world() -> World:
    return World(robot_model("ur5e"))


@pytest.fixture
def box(world: World) -> Iterator[Box]:
    world.reset()
    box = Box(world)
    yield box
    box.program.end("end of the test")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5.0)
        yield listener


@pytest.fixture
def driver(box: Box, listener: socket.socket) -> Iterator[socket.socket]:
    """The other end of the program's socket."""
    box.execute(REVERSE.format(host="127.0.0.1", port=listener.getsockname()[1]))
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(5.0)
        assert struct.unpack(">i", connection.recv(4)) == (-5,)
        yield connection


def command(mode: int, speed: list[float] | np.ndarray) -> bytes:
    return struct.pack(">7i", mode, *(round(1e6 * v) for v in speed))


def test_integers_from_the_socket_drive_the_arm(box: Box, driver: socket.socket) -> None:
    box.run(100)  # the first read waits for as long as it takes
    for _ in range(100):
        driver.sendall(command(1, SPEED))
        box.run(1)
    np.testing.assert_allclose(box.arm.target_speed, SPEED)
    for _ in range(100):
        driver.sendall(command(0, SPEED))
        box.run(1)
    assert (box.program.runtime_state, box.arm.target_speed.any()) == (PLAYING, False)
    driver.sendall(command(-1, SPEED))
    box.run(10)
    assert (box.program.runtime_state, box.outputs.integers[9]) == (STOPPED, 1)
    assert driver.recv(1) == b""


@pytest.mark.parametrize(("ending", "cycles"), [("silence", 51), ("hang up", 2), ("cut", 51), ("half a message", 51)])
def test_an_arm_whose_commands_stay_away_brakes_and_the_program_ends(
    box: Box, driver: socket.socket, ending: str, cycles: int
) -> None:
    for _ in range(100):
        driver.sendall(command(1, SPEED))
        box.run(1)
    if ending == "hang up":
        driver.close()
    elif ending == "cut":
        box.program.cut = True
    elif ending == "half a message":
        driver.sendall(command(1, SPEED)[:-1])
    for _ in range(cycles):
        if ending == "cut":
            driver.sendall(command(1, SPEED))
        box.run(1)
    assert box.program.runtime_state == PLAYING
    before = abs(box.arm.target_speed).max()
    box.run(1)
    assert abs(box.arm.target_speed).max() < before
    box.run(50)
    assert (box.program.runtime_state, box.arm.target_speed.any()) == (STOPPED, False)


def test_a_flood_of_commands_takes_neither_the_cycle_nor_the_program(box: Box, driver: socket.socket) -> None:
    driver.setblocking(False)
    sent, costs = 0, []
    for _ in range(200):
        with suppress(BlockingIOError):
            sent += driver.send(command(1, SPEED) * 1000)
        begin = time.process_time()
        box.run(1)
        costs.append(time.process_time() - begin)
    assert sent > 200 * 100 * 28  # more than is read
    assert box.program.runtime_state == PLAYING, box.lines
    np.testing.assert_allclose(box.arm.target_speed, SPEED)
    assert np.median(costs) < 0.01  # [s] measured: 0.001


def test_the_end_of_a_program_closes_its_sockets(box: Box, driver: socket.socket) -> None:
    box.program.end("stopped by a person")
    assert driver.recv(1) == b""


def test_nobody_listens_and_a_listener_that_does_not_answer(box: Box, listener: socket.socket) -> None:
    """False: at once where the port is closed; after 2 s where the connection hangs. No cycle waits for it."""
    host, port = listener.getsockname()
    listener.listen(0)
    full = [socket.socket() for _ in range(4)]  # more than wait to be accepted
    for waiting in full:
        waiting.setblocking(False)
        waiting.connect_ex((host, port))
    text = 'def f():\n  a = socket_open("127.0.0.1", {}, "x")\n  write_output_boolean_register(70, not a)\nend\n'
    box.execute(text.format(port), 990)
    assert (box.program.runtime_state, box.outputs.booleans[70]) == (PLAYING, False)
    box.run(20)
    assert (box.program.runtime_state, box.outputs.booleans[70]) == (STOPPED, True)
    for waiting in full:
        waiting.close()
    listener.close()
    box.outputs.booleans[70] = False
    box.execute(text.format(port), 5)
    assert (box.program.runtime_state, box.outputs.booleans[70]) == (STOPPED, True)


def test_an_answer_that_nobody_reads_ends_the_connection_not_the_cycle(box: Box, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    sending = "  while i < 30 and socket_send_int(1):\n    i = i + 1\n  end\n"
    loop = f"  while i == 30:\n  i = 0\n{sending}  sync()\n  end\n  write_output_integer_register(8, 1)\n  sleep(9)\n"
    text = f'def f():\n  i = 30\n  socket_open("127.0.0.1", {port})\n{loop}end\n'
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    box.execute(text, 1)
    for _ in range(50_000):
        box.program.cycle()
        if box.outputs.integers[8]:
            break
    assert (box.program.runtime_state, box.outputs.integers[8]) == (PLAYING, 1)
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(5.0)
        while connection.recv(1 << 16):
            pass  # up to the end: the program's side is closed


@pytest.mark.parametrize(
    ("sender", "address", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        (None, "127.0.0.1", True),  # a program from the disk
        ("127.0.0.5", "127.0.0.1", True),
        ("192.0.2.7", "127.0.0.1", False),  # what listens on this computer only is not for others
        ("127.0.0.1", "192.0.2.7", False),
        (None, "192.0.2.7", False),
        ("192.0.2.8", "192.0.2.7", False),
        ("127.0.0.1", "localhost", False),  # names are not looked up
        ("127.0.0.1", "::1", False),
        ("127.0.0.1", "2130706433", False),
    ],
)
def test_a_program_connects_to_its_sender_only(
    box: Box, listener: socket.socket, sender: str | None, address: str, allowed: bool
) -> None:
    port = listener.getsockname()[1]
    box.execute(f'def f():\n  socket_open("{address}", {port})\n  sleep(1)\nend\n', 5, sender)
    assert (box.program.runtime_state == PLAYING) is allowed
    assert box.says("this program may connect to") is not allowed


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('socket_read_binary_integer(1, "x")', "runtime error: socket 'x' is not open"),
        ('socket_send_int(1, "x")', "runtime error: socket 'x' is not open"),
        ("socket_read_binary_integer(31)", "runtime error: number = 31: must be below 31"),
        ('socket_open("127.0.0.1", 65536)', "runtime error: port = 65536: must be below 65536"),
        ("socket_open(2130706433, 80)", "runtime error: socket_open: 2130706433: this program may connect to"),
        ('socket_open("127.0.0.1", 80, 1)', "runtime error: socket_name = 1: must be a string"),
        ('socket_send_string("x")', "runtime error: socket_send_string is not emulated"),
    ],
)
def test_a_wrong_use_of_a_socket_ends_the_program(box: Box, text: str, sentence: str) -> None:
    box.execute(f"def f():\n  socket_close()\n  {text}\nend\n")
    assert box.says(sentence), box.lines


def test_a_secondary_program_has_no_sockets(box: Box, listener: socket.socket) -> None:
    listener.setblocking(False)
    box.program.upload(f'sec s():\n  socket_open("127.0.0.1", {listener.getsockname()[1]})\nend\n')
    box.run(START_CYCLES)
    assert box.says("a secondary program cannot take time")
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_a_program_has_at_most_ten_sockets(box: Box, listener: socket.socket) -> None:
    opening = f'    socket_open("127.0.0.1", {listener.getsockname()[1]}, to_str(i))\n'
    box.execute(f"def f():\n  i = 0\n  while i < 11:\n{opening}    i = i + 1\n  end\nend\n", 50)
    assert box.says("runtime error: socket_open: more than 10 sockets")


def test_a_cut_cable_ends_the_program_of_a_driver_at_the_other_end(connect, emulator, listener: socket.socket) -> None:
    """The whole way: the port that takes programs, the connection back, the network that is cut."""
    client = connect()
    client.outputs(["target_qd", "runtime_state"])
    client.start()
    with socket.create_connection((emulator.host, 30001)) as script:
        script.sendall(REVERSE.format(host="127.0.0.1", port=listener.getsockname()[1]).encode())
        driver, _ = listener.accept()
    with driver:
        for _ in range(200):
            driver.sendall(command(1, SPEED))
            state = client.state()
        np.testing.assert_allclose(state["target_qd"], SPEED, atol=1e-6)
        assert emulator.tell("cut 0.5") == "ok"
        for _ in range(50):  # nobody hears them
            driver.sendall(command(1, SPEED))
        while client.state()["runtime_state"] == PLAYING:
            pass
    incident = emulator.ask("incident")
    assert incident["kind"] == "network cut for 0.5 s"
    assert 0.1 <= incident["duration"] < 0.4  # [s] the program's time-out, and braking
