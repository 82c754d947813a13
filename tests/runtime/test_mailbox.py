"""Anyone may write to the loop; nobody can hurt it."""

import json
import socket
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_admittance.core.records import Mode
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime import registry
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import MAX_MESSAGE_BYTES, Answer, Code, Mailbox, send


@pytest.fixture
def mailbox(name):
    with Mailbox(name) as mailbox:
        yield mailbox


def ask(mailbox, controller, message):
    return mailbox.answer(controller, json.dumps(message).encode())


def ticks(controller, robot, count=1):
    for _ in range(count):
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)


def test_requests_reach_the_controller(mailbox, controller, robot):
    ticks(controller, robot)
    assert controller.mode == Mode.ACTIVE
    assert ask(mailbox, controller, {"request": "deactivate"}) == Answer(True, "deactivate requested", Code.DONE)
    ticks(controller, robot, 300)
    assert controller.mode == Mode.INACTIVE
    assert ask(mailbox, controller, {"request": "activate"}).code == Code.UNCONFIRMED  # the push is still there
    ticks(controller, robot)
    assert controller.mode == Mode.INACTIVE
    assert ask(mailbox, controller, {"request": "activate_with_load"}).accepted
    ticks(controller, robot)
    assert controller.mode == Mode.ACTIVE
    robot.external_status = 12  # protective stop
    ticks(controller, robot, 300)
    answer = ask(mailbox, controller, {"request": "activate"})
    assert not answer.accepted
    assert "protective stop" in answer.text
    answer = ask(mailbox, controller, {"request": "reset_fault"})
    assert not answer.accepted
    assert answer.text.startswith("reset_fault: the cause is still there: the robot is in a protective stop")
    robot.external_status = 0
    ticks(controller, robot, 1)
    assert ask(mailbox, controller, {"request": "reset_fault"}).accepted
    ticks(controller, robot)
    assert controller.mode == Mode.INACTIVE
    for request in ("stop", "latch_reference"):
        assert ask(mailbox, controller, {"request": request}).accepted


def test_zeroing_is_refused_with_the_controllers_sentence_or_done(mailbox, controller, robot):
    refused = ask(mailbox, controller, {"request": "zero_ft_sensor"})
    assert not refused.accepted
    assert refused.text.startswith("zeroing refused")
    ask(mailbox, controller, {"request": "deactivate"})
    ticks(controller, robot, 600)
    assert ask(mailbox, controller, {"request": "zero_ft_sensor"}).code == "unconfirmed"
    assert ask(mailbox, controller, {"request": "zero_free_tool"}).accepted
    ticks(controller, robot)
    assert controller.command["wrench_sensor"][0] < 20.0
    assert controller.params["sensor_bias"][0] == pytest.approx(20.0)


def test_who_makes_the_arm_move_by_itself_is_told(mailbox, controller, robot):
    answer = ask(mailbox, controller, {"set": {"admittance.desired_wrench": [0, 0, 5, 0, 0, 0]}})
    assert "active, without a push the tool moves along -z" in answer.text
    answer = ask(mailbox, controller, {"set": {"admittance.desired_wrench": [0, 0, 0, 0, 0, 0]}})
    assert "without a push" not in answer.text


def test_parameters_are_set_or_refused_with_name_value_and_bound(mailbox, controller, robot):
    assert ask(mailbox, controller, {"set": {"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4]}}).accepted
    ticks(controller, robot)
    assert controller.params["mass"][0] == 4.0
    refused = ask(mailbox, controller, {"set": {"admittance.mass": [-1, 4, 4, 0.4, 0.4, 0.4]}})
    assert not refused.accepted
    assert "admittance.mass" in refused.text
    assert "-1" in refused.text
    ticks(controller, robot)
    assert controller.params["mass"][0] == 4.0


def test_references_are_set(mailbox, controller):
    assert ask(mailbox, controller, {"reference": {"twist": [0.1, 0, 0, 0, 0, 0]}}).accepted
    assert controller.sample["reference_twist"][0] == 0.1
    assert ask(mailbox, controller, {"reference": {"wrench": [0, 0, 5, 0, 0, 0]}}).accepted
    assert controller.sample["reference_wrench"][2] == 5.0
    before = int(controller.sample["target_id"])
    pose = {"position": [0.4, 0.1, 0.3], "rotation": np.eye(3).tolist()}
    assert ask(mailbox, controller, {"reference": pose}).accepted
    assert controller.sample["target_id"] == before + 1
    assert controller.sample["target_position"].tolist() == [0.4, 0.1, 0.3]


HOSTILE = [
    b"",
    b"\x00\xff\xfe",
    b"{",
    b"[]",
    b"7",
    b"null",
    b"{}",
    b'{"request": "activate", "set": {}}',
    b'{"request": "shutdown"}',
    b'{"request": null}',
    b'{"request": ["stop"]}',
    b'{"request": {"a": 1}}',
    b'{"request": "__class__"}',
    b'{"set": []}',
    b'{"set": {}}',
    b'{"set": {"no.such.name": 1}}',
    b'{"set": {"admittance.mass": {"$ref": "x"}}}',
    b'{"set": {"admittance.mass": [NaN, 1, 1, 1, 1, 1]}}',
    b'{"set": {"admittance.mass": [1e999, 1, 1, 1, 1, 1]}}',
    b'{"set": {"admittance.mass": "8"}}',
    b'{"set": {"": 1}}',
    b'{"set": {"control_rate": 1000}}',
    b'{"reference": 3}',
    b'{"reference": {}}',
    b'{"reference": {"twist": [1, 2, 3]}}',
    b'{"reference": {"twist": [1e999, 0, 0, 0, 0, 0]}}',
    b'{"reference": {"twist": "abcdef"}}',
    b'{"reference": {"twist": [[1], 2, 3, 4, 5, 6]}}',
    b'{"reference": {"position": [0, 0, 0], "rotation": [[2, 0, 0], [0, 1, 0], [0, 0, 1]]}}',
    b'{"reference": {"position": [0, 0, 0], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}',
    b'{"reference": {"position": [1e308, 0, 0], "rotation": [[1e308, 0, 0], [0, 1e308, 0], [0, 0, 1]]}}',
    b'{"what": 1}',
    b'{"' + b"k" * 4000 + b'": 1}',
    b"[" * 8000,
    b'{"a":' * 1600,
    b'{"set": {"admittance.mass": ' + b"9" * 7000 + b"}}",
    b'{"request": "' + b"x" * MAX_MESSAGE_BYTES + b'"}',
    json.dumps({"request": "\ud800"}).encode(),
]


@pytest.mark.parametrize("message", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_message_is_answered_with_a_sentence_and_changes_nothing(mailbox, controller, message):
    before = controller.params.tobytes(), controller.sample.tobytes(), controller.parameters
    answer = mailbox.answer(controller, message)
    assert not answer.accepted
    assert 10 < len(answer.text) < 3000
    assert (controller.params.tobytes(), controller.sample.tobytes(), controller.parameters) == before


EXPENSIVE = [
    {"set": {"admittance.mass" * 400: 1}},
    {"set": {"admittance." + "b." * 2000 + "c": 1}},
    {"set": {f"admittance.mas{i}": 1 for i in range(300)}},
    {"set": {"admittance.mass": ["a"] * 1500}},
    {"set": {"admittance.stiffness": {"a": {"b": [[[]]] * 900}}}},
]


@pytest.mark.realtime
@pytest.mark.parametrize("message", EXPENSIVE, ids=range(len(EXPENSIVE)))
def test_no_message_costs_more_than_setting_a_parameter_does(mailbox, controller, message):
    """A search for the nearest known name in the loop took half a second for the first of these."""

    def cost(message):
        costs = []
        for i in range(5):
            data = json.dumps(message(i)).encode()
            begin = time.perf_counter()
            mailbox.answer(controller, data)
            costs.append(time.perf_counter() - begin)
        return min(costs)

    usual = cost(lambda i: {"set": {"admittance.mass": [5.0 + i] * 3 + [0.5] * 3}})
    assert not ask(mailbox, controller, message).accepted
    assert cost(lambda i: message) < 4.0 * usual


def test_the_sender_is_told_the_nearest_known_name(name, mailbox, controller, robot):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(send({"set": {"admittance.mas": 1}}, name, timeout=10.0)))
    thread.start()
    run(
        controller, robot, RealTimeClock(500.0), mailbox=mailbox, on_tick=lambda c: not thread.is_alive(), duration=20.0
    )
    thread.join()
    assert answers[0].text == "admittance.mas is not a parameter; the nearest known name is admittance.mass"


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=12,
)


@given(
    content=st.dictionaries(st.sampled_from(["set", "request", "reference", "x"]), _JSON, max_size=2) | _JSON,
    garbage=st.binary(max_size=4),
)
def test_no_message_ever_raises(content, garbage):
    mailbox = Mailbox.__new__(Mailbox)
    from ur_admittance.runtime.mailbox import HANDLERS

    mailbox.handlers = dict(HANDLERS)

    class Refuses:
        def __getattr__(self, name):
            raise KeyError(name)

    answer = mailbox.answer(Refuses(), json.dumps(content).encode() + garbage)
    assert not answer.accepted
    assert answer.text


def test_an_application_adds_its_own_kinds_of_messages(name, controller):
    pushes = []
    with Mailbox(name, {"push": lambda controller, value: pushes.append(value)}) as mailbox:
        assert ask(mailbox, controller, {"push": [10, 0, 0]}).accepted
        assert pushes == [[10, 0, 0]]
        mailbox.handlers["push"] = lambda controller, value: 1 / 0
        assert ask(mailbox, controller, {"push": 1}).text.startswith("message refused: ZeroDivisionError")


def test_a_message_over_the_socket_is_answered_while_the_loop_runs(name, mailbox, controller, robot):
    answers = []

    def client():
        answers.append(send({"request": "latch_reference"}, name, timeout=10.0))
        answers.append(send({"request": "dance"}, name, timeout=10.0))

    thread = threading.Thread(target=client)
    thread.start()
    run(
        controller, robot, RealTimeClock(500.0), mailbox=mailbox, on_tick=lambda c: not thread.is_alive(), duration=20.0
    )
    thread.join()
    assert answers[0] == Answer(True, "latch_reference requested", Code.DONE)
    assert answers[1].text.startswith("request 'dance' is unknown; known: activate")


def test_one_message_per_cycle_whatever_is_sent(name, mailbox, controller):
    handled = []
    mailbox.handlers["count"] = lambda controller, value: handled.append(value)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as flood:
        flood.setblocking(False)
        sent = 0
        try:
            for i in range(10_000):
                flood.sendto(b'{"count": %d}' % i, str(registry.shared_file(name, "mailbox")))
                sent += 1
        except BlockingIOError:
            pass
    assert 1 < sent < 10_000, "the system's queue bounds what can wait"
    for i in range(sent):
        assert mailbox.poll(controller)
        assert handled == list(range(i + 1))
    assert not mailbox.poll(controller)


def test_senders_that_never_read_or_are_gone_do_not_matter(name, mailbox, controller, tmp_path):
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    deaf.bind(str(tmp_path / "deaf"))
    for _ in range(3000):
        deaf.sendto(b'{"request": "latch_reference"}', str(registry.shared_file(name, "mailbox")))
        begin = time.monotonic()
        assert mailbox.poll(controller)
        assert time.monotonic() - begin < 0.5
    deaf.sendto(b"{}", str(registry.shared_file(name, "mailbox")))
    deaf.close()
    (tmp_path / "deaf").unlink()
    assert mailbox.poll(controller)


def test_an_oversized_datagram_is_answered_with_the_limit(name, mailbox, controller, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.bind(str(tmp_path / "sender"))
        sender.sendto(b" " * 60_000, str(registry.shared_file(name, "mailbox")))
        assert mailbox.poll(controller)
        assert json.loads(sender.recv(4096)) == {
            "accepted": False,
            "text": f"message refused: longer than {MAX_MESSAGE_BYTES} bytes",
            "code": "malformed",
            "name": "",
        }
    with pytest.raises(UrAdmittanceError, match="at most 8192 are allowed"):
        send({"set": {"x": "y" * 9000}}, name)


def test_looking_into_an_empty_mailbox_is_cheap(mailbox, controller):
    costs = []
    for _ in range(2000):
        begin = time.perf_counter_ns()
        mailbox.poll(controller)
        costs.append(time.perf_counter_ns() - begin)
    assert np.percentile(costs, 10) < 10_000  # about 700 ns


def test_nobody_there_is_told_in_a_sentence(name, controller):
    with pytest.raises(UrAdmittanceError, match=f"no controller named '{name}' is running"):
        send({"request": "stop"}, name)
    with Mailbox(name), pytest.raises(UrAdmittanceError, match=r"did not answer within 0.05 s"):
        send({"request": "stop"}, name, timeout=0.05)


def test_the_mailbox_of_a_running_controller_is_not_taken_over_and_that_of_a_dead_one_is(name):
    with Mailbox(name), pytest.raises(UrAdmittanceError, match="already running"):
        Mailbox(name)
    dead = Mailbox(name)
    dead._socket.close()  # as when the process was killed: the file stays
    assert registry.shared_file(name, "mailbox").exists()
    Mailbox(name).close()


def test_only_the_owner_may_write(name, mailbox):
    assert registry.shared_file(name, "mailbox").stat().st_mode & 0o077 == 0


def test_messages_work_in_lock_step_too(name, mailbox, controller, robot):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b'{"set": {"control_frame": "tcp"}}', str(registry.shared_file(name, "mailbox")))
    run(controller, robot, LockstepClock(500.0), duration=0.01, mailbox=mailbox)
    assert controller.parameters.control_frame == "tcp"
