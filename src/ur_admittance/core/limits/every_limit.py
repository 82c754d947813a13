"""The list of all limits. A limit is one file: what it bounds, its rows, and what is reported where it acts (EVIDENCE).

Gates are one-sided, and the tool slides along them; they have one shape,

    put_rows(p, s, J, now, time, places, table, n) -> number of rows

now: present twist; time: in which that motion can stop [s]; places: commanded and measured position of the TCP (2, 3).
The others bound speeds on both sides and slow the whole motion down (choose.py). A new gate is a file and a line here.
"""

from ur_admittance.core.kernel import kernel
from ur_admittance.core.limits import joints, obstacles, reach, tool, walls
from ur_admittance.core.limits.obstacles import put_rows as put_distances
from ur_admittance.core.limits.reach import put_rows as put_reach
from ur_admittance.core.limits.walls import put_rows as put_walls

GATES = (reach, walls, obstacles)
LIMITS = (*GATES, joints, tool)


@kernel
def put_gates(p, s, J, now, time, places, table):
    """The rows of GATES, in that order. Returns their number."""
    n = put_reach(p, s, J, now, time, places, table, 0)
    n = put_walls(p, s, J, now, time, places, table, n)
    return put_distances(p, s, J, now, time, places, table, n)
