"""Statements, functions and the whole program as Python's syntax tree, which Python compiles."""

import ast
import inspect
from dataclasses import dataclass, field
from types import CodeType

from ur_admittance.emulator.limits import ProgramError
from ur_admittance.emulator.urscript.expressions import BuiltIn, Call, Expressions, call, function_name
from ur_admittance.emulator.urscript.text import KEYWORDS, Token

SOURCE = "<urscript>"


@dataclass(frozen=True)
class Script:
    """``exec(code, namespace)`` makes the functions; ``namespace[entry]()`` is the program, a generator."""

    name: str
    code: CodeType
    entry: str


@dataclass
class Function:
    kind: str  # def, sec or thread
    name: str
    parameters: list[str]
    start: Token
    body: list[ast.stmt] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)


def compile_script(text: str, built_in: BuiltIn) -> Script:
    """The program in ``text``: one ``def`` or ``sec`` block, or bare statements."""
    try:
        return Parser(text, built_in).program()
    except SyntaxError as error:  # Python's own checks: break outside a loop, more than 20 nested blocks
        raise ProgramError(f"syntax error: {error.msg}", error.lineno or 0, error.offset or 0) from None
    except (RecursionError, MemoryError):
        raise ProgramError("syntax error: nested too deeply") from None


def _at(token: Token, statement: ast.stmt) -> ast.stmt:
    statement.lineno = statement.end_lineno = token.line
    statement.col_offset, statement.end_col_offset = token.column - 1, token.column
    return statement


class Parser(Expressions):
    """Only statements carry their place in the text: URScript's do not extend over a line."""

    def __init__(self, text: str, built_in: BuiltIn) -> None:
        super().__init__(text, built_in)
        self.functions: dict[str, Function] = {}
        self.globals: set[str] = set()
        self.scope = Function("def", "script", [], self.next)

    def program(self) -> Script:
        self._skip_lines()
        if self.next.text in ("def", "sec"):
            outermost = self._function(self.take())
        else:
            outermost = self.functions["script"] = self.scope
            outermost.body = self._block()
        self._skip_lines()
        if self.next.kind != "end of text":
            self.fail(self.next, "expected the end of the program")
        for made in self.calls:
            self._check(made)
        self.globals |= outermost.assigned
        outermost.local.clear()
        module = ast.Module([self._definition(function) for function in self.functions.values()], [])
        code = compile(ast.fix_missing_locations(module), SOURCE, "exec")
        return Script(outermost.name, code, function_name(outermost.name))

    def _function(self, start: Token) -> Function:
        """From its name to its end."""
        name, outer = self.name(), self.scope
        if name in self.built_in or name in self.functions:
            self.fail(start, f"{name} is defined already")
        self.expect("(")
        parameters: list[str] = []
        while not self.accept(")"):
            parameters.append(self.name())
            if self.next.text != ")":
                self.expect(",")
        self.expect(":")
        function = self.functions[name] = self.scope = Function(start.text, name, parameters, start)
        function.body = self._block()
        self.expect("end")
        self.scope = outer
        return function

    def _definition(self, function: Function) -> ast.stmt:
        shared = sorted(function.assigned & self.globals - function.local - set(function.parameters))
        head: list[ast.stmt] = [ast.Global(shared)] if shared else []
        never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield())], [])  # makes it a generator
        body = [*head, never, ast.Expr(call(".spend")), *function.body]
        arguments = ast.arguments([], [ast.arg(name) for name in function.parameters], None, [], [], None, [])
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
            if made.count != len(function.parameters) or made.keywords:
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

    def _block(self) -> list[ast.stmt]:
        """Statements up to end, elif, else or the end of the text."""
        body: list[ast.stmt] = [ast.Pass()]
        while True:
            self._skip_lines()
            start = self.next
            if start.text in ("end", "elif", "else") or start.kind == "end of text":
                return body
            body += [_at(start, statement) for statement in self._statement()]
            if self.next.kind != "line":
                self.fail(self.next, "expected the end of the line")

    def _statement(self) -> list[ast.stmt]:
        token = self.next
        if token.kind == "name" and token.text in KEYWORDS - {"True", "False", "not"}:
            method = getattr(self, f"_{self.take().text}", None)
            if method is None:
                self.fail(token, "expected a statement")
            statements: list[ast.stmt] = method()
            return statements
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

    def _def(self) -> list[ast.stmt]:
        self._function(self.tokens[self.i - 1])
        return []

    _thread = _def

    def _while(self) -> list[ast.stmt]:
        test = self.condition()
        self.expect(":")
        body = self._block()
        self.expect("end")
        return [ast.While(test, [ast.Expr(call(".spend")), *body], [])]

    def _if(self) -> list[ast.stmt]:
        test = self.condition()
        self.expect(":")
        body, otherwise = self._block(), list[ast.stmt]()
        if start := self.accept("elif"):
            otherwise = [_at(start, statement) for statement in self._if()]
        else:
            if self.accept("else"):
                self.expect(":")
                otherwise = self._block()
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
