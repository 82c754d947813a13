"""How typical is the bent path of mistake 8? A thousand random straight lines, not selected: python docs/mistakes/typical_lines.py [--write]

Poses with the wrist within 0.6 rad of straight, any direction, 0.35 m at 0.4 m/s, both ends within reach.
"""

import json
import sys
from pathlib import Path

import numpy as np

from ur_admittance_lab.evidence import keep

DOCS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(DOCS))

from mistakes.joints import FREE_SPEED, across  # noqa: E402
from mistakes.ours import UR5E, comply, jacobian  # noqa: E402

COUNT, SPEED, LENGTH, DT = 1000, 0.4, 0.35, 0.004


def clamped(q, along):
    V, path = np.concatenate([SPEED * along, np.zeros(3)]), []
    for _ in range(round(LENGTH / SPEED / DT)):
        path.append(UR5E.forward(q)[1])
        J = jacobian(q)
        q = q + DT * np.clip(J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), V), -UR5E.velocity, UR5E.velocity)
    return 1e3 * across(np.array(path), along).max()


def ours(q, along):
    """Distance from the line [mm] until its end, and whether the end was reached within 2.5 s."""
    twist = np.concatenate([SPEED * along, np.zeros(3)])
    path = comply(lambda t: np.zeros(6), 2.5, FREE_SPEED, q, twist=twist, engage=0.1)["p_tcp"]
    distance = np.maximum.accumulate((path - path[0]) @ along)
    end = max(2, int(np.searchsorted(distance, LENGTH)))
    return 1e3 * across(path[:end], along).max(), bool(distance[-1] >= LENGTH)


def lines(rng):
    while True:
        q = np.array([0.0, *rng.uniform([-2.3, 1.0, -2.5, -0.6], [-1.2, 2.4, -1.0, 0.6]), 0.0])
        along = rng.standard_normal(3)
        along /= np.linalg.norm(along)
        end = UR5E.forward(q)[1] + LENGTH * along
        if np.linalg.norm(end - [0.0, 0.0, 0.16]) < 0.75 and np.linalg.norm(end[:2]) > 0.25 and end[2] > 0.1:
            yield q, along


def main():
    source = lines(np.random.default_rng(7))
    cases = [next(source) for _ in range(COUNT)]
    theirs = np.array([clamped(*case) for case in cases])
    found = [ours(*case) for case in cases]
    mine, reached = np.array([f[0] for f in found]), sum(f[1] for f in found)
    result = {"count": COUNT, "reached": reached}
    for name, x in (("clamped", theirs), ("ours", mine)):
        result[name] = {
            "median_mm": float(np.median(x)),
            "max_mm": float(x.max()),
            "above_1mm": int((x > 1).sum()),
            "above_10mm": int((x > 10).sum()),
        }
    print(json.dumps(result, indent=2))
    if "--write" in sys.argv:
        keep(DOCS / "measured" / "typical.json", "core", result)


if __name__ == "__main__":
    main()
