"""What the program says about itself: complete, with its units, and readable in a narrow terminal."""

import re

import pytest
from typer.main import get_command

from ur_admittance.cli import app
from ur_admittance.cli.console import console
from ur_admittance.params.table import rows
from ur_admittance_lab.emulator.main import app as emulator

WIDTHS = (60, 80, 120)


def commands(group, name):
    yield name, group
    for word, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{name} {word}")


APPS = {"ur-admittance": app, "emulator": emulator}
ALL = {words: command for name in APPS for words, command in commands(get_command(APPS[name]), name)}


@pytest.fixture
def shown(monkeypatch, capsys):
    def shown(line, *more, width=80):
        name, *arguments = line.split()
        monkeypatch.setenv("COLUMNS", str(width))
        with pytest.raises(SystemExit) as end:
            APPS[name]([*arguments, *more], prog_name=name)
        assert not end.value.code
        return capsys.readouterr().out

    return shown


def words_of(text):
    return "".join(text.split())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ALL)
def test_help_loses_no_word_and_no_unit_and_no_line_is_too_long(shown, name, width):
    page = shown(name, "--help", width=width)
    assert max(map(len, page.splitlines())) <= width
    for option in ALL[name].params:
        assert words_of(option.help) in words_of(page), f"{option.opts[0]}: {option.help}"
    for word in getattr(ALL[name], "commands", {}):
        assert re.search(rf"^  {word} ", page, re.MULTILINE)
    usage = page.split("\n\n")[0]
    assert not re.search(r"\w\.\.\.|…", page.removeprefix(usage)), "cut off"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_parameters_are_listed_in_full_at_any_width(shown, width):
    page = shown("ur-admittance params", width=width)
    assert max(map(len, page.splitlines())) <= width
    assert len(page.splitlines()) < (5 if width == 60 else 4) * len(rows()), "one letter below the other"
    for row in rows().values():
        unit = f"[{row.unit}]" if row.unit != "-" else ""
        entry = re.search(rf"^{re.escape(row.name)} = .*\n(?: .*\n)+", page, re.MULTILINE)
        assert entry, row.name
        assert words_of(f"{unit}{row.allowed};{row.help}") in words_of(entry[0])


def test_parameters_are_found_by_a_word_of_their_help(shown):
    head = "admittance.mass = 8 8 8 0.8 0.8 0.8 [kg, kg m2]\n"
    mass = head + "    6 numbers >= 0.001; virtual mass M that the hand feels\n"
    assert shown("ur-admittance params", "--find", "Virtual Mass") == mass


def test_brackets_in_a_table_or_a_file_name_are_printed(capsys):
    from rich.table import Table

    table = Table("[us]")
    table.add_row("[/dev/ttyUSB0]")
    console().print(table)
    console().print("parameters: [bold]/[1].yaml, x = [0, 0, 1]")
    page = capsys.readouterr().out
    for words in ("[us]", "[/dev/ttyUSB0]", "parameters: [bold]/[1].yaml, x = [0, 0, 1]"):
        assert words in page
