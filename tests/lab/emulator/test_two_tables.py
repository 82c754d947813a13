"""The emulator and the client share no protocol code. Here the two sets of tables meet, with a third judge where
there is one: the numbers of UR's guide, SciPy and Pinocchio."""

import struct

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.errors import RobotError, SimulationError
from ur_admittance.model import MODEL_NAMES
from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.rtde import (
    arm_geometry,
    link,
    pendant,
    primary_port,
    rtde_checks,
    versions,
    wire,
)
from ur_admittance_lab.emulator import main, ports, primary, protocol, running_program, safety, ur_frames
from ur_admittance_lab.emulator.dashboard import MODE_NAMES

# RTDE guide: bytes of each type, and a value that shows its sign and width
TYPES = {
    "BOOL": (1, True),
    "UINT8": (1, 200),
    "UINT32": (4, 3_000_000_000),
    "UINT64": (8, 1 << 63),
    "INT32": (4, -2_000_000_000),
    "DOUBLE": (8, -1.25e300),
    "VECTOR3D": (24, [1.5, -2.5, 3.5]),
    "VECTOR6D": (48, [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),
    "VECTOR6INT32": (24, [-1, 2, -3, 4, -5, 6]),
    "VECTOR6UINT32": (24, [1, 2, 3_000_000_000, 4, 5, 6]),
}
LETTERS = {"REQUEST_PROTOCOL_VERSION": "V", "GET_CONTROLLER_VERSION": "v", "DATA_PACKAGE": "U", "START": "S"}
LETTERS |= {"SETUP_OUTPUTS": "O", "SETUP_INPUTS": "I"}


def test_messages_have_one_number_on_both_sides_and_in_the_guide() -> None:
    emulator = {kind.name.replace("URCONTROL", "CONTROLLER"): int(kind) for kind in protocol.Kind}
    assert emulator == {name: ord(letter) for name, letter in LETTERS.items()} | {"TEXT_MESSAGE": 77, "PAUSE": 80}
    assert {name: getattr(wire, name) for name in LETTERS} == {name: emulator[name] for name in LETTERS}
    assert wire.PROTOCOL_VERSION == protocol.PROTOCOL_VERSION == 2
    assert wire.NAMES_LIMIT == protocol.NAMES_LIMIT == 2048
    assert wire.IN_USE == protocol.IN_USE == "IN_USE"
    assert protocol.NOT_FOUND not in wire.TYPES


@pytest.mark.parametrize("kind", TYPES)
def test_a_value_of_each_type_survives_both_directions(kind: str) -> None:
    assert set(wire.TYPES) == set(protocol.LAYOUTS) == set(TYPES)
    size, value = TYPES[kind]
    numbers = value if isinstance(value, list) else [value]
    recipe = 7, ["x", "last"], [kind, "UINT8"]
    sent = protocol.Recipe(*recipe).package({"x": value, "last": 9})
    assert sent == wire.Recipe(*recipe).pack(*numbers, 9)
    assert len(sent) == 3 + 1 + size + 1
    assert struct.unpack(">HBB", sent[:4]) == (len(sent), ord("U"), 7)
    assert wire.Recipe(*recipe).read(sent[4:]) == protocol.Recipe(*recipe).read(sent[4:]) == {"x": value, "last": 9}


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=40)), max_size=8), st.integers(1, 30))
def test_each_side_reads_the_other_in_any_pieces(messages: list[tuple[int, bytes]], piece: int) -> None:
    stream = b"".join(wire.message(*one) for one in messages)
    assert stream == b"".join(protocol.packet(*one) for one in messages)
    for split in (wire.split, protocol.packets):
        buffer, seen = bytearray(), []
        for i in range(0, len(stream), piece):
            buffer += stream[i : i + piece]
            seen += list(split(buffer))
        assert (seen, bytes(buffer)) == (messages, b"")


@given(st.binary(max_size=30), st.binary(max_size=30), st.integers(0, 62))
def test_a_text_message_is_read_whole_or_refused(words: bytes, source: bytes, length: int) -> None:
    content = bytes([len(words)]) + words + bytes([len(source)]) + source
    if length >= len(content):
        said = words.decode("utf-8", "replace"), source.decode("utf-8", "replace")
        assert protocol.words_in(content + b"\x01") == f"{said[1]}: {said[0]}"
    else:
        with pytest.raises(protocol.BadMessage):
            protocol.words_in(content[:length])


def test_both_sides_accept_the_same_software_for_every_type_of_arm() -> None:
    grid = [(major, minor, 0) for major, last in ((3, 15), (5, 26), (10, 14)) for minor in range(last + 1)]
    for model in MODEL_NAMES:
        for version in grid:
            if version[:2] < (3, 10):
                continue
            assert _refuses(versions.check_version, version, model) == _refuses(
                lambda v, m: main._version(versions.shown(v), m), version, model
            ), (model, version)
            assert versions.is_polyscope_x(version) == protocol.is_polyscope_x(version) == (version[0] == 10)
    assert versions.CB3_TYPES == protocol.CB3_TYPES


def _refuses(check, version, model) -> bool:  # type: ignore[no-untyped-def]
    try:
        check(version, model)
    except (RobotError, SimulationError):
        return True
    return False


def test_ports_paths_and_numbers_of_state_agree() -> None:
    assert (ports.RTDE_PORT, ports.SCRIPT_PORT) == (wire.PORT, rtde_checks.SCRIPT_PORT) == (30004, 30003)
    assert (pendant.DASHBOARD_PORT, primary_port.PORT) == (ports.DASHBOARD_PORT, ports.PRIMARY_PORT)
    assert (pendant.API_PORT, pendant.API_BASE) == (protocol.API_PORT, protocol.API_BASE)
    assert ".".join(map(str, pendant.MODES_SINCE)) == protocol.API_WITH_MODES
    assert (primary_port.ROBOT_STATE, primary_port.MESSAGE) == (primary.STATE, primary.MESSAGE) == (16, 20)
    assert (primary_port.VERSION, primary_port.ERROR) == (primary.VERSION, primary.ERROR) == (3, 6)
    assert primary_port.READ_ONLY == primary.READ_ONLY == 210
    assert primary_port.KINEMATICS == primary.KINEMATICS == 5
    assert pendant.CONFIGURATION == primary.CONFIGURATION == 6
    assert (pendant.STOPPED, link.PLAYING, pendant.PAUSED) == (
        running_program.STOPPED,
        running_program.PLAYING,
        running_program.PAUSED,
    )
    assert link.RUNNING == safety.MODE_RUNNING == 7
    assert MODE_NAMES.items() <= ROBOT_MODES.items()
    types = {name: number for number, name in pendant.TYPES.items()}
    for name in MODEL_NAMES:
        if name not in protocol.CB3_TYPES:
            assert primary.ROBOT_TYPES[name.removesuffix("e")] == types[versions.twins(name)[0]], name


@pytest.mark.parametrize("stop", safety.StopKind)
def test_the_client_understands_each_stop_of_the_emulator(stop: safety.StopKind) -> None:
    number, bits, name = stop.value
    assert bool(bits & link.STOPS) == (stop is not safety.StopKind.NONE)
    if stop is not safety.StopKind.NONE:
        assert link.stop_of(bits)[0].name == f"{stop.name}_STOP"
    if stop in (safety.StopKind.NONE, safety.StopKind.PROTECTIVE):
        assert pendant.SAFETY[number] == name


HALF_TURN = Rotation.from_euler("z", np.pi)
ANGLES = (0.0, 1e-9, 1e-5, 0.5, 2.0, np.pi - 1e-7, np.pi - 1e-9)


@pytest.mark.parametrize("angle", ANGLES)
def test_random_poses_convert_alike_by_client_emulator_and_scipy(angle: float) -> None:
    rng = np.random.default_rng(int(1e3 * angle))
    for _ in range(100):
        axis = rng.normal(size=3)
        pose = np.concatenate([rng.uniform(-2.0, 2.0, 3), angle * axis / np.linalg.norm(axis)])
        six = rng.normal(size=6)
        R, p = (HALF_TURN * Rotation.from_rotvec(pose[3:])).as_matrix(), HALF_TURN.apply(pose[:3])
        for convert in (arm_geometry.pose_from_ur, ur_frames.from_ur_pose):
            found = convert(pose)
            np.testing.assert_allclose(found[0], R, atol=1e-14)
            np.testing.assert_allclose(found[1], p, atol=1e-14)
        np.testing.assert_allclose(ur_frames.ur_pose(*arm_geometry.pose_from_ur(pose)), pose, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ur_frames.turned(six), HALF_TURN.apply(six.reshape(2, 3)).ravel(), atol=1e-14)
        np.testing.assert_array_equal(arm_geometry.vectors_to_ur(six), ur_frames.turned(six))


@pytest.mark.parametrize("angle", ANGLES)
def test_chained_poses_are_those_of_pinocchio(angle: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = rng.uniform(-1.0, 1.0, (2, 6))
        b[3:] *= angle / np.linalg.norm(b[3:])
        chained = pin.SE3(pin.exp3(a[3:]), a[:3]) * pin.SE3(pin.exp3(b[3:]), b[:3])
        found = ur_frames.transformed(a, b)
        np.testing.assert_allclose(found[:3], chained.translation, atol=1e-13)
        np.testing.assert_allclose(pin.exp3(found[3:]), chained.rotation, atol=1e-12)
