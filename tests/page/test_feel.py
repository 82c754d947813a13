"""The three sliders and their words."""

import numpy as np
import pytest

from ur_admittance.core.records import COMMAND, Limit, Mode, new
from ur_admittance.model import MODEL_NAMES, robot_model
from ur_admittance.model.look import tubes
from ur_admittance.page.drawn_arm import capsule
from ur_admittance.page.feel import FEELS, effect, feel_changes
from ur_admittance.page.input_panel import GROUPS, LIMITS
from ur_admittance.page.knobs import hint
from ur_admittance.page.loop_link import Seen
from ur_admittance.page.marks import nearest, touching
from ur_admittance.page.readouts import direction, happening, status_html
from ur_admittance.page.surroundings import SITUATIONS, changes_of
from ur_admittance.params import Parameters
from ur_admittance.params.own_motion import own_motion_of
from ur_admittance.params.table import rows
from ur_admittance.runtime.telemetry import TELEMETRY


def test_the_words_say_what_the_law_does():
    """Default: 8 kg and 64 Ns/m, so 10 N less 1.5 N for noise end at 0.133 m/s, 95 % of it after 3 M / D = 0.375 s."""
    words = effect(Parameters())
    assert "13 cm/s" in words["damping"]
    assert "0.4 s" in words["mass"]
    assert "it stays" in words["stiffness"]
    stiff = Parameters().changed({"admittance.stiffness": [200.0] * 6, "admittance.damping_ratio": [0.2] * 6})
    assert "4.2 cm" in effect(stiff)["stiffness"]
    assert "swings before" in effect(stiff)["stiffness"]


@pytest.mark.parametrize("name", FEELS)
def test_every_feel_is_a_valid_set_of_parameters_and_leaves_turning_alone(name):
    before = Parameters()
    after = before.changed(feel_changes(name, before.flat()))
    assert after.admittance.mass[0] == FEELS[name][0]
    assert after.admittance.mass[3:] == before.admittance.mass[3:]


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_situation_is_a_valid_set_of_parameters(name):
    Parameters().changed(changes_of(SITUATIONS[name]))


def test_every_input_has_unit_bounds_and_help_from_the_schema():
    names = [f"admittance.{name}" for names in GROUPS.values() for name in names] + list(LIMITS)
    for name in names:
        row = rows()[name]
        assert row.help in hint(row)
        assert row.allowed in hint(row)


def test_what_happens_is_said_in_words():
    command = new(COMMAND)[0]
    assert happening(command) == "Nothing pushes the tool; it stands still."
    command["wrench_tcp"] = [0, 10, 0, 0, 0, 0]
    command["twist"] = [0, 0, -0.16, 0, 0, 0]
    command["limits"] = Limit.LINEAR_VELOCITY
    assert happening(command) == "The tool is pushed left with 10 N; it moves down at 16 cm/s. Limited by: speed limit."
    command["limits"], command["near"], command["near_distance"] = Limit.COLLISION, (4, 13), 0.0123
    assert happening(command).endswith("it moves down at 16 cm/s. Slowed down: forearm near table, 12 mm.")
    command["wrench_tcp"], command["twist"] = 0.0, 0.0
    assert happening(command).endswith("it stands still. Held at a distance: forearm near table, 12 mm.")
    assert direction([-3.0, 1.0, 0.0]) == "backward"


def seen(mode, reason, warning=""):
    record = np.zeros(1, TELEMETRY)[0]
    record["command"]["mode"] = mode
    return Seen(record, 0.002, 0.001, reason, warning, "ur5e", Parameters())


def test_the_page_tells_of_a_force_sensor_that_was_dropped():
    page = status_html(seen(Mode.ACTIVE, "active; the first force sensor is silent"))
    assert "The first force sensor is silent. Nothing pushes the tool" in page
    assert "silent" not in status_html(seen(Mode.ACTIVE, "active"))


def test_the_page_tells_of_a_recording_that_has_ended():
    page = status_html(seen(Mode.INACTIVE, "inactive", "recording to a.mcap ended: <disk> full"))
    assert "recording to a.mcap ended: &lt;disk&gt; full" in page


def test_the_page_says_what_the_arm_does_by_itself():
    motion = own_motion_of(Parameters().changed(changes_of(SITUATIONS["Follow a slope"])))
    assert "Without a push the tool moves along -z" in status_html(seen(Mode.ACTIVE, "active"), motion=motion)


def test_a_capsule_is_drawn_where_it_is():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([-0.2, 0.2, 0.5])
    for last in (end, start):  # a ball, too
        vertices, faces = capsule(start, last, 0.07)
        along = last - start
        t = np.clip((vertices - start) @ along / max(along @ along, 1e-12), 0.0, 1.0)
        assert np.linalg.norm(vertices - start - t[:, None] * along, axis=1) == pytest.approx(0.07, abs=1e-9)
        assert faces.max() < len(vertices)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_every_arm_can_be_drawn(name):
    model = robot_model(name)
    parts = tubes(model)
    assert {part.link for part in parts} == {0, 1, 2, 3, 4, 5, 6}
    assert all(0.01 < part.radius < 0.5 for part in parts)


@pytest.mark.parametrize(
    ("shape", "distance", "normal"),
    [
        (["plane", [1, 1, 0], [0, 0, 0.2], [1, 0, 0, 0]], 0.1, [0, 0, 1]),
        (["box", [0.1, 0.1, 0.1], [0.5, 0, 0.3], [1, 0, 0, 0]], 0.4, [-1, 0, 0]),
        (["box", [0.1, 0.1, 0.1], [0.02, 0, 0.3], [1, 0, 0, 0]], -0.08, [-1, 0, 0]),
        (["cylinder", [0.1, 0.5, 0], [0, 0, 0], [0.5**0.5, 0.5**0.5, 0, 0]], 0.2, [0, 0, 1]),  # it lies along y
    ],
)
def test_the_place_that_is_touched_is_the_nearest_of_the_surface(shape, distance, normal):
    p = np.array([0.0, 0.0, 0.3])
    found, point, outward = nearest(shape, p)
    assert found == pytest.approx(distance)
    assert outward == pytest.approx(normal, abs=1e-9)
    assert point == pytest.approx(p - distance * np.array(normal), abs=1e-9)
    assert touching([shape], p, distance - 0.01) is None, "a smaller tip does not reach it"
    assert touching([shape], p, distance + 0.001)[0] == pytest.approx(point)
