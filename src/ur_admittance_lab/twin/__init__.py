"""The twin of an arm: identified from recordings, used by the simulation, the stability margin and the tuning."""

from ur_admittance_lab.twin.identify_twin import identify_twin
from ur_admittance_lab.twin.twin import Twin

__all__ = ["Twin", "identify_twin"]
