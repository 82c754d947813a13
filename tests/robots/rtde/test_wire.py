"""RTDE messages: sizes as the protocol states them, byte streams in any pieces."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde import wire
from ur_admittance.robots.rtde.link import STOPS, stop_of
from ur_admittance.robots.rtde.wire import Recipe, WireError, message, names_of, split, types_of
from ur_admittance_lab.emulator.variables import INPUTS, OUTPUTS, known

DEFAULT_5_12 = """
timestamp target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current
joint_control_output actual_TCP_pose actual_TCP_speed actual_TCP_force target_TCP_pose target_TCP_speed
actual_digital_input_bits joint_temperatures actual_execution_time robot_mode joint_mode safety_mode
actual_tool_accelerometer speed_scaling target_speed_fraction actual_momentum actual_main_voltage actual_robot_voltage
actual_robot_current actual_joint_voltage actual_digital_output_bits runtime_state standard_analog_input0
standard_analog_input1 standard_analog_output0 standard_analog_output1 robot_status_bits safety_status_bits
ft_raw_wrench payload payload_cog payload_inertia output_int_register_2
"""
REGISTERS = [f"output_int_register_{i}" for i in range(12, 20)] + [f"output_double_register_{i}" for i in range(12, 20)]


def test_the_default_recipe_of_the_client_library_takes_1180_bytes() -> None:
    names = DEFAULT_5_12.split() + REGISTERS
    recipe = Recipe(1, names, [OUTPUTS[name].kind for name in names])
    assert len(recipe.pack(*[0] * sum(wire.TYPES[kind][1] for kind in recipe.types))) == 1180


def test_the_raw_wrench_is_unknown_before_5_9() -> None:
    assert known(OUTPUTS, "ft_raw_wrench", (5, 8, 0)) is None
    assert known(OUTPUTS, "ft_raw_wrench", (5, 9, 0)) == "VECTOR6D"
    assert known(INPUTS, "no_such_input", (5, 26, 0)) is None


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=40)), max_size=8), st.integers(1, 30))
def test_messages_survive_any_cut_of_the_byte_stream(messages: list[tuple[int, bytes]], piece: int) -> None:
    stream = b"".join(message(kind, payload) for kind, payload in messages)
    buffer, seen = bytearray(), []
    for i in range(0, len(stream), piece):
        buffer += stream[i : i + piece]
        seen += list(split(buffer))
    assert seen == messages
    assert not buffer


def test_a_size_smaller_than_the_header_can_never_become_a_message() -> None:
    with pytest.raises(WireError, match="message size 2"):
        list(split(bytearray(struct.pack(">HB", 2, 85))))


def test_a_data_package_reads_back_what_was_packed() -> None:
    recipe = Recipe(3, ["input_int_register_0", "external_force_torque"], ["INT32", "VECTOR6D"])
    values = {"input_int_register_0": -7, "external_force_torque": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    package = recipe.pack(-7, *values["external_force_torque"])
    assert package[3] == 3
    assert recipe.read(package[4:]) == values
    with pytest.raises(WireError, match="51 bytes, must be 52"):
        recipe.read(package[5:])


def test_names_come_with_and_without_a_trailing_comma() -> None:
    assert names_of(b"timestamp,actual_q,") == names_of(b"timestamp,actual_q") == ["timestamp", "actual_q"]
    with pytest.raises(WireError, match="at most 2048"):
        names_of(b"x" * 3000)


def test_a_robot_that_answers_too_little_is_refused_in_words() -> None:
    assert types_of(["timestamp", "actual_q"], b"\x01DOUBLE,VECTOR6D") == ["DOUBLE", "VECTOR6D"]
    for answer in (b"", b"\x00", b"\x01DOUBLE"):
        with pytest.raises(RobotError, match="types for 2 variables"):
            types_of(["timestamp", "actual_q"], answer)


@pytest.mark.parametrize("bit", range(2, 11))
def test_every_bit_that_means_a_stop_is_one(bit: int) -> None:
    assert 1 << bit & STOPS
    by_hand = bit in (
        4,
        10,
    )  # safeguard and three-position switch: nothing to unlock
    assert (stop_of(1 << bit)[0] is Status.SAFEGUARD_STOP) == by_hand
