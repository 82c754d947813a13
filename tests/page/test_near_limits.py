"""What is drawn of speed, force and walls where the tool is."""

from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.core.records import COMMAND, new
from ur_admittance.page.near_limits import AT_LIMIT, CALM, EMPTY, PARTS, SOON, NearLimits
from ur_admittance.params import Parameters


class Scene:
    """Keeps what it is told to draw."""

    def __init__(self):
        self.drawn = {}

    def __getattr__(self, kind):
        def add(name, *arguments, **values):
            return self.drawn.setdefault(name, SimpleNamespace(**values))

        return add


def drawn(speed, force, place=(0.4, 0.0, 0.3), **changes):
    command, scene = new(COMMAND)[0], Scene()
    command["p_tcp"], command["twist"][0], command["wrench_tcp"][2] = place, speed, force
    NearLimits(scene).update(command, Parameters().changed({name.replace("__", "."): v for name, v in changes.items()}))
    return scene.drawn


def test_far_from_its_limits_nothing_is_drawn():
    shown = drawn(0.1, 20.0, workspace__max=[1.0, 1.0, 1.0])
    assert not any(node.visible for node in shown.values())


@pytest.mark.parametrize(("speed", "colour"), [(0.22, CALM), (0.35, SOON), (0.45, AT_LIMIT)])
def test_the_arc_fills_up_with_the_speed(speed, colour):
    arcs = drawn(speed, 0.0)["/limits/arcs"]
    assert arcs.visible
    of_speed = np.array(arcs.colors).reshape(2, PARTS, 2, 3)[0, :, 0]
    assert (of_speed == colour).all(axis=1).sum() == round(PARTS * speed / 0.5)
    assert (of_speed == EMPTY).all(axis=1).sum() == PARTS - round(PARTS * speed / 0.5)


def test_close_to_a_limit_it_is_said_in_numbers():
    assert drawn(0.45, 0.0)["/limits/value"].text == "speed 45 of 50 cm/s"
    assert drawn(0.2, 90.0)["/limits/value"].text == "force 90 of 100 N"
    assert drawn(0.45, 0.0, velocity_scale_factor=0.5)["/limits/value"].text == "speed 45 of 25 cm/s"


def test_a_wall_appears_where_the_tool_would_meet_it_and_is_red_when_close():
    shown = drawn(0.0, 0.0, workspace__min=[None, -0.1, 0.28])
    assert shown["/limits/y_min"].visible
    assert shown["/limits/z_min"].visible
    assert not shown["/limits/x_min"].visible
    np.testing.assert_allclose(shown["/limits/z_min"].position, [0.4, 0.0, 0.28])
    assert (shown["/limits/y_min"].color, shown["/limits/z_min"].color) == (SOON, AT_LIMIT)
    assert shown["/limits/value"].text == "wall 2 cm"
