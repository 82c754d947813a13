"""Outside the executor: subscriptions, of which a loop takes what it wants as raw bytes, and questions to services, for
whose answer it looks."""

import time
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

NANOSECONDS = 1_000_000_000
LOOK_S = 0.002  # between two looks for an answer


def _qos(depth: int, reliable: bool = False, latched: bool = False) -> QoSProfile:
    reliability = QoSReliabilityPolicy.RELIABLE if reliable or latched else QoSReliabilityPolicy.BEST_EFFORT
    durability = QoSDurabilityPolicy.TRANSIENT_LOCAL if latched else QoSDurabilityPolicy.VOLATILE
    last = QoSHistoryPolicy.KEEP_LAST
    return QoSProfile(depth=depth, history=last, reliability=reliability, durability=durability)


NEWEST = _qos(1)  # best effort takes from reliable and from best-effort publishers; depth 1 is always the newest
FEW = _qos(16)  # where messages of several publishers may come between two looks, and those of one of them count
MANY = _qos(100)
COMMANDS = _qos(1, reliable=True)  # controllers of ros2_control would not match a best-effort publisher
LATCHED, ALL_LATCHED = _qos(1, latched=True), _qos(100, latched=True)


class NotForTheExecutor(CallbackGroup):  # type: ignore[misc]
    """The executor never touches what is in this group."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return True

    def ending_execution(self, entity: Any) -> None:
        pass


def incompatible(publisher: QoSProfile, subscription: QoSProfile) -> str:
    """Why the two will not talk to each other; empty: they will."""
    best_effort, volatile = QoSReliabilityPolicy.BEST_EFFORT, QoSDurabilityPolicy.VOLATILE
    if publisher.reliability == best_effort and subscription.reliability == QoSReliabilityPolicy.RELIABLE:
        return "published best effort, wanted reliable"
    if publisher.durability == volatile and subscription.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL:
        return "published volatile, wanted transient local"
    return ""


class Polled:
    """One subscription whose messages are taken by hand."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile = NEWEST) -> None:
        self.kind = kind
        # No QoS events: an executor that waits for them is woken by every message (45 % of a core at 500 Hz).
        self.subscription = node.create_subscription(
            kind,
            topic,
            _never,
            qos,
            callback_group=NotForTheExecutor(),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
            raw=True,
        )
        self.qos = qos
        self.topic = self.subscription.topic_name
        self.handle = self.subscription.handle
        self.handle.__enter__()  # in use until destroy(): entering and leaving it for every message costs 2 us
        self._take = self.handle.take_message
        self._node = node

    def take(self) -> bytes | None:
        """The next message in the queue, which is the newest for a queue of depth 1."""
        taken = self._take(self.kind, True)
        return None if taken is None else taken[0]

    def take_numbered(self) -> tuple[bytes, int] | None:
        """The next message, and how many its publisher has sent; 0: the middleware does not count."""
        taken = self._take(self.kind, True)
        return None if taken is None else (taken[0], taken[1].get("publication_sequence_number") or 0)

    def publisher_names(self) -> list[str]:
        """Full names of the nodes that publish there, one for each publisher."""
        infos = self._node.get_publishers_info_by_topic(self.topic)
        return [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in infos]

    def publishers(self) -> str:
        """Who publishes, in words, and whether their quality of service fits."""
        infos = self._node.get_publishers_info_by_topic(self.topic)
        if not infos:
            return "nobody publishes there"
        for info in infos:
            reason = incompatible(info.qos_profile, self.qos)
            if reason:
                return f"the quality of service of {info.node_name} does not fit: {reason}"
        return f"{len(infos)} publisher{'s' if len(infos) > 1 else ''}, no message yet"

    def destroy(self) -> None:
        self.handle.__exit__(None, None, None)
        self._node.destroy_subscription(self.subscription)


class Waiter:
    """Sleeps until a message of one subscription is there."""

    def __init__(self, node: Node, polled: Polled) -> None:
        self._handle = polled.handle
        with node.context.handle:
            self._set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
        self._set.__enter__()
        self._listed = False  # a subscription leaves the set when it was waited for in vain

    def wait(self, timeout_ns: int) -> bool:
        """True: a message is there. False: the time is over."""
        waiting = self._set
        if not self._listed:
            waiting.clear_entities()
            waiting.add_subscription(self._handle)
        waiting.wait(max(timeout_ns, 0))
        self._listed = waiting.is_ready("subscription", 0)
        return bool(self._listed)

    def destroy(self) -> None:
        self._set.__exit__(None, None, None)
        self._set.destroy_when_not_in_use()


class Question:
    """One service. `ask` waits for the answer; `send` and `answer` do not."""

    def __init__(self, node: Node, kind: Any, name: str) -> None:
        self._node, self._kind = node, kind
        self._client = node.create_client(kind, name, callback_group=NotForTheExecutor())
        self.name: str = self._client.srv_name
        self._number: int | None = None  # of the request that is not yet answered

    def available(self) -> bool:
        return bool(self._client.service_is_ready())

    def send(self, request: Any = None) -> None:
        """An earlier question is forgotten. request: None: one without content."""
        handle = self._client.handle
        with handle:
            self._number = handle.send_request(self._kind.Request() if request is None else request)

    @property
    def waiting(self) -> bool:
        return self._number is not None

    def forget(self) -> None:
        """An answer that is still to come counts no more."""
        self._number = None

    def answer(self) -> Any:
        """The answer to the last request, or None as long as there is none."""
        handle = self._client.handle
        while self._number is not None:
            with handle:
                header, response = handle.take_response(self._kind.Response) or (None, None)
            if header is None:
                return None
            if header.request_id.sequence_number == self._number:
                self._number = None
                return response
        return None

    def ask(self, timeout: float) -> Any:
        """The answer, or None when there is no such service or no answer in time [s]."""
        end = time.monotonic() + timeout
        if not self.available():
            return None
        self.send()
        while True:
            found = self.answer()
            if found is not None or time.monotonic() > end:
                return found
            time.sleep(LOOK_S)

    def destroy(self) -> None:
        self._node.destroy_client(self._client)


def _never(message: Any) -> None:
    raise AssertionError("this subscription is polled")
