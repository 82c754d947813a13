"""The twin of an arm: identified from recordings, used by the simulation, the stability margin and the tuning."""

from ur_admittance.apps.twin.identify import identify_twin
from ur_admittance.apps.twin.twin import Twin

__all__ = ["Twin", "identify_twin"]
