"""Statements, functions and the whole program as Python's syntax tree, which Python compiles."""

import ast
import inspect
from collections.abc import Generator
from dataclasses import dataclass, field
from types import CodeType
from typing import TypeVar

from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.urscript.expressions import BuiltIn, Call, Expressions, call, function_name
from ur_admittance_lab.emulator.urscript.text import KEYWORDS, Token

SOURCE = "<urscript>"
WORDS_PER_CHECK = 4  # reading them takes as long as checking one call
WORDS_PER_TURN = 50  # of a loop's body or a function: a longer one takes the time of several turns

T = TypeVar("T")
Work = Generator[int, None, T]  # yields how many words were read: a long program takes several cycles


@dataclass(frozen=True)
class Script:
    """``exec`` of each code makes a function; ``namespace[entry]()`` is the program, a generator."""

    name: str
    codes: list[CodeType]
    entry: str


@dataclass
class Function:
    kind: str  # def, sec or thread
    name: str
    parameters: list[str]
    defaults: list[ast.expr]  # of the last parameters
    start: Token
    body: list[ast.stmt] = field(default_factory=list)
    words: int = 0
    assigned: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)


def compile_script(text: str, built_in: BuiltIn) -> Work[Script]:
    """The program in ``text``: one ``def`` or ``sec`` block, or bare statements."""
    try:
        return (yield from Parser(text, built_in).program())
    except SyntaxError as error:  # Python's own checks: break outside a loop, more than 20 nested blocks
        raise ProgramError(f"syntax error: {error.msg}", error.lineno or 0, error.offset or 0) from None
    except (RecursionError, MemoryError):
        raise ProgramError("syntax error: nested too deeply") from None


def _spend(words: int) -> ast.stmt:
    return ast.Expr(call(".spend", ast.Constant(1 + words // WORDS_PER_TURN)))


def _at(token: Token, statement: ast.stmt) -> ast.stmt:
    statement.lineno = statement.end_lineno = token.line
    statement.col_offset, statement.end_col_offset = token.column - 1, token.column
    return statement


class Parser(Expressions):
    """Only statements carry their place in the text: the line in which they begin."""

    def __init__(self, text: str, built_in: BuiltIn) -> None:
        super().__init__(text, built_in)
        self.functions: dict[str, Function] = {}
        self.globals: set[str] = set()
        self.scope = Function("def", "script", [], [], self.next)

    def program(self) -> Work[Script]:
        self._skip_lines()
        if self.next.text in ("def", "sec"):
            outermost = yield from self._function(self.take())
        else:
            outermost = self.functions["script"] = self.scope
            outermost.body = yield from self._block()
        self._skip_lines()
        if outermost.parameters:
            self.fail(outermost.start, "a program has no parameters")
        if self.next.kind != "end of text":
            self.fail(self.next, "expected the end of the program")
        for made in self.calls:
            self._check(made)
            yield WORDS_PER_CHECK
        self.globals |= outermost.assigned
        outermost.local.clear()
        codes: list[CodeType] = []
        for function in self.functions.values():
            module = ast.Module([self._definition(function)], [])
            codes.append(compile(ast.fix_missing_locations(module), SOURCE, "exec"))
            yield function.words
        return Script(outermost.name, codes, function_name(outermost.name))

    def _function(self, start: Token) -> Work[Function]:
        """From its name to its end."""
        name, outer = self.name(), self.scope
        if name in self.built_in or name in self.functions:
            self.fail(start, f"{name} is defined already")
        self.expect("(")
        parameters: list[str] = []
        defaults: list[ast.expr] = []
        while not self.accept(")"):
            parameters.append(self.name())
            if self.accept("="):
                defaults.append(self._constant())
            elif defaults:
                self.fail(self.next, "expected a default value")
            if self.next.text != ")":
                self.expect(",")
        self.expect(":")
        function = self.functions[name] = self.scope = Function(start.text, name, parameters, defaults, start)
        begin = self.i
        function.body = yield from self._block()
        function.words = self.i - begin
        self.expect("end")
        self.scope = outer
        return function

    def _constant(self) -> ast.expr:
        """A default value: it is computed once, before the program begins."""
        start, value = self.next, self.expression()
        if any(isinstance(node, ast.Name) and not node.id.startswith(".") for node in ast.walk(value)):
            self.fail(start, "expected a constant")
        return value

    def _definition(self, function: Function) -> ast.stmt:
        shared = sorted(function.assigned & self.globals - function.local - set(function.parameters))
        head: list[ast.stmt] = [ast.Global(shared)] if shared else []
        never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield())], [])  # makes it a generator
        body = [*head, never, _spend(function.words), *function.body]
        arguments = ast.arguments(
            [], [ast.arg(name) for name in function.parameters], None, [], [], None, function.defaults
        )
        return _at(function.start, ast.FunctionDef(function_name(function.name), arguments, body, []))

    def _check(self, made: Call) -> None:
        """Is there such a function, and does it take these arguments?"""
        token, function = made.function, self.functions.get(made.function.text)
        wrong = f"{token.text} does not take these {made.count + len(made.keywords)} arguments"
        if function is None and token.text not in self.built_in:
            raise ProgramError(f"compile_error_name_not_found:{token.text}:", token.line, token.column)
        if made.run != (function is not None and function.kind == "thread"):
            raise ProgramError(f"{token.text}: run is for threads", token.line, token.column)
        if function is not None:
            most = len(function.parameters)
            if not most - len(function.defaults) <= made.count <= most or made.keywords:
                raise ProgramError(wrong, token.line, token.column)
            return
        try:
            signature = inspect.signature(self.built_in[token.text])
            signature.bind(*[0] * made.count, **dict.fromkeys(made.keywords, 0))
        except TypeError:
            raise ProgramError(wrong, token.line, token.column) from None

    # statements

    def _skip_lines(self) -> None:
        while self.next.kind == "line":
            self.take()

    def _block(self) -> Work[list[ast.stmt]]:
        """Statements up to end, elif, else or the end of the text."""
        body: list[ast.stmt] = [ast.Pass()]
        while True:
            self._skip_lines()
            start, self.statement = self.next, self.i
            if start.text in ("end", "elif", "else") or start.kind == "end of text":
                return body
            body += [_at(start, statement) for statement in (yield from self._statement())]
            if self.next.kind != "line":
                self.fail(self.next, "expected the end of the line")
            yield self.i - self.statement

    def _statement(self) -> Work[list[ast.stmt]]:
        token = self.next
        if token.kind == "name" and token.text in KEYWORDS - {"True", "False", "not"}:
            method = getattr(self, f"_{self.take().text}", None)
            if method is None:
                self.fail(token, "expected a statement")
            made: list[ast.stmt] | Work[list[ast.stmt]] = method()  # with a block in it: work
            return made if isinstance(made, list) else (yield from made)
        target = self.expression()
        return self._assignment(target) if self.accept("=") else [ast.Expr(target)]

    def _assignment(self, target: ast.expr) -> list[ast.stmt]:
        """After the sign ``=``."""
        start, value = self.next, self.expression()
        if isinstance(target, ast.Call) and getattr(target.func, "id", "") == ".item":
            value = call(".put", *target.args, value)
            target = target.args[0]
        if not isinstance(target, ast.Name):
            self.fail(start, "only a variable or an item of one can be assigned")
        self.scope.assigned.add(target.id)
        return [ast.Assign([ast.Name(target.id, ast.Store())], value)]

    def _global(self) -> list[ast.stmt]:
        name = self.name()
        self.globals.add(name)
        self.scope.assigned.add(name)
        return self._assignment(ast.Name(name)) if self.accept("=") else []

    def _local(self) -> list[ast.stmt]:
        name = self.name()
        self.scope.local.add(name)
        return self._assignment(ast.Name(name)) if self.accept("=") else []

    def _def(self) -> Work[list[ast.stmt]]:
        yield from self._function(self._token(self.i - 1))
        return []

    _thread = _def

    def _while(self) -> Work[list[ast.stmt]]:
        begin, test = self.i, self.condition()
        self.expect(":")
        body = yield from self._block()
        self.expect("end")
        return [ast.While(test, [_spend(self.i - begin), *body], [])]

    def _if(self) -> Work[list[ast.stmt]]:
        test = self.condition()
        self.expect(":")
        body, otherwise = (yield from self._block()), list[ast.stmt]()
        if start := self.accept("elif"):
            otherwise = [_at(start, statement) for statement in (yield from self._if())]
        else:
            if self.accept("else"):
                self.expect(":")
                otherwise = yield from self._block()
            self.expect("end")
        return [ast.If(test, body, otherwise)]

    def _return(self) -> list[ast.stmt]:
        return [ast.Return(None if self.next.kind == "line" else self.expression())]

    def _break(self) -> list[ast.stmt]:
        return [ast.Break()]

    def _continue(self) -> list[ast.stmt]:
        return [ast.Continue()]

    def _halt(self) -> list[ast.stmt]:
        return [ast.Expr(call(".halt"))]

    def _pass(self) -> list[ast.stmt]:
        return []

    # a thread runs until it uses time, so nothing comes between in a critical section that uses none
    _enter_critical = _exit_critical = _pass

    def _run(self) -> list[ast.stmt]:
        return [ast.Expr(self.run())]

    def _join(self) -> list[ast.stmt]:
        return [ast.Expr(ast.YieldFrom(call(".join", self.expression())))]

    def _kill(self) -> list[ast.stmt]:
        return [ast.Expr(call(".kill", self.expression()))]
