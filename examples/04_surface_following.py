"""Press with 10 N and slide up a slope: with and without the velocity bias that carries the tool along."""

from ur_admittance_lab.scenarios import Setup, run_scenario

for name, changes in (
    ("plain force control", {"admittance.bias_time": 0.0, "control_frame": "base"}),
    ("velocity bias", {"control_frame": "base"}),
    ("velocity bias along the surface normal", {}),  # the scenario's own parameters
):
    outcome = run_scenario("surface", Setup(changes=changes, options={"shape": "incline", "speed": 0.02}))
    metric = {m.name: m.value for m in outcome.metrics}
    print(f"{name:40} mean {metric['mean_force']:5.2f} N   RMS error {metric['rms_error']:5.2f} N")
