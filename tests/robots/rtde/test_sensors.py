"""Readers of external sensors against simulated ones: fresh, stale, duplicated, lost, broken."""

import os
import struct
import time
import tty

import numpy as np
import pytest

from ur_admittance.errors import RobotError
from ur_admittance.robots.external_sensors import HEAD, RECORD, START, NetFt, RobotiqFt, crc

from .netft_server import COUNTS, NetFtServer

PUSH = [1.5, -2.5, 30.0, 0.1, -0.2, 0.3]


def settle(sensor, seconds: float = 0.1) -> tuple[np.ndarray, float]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        wrench, age = sensor.latest()
        time.sleep(0.002)
    return np.array(wrench), age


@pytest.fixture
def netft():
    with NetFtServer() as server:
        sensor = NetFt(server.host, COUNTS, COUNTS, server.port)
        sensor.start()
        yield server, sensor
        sensor.stop()


@pytest.mark.realtime
def test_netft_reads_newtons_and_newton_metres(netft) -> None:
    server, sensor = netft
    server.wrench = PUSH
    wrench, age = settle(sensor)
    np.testing.assert_allclose(wrench, PUSH, atol=1e-5)
    assert age < 0.05


@pytest.mark.realtime
def test_a_silent_netft_grows_old_and_comes_back_by_itself(netft) -> None:
    server, sensor = netft
    server.silent = True
    age = settle(sensor, 0.2)[1]
    assert age > 0.1
    server.silent = False
    server.restart()  # nobody is subscribed any more, the sequence begins anew
    assert settle(sensor, 1.5)[1] < 0.2


def test_a_netft_that_repeats_its_sample_is_stale_although_packets_come(netft) -> None:
    server, sensor = netft
    server.frozen = True
    assert settle(sensor, 0.3)[1] > 0.2
    assert sensor.reading.faults["repeated sample"] > 50


def test_netft_counts_duplicates_and_losses(netft) -> None:
    server, sensor = netft
    server.duplicates = 7
    settle(sensor)
    server.losses = 5
    settle(sensor)
    assert sensor.reading.faults["duplicate"] == 7
    assert sensor.reading.faults["lost"] >= 5


def test_a_netft_with_an_error_in_its_status_is_not_believed(netft) -> None:
    server, sensor = netft
    server.status, server.wrench = 0x80010000, PUSH
    wrench, age = settle(sensor, 0.3)
    assert age > 0.2
    assert abs(wrench[2]) < 1.0


def test_old_and_malformed_records_are_dropped(netft) -> None:
    _, sensor = netft
    sensor._take(b"short")
    sensor._take(RECORD.pack((sensor._sequence - 10) % 2**32, 1, 0, *[10**9] * 6))
    assert sensor.reading.faults["wrong length"] == 1
    assert sensor.reading.faults["out of order"] == 1
    assert max(abs(x) for x in sensor.latest()[0]) < 1.0


def test_the_sequence_number_may_wrap_around(netft) -> None:
    _, sensor = netft
    sensor.stop()
    sensor._sequence, sensor._sample = 2**32 - 2, 0
    for sequence, sample in ((2**32 - 1, 1), (0, 2), (1, 3)):
        sensor._take(RECORD.pack(sequence, sample, 0, *[sample * COUNTS] * 6))
        assert sensor.reading.latest()[0][0] == pytest.approx(sample)


def test_no_netft_there_is_one_sentence() -> None:
    with pytest.raises(RobotError, match="sends nothing on UDP port 9"):
        NetFt("127.0.0.1", COUNTS, COUNTS, port=9).start()


class SerialSensor:
    """The other end of a pseudo terminal."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.master)
        self.device = os.ttyname(self.slave)

    def frame(self, counts: list[int]) -> bytes:
        data = HEAD + struct.pack("<6h", *counts)
        return data + struct.pack("<H", crc(data))

    def say(self, data: bytes) -> None:
        os.write(self.master, data)


@pytest.fixture
def serial():
    line = SerialSensor()
    sensor = RobotiqFt(line.device)
    sensor._file = os.open(line.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(sensor._file)
    yield line, sensor
    sensor.stop()
    os.close(line.master)
    os.close(line.slave)


def test_the_modbus_checksum_is_that_of_the_manual() -> None:
    # the start command as printed there ends in CD CA
    assert struct.pack("<H", crc(START)) == b"\xcd\xca"


def test_robotiq_reads_hundredths_and_thousandths(serial) -> None:
    line, sensor = serial
    line.say(line.frame([150, -250, 3000, 100, -200, 300]))
    time.sleep(0.05)
    wrench, age = sensor.latest()
    np.testing.assert_allclose(wrench, PUSH, atol=1e-9)
    assert age < 0.5


def test_robotiq_finds_the_frames_between_noise_and_halves(serial) -> None:
    line, sensor = serial
    good, bad = line.frame([100, 0, 0, 0, 0, 0]), bytearray(line.frame([900, 0, 0, 0, 0, 0]))
    bad[5] ^= 0x40
    line.say(b"\x20\x00\x4e" + good[:5])
    time.sleep(0.02)
    sensor.latest()
    line.say(good[5:] + bytes(bad) + HEAD)
    time.sleep(0.02)
    sensor.latest()
    assert sensor.reading.count == 1
    assert sensor.reading.faults["bad checksum"] == 1
    line.say(line.frame([200, 0, 0, 0, 0, 0])[2:])
    time.sleep(0.02)
    assert sensor.latest()[0][0] == pytest.approx(2.0)


def test_no_serial_sensor_there_is_one_sentence() -> None:
    with pytest.raises(RobotError, match="cannot be opened"):
        RobotiqFt("/dev/no_such_line").start()
