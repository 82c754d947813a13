"""Robotiq FT 300 on a serial line (19200 baud, 8N1): streams about 100 readings a second.

Source: Robotiq FT 300 instruction manual, section on the data stream.
    start   Modbus "write multiple registers": slave 9, register 410, value 0x0200
    frame   0x20 0x4E, six int16 little endian (0.01 N, 0.001 Nm), CRC-16 (Modbus) little endian
    stop    50 bytes 0xFF
"""

import contextlib
import os
import struct
import termios
import time

from ur_admittance import given
from ur_admittance.errors import RobotError
from ur_admittance.robots.sensors.reading import Reading, Wrench

START = bytes.fromhex("0910019a000102 0200".replace(" ", ""))
HEAD = b"\x20\x4e"
FRAME = struct.Struct("<2s6hH")
STOP = b"\xff" * 50
FORCE, TORQUE = 0.01, 0.001  # [N, Nm] per count
FIRST_READING = 2.0  # [s]
BUFFER = 4096  # [bytes] kept at most


def crc(data: bytes) -> int:
    """CRC-16 of Modbus: polynomial 0xA001 (reflected), start 0xFFFF."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


class RobotiqFt:
    """``RobotiqFt("/dev/ttyUSB0")``. 100 Hz: a force is up to 10 ms old; stay slow on hard surfaces."""

    def __init__(self, device: str) -> None:
        given.address("RobotiqFt device", device, "/dev/ttyUSB0", RobotError)
        self.device = device
        self.source = f"robotiq:{device}"
        self.reading = Reading()
        self._file = -1
        self._buffer = bytearray()

    def start(self) -> None:
        try:
            self._file = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            _raw_19200(self._file)
            os.write(self._file, STOP)
            time.sleep(0.05)
            termios.tcflush(self._file, termios.TCIFLUSH)
            os.write(self._file, START + struct.pack("<H", crc(START)))
        except (OSError, termios.error) as error:
            self.stop()
            reason = error.strerror if isinstance(error, OSError) else error
            raise RobotError(f"the force sensor on {self.device} cannot be opened ({reason}).") from None
        end = time.monotonic() + FIRST_READING
        while self.reading.count == 0:
            if time.monotonic() > end:
                self.stop()
                raise RobotError(f"the force sensor on {self.device} sends no readings: check power and cable.")
            time.sleep(0.005)
            self._drain()

    def stop(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.write(self._file, STOP)
            os.close(self._file)
            self._file = -1

    def latest(self) -> tuple[Wrench, float]:
        """Newest reading [N, Nm] and its age [s]; never waits."""
        self._drain()
        return self.reading.latest()

    def _drain(self) -> None:
        if self._file < 0:
            return
        with contextlib.suppress(OSError):  # nothing there, or the cable is out: the age shows it
            self._buffer += os.read(self._file, BUFFER)
        del self._buffer[:-BUFFER]
        while True:
            start = self._buffer.find(HEAD)
            if start < 0:
                del self._buffer[:-1]  # the last byte may be half a head
                return
            del self._buffer[:start]
            if len(self._buffer) < FRAME.size:
                return
            self._take(bytes(self._buffer[: FRAME.size]))

    def _take(self, frame: bytes) -> None:
        _, *counts, checksum = FRAME.unpack(frame)
        if crc(frame[:-2]) != checksum:
            self.reading.faults["bad checksum"] += 1
            del self._buffer[:1]  # the head may have been data: look for the next one
            return
        del self._buffer[: FRAME.size]
        self.reading.accept(tuple(c * (FORCE if i < 3 else TORQUE) for i, c in enumerate(counts)))


def _raw_19200(file: int) -> None:
    settings = termios.tcgetattr(file)
    settings[0] = settings[1] = settings[3] = 0  # no translation, no echo
    settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = termios.B19200
    termios.tcsetattr(file, termios.TCSANOW, settings)
