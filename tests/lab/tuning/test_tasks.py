"""Cases are pure functions of seed, stream and number; figures mean what their names say."""

import os
import pickle

import numpy as np
import pytest

from ur_admittance.errors import ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters, preset
from ur_admittance.robots.simulated import FtSensor, Servo, Tool, World
from ur_admittance_lab.episodes import simulate
from ur_admittance_lab.tuning.knowledge import Knowledge, Range, of_parameters, of_twin
from ur_admittance_lab.tuning.score import failures
from ur_admittance_lab.tuning.task import FRESH, SEARCH, with_parameters
from ur_admittance_lab.tuning.tasks import Press
from ur_admittance_lab.tuning.trials import Job, Jobs, Threads

SOME = range(1000 if os.environ.get("SWEEP") else 40)


def same(a, b):
    return a.script.rows.tobytes() == b.script.rows.tobytes() and all(
        getattr(a, name) == getattr(b, name)
        for name in ("robot", "tool", "environment", "servo", "sensor", "q", "seed")
    )


def test_the_same_seed_gives_the_same_cases(task):
    for i in range(6):
        assert same(task.case(3, SEARCH, i), task.case(3, SEARCH, i))
        assert not same(task.case(3, SEARCH, i), task.case(4, SEARCH, i))


def test_cases_of_the_certificate_are_never_those_of_the_search(task):
    seeds = [{task.case(seed, stream, i).seed for i in SOME} for seed in (0, 1) for stream in (SEARCH, FRESH)]
    assert len(set.union(*seeds)) == 4 * len(SOME)
    for i in range(3):
        assert task.case(0, SEARCH, i).q != task.case(0, FRESH, i).q


def test_cases_stay_inside_what_the_user_knows_and_reach_its_ends(task):
    known = task.knowledge
    cases = [task.case(0, FRESH, i) for i in SOME]
    stiffness = np.array([case.environment.stiffness for case in cases])
    delay = np.array([case.servo.delay for case in cases])
    assert known.stiffness.low <= stiffness.min() < 2e3
    assert 5e4 < stiffness.max() <= known.stiffness.high
    assert known.delay.low <= delay.min() < 0.007
    assert 0.018 < delay.max() <= known.delay.high
    assert {case.robot for case in cases} == set(known.robots)
    for case in cases:
        model = robot_model(case.robot)
        assert np.all(np.array(case.q) > model.lower)
        assert np.all(np.array(case.q) < model.upper)
        down = model.forward(np.array(case.q))[0][:, 2]
        assert down[2] < -0.99


def test_the_search_begins_with_the_corners_of_the_ranges_and_the_certificate_does_not(task):
    known = task.knowledge
    ends = {(k, d) for k in (known.stiffness.low, known.stiffness.high) for d in (0.005, 0.02)}
    for robot in range(3):
        corners = [task.case(0, SEARCH, robot + 3 * i) for i in range(5)]
        assert {(c.environment.stiffness, round(c.servo.delay, 9)) for c in corners[:4]} == ends
        assert len({c.robot for c in corners}) == 1
        assert corners[4].environment.stiffness not in (known.stiffness.low, known.stiffness.high)
    assert task.case(0, FRESH, 0).environment.stiffness != known.stiffness.high


def test_a_case_travels_to_another_process_and_gives_the_same_bits(task):
    candidate = task.candidate({u.name: u.of(task.rivals()["defaults"]) for u in task.unknowns})
    jobs = [Job(5, FRESH, i, candidate) for i in range(2)]
    moved, again = pickle.loads(pickle.dumps((task, jobs)))
    assert len(pickle.dumps((task, jobs))) < 20_000
    assert same(Jobs(moved, again)[0], Jobs(task, jobs)[0])
    assert Threads(1)(moved, again) == Threads(2)(task, jobs)


def test_every_unknown_reads_back_what_it_puts(task):
    for share in (0.2, 0.7):
        values = {u.name: u.low * (u.high / u.low) ** share for u in task.unknowns}
        parameters = task.candidate(values)
        for unknown in task.unknowns:
            assert unknown.get(parameters) == pytest.approx(values[unknown.name], rel=1e-3)


def test_plain_admittance_is_the_law_alone(task):
    *_, plain = task.rivals().values()
    assert not plain.contact.stabilizer
    assert not plain.tool.inertia_compensation
    assert plain.admittance.effective_damping == Parameters().admittance.effective_damping
    case = with_parameters(task.case(0, FRESH, 0), plain)
    assert not case.parameters.tool.inertia_compensation
    assert case.parameters.tool.mass == case.tool.mass


def pressed(stiffness, parameters, **known):
    task = Press(Knowledge(stiffness=Range(stiffness, stiffness), delay=Range(0.01, 0.01), **known))
    case = with_parameters(task.case(0, FRESH, 0), task.complete(parameters))
    return task, case, simulate([case])[0]


def test_press_measures_overshoot_approach_and_residual_of_the_true_force():
    task, case, trace = pressed(1e4, preset("assembly"), force=12.0)
    values = task.measure(case, trace)
    force = trace.contact[:, 2]
    assert values["overshoot"] == pytest.approx(max(0.0, 100.0 * (force.max() / 12.0 - 1.0)))
    # 10 mm/s over the gap, after 50 N/s have brought up the force that drives it
    assert values["approach"] == pytest.approx(case.environment.gap / 0.01, abs=0.35)
    assert values["residual"] == pytest.approx(np.ptp(force[-1000:]))
    assert values["error"] < 0.1
    assert failures(task.figures, values) == []


def test_a_bounce_breaks_the_limits():
    task, case, trace = pressed(5e4, task_plain())
    values = task.measure(case, trace)
    assert values["residual"] > 5.0
    assert {"residual", "lost"} <= set(failures(task.figures, values))


def task_plain():
    return Press(Knowledge()).rivals()["plain admittance"]


def test_an_arm_that_never_arrives_has_failed():
    slow = preset("assembly").changed({"contact.approach_speed": [1e-4, 0.2]})
    task, case, trace = pressed(1e4, slow)
    values = task.measure(case, trace)
    assert values["error"] == pytest.approx(10.0)
    assert "error" in failures(task.figures, values)


def test_a_fault_has_failed_and_sooner_is_worse():
    stops = preset("assembly").changed({"safety.max_force": 6.0})
    task, case, trace = pressed(1e4, stops)
    values = task.measure(case, trace)
    assert 0.5 < values["stopped"] < 0.95
    assert "stopped" in failures(task.figures, values)


def test_a_parameter_file_tells_the_tool_and_the_mounting_of_the_sensor():
    tool = Tool(mass=2.0, com=(0.01, -0.02, 0.06), tcp=(0.0, 0.02, 0.2))
    world = World(robot_model("ur5e"), tool)
    mounted = {"sensor.position": [0.0, 0.0, 0.03], "sensor.rotation": [0.0, 0.0, 0.7]}
    known = of_parameters(Parameters().changed(world.parameters() | mounted))
    back = known["tool"].parameters(known["sensor"]) | known["sensor"].parameters()
    found, given = known["base"].changed(back).flat(), known["base"].changed({"tool.inertia_compensation": True}).flat()
    assert found.pop("tool.center_of_mass") == pytest.approx(
        given.pop("tool.center_of_mass"), abs=1e-12
    )  # turned twice
    assert found == given
    assert known["tool"].tcp == tool.tcp
    assert "tool" not in of_parameters(Parameters())


def test_a_twin_brings_its_arm_servo_sensor_tool_and_delay():
    class Twin:
        robot = "ur10e"
        servo = staticmethod(lambda: Servo(delay=0.013, lag_hz=18.0, stiffness=(9e3,) * 6))
        sensor = staticmethod(lambda: FtSensor(noise_force=0.3, delay=0.002))
        tool = staticmethod(lambda: Tool(mass=2.5))

    task = Press(Knowledge(**of_twin(Twin(), Parameters()), mass=Range(2.5, 2.5)))
    case = with_parameters(task.case(0, FRESH, 0), task.complete(Parameters()))
    assert (case.robot, case.servo, case.sensor, case.tool.mass) == ("ur10e", Twin.servo(), Twin.sensor(), 2.5)
    assert "response_time" not in [u.name for u in task.unknowns]
    assert case.parameters.robot.response_time == pytest.approx(Twin.servo().response_time)


@pytest.mark.parametrize("wrong", [{"robots": ()}, {"stiffness": Range(0.0, 1.0)}, {"force": 80.0}, {"force": 0.0}])
def test_knowledge_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ParameterError, match="--"):
        Knowledge(**wrong)


@pytest.mark.parametrize("bounds", [(2.0, 1.0), (-1.0, 1.0), (0.0, float("inf")), (float("nan"), 1.0)])
def test_a_range_that_is_none_is_refused(bounds):
    with pytest.raises(ParameterError, match="smaller number first"):
        Range(*bounds)
