"""The file of a taught path: read as it was written, and a sentence for what is wrong in it."""

import numpy as np
import pytest

from ur_admittance.errors import ParameterError
from ur_admittance.teaching.taught import Step, Taught, load_taught

TAUGHT = Taught(
    "ur5e",
    (0.0, 0.0, 0.15, 0.0, 0.0, 0.0),
    (0.0, -1.57, 1.57, -1.57, -1.57, 0.0),
    (
        Step("pose", np.array([0.4871234, -0.1, 0.3, 2.2, -2.2, 1e-7])),
        Step("path", np.array([[0.4, -0.1, 0.3, 2.2, 2.2, 0], [0.5, -0.1, 1e-5, 2.2, 2.2, 0.00002]])),
        Step("gripper", "close"),
        Step("wait", 0.00001),
        Step("output", ("digital:3", False)),
    ),
    (0.002, 0.01),
    (0.0015, 0.003),
    "tool:0",
)


def test_a_file_is_read_as_it_was_written(tmp_path):
    TAUGHT.save(tmp_path / "a.yaml")
    found = load_taught(tmp_path / "a.yaml")
    assert (found.arm, found.tcp, found.tolerance, found.gripper) == (
        TAUGHT.arm, TAUGHT.tcp, TAUGHT.tolerance, TAUGHT.gripper,
    )  # fmt: skip
    assert [step.kind for step in found.steps] == [step.kind for step in TAUGHT.steps]
    for one, other in zip(found.steps[:2], TAUGHT.steps, strict=False):
        assert one.value == pytest.approx(other.value, abs=5e-7)
    assert [step.value for step in found.steps[2:]] == [step.value for step in TAUGHT.steps[2:]]
    assert found.points == 3
    found.save(tmp_path / "b.yaml")
    assert (tmp_path / "b.yaml").read_text() == (tmp_path / "a.yaml").read_text()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("taught: 1", "taught: 2"), "must begin with `taught: 1`"),
        (("units: m, rad, s", "units: mm, rad, s"), "units = mm, rad, s: must be m, rad, s"),
        (("frame: base", "frame: tool"), "frame = tool: must be base"),
        (("arm: ur5e", "arm: [1]"), "arm = .*: must be the type of an arm"),
        (("tcp: [0, ", "tcp: ["), r"tcp = .*: must be 6 finite numbers"),
        (("- pose: [0.487123, ", "- pose: ["), r"steps\[0\].pose = .*: must be 6 finite numbers \[m, rad\]"),
        (("  - [0.5, -0.1, 0.00001, 2.2, 2.2, 0.00002]\n", ""), r"steps\[1\].path: must have two different points"),
        (("0.00001, 2.2", ".nan, 2.2"), r"steps\[1\].path: must be rows of 6 finite numbers"),
        (("wait: 0.00001", "wait: -1"), r"steps\[3\].wait = -1 s: must be >= 0"),
        (("gripper: tool:0\n", ""), r"steps\[2\].gripper: needs the output that closes it"),
        (("- gripper: close", "- gripper: shut"), r"steps\[2\].gripper = shut: must be open or close"),
        (("digital:3, false", "digital:8, false"), r"steps\[4\].output = digital:8: must be digital:0 to 7"),
        (("digital:3, false", "digital:3, 1"), r"steps\[4\].output = .*: must be \[NAME, true\]"),
        (("- wait: 0.00001", "- dance: 1"), r"steps\[3\]: must be one of pose, path"),
        (("arm: ur5e", "arm: ur5e\nspeed: 1"), "speed: is unknown; must be one of"),
        (("arm: ur5e", "arm: ur5e\narm: ur5e"), "is not readable YAML"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path, change, sentence):
    file = tmp_path / "a.yaml"
    text = TAUGHT.text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(ParameterError, match=sentence) as refused:
        load_taught(file)
    assert str(refused.value).startswith(str(file))


def test_files_that_cannot_be_read_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name, why in (("none.yaml", "No such file"), ("bytes.yaml", "cannot be read")):
        with pytest.raises(ParameterError, match=why):
            load_taught(tmp_path / name)
