"""Ranges on the command line."""

import pytest

from ur_admittance.errors import ParameterError
from ur_admittance_lab.commands.ranges import numbers, parse_range


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("1e3..1e5", "N/m", (1e3, 1e5)),
        ("1..100kN/m", "N/m", (1e3, 1e5)),
        ("5..20ms", "s", (0.005, 0.02)),
        ("5ms..0.02s", "s", (0.005, 0.02)),
        ("10ms", "s", (0.01, 0.01)),
        (" 0.01 ", "s", (0.01, 0.01)),
        ("20..50mm/s", "m/s", (0.02, 0.05)),
        ("0.5..3", "kg", (0.5, 3.0)),
    ],
)
def test_a_unit_at_the_end_holds_for_both_numbers(text, unit, expected):
    assert parse_range("--x", text, unit) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["", "..", "5..", "..5", "a", "20..5ms", "-1", "5kg", "nan", "1e999", "5...20ms", "1.2.3"]
)
def test_anything_else_is_refused_in_one_sentence(text):
    with pytest.raises(ParameterError, match=r"--delay .*: must be a number or a range low\.\.high"):
        parse_range("--delay", text, "s")


def test_a_list_needs_the_right_number_of_numbers():
    assert numbers("--tool", "1.2, 0.05,0.15", (1, 3, 7)) == (1.2, 0.05, 0.15)
    for text in ("1,2", "a,b,c", "1,2,inf", ""):
        with pytest.raises(ParameterError, match=r"--tool .*: must be 1 or 3 or 7 numbers"):
            numbers("--tool", text, (1, 3, 7))
