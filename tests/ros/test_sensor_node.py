"""A NetFT as a topic: each of its readings once, zero on request, silence when it is silent."""

import threading
import time

import numpy as np
import pytest
from tests.robots.rtde.netft_server import COUNTS, NetFtServer

rclpy = pytest.importorskip("rclpy")


def test_readings_of_a_netft_are_published_zeroed_and_missed(client, monkeypatch):
    from geometry_msgs.msg import WrenchStamped

    from ur_admittance.robots.external_sensors import NetFt
    from ur_admittance.ros import sensor_node

    heard = client.listen(WrenchStamped, "/wrist_ft_sensor")
    with NetFtServer(rate=250.0) as server:
        server.wrench = [1.0, -2.0, 3.0, 0.1, -0.2, 0.3]
        monkeypatch.setitem(sensor_node.OPTIONS, "sensor", (f"netft:{server.host}", ""))
        connect = lambda source: NetFt(source.removeprefix("netft:"), COUNTS, COUNTS, server.port)  # noqa: E731
        monkeypatch.setattr(sensor_node, "external_sensor", connect)
        rclpy.init(args=[])
        node = sensor_node.SensorNode()
        work = threading.Thread(target=node.work)
        work.start()
        try:
            client.until(lambda: len(heard) > 100, 10, "readings")
            message = heard[-1][1]
            force, torque = message.wrench.force, message.wrench.torque
            assert [force.x, force.y, force.z, torque.x, torque.y, torque.z] == pytest.approx(server.wrench, abs=1e-5)
            assert message.header.frame_id == "tool0"
            count = len(heard)
            assert count <= node._sensor.reading.count  # 500 looks a second, 250 readings
            node._take_zero()
            client.until(lambda: abs(heard[-1][1].wrench.force.z) < 1e-3, 5, "zero")
            server.silent = True
            time.sleep(0.3)
            count = len(heard)
            time.sleep(0.3)
            assert len(heard) == count
            assert np.isfinite(heard[-1][1].wrench.force.x)
        finally:
            node.told_to_end.set()
            work.join(timeout=10)
            node.destroy_node()
            rclpy.try_shutdown()


def test_a_sensor_that_nobody_knows_is_refused_with_a_sentence(refused):
    from ur_admittance.ros.sensor_node import SensorNode

    code, text = refused(SensorNode, {"sensor": "netft"})
    assert code == 2
    assert "must be netft:ADDRESS or robotiq:DEVICE" in text
