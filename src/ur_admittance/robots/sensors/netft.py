"""ATI Network Force/Torque sensor: readings over UDP, port 49152 (Raw Data Transfer).

Source: ATI Industrial Automation, Network Force/Torque Sensor System manual (9620-05-NET FT), section on UDP/RDT.
    request   uint16 0x1234, uint16 command (0 stop, 2 stream), uint32 number of samples (0: endless)
    record    uint32 RDT sequence, uint32 F/T sequence, uint32 status, int32 Fx Fy Fz Tx Ty Tz, in counts
All big endian. Counts per newton and newton metre are in the sensor's configuration (netftapi2.xml).
"""

import contextlib
import re
import socket
import struct
import time
import urllib.request

from ur_admittance import given
from ur_admittance.errors import RobotError
from ur_admittance.robots.sensors.reading import Reading, Wrench

PORT = 49152
REQUEST, RECORD = struct.Struct(">HHI"), struct.Struct(">3I6i")
HEADER, STOP, STREAM = 0x1234, 0, 2
ERROR_BIT = 0x80000000  # summary of all errors in the status word
HALF = 1 << 31  # sequence numbers wrap at 2^32
DRAIN = 2000  # records taken in one call at most
ASK_AGAIN = 0.5  # [s] of silence after which the stream is requested again: the sensor may have restarted
FIRST_READING = 2.0  # [s] to wait at start


class NetFt:
    """``RtdeRobot(host, model, RtdeSettings(sensor="external"), NetFt("192.168.1.1"))``.

    Set the sensor's RDT rate to 500 to 1000 Hz: 7 kHz only costs time here.
    """

    def __init__(
        self, host: str, counts_per_force: float | None = None, counts_per_torque: float | None = None, port: int = PORT
    ) -> None:
        """counts [1/N, 1/Nm]; None: ask the sensor's web page."""
        given.address("NetFt address", host, "192.168.1.1", RobotError)
        given.whole("NetFt port", port, 1, 65535, RobotError)
        self.host, self.port = host, port
        self.source = f"netft:{host}"
        self._counts = (counts_per_force, counts_per_torque)
        self._scale: tuple[float, float] = (0.0, 0.0)
        self.reading = Reading()
        self._socket: socket.socket | None = None
        self._sequence: int | None = None
        self._sample: int | None = None
        self._asked = 0.0

    def start(self) -> None:
        """Begin the stream and wait for the first reading. RobotError when there is none."""
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
        end = time.monotonic() + FIRST_READING
        while self.reading.count == 0:
            if time.monotonic() > end:
                self.stop()
                raise RobotError(f"NetFT at {self.host} sends nothing on UDP port {self.port}: check its address.")
            time.sleep(0.005)
            self._drain()

    def stop(self) -> None:
        if self._socket is not None:
            self._request(STOP)
            self._socket.close()
            self._socket = None

    def latest(self) -> tuple[Wrench, float]:
        """Newest reading [N, Nm] and its age [s]; never waits."""
        self._drain()
        wrench, age = self.reading.latest()
        now = time.monotonic()
        if age > ASK_AGAIN and now - self._asked > ASK_AGAIN:
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
            force, torque = self._scale
            self.reading.accept(tuple(c * (force if i < 3 else torque) for i, c in enumerate(counts)))


def configured_counts(host: str, timeout: float = 3.0) -> tuple[float, float]:
    """Counts per newton and per newton metre as the sensor is configured."""
    try:
        with urllib.request.urlopen(f"http://{host}/netftapi2.xml", timeout=timeout) as page:
            text = page.read(100_000).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise RobotError(
            f"NetFT at {host} does not serve its configuration ({error}); give counts_per_force and counts_per_torque."
        ) from None
    values = {key: re.search(rf"<{key}>\s*([^<]+?)\s*</{key}>", text) for key in ("cfgcpf", "cfgcpt", "cfgfu", "cfgtu")}
    force, torque, unit, torque_unit = (values[key] for key in ("cfgcpf", "cfgcpt", "cfgfu", "cfgtu"))
    if force is None or torque is None:
        raise RobotError(f"NetFT at {host}: its configuration names no counts per unit; give them.")
    units = (unit[1] if unit else "N", torque_unit[1] if torque_unit else "Nm")
    if units[0] != "N" or units[1] not in ("Nm", "N-m"):
        raise RobotError(f"NetFT at {host} measures in {units[0]} and {units[1]}: set its units to N and Nm.")
    try:
        return float(force[1]), float(torque[1])
    except ValueError:
        raise RobotError(f"NetFT at {host}: counts per unit are {force[1]} and {torque[1]}: must be numbers.") from None
