"""2.4  Variable admittance: heavy when placing, light when travelling, and regions with their own rules."""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.spatial import clip, dot, norm

TRAVEL_TIME = 0.15  # [s] smoothing of the speed: a jolt is not a journey


@kernel
def smooth(share):
    """0 below 0, 1 above 1, without a kink in between: 3 s^2 - 2 s^3."""
    share = clip(share, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


@kernel
def inside(p, region, position):
    """1 inside a region, 0 beyond its margin, smooth in between."""
    square = 0.0
    for i in range(3):
        outside = max(p.region_min[region, i] - position[i], position[i] - p.region_max[region, i])
        if outside > 0.0:
            square += outside * outside
    if square == 0.0:
        return 1.0
    return smooth(1.0 - math.sqrt(square) / p.region_margin[region]) if p.region_margin[region] > 0.0 else 0.0


@kernel
def damping_factor(p, s, position, wrench, dt):
    """Factor on the user's damping: falls from 1 to travel_damping while the hand drives the tool towards travel speed,
    times the factor of each region that the tool is in."""
    factor = 1.0
    if p.travel_damping < 1.0:
        driven = 1.0 if dot(wrench, s.rate) > 0.0 else 0.0
        speed = driven * norm(s.rate[:3]) / p.travel_speed
        s.travel += min(1.0, dt / TRAVEL_TIME) * (speed - s.travel)
        factor -= (1.0 - p.travel_damping) * smooth(s.travel)
    for region in range(p.region_damping.size):
        if p.region_damping[region] != 1.0:
            factor *= 1.0 + inside(p, region, position) * (p.region_damping[region] - 1.0)
    return factor


@kernel
def speed_factor(p, position):
    """Factor on the linear speed limit at this position."""
    factor = 1.0
    for region in range(p.region_speed.size):
        if p.region_speed[region] != 1.0:
            factor *= 1.0 + inside(p, region, position) * (p.region_speed[region] - 1.0)
    return factor
