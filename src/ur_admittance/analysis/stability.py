"""How stiff a surface may be, how the arm feels to a hand. READ FIRST.

    margin(parameters).stable_stiffness      the live read-out of the controller, 10 ms when parameters change
    margin(parameters).lightest_mass         what a hand can hold

On a surface of stiffness K an arm that responds after T_eq = delay + servo lag + filter + one tick bounces unless about
D >= K_ser T_eq, K_ser: surface and arm in series. The frequency response shows where the edge is; its
eigenvalues are in the laboratory (ur_admittance_lab.stability).
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ur_admittance.analysis.axis_loop import Loop, loop_of, loop_of_record
from ur_admittance.analysis.compliance import edge_of_stability, impedance, lightest_mass, passive_up_to
from ur_admittance.params import Parameters
from ur_admittance.params.locks import yielding

FEEL_HZ = 1.0  # frequency of brisk hand guiding, at which mass and damping are reported


@dataclass(frozen=True)
class Margin:
    """What the present parameters can handle, for the weakest of the compliant translation axes; mass and lightest_mass
    are of the axis that is nearest to buzzing in a hand, which need not be the same one."""

    axis: int
    loop_delay: float  # T_eq [s]
    assumed: bool  # robot.response_time is unknown, a typical one was taken
    stable_stiffness: float  # stiffest surface on which contact dies down [N/m], inf: any
    passive_up_to: float  # [Hz]
    apparent_mass: float  # [kg] felt at 1 Hz
    apparent_damping: float  # [Ns/m]
    apparent_stiffness: float  # of an arm that bends before its law yields: then no mass is felt [N/m], 0: it does not
    mass: float  # inside the law, after compensate_mass [kg]
    lightest_mass: float  # of the law that a hand can hold with this damping [kg], 0: any

    @property
    def can_be_held(self) -> bool:
        """Whether the tool is quiet in a hand."""
        return self.mass >= self.lightest_mass


def margin_of(loop: Loop, axis: int = 2, assumed: bool = False) -> Margin:
    omega = 2.0 * math.pi * FEEL_HZ
    felt = complex(impedance(loop, np.array([FEEL_HZ]))[0])
    inertia = felt.imag / omega + loop.stiffness / omega**2  # the law's spring is felt as a spring
    return Margin(
        axis=axis,
        loop_delay=loop.loop_delay,
        assumed=assumed,
        stable_stiffness=edge_of_stability(loop),
        passive_up_to=passive_up_to(loop),
        apparent_mass=max(inertia, 0.0),
        apparent_damping=felt.real,
        apparent_stiffness=max(-inertia * omega**2, 0.0),
        mass=loop.mass,
        lightest_mass=lightest_mass(loop),
    )


@lru_cache(maxsize=256)
def _weakest(loops: tuple[Loop, ...], assumed: bool) -> Margin:
    known: dict[Loop, Margin] = {}
    margins = []
    for axis, loop in enumerate(loops):
        if loop not in known:
            known[loop] = margin_of(loop, axis, assumed)
        margins.append(replace(known[loop], axis=axis))
    weakest = min(margins, key=lambda margin: margin.stable_stiffness)
    in_hand = max(margins, key=lambda margin: margin.lightest_mass / margin.mass)
    return replace(weakest, mass=in_hand.mass, lightest_mass=in_hand.lightest_mass)


def margin_of_record(params: np.void) -> Margin:
    """The same from a PARAMS record: for whoever sees the controller only through telemetry or a log."""
    axes = [i for i in range(3) if params["enabled"][i] != 0.0] or [0, 1, 2]
    found = _weakest(tuple(loop_of_record(params, i) for i in axes), float(params["response_time"]) == 0.0)
    return replace(found, axis=axes[found.axis])


def margin(parameters: Parameters) -> Margin:
    """The weakest compliant translation axis (all of them when none is compliant). Remembers its answers."""
    enabled = yielding(parameters)
    axes = [i for i in range(3) if enabled[i]] or [0, 1, 2]
    found = _weakest(tuple(loop_of(parameters, i) for i in axes), parameters.robot.response_time == 0.0)
    return replace(found, axis=axes[found.axis])
