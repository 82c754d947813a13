"""Nodes in processes of their own. Every process has an end: asked to stop, and killed by its number if it does not."""

import contextlib
import os
import signal
import subprocess
import sys

LABORATORY = ("sim_node", "wrench_signal_generator")
WRENCH = "/force_torque_sensor_broadcaster/wrench"  # where the driver, and so its double, publishes


def ros_value(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(ros_value, value))}]"
    return str(value)


class Processes:
    """Nodes of one test or module."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, parameters=None, remap=None, arguments=(), environment=None):
        """The node of that name as `python -m` with ROS parameters; returns the Popen, whose .log is the file."""
        package = "ur_admittance_lab.driver" if name in LABORATORY else "ur_admittance.ros"
        command = [sys.executable, "-m", f"{package}.{name}", *arguments, "--ros-args"]
        if name == "sim_node":
            parameters = {"realtime_priority": 10, **(parameters or {})}
            remap = {WRENCH: "/wrist_ft_sensor", **(remap or {})}
        for key, value in (parameters or {}).items():
            command += ["-p", f"{key}:={ros_value(value)}"]
        for key, value in (remap or {}).items():
            command += ["-r", f"{key}:={value}"]
        return self.start_command(command, name, environment)

    def start_command(self, command, name, environment=None):
        log = self.folder / f"{name}_{len(self.running)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
                preexec_fn=prefer,
            )
        process.log = log
        self.running.append(process)
        return process

    def stop(self):
        for process in self.running[::-1]:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGINT)
        for process in self.running[::-1]:
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=5)

    def logs(self):
        return "\n".join(
            f"--- {p.log.name}, ended with {p.returncode}\n{p.log.read_text()[-3000:]}" for p in self.running
        )


def prefer():
    """A busy machine shall not decide about a test of timing; without the right to it, things stay as they are."""
    with contextlib.suppress(OSError):
        os.nice(-15)
