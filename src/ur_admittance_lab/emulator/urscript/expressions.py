"""Expressions of URScript as nodes of Python's syntax tree, by recursive descent.

Operators are calls of functions named ``.+``, ``.truth``, ... and functions carry brackets in their Python name: no
variable can collide with either.
"""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.urscript.script_values import INT_LIMIT
from ur_admittance_lab.emulator.urscript.text import KEYWORDS, Token, tokens

RANKS = {"or": 1, "xor": 2, "and": 3, "==": 5, "!=": 5, "<": 5, ">": 5, "<=": 5, ">=": 5}
RANKS |= {"+": 6, "-": 6, "*": 7, "/": 7, "%": 7}
NOT = 4
LONGEST_STATEMENT = 2000  # [words and signs]; assumed, a cycle has to end in time

BuiltIn = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Call:
    """Checked when all functions are known."""

    function: Token
    run: bool  # as a thread
    count: int
    keywords: list[str]


def function_name(name: str) -> str:
    return name + "()"


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class Expressions:
    def __init__(self, text: str, built_in: BuiltIn) -> None:
        self._source: Iterator[Token] = tokens(text)
        self._tokens: list[Token] = []  # as far as they were looked at
        self.i = self.statement = 0  # the next token, the first one of the statement
        self.built_in = built_in  # those that take time are generator functions
        self.calls: list[Call] = []

    # tokens

    @property
    def next(self) -> Token:
        return self._token(self.i)

    @property
    def after_next(self) -> Token:
        return self._token(self.i + 1)

    def _token(self, i: int) -> Token:
        while len(self._tokens) <= i:
            self._tokens.append(next(self._source, None) or self._tokens[-1])  # behind the end the end again
        return self._tokens[i]

    def take(self) -> Token:
        token = self.next
        self.i += 1
        if self.i - self.statement > LONGEST_STATEMENT:
            raise ProgramError(f"a statement of more than {LONGEST_STATEMENT} words", token.line, token.column)
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.next.text in texts and self.next.kind in ("name", "sign") else None

    def expect(self, text: str) -> Token:
        return self.accept(text) or self.fail(self.next, f"expected {text!r}")

    def fail(self, token: Token, text: str) -> NoReturn:
        found = {"line": "end of line", "end of text": "end of program"}.get(token.kind, repr(token.text))
        raise ProgramError(f"syntax error at {found}: {text}", token.line, token.column)

    def name(self, wanted: str = "a name") -> str:
        token = self.take()
        if token.kind != "name" or token.text in KEYWORDS or token.text.startswith("__"):
            self.fail(token, f"expected {wanted}")
        return token.text

    # expressions

    def condition(self) -> ast.expr:
        return call(".truth", self.expression())

    def expression(self, lowest: int = 1) -> ast.expr:
        """Operators of at least this rank."""
        left = self._negation() if self.accept("not") else self._factor()
        while (rank := RANKS.get(self.next.text, 0)) >= lowest:
            left = self._combined(self.take().text, left, self.expression(rank + 1))
        return left

    def _negation(self) -> ast.expr:
        return ast.UnaryOp(ast.Not(), call(".truth", self.expression(NOT)))

    def _combined(self, sign: str, left: ast.expr, right: ast.expr) -> ast.expr:
        if sign in ("==", "!="):
            return ast.Compare(left, [ast.Eq() if sign == "==" else ast.NotEq()], [right])
        if sign not in ("or", "and", "xor"):
            return call("." + sign, left, right)
        left, right = call(".truth", left), call(".truth", right)
        if sign == "xor":
            return ast.Compare(left, [ast.IsNot()], [right])
        return ast.BoolOp(ast.Or() if sign == "or" else ast.And(), [left, right])

    def _factor(self) -> ast.expr:
        if sign := self.accept("-", "+"):
            return call("." + sign.text, ast.Constant(0), self._factor())
        value = self._primary()
        while self.accept("["):
            value = call(".item", value, self.expression())
            self.expect("]")
        return value

    def _primary(self) -> ast.expr:
        token = self.next
        if token.kind == "number":
            return self._number(self.take())
        if token.kind == "string":
            return ast.Constant(self.take().text[1:-1])
        if self.accept("("):
            value = self.expression()
            self.expect(")")
            return value
        if self.accept("["):
            return call(".list", *self._list())
        if self.accept("True", "False"):
            return ast.Constant(token.text == "True")
        if self.accept("run"):
            return self.run()
        name = self.name("a value")
        if name == "p" and self.accept("["):
            return call(".pose", *self._list())
        if self.accept("("):
            return self._arguments(token)
        return ast.Name(name, ast.Load())

    def _number(self, token: Token) -> ast.Constant:
        value = int(token.text) if token.text.isdigit() and len(token.text) < 11 else float(token.text)
        if value == float("inf") or (isinstance(value, int) and value >= INT_LIMIT):
            self.fail(token, "the number is too large")
        return ast.Constant(value)

    def _list(self) -> list[ast.expr]:
        values: list[ast.expr] = []
        while not self.accept("]"):
            values.append(self.expression())
            if self.next.text != "]":
                self.expect(",")
        return values

    def run(self) -> ast.expr:
        """After the word run: a thread's name and arguments; the value is its handle."""
        token = self.next
        self.name("the name of a thread")
        self.expect("(")
        return call(".run", self._arguments(token, run=True))

    def _arguments(self, function: Token, run: bool = False) -> ast.expr:
        values: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        while not self.accept(")"):
            if self.next.kind == "name" and self.after_next.text == "=":
                name = self.name()
                self.expect("=")
                keywords.append(ast.keyword(name, self.expression()))
            elif keywords:
                self.fail(self.next, "expected a keyword argument")
            else:
                values.append(self.expression())
            if self.next.text != ")":
                self.expect(",")
        self.calls.append(Call(function, run, len(values), [str(keyword.arg) for keyword in keywords]))
        node = ast.Call(ast.Name(function_name(function.text), ast.Load()), values, keywords)
        known = self.built_in.get(function.text)
        takes_time = known is None or inspect.isgeneratorfunction(known)
        return ast.YieldFrom(node) if takes_time and not run else node
