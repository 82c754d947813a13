"""Subscriptions outside the executor: a loop waits for one of them, and takes what it wants as raw bytes."""

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.subscription import Subscription

NANOSECONDS = 1_000_000_000

# Best effort takes from reliable and from best-effort publishers; depth 1 is always the newest.
NEWEST = QoSProfile(depth=1, history=QoSHistoryPolicy.KEEP_LAST, reliability=QoSReliabilityPolicy.BEST_EFFORT)
# Controllers of ros2_control subscribe reliably and would not match a best-effort publisher.
COMMANDS = QoSProfile(depth=1, history=QoSHistoryPolicy.KEEP_LAST, reliability=QoSReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1,
    history=QoSHistoryPolicy.KEEP_LAST,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
)
ALL_LATCHED = QoSProfile(
    depth=100,
    history=QoSHistoryPolicy.KEEP_LAST,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
)


class NotForTheExecutor(CallbackGroup):
    """The executor never takes these subscriptions; their events (incompatible QoS) it does handle."""

    def can_execute(self, entity: Any) -> bool:
        return not isinstance(entity, Subscription)

    def beginning_execution(self, entity: Any) -> bool:
        return True

    def ending_execution(self, entity: Any) -> None:
        pass


class Polled:
    """One subscription whose messages are taken by hand."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile = NEWEST) -> None:
        self.kind = kind
        # the node logs incompatible QoS of both sides by itself (the default event callbacks of rclpy)
        self.subscription = node.create_subscription(
            kind, topic, _never, qos, callback_group=NotForTheExecutor(), raw=True
        )
        self.topic = self.subscription.topic_name
        self.handle = self.subscription.handle
        self._node = node

    def take(self) -> bytes | None:
        """The next message in the queue, which is the newest for a queue of depth 1."""
        with self.handle:
            taken = self.handle.take_message(self.kind, True)
        return None if taken is None else taken[0]

    def publishers(self) -> int:
        return int(self._node.count_publishers(self.topic))

    def destroy(self) -> None:
        self._node.destroy_subscription(self.subscription)


class Waiter:
    """Sleeps until a message of one subscription is there."""

    def __init__(self, node: Node, polled: Polled) -> None:
        self._handle = polled.handle
        with node.context.handle:
            self._set = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)

    def wait(self, timeout_ns: int) -> bool:
        """True: a message is there. False: the time is over."""
        waiting = self._set
        with self._handle, waiting:
            waiting.clear_entities()
            waiting.add_subscription(self._handle)
            waiting.wait(max(0, timeout_ns))
            return bool(waiting.is_ready("subscription", 0))

    def destroy(self) -> None:
        self._set.destroy_when_not_in_use()


def _never(message: Any) -> None:
    raise AssertionError("this subscription is polled")
