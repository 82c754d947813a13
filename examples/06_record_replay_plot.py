"""Record a run, recompute it bit for bit, ask what another mass would have done, draw it, and ask why it stopped."""

from pathlib import Path

import ur_admittance as ua
from ur_admittance.recording.plot import plot
from ur_admittance.recording.replay import replay, what_if
from ur_admittance.recording.why import why
from ur_admittance_lab.scenarios import Setup, run_scenario

path = Path("dropout.mcap")
run_scenario("dropout", Setup(log=path))

log = ua.read_log(path)
print(replay(log))
lighter = what_if(log, {"admittance.mass": [4.0, 4.0, 4.0, 0.8, 0.8, 0.8]})
early = slice(260, 340)  # the first moments of the push: later the recorded arm and this one would have parted
was, would = log.ticks["command"]["twist"][early, 1].max(), lighter.commands["twist"][early, 1].max()
print(f"after 0.16 s of pushing: {1000 * was:.0f} mm/s recorded, {1000 * would:.0f} mm/s with half the mass")
print("figure:", plot(log, "dropout.svg"))
print(why(log))
