"""The page's folder is the only place it reads and writes."""

import pytest

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page.file_tab import Folder
from ur_admittance.params import Parameters, load_parameters


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "page", "nobody")


def test_a_saved_preset_loads_again_with_the_same_values(folder):
    parameters = Parameters().changed({"admittance.mass": [3.0] * 6, "admittance.filter_cutoff_hz": 30.0})
    path = folder.save_preset("light", parameters)
    assert load_parameters(path) == parameters
    assert "light" in folder.presets()
    changes = folder.preset_changes("light")
    assert changes["admittance.mass"] == (3.0,) * 6
    assert Parameters().changed(changes).admittance.cutoff_hz == 30.0


def test_a_preset_leaves_tool_and_sensor_alone(folder):
    folder.save_preset("light", Parameters().changed({"tool.mass": 3.0, "sensor.bias": [1.0] * 6}))
    assert not [name for name in folder.preset_changes("light") if name.startswith(("tool", "sensor", "joints"))]


def test_a_preset_that_exists_is_not_overwritten(folder):
    text = folder.save_preset("light", Parameters().changed({"tool.mass": 3.0})).read_text()
    with pytest.raises(UrAdmittanceError, match="preset light exists already"):
        folder.save_preset("light", Parameters())
    assert (folder.root / "presets" / "light.yaml").read_text() == text


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "", ".hidden", "a" * 41, "x\0y", "/etc/passwd", "..", "a b", "hand_guiding"]
)
def test_a_name_that_could_lead_elsewhere_is_refused(folder, name):
    with pytest.raises(UrAdmittanceError, match=r"must be 1 to 40 letters|is a preset of the package"):
        folder.save_preset(name, Parameters())
    with pytest.raises(UrAdmittanceError, match=r"must be 1 to 40 letters|there is no"):
        folder.preset_changes(name if name != "hand_guiding" else "absent")


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    outside = tmp_path / "outside.yaml"
    outside.write_text("secret")
    (folder.root / "presets").mkdir(parents=True)
    (folder.root / "presets" / "link.yaml").symlink_to(outside)
    with pytest.raises(UrAdmittanceError, match="points outside the page's folder"):
        folder.save_preset("link", Parameters())
    with pytest.raises(UrAdmittanceError, match="points outside the page's folder"):
        folder.preset_changes("link")
    assert outside.read_text() == "secret"


def test_a_linked_folder_is_not_followed(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.root.mkdir()
    (folder.root / "presets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UrAdmittanceError, match="points outside the page's folder"):
        folder.save_preset("light", Parameters())
    assert not list((tmp_path / "elsewhere").iterdir())
