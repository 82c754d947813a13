"""The example of a ROS 2 client: it starts both nodes, pushes, and hears the tool move."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "10_ros2_client.py"


@pytest.mark.realtime  # its nodes ask for no priority
def test_ros_client_sees_the_pushed_tool_move():
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=220)
    assert done.returncode == 0, done.stdout + done.stderr
    speed = float(done.stdout.split("at up to")[1].split()[0])
    assert 50 < speed < 200, done.stderr  # (10 - 1.5) N on 64 Ns/m: 133 mm/s
