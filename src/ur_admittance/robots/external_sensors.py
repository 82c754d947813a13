"""Readers of external force/torque sensors for ``RtdeRobot(..., sensor=...)``: ATI NetFT and Robotiq FT 300.

They have no threads: ``latest()`` takes what has arrived since the last cycle.

NetFT: readings over UDP, port 49152 (Raw Data Transfer), all big endian. Counts per newton and newton metre are in the
sensor's configuration (netftapi2.xml). Source: ATI Industrial Automation, Network Force/Torque Sensor System manual
(9620-05-NET FT), section on UDP/RDT.
    request   uint16 0x1234, uint16 command (0 stop, 2 stream), uint32 number of samples (0: endless)
    record    uint32 RDT sequence, uint32 F/T sequence, uint32 status, int32 Fx Fy Fz Tx Ty Tz, in counts

FT 300: a serial line (19200 baud, 8N1) with about 100 readings a second. Source: Robotiq FT 300 instruction manual,
section on the data stream.
    start   Modbus "write multiple registers": slave 9, register 410, value 0x0200
    frame   0x20 0x4E, six int16 little endian (0.01 N, 0.001 Nm), CRC-16 (Modbus) little endian
    stop    50 bytes 0xFF
"""

import contextlib
import os
import re
import socket
import struct
import termios
import time
import urllib.request
from abc import ABC, abstractmethod
from collections import Counter

from ur_admittance import given
from ur_admittance.errors import RobotError

Wrench = tuple[float, ...]
NEVER = 1e6  # [s] age of a reading that never came
FIRST_READING = 2.0  # [s] to wait at start


class Reading:
    """The newest one, when it came, and counts of what was wrong."""

    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()  # duplicates, lost, out of order, bad checksum, sensor error ...
        self.count = 0
        self._values: Wrench = (0.0,) * 6
        self._arrived = time.monotonic() - NEVER

    def accept(self, counts: list[int], per_force: float, per_torque: float) -> None:
        """Fx Fy Fz Tx Ty Tz in counts of so many newtons and newton metres."""
        self._values = tuple(c * (per_force if i < 3 else per_torque) for i, c in enumerate(counts))
        self._arrived = time.monotonic()
        self.count += 1

    def latest(self) -> tuple[Wrench, float]:
        """As the sensor sent it [N, Nm], sensor axes, and its age [s]."""
        return self._values, time.monotonic() - self._arrived


class ExternalSensor(ABC):
    def __init__(self, source: str) -> None:
        self.source = source  # as sensor.source has it
        self.reading = Reading()

    @abstractmethod
    def start(self) -> None:
        """Begin the stream and wait for the first reading. RobotError when there is none."""

    @abstractmethod
    def stop(self) -> None:
        """End the stream."""

    @abstractmethod
    def _drain(self) -> None:
        """Take what has arrived; never waits."""

    def latest(self) -> tuple[Wrench, float]:
        """Newest reading [N, Nm] and its age [s]; never waits."""
        self._drain()
        return self.reading.latest()

    def _await_first(self, silent: str) -> None:
        """RobotError, with this sentence: nothing has come in time."""
        end = time.monotonic() + FIRST_READING
        while self.reading.count == 0:
            if time.monotonic() > end:
                self.stop()
                raise RobotError(silent)
            time.sleep(0.005)
            self._drain()


PORT = 49152
REQUEST, RECORD = struct.Struct(">HHI"), struct.Struct(">3I6i")
HEADER, STOP, STREAM = 0x1234, 0, 2
ERROR_BIT = 0x80000000  # summary of all errors in the status word
HALF = 1 << 31  # sequence numbers wrap at 2^32
DRAIN = 2000  # records taken in one call at most
ASK_AGAIN = 0.5  # [s] of silence after which the stream is requested again: the sensor may have restarted


class NetFt(ExternalSensor):
    """``RtdeRobot(host, model, RtdeSettings(sensor="external"), NetFt("192.168.1.1"))``.

    Set the sensor's RDT rate to 500 to 1000 Hz: 7 kHz only costs time here.
    """

    def __init__(
        self, host: str, counts_per_force: float | None = None, counts_per_torque: float | None = None, port: int = PORT
    ) -> None:
        """counts [1/N, 1/Nm]; None: ask the sensor's web page."""
        given.address("NetFt address", host, "192.168.1.1", RobotError)
        given.whole("NetFt port", port, 1, 65535, RobotError)
        super().__init__(f"netft:{host}")
        self.host, self.port = host, port
        self._counts = (counts_per_force, counts_per_torque)
        self._scale: tuple[float, float] = (0.0, 0.0)
        self._socket: socket.socket | None = None
        self._sequence: int | None = None
        self._sample: int | None = None
        self._asked = 0.0

    def start(self) -> None:
        force, torque = self._counts
        if force is None or torque is None:
            force, torque = configured_counts(self.host)
        if not (force > 0.0 and torque > 0.0):
            raise RobotError(f"NetFT at {self.host}: counts per unit = {force}, {torque}: must be > 0.")
        self._scale = (1.0 / force, 1.0 / torque)
        self._sequence = self._sample = None
        try:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((self.host, self.port))  # only datagrams of the sensor itself are taken
            self._socket.setblocking(False)
        except OSError as error:
            raise RobotError(f"NetFT at {self.host}: {error.strerror or error}.") from None
        self._request(STREAM)
        self._await_first(f"NetFT at {self.host} sends nothing on UDP port {self.port}: check its address.")

    def stop(self) -> None:
        if self._socket is not None:
            self._request(STOP)
            self._socket.close()
            self._socket = None

    def latest(self) -> tuple[Wrench, float]:
        wrench, age = super().latest()
        if age > ASK_AGAIN and time.monotonic() - self._asked > ASK_AGAIN:
            self._request(STREAM)
        return wrench, age

    def _request(self, command: int) -> None:
        self._asked = time.monotonic()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.send(REQUEST.pack(HEADER, command, 0))

    def _drain(self) -> None:
        if self._socket is None:
            return
        for _ in range(DRAIN):
            try:
                record = self._socket.recv(2048)
            except BlockingIOError:
                return
            except OSError:  # refused while the sensor restarts
                self.reading.faults["refused"] += 1
                return
            self._take(record)

    def _take(self, record: bytes) -> None:
        faults = self.reading.faults
        if len(record) != RECORD.size:
            faults["wrong length"] += 1
            return
        sequence, sample, status, *counts = RECORD.unpack(record)
        if self._sequence is not None:
            step = (sequence - self._sequence) % (2 * HALF)
            if step == 0:
                faults["duplicate"] += 1
                return
            if step >= HALF and sequence > 1:  # older than the last; 0 or 1: the sensor has restarted
                faults["out of order"] += 1
                return
            if 1 < step < HALF:
                faults["lost"] += step - 1
        repeated = sample == self._sample
        self._sequence, self._sample = sequence, sample
        if status & ERROR_BIT:
            faults["sensor error"] += 1
        elif repeated:
            faults["repeated sample"] += 1  # the network is alive, the transducer is not
        else:
            self.reading.accept(counts, *self._scale)


def configured_counts(host: str, timeout: float = 3.0) -> tuple[float, float]:
    """Counts per newton and per newton metre as the sensor is configured."""
    try:
        with urllib.request.urlopen(f"http://{host}/netftapi2.xml", timeout=timeout) as page:
            text = page.read(100_000).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise RobotError(
            f"NetFT at {host} does not serve its configuration ({error}); give counts_per_force and counts_per_torque."
        ) from None
    keys = ("cfgcpf", "cfgcpt", "cfgfu", "cfgtu")
    force, torque, unit, torque_unit = (re.search(rf"<{key}>\s*([^<]+?)\s*</{key}>", text) for key in keys)
    if force is None or torque is None:
        raise RobotError(f"NetFT at {host}: its configuration names no counts per unit; give them.")
    units = (unit[1] if unit else "N", torque_unit[1] if torque_unit else "Nm")
    if units[0] != "N" or units[1] not in ("Nm", "N-m"):
        raise RobotError(f"NetFT at {host} measures in {units[0]} and {units[1]}: set its units to N and Nm.")
    try:
        return float(force[1]), float(torque[1])
    except ValueError:
        raise RobotError(f"NetFT at {host}: counts per unit are {force[1]} and {torque[1]}: must be numbers.") from None


START = bytes.fromhex("0910019a000102 0200")
HEAD = b"\x20\x4e"
FRAME = struct.Struct("<2s6hH")
END = b"\xff" * 50
FORCE, TORQUE = 0.01, 0.001  # [N, Nm] per count
BUFFER = 4096  # [bytes] kept at most


def crc(data: bytes) -> int:
    """CRC-16 of Modbus: polynomial 0xA001 (reflected), start 0xFFFF."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


class RobotiqFt(ExternalSensor):
    """``RobotiqFt("/dev/ttyUSB0")``. 100 Hz: a force is up to 10 ms old; stay slow on hard surfaces."""

    def __init__(self, device: str) -> None:
        given.address("RobotiqFt device", device, "/dev/ttyUSB0", RobotError)
        super().__init__(f"robotiq:{device}")
        self.device = device
        self._file = -1
        self._buffer = bytearray()

    def start(self) -> None:
        try:
            self._file = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            _raw_19200(self._file)
            os.write(self._file, END)
            time.sleep(0.05)
            termios.tcflush(self._file, termios.TCIFLUSH)
            os.write(self._file, START + struct.pack("<H", crc(START)))
        except (OSError, termios.error) as error:
            self.stop()
            reason = error.strerror if isinstance(error, OSError) else error
            raise RobotError(f"the force sensor on {self.device} cannot be opened ({reason}).") from None
        self._await_first(f"the force sensor on {self.device} sends no readings: check power and cable.")

    def stop(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.write(self._file, END)
            os.close(self._file)
            self._file = -1

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
        self.reading.accept(counts, FORCE, TORQUE)


def _raw_19200(file: int) -> None:
    settings = termios.tcgetattr(file)
    settings[0] = settings[1] = settings[3] = 0  # no translation, no echo
    settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = termios.B19200
    termios.tcsetattr(file, termios.TCSANOW, settings)


def external_sensor(source: str) -> ExternalSensor | None:
    """``netft:192.168.1.1`` or ``robotiq:/dev/ttyUSB0``, as sensor.source has them; None: it is none of these."""
    kind, _, place = source.partition(":")
    if kind == "netft" and place:
        return NetFt(place)
    return RobotiqFt(place) if kind == "robotiq" and place else None
