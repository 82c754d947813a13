"""A client that follows the published protocol sees what a UR controller would send."""

import socket
import struct

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.rtde.wire import message

STATE = ["timestamp", "actual_q", "actual_TCP_pose", "actual_TCP_force", "ft_raw_wrench", "runtime_state", "payload"]


def test_it_tells_its_version_and_refuses_another_protocol(connect) -> None:
    client = connect()
    assert client.version() == (5, 12, 2, 0)
    assert client.ask("V", struct.pack(">H", 7)) == b"\x00"


def test_states_come_once_per_cycle_with_rising_time(connect) -> None:
    client = connect()
    assert client.outputs(STATE) == ["DOUBLE", "VECTOR6D", "VECTOR6D", "VECTOR6D", "VECTOR6D", "UINT32", "DOUBLE"]
    assert client.start()
    stamps = [client.state()["timestamp"] for _ in range(50)]
    np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-9)
    assert client.pause()


def test_a_lower_frequency_leaves_out_cycles(connect) -> None:
    client = connect()
    client.outputs(["timestamp"], frequency=125.0)
    client.start()
    stamps = [client.state()["timestamp"] for _ in range(10)]
    np.testing.assert_allclose(np.diff(stamps), 0.008, atol=1e-9)


def test_the_pose_is_given_in_the_base_of_the_controller(connect) -> None:
    client = connect()
    client.outputs(STATE)
    client.start()
    state = client.state()
    _, p = robot_model("ur5e").forward(state["actual_q"])
    # UR base: base_link turned by pi about z
    np.testing.assert_allclose(state["actual_TCP_pose"][:3], [-p[0], -p[1], p[2]], atol=1e-6)


def test_the_wrench_follows_the_e_series_conventions(connect, emulator) -> None:
    """Pushed with 10 N along base_link x at the tip, 0.15 m below the flange with the tool pointing down."""
    client = connect()
    client.outputs(STATE)
    client.start()
    emulator.tell("push 10 0 0 0 0 0")
    for _ in range(200):
        state = client.state()
    force = state["actual_TCP_force"]
    np.testing.assert_allclose(force[:3], [-10.0, 0.0, 0.0], atol=0.3)
    # about the flange: r x f = (0, 0, -0.15) x (10, 0, 0) = (0, -1.5, 0) in base_link, y turns its sign
    np.testing.assert_allclose(force[3:], [0.0, 1.5, 0.0], atol=0.08)
    # raw: flange axes, the weight of 1 kg along +z of a tool that points down
    assert state["ft_raw_wrench"][2] == pytest.approx(9.81, abs=0.3)
    assert np.hypot(*state["ft_raw_wrench"][:2]) == pytest.approx(10.0, abs=0.3)
    emulator.tell("let go")


def test_unknown_names_are_reported_one_by_one(connect) -> None:
    client = connect()
    assert client.outputs(["timestamp", "no_such_thing"]) == ["DOUBLE", "NOT_FOUND"]
    assert client.input(["input_int_register_3", "nonsense"]) == (0, ["INT32", "NOT_FOUND"])


def test_an_input_belongs_to_one_client_until_it_leaves(connect) -> None:
    first, second = connect(), connect()
    assert first.input(["input_double_register_7"])[0] == 1
    assert second.input(["input_double_register_7"]) == (0, ["IN_USE"])
    assert second.input(["input_double_register_8"]) == (1, ["DOUBLE"])
    first.close()
    for _ in range(200):
        if second.input(["input_double_register_7"])[0]:
            break
    else:
        pytest.fail("the input stays in use after its owner has left")


def test_the_speed_slider_moves_and_stays(connect) -> None:
    client = connect()
    client.outputs(["target_speed_fraction"])
    number, _ = client.input(["speed_slider_mask", "speed_slider_fraction"])
    client.start()
    client.write(number, {"speed_slider_mask": 1, "speed_slider_fraction": 0.4})
    values = [client.state()["target_speed_fraction"] for _ in range(400)]
    assert values[-1] == pytest.approx(0.4)
    assert np.abs(np.diff(values)).max() < 0.005  # no jump


@pytest.mark.parametrize(
    "hostile",
    [
        b"\x00\x00\x00",
        b"\x00\x02U",
        message(ord("U")),
        message(ord("U"), b"\x09" + bytes(8)),
        message(ord("O"), b"123"),
        message(ord("O"), struct.pack(">d", float("nan")) + b"timestamp"),
        message(ord("I"), b"\xff\xfe,,,"),
        message(ord("M"), b"\xff"),
        message(ord("z"), b"?" * 1000),
        b"GET / HTTP/1.1\r\nHost: robot\r\n\r\n",
    ],
)
def test_hostile_bytes_disturb_nobody_else(connect, emulator, hostile: bytes) -> None:
    watcher, attacker = connect(), connect()
    watcher.outputs(["timestamp"])
    watcher.start()
    attacker.socket.sendall(hostile)
    stamps = [watcher.state()["timestamp"] for _ in range(20)]
    np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-9)
    assert emulator.alive


def test_a_number_that_is_not_finite_stops_the_program_not_the_emulator(connect, emulator) -> None:
    client = connect()
    client.outputs(["runtime_state"])
    names = ["input_int_register_0", *[f"input_double_register_{i}" for i in range(8)]]
    number, _ = client.input(names)
    client.start()
    _upload(emulator)
    for _ in range(500):
        if client.state()["runtime_state"] == 2:
            break
    values = dict.fromkeys(names, 0.0) | {"input_int_register_0": 9, "input_double_register_0": float("nan")}
    client.write(number, values)
    for _ in range(500):
        if client.state()["runtime_state"] == 1:
            break
    assert client.state()["runtime_state"] == 1
    assert emulator.ask("state")["standing"]


def test_scripts_on_the_port_run_one_after_the_other_and_touch_the_outside(connect, emulator) -> None:
    client = connect()
    client.outputs(["actual_digital_output_bits", "output_int_register_30"])
    client.start()
    emulator.tell("digital input 3 on")
    script = b"set_standard_digital_out(5, get_standard_digital_in(3))\n"
    script += b"def two():\n  sync()\n  write_output_integer_register(30, 7)\nend\n"
    _send(emulator, script)
    states = (client.state() for _ in range(10_000))  # until it happens: twenty seconds of the robot
    last = next(state for state in states if state["output_int_register_30"] == 7)
    assert last["actual_digital_output_bits"] == 1 << 5


def _upload(emulator) -> None:
    _send(emulator, b"def rtde_control():\n  rtde_cmd()\n  signal_ready\nend\n")


def _send(emulator, script: bytes) -> None:
    with socket.create_connection((emulator.host, 30003), timeout=5.0) as port:
        port.sendall(script)
