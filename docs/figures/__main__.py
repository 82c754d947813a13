"""Make every figure of the documentation: python docs/figures [name ...]. Simulations included, about half a minute."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figures import arm, diagrams, hands, runs
from figures.look import save

FIGURES = {**diagrams.DIAGRAMS, **arm.PICTURES, **runs.RUNS, **hands.HANDS}


def main(wanted: list[str]) -> int:
    for name in wanted or [*FIGURES, "push"]:
        if name == "push":
            print(arm.animation())
        elif name in FIGURES:
            print(save(FIGURES[name](), name))
        else:
            print(f"{name}: no such figure; there are {', '.join(FIGURES)} and push", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
