"""ur-admittance tune as a user calls it, on the smallest of searches."""

import json

import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.errors import ParameterError, UrAdmittanceError
from ur_admittance.params import load_parameters
from ur_admittance_lab.commands.tune_command import KnownOptions
from ur_admittance_lab.tuning import cluster
from ur_admittance_lab.tuning import tune_task as tune_module
from ur_admittance_lab.twin import Twin
from ur_admittance_lab.twin.found import Finding

SMALL = ("--cases", "2", "--trials", "5", "--fresh", "3", "--threads", "1")


def call(folder, *arguments):
    """What the command prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def refusal(folder, *arguments):
    """The sentence with which the command refuses; `main` prints it and exits with 2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(cluster, "CONNECT", 0.5)
        result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, UrAdmittanceError), result.output + repr(result.exception)
    return str(result.exception)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    text = call(folder, "tune", "press", "--robot", "ur3e", "--robot", "ur5e", *SMALL, "--report", "report", "--json")
    return folder, json.loads(text)


def test_the_parameter_file_holds_the_best_candidate_and_what_the_task_needs(tuned):
    folder, summary = tuned
    parameters = load_parameters(folder / "tuned.yaml")
    values = {name: row["value"] for name, row in summary["values"].items()}
    assert parameters.admittance.damping[2] == pytest.approx(values["damping"], rel=1e-3)
    assert parameters.contact.approach_speed[0] == pytest.approx(values["approach_speed"], rel=1e-3)
    assert parameters.admittance.desired_wrench[2] == 10.0
    assert parameters.admittance.force_axes == (False, False, True, False, False, False)
    assert parameters.tool.mass == 1.0
    text = (folder / "tuned.yaml").read_text()
    assert text.startswith("# Made by `ur-admittance tune press`")
    assert "fresh cases failed" in text
    assert "max_linear_velocity" not in text


def test_the_report_has_certificate_figure_and_recording(tuned):
    folder, summary = tuned
    report = folder / "report"
    assert {path.name for path in report.iterdir()} == {"report.md", "summary.json", "figure.png", "worst_case.mcap"}
    assert json.loads((report / "summary.json").read_text()) == summary
    certificate = summary["certificate"]
    assert certificate["fresh_cases"] == 3
    assert certificate["failure_share_below"] > 0.6  # three cases prove little
    assert next(iter(summary["contest"])) == "tuned"
    assert summary["contest"]["plain admittance"]["worst_tenth"]["residual"] > 1.0
    assert "| overshoot | % |" in (report / "report.md").read_text()
    assert (report / "figure.png").stat().st_size > 30_000
    assert "largest difference: 0" in call(folder, "replay", "report/worst_case.mcap")


def test_nothing_is_overwritten_and_resume_goes_on(tuned):
    folder, summary = tuned
    assert "exists already" in refusal(folder, "tune", "press", *SMALL)
    known = ("tune", "press", "--robot", "ur3e", "--robot", "ur5e", *SMALL)
    again = json.loads(call(folder, *known, "--resume", "--json"))
    assert again["simulations"] == 0
    assert again["values"] == summary["values"]
    assert again["certificate"] == summary["certificate"]
    assert "another task" in refusal(folder, *known, "--seed", "1", "--resume")
    assert "new or empty folder" in refusal(folder, *known, "--resume", "--report", "report")


def test_without_json_the_contest_and_the_certificate_are_shown(tuned):
    folder, _ = tuned
    text = call(folder, "tune", "press", "--robot", "ur3e", "--robot", "ur5e", *SMALL, "--resume")
    for part in ("plain admittance", "settling", "[s]", "certificate: ", "parameters: tuned.yaml"):
        assert part in text


@pytest.fixture
def twin(tmp_path):
    """A file as `identify` writes it, of an arm with numbers of its own."""
    numbers = {"delay": 0.013, "lag": 0.008, "damping_ratio": 0.8, "rotors": 1.0, "sensor_delay": 0.002}
    numbers |= {"noise_force": 0.3, "noise_torque": 0.01, "tool_mass": 2.5}
    values = {name: (Finding(value),) for name, value in numbers.items()}
    values |= {"stiffness": (Finding(9e3),) * 6, "friction": (Finding(0.0, 1.0),) * 6}
    arm = Twin("ur10e", ("a.mcap",), 9.0, (0.0,) * 6, (0.0, 0.0, 0.06), (0.0, 0.0, 0.2, 0.0, 0.0, 0.0), values)
    arm.save(tmp_path / "arm.twin.yaml")
    return tmp_path / "arm.twin.yaml"


def test_a_twin_is_the_arm_that_is_tuned_and_a_given_delay_goes_before_its_own(twin):
    known = KnownOptions(twin=twin).task("press").knowledge
    assert known.robots == ("ur10e",)
    assert known.delay.known
    assert known.delay.low == pytest.approx(0.013)
    assert (known.mass.low, known.tool.tcp, known.sensor.noise_force) == (2.5, (0.0, 0.0, 0.2), 0.3)
    assert known.servo.stiffness == (9e3,) * 6
    assert KnownOptions(twin=twin, delay="4..9ms").task("press").knowledge.delay.high == pytest.approx(0.009)
    with pytest.raises(ParameterError, match="--twin and --robot"):
        KnownOptions(twin=twin, robot=["ur3e"]).task("press")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("paint",), "task 'paint' is unknown: choose one of press, follow, insert, guide."),
        (("press", "--robot", "ur99"), "ur99"),
        (("press", "--stiffness", "1e5..1e3"), "--stiffness 1e5..1e3: must be a number or a range"),
        (("press", "--delay", "5..20kg"), "--delay 5..20kg"),
        (("press", "--delay", "9.5ms"), "multiple of the physics step"),
        (("press", "--pose", "1,2,3"), "--pose 1,2,3: must be 6 numbers"),
        (("press", "--tool", "1,2"), "--tool 1,2: must be 1 or 3 or 7 numbers"),
        (("press", "--tool", "-1"), "tool.mass"),
        (("press", "--force", "90"), "--force 90 N: must be > 0 and at most 50, half of safety.max_force"),
        (("press", "--speed", "0.1"), "--speed 0.1: press has no speed"),
        (("guide", "--force", "10"), "--force 10.0: guide has no force"),
        (("press", "--reserve", "0.5"), "--reserve 0.5: must be >= 1"),
        (("press", "--cases", "0"), "--cases 0: must be >= 1"),
        (("press", "--fresh", "0"), "--fresh 0: must be >= 1"),
        (("press", "--minutes", "0"), "--minutes 0: must be > 0"),
        (("press", "--seed", "-1"), "--seed -1: must be from 0"),
        (("press", "--threads", "0"), "--threads 0: must be a number from 1 to 1024"),
        (("press", "--out", "a.txt"), "--out a.txt: must end with .yaml"),
        (("press", "--resume"), "no search to resume"),
        (("press", "--params", "none.yaml"), "none.yaml: there is no such file"),
        (("press", "--twin", "none.yaml"), "none.yaml"),
        (("press", "--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler answers there"),
        (("press", "--scheduler", "rubbish://"), "must be an address such as tcp://10.0.0.1:8786"),
        (("press", "--scheduler", "localhost"), "must be an address such as tcp://10.0.0.1:8786"),
        (("press", "--stiffness", "1e300"), "--stiffness 1e+300 N/m: must be from 1 to 1e+08 N/m"),
        (("press", "--delay", "1000s"), "--delay 1000 s: must be from 0 to 0.5 s"),
        (("press", "--mass", "0.5..1e4"), "--mass 0.5 to 10000 kg: must be from 0 to 100 kg"),
        (("guide", "--speed", "1e9"), "--speed 1e+09 m/s: must be from 0.0001 to 10 m/s"),
        (("press", "--pose", "0,0,9,0,0,0"), "--pose 0,0,9,0,0,0: must be within +-6.283 rad"),
        (("press", "--reserve", "inf"), "--reserve inf: must be >= 1 and at most 100"),
        (("press", "--cases", "99999999999"), "--cases 99999999999: must be >= 1 and at most 1000000"),
        (("press", "--out", "/dev/full/a.yaml"), "/dev/full"),
        (("press", "--out", "/proc/a.yaml"), "/proc/a.journal: cannot be written"),
        (("press", "--report", "/proc/report"), "--report /proc/report: cannot be written"),
        (("press", "--report", "."), "--report .: must be another folder than that of --out"),
    ],
)
def test_a_wrong_value_is_one_sentence(arguments, sentence, tmp_path):
    assert sentence in refusal(tmp_path, "tune", *arguments)
    assert not list(tmp_path.glob("*.yaml"))


CALIBRATION = """/**:
  ros__parameters:
    control_rate: 250.0
    sensor: {sign: -1.0, bias: [5.0, -3.0, 2.0, 0.1, 0.2, 0.3], rotation: [0.0, 0.0, 0.7854], auto_zero: true}
    tool: {mass: 2.0, center_of_mass: [0.01, 0.0, 0.06], tcp: [0.0, 0.0, 0.2, 0.0, 0.0, 1.5708]}
"""


@pytest.mark.parametrize("more", [(), ("--mass", "1..3"), ("--twin",)])
def test_the_sensor_and_tool_of_the_users_file_are_in_the_tuned_one(more, tmp_path, twin):
    """A tuned file without the bias would press wrongly, one without the sign would run away."""
    (tmp_path / "mine.yaml").write_text(CALIBRATION)
    more = ("--twin", str(twin)) if more == ("--twin",) else more
    call(tmp_path, "tune", "press", "--params", "mine.yaml", *SMALL, *more)
    mine, tuned = load_parameters(tmp_path / "mine.yaml"), load_parameters(tmp_path / "tuned.yaml")
    assert tuned.sensor == mine.sensor
    assert tuned.control_rate == mine.control_rate
    assert "not in this file" not in (tmp_path / "tuned.yaml").read_text()
    assert (tuned.tool.mass, tuned.tool.tcp) == (mine.tool.mass, mine.tool.tcp)
    assert tuned.tool.center_of_mass == mine.tool.center_of_mass


@pytest.mark.parametrize(("stage", "kept"), [("tuned", "no certificate"), ("defaults", "no comparison, no report")])
def test_ctrl_c_after_the_search_keeps_what_is_known(stage, kept, tmp_path, monkeypatch):
    run = tune_module._run

    def interrupted(task, seed, batch, name, *rest):
        if name == stage:
            raise KeyboardInterrupt
        return run(task, seed, batch, name, *rest)

    monkeypatch.setattr(tune_module, "_run", interrupted)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ("tune", "press", *SMALL, "--report", "report"))
    assert result.exit_code == 130
    assert f"interrupted: {kept}; go on with --resume" in result.stdout
    assert load_parameters(tmp_path / "tuned.yaml").admittance.force_axes[2]
    assert not list((tmp_path / "report").iterdir())


def test_a_reserve_that_nothing_has_is_told(tmp_path):
    text = call(tmp_path, "tune", "press", "--reserve", "100", *SMALL)
    assert "no candidate has the demanded --reserve" in text
    assert "was refused, not simulated" in (tmp_path / "tuned.yaml").read_text()
