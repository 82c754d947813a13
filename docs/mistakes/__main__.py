"""Run the demonstrations behind the page "Classic mistakes".

python docs/mistakes                 the numbers of all thirteen, one line each
python docs/mistakes bent_path       only that one
python docs/mistakes --write         also the figures and docs/measured/mistakes.json, which the page shows
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from ur_admittance_lab.evidence import keep, older

DOCS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(DOCS))

from figures.look import save  # noqa: E402

from mistakes import contact, frames, joints, law  # noqa: E402

DEMONSTRATIONS: dict[str, Callable] = {
    "wrench_about_base": frames.wrench_about_base,  # 1
    "spring_pushes_away": law.spring_pushes_away,  # 2
    "sideways": frames.sideways,  # 3
    "mixed_order": frames.mixed_order,  # 4
    "never_starts": law.never_starts,  # 5
    "hard_deadband": law.hard_deadband,  # 6
    "frozen_spring": law.frozen_spring,  # 7
    "bent_path": joints.bent_path,  # 8
    "sinking_load": joints.sinking_load,  # 9
    "blended_damping": law.blended_damping,  # 10
    "transposed_jacobian": joints.transposed_jacobian,  # 11
    "filter_coefficient": law.filter_coefficient,  # 12
    "dead_time": contact.dead_time,  # 13
}


def main(arguments: list[str]) -> int:
    write = "--write" in arguments
    wanted = [name for name in arguments if not name.startswith("-")] or list(DEMONSTRATIONS)
    stored = DOCS / "measured" / "mistakes.json"
    numbers = json.loads(stored.read_text()) if stored.exists() else {}
    if write and wanted != list(DEMONSTRATIONS) and older(numbers):
        print(f"{stored.name} is of an older core: measure all of it", file=sys.stderr)
        return 2
    for name in wanted:
        if name not in DEMONSTRATIONS:
            print(f"{name}: no such demonstration; there are {', '.join(DEMONSTRATIONS)}", file=sys.stderr)
            return 2
        found, figure = DEMONSTRATIONS[name]()
        print(f"{name:20} " + "  ".join(f"{key} {value:.4g}" for key, value in found.items()))
        if write:
            numbers[name] = {key: float(f"{value:.6g}") for key, value in found.items()}
            save(figure, f"mistake_{name}")
    if write:
        stored.parent.mkdir(exist_ok=True)
        keep(stored, "core", {name: numbers[name] for name in DEMONSTRATIONS if name in numbers})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
