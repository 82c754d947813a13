"""The controller as a program uses it: life cycle, references, zeroing, and controllers in a chain."""

from ur_admittance.control.controller import AdmittanceController

__all__ = ["AdmittanceController"]
