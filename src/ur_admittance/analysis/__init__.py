"""Stability of contact, and how the arm feels to a hand. READ FIRST: stability.py.

loop.py         one axis of the whole loop as numbers
discrete.py     its matrix and eigenvalues
compliance.py   its frequency response
hand.py         hands that hold the tool, and the mass they need
stability.py    limits and margins that follow
map.py          damping against stiffness as a picture
"""

from ur_admittance.analysis.axis_loop import Arm, Loop, loop_of
from ur_admittance.analysis.held import HANDS, Hand, lightest_mass
from ur_admittance.analysis.stability import (
    Margin,
    largest_safe_stiffness,
    largest_stable_stiffness,
    margin,
    minimum_damping,
)

__all__ = [
    "HANDS",
    "Arm",
    "Hand",
    "Loop",
    "Margin",
    "largest_safe_stiffness",
    "largest_stable_stiffness",
    "lightest_mass",
    "loop_of",
    "margin",
    "minimum_damping",
]
