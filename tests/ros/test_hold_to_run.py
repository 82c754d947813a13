"""Hold-to-run beside the driver: topics that fall silent, buttons that are let go, inputs that go off."""

import threading
import time

import pytest

pytest.importorskip("rclpy")

from ur_admittance.core.records import DIGITAL_INPUTS
from ur_admittance.robots.ros.cdr import Malformed
from ur_admittance.robots.ros.enabling_topic import button_of, inputs_of

from .scene import Scene

TIMEOUT = 0.3  # [s] for a busy machine


class Signal:
    """Renewed 25 times a second by a thread, until it is let go of or falls silent."""

    def __init__(self, client, source):
        from sensor_msgs.msg import Joy
        from std_msgs.msg import Bool

        self._client, self._kind = client, source.partition(":")[0]
        self._messages = {
            "bool": lambda held: Bool(data=held),
            "joy": lambda held: Joy(axes=[0.5, 0.0], buttons=[0, 0, 0, 0, int(held), 1]),
        }
        if self._kind in self._messages:
            self._out = client.publisher(Joy if self._kind == "joy" else Bool, "/enable")
        self.held, self._end = True, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        before = None
        while not self._end.wait(0.04):
            if self._kind in self._messages:
                self._out.publish(self._messages[self._kind](self.held))
            elif self.held != before:
                before = self.held
                self._client.set_parameter("digital_inputs", 1 << 17 if before else 0x1FFFF, "/ur_sim")

    def silence(self):
        self._end.set()
        self._thread.join()


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("source", "loss"), [("bool:/enable", "silent"), ("joy:/enable:4", "let go"), ("tool:1", "off")]
)
def test_a_signal_that_is_lost_in_full_motion_stops_the_arm_and_it_goes_on_by_itself(client, source, loss):
    from ur_msgs.msg import IOStates  # noqa: F401

    guiding = {"guiding.enable": "real_arms", "guiding.source": source, "guiding.timeout": TIMEOUT}
    with Scene(client, "jazzy", "trajectory", node=guiding) as scene:
        scene.bring_up()
        scene.setup.wait_for(status="NOT_ENABLED", mode="active")
        stood = scene.setup.joint_state().position
        scene.push((0.0, 40.0, 0.0, 0.0, 0.0, 0.0))  # to the speed limit
        time.sleep(1.0)
        assert max(abs(a - b) for a, b in zip(stood, scene.setup.joint_state().position, strict=True)) < 1e-3
        signal = Signal(client, source)
        try:
            scene.setup.wait_for(status="OK")
            time.sleep(1.0)
            since = time.monotonic()
            if loss == "silent":
                signal.silence()
            signal.held = False
            seconds, metres = scene.standstill(since)
            print(f"{source} {loss}: at rest after {1e3 * seconds:.0f} ms, {1e3 * metres:.1f} mm")  # noqa: T201
            waits = TIMEOUT if loss == "silent" else 0.04
            assert seconds < waits + 0.4
            scene.setup.wait_for(status="ENABLE_SILENT" if loss == "silent" else "NOT_ENABLED", mode="active")
            assert "held: " in scene.setup.state()["reason"]
            assert scene.client.life() == "active"
            if loss != "silent":
                scene.push((0.0, -40.0, 0.0, 0.0, 0.0, 0.0))
                signal.held = True
                scene.setup.wait_for(status="OK", mode="active")
                time.sleep(1.0)
                assert max(map(abs, scene.setup.joint_state().velocity)) > 0.01
        finally:
            signal.silence()


def test_inputs_and_buttons_are_read_as_they_were_written(generated):
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import Joy
    from ur_msgs.msg import Analog, Digital, IOStates

    bits = 0b10_0000_1001_0100_0010
    pins = [Digital(pin=pin, state=bool(bits >> pin & 1)) for pin in range(DIGITAL_INPUTS)]
    other = [Digital(pin=pin, state=True) for pin in range(18)]
    whole = serialize_message(
        IOStates(digital_in_states=pins, digital_out_states=other, analog_in_states=[Analog(pin=1, state=2.0)])
    )
    assert inputs_of(bytes(whole)) == bits
    assert inputs_of(bytes(serialize_message(IOStates(digital_out_states=other)))) == 0
    message = Joy(axes=[0.25, -1.0, 0.5], buttons=[0, 1, 0])
    message.header.frame_id = "pad"
    data = bytes(serialize_message(message))
    assert [button_of(data, i) for i in range(5)] == [False, True, False, False, False]
    for length in range(4, len(whole) - 120, 7):
        with pytest.raises(Malformed):
            inputs_of(bytes(whole)[: min(length, 20)])
