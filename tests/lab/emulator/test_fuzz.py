"""Malformed messages on the ports: no crash, no stuck state, other clients unaffected.

A short run always; ``UR_EMULATOR_FUZZ=100000`` sends that many messages in all.
"""

import os
import random
import socket
import struct
import time

import pytest

from ur_admittance.robots.rtde.wire import message
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

MESSAGES = int(os.environ.get("UR_EMULATOR_FUZZ", "6000"))
PER_CONNECTION = 50
PORTS = (30004, 29999, 30003, 30001)
WORDS = [b"play", b"stop", b"load ", b"popup ", b"emulator push nan 0 0 0 0 0", b"emulator slider 9", b"robotmode"]
WORDS += [b"emulator cut -1", b"emulator", b"emulator mark " + b"x" * 300, b"\xff\xfe", b"unlock protective stop"]
NAMES = [b"timestamp", b"actual_q", b"input_int_register_30", b"input_double_register_31", b"speed_slider_mask", b"?"]


def rtde_message(rng: random.Random) -> bytes:
    """Random bytes, or a proper message with something wrong in it."""
    kind = rng.choice(b"VvMUOISPzR\x00\xff")
    choice = rng.random()
    if choice < 0.2:
        return rng.randbytes(rng.randint(1, 60))
    if choice < 0.4:  # a size that does not fit
        body = rng.randbytes(rng.randint(0, 30))
        return struct.pack(">HB", rng.choice([0, 1, 2, 3, 65535, len(body)]), kind) + body
    names = b",".join(rng.choice(NAMES) for _ in range(rng.randint(0, 8)))
    frequency = struct.pack(">d", rng.choice([float("nan"), -1.0, 0.0, 1e300, 500.0, 125.0]))
    payload = {ord("O"): frequency + names, ord("I"): names}.get(kind, rng.randbytes(rng.randint(0, 80)))
    return message(kind, payload)


def text_message(rng: random.Random) -> bytes:
    line = rng.choice(WORDS) if rng.random() < 0.6 else rng.randbytes(rng.randint(0, 80))
    return line + (b"\n" if rng.random() < 0.95 else b"")


def script_message(rng: random.Random) -> bytes:
    body = rng.choice(
        [b"def f():\n", b"movej([nan],a=1,v=1)\n", b"\nend\n", b"end\n", rng.randbytes(40), b"def x()\nend\n"]
        + [b"movej([0, 0, 0, 0, 0, 0])\n", b"sec s():\nsync()\nend\n", b"while True:\n"]
    )
    return body * rng.randint(1, 5)


MAKERS = {30004: rtde_message, 29999: text_message, 30003: script_message, 30001: script_message}


def attack(host: str, port: int, count: int, rng: random.Random) -> int:
    """One connection, ``count`` messages; returns how many could be sent before the emulator hung up."""
    sent = 0
    with socket.create_connection((host, port), timeout=5.0) as connection:
        try:
            for _ in range(count):
                connection.sendall(MAKERS[port](rng))
                sent += 1
                if rng.random() < 0.05:
                    connection.setblocking(False)
                    connection.recv(65536)
                    connection.settimeout(5.0)
        except BlockingIOError:
            pass
        except OSError:  # disconnected, as a broken stream deserves
            pass
    return sent


def settled(emulator: EmulatorProcess) -> dict[str, int]:
    """Counters when all that was sent has been read: a connection that costs much is heard little by little."""
    last: dict[str, int] = {}
    while (now := emulator.ask("counters") | {"connections": 0}) != last:
        last = now
        time.sleep(0.5)
    return last


@pytest.mark.timeout(1800)
def test_malformed_messages_neither_crash_the_emulator_nor_disturb_a_client(connect, emulator: EmulatorProcess) -> None:
    rng = random.Random(1)
    watcher = connect()
    watcher.outputs(["timestamp"])
    watcher.start()
    sent, seen = 0, 0
    begin, first = time.monotonic(), watcher.state()["timestamp"]
    last = first
    while sent < MESSAGES:
        sent += attack(emulator.host, rng.choice(PORTS), PER_CONNECTION, rng)
        for _ in range(2):
            stamp = watcher.state()["timestamp"]
            assert 0.0 < stamp - last < 0.0021  # the next one: nothing was left out
            last, seen = stamp, seen + 1
    assert emulator.alive
    counters = settled(emulator)
    assert emulator.tell("reset") == "ok"
    # the whole handshake still works for a new client
    fresh = connect()
    assert fresh.outputs(["timestamp", "actual_q"]) == ["DOUBLE", "VECTOR6D"]
    assert fresh.input(["input_int_register_30", "speed_slider_mask"])[0] == 1
    assert fresh.start()
    assert fresh.state()["timestamp"] > last
    assert emulator.dashboard("robotmode") == "Robotmode: RUNNING"
    assert counters["bad message"] + counters["compile error"] > MESSAGES / 30  # some are lost with their connection
    emulator.lines.append(f"{sent} messages in {time.monotonic() - begin:.1f} s, {seen} states checked")
