"""The emulator as PolyScope X: what it lacks, what is stricter, and its Robot API. Without sockets, in virtual time."""

import json
import random
import struct

import pytest

from ur_admittance.errors import SimulationError
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.robots.rtde import wire
from ur_admittance.robots.rtde.pendant import API_BASE as BASE
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator import main
from ur_admittance_lab.emulator.api_server import ApiConnection, respond
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.ports import PrimaryConnection, RtdeConnection
from ur_admittance_lab.emulator.safety import StopKind
from ur_admittance_lab.emulator.variables import OUTPUTS, known

READ_ONLY = struct.pack(">i", 210)
WAIT = "def wait_program():\n  while True:\n    sync()\n  end\nend\n"
URPX = (
    b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n%s\n\r\n--x--\r\n'
    % json.dumps({"program": {"programInformation": {"name": "test upload"}}}).encode()
)


@pytest.fixture(scope="module")
def world() -> World:
    return World(robot_model("ur5e"))


@pytest.fixture
def box(world: World):
    """box(10, 11) -> a controller with that software."""

    def make(*version: int) -> Controller:
        world.reset()
        return Controller(world, (*version, 0))

    return make


def put(box: Controller, path: str, **wishes: str) -> int:
    return respond(box, "PUT", path, json.dumps(wishes).encode())[0]


def get(box: Controller, path: str):
    status, content = respond(box, "GET", path, b"")
    return content if status == 200 else status


def run(box: Controller, seconds: float) -> None:
    for _ in range(round(seconds * box.rate)):
        box.cycle()


def test_questions_about_modes_come_with_10_12(box) -> None:
    old, new = box(10, 11), box(10, 12)
    assert get(old, "/openapi.json")["info"]["version"] < "3.1.4" == get(new, "/openapi.json")["info"]["version"]
    for path, mode in (
        ("/system/v1/controlmode", "REMOTE"),
        ("/system/v1/operationalmode", "AUTOMATIC"),
        ("/robotstate/v1/robotmode", "RUNNING"),
        ("/robotstate/v1/safetymode", "NORMAL"),
    ):
        assert get(old, path) == 404
        assert get(new, path) == {"mode": mode}
    assert get(old, "/program/v1/state") == get(new, "/program/v1/state") == {"state": "STOPPED"}
    assert respond(new, "GET", "/programs/v1", b"") == (308, {"location": f"{BASE}/programs/v1/"})


def test_a_call_that_changes_something_needs_remote_control(box) -> None:
    x = box(10, 12)
    x.take_local_control()
    assert put(x, "/robotstate/v1/state", action="POWER_OFF") == 403
    assert (get(x, "/system/v1/controlmode")["mode"], get(x, "/robotstate/v1/robotmode")["mode"]) == (
        "LOCAL",
        "RUNNING",
    )
    x.safety.remote_control = True
    for action, mode in (("POWER_OFF", "POWER_OFF"), ("POWER_ON", "IDLE"), ("BRAKE_RELEASE", "RUNNING")):
        assert put(x, "/robotstate/v1/state", action=action) == 200
        assert get(x, "/robotstate/v1/robotmode") == {"mode": mode}
    for body in (
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"action": {}}',
        b'{"action": "play"}',
        b'{"action": "FLY"}',
        b'{"actions": "POWER_OFF"}',
    ):
        assert respond(x, "PUT", "/robotstate/v1/state", body)[0] == 400


def test_a_protective_stop_is_unlocked_after_five_seconds(box) -> None:
    x = box(10, 12)
    x.safety.trip(StopKind.PROTECTIVE, "test")
    run(x, 1.0)
    assert get(x, "/robotstate/v1/safetymode") == {"mode": "PROTECTIVE_STOP"}
    assert put(x, "/robotstate/v1/state", action="UNLOCK_PROTECTIVE_STOP") == 409
    run(x, 4.1)
    assert put(x, "/robotstate/v1/state", action="UNLOCK_PROTECTIVE_STOP") == 200
    assert get(x, "/robotstate/v1/safetymode") == {"mode": "NORMAL"}


@pytest.mark.parametrize(("minor", "path", "key"), [(11, "load", "programName"), (12, "loaded", "name")])
def test_a_paused_program_is_resumed_not_played(box, tmp_path, minor: int, path: str, key: str) -> None:
    x = box(10, minor)
    x.files.directory = tmp_path
    (tmp_path / "wait_program.script").write_text(WAIT)
    assert put(x, f"/program/v1/{path}", **{key: "missing"}) == 400
    assert put(x, f"/program/v1/{path}", **{key: "wait_program"}) == 200
    for action, status, state in (
        ("resume", 409, "STOPPED"),
        ("play", 200, "PLAYING"),
        ("pause", 200, "PAUSED"),
        ("play", 409, "PAUSED"),
        ("resume", 200, "PLAYING"),
        ("stop", 200, "STOPPED"),
    ):
        assert put(x, "/program/v1/state", action=action) == status
        assert get(x, "/program/v1/state") == {"state": state}
        run(x, 0.1)


def test_programs_are_uploaded_once_updated_and_downloaded(box) -> None:
    x = box(10, 12)
    assert respond(x, "PUT", "/programs/v1/", URPX)[0] == 400
    assert respond(x, "POST", "/programs/v1/", URPX) == (200, {"programName": "test upload"})
    assert respond(x, "POST", "/programs/v1/", URPX)[0] == 400
    assert respond(x, "PUT", "/programs/v1/", URPX)[0] == 200
    assert json.loads(get(x, "/programs/v1/test%20upload"))["program"]["programInformation"]["name"] == "test upload"
    assert get(x, "/programs/v1/other") == 404
    assert [program["name"] for program in get(x, "/programs/v1/")["programs"]] == ["Default program", "test upload"]
    assert respond(box(10, 11), "POST", "/programs/v1/", URPX)[0] == 405


def test_requests_in_pieces_are_answered_one_by_one(box) -> None:
    connection = ApiConnection(box(10, 12), "test")
    request = f"GET {BASE}/program/v1/state HTTP/1.1\r\nHost: robot\r\n\r\n".encode()
    for byte in request + request.replace(b"Host: robot", b"Connection: close"):
        assert not connection.closing
        connection.feed(bytes([byte]))
    assert connection.out.count(b"HTTP/1.1 200 OK") == connection.out.count(b'{"state": "STOPPED"}') == 2
    assert connection.closing


def test_no_bytes_disturb_the_robot_api(box) -> None:
    x, dice = box(10, 12), random.Random(0)
    pieces = [
        b"GET ",
        b"PUT ",
        BASE.encode(),
        b"/program/v1/state",
        b" HTTP/1.1",
        b"\r\n",
        b"\r\n\r\n",
        b"{",
        b"\xff\x00",
    ]
    pieces += [b"Content-Length: 7", b"Content-Length: -1", b"Content-Length: " + b"9" * 5000, b'{"action": 3}', b":"]
    for _ in range(2000):
        connection = ApiConnection(x, "test")
        connection.feed(b"".join(dice.choices(pieces, k=dice.randint(1, 12))))
        assert not connection.out or connection.out.startswith(b"HTTP/1.1 ")
    assert get(x, "/robotstate/v1/robotmode") == {"mode": "RUNNING"}


@pytest.mark.parametrize(("version", "stays"), [((5, 12), False), ((10, 12), True)])
def test_a_primary_connection_from_local_control_stays_read_only_on_polyscope_x(box, version, stays: bool) -> None:
    x = box(*version)
    old = PrimaryConnection(x, "old")
    x.take_local_control()
    old.cycle()
    old.feed(b"power off\n")
    assert READ_ONLY in old.out
    x.safety.remote_control = True
    old.cycle()
    old.out.clear()
    old.feed(b"power off\n")
    assert (READ_ONLY in old.out, x.safety.robot_mode == 7) == (stays, stays)
    PrimaryConnection(x, "new").feed(b"power off\n")
    assert x.safety.robot_mode == 3


def test_a_text_message_precedes_the_version(box) -> None:
    connection = RtdeConnection(box(10, 7), "test")
    connection.feed(wire.message(wire.GET_CONTROLLER_VERSION))
    (text, words), (kind, version) = wire.split(connection.out)
    assert (text, kind, struct.unpack(">4I", version)) == (
        ord("M"),
        wire.GET_CONTROLLER_VERSION,
        (10, 7, 0, 0),
    )
    said, source = b"SafetySetup has not been confirmed yet", b"emulator"
    assert words == bytes([len(said)]) + said + bytes([len(source)]) + source + b"\x01"


def test_variables_of_5_23_came_with_10_11() -> None:
    for version, there in (((5, 22, 0), False), ((5, 23, 0), True), ((10, 10, 0), False), ((10, 11, 0), True)):
        assert (known(OUTPUTS, "control_step", version) is not None) == there
    assert known(OUTPUTS, "tcp_offset", (10, 7, 0)) == "VECTOR6D"


def test_software_that_no_such_arm_has_is_refused() -> None:
    defaults = {main._version("", name) for name in MODEL_NAMES}
    assert defaults == {(3, 15, 8), (5, 12, 2), (5, 14, 0), (5, 15, 0), (5, 22, 0), (5, 23, 0)}
    assert main._version("10.12", "ur18") == (10, 12, 0)
    for text, model in (("10.6", "ur5e"), ("10.10", "ur18"), ("5.3", "ur5e"), ("5.12.2", "ur20"), ("7.0", "ur5e")):
        with pytest.raises(SimulationError, match=f"--version {text}: "):
            main._version(text, model)
