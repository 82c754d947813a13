"""`import ur_admittance as ua`: light, complete, typed; and nothing moves before it is activated."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
import ur_admittance_lab as lab
from ur_admittance.core.records import Mode, Status
from ur_admittance.recording.replay import replay
from ur_admittance.robots.simulated import FtSensor, Servo
from ur_admittance.runtime.telemetry import TelemetryReader

pytestmark = pytest.mark.timeout(220)  # a changed core is compiled anew by the first run
ROOT = Path(__file__).resolve().parents[1]
FIRST_PROGRAM = ROOT / "examples" / "01_push.py"
PUSH = [0.0, 10.0, 0.0, 0.0, 0.0, 0.0]
TURN_Z = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # by a quarter
TILT_X = ((1.0, 0.0, 0.0), (0.0, 0.8, -0.6), (0.0, 0.6, 0.8))


def arm(changes=None, **world):
    world = ua.World(ua.robot_model("ur5e"), **world)
    return world, ua.AdmittanceController(world.model, ua.Parameters().changed(world.parameters() | (changes or {})))


def test_the_import_loads_nothing_heavy():
    code = "import sys, ur_admittance; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "ur_admittance" in loaded
    assert {"numba", "mujoco", "viser", "numpy", "pydantic", "matplotlib", "mcap"}.isdisjoint(loaded)


def test_parameters_and_models_need_no_physics_and_no_page():
    code = "import sys, ur_admittance as ua; ua.preset('hand_guiding'), ua.robot_model('ur5e'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"mujoco", "viser", "matplotlib", "mcap"}.isdisjoint(loaded)


def test_every_name_leads_to_the_thing_and_editors_see_the_same_list():
    for package, more in ((ua, ["__version__"]), (lab, [])):
        folder = ROOT / "src" / package.__name__
        imports = [node for node in ast.parse((folder / "__init__.pyi").read_text()).body if hasattr(node, "module")]
        seen = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}
        assert sorted(package.__all__) == sorted([*seen, *more])
        assert set(package.__all__) <= set(dir(package))
        for name, (module, original) in seen.items():
            home = import_module(module)
            assert getattr(package, name) is getattr(home, original)
        assert (folder / "py.typed").exists()


def test_type_checkers_see_real_types_and_refuse_unknown_names(tmp_path, optional):
    optional("mypy")
    program = tmp_path / "program.py"
    program.write_text("import ur_admittance as ua\nreveal_type(ua.World)\nreveal_type(ua.run)\nua.Wrold\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert "ur_admittance.robots.simulated.world.World" in said
    assert "ur_admittance.runtime.report.LoopReport" in said
    assert re.search(r"program\.py:4: error: .*Wrold", said)


@pytest.mark.parametrize(
    ("wrong", "hint"), [("Controller", "AdmittanceController"), ("presets", "preset"), ("zzz", None)]
)
def test_an_unknown_name_is_an_attribute_error_with_the_nearest_name(wrong, hint):
    code = f"import ur_admittance as ua; ua.{wrong}"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert f"AttributeError: module 'ur_admittance' has no attribute {wrong!r}" in shown
    assert shown.count("did you mean") == (1 if hint else 0)
    assert "Did you mean" not in shown  # Python's own hint would be the second one
    assert not hint or f"did you mean {hint}?" in shown


def test_there_is_one_version():
    ros = ROOT / "ros2" / "ur_admittance_ros"
    assert f"<version>{ua.__version__}</version>" in (ros / "package.xml").read_text()
    assert f'version="{ua.__version__}"' in (ros / "setup.py").read_text()
    assert version("ur-admittance") == ua.__version__


def test_the_first_program_has_twelve_lines_and_uses_the_front_door_only():
    text = FIRST_PROGRAM.read_text()
    assert text.count("\n") <= 12
    assert re.findall(r"^(?:import|from) .*", text, re.MULTILINE) == ["import ur_admittance as ua"]
    used = set(re.findall(r"\bua\.(\w+)", text + (ua.__doc__ or "")))
    assert used <= set(ua.__all__)


def test_the_reference_page_describes_every_name():
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    for package, more in ((ua, ["__version__"]), (lab, [])):
        described = re.findall(rf"^<!-- api: {package.__name__}\.(\w+)(?= )", page, re.MULTILINE)
        assert sorted([*described, *more]) == sorted(package.__all__)


def test_the_program_in_the_docstring_runs(capsys):
    exec("\n".join(re.findall(r"^ {4}(.*)$", ua.__doc__, re.MULTILINE)), {})
    assert "cycles; ended: 2 s were over; inactive\n" in capsys.readouterr().out


def test_nothing_moves_before_it_is_activated():
    world, controller = arm()
    start = world.pose()[1]
    with ua.SimulatedRobot(world) as robot:
        world.push(PUSH)
        report = ua.run(controller, robot, duration=0.5)
        assert report.mode == Mode.INACTIVE
        assert np.linalg.norm(world.pose()[1] - start) < 1e-3  # the servo yields a little
        report = ua.run(controller, robot, duration=0.5, activate=True)  # it is pushed already
        assert (report.mode, report.status) == (Mode.INACTIVE, Status.UNEXPLAINED_FORCE)
        ua.run(controller, robot, duration=1.0, activate=True, accept=["load"])
    assert world.pose()[1][1] - start[1] > 0.03


def test_a_push_of_some_seconds_ends_by_itself_and_may_be_a_function_of_time():
    world, _ = arm()
    world.push(lambda t: np.array(PUSH) * t, seconds=0.1)
    felt = []
    for _ in range(100):
        world.step(world.model.home, None, 0.002)
        felt.append(world.hand.wrench[1])
    assert max(felt) == pytest.approx(1.0, abs=0.05)  # 10 N/s for 0.1 s
    assert np.abs(felt[52:]).max() == 0.0


def test_a_push_that_is_not_a_wrench_is_refused_at_once():
    world, _ = arm()
    with pytest.raises(ua.errors.SimulationError, match="6 finite numbers"):
        world.push([0.0, 10.0, 0.0])
    assert not world.hand.active


def test_a_lock_step_run_is_recorded_and_replays_to_the_bit(tmp_path):
    world, controller = arm()
    with ua.SimulatedRobot(world) as robot:
        world.push(PUSH, seconds=0.2)
        ua.run(controller, robot, duration=0.5, activate=True, log=tmp_path / "run.mcap")
    log = ua.read_log(tmp_path / "run.mcap")
    assert log.about["model"] == "ur5e"
    assert len(log.ticks) >= 250
    assert replay(log).exact


def test_a_program_changes_parameters_and_ends_the_run_on_any_tick():
    world, controller = arm()

    def heavier_then_done(controller):
        if world.time == pytest.approx(0.1):
            controller.set_parameters({"admittance.mass": [16.0] * 3 + [0.8] * 3})
        return world.time > 0.2

    with ua.SimulatedRobot(world) as robot:
        report = ua.run(controller, robot, on_tick=heavier_then_done)
    assert report.ended_because == "the program was done"
    assert report.ticks == 102
    assert controller.parameters.admittance.mass[0] == 16.0


def test_in_real_time_other_programs_see_the_controller():
    world, controller = arm()
    seen = []

    def look(controller):
        if not seen:
            with TelemetryReader("front_door") as reader:
                seen.append(reader.head)

    with ua.SimulatedRobot(world, realtime=True) as robot:
        report = ua.run(controller, robot, duration=0.2, activate=True, name="front_door", on_tick=look)
    assert seen == [1]
    assert 20 < report.ticks < 250


def test_a_real_arm_refuses_a_weight_that_its_own_controller_removes_already():
    world, controller = arm()
    with pytest.raises(ua.errors.RobotError, match=r"tool\.mass = 1 kg"):
        ua.run(controller, ua.RtdeRobot("192.0.2.1", world.model), duration=0.1)  # nobody has that address


def test_a_world_tells_the_controller_all_about_its_tool_and_sensor():
    """An eccentric tool on a turned, shifted and biased sensor, a base that is tilted: known parameters keep it still,
    and the controller's TCP is the true one."""
    tool = ua.Tool(mass=2.0, com=(0.03, -0.02, 0.06), tcp=(0.02, 0.01, 0.17), tcp_rotation=TILT_X)
    sensor = FtSensor(position=(0.0, 0.01, 0.03), rotation=TURN_Z, sign=-1.0, bias=(5.0, -3.0, 2.0, 0.2, -0.1, 0.3))
    gravity = (1.0, -2.0, -9.55)
    world, controller = arm(tool=tool, sensor=sensor, servo=Servo(delay=0.004), gravity=gravity)
    assert controller.parameters.robot.response_time == pytest.approx(0.004 + 1.0 / (2.0 * np.pi * 25.0))
    start = world.pose()[1]
    with ua.SimulatedRobot(world) as robot:
        ua.run(controller, robot, duration=2.0, activate=True)
        assert np.abs(controller.command["wrench_sensor"]).max() < 0.05
        robot.read(controller.sample)
        controller.update()
        R, p = world.pose()
    assert np.abs(p - start).max() < 2e-4
    assert np.allclose(controller.command["p_tcp"], p, atol=1e-5)
    assert np.allclose(controller.command["R_tcp"], R, atol=1e-4)


def test_a_tool_alone_tells_its_parameters_for_a_sensor_at_the_flange():
    known = ua.Tool(mass=1.5, com=(0.0, 0.01, 0.05), tcp=(0.0, 0.0, 0.2)).parameters()
    assert known["tool.center_of_mass"] == [0.0, 0.01, 0.05]
    assert known["tool.tcp"] == [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]
    assert not np.signbit(known["tool.tcp"]).any()  # bit for bit what one would write
    assert ua.Parameters().changed(known).tool.mass == 1.5
