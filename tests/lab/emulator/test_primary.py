"""The primary port read by its documentation: sizes and types of UR's client interface, and the arm's own geometry."""

import socket
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

# size [bytes] of each part of a state package, from Universal Robots' table for 5.10
PARTS = {0: 47, 1: 251, 2: 37, 3: 75, 4: 101, 5: 225, 6: 445}


class Reader:
    """Packages of the primary port, one by one."""

    def __init__(self, host: str, port: int = 30001) -> None:
        self.socket = socket.create_connection((host, port), timeout=5.0)
        self.file = self.socket.makefile("rb")

    def package(self) -> tuple[int, bytes]:
        size, kind = struct.unpack(">iB", self.file.read(5))
        return kind, self.file.read(size - 5)

    def state(self) -> dict[int, bytes]:
        """The next state: its parts by type, without their headers."""
        while (answer := self.package())[0] != 16:
            pass
        content, parts = answer[1], {}
        while content:
            size, kind = struct.unpack(">IB", content[:5])
            parts[kind], content = content[5:size], content[size:]
        return parts

    def message(self, wanted: int, seconds: float = 5.0) -> bytes:
        """The next message of this type, without its header."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            kind, content = self.package()
            if kind == 20 and content[9] == wanted:
                return content[10:]
        raise AssertionError(f"no message of type {wanted} within {seconds} s")


@pytest.fixture
def reader(emulator: EmulatorProcess) -> Iterator[Reader]:
    reader = Reader(emulator.host)
    yield reader
    reader.socket.close()


def flange(rows: np.ndarray, q: np.ndarray) -> np.ndarray:
    """T_base_flange (4, 4) of the rows theta, a, d, alpha (4, 6): an oracle by the textbook's matrix."""
    T = np.eye(4)
    for theta, a, d, alpha in (rows + np.outer([1, 0, 0, 0], q)).T:
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        T = T @ [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
    return T


def rows_of(kinematics: bytes) -> np.ndarray:
    return np.array(struct.unpack(">24d", kinematics[24:216])).reshape(4, 6)


@pytest.mark.parametrize("port", [30001, 30002])
def test_the_first_packages_are_version_and_a_whole_state_of_documented_sizes(emulator, port: int) -> None:
    reader = Reader(emulator.host, port)
    kind, content = reader.package()
    assert (kind, content[9], content[10:22]) == (20, 3, b"\x09URControl\x05\x0c")
    first, second = reader.state(), reader.state()
    assert {kind: 5 + len(part) for kind, part in first.items()} == PARTS
    assert sorted(second) == [0, 1, 2, 3, 4]
    (elapsed,) = np.diff([struct.unpack(">Q", state[0][:8])[0] for state in (first, second)])
    assert elapsed == 100_000  # [us] ten times a second
    reader.socket.close()


def test_the_state_is_that_of_rtde(reader, connect) -> None:
    client = connect()
    client.outputs(["actual_q", "actual_TCP_pose", "robot_mode"])
    client.start()
    rtde, primary = client.state(), reader.state()
    q = [struct.unpack(">d", primary[1][41 * i : 41 * i + 8])[0] for i in range(6)]
    np.testing.assert_allclose(q, rtde["actual_q"], atol=1e-6)
    np.testing.assert_allclose(struct.unpack(">6d", primary[4][:48]), rtde["actual_TCP_pose"], atol=1e-6)
    assert primary[0][15] == rtde["robot_mode"] == 7


def test_the_reported_geometry_is_the_drawn_one(reader) -> None:
    theta, a, d, alpha = rows_of(reader.state()[5])
    np.testing.assert_allclose(a, [0.0, -0.425, -0.3922, 0.0, 0.0, 0.0], atol=1e-12)  # UR's table of the UR5e
    np.testing.assert_allclose(d, [0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996], atol=1e-12)
    np.testing.assert_allclose(alpha, np.pi / 2 * np.array([1, 0, 0, 1, -1, 0]), atol=1e-12)
    np.testing.assert_allclose(theta, 0.0, atol=1e-12)


def test_a_calibrated_unit_stands_where_its_own_geometry_says_and_not_where_the_drawing_says(connect) -> None:
    with EmulatorProcess("--calibrated", "3") as unit:
        reader, client = Reader(unit.host), connect(unit.host)
        client.outputs(["actual_q", "actual_TCP_pose"])
        client.start()
        state, rows = client.state(), rows_of(reader.state()[5])
        reader.socket.close()
    q, reported = np.array(state["actual_q"]), np.array(state["actual_TCP_pose"])[:3]
    drawn = np.diag([-1.0, -1.0, 1.0]) @ robot_model("ur5e").forward(q)[1]
    assert np.linalg.norm(flange(rows, q)[:3, 3] - reported) < 1e-6
    assert 1e-3 < np.linalg.norm(drawn - reported) < 1e-2
    assert abs(rows[2, 1]) > 1.0  # [m] nearly parallel axes meet far away, as in real units


def test_lines_on_the_primary_port_switch_the_power(reader) -> None:
    reader.socket.sendall(b"power off\n")
    assert _wait(reader, 3)
    reader.socket.sendall(b"power on\nset robotmode run\n")
    assert _wait(reader, 7)


def test_a_program_tells_when_it_begins_what_it_says_and_when_it_ends(reader) -> None:
    reader.socket.sendall(b'def greet():\n  textmsg("hello")\n  sleep(0.1)\nend\n')
    while (begun := reader.message(7)).endswith(b"script"):  # of a test before this one, still on its way
        pass
    assert begun == bytes(8) + b"\x13PROGRAM_XXX_STARTED" + b"greet"
    assert reader.message(0) == b"hello"
    assert reader.message(7) == bytes(8) + b"\x13PROGRAM_XXX_STOPPED" + b"greet"


def test_an_unknown_name_is_told_with_its_place(reader) -> None:
    reader.socket.sendall(b"def f():\n  fly()\nend\n")
    assert reader.message(10) == struct.pack(">ii", 2, 3) + b"compile_error_name_not_found:fly:"


def test_a_stop_is_told_as_mode_and_as_error_and_ends_on_request_after_the_wait(reader, emulator) -> None:
    emulator.tell("unlock delay 1")
    emulator.tell("protective stop")
    begin = time.monotonic()
    assert reader.message(5)[8] == 3
    assert struct.unpack(">iii", reader.message(6)[:12]) == (209, 0, 2)
    reader.socket.sendall(b"set unlock protective stop\n")
    assert reader.message(5)[8] == 1
    assert time.monotonic() - begin > 0.9


def test_in_local_control_the_port_is_read_only(reader, emulator) -> None:
    emulator.tell("local control")
    reader.socket.sendall(b"power off\n")
    assert struct.unpack(">iii", reader.message(6)[:12]) == (210, 0, 3)
    assert _wait(reader, 7)


def _wait(reader: Reader, mode: int) -> bool:
    return any(reader.state()[0][15] == mode for _ in range(20))
