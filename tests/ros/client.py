"""What any other program on the network can do: a plain rclpy node in a thread."""

import threading
import time

READY_S = 60.0


class Client:
    """A plain rclpy node in a thread: what any other program on the network can do."""

    def __init__(self):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node("test_client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.end = False
        self.clients = {}
        self.made = []
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()

    def _spin(self):
        while not self.end:
            try:
                self.executor.spin_once(timeout_sec=0.05)
            except Exception as error:  # something was destroyed while it was being waited for
                print(f"client: {error}")  # noqa: T201

    def close(self):
        self.end = True
        self.thread.join(timeout=5)
        self.executor.shutdown(2.0)
        self.node.destroy_node()
        self.context.try_shutdown()

    def listen(self, kind, topic, latched=False):
        """List of (monotonic time, message) that grows."""
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

        qos = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
        if latched:
            qos = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        heard = []
        add = lambda message: heard.append((time.monotonic(), message))  # noqa: E731
        self.made.append(self.node.create_subscription(kind, topic, add, qos))
        return heard

    def publisher(self, kind, topic, qos=1):
        self.made.append(self.node.create_publisher(kind, topic, qos))
        return self.made[-1]

    def forget(self):
        """No more topics: what an earlier test listened to costs time."""
        for entity in self.made:
            destroy = self.node.destroy_subscription if hasattr(entity, "callback") else self.node.destroy_publisher
            destroy(entity)
        self.made.clear()

    def until(self, condition, timeout, what=""):
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout:g} s: {what}")
            time.sleep(0.005)

    def call(self, kind, name, request=None, timeout=20.0):
        client = self.clients.get(name)
        if client is None:
            client = self.clients[name] = self.node.create_client(kind, name)
        assert client.wait_for_service(timeout_sec=READY_S), f"no service {name}"
        future = client.call_async(request or kind.Request())
        self.until(future.done, timeout, f"answer of {name}")
        return future.result()

    def trigger(self, name, timeout=20.0):
        from std_srvs.srv import Trigger

        return self.call(Trigger, name, timeout=timeout)

    def transition(self, label, node="/admittance_node", timeout=40.0):
        from lifecycle_msgs.srv import ChangeState

        if label == "configure":
            self.until(lambda: self._hears(node), READY_S, f"{node} answers")
        request = ChangeState.Request()
        request.transition.id = {"configure": 1, "cleanup": 2, "activate": 3, "deactivate": 4}.get(label, label)
        return self.call(ChangeState, f"{node}/change_state", request, timeout).success

    def _hears(self, node):
        """A node that was killed a moment ago still seems to offer its services: ask until somebody answers."""
        try:
            return bool(self.life(node, timeout=1.0))
        except AssertionError:
            return False

    def life(self, node="/admittance_node", timeout=20.0):
        from lifecycle_msgs.srv import GetState

        return self.call(GetState, f"{node}/get_state", timeout=timeout).current_state.label

    def set_parameter(self, name, value, node="/admittance_node"):
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        return self.call(SetParameters, f"{node}/set_parameters", request).results[0]

    def parameter(self, name, node="/admittance_node"):
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import Parameter

        if f"{node}/get_parameters" not in self.clients and node == "/admittance_node":
            self.until(lambda: self._hears(node), READY_S, f"{node} answers")
        answer = self.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=[name]))
        return Parameter.from_parameter_msg(_message(name, answer.values[0])).value


def _message(name, value):
    from rcl_interfaces.msg import Parameter

    return Parameter(name=name, value=value)
