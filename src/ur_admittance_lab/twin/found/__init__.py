"""An arm's own numbers from a recording of its work: delay, lag, stiffness, damping, friction; its sensor, its tool."""

from ur_admittance_lab.twin.found.fit_twin import Finding, Findings, identify
from ur_admittance_lab.twin.found.servo import Guess
from ur_admittance_lab.twin.found.stretch import Mounting, Stretch

__all__ = ["Finding", "Findings", "Guess", "Mounting", "Stretch", "identify"]
