"""Which computer this was, how busy, and what a process has of it."""

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


def cpu_seconds(pid: int) -> float:
    """On a processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
