"""One RTDE connection: the robot's states come in by blocking receive, input registers go out.

A call waits in the kernel until the next state is there, so a cycle begins when its state arrives and nothing polls. Of
several states that have queued up the newest is used. While nobody asks for states (before the first command, in a
script that thinks), a thread takes them: the robot drops a client that does not read for ten seconds.
"""

import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde import wire

CHUNK = 1 << 14  # [bytes] read at once: about thirty states
UNREAD = 0.2  # [s] between two looks of the thread that takes what nobody reads


class States:
    """The newest state: ``states["actual_q"]`` is a tuple, ``states["robot_mode"]`` a number.

    inputs: variables that ``send`` writes, all in one package; RobotError when another client owns one of them.
    """

    def __init__(
        self, host: str, rate: float, outputs: Sequence[str], inputs: Sequence[str] = (), timeout: float = 3.0
    ) -> None:
        self.host = host
        self.connected = True
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._unread = threading.Event()  # the thread is to take what comes
        try:
            self._socket = socket.create_connection((host, wire.PORT), timeout=timeout)
        except OSError:
            raise self._no_answer() from None
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._set_up(rate, outputs, inputs, timeout)
        except BaseException as error:
            self._socket.close()
            if isinstance(error, OSError | wire.WireError | struct.error):
                raise self._no_answer() from None
            raise
        self.resting(True)
        threading.Thread(target=_take_unread, args=(weakref.ref(self), self._unread), daemon=True).start()
        weakref.finalize(self, _abandon, self._socket, self._unread)  # a robot that nobody closed

    # each cycle

    def __getitem__(self, name: str) -> Any:
        return self._values[self._places[name]]

    @property
    def timestamp(self) -> float:
        """Robot time of the newest state that has been taken [s]."""
        return float(self._values[0])

    def wait(self, used: float, patience: float) -> bool:
        """Until there is a newer state than the one of that time stamp; False when none comes in time [s]."""
        with self._lock:
            if self.timestamp != used:
                self._take_all()
            while self.timestamp == used and self._receive(patience):
                pass
            if self._more:  # after a pause of this program: what came first is as old as the pause was long
                self._take_all()
            self._waited = True
        return self.timestamp != used

    def refresh(self) -> None:
        """Take what has come, without waiting; at once after ``wait``, which has done so."""
        with self._lock:
            if not self._waited:
                self._take_all()
            self._waited = False

    def send(self, *numbers: float) -> bool:
        """Write the inputs, in their order. False when the connection is gone."""
        package = self._inputs.pack(*numbers)
        try:
            sent = self._socket.send(package, socket.MSG_DONTWAIT)
        except OSError:
            sent = 0
        if sent != len(package):  # never half of one: the robot would lose track of what is a package
            self.connected = False
        return self.connected

    # outside the loop

    def resting(self, yes: bool) -> None:
        """yes: nobody reads regularly from here on. In a loop no other thread wants the interpreter."""
        (self._unread.set if yes else self._unread.clear)()

    def close(self) -> None:
        with self._lock:
            self.connected = False
            self._socket.close()
        self._unread.set()

    # inside

    def _no_answer(self) -> RobotError:
        return RobotError(
            f"{self.host} does not answer on its RTDE port {wire.PORT}: is the controller still starting?"
        )

    def _set_up(self, rate: float, outputs: Sequence[str], inputs: Sequence[str], timeout: float) -> None:
        version = struct.pack(">H", wire.PROTOCOL_VERSION)
        if self._ask(wire.REQUEST_PROTOCOL_VERSION, version, timeout) != b"\x01":
            raise RobotError(f"{self.host} does not speak version {wire.PROTOCOL_VERSION} of RTDE.")
        wanted = struct.pack(">d", rate) + ",".join(outputs).encode()
        recipe = self._recipe(outputs, self._ask(wire.SETUP_OUTPUTS, wanted, timeout))
        self._number, self._layout, self._places = recipe.number, recipe.layout, recipe.places
        if inputs:
            answer = self._ask(wire.SETUP_INPUTS, ",".join(inputs).encode(), timeout)
            self._inputs = self._recipe(inputs, answer)
        self._values: tuple[Any, ...] = ()
        self._waited = self._more = False  # more: the last reading was as long as one can be
        self._patience = 0.0  # [s] for which the socket waits now
        if self._ask(wire.START, b"", timeout) != b"\x01":
            raise RobotError(f"{self.host} does not start to send its state.")
        end = time.monotonic() + timeout
        while not self._values:
            if time.monotonic() > end or not self.connected:
                raise self._no_answer()
            self._receive(timeout)

    def _ask(self, kind: int, payload: bytes, timeout: float) -> bytes:
        """The answer to one request; the robot may send text messages in between."""
        self._socket.sendall(wire.message(kind, payload))
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            data = self._socket.recv(CHUNK)
            if not data:
                break
            self._buffer += data
            for answered, answer in wire.split(self._buffer):
                if answered == kind:  # the first state may follow the answer to the start: it stays in the buffer
                    return answer
        raise TimeoutError

    def _recipe(self, names: Sequence[str], answer: bytes) -> wire.Recipe:
        types = wire.types_of(names, answer)
        for name, kind in zip(names, types, strict=True):
            if kind == wire.IN_USE:
                raise RobotError(
                    f"another program already commands {self.host} through RTDE ({name} is in use); close it (also "
                    "EtherNet/IP and PROFINET adapters)."
                )
            if kind not in wire.TYPES:
                raise RobotError(f"{self.host} does not know the RTDE variable {name}: its software is too old.")
        return wire.Recipe(answer[0], names, types)

    def _receive(self, patience: float = 0.0) -> bool:
        """Take what there is, waiting for it that long [s]; False when nothing has come."""
        if not self.connected:
            return False
        try:
            if patience and patience != self._patience:
                self._set_patience(patience)
            data = self._socket.recv(CHUNK, 0 if patience else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        self._buffer += data
        self._more = len(data) == CHUNK
        newest = None
        try:
            for kind, payload in wire.split(self._buffer):
                if kind == wire.DATA_PACKAGE and payload[0] == self._number:
                    newest = payload
            if newest is not None:
                self._values = self._layout.unpack_from(newest, 1)
        except (wire.WireError, struct.error, IndexError):
            data = b""
        if not data:
            self.connected = False
        return bool(data)

    def _set_patience(self, patience: float) -> None:
        """In the kernel, once: a timeout of Python's own would cost two more system calls in every cycle."""
        seconds, rest = divmod(patience, 1.0)
        self._socket.settimeout(None)
        timeval = struct.pack("ll", int(seconds), int(1e6 * rest))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self._patience = patience

    def _take_all(self) -> None:
        while self._receive():
            pass

    def take_unread(self) -> bool:
        """What has come meanwhile, if nobody reads; False when the connection is gone."""
        with self._lock:
            if self._unread.is_set():
                self._take_all()
        return self.connected


def _take_unread(states: Callable[[], States | None], unread: threading.Event) -> None:
    """The thread; it must not keep alive what nobody else uses."""
    while unread.wait():
        time.sleep(UNREAD)
        present = states()
        if present is None or not present.take_unread():
            return
        del present


def _abandon(connection: socket.socket, unread: threading.Event) -> None:
    connection.close()
    unread.set()
