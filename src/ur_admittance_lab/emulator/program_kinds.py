"""Which kind of program a text is: ur_rtde's control program, recognised and imitated, or URScript, executed."""

from collections.abc import Generator

from ur_admittance_lab.emulator.command_names import COMMANDS
from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.rtde_control import RtdeControl, is_rtde_control
from ur_admittance_lab.emulator.running_program import Body, Program, Upload
from ur_admittance_lab.emulator.urscript.functions import function_table
from ur_admittance_lab.emulator.urscript.interpreter import ScriptRun

LONGEST = 1 << 16  # [characters] of a script that is executed


def compiled(program: Program, upload: Upload) -> Generator[int, None, Body]:
    """What runs; yields how many words were read."""
    text = upload.text
    if is_rtde_control(text) and not upload.secondary:
        return RtdeControl(program, text, COMMANDS)
    if len(text) > LONGEST:
        raise ProgramError(f"a program of {len(text)} characters: must be at most {LONGEST}")
    run = ScriptRun(program, upload.secondary, upload.sender)
    yield from run.load(text, function_table(program, run))
    return run
