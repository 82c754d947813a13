"""The text of URScript: tokens, and complete programs in a stream of bytes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ur_admittance_lab.emulator.motion_limits import ProgramError

BLOCKS = {"def", "sec", "thread", "while", "if"}  # each ends with ``end``
KEYWORDS = BLOCKS | {"elif", "else", "end", "return", "break", "continue", "run", "join", "kill", "halt", "pass"}
KEYWORDS |= {"global", "local", "and", "or", "not", "xor", "True", "False", "enter_critical", "exit_critical"}
KEYWORDS |= {"None"}  # Python's: no name of a variable
TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)
      | (?P<line>(?:\n[ \t\r]*(?:\#[^\n]*)?)+)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<string>"[^"\n]*"|'[^'\n]*')
      | (?P<sign>[=!<>]=|[-+*/%<>=()\[\],:])""",
    re.VERBOSE | re.ASCII,
)
GOES_ON = {"or", "xor", "and", ",", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"}  # at the end of a line
FIRST_WORD = re.compile(rb"[ \t]*([A-Za-z_]*)")


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int
    column: int


def tokens(text: str) -> Iterator[Token]:
    """A statement goes on in the next line inside brackets and after an operator."""
    line, start, i, open_brackets, last = 1, 0, 0, 0, ""
    while i < len(text):
        match = TOKEN.match(text, i)
        if match is None:
            raise ProgramError(f"unexpected character {text[i]!r}", line, i - start + 1)
        goes_on = match.lastgroup == "line" and (open_brackets > 0 or last in GOES_ON)
        if match.lastgroup != "space" and not goes_on:
            last = match.group()
            open_brackets = max(0, open_brackets + (last in ("(", "[")) - (last in (")", "]")))
            yield Token(str(match.lastgroup), last, line, i - start + 1)
        if match.lastgroup == "line":  # with the empty ones and comments that follow
            line, start = line + match.group().count("\n"), i + match.group().rindex("\n") + 1
        i = match.end()
    yield Token("line", "\n", line, i - start + 1)
    yield Token("end of text", "", line, i - start + 1)


class Splitter:
    """Bytes in, complete programs out: a block up to its own ``end``, or a single line."""

    def __init__(self) -> None:
        self._line = bytearray()  # not complete
        self._program = bytearray()  # complete lines of a block that is still open
        self._depth = 0

    def __len__(self) -> int:
        """Bytes that wait for the rest of their program."""
        return len(self._line) + len(self._program)

    def feed(self, data: bytes) -> Iterator[str]:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._program += self._line + line + b"\n"
            self._depth += self._change(bytes(self._line) + line)
            self._line.clear()
            if self._depth <= 0:
                text = self._program.decode("utf-8", "replace")
                self._program.clear()
                self._depth = 0
                if text.strip() and not text.lstrip().startswith("#"):
                    yield text
        self._line += rest

    @staticmethod
    def _change(line: bytes) -> int:
        match = FIRST_WORD.match(line)
        word = match.group(1).decode() if match else ""
        return int(word in BLOCKS) - int(word == "end")
