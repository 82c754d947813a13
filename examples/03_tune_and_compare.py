"""Change a parameter, run the same push again, compare: three masses, and a spring."""

from ur_admittance_lab.scenarios import Setup, run_scenario

VARIANTS = {
    "default: 8 kg, no spring": {},
    "half the mass": {"admittance.mass": [4.0, 4.0, 4.0, 0.8, 0.8, 0.8]},
    "twice the damping": {"admittance.damping": [128.0, 128.0, 128.0, 6.4, 6.4, 6.4]},
    "a spring of 300 N/m": {"admittance.stiffness": [300.0, 300.0, 300.0, 0.0, 0.0, 0.0]},
}
print(f"{'10 N for one second':28}{'top speed':>12}{'moved after 3 s':>16}{'off ideal':>11}")
for name, changes in VARIANTS.items():
    outcome = run_scenario("push", Setup(changes=changes))
    speed = 1000 * abs(outcome.trace.command["twist"][:, 1]).max()
    metric = {m.name: m.value for m in outcome.metrics}
    print(f"{name:28}{speed:9.0f} mm/s{metric['distance']:13.1f} mm{metric['rms_error']:9.2f} %")
