"""Simulated time on /clock: honoured at any pace, and a clock that jumps back is a fault."""

import time

import pytest

pytest.importorskip("rclpy")


@pytest.fixture(scope="module")
def arm(module_processes, setup_of, patient):
    """Active, at half the pace of real time."""
    module_processes.start("sim_node", {"publish_clock": True, "realtime_factor": 0.5, "unlock_delay": 0.1})
    module_processes.start("admittance_node", {**patient, "use_sim_time": True})
    found = setup_of(module_processes)
    found.bring_up()
    return found


def test_at_half_the_pace_the_arm_moves_half_as_far(arm, position):
    """The law lives in simulated time: its speed there is that of the law, whatever the pace."""
    arm.client.set_parameter("push.wrench", [0.0, 8.0, 0.0, 0.0, 0.0, 0.0], "/ur_sim")
    arm.client.set_parameter("push.duration", 3.0, "/ur_sim")
    arm.client.trigger("/ur_sim/push")
    start = time.monotonic()
    time.sleep(5.0)
    picked = [m for t, m in arm.joints if start + 3.0 < t < start + 5.0]
    first, last = picked[0], picked[-1]
    stamp = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in (first, last)]
    speed = (position(last)[1] - position(first)[1]) / (stamp[1] - stamp[0])
    assert speed == pytest.approx((8.0 - 1.5) / (2 * 0.8 * (8 * 200) ** 0.5), rel=0.02)


def test_simulated_time_that_jumps_back_stops_the_arm(arm):
    arm.push([0, 6, 0, 0, 0, 0], 1.0)
    time.sleep(0.5)
    assert arm.state()["mode"] == "active"
    assert arm.client.trigger("/ur_sim/reset").success  # simulated time begins again
    arm.wait_for(life="inactive", timeout=5.0)
    assert "the time since the last tick is -" in arm.state()["reason"]
    # an arm that is somewhere else all of a sudden is also a reason for the robot to stop
    time.sleep(0.5)
    arm.client.trigger("/ur_sim/unlock")
    arm.client.trigger("/ur_sim/resume")
    time.sleep(0.5)
    answer = arm.client.trigger("/admittance_node/reset_fault")
    assert answer.success, answer.message
    arm.activate()
