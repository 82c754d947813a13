"""Whole runs of a simulated arm in compiled code, many at once: for tuning, campaigns and stability maps."""

from ur_admittance_lab.episodes.batch import Case, simulate
from ur_admittance_lab.episodes.script import Script
from ur_admittance_lab.episodes.trace import Trace

__all__ = ["Case", "Script", "Trace", "simulate"]
