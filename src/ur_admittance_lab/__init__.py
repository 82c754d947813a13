"""The laboratory beside ur_admittance: arms to try things on, and programs that judge and tune the controller.

    import ur_admittance_lab as lab

    cases = [lab.Case("ur5e", duration=2.0)]
    traces = lab.simulate(cases, lambda case, trace: trace)

It imports the controller's package, never the other way; its commands (`sim`, `tune`, `identify`, `campaign`,
`stability`, `bench`, `ur-emulator`) are found through entry points.
"""

from ur_admittance.front_door import opened

__getattr__, __dir__, __all__ = opened(__name__)
