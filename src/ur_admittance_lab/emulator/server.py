"""One thread for everything: the control cycle on an absolute schedule, and the sockets in the time that is left.

    deadline_k = start + k * period

select() waits for bytes until the next deadline. Late cycles are made up for, at most CATCH_UP of them in a row; after
a longer pause the schedule moves on: robot time then has a gap against real time, never in its own stamps.
With ``patience`` the schedule waits up to that long for a late streamed command, once: on a busy machine robot time
then runs slower than real time, but a client that keeps up with robot time sees no lost cycle. With ``pace`` 0.5 robot
time runs at half speed; with patience and more than the machine can do, as fast as emulator and client are.
A connection may cost SHARE of the time. One that has cost more, by BURST, is heard again when enough time has passed,
and one that does not read its answers when it has read them; until then its bytes wait in its own socket. So a client
that floods a port slows down itself, not the arm and not the others.
"""

import ctypes
import select
import socket
import sys
import time

from ur_admittance.errors import SimulationError
from ur_admittance_lab.emulator.api_server import SINCE as API_SINCE
from ur_admittance_lab.emulator.api_server import ApiConnection
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.ports import BACKLOG_LIMIT, KINDS, NOT_ON_X, Connection
from ur_admittance_lab.emulator.protocol import API_PORT, is_polyscope_x

CLIENTS = 100  # at most, over all ports
CATCH_UP = 5  # cycles; more could trip the watchdog on a client that had no chance to send
CHUNK = 1024  # [bytes] read at once
SHARE = 0.1  # of the time for one connection
BURST = 0.002  # [s] of work that one connection may cost at once
PR_SET_TIMERSLACK = 29
QUICKACK = getattr(socket, "TCP_QUICKACK", None)


class Server:
    def __init__(
        self, box: Controller, host: str, patience: float = 0.0, pace: float = 1.0, api_port: int = API_PORT
    ) -> None:
        self.box, self.host, self.patience, self.api_port = box, host, patience, api_port
        box.pace = pace
        self._listeners: dict[socket.socket, type[Connection]] = {}
        self._clients: dict[socket.socket, Connection] = {}
        self.running = True
        self.behind = 0.0  # [s] by which the schedule was moved
        self._cut_until = 0.0
        self._waited = 0.0  # [s] for the command that is missing now

    def open(self) -> None:
        x = is_polyscope_x(self.box.version)
        api = {self.api_port: ApiConnection} if self.box.version >= API_SINCE else {}
        for port, kind in (KINDS | (api if x else NOT_ON_X)).items():
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((self.host, port))
            except OSError as error:
                listener.close()
                if kind is ApiConnection and isinstance(error, PermissionError):
                    self.box.log("robot api", f"not on port {port} ({error.strerror}): choose one with --api-port")
                    continue
                self.close()
                raise SimulationError(
                    f"cannot listen on {self.host}:{port} ({error.strerror}); is another emulator or robot program "
                    f"using it? Another loopback address such as 127.0.0.2 keeps several apart."
                ) from None
            listener.listen(16)
            listener.setblocking(False)
            self._listeners[listener] = kind

    def close(self) -> None:
        for client in list(self._clients):
            self._drop(client)
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()

    def run(self, duration: float | None = None) -> None:
        """Until ``running`` is False or ``duration`` [s] is over."""
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)
        start = deadline = time.monotonic()
        while self.running and (duration is None or time.monotonic() - start < duration):
            period = self.box.period / self.box.pace  # [s] real time
            deadline = self._cycles_due(deadline, period)
            self._serve(deadline)
            self.running = self.running and not self.box.shutdown
            if self.patience > 0.0:
                deadline = max(deadline, self._wait_for_command(period))

    def _wait_for_command(self, period: float) -> float:
        """Wait for a late client as long as the patience lasts; returns the time now."""
        begin = now = time.monotonic()
        while self.box.waits_for_command and self._waited + now - begin < self.patience and self.running:
            self._serve(now + period, once=True)
            now = time.monotonic()
        self._waited = self._waited + now - begin if self.box.waits_for_command else 0.0
        return now

    def _cycles_due(self, deadline: float, period: float) -> float:
        """Run the cycles whose time has come; returns the next deadline."""
        late = time.monotonic() - deadline
        if late > CATCH_UP * period:
            skipped = late - period
            self.behind += skipped
            deadline += skipped
            self.box.log("schedule", f"paused for {late:.3f} s")
        while time.monotonic() >= deadline:
            if time.monotonic() - deadline > period:
                self.box.late_cycles += 1
            self.box.cycle()
            deadline += period
            self._send_all()
            self._take_waiting()
            if self.patience > 0.0:
                return max(deadline, time.monotonic())  # nothing is made up for: the client could not keep up
        return deadline

    def _send_all(self) -> None:
        self._obey_requests()
        self.box.state_sent = time.monotonic()
        cut = self.box.program.cut = self.box.state_sent < self._cut_until
        for client, connection in list(self._clients.items()):
            connection.cycle()
            if cut:
                connection.out.clear()
            else:
                self._send(client, connection)

    def _obey_requests(self) -> None:
        box = self.box
        if box.cut_request > 0.0:
            self._cut_until = time.monotonic() + box.cut_request
            box.safety.begin_incident(f"network cut for {box.cut_request:g} s")
            box.cut_request = 0.0
        if box.drop_request:
            box.drop_request = False
            for client, connection in list(self._clients.items()):
                if connection.name.startswith("rtde"):
                    self._drop(client)

    def _serve(self, deadline: float, once: bool = False) -> None:
        """Take what clients send, until the deadline or (once) until something has come."""
        while self.running:
            left = deadline - time.monotonic()
            if left <= 0.0:
                return
            if time.monotonic() < self._cut_until:
                time.sleep(left)
                return
            self._take_waiting(left)
            if once:
                return

    def _take_waiting(self, wait: float = 0.0) -> None:
        """What clients have sent, or send within ``wait`` [s]."""
        now = time.monotonic()
        if now < self._cut_until:
            return
        soon = now + BURST / SHARE
        heard = (client for client, c in self._clients.items() if c.paid <= soon and len(c.out) <= BACKLOG_LIMIT)
        readable, _, _ = select.select([*self._listeners, *heard], [], [], wait)
        for ready in readable:
            kind = self._listeners.get(ready)
            if kind is not None:
                self._accept(ready, kind)
            elif ready in self._clients:
                self._receive(ready)

    def _accept(self, listener: socket.socket, kind: type[Connection]) -> None:
        try:
            client, address = listener.accept()
        except OSError:  # it has already gone
            return
        if len(self._clients) >= CLIENTS:
            self.box.log("refused", f"more than {CLIENTS} clients")
            client.close()
            return
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = f"{kind.__name__.removesuffix('Connection').lower()} {address[0]}:{address[1]}"
        connection = self._clients[client] = kind(self.box, name)
        connection.host = address[0]
        self.box.counters["connections"] += 1
        self._send(client, connection)

    def _receive(self, client: socket.socket) -> None:
        connection = self._clients[client]
        try:
            data = client.recv(CHUNK)
            if QUICKACK is not None:  # the client's Nagle algorithm waits for our acknowledgement
                client.setsockopt(socket.IPPROTO_TCP, QUICKACK, 1)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        begin = time.thread_time()
        connection.feed(data)
        self._send(client, connection)
        connection.paid = max(connection.paid, time.monotonic()) + (time.thread_time() - begin) / SHARE

    def _send(self, client: socket.socket, connection: Connection) -> None:
        out = connection.out
        if out:
            try:
                sent = client.send(out)
                del out[:sent]
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._drop(client)
                return
        if connection.closing and not out:
            self._drop(client)

    def _drop(self, client: socket.socket) -> None:
        connection = self._clients.pop(client, None)
        client.close()
        if connection is not None:
            connection.closed()
