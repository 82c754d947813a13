"""Tools for a simulated arm, and what they look like. The sizes are plausible, of no make."""

import math
from dataclasses import dataclass, replace

from ur_admittance.robots.simulated.devices import Tool

Point = tuple[float, float, float]
Part = tuple[Point, Point, float]  # a cylinder: start, end [m, flange frame], radius [m]

BENT = math.radians(40.0)


@dataclass(frozen=True)
class PracticeTool:
    tool: Tool
    parts: tuple[Part, ...]  # without the rod to the tip, which follows the TCP
    root: Point  # where that rod begins

    def with_tcp(self, tcp: Point) -> "PracticeTool":
        return replace(self, tool=replace(self.tool, tcp=tcp))

    def drawn(self) -> list[Part]:
        """All cylinders, to the centre of the tip."""
        x, y, z = self.tool.tip.tolist()
        return [*self.parts, (self.root, (x, y, z), 0.8 * self.tool.radius)]


TOOLS = {
    "probe": PracticeTool(Tool(mass=1.0), (((0.0, 0.0, 0.0), (0.0, 0.0, 0.012), 0.034),), (0.0, 0.0, 0.012)),
    "gripper": PracticeTool(
        Tool(mass=0.9, com=(0.0, 0.0, 0.055), tcp=(0.0, 0.0, 0.18), radius=0.012),
        (
            ((0.0, 0.0, 0.0), (0.0, 0.0, 0.02), 0.037),
            ((0.0, 0.0, 0.02), (0.0, 0.0, 0.1), 0.034),
            ((0.03, 0.0, 0.09), (0.045, 0.0, 0.125), 0.009),
            ((-0.03, 0.0, 0.09), (-0.045, 0.0, 0.125), 0.009),
            ((0.045, 0.0, 0.125), (0.014, 0.0, 0.165), 0.008),
            ((-0.045, 0.0, 0.125), (-0.014, 0.0, 0.165), 0.008),
        ),
        (0.0, 0.0, 0.1),
    ),
    "spindle": PracticeTool(
        Tool(
            mass=2.2,
            com=(0.03, 0.0, 0.07),
            tcp=(0.12, 0.0, 0.17),
            tcp_rotation=(
                (math.cos(BENT), 0.0, math.sin(BENT)),
                (0.0, 1.0, 0.0),
                (-math.sin(BENT), 0.0, math.cos(BENT)),
            ),
        ),
        (((0.0, 0.0, 0.0), (0.0, 0.0, 0.05), 0.036), ((0.0, 0.0, 0.03), (0.09, 0.0, 0.135), 0.03)),
        (0.08, 0.0, 0.125),
    ),
}
