"""Episodes in compiled code: the bits of the control loop, whatever the number of threads."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LogError, SimulationError
from ur_admittance.params import Parameters, preset
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool
from ur_admittance_lab.episodes import Case, Script, batch, simulate
from ur_admittance_lab.episodes.record_case import record_case
from ur_admittance_lab.scenarios import Setup, Stage

NOISE = FtSensor(noise_force=0.1, noise_torque=0.005, bias=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), drift=(0.02,) * 6)
SLOW = Servo(delay=0.010)
PARTS = ("sample", "command", "contact", "hand")


def parameters(tool=None, **changes):
    return Parameters().changed((tool or Tool()).parameters(NOISE) | NOISE.parameters() | changes)


def guided():
    script = Script(2.5)
    script.activate(0.02)
    turn = np.linspace(0.0, 6.0, 900)
    script.grab(0.4, np.outer(np.sin(turn), [0.05, 0.02, -0.03, 0.1, 0.2, -0.1]), (800.0, 20.0), (20.0, 0.5))
    return Case(script, parameters(), "ur10e", servo=SLOW, sensor=NOISE, seed=5)


def pressed():
    script = Script(4.0)
    script.activate(0.02)
    script.twist(2.0, 1.5, [0.0, 0.02, 0.0, 0.0, 0.0, 0.0])
    script.wrench(3.0, 0.5, [-5.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    one = [i == 0 for i in range(6)]
    law = {
        "admittance.force_axes": one,
        "admittance.enabled_axes": one,
        "admittance.desired_wrench": [-10.0] + [0.0] * 5,
    }
    return Case(
        script, parameters(**law), environment=Environment.wall(5e4, gap=0.01), servo=SLOW, sensor=NOISE, seed=2
    )


def changed():
    script = Script(3.0)
    script.activate(0.02)
    script.push(0.3, 2.0, [10.0, 10.0, 5.0, 1.0, 0.0, 0.0])
    script.parameters(0.8, 1)
    script.parameters(1.4, 2)
    script.parameters(1.8, 0)
    first = parameters()
    heavy = first.changed({"admittance.mass": [20.0] * 3 + [1.0] * 3, "admittance.stiffness": [200.0] * 3 + [0.0] * 3})
    return Case(script, first, "ur3e", changes=(heavy, first), servo=SLOW, sensor=NOISE, seed=7)


def faulty(kind):
    script = Script(2.5)
    script.activate(0.02)
    script.push(0.2, 2.3, [0.0, 20.0, 0.0, 0.0, 0.0, 0.0])
    script.fault(0.7, 0.5, kind)
    script.reset_fault(1.5)
    script.activate(1.6, accept_load=True)
    return Case(script, parameters(), servo=SLOW, sensor=NOISE, seed=3)


EPISODES = {
    "guided": guided,
    "pressed": pressed,
    "changed": changed,
    **{kind: lambda kind=kind: faulty(kind) for kind in
       ("wrench_lost", "joints_lost", "nan_wrench", "nan_joints", "frozen", "protective_stop")},
}  # fmt: skip


@pytest.mark.parametrize("name", EPISODES)
def test_an_episode_has_the_bits_of_the_control_loop(name):
    case = EPISODES[name]()
    compiled, looped = simulate([case])[0], record_case(case)
    assert len(compiled.sample) == len(case.script.rows)
    for part in PARTS:
        assert getattr(compiled, part).tobytes() == getattr(looped, part).tobytes(), part
    assert Mode.ACTIVE in compiled.command["mode"]
    speed = np.linalg.norm(compiled.command["twist"][:, :3], axis=1)
    assert speed.max() > 0.005, "nothing moved: the comparison would say nothing"


def test_a_scenario_has_the_same_bits_as_the_episode_that_describes_it():
    stage = Stage(Setup(robot="ur5e", seed=4))
    stage.push(0.5, [0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    stage.run(0.5)
    cycles = round(stage.time / stage.period)
    scenario = stage.finish()
    script = Script(cycles * stage.period)
    script.activate(0.02)
    script.push(0.52, 0.5, [0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    case = Case(
        script, stage.parameters, tool=stage.world.tool, servo=stage.world.servo, sensor=stage.world.sensor, seed=4
    )
    episode = simulate([case])[0]
    for part in PARTS:
        assert getattr(episode, part).tobytes() == getattr(scenario, part)[:cycles].tobytes(), part


def test_results_come_in_order_and_do_not_depend_on_the_number_of_threads():
    cases = [guided(), pressed(), changed(), faulty("frozen")]
    alone = simulate(cases, lambda case, trace: (case.robot, trace.command.tobytes()), threads=1)
    seen = []
    together = simulate(cases, lambda case, trace: (case.robot, trace.command.tobytes()), threads=3,
                        progress=lambda done, total: seen.append((done, total)))  # fmt: skip
    assert [robot for robot, _ in alone] == [case.robot for case in cases]
    assert alone == together
    assert seen[-1] == (4, 4)


def test_a_case_survives_pickling():
    case = changed()
    copy = pickle.loads(pickle.dumps(case))
    assert simulate([copy])[0].command.tobytes() == simulate([case])[0].command.tobytes()


def test_a_fault_of_the_script_is_seen_by_the_controller():
    trace = simulate([faulty("protective_stop")])[0]
    assert Status.PROTECTIVE_STOP in trace.command["status"]
    assert trace.command["mode"][-1] == Mode.ACTIVE  # reset and activated again


def test_the_recording_of_a_case_replays_to_the_bit(tmp_path):
    case = pressed()
    record_case(case, tmp_path / "case.mcap")
    result = replay(read_log(tmp_path / "case.mcap"))
    assert result.exact
    assert result.recomputed.sum() == len(case.script.rows) - 1


def test_an_exception_in_measure_ends_the_batch_and_is_told():
    def measure(case, trace):
        raise ValueError("my measure")

    with pytest.raises(ValueError, match="my measure"):
        simulate([faulty("frozen")] * 3, measure)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"parameters": parameters(**{"sensor.auto_zero": True})}, "auto_zero"),
        ({"parameters": parameters(control_rate=250.0)}, "control_rate = 250 Hz, but the script has periods"),
        ({"changes": ()}, "asks for parameter sets 0 to 2 of 1"),
    ],
)
def test_what_a_batch_cannot_do_is_refused(change, sentence):
    case = Case(**{**changed().__dict__, **change})
    with pytest.raises(SimulationError, match=sentence):
        simulate([case])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.push(0.0, 1.0, [1.0, 2.0]),
        lambda s: s.push(0.0, 1.0, np.zeros((3, 6))),
        lambda s: s.push(-1.0, 1.0, np.zeros(6)),
        lambda s: s.push(0.0, 1.0, [np.nan] * 6),
        lambda s: s.fault(0.0, 1.0, "hiccup"),
        lambda s: Script(-1.0),
        lambda s: Script(np.nan),
    ],
)
def test_a_script_refuses_nonsense(wrong):
    with pytest.raises(SimulationError, match="script:"):
        wrong(Script(2.0))


def test_presets_run_in_a_batch():
    def rest(name):
        script = Script(0.3)
        script.activate(0.02)
        return Case(script, preset(name).changed(Tool().parameters()))

    modes = simulate(
        [rest(name) for name in ("hand_guiding", "assembly")], lambda case, trace: trace.command["mode"][-1]
    )
    assert modes == [Mode.ACTIVE, Mode.ACTIVE]


def test_only_a_few_cases_are_handed_out_at_a_time(monkeypatch):
    """To wait for one of ten thousand takes longer than to simulate it."""
    counts, wait = [], batch.wait

    def counted(waiting, **options):
        counts.append(len(waiting))
        return wait(waiting, **options)

    monkeypatch.setattr(batch, "wait", counted)
    script = Script(0.01)
    assert simulate([Case(script, Parameters())] * 40, lambda case, trace: 1, threads=2) == [1] * 40
    assert max(counts) == 2 * batch.AHEAD


def test_a_case_that_cannot_be_recorded_to_its_end_is_an_error():
    with pytest.raises(LogError, match="No space left on device"):
        record_case(Case(Script(0.1), parameters()), Path("/dev/full"))


def test_any_collection_of_cases_will_do():
    case = Case(Script(0.02), parameters(), sensor=NOISE)
    for cases in (np.array([case, case], dtype=object), (one for one in [case, case])):
        assert [len(trace.command) for trace in simulate(cases)] == [10, 10]
