"""Which computer this was, and how busy."""

import os
import platform
from pathlib import Path


def machine() -> str:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    kernel = "real-time kernel" if Path("/sys/kernel/realtime").exists() else "ordinary kernel"
    return (
        f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.release()} ({kernel}), "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
