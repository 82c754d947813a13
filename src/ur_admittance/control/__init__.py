"""Life cycle, faults, references, and controllers that stand in line."""

from ur_admittance.control.controller import AdmittanceController, warm_up

__all__ = ["AdmittanceController", "warm_up"]
