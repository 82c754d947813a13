"""Contact from the eigenvalues of the whole loop, and damping against stiffness as a picture."""

from ur_admittance_lab.stability.eigenvalues import largest_stable_stiffness, minimum_damping

__all__ = ["largest_stable_stiffness", "minimum_damping"]
